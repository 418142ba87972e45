"""The names of local models: ``local/NAME``, and ``local/NAME@HASH``, which changes whenever what it answers may."""

import hashlib
import json
import re
from dataclasses import dataclass
from pathlib import Path

from ...errors import AspectragError
from .bases import sha256_of
from .card import Card, read_card
from .slots import compact
from .weights import weights_sha256

PREFIX = "local/"
_DIGITS = 8
_WITH_HASH = re.compile(rf"(?P<name>.+)@(?P<digits>[0-9a-f]{{{_DIGITS}}})")
_CONFIG, WEIGHTS = "adapter_config.json", "adapter_model.safetensors"
# Where the adapters of the package lie, in a folder for each set: programs/compiled/SET/ADAPTER is local/SET:ADAPTER,
# which names it alike on every machine.
SHIPPED = Path(__file__).parents[2] / "programs" / "compiled"


@dataclass(frozen=True)
class LocalName:
    """What a name means.

    Attributes:
        name: As it was given, without prefix and hash.
        digits: The beginning of the hash.
        base: Name of the base.
        weights: The beginning of the hash of its weights.
        folder: Of the adapter; None for a base alone.
        card: Of the adapter; None for a base alone.
    """

    name: str
    digits: str
    base: str
    weights: str
    folder: Path | None = None
    card: Card | None = None

    def __str__(self) -> str:
        """The model string."""
        return f"{PREFIX}{self.name}@{self.digits}"


def find(model: str) -> LocalName:
    """What a name stands for: an adapter with its base, or a base alone.

    Args:
        model: A folder, a name on the hub, ``smollm2``, or ``SET:ADAPTER`` for one of the package; before it may stand
            ``local/``, behind it ``@HASH``.

    Raises:
        AspectragError: There is no such model, or its hash is another.
    """
    name = model.removeprefix(PREFIX).rstrip("/")
    given = None if Path(name).expanduser().is_dir() else _WITH_HASH.fullmatch(name)  # a folder may end so itself
    if given:
        name = given["name"]
    folder = _shipped(name) or Path(name).expanduser()
    found = _adapter(name, folder) if (folder / _CONFIG).is_file() else _base(name)
    if given and given["digits"] != found.digits:
        raise AspectragError(
            f"{name} is not what it was: its hash is {found.digits}, not {given['digits']}; "
            f"name it {found}, or put back the weights that it had"
        )
    return found


def model_string(name: str | Path) -> str:
    """The name of a local model with its hash, as DSPy's cache is to know it.

    Raises:
        AspectragError: There is no such model.
    """
    return str(find(str(name)))


def base_of(model: str) -> str:
    """The name of the base of a local model.

    Raises:
        AspectragError: There is no such model.
    """
    return find(model).base


def adapters(collection: str) -> dict[str, str]:
    """Adapters that belong together: what ``load`` takes, by what each was taught.

    Args:
        collection: A set of the package, such as ``revelator``, or a folder with a folder for each adapter, as
            ``aspectrag train revelator`` makes it.

    Raises:
        AspectragError: There is no such folder, or it holds no adapter.

    Example:
        >>> adapters("runs/revelator")  # doctest: +SKIP
        {'router': 'local/runs/revelator/router'}
    """
    shipped = collection == Path(collection).name and (SHIPPED / collection).is_dir()
    folder = SHIPPED / collection if shipped else Path(collection).expanduser()
    found = sorted(path.parent.name for path in folder.glob(f"*/{_CONFIG}"))
    if not found and (folder / _CONFIG).is_file():
        raise AspectragError(f"{collection} is a single adapter: give the folder that it lies in")
    if not found:
        raise AspectragError(f"{collection} holds no adapters: give a folder that 'aspectrag train revelator' made")
    return {name: PREFIX + (f"{collection}:{name}" if shipped else str(folder / name)) for name in found}


def _shipped(name: str) -> Path | None:
    collection, _, adapter = name.partition(":")
    folder = SHIPPED / collection / adapter
    return folder if adapter and (folder / _CONFIG).is_file() else None


def _adapter(name: str, folder: Path) -> LocalName:
    card = read_card(folder)
    weights = folder / WEIGHTS
    if not weights.is_file():
        raise AspectragError(f"{folder} has no {WEIGHTS}: the adapter is not finished, or not whole")
    try:
        config = json.loads((folder / _CONFIG).read_text(encoding="utf-8"))
        if not isinstance(config, dict):
            raise ValueError("it holds no settings")
    except (OSError, ValueError) as error:
        raise AspectragError(f"{folder / _CONFIG} cannot be read ({error}): copy the adapter again") from error
    # The base is known by its weights; peft writes down where they lay.
    config.pop("base_model_name_or_path", None)
    known = [weights_sha256([weights]), card.base["sha256"], card.prompt, dict(card.thresholds), _sorted(config)]
    digits = hashlib.sha256(compact(known).encode()).hexdigest()[:_DIGITS]
    return LocalName(name, digits, card.base["name"], card.base["sha256"][:_DIGITS], folder, card)


def _base(name: str) -> LocalName:
    digits = sha256_of(name)[:_DIGITS]
    return LocalName(name, digits, name, digits)


def _sorted(config: dict[str, object]) -> dict[str, object]:
    return {key: sorted(value, key=str) if isinstance(value, list) else value for key, value in sorted(config.items())}
