"""The methods: each a DSPy module composed of typed signatures."""
