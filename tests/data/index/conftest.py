"""Tiny real models, made on the fly and loaded through the same door as large ones; passages in several scripts."""

import models
import pytest
from aspectrag.data.passages import Passage

TEXTS = {
    "danube": ("Danube", "The Danube is a river that flows through ten countries of Europe to the Black Sea."),
    "rhine": ("Rhine", "The Rhine is a river that rises in the Swiss Alps and ends in the North Sea."),
    "everest": ("Mount Everest", "The highest mountain on Earth, climbed first in 1953 by Hillary and Tenzing."),
    "seoul": ("서울", "서울은 대한민국의 수도이며 한강이 흐른다."),
    "busan": ("부산", "부산은 항구 도시이며 바다가 있다."),
    "tokyo": ("東京", "東京都は日本の首都である。"),
    "beijing": ("北京", "北京是中国的首都，人口超过两千万。"),
    "cairo": ("القاهرة", "القاهرة عاصمة مصر وأكبر مدينة فيها."),
    "delhi": ("दिल्ली", "दिल्ली भारत की राजधानी है।"),
    "bangkok": ("กรุงเทพ", "กรุงเทพมหานครเป็นเมืองหลวงของประเทศไทย"),
    "moscow": ("Москва", "Москва является столицей России."),
    "party": ("", "A party 🎉 with cake and café music"),
}


@pytest.fixture(scope="session")
def passages():
    return [Passage(key, title, text) for key, (title, text) in TEXTS.items()]


def _all_texts():
    return [f"{title} {text}" for title, text in TEXTS.values()] + [" ".join(f"word{i}" for i in range(200))]


def make_static_model(folder, **options):
    return models.make_static_model(folder, _all_texts(), **options)


def _bert(folder, architecture, **options):
    import torch
    import transformers

    torch.manual_seed(0)
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=models.word_tokenizer(_all_texts()),
        unk_token="[UNK]", pad_token="[PAD]", cls_token="[CLS]", sep_token="[SEP]", mask_token="[MASK]",
    )  # fmt: skip
    config = transformers.BertConfig(
        vocab_size=len(tokenizer), hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16,
        max_position_embeddings=64, **options,
    )  # fmt: skip
    getattr(transformers, architecture)(config).eval().save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


@pytest.fixture(scope="session")
def static_model(tmp_path_factory):
    return make_static_model(tmp_path_factory.mktemp("models") / "static")


@pytest.fixture(scope="session")
def other_model(tmp_path_factory):
    return make_static_model(tmp_path_factory.mktemp("models") / "other", seed=1)


@pytest.fixture(scope="session")
def bert_model(tmp_path_factory):
    """A transformer with mean pooling, as most encoders are."""
    from sentence_transformers import SentenceTransformer

    base = _bert(tmp_path_factory.mktemp("models") / "base", "BertModel")
    folder = base.parent / "tiny-bert"
    transformer = models.st_modules().Transformer(str(base), max_seq_length=64)
    SentenceTransformer(modules=[transformer, models.st_modules().Pooling(16)], device="cpu").save(
        str(folder), create_model_card=False
    )
    return folder


@pytest.fixture(scope="session")
def cross_model(tmp_path_factory):
    return _bert(tmp_path_factory.mktemp("models") / "tiny-cross", "BertForSequenceClassification", num_labels=1)


@pytest.fixture(scope="session")
def make_model():
    return make_static_model


class FakeEncoder:
    """Counts what it is asked; a text's vector depends on the text alone."""

    def __init__(self, dimension=8, weights="fake"):
        from aspectrag.data.index import EncoderIdentity

        self.identity = EncoderIdentity("fake", weights)
        self.dimension = dimension
        self.calls = []

    def encode_queries(self, texts):
        return self._encode(texts)

    def encode_passages(self, texts):
        self.calls.append(list(texts))
        return self._encode(texts)

    def _encode(self, texts):
        import hashlib

        import numpy as np

        seeds = [int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "little") for text in texts]
        return np.array([np.random.default_rng(seed).normal(size=self.dimension) for seed in seeds], dtype=np.float32)


@pytest.fixture
def fake_encoder():
    return FakeEncoder


@pytest.fixture
def ids():
    """Ids of the passages of each result list."""
    return lambda found: [[passage.id for passage in each] for each in found]
