"""What a program learns from, is chosen by, and is measured on."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import dspy

from ..evaluation.folder import dumped
from .checks import typed


@dataclass(frozen=True)
class Examples:
    """What a program learns from.

    Attributes:
        train: To learn from.
        val: To choose by.
        test: To measure on; no optimizer sees them.

    Example:
        >>> asked = [dspy.Example(question=f"Why {n}?", type="REASON").with_inputs("question") for n in range(3)]
        >>> examples = Examples(asked[:1], asked[1:2], asked[2:])
        >>> len(examples.train), examples.test[0].question
        (1, 'Why 2?')
    """

    train: Sequence[dspy.Example]
    val: Sequence[dspy.Example]
    test: Sequence[dspy.Example]

    @property
    def sizes(self) -> dict[str, int]:
        """How many of each."""
        return {name: len(part) for name, part in vars(self).items()}

    @property
    def digest(self) -> str:
        """SHA-256 of all of them."""
        sha = hashlib.sha256()
        for name, part in vars(self).items():
            for example in part:
                sha.update(f"{name} {dumped(example.toDict())}\n".encode("utf-8", "surrogatepass"))
        return sha.hexdigest()

    def typed(self, signature: type[dspy.Signature]) -> "Examples":
        """With the values in the types of a signature."""
        return Examples(*([typed(example, signature) for example in part] for part in vars(self).values()))
