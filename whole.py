"""Files that are there as a whole or not at all."""

from pathlib import Path


def write(path: Path, text: str) -> None:
    """Write a file; where that fails, or is killed, what was there before stays.

    Raises:
        OSError: It cannot be written, with its name.
    """
    if path.exists() and not path.is_file():  # a pipe, or a terminal, is written to and not replaced
        path.write_text(text, encoding="utf-8")
        return
    part = path.with_name(path.name + ".part")
    try:
        part.write_text(text, encoding="utf-8")
        part.replace(path)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise OSError(error.errno, error.strerror, str(path)) from error
