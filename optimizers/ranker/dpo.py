"""Preference training of the pointer ranker: lists that earn more become likelier than lists that earn less.

Source: direct preference optimization (Rafailov et al., NeurIPS 2023), equation 7, over ranked lists as in RichRAG
(arXiv 2406.12566), section 3.5. What RichRAG leaves open (reward, samples, thresholds) is our reading: see
:mod:`.us3` and :mod:`.rewards`.
"""

import copy
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

import dspy
import numpy as np
import torch
import ujson
from dspy.teleprompt import Teleprompter
from torch import Tensor
from tqdm.auto import tqdm

from ...data.growing import GrowingFile
from ...errors import AspectragError
from ...programs.rankers.network import Batch, PointerNetwork
from ...programs.rankers.pointer import PointerRanker, shipped
from ...programs.rich_rag import RichRag
from .coverage import silver_list
from .examples import RankingExample, prepare, split
from .rewards import CoverageReward, Reward
from .sft import as_rich_rag, greedy, with_ranker
from .training import Report, Settings, fit
from .us3 import Strategy, preference_pairs

# How often lists are drawn until enough of them are distinct.
_ROUNDS = 4


@dataclass(frozen=True)
class Pair:
    """Two lists of one question, the better one first, with the reference's log-probabilities."""

    question: int
    chosen: tuple[int, ...]
    rejected: tuple[int, ...]
    reference: tuple[float, float]


def list_log_probability(network: PointerNetwork, batch: Batch, lists: Tensor) -> Tensor:
    """Log-probability of whole lists, ``[b]``: the sum over their steps.

    Args:
        network: Gives the scores.
        batch: The questions, one per list.
        lists: Places, ``[b, steps]``; -1 after the end of a shorter list.
    """
    vectors, bias = network.encode(batch)
    there = lists >= 0
    scores = network.decode(batch, vectors, bias, lists[:, :-1].clamp(min=0))
    # Behind the end of a list nothing may be open: such steps count nothing.
    chances = scores.clamp(min=-1e9).log_softmax(-1).gather(-1, lists.clamp(min=0)[..., None])[..., 0]
    return torch.where(there, chances, 0.0).sum(-1)


def dpo_loss(
    chosen: Tensor, rejected: Tensor, reference_chosen: Tensor, reference_rejected: Tensor, beta: float
) -> Tensor:
    """``-log sigmoid(beta * ((chosen - reference_chosen) - (rejected - reference_rejected)))``, averaged.

    Example:
        >>> zero = torch.zeros(1)
        >>> round(dpo_loss(zero, zero, zero, zero, beta=0.1).item(), 4)
        0.6931
    """
    margin = (chosen - reference_chosen) - (rejected - reference_rejected)
    return -torch.nn.functional.logsigmoid(beta * margin).mean()


class PreferenceRanker(Teleprompter):
    """Trains a pointer ranker further, on pairs of its own lists of which one earned more.

    For each question the anchor is the ranker's greedy list; others are sampled from it, and the silver list joins
    them. Each is rewarded once, and written down: a training that was killed rewards no list again.

    Args:
        folder: For checkpoints, finished pools and rewarded lists.
        reward: What a list earns; coverage by default, which needs no language model.
        settings: How to train.
        samples: Distinct lists sampled per question.
        temperature: At which they are sampled.
        tau: Smallest difference of rewards that makes a pair.
        beta: How strongly the trained ranker is kept near the one it started from.
        strategy: Which pairs are made; see :func:`.us3.preference_pairs`.
        drawn: Lists drawn of each validation question beside the greedy one. The score is the mean reward of all: the
            objective raises what the ranker's lists earn on the whole, and greedy ones alone are few and noisy. With a
            reward that costs calls of a model, 0 keeps to the greedy one.
        explored: Whether aspects are explored by the language model in force.
        progress: Whether to show bars.

    Example:
        >>> trainer = PreferenceRanker("runs/ranker")
        >>> better = trainer.compile(program, trainset=train, valset=val)  # doctest: +SKIP
    """

    def __init__(
        self,
        folder: str | Path,
        *,
        reward: Reward | None = None,
        settings: Settings | None = None,
        samples: int = 8,
        temperature: float = 1.0,
        tau: float = 0.02,
        beta: float = 0.1,
        strategy: Strategy = "us3",
        drawn: int = 8,
        explored: bool = False,
        progress: bool = True,
    ) -> None:
        super().__init__()
        if tau <= 0:
            raise AspectragError(f"tau must be above 0, not {tau}: lists that earn the same make no pair")
        self.folder = Path(folder)
        self.settings = settings or Settings(epochs=10, patience=4, learning_rate=2e-5)
        self.report: Report | None = None
        self._reward = reward or CoverageReward(self.settings.k)
        self._samples, self._temperature, self._tau, self._beta = samples, temperature, tau, beta
        self._strategy: Strategy = strategy
        self._drawn, self._explored, self._progress = drawn, explored, progress

    def compile(
        self,
        student: dspy.Module,
        *,
        trainset: Sequence[dspy.Example],
        teacher: dspy.Module | None = None,  # noqa: ARG002 - part of DSPy's interface; there is none
        valset: Sequence[dspy.Example] | None = None,
        **kwargs: Any,  # noqa: ARG002
    ) -> RichRag:
        """Train the program's pointer ranker further (the shipped one, where it has none of its own).

        Returns:
            A copy of the program with the trained ranker. What happened is in :attr:`report`; its score is the mean
            reward of its lists of the validation set.

        Raises:
            AspectragError: The program ranks otherwise, no pair can be made, or see :class:`.sft.SupervisedRanker`.
        """
        student = as_rich_rag(student)
        start = student.ranker or shipped()
        if not isinstance(start, PointerRanker):
            raise AspectragError(f"{type(start).__name__} has no weights to train: start from a PointerRanker")
        vectors = start.vectors
        examples, validation = (
            prepare(student, part, vectors, self.folder / "pools", explored=self._explored, progress=self._progress)
            for part in split(trainset, valset, self.settings.seed)
        )
        # Without dropout, lest a list look unlikelier to the ranker than to its own reference.
        network = PointerNetwork(**{**start.network.settings, "dropout": 0.0}).eval()
        network.load_state_dict(start.network.state_dict())
        reference = copy.deepcopy(network)
        pairs = self._pairs(reference, examples)
        if not pairs:
            raise AspectragError(f"no two lists of a question differ by {self._tau}: lower tau, or sample more lists")
        self.report = fit(
            network,
            lambda epoch: self._losses(network, examples, pairs, epoch),
            lambda: self._mean_reward(network, validation),
            Report(
                settings={**asdict(self.settings), **self._identity()},
                examples={"train": len(examples), "validation": len(validation)},
                notes={"pairs": len(pairs), "questions_with_pairs": len({pair.question for pair in pairs})},
            ),
            self.settings,
            self.folder,
            {"stage": "dpo", **self._identity(), "pairs": [(p.question, p.chosen, p.rejected) for p in pairs],
             "questions": [e.example.question for e in (*examples, *validation)]},
            progress=self._progress,
        )  # fmt: skip
        meta = {"trained_by": "dpo", "from": start.meta, "seed": self.settings.seed, "score": self.report.after}
        return with_ranker(student, PointerRanker(network, vectors.encoder, meta))

    def _identity(self) -> dict[str, Any]:
        return {
            "reward": type(self._reward).__name__, "samples": self._samples, "temperature": self._temperature,
            "tau": self._tau, "beta": self._beta, "strategy": self._strategy, "drawn": self._drawn,
        }  # fmt: skip

    def _mean_reward(self, network: PointerNetwork, examples: Sequence[RankingExample]) -> float:
        lists = greedy(network, examples, self.settings.k)
        return fmean(
            fmean(self._reward(each, [order, *self._draw(network, each, place, self._drawn)]))
            for place, (each, order) in enumerate(zip(examples, lists, strict=True))
        )

    def _pairs(self, reference: PointerNetwork, examples: Sequence[RankingExample]) -> list[Pair]:
        rewarded = self._rewarded(reference, examples)
        pairs = []
        for place, (lists, rewards) in enumerate(rewarded):
            if not (found := preference_pairs(rewards, self._tau, self._strategy)):
                continue
            with torch.inference_mode():
                batch = Batch([examples[place].features] * len(lists))
                known = list_log_probability(reference, batch, torch.tensor(lists)).tolist()
            for i, j in found:
                pairs.append(Pair(place, tuple(lists[i]), tuple(lists[j]), (known[i], known[j])))
        return pairs

    def _rewarded(
        self, reference: PointerNetwork, examples: Sequence[RankingExample]
    ) -> list[tuple[list[list[int]], list[float]]]:
        """Per question its lists, the anchor first, and what they earned; read back where they were rewarded before."""
        file = GrowingFile(self.folder / f"lists-{type(self._reward).__name__}.jsonl")
        known = {record["key"]: record["rewards"] for record in file}
        rewarded = []
        bar = tqdm(examples, "Rewards", unit="question", disable=None if self._progress else True)
        for place, example in enumerate(bar):
            lists = self._lists(reference, example, place)
            key = ujson.dumps([example.example.question, lists])
            if key not in known:
                known[key] = self._reward(example, lists)
                file.add({"key": key, "rewards": known[key]})
            rewarded.append((lists, known[key]))
        return rewarded

    def _lists(self, reference: PointerNetwork, example: RankingExample, place: int) -> list[list[int]]:
        k = min(self.settings.k, len(example.pool))
        lists = greedy(reference, [example], k)
        # A small pool has few lists: no use in waiting for more.
        for attempt in range(_ROUNDS):
            drawn = self._draw(reference, example, place, self._samples, attempt)
            lists += [each for n, each in enumerate(drawn) if each not in [*lists, *drawn[:n]]]
            if len(lists) > self._samples:
                break
        lists = lists[: self._samples + 1]
        silver = silver_list(example.scores, k)
        return lists if silver in lists else [*lists, silver]

    @torch.inference_mode()
    def _draw(
        self, network: PointerNetwork, example: RankingExample, place: int, count: int, attempt: int = 0
    ) -> list[list[int]]:
        """Lists sampled from the network; ``place`` and ``attempt`` are the seed, with that of the settings."""
        if not count:
            return []
        generator = torch.Generator().manual_seed((self.settings.seed * 100_003 + place) * _ROUNDS + attempt)
        batch, k = Batch([example.features] * count), min(self.settings.k, len(example.pool))
        return network.choose(batch, k, self._temperature, generator).tolist()

    def _losses(
        self, network: PointerNetwork, examples: Sequence[RankingExample], pairs: Sequence[Pair], epoch: int
    ) -> Iterator[Tensor]:
        order = np.random.default_rng([self.settings.seed, epoch]).permutation(len(pairs))
        for first in range(0, len(order), self.settings.batch):
            met = [pairs[place] for place in order[first : first + self.settings.batch]]
            batch = Batch([examples[pair.question].features for pair in met])
            chosen, rejected = (
                list_log_probability(network, batch, _together([getattr(pair, side) for pair in met]))
                for side in ("chosen", "rejected")
            )
            known = torch.tensor([pair.reference for pair in met])
            yield dpo_loss(chosen, rejected, known[:, 0], known[:, 1], self._beta)


def _together(lists: Sequence[Sequence[int]]) -> Tensor:
    longest = max(map(len, lists))
    return torch.tensor([[*each, *[-1] * (longest - len(each))] for each in lists])
