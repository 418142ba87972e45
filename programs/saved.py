"""The folder of a saved program: ``state.json``, ``config.json`` and ``manifest.json``."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import ujson

from .. import whole
from ..errors import AspectragError
from ..texts import encodable


def read_manifest(folder: str | Path) -> dict[str, Any]:
    """What a saved program says about itself, its class among it.

    Raises:
        AspectragError: The folder holds none.
    """
    return read(Path(folder), "manifest")


def tuned_stages(manifest: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """What a manifest tells of the tuning of each tuned stage, and for which language model it was.

    Example:
        >>> tuned_stages({"meta": {"lm": "a/b", "stages": {"route": {"demos": 4}}}})
        {'route': {'lm': 'a/b', 'demos': 4}}
    """
    meta = manifest.get("meta")
    stages = meta.get("stages") if isinstance(meta, dict) else None
    if not isinstance(meta, dict) or not isinstance(stages, dict):
        return {}
    # A stage that was tuned before the others may have been so for another model, and says it itself.
    return {
        stage: {"lm": meta.get("lm"), **(record if isinstance(record, dict) else {})}
        for stage, record in stages.items()
    }


def tuning_of(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """All that a manifest tells of tuning: that of the stages, and of the ranker where one was trained.

    Example:
        >>> tuning_of({"meta": {"lm": "a/b", "ranker": {"metric": "ranking@5"}}})
        {'stages': {}, 'ranker': {'metric': 'ranking@5'}}
    """
    meta = manifest.get("meta")
    ranker = meta.get("ranker") if isinstance(meta, dict) else None
    return {"stages": tuned_stages(manifest), **({"ranker": ranker} if isinstance(ranker, dict) else {})}


def read(folder: Path, name: str) -> dict[str, Any]:
    """One of the three files.

    Raises:
        AspectragError: It is missing, or cannot be read.
    """
    try:
        record = ujson.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
    except (OSError, ValueError) as exc:
        raise AspectragError(f"{folder} holds no saved program ({exc}): give a folder that save() wrote") from None
    if not isinstance(record, dict):
        raise AspectragError(f"{folder} is damaged ({name}.json holds no object): compile it again")
    return record


def write(path: Path, record: dict[str, Any]) -> None:
    """Write one of them, all of it or nothing."""
    text = ujson.dumps(record, ensure_ascii=False, escape_forward_slashes=False, indent=2)
    whole.write(path, encodable(text) + "\n")  # demos hold what models say


@contextmanager
def damage_named(folder: Path) -> Iterator[None]:
    """Say of what cannot be made sense of that the folder is damaged.

    Raises:
        AspectragError: Something inside could not be used.
    """
    try:
        yield
    except (AttributeError, KeyError, TypeError, ValueError) as exc:
        raise AspectragError(f"{folder} is damaged ({type(exc).__name__}: {exc}): compile it again") from exc
