"""Answers that say that there is none."""

import re

# Longer texts say something besides, and a phrase in them is part of it.
_MOST_WORDS = 25
_IGNORANCE = re.compile(
    r"\b(?:(?:i|we) (?:do not|don['’]t|cannot|can['’]t) (?:know|answer|determine|say|tell)"
    r"|^(?:unknown|not (?:known|available|specified|mentioned|provided|given|stated|found)|n/a|no answer|none)\W*$"
    r"|(?:is|are|was|were) not (?:known|available|specified|mentioned|provided|given|stated) (?:in|by|from)\b"
    r"|no (?:relevant |such |specific )?(?:information|mention|answer) "
    r"|(?:not enough|insufficient) information"
    r"|(?:cannot|can['’]t|could not) be (?:determined|answered|found)"
    r"|(?:passages?|context|documents?|text) (?:do|does) not (?:say|mention|contain|provide|specify|state|give))"
    r"|不知道|无法确定|無法確定|没有提(?:到|及)|未提及|分かりません|わかりません|不明です"
    r"|weiß (?:es |ich )?nicht|je ne sais pas",
    re.IGNORECASE,
)


def is_unknown(answer: str) -> bool:
    """Whether the whole of an answer is that the model does not know.

    A list of the phrases in which models say so, so it is used to flag an answer and never to change one.

    Example:
        >>> is_unknown("I don't know."), is_unknown("Unknown"), is_unknown("The Unknown Soldier")
        (True, True, False)
    """
    return len(answer.split()) <= _MOST_WORDS and _IGNORANCE.search(answer.strip()) is not None
