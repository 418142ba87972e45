"""The trained ranker that comes with the package."""

import json

import numpy as np
from aspectrag.data.index.encoder import EncoderIdentity
from aspectrag.data.passages import Passage
from aspectrag.lms.artifacts import ARTIFACTS
from aspectrag.programs.rankers.candidates import QUESTION, Candidate
from aspectrag.programs.rankers.pointer import SHIPPED, PointerRanker

CONFIG = json.loads((SHIPPED / "config.json").read_text(encoding="utf-8"))


class Encoder:
    """Says that it is the one the ranker was trained with; its vectors are made up."""

    identity = EncoderIdentity(**CONFIG["encoder"])

    def encode_queries(self, texts):
        return np.stack([np.random.default_rng(len(text)).normal(size=384) for text in texts]).astype(np.float32)

    encode_passages = encode_queries


def test_it_is_small_and_belongs_to_the_packages_encoder():
    assert sum(file.stat().st_size for file in SHIPPED.iterdir()) < 10_000_000
    assert CONFIG["encoder"]["name"] == ARTIFACTS["encoder"].target
    assert CONFIG["meta"]["trained_by"] in ("sft", "dpo")


def test_it_ranks():
    ranker = PointerRanker.load(SHIPPED, Encoder())
    pool = [Candidate(Passage(str(n), "", "word " * (n + 1)), {QUESTION: n + 1, "cost": n + 1}) for n in range(100)]
    ids = ranker.rank("Why?", ["cost"], pool, 10)
    assert len(set(ids)) == 10
    assert ids == ranker.rank("Why?", ["cost"], pool, 10)
