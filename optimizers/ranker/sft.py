"""Supervised training of the pointer ranker on silver lists.

Source: RichRAG (arXiv 2406.12566), section 3.4, and the losses of its public code.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from statistics import fmean
from typing import Any

import dspy
import numpy as np
import torch
from dspy.teleprompt import Teleprompter
from torch import Tensor

from ...data.index.encoder import Encoder, SentenceEncoder
from ...errors import AspectragError
from ...lms.artifacts import fetch
from ...programs.rankers.features import Vectors
from ...programs.rankers.network import Batch, PointerNetwork
from ...programs.rankers.pointer import PointerRanker
from ...programs.rich_rag import RichRag
from .coverage import silver_list, utilities_along
from .encoder import Joint, TunedEncoder
from .examples import RankingExample, prepare, split
from .training import Report, Settings, fit

# Questions ranked side by side.
_TOGETHER = 32


def supervised_loss(scores: Tensor, worth: Tensor, counts: Tensor) -> Tensor:
    """Hinge and likelihood at each step, averaged over the steps that count.

    The hinge wants a margin of 1 between every two open candidates of different worth, and is averaged over the pairs
    that violate it. The likelihood is that of the candidate worth most; where none is worth anything it says nothing.

    Args:
        scores: Of the network, ``[b, steps, m]``; ``-inf`` where a candidate is not open.
        worth: Utilities, ``[b, steps, m]``.
        counts: Which steps count, ``[b, steps]``.
    """
    open_ = scores > float("-inf")
    finite = scores.masked_fill(~open_, 0.0)
    better = (worth[..., :, None] > worth[..., None, :]) & open_[..., :, None] & open_[..., None, :]
    violation = (1 - finite[..., :, None] + finite[..., None, :]).clamp(min=0) * better
    hinge = violation.sum((-1, -2)) / (violation > 0).sum((-1, -2)).clamp(min=1)
    most, best = worth.masked_fill(~open_, -1.0).max(-1)
    chances = torch.where(open_, scores, scores.new_tensor(-1e9)).log_softmax(-1)
    likelihood = -chances.gather(-1, best[..., None])[..., 0] * (most > 0)
    return ((hinge + likelihood) * counts).sum() / counts.sum().clamp(min=1)


class SupervisedRanker(Teleprompter):
    """Trains a pointer ranker on the lists that cover known sub-answers best.

    At each step of a silver list the network must score candidates in the order of what they would add
    (:func:`supervised_loss`); beside it, weighted by ``disturb``, at one step after a random prefix, so that it also
    goes on well from lists that are not silver. Each time a question is met, some of its aspects and candidates are
    left out, and its silver list made anew: few questions teach more that way. The score is DIV on the validation set.

    Args:
        folder: For checkpoints and finished pools; a training that was killed goes on there.
        encoder: Encodes texts; the package's own by default.
        settings: How to train.
        disturb: Weight of the loss after random prefixes.
        most: Most candidates of a question per step.
        tune_encoder: Learning rate at which the encoder, a sentence-transformers model, is trained too; ``None`` leaves
            it as it is, so that no passage of an index needs to be encoded again. Much slower: take a GPU, or few
            candidates and small batches. The tuned one is saved beside the ranker.
        explored: Whether aspects are explored by the language model in force, instead of those of the examples.
        network: Settings of the network, such as ``{"width": 256}``.
        progress: Whether to show bars.

    Example:
        >>> trainer = SupervisedRanker("runs/ranker")  # doctest: +SKIP
        >>> better = trainer.compile(program, trainset=train, valset=dev)  # doctest: +SKIP
        >>> str(trainer.report)  # doctest: +SKIP
        'validation 0.4358 -> 0.7440, epoch 10 of 22 kept'
    """

    def __init__(
        self,
        folder: str | Path,
        *,
        encoder: Encoder | None = None,
        settings: Settings | None = None,
        disturb: float = 0.5,
        most: int = 64,
        tune_encoder: float | None = None,
        explored: bool = False,
        network: dict[str, Any] | None = None,
        progress: bool = True,
    ) -> None:
        super().__init__()
        self.folder = Path(folder)
        self.settings = settings or Settings()
        self.report: Report | None = None
        self._encoder = encoder
        self._disturb, self._most, self._explored = disturb, most, explored
        self._tune_encoder = tune_encoder
        self._network = network or {}
        self._progress = progress

    def compile(
        self,
        student: dspy.Module,
        *,
        trainset: Sequence[dspy.Example],
        teacher: dspy.Module | None = None,  # noqa: ARG002 - part of DSPy's interface; there is none
        valset: Sequence[dspy.Example] | None = None,
        **kwargs: Any,  # noqa: ARG002
    ) -> RichRag:
        """Train a ranker for the program's retriever; the program itself is left as it was.

        Args:
            student: Finds the pools.
            trainset: Examples with ``question``, ``aspects`` and ``sub_answers``.
            teacher: Not used.
            valset: To choose the best epoch by; a fifth of the trainset by default.
            kwargs: Not used.

        Returns:
            A copy of the program with the trained ranker. What happened is in :attr:`report`.

        Raises:
            AspectragError: The examples lack fields, nothing covers a sub-answer, or the folder is another training's.
        """
        student = as_rich_rag(student)
        vectors = Vectors(self._encoder or SentenceEncoder(fetch("encoder", progress=self._progress)))
        examples, validation = (
            prepare(student, part, vectors, self.folder / "pools", explored=self._explored, progress=self._progress)
            for part in split(trainset, valset, self.settings.seed)
        )
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(self.settings.seed)
            network = PointerNetwork(len(examples[0].features.question), **self._network).eval()
        tuned = self._tuned(network, vectors.encoder)
        own = {"disturb": self._disturb, "most": self._most, "tune_encoder": self._tune_encoder}
        self.report = fit(
            tuned or network,
            lambda epoch: self._losses(network, examples, epoch, tuned.encoder.batch if tuned else _known),
            lambda: mean_div(
                network, tuned.encoder.examples(validation) if tuned else validation, self.settings.k
            ),
            Report(
                settings={**asdict(self.settings), **own},
                examples={"train": len(examples), "validation": len(validation)},
            ),
            self.settings,
            self.folder,
            {"stage": "sft", **own, "network": network.settings, "encoder": str(vectors.encoder.identity),
             "questions": [e.example.question for e in (*examples, *validation)]},
            groups=tuned.groups() if tuned else None,
            progress=self._progress,
        )  # fmt: skip
        encoder = tuned.encoder.save(self.folder / "encoder") if tuned else vectors.encoder
        meta = {"trained_by": "sft", "seed": self.settings.seed, "score": self.report.after}
        return with_ranker(student, PointerRanker(network, encoder, meta))

    def _tuned(self, network: PointerNetwork, encoder: Encoder) -> Joint | None:
        if self._tune_encoder is None:
            return None
        if not isinstance(encoder, SentenceEncoder):
            raise AspectragError(f"{encoder.identity.name} has no weights to tune: give a SentenceEncoder")
        return Joint(network, TunedEncoder(encoder), self._tune_encoder)

    def _losses(
        self,
        network: PointerNetwork,
        examples: Sequence[RankingExample],
        epoch: int,
        batch_of: Callable[[Sequence[RankingExample]], Batch],
    ) -> Iterator[Tensor]:
        rng = np.random.default_rng([self.settings.seed, epoch])
        order = rng.permutation(len(examples))
        for start in range(0, len(order), self.settings.batch):
            met = [examples[place].sample(rng, self._most) for place in order[start : start + self.settings.batch]]
            batch = batch_of(met)
            vectors, bias = network.encode(batch)
            steps = self.settings.k
            silver = [silver_list(each.scores, steps) for each in met]
            loss = self._at(network, batch, vectors, bias, met, silver, [range(len(each)) for each in silver])
            random = [rng.permutation(len(each.pool))[:steps].tolist() for each in met]
            one = [[int(rng.integers(1, len(each)))] if len(each) > 1 else [] for each in random]
            yield loss + self._disturb * self._at(network, batch, vectors, bias, met, random, one)

    def _at(
        self,
        network: PointerNetwork,
        batch: Batch,
        vectors: Tensor,
        bias: Tensor,
        met: Sequence[RankingExample],
        lists: Sequence[Sequence[int]],
        steps: Sequence[Sequence[int]],
    ) -> Tensor:
        """The loss on given lists, at given steps of each."""
        longest, widest = max(map(len, lists)), vectors.shape[1]
        prefix = torch.zeros(len(met), longest, dtype=torch.long)
        worth = torch.zeros(len(met), longest, widest)
        counts = torch.zeros(len(met), longest)
        for row, (each, chosen, which) in enumerate(zip(met, lists, steps, strict=True)):
            prefix[row, : len(chosen)] = torch.tensor(chosen)
            along = utilities_along(each.scores, chosen)
            worth[row, : len(chosen), : along.shape[1]] = torch.from_numpy(along)
            counts[row, list(which)] = 1.0
        return supervised_loss(network.decode(batch, vectors, bias, prefix[:, :-1]), worth, counts)


def _known(examples: Sequence[RankingExample]) -> Batch:
    """A batch of the vectors that the examples came with."""
    return Batch([each.features for each in examples])


def as_rich_rag(program: dspy.Module) -> RichRag:
    """The program, which must be one that ranks.

    Raises:
        AspectragError: It is another.
    """
    if not isinstance(program, RichRag):
        raise AspectragError(f"{type(program).__name__} has no list-wise ranker: give a RichRag")
    return program


def with_ranker(program: RichRag, ranker: PointerRanker) -> RichRag:
    """A copy of the program that uses the ranker."""
    better = program.deepcopy()
    better.ranker = ranker
    better._compiled = True
    return better


def mean_div(network: PointerNetwork, examples: Sequence[RankingExample], k: int) -> float:
    """Mean DIV of the network's greedy lists."""
    return fmean(each.div(order, k) for each, order in zip(examples, greedy(network, examples, k), strict=True))


@torch.inference_mode()
def greedy(network: PointerNetwork, examples: Sequence[RankingExample], k: int) -> list[list[int]]:
    """The network's list for each question, as places in its pool."""
    lists: list[list[int]] = []
    for first in range(0, len(examples), _TOGETHER):
        met = examples[first : first + _TOGETHER]
        chosen = network.choose(Batch([each.features for each in met]), min(k, max(len(each.pool) for each in met)))
        lists += [row[: len(each.pool)] for row, each in zip(chosen.tolist(), met, strict=True)]
    return lists
