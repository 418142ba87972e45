"""Grammars of JSON schemas: which tokens may come next, so that what a local model writes is true to its schema."""

from collections.abc import Mapping
from typing import Any

from .extras import needed
from .slots import compact

# Compact, as it is learnt: no room for anything between values.
_COMPACT = {"whitespace_flexible": False, "item_separator": ",", "key_separator": ":"}


class SchemaError(Exception):
    """No grammar can be made of a schema."""


class Grammars:
    """Makes matchers for one tokenizer; each schema is compiled once.

    Args:
        tokenizer: Of transformers.
        vocabulary: How many tokens the model gives a score to.
    """

    def __init__(self, tokenizer: Any, vocabulary: int) -> None:
        self._guide = needed("llguidance")
        self._tokens = needed("llguidance.hf").from_tokenizer(tokenizer, n_vocab=vocabulary)
        self._known: dict[str, Any] = {}

    def matcher(self, schema: Mapping[str, Any]) -> Any:
        """A matcher at the beginning of a value.

        Raises:
            SchemaError: The schema says something that cannot be kept to.
        """
        text = compact(schema)
        if text not in self._known:
            matcher = self._guide.LLMatcher
            made = matcher(self._tokens, matcher.grammar_from_json_schema(text, overrides=_COMPACT), log_level=0)
            if made.is_error():
                raise SchemaError(made.get_error().strip().splitlines()[0])
            self._known[text] = made
        return self._known[text].deep_copy()
