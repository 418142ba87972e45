from aspectrag.app.views.report.page import TEMPLATES
from aspectrag.app.views.report.questions import entries
from aspectrag.programs.showing.pages import templates
from evaluation import failing, questions
from reports import Elements, packs, scored_run


def viewed(entry, id):
    parts = packs(
        "".join(f'<script type="text/plain" id="{key}-pack">{pack}</script>' for key, pack in entry.packs.items())
    )
    return " ".join(Elements(parts[id]).text.split())


def made(runs, **options):
    return entries(runs, [run.path.name for run in runs], templates(TEMPLATES), progress=False, **options)


def test_a_question_has_what_is_known_and_what_each_run_made_of_it(tmp_path):
    found = made([scored_run(tmp_path, "one"), scored_run(tmp_path, "two", failing(0, 1))])
    assert [entry.question.id for entry in found] == [f"q{n}" for n in range(9)]
    entry = found[1]
    assert list(entry.packs) == ["q1", "q1r0", "q1r0t", "q1r1", "q1r1t"]
    assert entry.parts == ["q1", "q1r0", "q1r1"]
    assert entry.failed
    assert not found[2].failed
    assert entry.categories == {"type": "odd", "hops": "1"}
    known = viewed(entry, "q1")
    assert "expected answer 1" in known
    assert "id q1" in known
    answered = viewed(entry, "q1r0")
    assert "one Answer 1. [1]" in answered
    assert "1 model call" in answered
    assert "em 1" in answered
    assert "1 cited" in answered
    fell = viewed(entry, "q1r1")
    assert "it fell over" in fell
    assert "em 0" in fell
    assert "RuntimeError" in viewed(entry, "q1r1t") or "it fell over" in viewed(entry, "q1r1t")
    assert "Rag" in viewed(entry, "q1r0t")


def test_a_citation_leads_to_its_passage(tmp_path):
    entry = made([scored_run(tmp_path)])[0]
    page = Elements(packs(f'<script type="text/plain" id="x-pack">{entry.packs["q0r0"]}</script>')["x"])
    assert ("a", {"href": "#q0r0p1"}) in page.tags
    assert [attrs["class"] for _, attrs in page.tags if attrs.get("id") == "q0r0p1"] == ["passage cited"]


def test_runs_over_other_questions_are_told_apart(tmp_path):
    others = [each.copy(question=f"{each.question} Else?") for each in questions(2)]
    found = made([scored_run(tmp_path / "a"), scored_run(tmp_path / "b", "typed", lambda _: {"answer": "x"}, others)])
    assert len(found) == 11
    assert [list(entry.scored) for entry in found] == [[0]] * 9 + [[1]] * 2


def test_fewer_questions_and_no_traces_where_that_is_wanted(tmp_path):
    runs = [scored_run(tmp_path)]
    found = made(runs, limit=2, traces=False)
    assert [list(entry.packs) for entry in found] == [["q0", "q0r0"], ["q1", "q1r0"]]
    for file in (runs[0].path / "traces").iterdir():
        file.unlink()
    assert [list(entry.packs) for entry in made(runs, limit=1)] == [["q0", "q0r0"]]
