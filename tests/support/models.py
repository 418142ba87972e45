"""Tiny real models of sentence-transformers, made on the fly."""

import importlib


def word_tokenizer(texts):
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

    words = sorted({word for text in texts for word, _ in _pre_tokenizer().pre_tokenize_str(text.lower())})
    vocabulary = {token: i for i, token in enumerate(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *words])}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    return tokenizer


def _pre_tokenizer():
    from tokenizers import pre_tokenizers

    return pre_tokenizers.BertPreTokenizer()


def st_modules():
    """Releases 5 and 6 of sentence-transformers share this name, which type checkers do not see in 6."""
    return importlib.import_module("sentence_transformers.models")


def make_static_model(folder, texts, seed=0, dimension=24, prompts=None):
    """A bag-of-words sentence-transformers model: similar texts do get similar vectors."""
    import numpy as np
    from sentence_transformers import SentenceTransformer

    tokenizer = word_tokenizer(texts)
    weights = np.random.default_rng(seed).normal(size=(tokenizer.get_vocab_size(), dimension)).astype("float32")
    module = st_modules().StaticEmbedding(tokenizer, embedding_weights=weights)
    SentenceTransformer(modules=[module], device="cpu", prompts=prompts).save(str(folder), create_model_card=False)
    return folder
