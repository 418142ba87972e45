"""The acceptance cases of RichRAG: what is explored, looked up, ranked and written, and what happens when it fails."""

import json
from typing import Any

import dspy
import pytest
from aspectrag.data.passages import Passage
from aspectrag.errors import AspectragError
from aspectrag.lms.scripted import scripted_lm
from aspectrag.optimizers.ranker.oracle import CoverageRanker
from aspectrag.programs.blocks.adapter import StructuredAdapter
from aspectrag.programs.blocks.citations import unmarked
from aspectrag.programs.rich_rag import RichRag, RichRagConfig
from dspy.lm15 import ContextLengthError
from fakes import ListRetriever, by_fields

QUESTION = "How can a team improve its collaboration efficiency?"
ASPECTS = ["communication tools", "clear roles", "meeting habits"]
PASSAGES = [
    Passage("e1", "Chat", "Communication tools such as chat help a team to share news."),
    Passage("e2", "Roles", "Clear roles make a team quick to decide."),
    Passage("e3", "Meetings", "Meeting habits: keep each meeting short and its notes open."),
    Passage("e4", "Wiki", "Communication tools such as a wiki keep what a team knows."),
    Passage("e5", "Wiki twin", "Communication tools such as a wiki keep what a team knows."),
    Passage("e6", "Collaboration", "Collaboration efficiency is how well a team works together."),
    Passage("e7", "Coal", "Coal is cheap and dirty."),
]
SENTENCES = [
    {"sentence": "A team needs tools.", "passages": [1]},
    {"sentence": "Roles should be clear.", "passages": [2, 3]},
]
CHINESE = "如何提高团队协作效率？"
CHINESE_ASPECTS = ["沟通工具", "明确分工", "会议习惯"]
CHINESE_PASSAGES = [
    Passage("z1", "沟通", "沟通工具帮助团队分享信息。"),
    Passage("z2", "分工", "明确分工让团队决策更快。"),
    Passage("z3", "会议", "会议习惯：会议要短，记录要公开。"),
    Passage("z4", "", "协作效率取决于团队。"),
    Passage("z5", "煤炭", "煤炭便宜但很脏。"),
]


class CharacterRetriever(ListRetriever):
    """For a script without blanks: scores by characters in common."""

    def _order(self, query, passages):
        scored = [p.with_score(len(set(query) & set(p.contents) - set("，。：？ "))) for p in passages]
        return sorted(scored, key=lambda p: (-(p.score or 0), p.id))


class EachAspect(ListRetriever):
    """Finds for each query what it is told to."""

    def __init__(self, found):
        super().__init__()
        self.found = found

    def search(self, queries, k):
        self.searches.append((list(queries), k))
        return [self.found.get(query.removeprefix(QUESTION).strip(), [])[:k] for query in queries]


def run(question=QUESTION, reply=None, retriever=None, ranker=None, known=None, settings=None, **changes):
    """The result of a call, the calls of the model, and the retriever; without weights unless settings say so."""
    config = RichRagConfig(**{"ranker": "retrieval", **(settings or {})})
    retriever = retriever or ListRetriever(PASSAGES)
    lm = scripted_lm(reply or by_fields(**{"aspects": ASPECTS, "sentences": SENTENCES, **changes}))
    given = {} if known is None else {"aspects": known}
    with dspy.context(lm=lm):
        out = RichRag(config, retriever, ranker)(question=question, **given)
    return out, lm.engine.calls, retriever


def flagged(out):
    return [(fallback.stage, fallback.reason) for fallback in out.fallbacks]


def named(out):
    return [part.question for part in out.sub_questions]


def pool_of(out):
    """What the ranker was given, out of the trace."""
    return next(step for step in out.trace.walk() if step.name == "rank" and step.kind == "retrieval").inputs["pool"]


@pytest.mark.parametrize(
    ("question", "aspects", "retriever"),
    [
        (QUESTION, ASPECTS, ListRetriever(PASSAGES)),
        (CHINESE, CHINESE_ASPECTS, CharacterRetriever(CHINESE_PASSAGES)),
    ],
    ids=["English", "Chinese"],
)
def test_each_aspect_is_looked_up_once_and_the_pool_knows_which_found_what(question, aspects, retriever):
    out, calls, _ = run(question, retriever=retriever, settings={"pool": 4}, aspects=aspects)
    assert named(out) == aspects
    assert retriever.searches == [([question, *(f"{question} {aspect}" for aspect in aspects)], 30)]
    pool = pool_of(out)
    assert len(pool) == 4
    assert len({record["id"] for record in pool}) == len({record["text"] for record in pool}) == 4
    found = retriever.search(retriever.queries, 30)
    for record in pool:
        expected = {name for name, passages in zip(["", *aspects], found, strict=False)
                    if record["text"] in {p.text for p in passages}}  # fmt: skip
        assert set(record["ranks"]) == expected
        assert set(record["aspects"]) == expected - {""}
    assert [call.fields for call in calls] == [("aspects",), ("sentences",)]
    assert calls[1].inputs["question"] == question
    assert all(aspect in calls[1].inputs["aspects"] for aspect in aspects)
    assert len(json.loads(calls[1].inputs["passages"])) == len(out.passages) == 4
    assert (out.route, out.steps, out.stopped_by) == ("rich", 1, None)
    assert out.fallbacks == []


def test_the_aspects_keep_those_of_the_ranked_passages_that_they_found():
    found = {"": [PASSAGES[5]], "roles": [PASSAGES[1], PASSAGES[0]], "tools": [PASSAGES[0]]}
    out, _, _ = run(retriever=EachAspect(found), settings={"k": 3}, aspects=["roles", "tools"])
    assert [p.id for p in out.passages] == ["e6", "e2", "e1"]
    assert {part.question: [p.id for p in part.passages] for part in out.sub_questions} == {
        "roles": ["e2", "e1"], "tools": ["e1"],
    }  # fmt: skip
    out, _, _ = run(retriever=EachAspect(found), settings={"k": 1}, aspects=["roles", "tools"])
    assert [part.passages for part in out.sub_questions] == [(), ()]


def test_two_calls_and_one_more_where_a_model_ranks():
    assert run()[0].usage["lm_calls"] == 2
    out, calls, _ = run(settings={"ranker": "lm"}, ranking=[3, 1, 2, 4, 5])
    assert [call.fields for call in calls] == [("aspects",), ("ranking",), ("sentences",)]
    pool = [record["id"] for record in pool_of(out)]
    assert [p.id for p in out.passages] == [pool[n - 1] for n in (3, 1, 2, 4, 5)]
    assert all(aspect in calls[1].inputs["aspects"] for aspect in ASPECTS)
    assert out.fallbacks == []


def test_the_bare_question_need_not_be_searched():
    out, _, retriever = run(settings={"search_question": False})
    assert retriever.queries == [f"{QUESTION} {aspect}" for aspect in ASPECTS]
    assert all("" not in record["ranks"] for record in pool_of(out))


def test_numbers_of_passages_are_as_configured():
    found = {a: [Passage(f"{a}{n}", "", f"{a} {n}") for n in range(30)] for a in ("", *ASPECTS)}
    out, _, retriever = run(retriever=EachAspect(found))
    assert retriever.searches[0][1] == 30
    assert len(pool_of(out)) == 100
    assert len(out.passages) == 10
    out, _, retriever = run(retriever=EachAspect(found), settings={"k": 3, "per_query": 5, "pool": 7})
    assert retriever.searches[0][1] == 5
    assert len(pool_of(out)) == 7
    assert [record["ranks"] for record in pool_of(out)[:4]] == [{name: 1} for name in ("", *ASPECTS)]
    assert len(out.passages) == 3


@pytest.mark.parametrize(
    ("said", "kept", "reason"),
    [
        (ASPECTS, ASPECTS, None),
        ([*ASPECTS, " Clear Roles ", "", "clear roles"], ASPECTS, None),  # said again
        (
            ["clear roles", "a team of 9 is best", "meeting habits"],
            ["clear roles", "meeting habits"],
            "1 of 3 aspects state facts and are left out",
        ),
        (
            [*ASPECTS, QUESTION.upper(), "word " * 13],
            ASPECTS,
            "2 of 5 aspects state facts and are left out",
        ),
        ([f"side {letter}" for letter in "abcdefghi"], [f"side {letter}" for letter in "abcdefg"],
         "9 parts, the first 7 are used"),
    ],
    ids=["three", "repeated", "a fact", "no side", "nine"],
)  # fmt: skip
def test_two_to_seven_distinct_general_aspects_are_used(said, kept, reason):
    out, calls, retriever = run(aspects=said)
    assert named(out) == kept
    assert retriever.queries == [QUESTION, *(f"{QUESTION} {aspect}" for aspect in kept)]
    assert flagged(out) == ([("explore", reason)] if reason else [])
    assert len(calls) == 2


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ({"aspects": ["clear roles"]}, "1 distinct aspects where at least 2 are needed"),
        ({"aspects": ["clear roles", "Clear roles ", ""]}, "1 distinct aspects where at least 2 are needed"),
        ({"aspects": []}, "0 distinct aspects where at least 2 are needed"),
        ({"aspects": ["clear roles", "9 people"]}, "1 general aspects where at least 2 are needed"),
        ({"aspects": ["founded in 1953", "9 people"]}, "0 general aspects where at least 2 are needed"),
        ("A team should talk more.", "the output does not parse"),
        (ContextLengthError("too long"), "the prompt exceeds the context window"),
    ],
    ids=["one", "one repeated", "none", "one general", "facts", "prose", "too long"],
)
@pytest.mark.parametrize("search_question", [True, False])
def test_without_aspects_the_question_alone_is_looked_up(said, reason, search_question):
    def reply(call):
        return said if call.fields == ("aspects",) else by_fields(sentences=SENTENCES)(call)

    out, calls, retriever = run(reply=reply, settings={"search_question": search_question})
    assert sum(call.fields == ("aspects",) for call in calls) == (1 if isinstance(said, Exception) else 3)
    assert flagged(out) == [("explore", f"{reason}; the question alone is looked up")]
    assert retriever.queries == [QUESTION]
    assert out.sub_questions == []
    assert calls[-1].inputs["aspects"] == "[]"
    assert out.answer == "A team needs tools. [1] Roles should be clear. [2][3]"


def test_a_later_exploration_counts():
    out, calls, _ = run(aspects=lambda call: ASPECTS if call.index else ["one"])
    assert len(calls) == 3
    assert named(out) == ASPECTS
    assert out.fallbacks == []


@pytest.mark.parametrize(
    "said",
    [
        '[[ ## aspects ## ]]\n```json\n["clear roles",\n "meeting habits"]\n```',
        "[[ ## aspects ## ]]\n['clear roles', 'meeting habits']",
        'Here they are:\n{"aspects": ["clear roles", "meeting habits"]}',
    ],
    ids=["fenced", "single quotes", "object in prose"],
)
def test_untidy_lists_are_accepted_at_once(said):
    def reply(call):
        return said if call.fields == ("aspects",) else by_fields(sentences=SENTENCES)(call)

    out, calls, _ = run(reply=reply)
    assert named(out) == ["clear roles", "meeting habits"]
    assert len(calls) == 2


def test_given_aspects_take_the_place_of_explored_ones():
    out, calls, retriever = run(known=["clear roles"])
    assert [call.fields for call in calls] == [("sentences",)]
    assert retriever.queries == [QUESTION, f"{QUESTION} clear roles"]
    assert named(out) == ["clear roles"]
    assert out.fallbacks == []
    out, calls, retriever = run(known=[])
    assert len(calls) == 1
    assert retriever.queries == [QUESTION]


def test_an_aspect_that_finds_nothing_is_flagged():
    found = {"": PASSAGES[:2], "clear roles": [PASSAGES[1]]}
    out, _, _ = run(retriever=EachAspect(found), aspects=["clear roles", "meeting habits"])
    assert flagged(out) == [("retrieve", "nothing was found for the aspect 'meeting habits'")]
    assert [(part.question, len(part.passages)) for part in out.sub_questions] == [
        ("clear roles", 1), ("meeting habits", 0),
    ]  # fmt: skip


def test_where_nothing_is_found_it_is_answered_without_passages():
    out, calls, _ = run(retriever=ListRetriever([]), sentences=[{"sentence": "Talk more.", "passages": [1]}])
    assert out.answer == "Talk more."
    assert (out.passages, out.citations) == ([], [])
    assert calls[-1].inputs["passages"] == "[]"
    assert flagged(out) == [
        *(("retrieve", f"nothing was found for the aspect {aspect!r}") for aspect in ASPECTS),
        ("retrieve", "nothing was found; answered without passages"),
    ]


def test_sentences_are_cited_said_once_and_citations_point_into_the_passages():
    sentences = [
        {"sentence": "Roles should be clear.", "passages": [2, 1]},
        {"sentence": "Talk more.", "passages": []},
        {"sentence": "Roles should be clear.", "passages": [3]},
        {"sentence": "Keep notes.", "passages": [3, 99, 0]},
        {"sentence": "Made up.", "passages": [42]},
    ]
    out, _, _ = run(sentences=sentences)
    assert out.answer == "Roles should be clear. [1][2] Talk more. Keep notes. [3] Made up."
    assert [(c.number, c.passage_id) for c in out.citations] == [(n, out.passages[n - 1].id) for n in (1, 2, 3)]
    assert out.fallbacks == []


@pytest.mark.parametrize(
    ("said", "answer", "reason"),
    [
        ("Talk more [1].", "Talk more [1].", "the output does not parse; the model's own words are kept"),
        ({"sentences": []}, "", "the answer is empty; no answer"),
        ({"sentences": [{"sentence": "[1]", "passages": [1]}]}, "", "the answer is empty; no answer"),
        ("", "", "the output does not parse; no answer"),
    ],
    ids=["prose", "no sentence", "a citation alone", "nothing"],
)
def test_a_writer_that_writes_no_sentences(said, answer, reason):
    def reply(call):
        return said if call.fields == ("sentences",) else by_fields(aspects=ASPECTS)(call)

    out, calls, _ = run(reply=reply)
    assert out.answer == answer
    assert flagged(out) == [("write", reason)]
    assert sum(call.fields == ("sentences",) for call in calls) == 3


@pytest.mark.parametrize("end", [", {", ', {"sentence": "Third and l', ', {"sentence": "Third.", "passages": [1'])
def test_an_answer_that_was_cut_off_stands_with_its_whole_sentences(end):
    cut = json.dumps({"sentences": SENTENCES}).removesuffix("]}") + end

    def reply(call):
        return cut if call.fields == ("sentences",) else by_fields(aspects=ASPECTS)(call)

    with dspy.context(adapter=StructuredAdapter()):
        out, calls, _ = run(reply=reply)
    assert unmarked(out.answer) == "A team needs tools. Roles should be clear."
    assert flagged(out) == [("write", "the output was cut off at max_tokens; the model's own words are kept")]
    assert sum(call.fields == ("sentences",) for call in calls) == 1


def test_a_whole_answer_in_one_sentence_that_was_cut_off_before_its_citations_stands():
    def reply(call):
        if call.fields == ("sentences",):
            return '{"sentences": [{"sentence": "A team needs tools. Roles should be clear.", "pass'
        return by_fields(aspects=ASPECTS)(call)

    with dspy.context(adapter=StructuredAdapter()):
        out, calls, _ = run(reply=reply)
    assert out.answer == "A team needs tools. Roles should be clear."
    assert flagged(out) == [("write", "the output was cut off at max_tokens; the model's own words are kept")]
    assert sum(call.fields == ("sentences",) for call in calls) == 1


def test_where_the_prompt_is_too_long_the_best_ranked_passages_are_kept():
    def reply(call):
        if call.fields == ("sentences",) and len(json.loads(call.inputs["passages"])) > 2:
            return ContextLengthError("too long")
        return by_fields(aspects=ASPECTS, sentences=SENTENCES)(call)

    out, _, _ = run(reply=reply)
    assert [p.id for p in out.passages] == [record["id"] for record in pool_of(out)[:2]]
    assert out.answer == "A team needs tools. [1] Roles should be clear. [2]"
    assert flagged(out)[-1] == ("write", "the prompt exceeds the context window; 2 passages are kept")


def test_the_writer_need_not_be_told_the_aspects():
    out, calls, _ = run(settings={"show_aspects": False})
    assert calls[-1].inputs["aspects"] == "[]"
    assert not any(f'"{aspect}"' in calls[-1].prompt for aspect in ASPECTS)
    assert named(out) == ASPECTS


class Given:
    """A ranker that gives what it is told to, and remembers what it was asked."""

    def __init__(self, *ids):
        self.ids = ids
        self.asked = []

    def rank(self, question, aspects, pool, k):
        self.asked.append((question, list(aspects), [c.passage.id for c in pool], k))
        return list(self.ids)


@pytest.mark.parametrize(
    ("ids", "reason"),
    [
        (["e3", "e1"], None),
        (["e3", "nowhere", "e1"], "1 unknown"),
        (["e3", "e3", "e1"], "1 repeated"),
        (["e3"], "1 missing"),
        (["x", "e3", "y", "e3"], "2 unknown, 1 repeated, 1 missing"),
        ([], "2 missing"),
        (["e3", "e1", "e2", "e6"], None),
    ],
)
def test_a_ranker_of_ones_own_is_used_and_what_it_gets_wrong_is_made_good(ids, reason):
    ranker = Given(*ids)
    out, calls, _ = run(ranker=ranker, settings={"k": 2, "ranker": "lm"})
    ((question, aspects, pool, k),) = ranker.asked
    assert (question, aspects, k) == (QUESTION, ASPECTS, 2)
    kept = [id for id in dict.fromkeys(ids) if id in pool]
    assert [p.id for p in out.passages] == [*kept, *(id for id in pool if id not in kept)][:2]
    assert flagged(out) == ([("rank", f"{reason}; filled in the order of the pool")] if reason else [])
    assert ("ranking",) not in [call.fields for call in calls]


def test_the_oracle_can_rank():
    ranker = CoverageRanker({QUESTION: ["Meeting habits: keep each meeting short.", "Clear roles make a team quick."]})
    out, _, _ = run(ranker=ranker, settings={"k": 2})
    assert {p.id for p in out.passages} == {"e2", "e3"}
    with pytest.raises(AspectragError, match="sub-answers"):
        run("Why?", ranker=ranker)


def test_similarity_ranks_by_the_bare_question():
    out, calls, retriever = run(settings={"ranker": "similarity", "k": 2})
    assert retriever.ranks == [QUESTION]
    assert out.passages[0].id == "e6"
    assert len(calls) == 2


@pytest.mark.parametrize("ranker", ["lm", "similarity", "retrieval"])
@pytest.mark.parametrize("size", [0, 1, 2])
def test_a_pool_smaller_than_k_is_read_whole(ranker, size):
    found = dict.fromkeys(("", *ASPECTS), PASSAGES[:size])
    out, _, _ = run(retriever=EachAspect(found), settings={"ranker": ranker})
    assert sorted(p.id for p in out.passages) == [p.id for p in PASSAGES[:size]]
    assert out.answer


def test_a_model_that_ranks_nothing_keeps_the_order_of_the_pool():
    out, calls, _ = run(settings={"ranker": "lm", "max_attempts": 2}, ranking=[])
    pool = [record["id"] for record in pool_of(out)]
    assert [p.id for p in out.passages] == pool
    assert sum(call.fields == ("ranking",) for call in calls) == 2
    reason = f"no number of a passage is named; {len(pool)} passages keep the order of the pool"
    assert flagged(out) == [("rank", reason)]


def test_windows_of_the_model_that_ranks_are_as_configured():
    out, calls, _ = run(settings={"ranker": "lm", "window": 3})
    sizes = [len(json.loads(call.inputs["passages"])) for call in calls if call.fields == ("ranking",)]
    assert max(sizes) == 3
    assert len(sizes) > 1
    assert len(out.passages) == len(pool_of(out))


def test_stages_run_on_the_models_of_their_roles():
    main, special = scripted_lm(by_fields(aspects=ASPECTS)), scripted_lm(by_fields(sentences=SENTENCES))
    program = RichRag(RichRagConfig(ranker="lm"), ListRetriever(PASSAGES))
    with dspy.context(lm=main, roles={"write": special}):
        program(question=QUESTION)
    assert [call.fields for call in main.engine.calls] == [("aspects",), ("ranking",)]
    assert [call.fields for call in special.engine.calls] == [("sentences",)]


def test_the_same_question_again_costs_nothing():
    lm, retriever = scripted_lm(by_fields(aspects=ASPECTS, sentences=SENTENCES)), ListRetriever(PASSAGES)
    with dspy.context(lm=lm):
        first = RichRag(RichRagConfig(ranker="lm"), retriever)(question=QUESTION)
        again = RichRag(RichRagConfig(ranker="lm"), retriever)(question=QUESTION)
    assert (first.usage["lm_calls"], again.usage["lm_calls"]) == (3, 0)
    assert again.toDict() == first.toDict()


def test_settings_that_make_no_sense_are_refused():
    bad: dict[str, Any]
    for bad in [{"k": 0}, {"per_query": "5"}, {"pool": 0}, {"window": 0}, {"ranker": "best"}, {"show_aspects": 1},
                {"min_aspects": 8}, {"min_aspects": 3, "max_aspects": 2}]:  # fmt: skip
        with pytest.raises(AspectragError):
            RichRagConfig(**bad)
