"""Evaluation that can be trusted: runs that resume, scores with intervals, and comparisons question by question."""
