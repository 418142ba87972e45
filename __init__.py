"""AspectRAG: questions with many aspects, answered by optimizable DSPy programs."""

__version__ = "0.1.0"
