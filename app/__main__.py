"""``python -m aspectrag.app``: the command where scripts are not on the path."""

from .cli import main

main()
