"""The metrics, one file each, by name in the registry: pure functions, and three that ask a judge."""
