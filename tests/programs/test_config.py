"""Settings refuse what they cannot mean, by name."""

from dataclasses import dataclass
from typing import Literal

import pytest
from aspectrag.errors import AspectragError
from aspectrag.programs.config import Config
from aspectrag.programs.registry import METHODS


@dataclass(frozen=True)
class Switches(Config):
    kind: Literal["a", "b"] = "a"
    on: bool = True


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"k": 0}, "k must be a whole number of at least 1, not 0"),
        ({"k": True}, "k must be a whole number"),
        ({"k": "5"}, "k must be a whole number of at least 1, not '5'"),
        ({"max_attempts": 1.5}, "max_attempts must be a whole number"),
        ({"kind": "c"}, "kind must be a or b, not 'c'"),
        ({"kind": ["a"]}, "kind must be a or b"),
        ({"on": 1}, "on must be true or false, not 1"),
    ],
)
def test_wrong_values_are_named(given, words):
    with pytest.raises(AspectragError, match=words):
        Switches(**given)


@pytest.mark.parametrize("name", METHODS)
def test_every_program_checks_its_settings(name):
    with pytest.raises(AspectragError, match="k must be"):
        METHODS[name].config_class(k=0)
