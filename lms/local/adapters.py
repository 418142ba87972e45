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
from .names import WEIGHTS, LocalName, find


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
            AspectragError: The adapter cannot be opened, or belongs to another base; or the base was replaced.
            BrokenError: The same, and what is in memory must not be used any more.
        """
        if name.folder is not None and name.card is not None:
            self._switch(str(name), name.folder, name.card)
            yield self._model
            return
        if not self._base.info["sha256"].startswith(name.weights):
            raise AspectragError(f"{name.name} was replaced since it was named: name it again")
        if self._model is None:
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
        weights = _weights_of(folder)
        self._loaded += 1
        name = f"adapter{self._loaded}"
        try:
            with quiet_loading():
                if self._model is None:
                    self._model = peft.PeftModel.from_pretrained(self._base.model, str(folder), adapter_name=name)
                else:
                    self._model.load_adapter(str(folder), adapter_name=name)
                # Told not to look for embeddings, it does not look for the base on the hub either.
                known = peft.get_peft_model_state_dict(self._model, adapter_name=name, save_embedding_layers=False)
        except Exception as error:  # of peft and of torch, of many kinds
            raise BrokenError(_unusable(folder, first_line(error))) from error
        # peft takes what fits, and leaves the rest as chance has it.
        if other := weights ^ known.keys():
            raise BrokenError(_unusable(folder, f"weights are missing, or others there, such as {min(other)}"))
        self._model.eval()
        return name


class BrokenError(AspectragError):
    """An adapter could not be opened, and its base may have been changed by the attempt."""


def _weights_of(folder: Path) -> set[str]:
    """The names of an adapter's weights.

    Raises:
        AspectragError: They cannot be read, or are no numbers.
    """
    from safetensors.torch import load_file

    try:
        found = load_file(folder / WEIGHTS)
    except Exception as error:  # of safetensors, which has a kind of its own
        raise AspectragError(_unusable(folder, first_line(error))) from error
    if not all(bool(each.isfinite().all()) for each in found.values()):
        raise AspectragError(_unusable(folder, "some of its weights are no numbers"))
    return set(found)


def _unusable(folder: Path, reason: str) -> str:
    return f"the adapter in {folder} cannot be opened ({reason}): copy it again, or train it again"
