"""Readers: one file format each, from a path to documents."""
