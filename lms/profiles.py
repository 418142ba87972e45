"""Named language models and the stages that use them, from a TOML file the user keeps.

::

    default = "small"

    [lms.small]
    model = "ollama_chat/qwen3:4b"
    num_ctx = 8192

    [lms.large]
    model = "openai/gpt-4o"
    api_key_env = "OPENAI_API_KEY"

    [roles]
    aggregate = "large"
"""

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..errors import AspectragError, nearest
from .options import LmOptions, changed

_KEYS = ("default", "lms", "roles")


@dataclass(frozen=True)
class Profiles:
    """The contents of a profile file.

    Attributes:
        path: The file, or None when there is none.
        lms: Language models by name.
        default: Name of the one to use when none is asked for.
        roles: Names of language models by name of the stage that uses them.
    """

    path: Path | None = None
    lms: Mapping[str, LmOptions] = field(default_factory=dict)
    default: str | None = None
    roles: Mapping[str, str] = field(default_factory=dict)


def profile_path() -> Path | None:
    """The first there is of ``$ASPECTRAG_PROFILE``, ``aspectrag.toml`` here, and the one in the user's configuration.

    Raises:
        AspectragError: ``$ASPECTRAG_PROFILE`` names a file that is not there.
    """
    if chosen := os.environ.get("ASPECTRAG_PROFILE"):
        path = Path(chosen).expanduser()
        if not path.is_file():
            raise AspectragError(f"ASPECTRAG_PROFILE names {path}, which is not a file")
        return path
    configuration = Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config")
    candidates = (Path("aspectrag.toml"), configuration / "aspectrag" / "config.toml")
    return next((path for path in candidates if path.is_file()), None)


def read_profiles(path: Path | None = None) -> Profiles:
    """Read a profile file.

    Args:
        path: The file; by default the one :func:`profile_path` finds.

    Raises:
        AspectragError: It is not TOML, or holds something unknown.
    """
    path = path or profile_path()
    if path is None:
        return Profiles()
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise AspectragError(f"{path} cannot be read: {error}") from error
    for key in table:
        if key not in _KEYS:
            raise AspectragError(f"{path}: there is no {key!r}{nearest(key, _KEYS)}")
    lms = {name: _lm(name, values, path) for name, values in _table(table, "lms", path).items()}
    roles = {
        stage: _known(str(name), lms, f"{path}: roles.{stage}") for stage, name in _table(table, "roles", path).items()
    }
    default = table.get("default")
    return Profiles(path, lms, _known(str(default), lms, f"{path}: default") if default is not None else None, roles)


def _table(table: dict[str, Any], key: str, path: Path) -> dict[str, Any]:
    found = table.get(key, {})
    if not isinstance(found, dict):
        raise AspectragError(f"{path}: {key} must be a table")
    return found


def _lm(name: str, values: object, path: Path) -> LmOptions:
    where = f"{path}: lms.{name}"
    if not isinstance(values, dict) or "model" not in values:
        raise AspectragError(f"{where} must be a table with a model")
    return changed(LmOptions(), values, where)


def _known(name: str, lms: Mapping[str, LmOptions], where: str) -> str:
    if name not in lms and name != "embedded" and "/" not in name:
        raise AspectragError(f"{where}: there is no language model {name!r}{nearest(name, [*lms, 'embedded'])}")
    return name
