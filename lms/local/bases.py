"""The bases of local models: where their weights lie, what is known of them, and how they are opened."""

import logging
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...errors import AspectragError
from . import smollm2
from .extras import quiet_loading
from .weights import weights_sha256

logger = logging.getLogger(__name__)
# Weights as tensors alone: other formats run code when they are read.
_FROM_HUB = ["*.json", "*.jinja", "*.txt", "*.model", "*.safetensors"]
_CAUSAL = ("CausalLM", "LMHeadModel")


@dataclass(frozen=True)
class Base:
    """An open base.

    Attributes:
        model: Of transformers, ready to be read from.
        tokenizer: Of transformers.
        info: What the card of an adapter says of it.
    """

    model: Any
    tokenizer: Any
    info: dict[str, Any]


def open_base(name: str, device: str = "auto") -> Base:
    """Load a base; each call gives a model of its own.

    Args:
        name: ``smollm2``, a folder, or a name on the hub.
        device: Of torch; by default a GPU where there is one.

    Raises:
        AspectragError: It cannot be had, or is no causal language model.
    """
    folder, info = folder_of(name), info_of(name)
    import torch
    from transformers import AutoModelForCausalLM

    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    try:
        with quiet_loading():
            opened: Any = AutoModelForCausalLM.from_pretrained(
                str(folder), dtype=_dtype(device), local_files_only=True, use_safetensors=True, output_loading_info=True
            )
            model, told = opened
            # What is missing would be as chance has it.
            if missing := told["missing_keys"]:
                raise ValueError(f"weights are missing, such as {min(missing)}")
            return Base(model.to(device).eval(), tokenizer_of(name), info)
    except AspectragError:
        raise
    except Exception as error:  # of transformers, of torch, and of safetensors, which has a kind of its own
        raise AspectragError(
            f"the model in {folder} cannot be opened ({first_line(error)}): copy it again, or take another"
        ) from error


def _dtype(device: str) -> Any:
    import torch

    if device == "cpu":
        return torch.float32
    return torch.bfloat16 if device.startswith("cuda") and torch.cuda.is_bf16_supported() else torch.float16


def tokenizer_of(name: str) -> Any:
    """The tokenizer of a base.

    Raises:
        AspectragError: It cannot be had.
    """
    from transformers import AutoTokenizer

    folder = folder_of(name)
    try:
        return AutoTokenizer.from_pretrained(str(folder), local_files_only=True)
    except Exception as error:  # of transformers, and of tokenizers, which has a kind of its own
        raise AspectragError(
            f"the tokenizer in {folder} cannot be opened ({first_line(error)}): copy the model again, or take another"
        ) from error


def info_of(name: str) -> dict[str, Any]:
    """What is known of a base: ``name``, ``sha256`` of its weights, ``model_type``, ``layers``, ``hidden_size``.

    Raises:
        AspectragError: It cannot be had, or is no causal language model.
    """
    config = config_of(name)
    made_for = config.architectures or []
    if made_for and not any(kind in each for each in made_for for kind in _CAUSAL):
        raise AspectragError(
            f"{name} is no causal language model ({', '.join(made_for)}): take one such as {smollm2.NAME}"
        )
    return {
        "name": name, "sha256": sha256_of(name), "model_type": config.model_type,
        "layers": config.num_hidden_layers, "hidden_size": config.hidden_size,
    }  # fmt: skip


def sha256_of(name: str) -> str:
    """The hash of the weights; of the converted base, that of what it was made of, wherever it was converted.

    Raises:
        AspectragError: It cannot be had.
    """
    if name == smollm2.NAME:
        return smollm2.SHA256
    folder = folder_of(name)
    files = list(folder.glob("*.safetensors"))
    if not files:
        raise AspectragError(f"{folder} holds no weights (*.safetensors): give the whole folder of a model")
    return weights_sha256(files)


def config_of(name: str) -> Any:
    """The configuration of a base, as transformers has it.

    Raises:
        AspectragError: It cannot be had.
    """
    from transformers import AutoConfig

    folder = folder_of(name)
    try:
        return AutoConfig.from_pretrained(str(folder), local_files_only=True).get_text_config()
    except (OSError, ValueError, KeyError) as error:
        raise AspectragError(f"{folder} is no model that transformers knows: {first_line(error)}") from error


def folder_of(name: str) -> Path:
    """The folder of a base, fetched when it is not there.

    Raises:
        AspectragError: There is no such base, or it cannot be had.
    """
    if name == smollm2.NAME:
        return smollm2.converted()
    folder = Path(name).expanduser()
    if (folder / "config.json").is_file():
        return folder
    if folder.exists() or not is_hub_name(name):
        raise AspectragError(
            f"{name} is no local model: give a folder with a config.json or an adapter_config.json, a name on the hub "
            f"such as HuggingFaceTB/SmolLM2-135M-Instruct, or {smollm2.NAME}"
        )
    return _from_hub(name)


def is_hub_name(name: str) -> bool:
    """Whether this may be the name of a repository, and is no path.

    Example:
        >>> is_hub_name("HuggingFaceTB/SmolLM2-135M-Instruct"), is_hub_name("./router"), is_hub_name("runs/a/router")
        (True, False, False)
    """
    return name.count("/") == 1 and not name.startswith((".", "/", "~")) and not name.endswith("/") and "\\" not in name


def _from_hub(name: str) -> Path:
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import LocalEntryNotFoundError

    try:
        return Path(snapshot_download(name, allow_patterns=_FROM_HUB, local_files_only=True))
    except (LocalEntryNotFoundError, ValueError):
        logger.warning("fetching %s from the hub", name)
    try:
        return Path(snapshot_download(name, allow_patterns=_FROM_HUB))
    except Exception as error:  # the hub client raises many kinds: all mean that it is out of reach
        raise AspectragError(
            f"{name} is no folder, and the hub did not give it ({first_line(error)}): connect to a network, or give "
            f"the folder of a model"
        ) from error


def first_line(error: BaseException) -> str:
    """What an error of another library says, short enough for a line of ours."""
    first, *more = (str(error).strip() or type(error).__name__).splitlines()
    return (first + more[0] if first.endswith(":") and more else first).replace("\t", " ")[:200]
