"""Language-model backends: the embedded one, and model strings for every other."""
