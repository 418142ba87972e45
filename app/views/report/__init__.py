"""Runs as one self-contained page: what was run, tables, plots, and every question with its trace."""
