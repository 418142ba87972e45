"""What every kind of index promises, checked on every kind."""

import copy
import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
from aspectrag.data.index import IndexSettings, Ranker, Retriever, build, open_index
from aspectrag.data.index.settings import Kind
from aspectrag.data.passages import Passage
from aspectrag.errors import AspectragError

KINDS: dict[str, tuple[Kind, IndexSettings]] = {
    "bm25": ("bm25", IndexSettings()),
    "flat": ("dense", IndexSettings()),
    "hnsw": ("dense", IndexSettings(vectors="hnsw")),
    "ivf": ("dense", IndexSettings(vectors="ivf")),
    "hybrid": ("hybrid", IndexSettings()),
    "reranked": ("reranked", IndexSettings()),
    "reranked-hybrid": ("reranked", IndexSettings(rerank_base="hybrid")),
}
QUERIES = ["river in Europe", "highest mountain", "", "서울에서", "🎉", "the", "zzzz qqqq", "القاهرة", "東京都の首都"]
every_kind = pytest.mark.parametrize("name", list(KINDS))


def make(name, passages, folder, encoder):
    kind, settings = KINDS[name]
    return build(passages, folder, kind, encoder=encoder, settings=settings, progress=False)


@pytest.fixture(scope="session")
def opened(tmp_path_factory, passages, static_model):
    made = {}

    def get(name):
        if name not in made:
            made[name] = make(name, passages, tmp_path_factory.mktemp("index") / name, static_model)
        return made[name]

    return get


@every_kind
def test_protocols_and_copies(opened, name):
    index = opened(name)
    for each in (index, index.engine):
        assert isinstance(each, Retriever)
        assert isinstance(each, Ranker)
        assert copy.deepcopy(each) is each


@every_kind
def test_order_and_length(opened, name, passages):
    found = opened(name).search(QUERIES, 1000)
    for result in found:
        keys = [(-p.score, p.id) for p in result]
        assert keys == sorted(keys)
        assert len({p.id for p in result}) == len(result) <= len(passages)
    assert found[2] == []  # the empty query
    if name in ("flat", "hnsw", "ivf", "hybrid", "reranked-hybrid"):
        assert {len(result) for i, result in enumerate(found) if i != 2} == {len(passages)}


@every_kind
def test_a_smaller_k_gives_a_prefix(opened, name):
    index = opened(name)
    assert [found[:3] for found in index.search(QUERIES, 12)] == index.search(QUERIES, 3)


@every_kind
def test_batch_equals_one_by_one(opened, name):
    index = opened(name)
    assert index.search(QUERIES, 5) == [index.search([query], 5)[0] for query in QUERIES]


@every_kind
def test_two_queries_two_answers(opened, name, ids):
    found = ids(opened(name).search(["the Danube river", "highest mountain on Earth"], 1))
    assert found == [["danube"], ["everest"]]


@every_kind
@pytest.mark.parametrize(
    "query", ["", "  ", "the", "zzzz", "river " * 10_000, "서울", "東京", "القاهرة", "🎉", "\ud800"]
)
def test_any_query_is_answered(opened, name, query):
    found = opened(name).search([query], 3)
    assert len(found) == 1
    assert len(found[0]) <= 3


@every_kind
@pytest.mark.parametrize("count", [0, 1, 2, 10])
def test_small_corpora(tmp_path, passages, static_model, name, count):
    index = make(name, passages[:count], tmp_path / "index", static_model)
    found = open_index(tmp_path / "index").search(["Danube river", "zzzz"], 20)
    assert len(index) == count
    assert len(found) == 2
    assert all(len(result) <= count for result in found)
    if count:
        assert found[0][0].id == "danube"
    if name == "ivf":
        plan = index.manifest.vectors
        assert plan is not None
        assert plan.used == "flat"
        assert f"the corpus has {count}" in plan.reason


@every_kind
def test_blank_and_equal_passages(tmp_path, static_model, name, ids):
    same = [Passage(key, "", "river word1") for key in ("d", "b", "a", "c")]
    blank = [Passage("e", "", ""), Passage("f", " ", "\n")]
    index = make(name, [*blank, *same], tmp_path / "index", static_model)
    assert ids(index.search(["river"], 2)) == [["a", "b"]]
    assert [p.id for p in index.rank("river", same, 3)] == ["a", "b", "c"]


@every_kind
def test_only_blank_passages(tmp_path, static_model, name):
    index = make(name, [Passage("a", "", ""), Passage("b", "", " ")], tmp_path / "index", static_model)
    assert len(index.search(["river", ""], 5)) == 2


@every_kind
def test_refused(opened, name, passages):
    index = opened(name)
    for k in (0, -1):
        with pytest.raises(AspectragError, match="at least 1"):
            index.search(["x"], k)
        with pytest.raises(AspectragError, match="at least 1"):
            index.rank("x", passages, k)
    with pytest.raises(AspectragError, match="batch"):
        index.search("river", 3)
    assert index.search([], 3) == []


@every_kind
def test_rank(opened, name, passages):
    index = opened(name)
    stranger = Passage("stranger", "", "river Danube Europe")
    ranked = index.rank("Danube river", [*passages[:4], stranger], 10)
    assert len(ranked) == 5
    assert {ranked[0].id, ranked[1].id} == {"danube", "stranger"}
    assert len(index.rank("Danube river", passages, 2)) == 2
    assert index.rank("Danube river", [], 2) == []
    assert [p.id for p in index.rank("", passages, 3)] == sorted(p.id for p in passages)[:3]


@every_kind
def test_self_hits_can_be_excluded(opened, name, passages):
    index = opened(name)
    query = passages[0].contents
    assert index.search([query], 3)[0][0].id == "danube"
    without = index.search([query, query], 3, exclude=[{"danube"}, set()])
    assert without[0] == index.search([query], 4)[0][1:]
    assert without[1] == index.search([query], 3)[0]
    with pytest.raises(AspectragError, match="one per query"):
        index.search([query], 3, exclude=[])


@every_kind
def test_memory_map_equals_memory(opened, name):
    index = opened(name)
    expected = index.search(QUERIES, 5)
    assert open_index(index.folder).search(QUERIES, 5) == expected
    assert open_index(index.folder, mmap=False).search(QUERIES, 5) == expected


@every_kind
def test_many_threads_equal_one(opened, name):
    index = open_index(opened(name).folder)  # the model is loaded by whichever thread comes first
    expected = [opened(name).search([query], 5) for query in QUERIES]
    with ThreadPoolExecutor(8) as pool:
        for _ in range(5):
            assert list(pool.map(lambda query: index.search([query], 5), QUERIES)) == expected


def test_two_processes_agree(opened):
    code = (
        "import json, sys; from aspectrag.data.index import open_index;"
        "q = json.loads(sys.argv[1]);"
        "print(json.dumps([[[(p.id, p.score) for p in r] for r in open_index(f).search(q, 5)] for f in sys.argv[2:]]))"
    )
    folders = [str(opened(name).folder) for name in KINDS]
    runs = []
    for seed, threads in (("1", "1"), ("2", "2")):
        done = subprocess.run(
            [sys.executable, "-c", code, json.dumps(QUERIES), *folders],
            capture_output=True,
            text=True,
            check=True,
            env={"PYTHONHASHSEED": seed, "OMP_NUM_THREADS": threads, "PATH": ""},
        )
        runs.append(json.loads(done.stdout))
    here = [[[[p.id, p.score] for p in r] for r in opened(name).search(QUERIES, 5)] for name in KINDS]
    assert runs[0] == runs[1] == here
