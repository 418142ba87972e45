"""Passages, where they come from, and the indexes that find them."""
