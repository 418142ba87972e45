import errno
import os
from pathlib import Path

import pytest
from aspectrag.whole import write


def test_a_file_is_replaced(tmp_path):
    file = tmp_path / "a.json"
    write(file, "one")
    write(file, "twø")
    assert file.read_text(encoding="utf-8") == "twø"
    assert [each.name for each in tmp_path.iterdir()] == ["a.json"]


def test_what_was_there_stays_where_the_disk_is_full(tmp_path, monkeypatch):
    file = tmp_path / "a.json"
    write(file, "one")
    whole = Path.write_text

    def full(path, text, **options):
        whole(path, text[:1], **options)
        raise OSError(errno.ENOSPC, "No space left on device")  # of a write, which knows no name

    monkeypatch.setattr(Path, "write_text", full)
    with pytest.raises(OSError, match=r"No space left on device: .*a\.json"):
        write(file, "two")
    assert file.read_text() == "one"
    assert [each.name for each in tmp_path.iterdir()] == ["a.json"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_is_written_to(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    write(pipe, "text")
    assert os.read(reader, 9) == b"text"
    os.close(reader)
    assert not pipe.is_file()
