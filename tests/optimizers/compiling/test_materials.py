"""Examples for recipes, out of small sets in the library's own layout."""

import json
from collections import Counter
from importlib.resources import files
from typing import get_args

import pytest
from aspectrag.data.index.retriever import NoPassages
from aspectrag.errors import AspectragError
from aspectrag.optimizers.compiling.checks import typed
from aspectrag.optimizers.compiling.materials import materials, metric_of, own_example
from aspectrag.optimizers.compiling.recipes import output_of, recipe
from aspectrag.programs.registry import METHODS

SIZES = (4, 2, 4)


def record(name, split, n, **fields):
    own = {"id": f"{name}:{split}-{n}", "dataset": name, "split": split, "question": f"What is {name} {split} {n}?"}
    blank = {
        "answers": [f"{name}{n}"], "type": "", "hops": 1, "supporting_titles": [], "supporting_ids": [],
        "support_kind": "annotated", "sub_questions": [], "meta": {},
    }  # fmt: skip
    return {**blank, **own, **fields}


@pytest.fixture
def store(tmp_path):
    """Four kinds of questions, each with its passages."""

    def hop(name, split, n, number):
        passage = f"{name}:{split}{n}p{number}"
        question = f"Who leads {name} {split} {n}?" if number == 1 else "Who is the child of #1 ?"
        return {"question": question, "answers": [f"{name}lead{split}{n}{number}"], "supporting_id": passage}

    sets = {
        "nq": lambda name, split, n: {"supporting_ids": [f"{name}:{split}{n}p1"]},
        "commonsenseqa": lambda name, split, n: {"hops": 0},
        "musique": lambda name, split, n: {
            "hops": 2, "sub_questions": [hop(name, split, n, 1), hop(name, split, n, 2)],
            "supporting_ids": [f"{name}:{split}{n}p1", f"{name}:{split}{n}p2"],
        },
        "asqa": lambda name, split, n: {
            "type": "ambiguous",
            "sub_questions": [{"question": f"aspect {a} of {split} {n}", "answers": [f"answer {a}"]} for a in "ab"],
        },
    }  # fmt: skip
    for name, fields in sets.items():
        (tmp_path / name).mkdir()
        for split in ("tune", "dev"):
            lines = [json.dumps(record(name, split, n, **fields(name, split, n))) for n in range(8)]
            (tmp_path / name / f"{split}.jsonl").write_text("\n".join(lines) + "\n")
        passages = [
            {"id": f"{name}:{split}{n}p{p}", "title": f"{name}{split}{n}{p}", "text": f"About {name} {split} {n} {p}."}
            for split in ("tune", "dev") for n in range(8) for p in (1, 2)
        ]  # fmt: skip
        (tmp_path / name / "corpus.jsonl").write_text("".join(json.dumps(each) + "\n" for each in passages))
    return tmp_path


@pytest.fixture
def made(store):
    def call(data, metric="label", sizes=SIZES, seed=0):
        return materials(data, sizes, store, seed, lambda found: metric_of(metric, found))

    return call


def asked(examples):
    return {repr(each.inputs().toDict()) for each in examples}


@pytest.mark.parametrize(
    ("data", "metric", "inputs"),
    [
        ({"stage": "router", "sets": ["nq", "commonsenseqa", "musique"]}, "label", {"question"}),
        ({"stage": "refiner", "sets": ["musique"]}, "hit@3", {"question", "found"}),
        ({"stage": "ending", "sets": ["musique"]}, "label", {"question", "found"}),
        ({"stage": "relevance", "sets": ["nq", "musique"]}, "label", {"question", "title", "passage"}),
        ({"benchmark": "nq"}, "f1", {"question"}),
        ({"benchmark": "asqa", "output": {"type": "type"}}, "label", {"question"}),
        ({"pools": ["asqa"]}, "ranking@5", {"question", "aspects"}),
    ],
)
def test_each_kind_of_data(data, metric, inputs, made):
    with made(data, metric) as found:
        assert (len(found.train), len(found.val), len(found.test)) == SIZES
        for part in (found.train, found.val, found.test):
            assert all(set(example._input_keys) == inputs for example in part)
        assert not asked(found.train) & asked(found.val)
        assert not (asked(found.train) | asked(found.val)) & asked(found.test)
        assert all("tune" in str(each.toDict()) for each in found.train)
        assert all("dev" in str(each.toDict()) for each in found.test)
        assert isinstance(found.metric.name, str)


def test_the_same_seed_takes_the_same_examples(made):
    data = {"stage": "router", "sets": ["nq", "commonsenseqa", "musique"]}
    taken = []
    for seed in (0, 0, 1):
        with made(data, seed=seed) as found:
            taken.append([each.question for each in (*found.train, *found.val, *found.test)])
    assert taken[0] == taken[1] != taken[2]


def test_of_each_route_as_many(made):
    with made({"stage": "router", "sets": ["nq", "commonsenseqa", "musique"]}, sizes=(6, 3, 6)) as found:
        for part, count in ((found.train, 2), (found.val, 1), (found.test, 2)):
            routes = [each.route for each in part]
            assert {routes.count(route) for route in set(routes)} == {count}


def test_the_refiner_is_scored_by_what_its_question_finds(made):
    with made({"stage": "refiner", "sets": ["musique"]}, "hit@16") as found:
        example = found.test[0]
        assert example.next_ids
        title = example.next_ids[0].replace(":", "").replace("p", "")
        assert found.metric.score(example, {"seed_question": title}) == 1.0


def test_questions_that_match(made):
    with made({"benchmark": "nq", "matching": "[24]\\?$", "known": {"classify": {"type": "REASON"}}}, "f1") as found:
        assert {each.question[-2] for each in (*found.train, *found.val, *found.test)} == {"2", "4"}
        assert found.known == {"classify": {"type": "REASON"}}
        assert found.questions[0].corpus.name == "corpus.jsonl"


@pytest.mark.parametrize(
    ("data", "metric", "message"),
    [
        ({"stage": "chef", "sets": ["nq"]}, "label", "no data for a stage 'chef'"),
        ({"stage": "decomposer", "sets": ["nq"]}, "parts", "nothing for the decomposer"),
        ({"sets": ["nq"]}, "label", "no stage, no benchmark and no pools"),
        ({"stage": "router"}, "label", "no sets to make its examples of"),
        ({"benchmark": "nq", "matching": "("}, "label", "matching is no pattern"),
        ({"benchmark": "nq", "output": {"type": "colour"}}, "label", "the questions have no colour"),
        ({"benchmark": ["nq"]}, "label", "benchmark cannot be"),
        ({"benchmark": "nq", "seed": 3}, "label", "has 'seed', which is none of"),
        ({"benchmark": "nq"}, "bleu", "no metric 'bleu'"),
        ({"benchmark": "nq"}, "hit@5", "needs passages"),
    ],
)
def test_data_that_cannot_be_had(data, metric, message, made):
    with pytest.raises(AspectragError, match=message), made(data, metric):
        pass


PACKAGED = ["router", "classifier", "decomposer", "refiner", "relevance", "ending"]


@pytest.mark.parametrize("name", PACKAGED)
def test_examples_of_the_package_fit_their_stage(name):
    """Labels are legal, classes balanced, and nothing is there twice."""
    chosen = recipe(name)
    inputs, output = output_of(chosen)
    signature = getattr(METHODS[chosen.method](None, NoPassages()), chosen.stage).signature
    file = files("aspectrag.data").joinpath("demo", "examples", f"{name}.jsonl")
    examples = [own_example(json.loads(line), inputs) for line in file.read_text(encoding="utf-8").splitlines()]
    assert chosen.data["examples"] == name
    assert len(examples) == chosen.size("small")[0]
    assert all(set(typed(example, signature)) == {*inputs, output} for example in examples)
    assert len({repr(example.inputs().toDict()).casefold() for example in examples}) == len(examples)
    if chosen.metric == "label":
        counts = Counter(example[output] for example in examples)
        assert len(set(counts.values())) == 1
        assert len(counts) == len(get_args(signature.output_fields[output].annotation) or (True, False))


def test_examples_of_the_package_are_learnt_from(made):
    with made({"stage": "ending", "sets": ["musique"], "examples": "ending"}) as found:
        assert len(found.train) == SIZES[0]
        assert "dynamite" in found.train[0].question
        assert all("musique" in each.question for each in (*found.val, *found.test))
    with pytest.raises(AspectragError, match="no examples 'chef'"), made({"benchmark": "nq", "examples": "chef",
                                                                         "output": {"type": "type"}}):  # fmt: skip
        pass


def test_a_benchmark_with_nothing_to_learn_from_is_halved_and_says_so(store, made, caplog):
    (store / "bamboogle").mkdir()
    # Of the questions, each two are one but for a mark: they must not be learnt and measured.
    lines = [record("bamboogle", "dev", n, question=f"Why {n // 2}{'?' * (n % 2)}") for n in range(40)]
    file = store / "bamboogle" / "dev.jsonl"
    file.write_text("".join(json.dumps(each) + "\n" for each in lines))
    taken = []
    for turned, seed in ((False, 0), (True, 1)):
        if turned:
            file.write_text("".join(json.dumps(each) + "\n" for each in reversed(lines)))
        caplog.clear()
        with made({"benchmark": "bamboogle"}, "f1", sizes=(9, 9, 18), seed=seed) as found:
            words = [{each.question.strip("?") for each in part} for part in (found.train, found.val, found.test)]
        assert caplog.text.count("bamboogle has no split tune") == 1
        assert not (words[0] | words[1]) & words[2]
        taken.append(words)
    # Neither order nor seed moves a question from what is measured on to what is learnt from.
    assert not (taken[0][0] | taken[0][1]) & taken[1][2]
    assert not (taken[1][0] | taken[1][1]) & taken[0][2]


def test_a_split_that_is_missing_where_it_is_published_is_missing(store, made):
    (store / "nq" / "tune.jsonl").unlink()
    with pytest.raises(AspectragError, match="has no file of split tune"), made({"benchmark": "nq"}, "f1"):
        pass
