"""The text encoder of a dense index: a sentence-transformers model, identified by what it computes, not by its path."""

import json
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from ...errors import AspectragError
from .fingerprint import file_sha256

Vectors = npt.NDArray[np.float32]

_UNUSED_FILES = ["onnx/*", "openvino/*", "coreml/*", "*.onnx", "*.h5", "*.msgpack", "*.ot", "*.gguf"]


@dataclass(frozen=True)
class EncoderIdentity:
    """What makes two encoders the same: equal weights, pooling and prompts. The name is for people.

    Attributes:
        name: Folder name or hub name.
        weights: SHA-256 of the weight file (of the joined hashes where there are several).
        pooling: How token vectors become one vector; empty where the model says nothing.
        query_prompt: Text put before a query.
        passage_prompt: Text put before a passage.
    """

    name: str
    weights: str
    pooling: str = ""
    query_prompt: str = ""
    passage_prompt: str = ""

    def same_as(self, other: "EncoderIdentity") -> bool:
        """Whether both give the same vectors."""
        return self._key() == other._key()

    def _key(self) -> tuple[str, ...]:
        return self.weights, self.pooling, self.query_prompt, self.passage_prompt

    def __str__(self) -> str:
        details = [f"weights {self.weights[:12]}"]
        details += [f"{name} {value!r}" for name, value in list(asdict(self).items())[2:] if value]
        return f"{self.name} ({', '.join(details)})"


@runtime_checkable
class Encoder(Protocol):
    """Anything that turns texts into vectors; must be safe to call from many threads."""

    @property
    def identity(self) -> EncoderIdentity:
        """What the manifest records."""
        ...

    def encode_queries(self, texts: Sequence[str]) -> Vectors:
        """One vector per query, ``[len(texts), dimension]``."""
        ...

    def encode_passages(self, texts: Sequence[str]) -> Vectors:
        """One vector per passage, ``[len(texts), dimension]``."""
        ...


class SentenceEncoder:
    """A sentence-transformers model, loaded when it is first used.

    One lock guards the model, so that concurrent calls give what serial ones give. Given a folder, nothing touches the
    network. Texts of a call are sorted by length before they are cut into batches (by sentence-transformers).

    Args:
        source: Folder of a model, or its name on the hub (looked up in the local cache first).
        device: Torch device; ``None`` lets sentence-transformers choose.
        batch_size: Texts per forward pass.
        query_prompt: Text put before queries; ``None`` means what the model itself says.
        passage_prompt: Text put before passages; ``None`` means what the model itself says.

    Raises:
        AspectragError: There is no such model in reach.

    Example:
        >>> from aspectrag import lms
        >>> SentenceEncoder(lms.fetch("encoder")).encode_queries(["Is coal cheap?"]).shape  # doctest: +SKIP
        (1, 384)
    """

    def __init__(
        self,
        source: str | Path,
        *,
        device: str | None = None,
        batch_size: int = 32,
        query_prompt: str | None = None,
        passage_prompt: str | None = None,
    ) -> None:
        self.folder = locate_model(source)
        self._device = device
        self._batch_size = batch_size
        self._lock = threading.Lock()
        self._model: Any = None
        prompts = _read_json(self.folder / "config_sentence_transformers.json").get("prompts") or {}
        if query_prompt is None:
            query_prompt = prompts.get("query", "")
        if passage_prompt is None:
            passage_prompt = next((prompts[key] for key in ("document", "passage", "corpus") if key in prompts), "")
        self.identity = EncoderIdentity(
            name=str(source) if self.folder != Path(source).expanduser() else self.folder.resolve().name,
            weights=weights_sha256(self.folder),
            pooling=_pooling(self.folder),
            query_prompt=query_prompt or "",
            passage_prompt=passage_prompt or "",
        )

    def encode_queries(self, texts: Sequence[str]) -> Vectors:
        """Vectors of queries, ``[len(texts), dimension]``."""
        return self._encode(texts, self.identity.query_prompt)

    def encode_passages(self, texts: Sequence[str]) -> Vectors:
        """Vectors of passages, ``[len(texts), dimension]``."""
        return self._encode(texts, self.identity.passage_prompt)

    def _encode(self, texts: Sequence[str], prompt: str) -> Vectors:
        with self._lock:
            if self._model is None:
                self._model = load_model(self.folder, self._device)
            return self._model.encode(
                list(map(readable, texts)),
                prompt=prompt,
                batch_size=self._batch_size,
                show_progress_bar=False,
                convert_to_numpy=True,
            )


def readable(text: str) -> str:
    """The text with lone surrogates, which tokenizers refuse, replaced by question marks."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def as_encoder(encoder: "Encoder | str | Path") -> Encoder:
    """An encoder as it is, or the model of a folder or hub name."""
    return SentenceEncoder(encoder) if isinstance(encoder, str | Path) else encoder


def locate_model(source: str | Path) -> Path:
    """Folder of a model: the given one, else from the hub's local cache, else from the hub.

    Raises:
        AspectragError: Neither is in reach.
    """
    folder = Path(source).expanduser()
    if folder.is_dir():
        if not (folder / "modules.json").is_file() and not (folder / "config.json").is_file():
            raise AspectragError(f"{folder} holds no sentence-transformers model (no modules.json): give its folder")
        return folder
    name = str(source)
    if isinstance(source, Path) or name.startswith((".", "/", "~")) or name.count("/") > 1 or "\\" in name:
        raise AspectragError(f"no folder {folder}: give an existing model folder or a model name of the hub")
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import LocalEntryNotFoundError

    try:
        return Path(snapshot_download(name, local_files_only=True, ignore_patterns=_UNUSED_FILES))
    except (LocalEntryNotFoundError, ValueError):
        pass
    try:
        return Path(snapshot_download(name, ignore_patterns=_UNUSED_FILES))
    except Exception as error:  # the hub client raises many kinds: all mean that it is out of reach
        reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise AspectragError(
            f"model {name!r} is neither a folder nor in the local cache, and the hub did not give it ({reason}): "
            "give the folder of a downloaded model"
        ) from error


def weights_sha256(folder: Path) -> str:
    """SHA-256 of the weights of a model folder; of several files, SHA-256 of their hashes in order of path.

    Raises:
        AspectragError: The folder holds no weights.
    """
    files = sorted(folder.rglob("*.safetensors")) or sorted(folder.rglob("pytorch_model*.bin"))
    if not files:
        raise AspectragError(f"{folder} holds no weights (*.safetensors): download the whole model")
    if len(files) == 1:
        return file_sha256(files[0])
    import hashlib

    return hashlib.sha256("".join(map(file_sha256, files)).encode()).hexdigest()


def unit_rows(vectors: Any, count: int, dimension: int | None, who: str) -> Vectors:
    """Check what an encoder gave and scale each row to length 1 (rows of zeros stay).

    Args:
        vectors: Array ``[count, dimension]``.
        count: Number of texts that were given.
        dimension: Expected dimension, or ``None``.
        who: Name of the encoder, for the message.

    Raises:
        AspectragError: Wrong shape, or values that are not finite.
    """
    array = np.asarray(vectors, dtype=np.float32)
    if array.ndim != 2 or len(array) != count or (dimension is not None and array.shape[1] != dimension):
        wanted = f"({count}, {dimension if dimension is not None else 'dimension'})"
        raise AspectragError(
            f"encoder {who} gave vectors of shape {array.shape}, not {wanted}: use the index's encoder"
        )
    norms = np.linalg.norm(array, axis=1, keepdims=True)
    if not np.isfinite(norms).all():
        bad = int(np.flatnonzero(~np.isfinite(norms[:, 0]))[0])
        raise AspectragError(
            f"encoder {who} gave a vector that is not finite (text {bad} of {count}): check its weights"
        )
    return np.ascontiguousarray(array / np.where(norms == 0, np.float32(1), norms), dtype=np.float32)


def load_model(folder: Path, device: str | None = None) -> Any:
    """The ``SentenceTransformer`` of a folder.

    Raises:
        AspectragError: It holds none that can be loaded.
    """
    from .native import load_faiss

    load_faiss()  # fixes the order in which torch and faiss are imported
    from sentence_transformers import SentenceTransformer

    try:
        with quiet_loading():
            return SentenceTransformer(str(folder), device=device, local_files_only=True)
    except (OSError, ValueError, KeyError) as error:
        raise AspectragError(f"model in {folder} cannot be loaded ({error}): download it again") from error


@contextmanager
def quiet_loading() -> Iterator[None]:
    """Keep the bar away that transformers shows for the fraction of a second in which a small model is loaded."""
    from transformers.utils import logging as transformers_logging

    shown = transformers_logging.is_progress_bar_enabled()
    transformers_logging.disable_progress_bar()
    try:
        yield
    finally:
        if shown:
            transformers_logging.enable_progress_bar()


def _pooling(folder: Path) -> str:
    """Pooling modes by the names that old and new model configurations share."""
    modes: list[str] = []
    for module in json.loads(_text(folder / "modules.json") or "[]"):
        if module.get("type", "").endswith("Pooling"):
            config = _read_json(folder / module["path"] / "config.json")
            modes += [key.removeprefix("pooling_mode_") for key, value in sorted(config.items()) if value is True]
            stated = config.get("pooling_mode", [])
            modes += [stated] if isinstance(stated, str) else stated
    return "+".join(mode.removesuffix("s").removesuffix("_token") for mode in modes if mode != "include_prompt")


def _read_json(path: Path) -> dict[str, Any]:
    return json.loads(_text(path) or "{}")


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8") if path.is_file() else ""
