"""Where questions come from, samples, digests, the hub and what was fetched from it."""

import json
from pathlib import Path

import datasets
import pytest
from aspectrag.data.benchmarks import hub
from aspectrag.data.benchmarks.benchmark import question
from aspectrag.data.benchmarks.fetching import fetch
from aspectrag.data.benchmarks.loading import load, overlap
from aspectrag.data.benchmarks.records import read_own, to_own
from aspectrag.data.benchmarks.registry import BENCHMARKS, benchmark
from aspectrag.data.benchmarks.store import fetched
from aspectrag.data.corpus import load_corpus
from aspectrag.errors import AspectragError
from aspectrag.home import home
from aspectrag.optimizers.metrics.registry import metric

SHARED = Path(__file__).parents[4] / "shared" / "data"
COUNTS = {
    "wiki-nfqa": (211, 354, 4853), "nf-cats": (7669, 1918, 0), "hotpotqa": (293, 339, 9669),
    "2wikimultihopqa": (300, 79, 8937), "musique": (100, 107, 7365), "bamboogle": (0, 54, 3600),
    "nq": (580, 787, 6200), "squad": (346, 895, 2067), "triviaqa": (228, 272, 3454), "compound": (109, 130, 2477),
    "asqa": (189, 254, 6161), "freshwiki": (40, 27, 2270), "wikiasp": (36, 36, 3428),
    "wikipassageqa": (440, 393, 0), "fanoutqa": (151, 159, 0),
}  # fmt: skip


def row(number):
    return {
        "id": f"5a{number}",
        "question": f"Which river is longer, {number} or Berra?",
        "answer": "Alda",
        "type": "comparison",
        "level": "hard",
        "supporting_facts": {"title": ["Alda", "Berra"], "sent_id": [0, 0]},
        "context": {"title": ["Alda", "Berra"], "sentences": [[f"A river, {number}."], ["A stream."]]},
    }


@pytest.fixture
def on_the_hub(monkeypatch):
    """A hub that has the data set; returns what it was asked for."""
    asked = []

    def load_dataset(path, config=None, *, split):
        asked.append((path, config, split))
        first = 0 if split == "train" else 100
        return datasets.Dataset.from_list([row(first + number) for number in range(3)])

    monkeypatch.setattr(datasets, "load_dataset", load_dataset)
    return asked


def test_every_benchmark_says_what_it_is():
    assert len(BENCHMARKS) == 18
    for name, each in BENCHMARKS.items():
        assert name == each.name == benchmark(name).name
        assert each.about
        assert each.licence
        assert each.metrics
        assert each.corpus
        assert each.hub or each.origin or name == "demo"
        assert each.hub is None or "dev" in each.hub.splits


def test_an_unknown_name_or_split_names_what_there_is():
    with pytest.raises(AspectragError, match="no benchmark 'hotpot_qa': did you mean 'hotpotqa'"):
        load("hotpot_qa")
    with pytest.raises(AspectragError, match="no split 'test': choose tune or dev"):
        load("demo", "test")


def test_the_demo_comes_in_two_halves_that_share_nothing():
    tune, dev = load("demo", "tune"), load("demo")
    assert (len(tune), len(dev)) == (33, 32)
    assert not overlap(tune.questions, dev.questions)
    assert {q.route for q in dev.questions} == {"straightforward", "single-step", "compound", "complex"}
    assert len({q.type for q in dev.questions}) == len({q.type for q in tune.questions}) == 8
    ids = {p.id for p in load_corpus(dev.corpus, progress=False)}
    assert all(set(q.supporting_ids) <= ids for q in dev.questions)


def test_rows_of_the_hub(on_the_hub):
    loaded = load("hotpotqa", "tune")
    assert on_the_hub == [("hotpotqa/hotpot_qa", "distractor", "train")]
    assert [q.id for q in loaded.questions] == ["5a0", "5a1", "5a2"]
    assert len(loaded.corpus) == 4  # the stream is in each row, once here
    assert loaded.source == "hub:hotpotqa/hotpot_qa (distractor), split train"
    load("hotpotqa")
    assert on_the_hub[1] == ("hotpotqa/hotpot_qa", "distractor", "validation")


@pytest.mark.parametrize("error", [ConnectionError("no route\nto host"), ValueError("Unknown split")])
def test_a_hub_out_of_reach_says_what_to_do(monkeypatch, error):
    def load_dataset(*_, **__):
        raise error

    monkeypatch.setattr(datasets, "load_dataset", load_dataset)
    with pytest.raises(AspectragError) as raised:
        load("musique")
    said = str(raised.value)
    assert "\n" not in said
    assert "dgslibisey/MuSiQue, split validation" in said
    assert "aspectrag data fetch musique --out musique" in said
    assert f"into {fetched() / 'musique'}" in said


def test_what_the_hub_does_not_have():
    with pytest.raises(AspectragError) as raised:
        load("nf-cats")
    said = str(raised.value)
    assert said.startswith("nf-cats is no data set of the hub: get it from github.com/Lurunchik")
    assert f"into {fetched() / 'nf-cats'}, or into a folder nf-cats of the one that --data names" in said
    with pytest.raises(AspectragError, match="bamboogle has no split tune, only dev"):
        load("bamboogle", "tune")


def test_what_was_fetched_reads_as_what_the_hub_had(on_the_hub, tmp_path):
    counts = fetch(benchmark("hotpotqa"), tmp_path / "hotpotqa")
    assert counts == {"tune": 3, "dev": 3, "passages": 7}
    assert sorted(p.name for p in tmp_path.iterdir() if not p.name.startswith(".")) == ["hotpotqa"]
    asked = len(on_the_hub)
    local = load("hotpotqa", store=tmp_path)
    assert len(on_the_hub) == asked
    there = load("hotpotqa")
    assert [q.toDict() for q in local.questions] == [q.toDict() for q in there.questions]
    assert local.digest == there.digest
    assert isinstance(there.corpus, tuple)
    kept = load_corpus(local.corpus, progress=False)
    assert {p.id: p.contents for p in there.corpus}.items() <= {p.id: p.contents for p in kept}.items()


def test_what_was_fetched_is_found_by_its_name(on_the_hub):
    assert fetched() == home() / "benchmarks"
    fetch(benchmark("hotpotqa"), fetched() / "hotpotqa")
    asked = len(on_the_hub)
    assert load("hotpotqa").source == str(fetched() / "hotpotqa" / "dev.jsonl")
    assert load("hotpotqa", store=str(fetched())).digest == load("hotpotqa").digest
    assert len(on_the_hub) == asked


def test_a_fetch_that_breaks_off_leaves_nothing_that_looks_whole(on_the_hub, tmp_path, monkeypatch):
    def cut(split, records):
        for number, record in enumerate(records):
            if split == "dev" and number == 1:
                raise KeyboardInterrupt
            yield record

    with pytest.raises(KeyboardInterrupt):
        fetch(benchmark("hotpotqa"), tmp_path / "hotpotqa", cut)
    assert not (tmp_path / "hotpotqa").exists()
    assert fetch(benchmark("hotpotqa"), tmp_path / "hotpotqa")["dev"] == 3
    with pytest.raises(AspectragError, match="is not empty: remove it to fetch hotpotqa again"):
        fetch(benchmark("hotpotqa"), tmp_path / "hotpotqa")


def test_categories_survive_fetching(monkeypatch, tmp_path):
    record = {"question_id": "single_nq_dev_1", "question_text": "Why?", "answer_list": ["a"], "answer_label": [3]}
    monkeypatch.setattr(datasets, "load_dataset", lambda *_, **__: [record])
    fetch(benchmark("wiki-nfqa"), tmp_path / "wiki-nfqa")
    (one,) = load("wiki-nfqa", store=tmp_path).questions
    assert (one.subset, one.references) == ("nq", [{"text": "a", "label": 3}])


def test_the_library_s_records_come_back_as_they_were():
    one = question(
        "1", "Why?", ["So."], type="x", hops=2, supporting_ids=["p"], supporting_titles=["P"],
        sub_questions=[{"question": "a", "answers": ["b"], "supporting_id": "p"}],
        references=[{"text": "r", "label": 2}], qrels={"p": 3}, meta={"k": [1]},
    )  # fmt: skip
    assert read_own(json.loads(json.dumps(to_own(one)))).toDict() == one.toDict()


def numbered(tmp_path, count=20):
    path = tmp_path / "dev.jsonl"
    path.write_text("".join(json.dumps({"question": f"q{n}", "answer": "a"}) + "\n" for n in range(count)))
    return path


def test_a_sample_is_seeded_and_keeps_the_order(tmp_path):
    path = numbered(tmp_path)
    whole = [q.question for q in load("nq", path=path).questions]
    some = load("nq", path=path, limit=5)
    asked = [q.question for q in some.questions]
    assert asked == [q.question for q in load("nq", path=path, limit=5).questions]
    assert asked == sorted(asked, key=whole.index)
    assert asked != [q.question for q in load("nq", path=path, limit=5, seed=1).questions]
    assert len(load("nq", path=path, limit=99)) == 20
    with pytest.raises(AspectragError, match="a sample of 0 questions is none"):
        load("nq", path=path, limit=0)


def test_the_digest_is_that_of_the_data(tmp_path):
    path = numbered(tmp_path)
    whole = load("nq", path=path).digest
    assert whole == load("nq", path=path).digest
    assert whole != load("nq", path=path, limit=5).digest
    path.write_text(path.read_text().replace('"answer": "a"', '"answer": "b"', 1))
    assert whole != load("nq", path=path).digest


def test_local_files_need_no_datasets(tmp_path, monkeypatch):
    monkeypatch.setattr(hub, "from_hub", None)
    monkeypatch.setitem(__import__("sys").modules, "datasets", None)
    assert len(load("nq", path=numbered(tmp_path))) == 20


@pytest.mark.parametrize("name", COUNTS)
def test_real_sets(name):
    folder = SHARED / name.replace("-", "_")
    if not folder.is_dir():
        pytest.skip("the real sets are not on this machine")
    tune, dev, passages = COUNTS[name]
    if tune:
        assert len(load(name, "tune", folder)) == tune
    loaded = load(name, path=folder)
    assert len(loaded) == dev
    assert (loaded.corpus == folder / "corpus.jsonl") == bool(passages)
    if not passages:
        return
    with loaded.corpus.open(encoding="utf-8") as file:
        ids = {json.loads(line)["id"] for line in file}
    assert len(ids) == passages
    assert all(set(q.supporting_ids) <= ids for q in loaded.questions)
    assert all(q.references for q in loaded.questions) == (name == "wiki-nfqa")


def test_metrics_of_benchmarks_are_known_ones():
    for each in BENCHMARKS.values():
        assert {metric(name).name for name in each.metrics}
