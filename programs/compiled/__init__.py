"""Compiled programs that ship with the package: ``<method>/<language model>/``, each a folder that ``save`` wrote."""

import hashlib
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..program import Program
from ..saved import read_manifest, tuned_stages

ROOT = Path(__file__).parent
_READABLE = 60


def shipped(method: str, model: str) -> Path | None:
    """The folder of the program of a method that was compiled for a language model; ``None`` where none ships.

    Args:
        method: Name of the method, as in ``programs.registry``.
        model: Its model string, ``lm.model``.
    """
    folder = ROOT / method / folder_of(model)
    return folder if (folder / "manifest.json").is_file() else None


def adopt_shipped(
    program: Program, method: str, lm: Any, roles: Mapping[str, Any] | None = None
) -> dict[str, list[str]]:
    """Give a program those tuned stages that ship for the language model that each of them runs on.

    Args:
        program: A program as its class makes it.
        method: Name of the method.
        lm: Its language model.
        roles: Those of single stages.

    Returns:
        The names of the stages that it took over, by the model string they were compiled for.

    Raises:
        AspectragError: What ships cannot be read.
    """
    running: dict[str, list[str]] = {}
    for stage, _ in program.named_predictors():
        running.setdefault(getattr((roles or {}).get(stage, lm), "model", ""), []).append(stage)
    found = {}
    for model, stages in running.items():
        if folder := shipped(method, model):
            tuned = tuned_stages(read_manifest(folder))
            if taken := program.adopt(folder, [stage for stage in stages if stage in tuned]):
                found[model] = taken
    return found


def folder_of(model: str) -> str:
    """The name of a model string's folder: readable, allowed on all systems, another one for every string.

    Dots go too: before one, ``con`` and ``aux`` are devices on Windows. The digest tells apart what then looks alike,
    also where the system takes upper for lower case.

    Example:
        >>> folder_of("ollama_chat/qwen2.5:3b"), folder_of("ollama_chat/qwen2-5/3b")
        ('ollama_chat-qwen2-5-3b-14df689abdac', 'ollama_chat-qwen2-5-3b-1449c9d1b614')
    """
    readable = re.sub(r"[^A-Za-z0-9_]+", "-", model)[:_READABLE].strip("-") or "lm"
    return f"{readable}-{hashlib.sha256(model.encode('utf-8', 'surrogatepass')).hexdigest()[:12]}"
