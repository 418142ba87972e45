import math

import pytest
from aspectrag.data.index import Analyzer, IndexSettings, build
from aspectrag.data.passages import Passage


@pytest.fixture(scope="module")
def index(tmp_path_factory, passages):
    return build(passages, tmp_path_factory.mktemp("bm25") / "index", "bm25")


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("서울에서 무엇을 볼까", "seoul"),  # another particle than in the passage
        ("부산으로 가는 길", "busan"),
        ("日本の首都", "tokyo"),
        ("中国的首都", "beijing"),
        ("عاصمة مصر", "cairo"),
        ("भारत की राजधानी", "delhi"),
        ("เมืองหลวงของไทย", "bangkok"),
        ("столица Россия Москва", "moscow"),
        ("🎉", "party"),
        ("CAFÉ", "party"),
        ("Everest", "everest"),  # in the title alone
        ("rivers flowing", "danube"),
    ],
)
def test_finds_in_any_script(index, query, first):
    assert index.search([query], 1)[0][0].id == first


@pytest.mark.parametrize("query", ["zzzz", "the of", "", "?!", "☃"])
def test_no_shared_term_no_hit(index, query):
    assert index.search([query], 5) == [[]]


def test_score_by_hand(tmp_path):
    texts = ["apple banana apple", "banana cherry", "cherry durian fig grape"]
    passages = [Passage(str(i), "", text) for i, text in enumerate(texts)]
    settings = IndexSettings(analyzer=Analyzer("none"), k1=1.2, b=0.6)
    found = build(passages, tmp_path / "index", "bm25", settings=settings).search(["apple banana"], 3)[0]

    def part(tf, df, length):
        return math.log(1 + (3 - df + 0.5) / (df + 0.5)) * tf / (tf + 1.2 * (1 - 0.6 + 0.6 * length / 3))

    assert [p.id for p in found] == ["0", "1"]
    assert found[0].score == pytest.approx(part(2, 1, 3) + part(1, 2, 3), rel=1e-5)
    assert found[1].score == pytest.approx(part(1, 2, 2), rel=1e-5)


def test_ties_at_the_cut_go_by_id(tmp_path, ids):
    passages = [Passage(f"{i:03d}", "", "same words") for i in reversed(range(50))] + [Passage("x", "", "other")]
    index = build(passages, tmp_path / "index", "bm25")
    assert ids(index.search(["words"], 3)) == [["000", "001", "002"]]
    assert len(index.search(["words"], 100)[0]) == 50


def test_an_unknown_passage_scores_as_if_it_were_looked_up(index, passages):
    query = "river river Europe sea"
    known = {p.id: p.score for p in index.search([query], 20)[0]}
    strangers = [Passage(f"copy of {p.id}", p.title, p.text) for p in passages]
    for stranger in index.rank(query, strangers, 20):
        assert stranger.score == pytest.approx(known.get(stranger.id.removeprefix("copy of "), 0.0), rel=1e-5)


def test_known_id_with_another_text_is_read_anew(index):
    changed = Passage("danube", "", "nothing alike")
    assert index.rank("river", [changed], 1)[0].score == 0
