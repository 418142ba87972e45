import pytest
from aspectrag.app.views.report.tables import arrow, is_quality, numbers
from aspectrag.errors import AspectragError
from aspectrag.optimizers.evaluation.comparison import compare
from evaluation import failing
from reports import better, scored_run


def test_the_means_are_those_of_the_files(tmp_path):
    run = scored_run(tmp_path, reply=failing(2))
    found = numbers([run])
    # What counts for quality stands before what it took.
    assert found.columns == ["em", "f1", "tokens", "steps"]
    for line in found.overall():
        assert line.means[0].to_dict() == run.metrics["metrics"][line.column]
    for line in found.answered:
        assert line.means[0].to_dict() == run.metrics["metrics_of_answered"][line.column]
    rows = (run.path / "by_category.csv").read_text().splitlines()
    for line in found.of("em"):
        mean = line.means[0]
        assert f"{line.category},{line.value},em,{mean.mean},{mean.low},{mean.high},{mean.n}" in rows
    assert [(line.category, line.value) for line in found.of("em")] == [
        ("hops", "0"), ("hops", "1"), ("type", "even"), ("type", "odd"),
    ]  # fmt: skip


def test_differences_are_those_of_the_comparison(tmp_path):
    runs = [scored_run(tmp_path, "plain"), scored_run(tmp_path, "better", better)]
    found = numbers(runs)
    rows = {(row.category, row.value, row.column): row for row in compare(runs)}
    assert {(line.category, line.value, line.column) for line in found.lines} == set(rows)
    for line in found.lines:
        assert line.differences == rows[line.category, line.value, line.column].differences
    # The first is right on 4 questions of 9, the second on all.
    assert found.overall()[0].differences[1].mean == pytest.approx(5 / 9)


def test_runs_over_other_questions_stand_side_by_side_without_a_comparison(tmp_path):
    from evaluation import questions

    runs = [scored_run(tmp_path / "a"), scored_run(tmp_path / "b", asked=questions(20)[10:])]
    found = numbers(runs)
    assert "share no question" in found.remark
    assert found.overall()[0].differences == (None, None)
    assert [mean.n for mean in found.overall()[0].means] == [9, 10]


def test_a_run_that_is_not_scored_or_damaged_is_refused(tmp_path):
    run = scored_run(tmp_path)
    (run.path / "by_category.csv").write_text("category,value\n1,2\n")
    with pytest.raises(AspectragError, match=r"by_category\.csv cannot be read"):
        numbers([run])
    (run.path / "scores.jsonl").unlink()
    with pytest.raises(AspectragError, match="is not finished"):
        numbers([run])


def test_columns_say_what_they_mean():
    assert arrow("tokens") == {"about": "tokens read and written", "sign": "↓", "better": "lower is better"}
    assert arrow("nDCG@3")["sign"] == "↑"
    assert arrow("my own") == {"about": "", "sign": "", "better": ""}
    assert is_quality("em")
    assert is_quality("my own")
    assert not is_quality("steps")
