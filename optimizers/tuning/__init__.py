"""Tuning the weights of small language models: LoRA adapters for single stages, and DSPy's way to ask for them."""
