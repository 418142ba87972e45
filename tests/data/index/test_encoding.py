import logging
import signal
import subprocess
import sys

import numpy as np
import pytest
from aspectrag.data.index import build, encoding
from aspectrag.data.index.encoding import encode_store
from aspectrag.data.index.store import PassageStore, write_store
from aspectrag.data.passages import Passage
from aspectrag.errors import AspectragError

MANY = [Passage(f"{i:04d}", "", f"word{i % 200} text {i}") for i in range(1000)]


@pytest.fixture
def store(tmp_path):
    write_store(MANY, tmp_path / "store")
    return PassageStore(tmp_path / "store")


def encode(store, encoder, tmp_path, **options):
    options = {"report": lambda _: None, "progress": False, "shard_size": 100, **options}
    encode_store(store, encoder, tmp_path / "vectors.npy", tmp_path / "shards", **options)
    return np.load(tmp_path / "vectors.npy")


class Killed(BaseException):
    """Not an Exception: nothing on the way may catch it."""


def killed_after(encoder_class, shards, size):
    class Mortal(encoder_class):
        def encode_passages(self, texts):
            if sum(len(call) == size for call in self.calls) == shards and len(texts) == size:
                raise Killed
            return super().encode_passages(texts)

    return Mortal()


def test_a_killed_encoding_goes_on_with_the_next_shard(store, fake_encoder, tmp_path):
    with pytest.raises(Killed):
        encode(store, killed_after(fake_encoder, 3, 100), tmp_path)
    survivor = fake_encoder()
    vectors = encode(store, survivor, tmp_path)
    shards = [call for call in survivor.calls if len(call) == 100]
    assert shards == [[p.contents for p in MANY[i : i + 100]] for i in range(300, 1000, 100)]
    (tmp_path / "again").mkdir()
    assert np.array_equal(vectors, encode(store, fake_encoder(), tmp_path / "again"))


def test_a_killed_build_leaves_nothing_half_written_and_goes_on(fake_encoder, tmp_path, monkeypatch):
    monkeypatch.setattr(encoding, "SHARD_SIZE", 100)
    with pytest.raises(Killed):
        build(MANY, tmp_path / "index", "hybrid", encoder=killed_after(fake_encoder, 4, 100), progress=False)
    assert not (tmp_path / "index").exists()
    survivor = fake_encoder()
    index = build(MANY, tmp_path / "index", "hybrid", encoder=survivor, progress=False)
    assert len([call for call in survivor.calls if len(call) == 100]) == 6
    assert [path.name for path in tmp_path.iterdir()] == ["index"]
    fresh = build(MANY, tmp_path / "fresh", "hybrid", encoder=fake_encoder(), progress=False)
    queries = ["word7", "text 12"]
    assert index.search(queries, 10) == fresh.search(queries, 10)


def test_a_build_killed_by_the_system_goes_on(fake_encoder, tmp_path):
    code = """
import os, signal, sys
from aspectrag.data.index import EncoderIdentity, build, encoding
from aspectrag.data.passages import Passage
import numpy as np

encoding.SHARD_SIZE = 100
count = 0

class Mortal:
    identity = EncoderIdentity("fake", "fake")
    def encode_passages(self, texts):
        global count
        count += len(texts) == 100
        if count > int(sys.argv[2]):
            os.kill(os.getpid(), signal.SIGKILL)
        return np.ones((len(texts), 4), dtype=np.float32)

passages = [Passage(str(i), "", f"text {i}") for i in range(500)]
build(passages, sys.argv[1], "dense", encoder=Mortal(), progress=False)
print(count)
"""

    def run(limit):
        command = [sys.executable, "-c", code, str(tmp_path / "index"), str(limit)]
        return subprocess.run(command, capture_output=True, text=True)

    assert run(2).returncode == -signal.SIGKILL
    assert not (tmp_path / "index").exists()
    assert run(1).returncode == -signal.SIGKILL
    done = run(100)
    assert (done.returncode, done.stdout.strip()) == (0, "2")
    assert [path.name for path in tmp_path.iterdir()] == ["index"]


def test_another_encoder_or_another_text_does_not_take_the_shards(store, fake_encoder, tmp_path):
    encode(store, fake_encoder(), tmp_path)
    other = fake_encoder(weights="other")
    encode(store, other, tmp_path)
    assert len([call for call in other.calls if len(call) == 100]) == 10
    write_store([*MANY[:-1], Passage("last", "", "changed")], tmp_path / "changed")
    again = fake_encoder()
    encode(PassageStore(tmp_path / "changed"), again, tmp_path)
    assert len([call for call in again.calls if len(call) == 100]) == 1


def test_memory_holds_one_shard(store, fake_encoder, tmp_path):
    encoder = fake_encoder()
    encode(store, encoder, tmp_path)
    assert max(map(len, encoder.calls)) == 100


def test_says_what_to_expect_before_it_starts(store, fake_encoder, tmp_path):
    encoder = fake_encoder()
    said = []
    encode(store, encoder, tmp_path, report=lambda line: said.append((line, max(map(len, encoder.calls)))))
    assert len(said) == 1
    line, largest_so_far = said[0]
    assert line.startswith("encoding 1,000 passages with fake: about")
    assert largest_so_far < 100


def test_reports_go_to_the_log_by_default(fake_encoder, tmp_path, passages, caplog, capsys):
    with caplog.at_level(logging.INFO, logger="aspectrag"):
        build(passages, tmp_path / "index", "dense", encoder=fake_encoder(), progress=False)
    assert "encoding 12 passages with fake: about" in caplog.text
    assert capsys.readouterr() == ("", "")


def test_too_little_disk(store, fake_encoder, tmp_path, monkeypatch):
    usage = type("Usage", (), {"free": 1000})
    monkeypatch.setattr(encoding.shutil, "disk_usage", lambda _: usage)
    with pytest.raises(AspectragError, match="MB of disk"):
        encode(store, fake_encoder(), tmp_path)


def test_rows_have_length_one_and_zero_rows_stay(store, tmp_path, fake_encoder):
    class Zeros(fake_encoder):
        def _encode(self, texts):
            return super()._encode(texts) * np.array([[not text.endswith(" 7")] for text in texts])

    norms = np.linalg.norm(encode(store, Zeros(), tmp_path), axis=1)
    assert norms[7] == 0
    assert np.allclose(np.delete(norms, 7), 1)
