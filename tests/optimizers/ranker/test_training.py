"""Training of the ranker: it learns, it can be stopped at any moment, and it says what it did."""

import copy
import json

import dspy
import numpy as np
import pytest
import torch
from aspectrag.data.index.encoder import SentenceEncoder
from aspectrag.errors import AspectragError
from aspectrag.lms.scripted import scripted_lm
from aspectrag.optimizers.ranker import sft, training
from aspectrag.optimizers.ranker.dpo import PreferenceRanker, dpo_loss
from aspectrag.optimizers.ranker.examples import prepare
from aspectrag.optimizers.ranker.rewards import AnswerReward, CoverageReward
from aspectrag.optimizers.ranker.sft import SupervisedRanker, supervised_loss
from aspectrag.optimizers.ranker.training import Settings
from aspectrag.programs.baselines.rag import Rag
from aspectrag.programs.rankers.features import Vectors
from aspectrag.programs.rankers.network import PointerNetwork
from aspectrag.programs.rankers.pointer import PointerRanker
from aspectrag.programs.rankers.ranker import RetrievalOrder
from faceted import ASPECTS, WordEncoder, examples, facts, passages, program
from fakes import ListRetriever, by_fields
from models import make_static_model

SMALL = {"width": 32, "heads": 2, "dropout": 0.0}
# The networks are tiny: several threads would only wait for each other.
torch.set_num_threads(1)
QUICK = Settings(epochs=12, patience=12, batch=4, learning_rate=3e-3, k=3)


def trainer(folder, **changes):
    settings = changes.pop("settings", QUICK)
    return SupervisedRanker(folder, encoder=WordEncoder(), settings=settings, network=SMALL, progress=False, **changes)


def weights(rich):
    return {name: value.clone() for name, value in rich.ranker.network.state_dict().items()}


def same(one, other):
    return one.keys() == other.keys() and all(torch.equal(one[name], other[name]) for name in one)


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    optimizer = trainer(tmp_path_factory.mktemp("sft"))
    return optimizer.compile(program(), trainset=examples()[:7], valset=examples()[7:]), optimizer


def test_it_learns_to_put_what_covers_first(trained):
    better, optimizer = trained
    report = optimizer.report
    assert report.after > 0.95 > 0.8 > report.before
    assert report.after == max(epoch["score"] for epoch in report.epochs)
    assert report.examples == {"train": 7, "validation": 3}
    assert f"epoch {report.best} of 12 kept" in str(report)
    pool = better.pool("What about peat?", ASPECTS)
    ids = better.ranker.rank("What about peat?", ASPECTS, pool, 3)
    assert set(ids) == {f"peat-{aspect}-good" for aspect in ASPECTS}


def test_the_program_itself_is_left_as_it_was(tmp_path):
    rich = program()
    better = trainer(tmp_path, settings=Settings(epochs=1, k=3)).compile(rich, trainset=examples())
    assert rich.ranker is None
    assert better is not rich
    assert better.retriever is rich.retriever


def test_two_trainings_with_one_seed_are_equal_and_another_seed_differs(tmp_path):
    short = Settings(epochs=2, batch=4, k=3)
    one, two = (
        weights(trainer(tmp_path / n, settings=short).compile(program(), trainset=examples())) for n in ("1", "2")
    )
    other = weights(
        trainer(tmp_path / "3", settings=Settings(epochs=2, batch=4, k=3, seed=1)).compile(
            program(), trainset=examples()
        )
    )
    assert same(one, two)
    assert not same(one, other)


@pytest.mark.parametrize("when", [1, 3])
def test_killed_and_run_again_it_ends_with_the_same_weights(tmp_path, monkeypatch, when):
    settings = Settings(epochs=4, patience=4, batch=4, k=3)
    whole = trainer(tmp_path / "whole", settings=settings)
    expected = weights(whole.compile(program(), trainset=examples()))
    keep, count = training._keep, []

    def killed(folder, state):
        keep(folder, state)
        count.append(1)
        if len(count) == when:
            raise KeyboardInterrupt

    monkeypatch.setattr(training, "_keep", killed)
    with pytest.raises(KeyboardInterrupt):
        trainer(tmp_path / "half", settings=settings).compile(program(), trainset=examples())
    monkeypatch.setattr(training, "_keep", keep)
    encoder_calls = []
    monkeypatch.setattr(
        WordEncoder, "encode_passages", lambda self, texts: encoder_calls.append(texts) or self.encode_queries(texts)
    )
    again = trainer(tmp_path / "half", settings=settings)
    assert same(weights(again.compile(program(), trainset=examples())), expected)
    assert again.report.epochs == whole.report.epochs
    assert not encoder_calls  # the pools are kept


def test_a_finished_training_is_not_repeated(tmp_path):
    settings = Settings(epochs=2, k=3)
    first = trainer(tmp_path, settings=settings)
    expected = weights(first.compile(program(), trainset=examples()))
    again = trainer(tmp_path, settings=settings)
    assert same(weights(again.compile(program(), trainset=examples())), expected)
    assert again.report == first.report


def test_a_folder_of_another_training_or_a_damaged_one_is_refused(tmp_path):
    trainer(tmp_path, settings=Settings(epochs=1, k=3)).compile(program(), trainset=examples())
    with pytest.raises(AspectragError, match="other data or settings"):
        trainer(tmp_path, settings=Settings(epochs=2, k=3)).compile(program(), trainset=examples())
    with pytest.raises(AspectragError, match="other data or settings"):
        trainer(tmp_path, settings=Settings(epochs=1, k=3)).compile(program(), trainset=examples()[1:])
    (tmp_path / "checkpoint.pt").write_bytes(b"half")
    with pytest.raises(AspectragError, match="remove it"):
        trainer(tmp_path, settings=Settings(epochs=1, k=3)).compile(program(), trainset=examples())


def test_it_stops_when_nothing_gets_better(tmp_path, monkeypatch):
    monkeypatch.setattr(sft, "mean_div", lambda *_: 0.5)
    optimizer = trainer(tmp_path, settings=Settings(epochs=50, patience=3, k=3))
    optimizer.compile(program(), trainset=examples())
    assert len(optimizer.report.epochs) == 3
    assert optimizer.report.best == 0
    assert "none of 3 epochs kept" in str(optimizer.report)


@pytest.mark.parametrize(
    ("trainset", "words"),
    [
        ([], "0 examples to train on"),
        (examples()[:1], "0 examples to train on"),
        ([dspy.Example(question="Why?")] * 5, "has no aspects and no sub_answers"),
        ([dspy.Example(question="Why?", aspects=["cost"], sub_answers=["nothing has this"])] * 5, "no passage covers"),
        ([e.copy(sub_answers=["xyzzy"]) for e in examples()], "no passage covers"),
    ],
)
def test_data_that_teaches_nothing_is_refused(tmp_path, trainset, words):
    with pytest.raises(AspectragError, match=words):
        trainer(tmp_path).compile(program(), trainset=trainset)


def test_only_programs_with_a_ranker_are_trained(tmp_path):
    with pytest.raises(AspectragError, match="Rag has no list-wise ranker"):
        trainer(tmp_path).compile(Rag(None, ListRetriever()), trainset=examples())


def test_explored_aspects_are_asked_of_the_model(tmp_path):
    lm = scripted_lm(by_fields(aspects=["cost", "safety"]))
    with dspy.context(lm=lm):
        optimizer = trainer(tmp_path, settings=Settings(epochs=1, k=3), explored=True)
        optimizer.compile(program(), trainset=examples())
    assert len(lm.engine.calls) == 10


def test_sampled_questions_keep_aspects_and_sub_answers_together(tmp_path):
    (example, *_) = prepare(program(), examples(), Vectors(WordEncoder()), tmp_path, explored=False, progress=False)
    rng = np.random.default_rng(0)
    for _ in range(50):
        some = example.sample(rng, 8)
        assert len(some.aspects) == len(some.scores) == len(some.features.aspects) == len(some.features.places)
        assert 2 <= len(some.pool) == some.scores.shape[1] == len(some.features.passages) <= 8
        for row, aspect in enumerate(some.aspects):
            good = [place for place, c in enumerate(some.pool) if c.passage.id.endswith(f"{aspect}-good")]
            assert all(some.scores[row, place] == 1.0 for place in good)
    with pytest.raises(AssertionError):  # the example itself is never changed
        assert len(example.aspects) != 3


def test_supervised_loss_by_hand():
    # One step, three open candidates and a closed one; the second is worth most, the others are equal.
    scores = torch.tensor([[[0.5, 1.0, 2.0, float("-inf")]]])
    worth = torch.tensor([[[0.1, 0.9, 0.1, 5.0]]])
    # Pairs (1, 0): 1 - .5 = .5; (1, 2): 1 + 1 = 2; the mean of both, and -log softmax of 1.0 among the open ones.
    hinge = (0.5 + 2.0) / 2
    likelihood = -(1.0 - np.log(np.exp([0.5, 1.0, 2.0]).sum()))
    loss = supervised_loss(scores, worth, torch.ones(1, 1))
    assert loss.item() == pytest.approx(hinge + likelihood, abs=1e-5)
    assert supervised_loss(scores, torch.zeros(1, 1, 4), torch.ones(1, 1)).item() == 0
    assert supervised_loss(scores, worth, torch.zeros(1, 1)).item() == 0


def test_loss_has_finite_gradients_where_nothing_is_open():
    scores = torch.full((1, 2, 3), float("-inf"), requires_grad=True)
    loss = supervised_loss(scores, torch.ones(1, 2, 3), torch.tensor([[1.0, 0.0]]))
    loss.backward()
    assert torch.isfinite(scores.grad).all()


def preferring(folder, **changes):
    settings = changes.pop("settings", Settings(epochs=6, patience=6, batch=4, learning_rate=3e-3, k=3))
    return PreferenceRanker(folder, settings=settings, progress=False, **changes)


@pytest.fixture(scope="module")
def half_trained(tmp_path_factory):
    """A ranker that has learnt little: there is something left to prefer."""
    optimizer = trainer(tmp_path_factory.mktemp("half"), settings=Settings(epochs=1, batch=4, k=3))
    return optimizer.compile(program(), trainset=examples()[:7], valset=examples()[7:])


@pytest.mark.parametrize("strategy", ["us3", "best-vs-worst", "all-pairs"])
def test_preferences_raise_the_reward(half_trained, tmp_path, strategy):
    before = weights(half_trained)
    optimizer = preferring(tmp_path, strategy=strategy)
    better = optimizer.compile(half_trained, trainset=examples()[:7], valset=examples()[7:])
    assert optimizer.report.after > optimizer.report.before
    assert optimizer.report.notes["pairs"] >= optimizer.report.notes["questions_with_pairs"] > 0
    assert same(weights(half_trained), before)
    assert better.ranker.meta["trained_by"] == "dpo"


class Counted:
    """A reward that remembers how often it was asked, and may break down."""

    def __init__(self, fails_at=None):
        self.asked, self.fails_at = [], fails_at

    def __call__(self, example, lists):
        if len(self.asked) == self.fails_at:
            raise RuntimeError("the model is gone")
        self.asked.append(example.example.question)
        return CoverageReward(3)(example, lists)


def test_no_list_is_rewarded_twice(half_trained, tmp_path):
    settings = Settings(epochs=1, k=3)
    with pytest.raises(RuntimeError):
        preferring(tmp_path, reward=Counted(fails_at=4), settings=settings).compile(
            half_trained, trainset=examples()[:7], valset=examples()[7:]
        )
    reward = Counted()
    preferring(tmp_path, reward=reward, settings=settings).compile(
        half_trained, trainset=examples()[:7], valset=examples()[7:]
    )
    assert reward.asked[:3] == [example.question for example in examples()[4:7]]
    assert set(reward.asked[3:]) == {example.question for example in examples()[7:]}  # validation


def test_a_line_cut_short_by_a_kill_is_left_out(half_trained, tmp_path):
    settings = Settings(epochs=1, k=3)
    preferring(tmp_path, settings=settings).compile(half_trained, trainset=examples()[:7], valset=examples()[7:])
    (file,) = tmp_path.glob("lists-*.jsonl")
    whole = file.read_text()
    file.write_text(whole[:-20])
    (tmp_path / "checkpoint.pt").unlink()
    preferring(tmp_path, settings=settings).compile(half_trained, trainset=examples()[:7], valset=examples()[7:])
    assert sorted(map(str, map(json.loads, file.read_text().splitlines()))) == sorted(
        map(str, map(json.loads, whole.splitlines()))
    )


def test_lists_are_rewarded_by_the_answers_written_from_them(half_trained, tmp_path):
    def reply(call):
        # An answer repeats what its passages say: the better the list, the better the answer.
        return {"sentences": [{"sentence": each["text"], "passages": [each["number"]]}
                              for each in json.loads(call.inputs["passages"])]}  # fmt: skip

    lm = scripted_lm(reply)
    with dspy.context(lm=lm):
        optimizer = preferring(tmp_path, reward=AnswerReward(half_trained), samples=3, settings=Settings(epochs=2, k=3))
        optimizer.compile(half_trained, trainset=examples()[:5], valset=examples()[5:7])
    assert lm.engine.calls
    assert optimizer.report.notes["pairs"] > 0
    (ready, *_) = prepare(program(), examples(), Vectors(WordEncoder()), tmp_path, explored=False, progress=False)
    reward = AnswerReward(half_trained)
    best = " ".join(facts("coal", aspect) for aspect in ASPECTS)
    assert reward.of_answer(ready, f"{best} [1][2]") == pytest.approx(2.0)
    assert reward.of_answer(ready, "") == 0.0
    good = [place for place, c in enumerate(ready.pool) if c.passage.id.endswith("good")]
    bad = [place for place, c in enumerate(ready.pool) if not c.passage.id.endswith("good")][:3]
    with dspy.context(lm=lm):
        first, second = reward(ready, [good, bad])
    assert first > second


def test_what_cannot_be_preferred_is_refused(half_trained, tmp_path):
    with pytest.raises(AspectragError, match="tau must be above 0"):
        PreferenceRanker(tmp_path, tau=0.0)
    with pytest.raises(AspectragError, match="no two lists of a question differ by 5"):
        preferring(tmp_path / "a", tau=5.0).compile(half_trained, trainset=examples())
    other = copy.copy(half_trained)
    other.ranker = RetrievalOrder()
    with pytest.raises(AspectragError, match="RetrievalOrder has no weights"):
        preferring(tmp_path / "b").compile(other, trainset=examples())


def test_dpo_loss_by_hand():
    loss = dpo_loss(*(torch.tensor([v]) for v in (-1.0, -3.0, -2.0, -2.5)), beta=0.5)
    # Margin: (-1 + 2) - (-3 + 2.5) = 1.5
    assert loss.item() == pytest.approx(np.log(1 + np.exp(-0.75)), abs=1e-6)


def test_passages_of_the_little_world_are_distinct():
    assert len({p.text for p in passages()}) == len(passages())


@pytest.fixture(scope="module")
def encoder(tmp_path_factory):
    """A real encoder of sentence-transformers that knows the words of the little world, not what they mean."""
    texts = [passage.text for passage in passages()] + [f"{e.question} {' '.join(e.sub_answers)}" for e in examples()]
    return SentenceEncoder(make_static_model(tmp_path_factory.mktemp("models") / "tiny", texts, dimension=16))


def test_the_encoder_can_be_trained_too_and_is_saved_beside_the_ranker(tmp_path, encoder):
    settings = Settings(epochs=3, batch=4, learning_rate=3e-3, k=3)

    def train(folder):
        made = SupervisedRanker(
            folder, encoder=encoder, settings=settings, network=SMALL, tune_encoder=1e-2, progress=False
        )
        return made.compile(program(), trainset=examples()[:7], valset=examples()[7:]).ranker, made.report

    ranker, report = train(tmp_path / "training")
    assert report.settings["tune_encoder"] == 1e-2
    tuned = ranker.vectors.encoder
    assert not tuned.identity.same_as(encoder.identity)
    assert not np.allclose(tuned.encode_passages(["coal cost"]), encoder.encode_passages(["coal cost"]))
    ranker.save(tmp_path / "ranker")
    loaded = PointerRanker.load(tmp_path / "ranker")
    assert loaded.vectors.encoder.folder == tmp_path / "ranker" / "encoder"
    pool = program().pool("What about peat?", ASPECTS)
    ids = ranker.rank("What about peat?", ASPECTS, pool, 3)
    assert loaded.rank("What about peat?", ASPECTS, pool, 3) == ids
    # The score of the kept epoch is that of what was saved.
    vectors = Vectors(loaded.vectors.encoder)
    known = prepare(program(), examples()[7:], vectors, tmp_path / "pools", explored=False, progress=False)
    assert sft.mean_div(loaded.network, known, 3) == pytest.approx(report.after, abs=1e-6)
    again, _ = train(tmp_path / "other")
    assert again.vectors.encoder.identity.same_as(tuned.identity)  # weights and all


def test_what_has_no_weights_cannot_be_tuned(tmp_path):
    with pytest.raises(AspectragError, match="words has no weights to tune: give a SentenceEncoder"):
        trainer(tmp_path, tune_encoder=1e-3).compile(program(), trainset=examples())


def test_a_ranker_takes_its_encoder_along_where_no_name_leads_back_to_it(tmp_path, encoder):
    network = PointerNetwork(16, **SMALL)
    PointerRanker(network, encoder).save(tmp_path)
    loaded = PointerRanker.load(tmp_path)
    assert loaded.vectors.encoder.identity.same_as(encoder.identity)
    loaded.save(tmp_path)  # onto itself
    assert PointerRanker.load(tmp_path).vectors.encoder.identity.same_as(encoder.identity)
    PointerRanker(PointerNetwork(32, **SMALL), WordEncoder()).save(tmp_path)
    assert not (tmp_path / "encoder").exists()
