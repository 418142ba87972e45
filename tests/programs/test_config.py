"""Settings refuse what they cannot mean, by name."""

import dataclasses
import re
from dataclasses import dataclass
from typing import Any, Literal, get_args, get_origin, get_type_hints

import numpy as np
import pytest
from aspectrag.errors import AspectragError
from aspectrag.programs.config import AnswerConfig, Config
from aspectrag.programs.registry import METHODS

CONFIGS = sorted({program.config_class for program in METHODS.values()} | {Config, AnswerConfig}, key=str)
FIELDS = [(config, name, kind) for config in CONFIGS for name, kind in get_type_hints(config).items()]
# For each kind of setting what it never takes; a bool is no number, and a number no bool.
REFUSED: dict[Any, tuple[Any, ...]] = {int: (0, -1, 1.0, True, "6", None), bool: (1, 0, "yes", None)}


@dataclass(frozen=True)
class Switches(AnswerConfig):
    kind: Literal["a", "b"] = "a"
    on: bool = True


@dataclass(frozen=True)
class Narrowed(Switches):
    kind: Literal["b"] = "b"  # pyright: ignore[reportIncompatibleVariableOverride] - frozen


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"k": 0}, "k must be a whole number of at least 1, not 0"),
        ({"k": True}, "k must be a whole number of at least 1, not True"),
        ({"k": "5"}, "k must be a whole number of at least 1, not '5'"),
        ({"k": np.int64(5)}, "k must be a whole number of at least 1, not np.int64(5)"),  # JSON would not have it
        ({"max_attempts": 1.5}, "max_attempts must be a whole number of at least 1, not 1.5"),
        ({"answers": "long"}, "answers must be full or brief, not 'long'"),
        ({"kind": "c"}, "kind must be a or b, not 'c'"),
        ({"kind": "A"}, "kind must be a or b, not 'A'"),
        ({"kind": ["a"]}, "kind must be a or b, not ['a']"),
        ({"kind": None}, "kind must be a or b, not None"),
        ({"on": 1}, "on must be true or false, not 1"),
        ({"on": "true"}, "on must be true or false, not 'true'"),
    ],
)
def test_wrong_values_are_named(given, message):
    with pytest.raises(AspectragError, match=f"^{re.escape(message)}$"):
        Switches(**given)


@pytest.mark.parametrize(
    "given",
    [{}, {"k": 1}, {"k": 10**9, "max_attempts": 1}, {"answers": "brief"}, {"kind": "b", "on": False}],
)
def test_right_values_are_kept(given):
    assert dataclasses.asdict(Switches(**given)) == {**dataclasses.asdict(Switches()), **given}


def test_a_subclass_may_narrow_what_it_inherits():
    bad: Any = "a"
    assert Narrowed().kind == "b"
    with pytest.raises(AspectragError, match="kind must be b, not 'a'"):
        Narrowed(kind=bad)


def test_settings_are_frozen_and_a_changed_copy_is_checked_too():
    config: Any = Switches()
    with pytest.raises(dataclasses.FrozenInstanceError):
        config.k = 7
    assert dataclasses.replace(config, k=7).k == 7
    with pytest.raises(AspectragError, match="k must be"):
        dataclasses.replace(config, k=0)


@pytest.mark.parametrize("config", CONFIGS, ids=lambda config: config.__name__)
def test_the_defaults_of_every_program_pass_their_own_check(config):
    assert config() == config()


@pytest.mark.parametrize(("config", "name", "kind"), FIELDS, ids=[f"{c.__name__}.{name}" for c, name, _ in FIELDS])
def test_every_setting_of_every_program_is_checked(config, name, kind):
    # A kind that nothing checks would need a rule of its own first.
    assert kind in REFUSED or get_origin(kind) is Literal
    for value in REFUSED.get(kind, ("", "other", None, list(get_args(kind)))):
        with pytest.raises(AspectragError, match=f"^{name} must be"):
            config(**{name: value})
