import pytest
from aspectrag.data.passages import Passage
from aspectrag.programs.showing.rows import short, tree_of
from aspectrag.programs.trace import Step, Trace

MESSAGES = [{"role": "user", "content": "Why?"}]


def call(reply="So.", **more):
    given = {"messages": MESSAGES, "kwargs": {"temperature": 1.0}}
    return Step("lm", "model", given, [reply], tokens={"prompt": 30, "completion": 2}, cached=False, **more)


def rows(*steps):
    return tree_of(Trace(list(steps)).to_dict()).rows


def test_a_stage_and_its_one_call_are_a_row_with_prompt_and_reply():
    inner = Step("module", "predict", {"question": "Why?"}, {"type": "REASON"}, children=[call("type: REASON")])
    (row,) = rows(Step("module", "classify", {"question": "Why?"}, {"type": "REASON"}, 1.0, 0.6, children=[inner]))
    assert (row.kind, row.name, row.model, row.children) == ("module", "classify", "model", [])
    assert row.parts == {
        "inputs": {"question": "Why?"}, "prompt": MESSAGES, "settings": {"temperature": 1.0},
        "reply": ["type: REASON"], "outputs": {"type": "REASON"},
    }  # fmt: skip
    assert (row.prompt, row.completion, row.seconds, row.gist()) == (30, 2, 0.6, "type: REASON")


def test_a_stage_with_several_calls_keeps_them_apart():
    (row,) = rows(Step("module", "classify", outputs={"type": "A"}, children=[call("Hm."), call("A")]))
    assert [child.gist() for child in row.children] == ["Hm.", "A"]
    assert (row.prompt, row.completion) == (60, 4)


def test_what_could_not_be_read_is_shown_as_it_came():
    (row,) = rows(Step("module", "route", {"question": "Why?"}, error="AdapterParseError: no", children=[call("Hm.")]))
    assert row.gist() == "reply: Hm."
    assert row.is_trouble


def test_a_branch_that_is_one_verdict_is_a_row_with_the_title():
    def branch(**outputs):
        verdict = Step("module", "judge", {"passage": "x"}, outputs, children=[call()])
        return rows(Step("branch", "passage 1", Passage("a", "Danube", "x"), outputs, 1.0, 2.0, children=[verdict]))[0]

    row = branch(relevant=False)
    assert (row.name, row.kind, row.gist(), row.seconds) == ("passage 1", "branch", "relevant: False; Danube", 2.0)
    assert {"inputs", "prompt", "reply", "outputs"} <= row.parts.keys()
    assert branch(answer="So.", citations=[1]).children[0].name == "judge"


@pytest.mark.parametrize(
    ("step", "gist"),
    [
        (Step("retrieval", "retrieve", {"queries": ["a?", "b?"], "k": 2},
              [[Passage("x", "Danube", ""), Passage("y", "", ""), Passage("z", "Danube", "")], []]),
         "a? → Danube, y; b? → nothing"),
        (Step("retrieval", "rerank", {"query": "a?", "passages": 3}, [Passage("x", "Danube", "")]), "a? → Danube"),
        (Step("retrieval", "rank", {"ranker": "Pointer", "pool": [1, 2]}, []), "2 passages, Pointer → nothing"),
        (Step("retrieval", "retrieve", {"queries": ["a?"]}, error="OSError: no"), "a?"),
        (Step("branch", "hop 1", "Which sea?", {"question": "Which sea?", "answer": "Baltic"}),
         "Which sea?; answer: Baltic"),
        (Step("branch", "part 1", ["Which sea?", [Passage("x", "Danube", "")]], True), "Which sea?"),
        (Step("fallback", "route", outputs="a single step instead"), "a single step instead"),
        (Step("lm", "m", {"prompt": "Why?"}, [{"text": "yes", "probabilities": {"x": {"yes": 1.0}}}]), "yes"),
        (Step("lm", "m", {"prompt": "Why?"}), ""),
        (Step("module", "m", outputs={"sure": False, "none": None, "list": [], "parts": ["a", {"b": 1, "c": 2}]}),
         "sure: False; parts: a | 1: 2"),
        (Step("program", "Rag", outputs={"answer": "So."}), ""),
    ],
)  # fmt: skip
def test_what_a_step_did_in_few_words(step, gist):
    assert rows(step)[0].gist() == gist


def test_what_a_query_found_stands_beside_it():
    (row,) = rows(Step("retrieval", "retrieve", {"queries": ["a?"]}, [["x"]]))
    assert row.parts["outputs"] == [{"query": "a?", "found": ["x"]}]


def test_words_fit_on_a_line():
    assert len(short("long " * 1000)) == 120
    assert short("a\n b") == "a b"


def test_an_error_is_told_where_it_arose_and_not_where_it_was_passed_on():
    inner = Step("module", "answer", error="LMError: no")
    tree = tree_of(
        Trace([Step("program", "Rag", error="LMError: no", children=[Step("branch", "b"), inner])]).to_dict()
    )
    assert [row.name for row in tree.walk() if row.is_trouble] == ["answer"]
    assert [row.name for row in tree.walk() if row.troubled] == ["Rag", "answer"]
    assert [row.number for row in tree.walk()] == [0, 1, 2]


def test_times_are_counted_from_the_first_step():
    steps = [Step("branch", "a", started=100.0, seconds=2.0), Step("branch", "b", started=101.0, seconds=3.0)]
    tree = tree_of(Trace([*steps, Step("fallback", "c")]).to_dict())
    assert [row.began for row in tree.rows] == [0.0, 1.0, None]
    assert tree.length == 4.0
    assert tree.seconds == 5.0
    assert tree_of(Trace().to_dict()).length == 0.0


def test_a_row_is_cached_where_all_its_calls_were():
    cached = Step("lm", "m", {"prompt": "x"}, ["y"], cached=True)
    found = rows(*(Step("branch", "x", children=children) for children in ([cached, call()], [cached], [])))
    assert [row.cached for row in found] == [False, True, None]


def test_a_step_is_found_on_the_row_that_it_is_a_part_of():
    inner = Step("module", "judge", {}, {"relevant": True}, children=[call()])
    stage = Step("module", "route", {}, {"route": "x"}, children=[Step("module", "inside", children=[call()])])
    steps = [Step("program", "Rag", children=[stage, Step("branch", "passage 1", children=[inner])]), Step("lm", "x")]
    tree = tree_of(Trace(steps).to_dict())
    found = [tree.row_of(place).name for place in range(sum(1 for _ in Trace(steps).walk()))]
    assert found == ["Rag", *["route"] * 3, *["passage 1"] * 3, "x"]
