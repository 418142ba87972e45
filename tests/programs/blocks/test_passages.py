from aspectrag.data.passages import Passage
from aspectrag.programs.blocks.passages import fit, merge, numbered, rerank, retrieve
from aspectrag.programs.trace import record
from fakes import ListRetriever

LONG = [Passage(str(i), "T", "word " * 300) for i in range(10)]


class Lm:
    """As much of a language model as fitting passages looks at."""

    def __init__(self, window, count=None):
        self.context_window, self.kwargs = window, {"max_tokens": 200}
        if count:
            self.engine = type("Engine", (), {"count_tokens": staticmethod(count)})


def test_retrieval_is_one_batch_and_one_step():
    retriever = ListRetriever()
    with record() as trace:
        found = retrieve(retriever, ["coal", "xyzzy"], 3)
    assert len(retriever.searches) == 1
    assert [len(passages) for passages in found] == [2, 0]
    (step,) = trace.steps
    assert step.kind == "retrieval"
    assert step.outputs[0][0]["id"] == "d8"
    assert [(note.kind, note.outputs) for note in step.children] == [("warning", "nothing was found for 'xyzzy'")]


def test_merge_keeps_the_first_of_equal_texts():
    a, b, twin = Passage("a", "A", "x"), Passage("b", "B", "y"), Passage("c", "C", "x")
    assert merge([[a, b], [twin, b]]) == [a, b]


def test_passages_are_dropped_from_the_end_with_a_warning():
    with record() as trace:
        kept = fit(LONG, "why?", Lm(4000))
    assert kept == LONG[: len(kept)]
    assert 1 < len(kept) < 10
    (warning,) = trace.steps
    assert warning.kind == "warning"
    assert "4000" in warning.outputs


def test_the_models_own_tokenizer_counts_and_one_passage_always_stays():
    assert len(fit(LONG, "why?", Lm(4000, count=lambda text: 5000))) == 1
    assert len(fit(LONG, "why?", Lm(4000, count=lambda text: 10))) == 10


def test_nothing_is_dropped_where_the_window_is_unknown():
    assert fit(LONG, "why?", Lm(None)) == LONG
    assert fit([], "why?", Lm(10)) == []


def test_a_retriever_that_cannot_rank_keeps_its_order():
    class Plain:
        def search(self, queries, k):
            return [[]]

        def __deepcopy__(self, memo):
            return self

    with record() as trace:
        assert rerank(Plain(), "q", LONG, 3) == LONG[:3]
    assert trace.steps[0].kind == "warning"


def test_numbers_start_at_one():
    shown = numbered([Passage("a", "", "x"), Passage("b", "B", "y")])
    assert [(p.number, p.title, p.text) for p in shown] == [(1, "", "x"), (2, "B", "y")]
