"""The metrics: pure functions of a prediction and what was expected, one file each."""
