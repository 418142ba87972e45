"""The default base of small local models, SmolLM2-135M-Instruct: fetched, and converted for transformers, once."""

import logging
import shutil
import tempfile
from pathlib import Path
from typing import Any

from filelock import FileLock

from ...errors import AspectragError
from ...home import home
from ..artifacts import fetch
from ..catalogue import ARTIFACTS
from .extras import needed, quiet_loading

logger = logging.getLogger(__name__)
NAME = "smollm2"
SHA256 = ARTIFACTS[NAME].sha256
WINDOW = 8192
_FILES = ("config.json", "model.safetensors", "tokenizer.json")


def converted() -> Path:
    """The folder of the model, made when it is not there yet (some minutes at most, 270 MB of disk).

    Raises:
        AspectragError: The weights cannot be had, or converting them failed.
    """
    folder = home() / "converted" / f"{ARTIFACTS[NAME].target.removesuffix('.gguf')}-{SHA256[:8]}-float16"
    if folder.exists():
        return folder
    needed("gguf")
    weights = fetch(NAME)
    folder.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(folder.with_suffix(".lock")):
        if not folder.exists():
            _convert(weights, folder)
    return folder


def _convert(weights: Path, folder: Path) -> None:
    logger.warning("converting the base of the small local models, once: some minutes at most")
    partial = Path(tempfile.mkdtemp(prefix=".converting-", dir=folder.parent))
    try:
        _write(weights, partial)
        if missing := [name for name in _FILES if not (partial / name).is_file()]:
            raise ValueError(f"no {', '.join(missing)} came of it")
        partial.rename(folder)
    except Exception as error:  # of gguf, transformers, tokenizers, safetensors and the disk
        raise AspectragError(
            f"{ARTIFACTS[NAME].title} could not be converted in {folder.parent} ({type(error).__name__}: {error}): "
            f"is there room for 300 MB?"
        ) from error
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def _write(weights: Path, folder: Path) -> None:
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer, GgufConfig

    place, name = str(weights.parent), weights.name
    with quiet_loading():
        model: Any = AutoModelForCausalLM.from_pretrained(
            place, gguf_file=name, quantization_config=GgufConfig(dequantize=True), dtype=torch.float32
        )
        AutoTokenizer.from_pretrained(place, gguf_file=name).save_pretrained(str(folder))
        # Half the disk: four bits were multiplied out, so the digits that go do not matter.
        model.to(torch.float16).save_pretrained(str(folder))
