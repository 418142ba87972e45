"""The adapters of one base: loaded when they are asked for, switched in an instant, the longest unused let go."""

from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ...errors import AspectragError
from .bases import Base, first_line
from .card import Card, refuse_other_base
from .extras import needed, quiet_loading
from .names import LocalName, find


class Adapters:
    """The adapters around a base; for one caller at a time.

    Args:
        base: An open one; its model gets the layers of the adapters put in.
        kept: How many adapters stay in memory.
    """

    def __init__(self, base: Base, kept: int = 16) -> None:
        self._base, self._kept = base, kept
        self._model: Any = None  # peft's, around the base, once there is an adapter
        self._names: OrderedDict[str, str] = OrderedDict()
        self._loaded = 0

    def __iter__(self) -> Iterator[str]:
        """Model strings of those in memory, the last used at the end."""
        return iter(self._names)

    @contextmanager
    def using(self, name: LocalName) -> Iterator[Any]:
        """The model with an adapter at work, or with none.

        Raises:
            AspectragError: The adapter cannot be opened, or belongs to another base.
        """
        if name.folder is not None and name.card is not None:
            self._switch(str(name), name.folder, name.card)
            yield self._model
        elif self._model is None:
            yield self._base.model
        else:
            with self._model.disable_adapter():
                yield self._model

    def _switch(self, key: str, folder: Path, card: Card) -> None:
        if key not in self._names:
            refuse_other_base(card, self._base.info, folder)
            find(key)  # it may have been trained again since it was named
            self._names[key] = self._load(folder)
        self._names.move_to_end(key)
        if self._model.active_adapter != self._names[key]:  # it walks over all modules, each time
            self._model.set_adapter(self._names[key])
        if len(self._names) > self._kept:
            _, oldest = self._names.popitem(last=False)
            self._model.delete_adapter(oldest)

    def _load(self, folder: Path) -> str:
        peft = needed("peft")
        self._loaded += 1
        name = f"adapter{self._loaded}"
        try:
            with quiet_loading():
                if self._model is None:
                    self._model = peft.PeftModel.from_pretrained(self._base.model, str(folder), adapter_name=name)
                else:
                    self._model.load_adapter(str(folder), adapter_name=name)
        except Exception as error:  # of peft, of torch, and of safetensors, which has a kind of its own
            raise AspectragError(
                f"the adapter in {folder} cannot be opened ({first_line(error)}): copy it again, or train it again"
            ) from error
        self._model.eval()
        return name
