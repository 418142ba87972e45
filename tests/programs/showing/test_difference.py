from aspectrag.programs.showing.difference import compare
from aspectrag.programs.trace import Step, Trace


def stage(name, reply="So.", prompt="Why?", tokens=30, **more):
    call = Step("lm", "model", {"prompt": prompt}, [reply], tokens={"prompt": tokens, "completion": 2}, cached=False)
    return Step("module", name, {"question": "Why?"}, {"answer": reply}, children=[call], **more)


def program(*steps, name="Rag", answer="So."):
    return Trace([Step("program", name, {"question": "Why?"}, {"answer": answer}, children=list(steps))])


def states(difference):
    return [(pair.row.name, pair.state, list(pair.changed)) for pair in difference.walk()]


def test_the_same_steps_differ_in_nothing_whatever_time_they_took():
    found = compare(program(stage("a", seconds=1.0, started=5.0)), program(stage("a", seconds=9.0, started=7.0)))
    assert not found.differs
    assert found.first == []
    assert states(found) == [("Rag", "same", []), ("a", "same", [])]


def test_what_changed_is_named_with_what_it_was_and_is():
    found = compare(program(stage("a", "So.")), program(stage("a", "Thus.", prompt="How?", tokens=40)))
    assert states(found)[1] == ("a", "changed", ["prompt", "reply", "outputs", "tokens"])
    changed = list(found.walk())[1].changed
    assert changed["outputs"] == ({"answer": "So."}, {"answer": "Thus."})
    assert changed["tokens"] == ("30 + 2", "40 + 2")


def test_steps_that_one_alone_has_are_told_apart_from_their_siblings():
    found = compare(program(stage("a"), stage("b"), stage("d")), program(stage("a"), stage("c"), stage("d")))
    assert [(name, state) for name, state, _ in states(found)] == [
        ("Rag", "same"), ("a", "same"), ("b", "only A"), ("c", "only B"), ("d", "same"),
    ]  # fmt: skip
    assert [pair.row.name for pair in found.first] == ["Rag", "b"]
    assert [pair.number for pair in found.walk()] == [0, 1, 2, 3, 4]


def test_attempts_at_a_stage_are_compared_one_by_one():
    note = Step("fallback", "route", outputs="a single step instead")
    found = compare(program(stage("route", "Hm."), stage("route", "rag"), note), program(stage("route", "rag")))
    assert [(name, state) for name, state, _ in states(found)[1:]] == [
        ("route", "changed"), ("route", "only A"), ("route", "only A"),
    ]  # fmt: skip


def test_the_first_other_outcome_is_looked_for_inside():
    def trace(reply, answer):
        part = Step(
            "branch", "part 1", "Why?", {"answer": answer}, children=[stage("judge", "yes"), stage("answer", reply)]
        )
        return program(stage("route", "x"), part, answer=answer)

    found = compare(trace("So.", "So."), trace("Thus.", "Thus."))
    assert [pair.row.name for pair in found.first] == ["Rag", "part 1", "answer"]
    assert found.answers == ("So.", "Thus.")


def test_another_prompt_alone_is_no_other_outcome():
    found = compare(program(stage("a", prompt="Why?")), program(stage("a", prompt="How?")))
    assert found.differs
    assert found.first == []


def test_programs_of_any_name_are_compared():
    found = compare(program(stage("answer"), name="Rag"), program(stage("answer"), name="HanRag"))
    assert states(found) == [("HanRag", "changed", ["name"]), ("answer", "same", [])]
    assert [pair.state for pair in compare(Trace(), program()).walk()] == ["only B"]


def test_texts_of_notes_and_errors_differ():
    one = program(Step("fallback", "x", outputs="this"), Step("module", "y", error="LMError: no"))
    other = program(Step("fallback", "x", outputs="that"), Step("module", "y"))
    assert [pair.changed for pair in compare(one, other).walk()][1:] == [
        {"text": ("this", "that")}, {"error": ("LMError: no", None)},
    ]  # fmt: skip


def test_a_thousand_steps_are_compared_by_their_places():
    one, other = ([stage("hop", f"{side}{n}") for n in range(1000)] for side in ("a", "b"))
    found = compare(program(*one), program(*other[1:]))
    assert [pair.state for pair in found.walk()].count("changed") == 999


def test_the_question_is_told_where_both_have_the_same():
    one, other = (Trace([Step("program", "Rag", {"question": asked})]) for asked in ("Why?", "How?"))
    assert one.compare(one).question == "Why?"
    assert one.compare(other).question is None
