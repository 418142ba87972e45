"""The hash of a model's weights, taken once, and again when the files have changed."""

import hashlib
import json
import logging
from collections.abc import Sequence
from pathlib import Path

from ...home import home

logger = logging.getLogger(__name__)


def weights_sha256(files: Sequence[Path]) -> str:
    """SHA-256 of the bytes of some files, one behind the other in the order of their names."""
    files = sorted(path.resolve() for path in files)
    stamp = [[str(path), path.stat().st_size, path.stat().st_mtime_ns] for path in files]
    note = home() / "hashes" / f"{hashlib.sha256(json.dumps([str(path) for path in files]).encode()).hexdigest()}.json"
    try:
        known = json.loads(note.read_text())
        if known["files"] == stamp:
            return known["sha256"]
    except (OSError, ValueError, KeyError, TypeError):
        pass
    found = hashlib.sha256()
    for path in files:
        with path.open("rb") as stream:
            while block := stream.read(1 << 20):
                found.update(block)
    _note(note, {"files": stamp, "sha256": found.hexdigest()})
    return found.hexdigest()


def _note(path: Path, record: dict[str, object]) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(record))
    except OSError:
        logger.debug("the cache is read-only: the weights of %s will be hashed again", record["files"])
