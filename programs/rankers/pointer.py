"""The learned ranker: a pointer network over the vectors of a frozen sentence encoder."""

import copy
import shutil
from collections.abc import Sequence
from dataclasses import asdict
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import ujson

from ...data.index.encoder import Encoder, EncoderIdentity, SentenceEncoder
from ...errors import AspectragError
from ...lms.artifacts import ARTIFACTS, fetch
from .candidates import Candidate
from .features import Vectors, features

if TYPE_CHECKING:  # torch takes seconds to import: only who ranks pays for it
    from .network import PointerNetwork

FORMAT_VERSION = 1
SHIPPED = Path(__file__).parent / "pointer"


class PointerRanker:
    """Points at one passage after another, each time knowing those it has chosen; safe for many threads.

    Source: RichRAG (arXiv 2406.12566), section 3.4. Its T5 encoder is replaced by a frozen sentence encoder with a
    small network on top, so that a pool is encoded once and its passages never again.

    Args:
        network: The trained network.
        encoder: The encoder it was trained with.
        meta: What trained it; kept when it is saved.

    Example:
        >>> ranker = PointerRanker.load("my-ranker")  # doctest: +SKIP
        >>> RichRag(None, index, ranker=ranker)(question="Is coal cheap, and is it clean?")  # doctest: +SKIP
    """

    def __init__(self, network: "PointerNetwork", encoder: Encoder, meta: dict[str, Any] | None = None) -> None:
        self.network = network.eval()
        self.vectors = Vectors(encoder)
        self.meta = meta or {}
        self._retriever: object = None

    def over(self, retriever: object) -> "PointerRanker":
        """The same ranker, which takes the vectors of passages from the retriever's index where that holds them."""
        ranker = copy.copy(self)
        ranker._retriever = retriever
        return ranker

    def __deepcopy__(self, memo: dict[int, object]) -> "PointerRanker":
        """Shared: optimizers copy programs, and a trained ranker is never changed."""
        return self

    def rank(self, question: str, aspects: Sequence[str], pool: Sequence[Candidate], k: int) -> list[str]:
        """Exactly ``min(k, len(pool))`` distinct ids, best first."""
        import torch

        from .network import Batch

        if not pool:
            return []
        with torch.inference_mode():
            batch = Batch([features(question, aspects, pool, self.vectors, self._retriever)])
            (chosen,) = self.network.choose(batch, min(k, len(pool))).tolist()
        return [pool[place].passage.id for place in chosen]

    def save(self, folder: str | Path) -> None:
        """Write ``model.safetensors`` and ``config.json``; beside them the encoder, where it is one of a folder."""
        from safetensors.torch import save_file

        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        config = {
            "format": FORMAT_VERSION,
            "network": self.network.settings,
            "encoder": asdict(self.vectors.encoder.identity),
            "meta": self.meta,
        }
        save_file(self.network.state_dict(), folder / "model.tmp")
        (folder / "model.tmp").replace(folder / "model.safetensors")
        text = ujson.dumps(config, ensure_ascii=False, escape_forward_slashes=False, indent=2)
        (folder / "config.json").write_text(text + "\n", encoding="utf-8")
        _keep_encoder(self.vectors.encoder, folder / "encoder")

    @classmethod
    def load(cls, folder: str | Path, encoder: Encoder | None = None) -> Self:
        """Read a ranker that :meth:`save` wrote.

        Args:
            folder: Where it was saved.
            encoder: The encoder it was trained with; by default the one in the folder, the package's own, or the one
                of its name on the hub.

        Raises:
            AspectragError: The folder holds none, is damaged, or the encoder is another one.
        """
        from safetensors import SafetensorError
        from safetensors.torch import load_file

        from .network import PointerNetwork

        folder = Path(folder)
        try:
            config = ujson.loads((folder / "config.json").read_text(encoding="utf-8"))
            if config["format"] != FORMAT_VERSION:
                raise AspectragError(f"{folder}: format {config['format']!r}, not {FORMAT_VERSION}: train it again")
            network = PointerNetwork(**config["network"])
            network.load_state_dict(load_file(folder / "model.safetensors"))
            identity = EncoderIdentity(**config["encoder"])
        except (OSError, ValueError, KeyError, TypeError, RuntimeError, SafetensorError) as exc:
            reason = str(exc).splitlines()[0] if str(exc) else type(exc).__name__
            raise AspectragError(f"{folder} holds no ranker that can be read ({reason}): train it again") from exc
        encoder = encoder or _encoder(folder, identity)
        if not encoder.identity.same_as(identity):
            raise AspectragError(
                f"{folder} was trained with the encoder {identity}, not with {encoder.identity}: give that one"
            )
        return cls(network, encoder, config.get("meta"))


@lru_cache(maxsize=1)
def shipped() -> PointerRanker:
    """The ranker that comes with the package, loaded once.

    Raises:
        AspectragError: Its encoder is neither there nor can it be fetched.
    """
    return PointerRanker.load(SHIPPED)


def _keep_encoder(encoder: Encoder, folder: Path) -> None:
    """Copy an encoder that nobody could find again by its name: one that is neither the package's nor the hub's."""
    found_again = "/" in encoder.identity.name or encoder.identity.name == ARTIFACTS["encoder"].target
    if not isinstance(encoder, SentenceEncoder) or found_again:
        shutil.rmtree(folder, ignore_errors=True)  # of the ranker that was saved here before
    elif encoder.folder.resolve() != folder.resolve():
        part = folder.with_name("encoder.part")
        shutil.rmtree(part, ignore_errors=True)
        shutil.copytree(encoder.folder, part)
        shutil.rmtree(folder, ignore_errors=True)
        part.replace(folder)


def _encoder(folder: Path, identity: EncoderIdentity) -> Encoder:
    if (folder / "encoder").is_dir():
        return SentenceEncoder(folder / "encoder")
    ours = ARTIFACTS["encoder"].target == identity.name
    return SentenceEncoder(fetch("encoder") if ours else identity.name)
