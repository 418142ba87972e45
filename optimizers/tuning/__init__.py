"""Tuning the weights of small language models: LoRA adapters for single stages, and DSPy's way to ask for them."""

from typing import TYPE_CHECKING

from ...lazy import lazy

if TYPE_CHECKING:
    from .labeled import LabeledFinetune
    from .lora import LoraSettings, tune
    from .provider import LoraProvider, tunable
    from .revelator import train_revelator

_HOMES = {
    "LabeledFinetune": "labeled",
    "LoraProvider": "provider",
    "LoraSettings": "lora",
    "train_revelator": "revelator",
    "tunable": "provider",
    "tune": "lora",
}

__all__ = [
    "LabeledFinetune",
    "LoraProvider",
    "LoraSettings",
    "train_revelator",
    "tunable",
    "tune",
]

# Lazy: PyTorch takes seconds to import.
__getattr__, __dir__ = lazy(__name__, _HOMES)
