"""The command: a file, its size, and one clear line where there is none."""

import os

import pytest
from aspectrag.app.report import report
from aspectrag.errors import AspectragError
from reports import packs, scored_run


def test_it_writes_a_page_and_says_how_large_it_is(tmp_path, capsys):
    scored_run(tmp_path / "runs", "rag")
    scored_run(tmp_path / "runs", "typed")
    html = tmp_path / "report.html"
    report([tmp_path / "runs"], html)
    said = capsys.readouterr().out
    assert said == f"{html}: {round(html.stat().st_size / 1000)} kB, 2 runs\n"
    assert "<title>rag, typed: report</title>" in html.read_text(encoding="utf-8")
    assert [file.name for file in tmp_path.iterdir() if file.is_file()] == ["report.html"]
    report([tmp_path / "runs" / "typed"], html, limit=1, traces=False)
    assert list(packs(html.read_text(encoding="utf-8"))) == ["q0", "q0r0"]


def test_what_cannot_be_written_is_said_before_the_work(tmp_path):
    with pytest.raises(AspectragError, match=r"there is no folder .*missing: make it first"):
        report([tmp_path], tmp_path / "missing" / "report.html")
    with pytest.raises(AspectragError, match="is a folder: give the name of a file"):
        report([tmp_path], tmp_path)


def test_what_is_no_run_or_not_finished_is_said(tmp_path):
    with pytest.raises(AspectragError, match="holds no run"):
        report([tmp_path], tmp_path / "report.html")
    run = scored_run(tmp_path / "runs")
    with pytest.raises(AspectragError, match="given twice"):
        report([run.path, tmp_path / "runs"], tmp_path / "report.html")
    (run.path / "scores.jsonl").unlink()
    with pytest.raises(AspectragError, match="is not finished"):
        report([run.path], tmp_path / "report.html")
    assert not (tmp_path / "report.html").exists()


def test_a_disk_that_is_full_leaves_the_page_as_it_was(tmp_path, monkeypatch):
    run, html = scored_run(tmp_path / "runs"), tmp_path / "report.html"
    html.write_text("before")

    def full(*args):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    monkeypatch.setattr("pathlib.Path.replace", full)
    with pytest.raises(OSError, match="No space left"):
        report([run.path], html)
    assert html.read_text() == "before"
    assert [file.name for file in tmp_path.iterdir() if file.is_file()] == ["report.html"]
