"""The pointer network: candidates are encoded one by one, a decoder points at one after another.

Source: RichRAG (arXiv 2406.12566), section 3.4, with a sentence encoder's vectors in place of a T5 encoder's.
"""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor, nn

from .features import Features

# Similarity to the question, to the nearest aspect and on average; best and mean place, place for the bare question;
# share of the aspects that found it; length.
SCALARS = 8
# Centres the logarithm of the length of a usual passage (some hundred words) around 0.
_USUAL_LENGTH = 4.6


class Batch:
    """Questions of different size side by side, padded; ``b`` questions, ``n`` aspects and ``m`` candidates at most."""

    def __init__(self, given: Sequence[Features]) -> None:
        n, m = (max(f.places.shape[axis] for f in given) for axis in (0, 1))
        self.question = torch.from_numpy(np.stack([f.question for f in given]))
        self.aspects = torch.stack([_padded(f.aspects, n) for f in given])
        self.passages = torch.stack([_padded(f.passages, m) for f in given])
        self.places = torch.stack([_padded(_padded(f.places, n).numpy().T, m).T for f in given])
        self.place = torch.stack([_padded(f.place, m) for f in given])
        self.lengths = torch.stack([_padded(f.lengths, m) for f in given])
        self.has_aspect = torch.tensor([[i < len(f.aspects) for i in range(n)] for f in given], dtype=torch.bool)
        self.has_passage = torch.tensor([[i < len(f.passages) for i in range(m)] for f in given], dtype=torch.bool)


class PointerNetwork(nn.Module):
    """Scores for the next passage of a list, given those before it.

    Args:
        dimension: Of the encoder's vectors.
        width: Of candidates and decoder.
        heads: Of attention.
        layers: Of the decoder.
        longest: Places that are told apart; later ones count as the last.
        dropout: While training.
    """

    def __init__(
        self, dimension: int, width: int = 128, heads: int = 4, layers: int = 2, longest: int = 32, dropout: float = 0.1
    ) -> None:
        super().__init__()
        self.settings = {
            "dimension": dimension, "width": width, "heads": heads, "layers": layers, "longest": longest,
            "dropout": dropout,
        }  # fmt: skip
        self.heads = heads
        self.texts = nn.Linear(5 * dimension, width)
        self.numbers = nn.Linear(SCALARS, width)
        self.candidate = nn.Sequential(
            nn.GELU(), nn.Dropout(dropout), nn.Linear(width, width), nn.GELU(), nn.Linear(width, width)
        )
        self.shortcut = nn.Linear(SCALARS, 1)
        self.start = nn.Linear(dimension, width)
        self.position = nn.Embedding(longest, width)
        layer = nn.TransformerDecoderLayer(width, heads, 4 * width, dropout, "gelu", batch_first=True, norm_first=True)
        self.decoder = nn.TransformerDecoder(layer, layers, nn.LayerNorm(width))

    def encode(self, batch: Batch) -> tuple[Tensor, Tensor]:
        """Vectors of all candidates, each from its own text, question and aspects, ``[b, m, width]``; and their bias.

        The bias ``[b, m]`` is what a candidate is worth whatever was chosen before.
        """
        asked = batch.question[:, None, :].expand_as(batch.passages)
        to_question = (batch.passages * asked).sum(-1)
        to_aspects = torch.einsum("bnd,bmd->bnm", batch.aspects, batch.passages)
        share = batch.has_aspect.float() / batch.has_aspect.sum(1, keepdim=True).clamp(min=1)
        # The question stands in where there is no aspect.
        nearest = torch.cat([to_question[:, None], to_aspects.masked_fill(~batch.has_aspect[..., None], -1)], 1).amax(1)
        found = (batch.places > 0).float()
        whose = torch.einsum("bnm,bnd->bmd", found, batch.aspects) / found.sum(1).clamp(min=1)[..., None]
        best = torch.cat([batch.place[:, None], batch.places], dim=1).amax(1)
        numbers = torch.stack(
            [
                to_question,
                nearest,
                torch.einsum("bn,bnm->bm", share, to_aspects),
                best,
                torch.einsum("bn,bnm->bm", share, batch.places),
                batch.place,
                torch.einsum("bn,bnm->bm", share, found),
                batch.lengths - _USUAL_LENGTH,
            ],
            dim=-1,
        )
        texts = torch.cat([batch.passages, asked, whose, batch.passages * asked, batch.passages * whose], dim=-1)
        vectors = self.candidate(self.texts(texts) + self.numbers(numbers))
        return vectors, self.shortcut(numbers)[..., 0]

    def decode(self, batch: Batch, vectors: Tensor, bias: Tensor, prefix: Tensor) -> Tensor:
        """Scores of every candidate at every step of a list, ``[b, steps + 1, m]``; taken and missing ones ``-inf``.

        Args:
            batch: The questions.
            vectors: As :meth:`encode` gives them.
            bias: The same.
            prefix: Places of the candidates chosen so far, ``[b, steps]``.
        """
        chosen = vectors.gather(1, prefix[..., None].expand(-1, -1, vectors.shape[-1]))
        given = torch.cat([self.start(batch.question)[:, None, :], chosen], dim=1)
        steps = given.shape[1]
        given = given + self.position(torch.arange(steps).clamp(max=self.position.num_embeddings - 1))
        taken = torch.zeros(len(prefix), steps, vectors.shape[1], dtype=torch.bool)
        taken[:, 1:] = nn.functional.one_hot(prefix, vectors.shape[1]).bool().cumsum(1).bool()
        closed = taken | ~batch.has_passage[:, None, :]
        # Where nothing is left to look at, attention would be undefined: such steps see all, and count nowhere.
        unseen = (closed & ~closed.all(-1, keepdim=True)).repeat_interleave(self.heads, 0)
        later = torch.ones(steps, steps, dtype=torch.bool).triu(1)
        states = self.decoder(given, vectors, tgt_mask=later, memory_mask=unseen)
        scores = states @ vectors.mT / vectors.shape[-1] ** 0.5 + bias[:, None, :]
        return scores.masked_fill(closed, float("-inf"))

    def choose(
        self, batch: Batch, k: int, temperature: float = 0.0, generator: torch.Generator | None = None
    ) -> Tensor:
        """Lists of distinct candidates, greedy or sampled, ``[b, k]``.

        A greedy list says nothing beyond the size of its pool; where lists are sampled, ``k`` must not exceed any.
        """
        vectors, bias = self.encode(batch)
        prefix = torch.empty(len(vectors), 0, dtype=torch.long)
        for _ in range(k):
            scores = self.decode(batch, vectors, bias, prefix)[:, -1]
            if temperature:
                chances = (scores / temperature).softmax(-1)
                following = torch.multinomial(chances, 1, generator=generator)
            else:
                following = scores.argmax(-1, keepdim=True)
            prefix = torch.cat([prefix, following], dim=1)
        return prefix


def _padded(array: np.ndarray, length: int) -> Tensor:
    missing = [(0, length - len(array))] + [(0, 0)] * (array.ndim - 1)
    return torch.from_numpy(np.pad(array, missing).astype(np.float32))
