"""The learned ranker: its promises hold whatever its weights are."""

import copy
import itertools
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import torch
from aspectrag.data.passages import Passage
from aspectrag.errors import AspectragError
from aspectrag.optimizers.ranker.dpo import list_log_probability
from aspectrag.programs.rankers import pointer
from aspectrag.programs.rankers.candidates import QUESTION, Candidate
from aspectrag.programs.rankers.features import Vectors, features
from aspectrag.programs.rankers.network import Batch, PointerNetwork
from aspectrag.programs.rankers.pointer import PointerRanker
from faceted import WordEncoder, program

# The networks are tiny: several threads would only wait for each other.
torch.set_num_threads(1)
QUESTION_TEXT, ASPECTS = "What about coal?", ["cost", "safety"]


def pool(count):
    return [
        Candidate(Passage(f"p{n}", "", f"coal number{n} cost{n % 3}"), {ASPECTS[n % 2]: n // 2 + 1, QUESTION: n + 1})
        for n in range(count)
    ]


def network(seed=0, **settings):
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        return PointerNetwork(32, **{"width": 16, "heads": 2, **settings}).eval()


@pytest.fixture
def ranker():
    return PointerRanker(network(), WordEncoder())


def batch(*sizes, aspects=ASPECTS):
    vectors = Vectors(WordEncoder())
    return Batch([features(QUESTION_TEXT, aspects, pool(size), vectors) for size in sizes])


@pytest.mark.parametrize("count", [0, 1, 2, 7, 100])
@pytest.mark.parametrize("aspects", [[], ["cost"], ASPECTS, ["nobody found this", *ASPECTS]])
def test_exactly_as_many_distinct_ids_as_there_can_be(ranker, count, aspects):
    for k in (1, 10, 60):
        ids = ranker.rank(QUESTION_TEXT, aspects, pool(count), k)
        assert len(ids) == len(set(ids)) == min(k, count)
        assert set(ids) <= {candidate.passage.id for candidate in pool(count)}


def test_ranking_depends_on_what_was_chosen_and_on_the_aspects():
    orders = {
        tuple(PointerRanker(network(seed), WordEncoder()).rank(QUESTION_TEXT, aspects, pool(12), 12))
        for seed in range(3)
        for aspects in (ASPECTS, ["climate"])
    }
    assert len(orders) > 3


def test_ranks_alike_under_threads(ranker):
    expected = ranker.rank(QUESTION_TEXT, ASPECTS, pool(50), 10)
    with ThreadPoolExecutor(8) as threads:
        found = list(threads.map(lambda _: ranker.rank(QUESTION_TEXT, ASPECTS, pool(50), 10), range(32)))
    assert found == [expected] * 32


def test_a_pool_is_encoded_in_one_batch_and_never_again(ranker):
    ranker.rank(QUESTION_TEXT, ASPECTS, pool(50), 10)
    ranker.rank("Why coal?", ["climate"], pool(50), 10)
    ranker.rank("Why coal?", ["climate"], pool(52), 10)
    assert ranker.vectors.encoder.batches == [50, 2]


def test_only_the_vectors_used_last_are_kept():
    encoder = WordEncoder()
    vectors = Vectors(encoder, most=2)
    a, b, c = (Passage(text, "", text) for text in "abc")
    for given in ([a, b], [a, c], [a, c], [b]):
        vectors.passages(given)
    assert encoder.batches == [2, 1, 1]


def test_vectors_of_the_index_are_taken_where_it_has_them(ranker):
    class Stored:
        def stored_vectors(self, passages, encoder):
            assert encoder == ranker.vectors.encoder.identity
            given = WordEncoder().encode_passages([passage.contents for passage in passages])
            given /= np.linalg.norm(given, axis=1, keepdims=True)
            return dict(list(enumerate(given))[1:])

    expected = PointerRanker(ranker.network, WordEncoder()).rank(QUESTION_TEXT, ASPECTS, pool(9), 5)
    assert ranker.over(Stored()).rank(QUESTION_TEXT, ASPECTS, pool(9), 5) == expected
    assert ranker.vectors.encoder.batches == [1]


def test_padding_changes_nothing():
    net = network()
    with torch.inference_mode():
        together = net.choose(batch(3, 20, 11), 11)
        for row, size in zip(together.tolist(), (3, 20, 11), strict=True):
            alone = net.choose(batch(size), min(11, size))[0].tolist()
            assert row[:size] == alone


def test_chances_of_all_lists_add_up_to_one():
    net = network()
    lists = torch.tensor(list(itertools.permutations(range(4), 3)))
    with torch.inference_mode():
        chances = list_log_probability(net, batch(*[4] * len(lists)), lists).exp()
    assert chances.sum().item() == pytest.approx(1, abs=1e-5)
    assert (chances > 0).all()


def test_a_shorter_list_ends_where_it_ends():
    net = network()
    with torch.inference_mode():
        both = list_log_probability(net, batch(4, 4), torch.tensor([[2, 0, 1], [2, 0, -1]]))
        short = list_log_probability(net, batch(4), torch.tensor([[2, 0]]))
        whole = list_log_probability(net, batch(2), torch.tensor([[1, 0, -1]]))
    assert both[1].item() == pytest.approx(short.item(), abs=1e-5)
    assert torch.isfinite(whole).all()


def test_samples_are_distinct_and_seeded():
    net = network()
    draw = lambda seed: net.choose(batch(9), 6, 1.0, torch.Generator().manual_seed(seed))[0].tolist()  # noqa: E731
    with torch.inference_mode():
        assert draw(1) == draw(1)
        drawn = [tuple(draw(seed)) for seed in range(20)]
    assert all(len(set(each)) == 6 for each in drawn)
    assert len(set(drawn)) > 5


def test_saved_and_read_back_it_ranks_alike(ranker, tmp_path):
    ranker.meta = {"trained_by": "hand"}
    ranker.save(tmp_path / "r")
    assert sorted(file.name for file in (tmp_path / "r").iterdir()) == ["config.json", "model.safetensors"]
    again = PointerRanker.load(tmp_path / "r", WordEncoder())
    assert again.meta == {"trained_by": "hand"}
    assert again.rank(QUESTION_TEXT, ASPECTS, pool(30), 10) == ranker.rank(QUESTION_TEXT, ASPECTS, pool(30), 10)


def test_another_encoder_is_refused_with_both_names(ranker, tmp_path):
    ranker.save(tmp_path)
    with pytest.raises(AspectragError, match=r"trained with the encoder words .*, not with other"):
        PointerRanker.load(tmp_path, WordEncoder("other"))


@pytest.mark.parametrize("file", ["config.json", "model.safetensors"])
@pytest.mark.parametrize("content", [None, b"", b"{}", b"\0" * 100])
def test_a_damaged_folder_is_refused_in_a_line(ranker, tmp_path, file, content):
    ranker.save(tmp_path)
    (tmp_path / file).unlink() if content is None else (tmp_path / file).write_bytes(content)
    with pytest.raises(AspectragError, match="train it again") as caught:
        PointerRanker.load(tmp_path, WordEncoder())
    assert "\n" not in str(caught.value)


def test_copies_of_a_program_share_it_and_a_saved_program_brings_it_back(ranker, tmp_path, monkeypatch):
    rich = program()
    rich.ranker = ranker
    assert copy.deepcopy(rich).ranker is ranker
    rich.save(tmp_path / "p")
    monkeypatch.setattr(pointer, "_encoder", lambda folder, identity: WordEncoder())
    loaded = type(rich).load(tmp_path / "p", rich.retriever)
    given = rich.pool(QUESTION_TEXT, ASPECTS)
    assert [c.passage.id for c in loaded.ranked(QUESTION_TEXT, ASPECTS, given)] == [
        c.passage.id for c in rich.ranked(QUESTION_TEXT, ASPECTS, given)
    ]
