"""A sentence encoder that learns together with the ranker that reads its vectors."""

import shutil
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pad_sequence

from ...data.index.encoder import SentenceEncoder, load_model, readable
from ...programs.rankers.features import Vectors, features, query
from ...programs.rankers.network import Batch, PointerNetwork
from .examples import RankingExample


class TunedEncoder(nn.Module):
    """Vectors that carry gradients, of a sentence-transformers model; an encoder like any other outside of training.

    Source: RichRAG (arXiv 2406.12566), section 3.4, trains its encoder and its decoder together.

    Args:
        start: The encoder to start from.
    """

    def __init__(self, start: SentenceEncoder) -> None:
        super().__init__()
        self.identity = start.identity
        self.model = load_model(start.folder)

    def forward(self, texts: Sequence[str]) -> Tensor:
        """Unit vectors, ``[len(texts), dimension]``."""
        given = self.model.tokenize([readable(text) for text in texts])
        given = {name: value.to(self.model.device) for name, value in given.items() if isinstance(value, Tensor)}
        return nn.functional.normalize(self.model(given)["sentence_embedding"], dim=-1).cpu()

    def encode_queries(self, texts: Sequence[str]) -> np.ndarray:
        """Vectors of queries as they are now, without gradients."""
        return self._encode(texts, self.identity.query_prompt)

    def encode_passages(self, texts: Sequence[str]) -> np.ndarray:
        """Vectors of passages as they are now, without gradients."""
        return self._encode(texts, self.identity.passage_prompt)

    def _encode(self, texts: Sequence[str], prompt: str) -> np.ndarray:
        return self.model.encode([readable(text) for text in texts], prompt=prompt, show_progress_bar=False)

    def batch(self, examples: Sequence[RankingExample]) -> Batch:
        """A batch whose vectors carry gradients; each text is encoded once."""
        queries: list[list[str]] = []
        passages: list[list[str]] = []
        for each in examples:
            question = each.example.question
            asked = [question, *(query(question, aspect) for aspect in each.aspects)]
            queries.append([self.identity.query_prompt + text for text in asked])
            passages.append([self.identity.passage_prompt + candidate.passage.contents for candidate in each.pool])
        texts = list(dict.fromkeys(text for group in (*queries, *passages) for text in group))
        vectors, place = self(texts), {text: n for n, text in enumerate(texts)}
        of = lambda group: vectors[[place[text] for text in group]]  # noqa: E731
        batch = Batch([each.features for each in examples])
        batch.question = torch.stack([vectors[place[asked[0]]] for asked in queries])
        batch.aspects = pad_sequence([of(asked[1:]) for asked in queries], batch_first=True)
        batch.passages = pad_sequence([of(group) for group in passages], batch_first=True)
        return batch

    def examples(self, examples: Sequence[RankingExample]) -> list[RankingExample]:
        """The same examples, seen with the vectors as they are now."""
        vectors = Vectors(self)
        return [
            replace(each, features=features(each.example.question, each.aspects, each.pool, vectors))
            for each in examples
        ]

    def save(self, folder: Path) -> SentenceEncoder:
        """Write the model, all of it or nothing, and open it."""
        part = folder.with_name(folder.name + ".part")
        shutil.rmtree(part, ignore_errors=True)
        self.model.save(str(part), create_model_card=False)
        shutil.rmtree(folder, ignore_errors=True)
        part.replace(folder)
        return SentenceEncoder(folder)


class Joint(nn.Module):
    """A pointer network and the encoder under it, trained as one.

    Args:
        network: The network.
        encoder: The encoder.
        learning_rate: Of the encoder.
    """

    def __init__(self, network: PointerNetwork, encoder: TunedEncoder, learning_rate: float) -> None:
        super().__init__()
        self.network, self.encoder, self._learning_rate = network, encoder, learning_rate

    def groups(self) -> Iterator[dict[str, object]]:
        """Parameters, those of the encoder with a learning rate of their own."""
        yield {"params": list(self.network.parameters())}
        yield {"params": list(self.encoder.parameters()), "lr": self._learning_rate}
