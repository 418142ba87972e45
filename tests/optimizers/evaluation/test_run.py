"""What lies in the folder of a run may have been changed by hand: one clear line says which file."""

import json

import pytest
from aspectrag.errors import AspectragError
from aspectrag.optimizers.evaluation.run import Run
from reports import scored_run


def everything(run):
    list(run.answers())
    run.scored()
    run.means()
    run.trace("q1")


@pytest.mark.parametrize("line", ["5", "[]", "{}", '{"id": []}', "{"])
def test_a_damaged_answer_is_named(tmp_path, line):
    run = scored_run(tmp_path)
    file = run.path / "predictions.jsonl"
    file.write_text(line + "\n" + file.read_text())
    with pytest.raises(AspectragError, match=r"predictions\.jsonl is damaged"):
        everything(Run(run.path))


@pytest.mark.parametrize("change", [{"scores": None}, {"categories": None}, {"scores": {"em": "many"}}])
def test_a_damaged_score_is_named(tmp_path, change):
    run = scored_run(tmp_path)
    file = run.path / "scores.jsonl"
    first, *rest = file.read_text().splitlines()
    file.write_text("\n".join([json.dumps({**json.loads(first), **change}), *rest]) + "\n")
    with pytest.raises(AspectragError, match=r"scores\.jsonl is damaged"):
        everything(Run(run.path))


@pytest.mark.parametrize("metrics", [{"em": 5}, {"em": {"mean": 1}}, 5])
def test_damaged_means_are_named(tmp_path, metrics):
    run = scored_run(tmp_path)
    file = run.path / "metrics.json"
    file.write_text(json.dumps({**run.metrics, "metrics": metrics}))
    with pytest.raises(AspectragError, match=r"metrics\.json cannot be read"):
        everything(Run(run.path))


def test_a_damaged_trace_is_named(tmp_path):
    run = scored_run(tmp_path)
    for file in (run.path / "traces").iterdir():
        file.write_text('{"steps": 5}')
    with pytest.raises(AspectragError, match="is no trace, or damaged"):
        everything(run)
