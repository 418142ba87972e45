"""List-wise rankers: which passages of a pool to read, and in which order, so that all aspects are covered."""
