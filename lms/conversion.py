"""Turns the GGUF file of the embedded model into the folder OpenVINO loads, in a process of its own.

Conversion takes minutes and gigabytes of memory, loading the converted folder seconds: so it is done once and
kept in the cache. Run by path (``python -P conversion.py WEIGHTS FOLDER``), it imports nothing of the package.
"""

import sys
from pathlib import Path

# ruff: noqa: E402
# OpenVINO reports every import to its makers over the network; where their reporter is missing, it does not.
sys.modules["openvino_telemetry"] = None  # pyright: ignore[reportArgumentType]

import openvino
import openvino_genai as genai
import openvino_tokenizers  # noqa: F401  (registers the operations of tokenizer models)
from openvino import opset13 as ops


def convert(weights: Path, folder: Path) -> None:
    """Write the converted model and its tokenizer into ``folder``, which exists and is empty."""
    # The library writes beside the file it reads, which may lie where nothing must be written: hence the link.
    link = folder / "model.gguf"
    link.symlink_to(weights.resolve())
    scheduler = genai.SchedulerConfig()
    scheduler.cache_size = 1
    genai.Tokenizer(link, enable_save_ov_model=True)
    genai.ContinuousBatchingPipeline(link, scheduler, "CPU", {"enable_save_ov_model": True})
    link.unlink()
    _lift_tokenizer_limit(folder)


def _lift_tokenizer_limit(folder: Path) -> None:
    """Let the tokenizer read texts of any length: as converted, it silently keeps the last 8,192 tokens only."""
    path = folder / "openvino_tokenizer.xml"
    model = openvino.Core().read_model(path)
    for node in model.get_ordered_ops():
        if node.get_type_name() == "Minimum":
            limit = ops.constant(2**31 - 1, dtype=node.input(1).get_element_type())
            node.input(1).replace_source_output(limit.output(0))
    lifted = folder / "lifted_tokenizer.xml"
    openvino.save_model(model, lifted, compress_to_fp16=False)
    for suffix in (".xml", ".bin"):
        lifted.with_suffix(suffix).replace(path.with_suffix(suffix))


if __name__ == "__main__":
    convert(Path(sys.argv[1]), Path(sys.argv[2]))
