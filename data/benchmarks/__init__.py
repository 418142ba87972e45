"""Sets of questions that methods are measured on: one file each, found by name in the registry."""

from .benchmark import Benchmark, question
from .loading import QuestionSet, load, overlap
from .registry import BENCHMARKS, benchmark

__all__ = ["BENCHMARKS", "Benchmark", "QuestionSet", "benchmark", "load", "overlap", "question"]
