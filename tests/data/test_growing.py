"""Files that grow: nothing half-written is ever read."""

import errno
import threading

import pytest
from aspectrag.data.growing import GrowingFile
from aspectrag.errors import AspectragError


@pytest.mark.parametrize("tail", ['{"id": "3"', '{"id": "3"}', "\u4f60"])
def test_a_line_that_was_cut_short_is_dropped_whatever_it_held(tmp_path, tail):
    path = tmp_path / "a.jsonl"
    path.write_text('{"id": "1"}\n{"id": "2", "text": "二"}\n' + tail, encoding="utf-8")
    assert [record["id"] for record in GrowingFile(path)] == ["1", "2"]
    GrowingFile(path).add({"id": "3"})
    assert [record["id"] for record in GrowingFile(path)] == ["1", "2", "3"]


def test_a_long_line_that_was_cut_short_is_dropped(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text('{"id": "1"}\n{"text": "' + "x" * 200_000, encoding="utf-8")
    assert list(GrowingFile(path)) == [{"id": "1"}]
    path.write_text('{"text": "' + "x" * 200_000, encoding="utf-8")
    assert list(GrowingFile(path)) == []
    GrowingFile(path).add({"id": "2"})
    assert path.read_bytes() == b'{"id": "2"}\n'


def test_reading_changes_nothing(tmp_path):
    (tmp_path / "a.txt").write_text("a text of\nsomebody else", encoding="utf-8")
    with pytest.raises(AspectragError):
        list(GrowingFile(tmp_path / "a.txt"))
    assert (tmp_path / "a.txt").read_text(encoding="utf-8") == "a text of\nsomebody else"


def test_a_damaged_line_is_named(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"id": "1"}\n[]\n', encoding="utf-8")
    with pytest.raises(AspectragError, match=r"a\.jsonl, line 2 is no record of this file"):
        list(GrowingFile(tmp_path / "a.jsonl"))


def test_surrogates_and_line_ends_inside_texts_come_back(tmp_path):
    GrowingFile(tmp_path / "a.jsonl").add({"text": "a\u2028b\nc", "half": "x\ud800"})
    (record,) = GrowingFile(tmp_path / "a.jsonl")
    assert record == {"text": "a\u2028b\nc", "half": "x\ufffd"} or record["half"].startswith("x")


def test_records_of_many_threads_do_not_mix(tmp_path):
    file = GrowingFile(tmp_path / "a.jsonl")
    threads = [
        threading.Thread(target=lambda n=n: [file.add({"n": n, "i": i, "t": "x" * 5000}) for i in range(20)])
        for n in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted((record["n"], record["i"]) for record in file) == [(n, i) for n in range(8) for i in range(20)]


def test_a_full_disk_leaves_the_file_as_it_was(tmp_path, monkeypatch):
    path = tmp_path / "a.jsonl"
    file = GrowingFile(path)
    file.add({"id": "1"})
    before = path.read_bytes()
    opened = type(path).open

    class Full:
        """The disk takes a few bytes of the line, and then no more."""

        def __init__(self, real):
            self.real, self.calls = real, 0

        def __enter__(self):
            return self

        def __exit__(self, *_):
            self.real.close()

        def write(self, data):
            self.calls += 1
            if self.calls > 1:
                raise OSError(errno.ENOSPC, "No space left on device")
            return self.real.write(data[:4])

        def __getattr__(self, name):
            return getattr(self.real, name)

    monkeypatch.setattr(
        type(path),
        "open",
        lambda self, mode="r", **kw: Full(opened(self, mode, **kw)) if mode == "ab" else opened(self, mode, **kw),
    )
    with pytest.raises(OSError, match="No space left"):
        file.add({"id": "2", "text": "long enough"})
    assert path.read_bytes() == before
