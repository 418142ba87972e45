"""Readers: one file format each, from a path to documents."""

from .reading import Reading, read
from .report import Problem, ReadReport

__all__ = ["Problem", "ReadReport", "Reading", "read"]
