"""What programs can be told: frozen settings, saved beside a program's state."""

import dataclasses
from typing import Any, Literal, get_args, get_origin, get_type_hints

from ..errors import AspectragError


@dataclasses.dataclass(frozen=True)
class Config:
    """What all programs can be told.

    Attributes:
        k: Passages per query.
        max_attempts: Calls of a stage before its simpler path is taken.

    Raises:
        AspectragError: A number is below 1, or a value is none of those its type allows.

    Example:
        >>> Config(k=3)
        Config(k=3, max_attempts=3)
    """

    k: int = 5
    max_attempts: int = 3

    def __post_init__(self) -> None:
        for name, kind in get_type_hints(type(self)).items():
            _check(name, kind, getattr(self, name))


@dataclasses.dataclass(frozen=True)
class AnswerConfig(Config):
    """Settings of programs whose answers may be whole sentences or as short as can be.

    Attributes:
        answers: ``full`` for someone who reads them, ``brief`` (a name, a date, yes or no) for metrics that compare
            them with such, as the published systems do.

    Example:
        >>> AnswerConfig(answers="brief").answers
        'brief'
    """

    answers: Literal["full", "brief"] = "full"


def _check(name: str, kind: Any, value: Any) -> None:
    if kind is int and (type(value) is not int or value < 1):
        raise AspectragError(f"{name} must be a whole number of at least 1, not {value!r}")
    if kind is bool and type(value) is not bool:
        raise AspectragError(f"{name} must be true or false, not {value!r}")
    if get_origin(kind) is Literal and value not in get_args(kind):
        raise AspectragError(f"{name} must be {' or '.join(map(str, get_args(kind)))}, not {value!r}")
