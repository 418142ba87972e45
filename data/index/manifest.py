"""The manifest of an index: what it was made of, checked whenever it is opened."""

import json
from dataclasses import asdict, dataclass, field, fields
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from ...errors import AspectragError
from .encoder import EncoderIdentity
from .settings import KINDS, IndexSettings, Kind, Parts
from .vectors import VectorPlan

MANIFEST = "manifest.json"
_FORMAT = "aspectrag-index"
FORMAT_VERSION = 2  # raised with every change of what is on disk: an older index is refused, not misread
_RECORDED = ("aspectrag", "bm25s", "PyStemmer", "faiss-cpu", "sentence-transformers", "numpy")


@dataclass(frozen=True)
class Manifest:
    """Everything an index says about itself.

    Attributes:
        kind: What it opens as.
        count: Passages in it.
        corpus_hash: See ``fingerprint.corpus_hash``.
        generation: Sub-folder that holds the files.
        settings: The choices of the build.
        created: UTC time of the build, ISO 8601.
        files: Size in bytes of each file, by path within the generation.
        libraries: Versions at build time.
        encoder: Encoder of the vectors, where there are any.
        encoder_source: Folder or hub name that it came from, to find it again.
        dimension: Dimension of the vectors, 0 without.
        vectors: Method of the vector search, and why it is not the one asked for.
        cross_encoder: The cross-encoder of a reranked index, where it has one.
        cross_encoder_source: Where that came from.
    """

    kind: Kind
    count: int
    corpus_hash: str
    generation: str
    settings: IndexSettings
    created: str
    files: dict[str, int]
    libraries: dict[str, str] = field(default_factory=dict)
    encoder: EncoderIdentity | None = None
    encoder_source: str = ""
    dimension: int = 0
    vectors: VectorPlan | None = None
    cross_encoder: EncoderIdentity | None = None
    cross_encoder_source: str = ""

    def to_dict(self) -> dict[str, Any]:
        """A JSON-ready form."""
        return {"format": _FORMAT, "version": FORMAT_VERSION, **asdict(self)}

    def write(self, folder: Path) -> None:
        """Write it into a folder."""
        text = json.dumps(self.to_dict(), indent=2, ensure_ascii=False)
        (folder / MANIFEST).write_text(text + "\n", encoding="utf-8")

    @property
    def parts(self) -> Parts:
        """Which parts the index has on disk."""
        return Parts(bm25=any(name.startswith("bm25/") for name in self.files), dense=self.encoder is not None)


def library_versions() -> dict[str, str]:
    """Installed versions of what shapes an index."""
    found = {}
    for name in _RECORDED:
        try:
            found[name] = version(name)
        except PackageNotFoundError:  # a source tree that was never installed
            found[name] = "unknown"
    return found


def read_manifest(folder: Path) -> Manifest:
    """Read and check the manifest of an index folder.

    Raises:
        AspectragError: There is no index, it is not ours, of another format version, or files are missing or cut short.
    """
    if not folder.is_dir():
        raise AspectragError(f"no index in {folder} (no such folder): build it first")
    path = folder / MANIFEST
    if not path.is_file():
        raise AspectragError(f"{folder} is not an index, or was only half written (no {MANIFEST}): build it again")
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise AspectragError(f"{path} is not readable ({error}): build the index again") from error
    if not isinstance(data, dict) or data.get("format") != _FORMAT:
        raise AspectragError(f"{path} belongs to something else (format is not {_FORMAT!r}): give another folder")
    if data.get("version") != FORMAT_VERSION:
        raise AspectragError(
            f"index {folder} has format version {data.get('version')}, this program reads {FORMAT_VERSION}: "
            "build it again"
        )
    try:
        manifest = _from_dict(data)
        inside = Path(manifest.generation).name == manifest.generation
        sizes = list(manifest.files.items())
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise AspectragError(f"{path} is incomplete ({error}): build the index again") from error
    if not inside:
        raise AspectragError(f"{path} points out of its folder ({manifest.generation}): build the index again")
    for name, size in sizes:
        file = folder / manifest.generation / name
        if (found := file.stat().st_size if file.is_file() else None) != size:
            state = "missing" if found is None else f"{found} bytes long"
            raise AspectragError(f"index {folder} is damaged: {name} is {state}, not {size} bytes: build it again")
    return manifest


def check_libraries(manifest: Manifest, folder: Path) -> None:
    """Compare the versions of the libraries that made the files with the installed ones.

    Only a change of the leading number (of the first two while it is 0) is taken for incompatible.

    Raises:
        AspectragError: One differs.
    """
    relevant = ["bm25s", "PyStemmer"] if manifest.parts.bm25 else []
    if manifest.vectors is not None and manifest.vectors.used != "flat":
        relevant.append("faiss-cpu")
    installed = library_versions()
    for name in relevant:
        made, here = manifest.libraries.get(name, "unknown"), installed[name]
        if _series(made) != _series(here):
            raise AspectragError(
                f"index {folder} was built with {name} {made}, installed is {here}: "
                f"build it again or install {name} {made}"
            )


def check_corpus(manifest: Manifest, folder: Path, expected: str) -> None:
    """Compare the corpus in the index with another, by their hashes.

    Raises:
        AspectragError: They differ.
    """
    if manifest.corpus_hash != expected:
        raise AspectragError(
            f"index {folder} holds corpus {manifest.corpus_hash[:12]} ({manifest.count} passages), "
            f"expected is corpus {expected[:12]}: build it again from that corpus"
        )


def check_settings(manifest: Manifest, folder: Path, given: IndexSettings) -> None:
    """Compare the settings of the index with others.

    Raises:
        AspectragError: They differ.
    """
    for each in fields(IndexSettings):
        here, there = getattr(manifest.settings, each.name), getattr(given, each.name)
        if here != there:
            raise AspectragError(
                f"index {folder} was built with {each.name} {here}, asked for is {there}: "
                "open it without settings or build it again"
            )


def check_model(role: str, folder: Path, made: EncoderIdentity, given: EncoderIdentity) -> None:
    """Compare the model of an index with the one given.

    Raises:
        AspectragError: They differ.
    """
    if not made.same_as(given):
        raise AspectragError(
            f"index {folder} was built with {role} {made}, given is {given}: give that {role} or build the index again"
        )


def _series(text: str) -> tuple[str, ...]:
    numbers = text.split(".")
    return tuple(numbers[:2]) if numbers[0] == "0" else tuple(numbers[:1])


def _from_dict(data: dict[str, Any]) -> Manifest:
    values = {each.name: data[each.name] for each in fields(Manifest)}
    if values["kind"] not in KINDS:
        raise KeyError(f"kind {values['kind']!r}")
    values["settings"] = IndexSettings.from_dict(values["settings"])
    for name, make in (("encoder", EncoderIdentity), ("cross_encoder", EncoderIdentity), ("vectors", VectorPlan)):
        values[name] = None if values[name] is None else make(**values[name])
    return Manifest(**values)
