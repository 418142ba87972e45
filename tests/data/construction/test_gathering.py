"""What is learnt from beside what is measured on."""

import json

from aspectrag.data.construction.gathering import gathered, measured
from aspectrag.data.construction.splitting import apart
from sets import make_sets


def test_every_split_dev_of_the_store_is_measured_on_with_what_supports_it(tmp_path):
    store = make_sets(tmp_path)
    found = measured(["nq"], store)
    assert len(found.questions) == 8 * 12 + 24
    assert set(found.passages) > {"nqdev0p1", "musiquedev0p2"}
    assert not any("tune" in known for known in found.passages)


def test_a_set_that_cannot_be_read_is_warned_of(tmp_path, caplog):
    store = make_sets(tmp_path)
    (store / "asqa").mkdir()
    (store / "asqa" / "tune.jsonl").write_text("{}")
    measured(["nq"], store)
    assert "share something with the split dev of asqa" in caplog.text


def test_a_text_under_another_id_is_kept_apart_from(tmp_path):
    store = make_sets(tmp_path)
    corpus = store / "musique" / "corpus.jsonl"
    passages = [json.loads(line) for line in corpus.read_text().splitlines()]
    texts = {each["id"]: each["text"] for each in map(json.loads, (store / "nq" / "corpus.jsonl").open())}
    next(each for each in passages if each["id"] == "musiquedev3p1")["text"] = texts["nqtune5p1"]
    corpus.write_text("".join(json.dumps(each) + "\n" for each in passages))
    everything = {str(each.id) for each in gathered(["nq"], store).learn}
    left = {str(each.id) for each in gathered(["nq"], store, others=measured([], store)).learn}
    assert everything - left == {"nq:tune-5"}


def test_articles_are_shared_only_where_that_is_asked():
    one = {"id": "1", "question": "Who won?", "supporting_ids": ["a"], "supporting_titles": ["Ulm"]}
    others = [{"id": "2", "question": "Who lost?", "supporting_ids": ["b"], "supporting_titles": ["Ulm"]}]
    assert apart([one], others) == [one]
    assert apart([one], others, titles=True) == []
    assert apart([one], [{"question": "Where?", "meta": {"entity": "Ulm"}}], titles=True) == []
