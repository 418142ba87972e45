"""Results of one step of several: what an earlier step has changed meanwhile is dropped where that is asked for."""

import json

import pytest
from aspectrag.data.construction.records import Results, Task
from aspectrag.data.growing import write_records
from aspectrag.errors import AspectragError


def task(name, text):
    return Task(name, {"id": name, "text": text})


def test_results_for_records_that_changed_are_dropped_and_the_rest_is_kept(tmp_path):
    path = tmp_path / "r.jsonl"
    results = Results(path, [task("a", "x"), task("b", "y")], "done", ["text"])
    results.add(task("b", "y"), {"done": 1})
    results.add(task("a", "x"), {"done": None})
    now = [task("a", "x"), task("b", "z")]
    with pytest.raises(AspectragError, match="line 1 is no result for a question of this set as it stands"):
        Results(path, now, "done", ["text"])
    again = Results(path, now, "done", ["text"], outdated="drop")
    assert again.done == {"a": {"id": "a", "text": "x", "done": None}}
    assert path.read_text() == '{"id": "a", "text": "x", "done": null}\n'


def test_files_of_something_else_are_never_dropped(tmp_path):
    path = tmp_path / "r.jsonl"
    path.write_text('{"id": "a", "text": "mine"}\n')
    with pytest.raises(AspectragError, match="line 1 is no result"):
        Results(path, [task("a", "x")], "done", ["text"], outdated="drop")
    assert path.read_text() == '{"id": "a", "text": "mine"}\n'


def test_a_file_is_written_whole(tmp_path):
    path = tmp_path / "r.jsonl"
    path.write_text("old\n")
    with pytest.raises(TypeError):
        write_records(path, [{"a": 1}, {"b": object()}])
    assert path.read_text() == "old\n"
    write_records(path, [{"a": "ü\ud83d"}])
    assert json.loads(path.read_text(encoding="utf-8")) == {"a": "ü?"}
