"""Where the converted embedded model lies; fetched and converted when it does not."""

import logging
import shutil
import subprocess
import sys
import tempfile
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any

from filelock import FileLock

from ..errors import AspectragError
from ..home import home
from .artifacts import fetch

logger = logging.getLogger(__name__)
CONTEXT_WINDOW = 32_768
# Weights, quantization and the first digits of their hash: what answers depend on.
MODEL_NAME = "qwen2.5-coder-1.5b-instruct-q4_k_m@cc324af0"


def converted_model() -> Path:
    """The folder of the converted model, made when it is not there yet (some minutes at most, 1.3 GB of disk).

    Raises:
        AspectragError: The weights cannot be had, or converting them failed.
    """
    folder = _folder()
    if folder.exists():
        return folder
    weights = fetch("lm")
    folder.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(folder.with_suffix(".lock")):
        if not folder.exists():
            _convert(weights, folder)
    return folder


def runtime() -> Any:
    """The module ``openvino_genai``, imported without the report on it that OpenVINO would send to its makers.

    Raises:
        AspectragError: It is not installed.
    """
    # Where their reporter cannot be imported, a stub takes its place.
    sys.modules["openvino_telemetry"] = None  # pyright: ignore[reportArgumentType]
    try:
        return import_module("openvino_genai")
    except ImportError as error:
        raise AspectragError(
            f"the embedded language model needs openvino-genai: pip install 'aspectrag[embedded]' ({error})"
        ) from error


def _folder() -> Path:
    # Another release may convert otherwise; the patch number is left out.
    release = ".".join(version("openvino-genai").split(".")[:2])
    return home() / "converted" / f"{MODEL_NAME}-openvino-{release}"


def _convert(weights: Path, folder: Path) -> None:
    logger.warning("converting the embedded language model, once: some minutes at most")
    partial = Path(tempfile.mkdtemp(prefix=".converting-", dir=folder.parent))
    try:
        script = str(Path(__file__).with_name("conversion.py"))
        done = subprocess.run(
            [sys.executable, "-P", script, str(weights), str(partial)], capture_output=True, text=True, check=False
        )
        if done.returncode != 0:
            reason = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
            raise AspectragError(
                f"the embedded model could not be converted in {folder.parent}: {reason}; "
                f"is there room for 1.3 GB and 6 GB of memory?"
            )
        partial.rename(folder)
    finally:
        shutil.rmtree(partial, ignore_errors=True)
