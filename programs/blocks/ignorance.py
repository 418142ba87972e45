"""Answers that say that there is none."""

import re

from .citations import unmarked

# Longer texts say something besides, and a phrase in them is part of it. Ideographs and kana count as words.
_MOST_WORDS, _MOST_CHARACTERS = 25, 400
_WORD = re.compile(r"[\u3040-\u30ff\u4e00-\u9fff]|[^\s\u3040-\u30ff\u4e00-\u9fff]+")
_GIVEN = r"(?:known|available|specified|mentioned|provided|given|stated|found)"
_TEXTS = r"(?:passages?|contexts?|documents?|texts?)"
_IGNORANCE = re.compile(
    r"\b(?:i|we) (?:do not|don['’]t|cannot|can['’]t) (?:know|answer|determine|say|tell|have enough)\b"
    rf"|^(?:unknown|(?:it is |it's )?not {_GIVEN}|n/a|no answer|none)$"
    rf"|(?:^|\bis |\bare |\bwas |\bwere )not {_GIVEN} (?:in|by|from)\b"
    r"|\b(?:there is|there's|has|have|contains?|gives?) no (?:\w+ )?(?:information|mention|answer)\b"
    r"|^no (?:relevant |such |specific )?(?:information|mention)\b"
    r"|\b(?:not enough|insufficient) information\b"
    r"|\b(?:cannot|can['’]t|could not) be (?:determined|answered|found)\b"
    rf"|\b{_TEXTS} (?:do not|does not|don['’]t|doesn['’]t) (?:say|mention|contain|provide|specify|state|give)"
    r"|^(?:抱歉|对不起|對不起)?[,，]?我?(?:不知道|无法确定|無法確定|无法回答|無法回答)(?:这个问题|這個問題)?的?(?:答案)?$"
    r"|(?:没有提到|没有提及|未提及|沒有提到)|(?:分かりません|わかりません|不明です)$"
    r"|\bweiß (?:es |ich )?(?:es )?nicht$|\bje ne sais pas$",
    re.IGNORECASE,
)
_AROUND = " \t\n.!?。！？\"'“”„«»*_`"


def is_unknown(answer: str) -> bool:
    """Whether the whole of an answer, its citations aside, is that the model does not know.

    A list of the phrases in which models say so: good enough to flag an answer, or to look up what a model that was to
    answer from memory does not know, and never used to change a text.

    Example:
        >>> is_unknown("I don't know."), is_unknown("**Unknown** [1]"), is_unknown("The Unknown Soldier")
        (True, True, False)
    """
    said = unmarked(answer[:_MOST_CHARACTERS]).strip(_AROUND)
    return len(answer) < _MOST_CHARACTERS and len(_WORD.findall(said)) <= _MOST_WORDS and bool(_IGNORANCE.search(said))
