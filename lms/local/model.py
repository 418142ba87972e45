"""A small model in this process: one base, whose adapters are switched without loading it again."""

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import torch

from ...errors import AspectragError
from . import smollm2
from .adapters import Adapters, BrokenError
from .bases import Base, config_of, open_base, tokenizer_of
from .grammar import Grammars
from .likelihood import Tokens, likelihoods, padded, parts
from .names import LocalName
from .writing import Draw, Writer, Written

_WINDOW = "max_position_embeddings"


class LocalModel:
    """A base with its adapters; callers in several threads wait for each other.

    Args:
        base: See :func:`.bases.open_base`.
        device: Of torch; by default a GPU where there is one.
        kept: How many adapters stay in memory.
    """

    def __init__(self, base: str, device: str = "auto", kept: int = 16) -> None:
        """Nothing is loaded until the first use."""
        self._name, self._device, self._kept = base, device, kept
        self._lock = threading.RLock()
        # Of what is known without the base: who asks for that does not wait until others are answered.
        self._known = threading.Lock()
        self._tokenizer: Any = None
        self._window: int | None = None
        self._base: Base | None = None
        self._adapters: Adapters | None = None
        self._grammars: Grammars | None = None

    @property
    def tokenizer(self) -> Any:
        """Of the base, which need not be loaded for it.

        Raises:
            AspectragError: The base cannot be had.
        """
        with self._known:
            if self._tokenizer is None:
                self._tokenizer = tokenizer_of(self._name)
            return self._tokenizer

    @property
    def window(self) -> int | None:
        """Most tokens of prompt and answer together, where the base says so.

        Raises:
            AspectragError: The base cannot be had.
        """
        with self._known:
            if self._window is None:
                # Asked before anything else: what is known must not have the base converted for it.
                known = self._name == smollm2.NAME
                self._window = smollm2.WINDOW if known else getattr(config_of(self._name), _WINDOW, None)
            return self._window

    @property
    def adapters(self) -> list[str]:
        """Model strings of the adapters in memory, the last used at the end."""
        return list(self._adapters or ())

    def load(self) -> None:
        """Load the base now; nothing where it is there.

        Raises:
            AspectragError: It cannot be had.
        """
        with self._lock:
            self._opened()

    @torch.inference_mode()
    def choose(self, adapter: LocalName, prompts: Sequence[Tokens], options: Sequence[Tokens]) -> list[list[float]]:
        """How likely each label is, for each prompt.

        Args:
            adapter: The adapter, or the base alone.
            prompts: Tokens up to where the label begins.
            options: Tokens of each label.

        Returns:
            Probabilities of the labels, which add up to 1, for each prompt.

        Raises:
            AspectragError: The base or the adapter cannot be had, or do not belong together.
        """
        with self._using(adapter) as model:
            return likelihoods(model, self._padding, prompts, options).tolist()

    @torch.inference_mode()
    def write(
        self,
        adapter: LocalName,
        prompts: Sequence[Tokens],
        draws: Sequence[Draw],
        schema: Mapping[str, Any] | None = None,
        wanted: Callable[[], bool] = lambda: True,
    ) -> list[Written]:
        """Write a value for each prompt, or a text.

        Args:
            adapter: The adapter, or the base alone.
            prompts: Tokens up to where the value begins.
            draws: How each is drawn.
            schema: Of the value, which is written as compact JSON; None for free text, up to the token that ends it.
            wanted: Asked at each token: whether to go on.

        Raises:
            AspectragError: The base or the adapter cannot be had, or do not belong together.
            SchemaError: The schema says something that cannot be kept to.
        """
        from transformers import GenerationConfig

        with self._using(adapter) as model:
            values = [Written(draw, None if schema is None else self._matcher(schema)) for draw in draws]
            limit = max(draw.limit for draw in draws)
            how = GenerationConfig(
                do_sample=False, max_new_tokens=limit, pad_token_id=self._padding, eos_token_id=self._ends
            )
            for part in parts(len(prompts), max(map(len, prompts)) + limit):
                writer = Writer(values[part], self._ends, wanted)
                ids, mask = padded(prompts[part], self._padding, model.device)
                model.generate(
                    input_ids=ids, attention_mask=mask, generation_config=how, logits_processor=[writer.process],
                    stopping_criteria=[writer.stop],
                )  # fmt: skip
        return values

    @contextmanager
    def _using(self, adapter: LocalName) -> Iterator[Any]:
        with self._lock:
            try:
                with self._opened().using(adapter) as model:
                    yield model
            except BrokenError:
                self._adapters = self._base = None  # to be opened again, as it was before
                raise

    def _opened(self) -> Adapters:
        if self._adapters is None:
            self._base = open_base(self._name, self._device)
            # What the makers recommend for chats (penalties, temperatures) is not asked for here.
            self._base.model.generation_config = type(self._base.model.generation_config)()
            self._adapters = Adapters(self._base, self._kept)
        return self._adapters

    @property
    def _ends(self) -> list[int]:
        assert self._base is not None
        stated = self._base.model.config.get_text_config().eos_token_id
        ends = {self.tokenizer.eos_token_id, *(stated if isinstance(stated, list) else [stated])} - {None}
        if not ends:
            raise AspectragError(f"{self._name} has no token that ends a text: take another base")
        return sorted(ends)

    @property
    def _padding(self) -> int:
        return self.tokenizer.pad_token_id if self.tokenizer.pad_token_id is not None else self._ends[0]

    def _matcher(self, schema: Mapping[str, Any]) -> Any:
        assert self._base is not None
        if self._grammars is None:
            scored = self._base.model.get_output_embeddings().weight.shape[0]
            self._grammars = Grammars(self.tokenizer, scored)
        return self._grammars.matcher(schema)
