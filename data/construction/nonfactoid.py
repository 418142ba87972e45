"""Which questions ask for more than a fact: what is left for a benchmark of non-factoid ones.

Source: Typed-RAG (arXiv 2503.15879), section 4.1: questions of factoid benchmarks are labelled by type, filtered
by their form and sampled by type. The published filter looks for letters (``how`` is found in *show*) and has a
misspelt pattern; this one is ours, and looks at words.
"""

import ast
from collections.abc import Mapping

from .words import tokens

# Labels that are no non-factoid question.
LEFT_OUT = frozenset({"NOT-A-QUESTION", "FACTOID"})
_LEAST_WORDS = 3
_NAMING = frozenset({"who", "whom", "whose", "when", "where", "which"})
_ASKING = _NAMING | {"what", "how", "why"}
# "Who should …", "where can …", "which is best": advice or an opinion, not a fact.
_ADVICE = frozenset({"should", "can", "could", "would", "shall", "must"})
_OPINION = frozenset({"best", "better", "worst", "worse", "greatest", "recommend", "recommended"})
# Yes or no, with reasons; other words that ask come later in it by the way.
_YES_NO = _ADVICE | {"is", "are", "was", "were", "do", "does", "did", "has", "have", "had", "will"}
# What "how …" counts or measures, and what "what …" has a name or a number for.
_HOW = """
many much old long far tall high big large deep wide often fast heavy few late early young rich hot cold
"""
_WHAT = """
year date day month century decade time age city town country county state province nation nationality continent name
surname nickname title number amount percentage percent population distance height length weight price team club band
group album song film movie book novel show series episode character actor actress singer author language currency
color colour letter word river mountain island street company network channel school university party award position
rank religion species genus type kind
"""
_MEASURES, _NAMED = frozenset(_HOW.split()), frozenset(_WHAT.split())
_LONGEST_LIST = 20_000


def asks_for_more(question: str, label: str) -> bool:
    """Whether a question may be non-factoid by its form, once a classifier has labelled it so.

    The first word that asks (*who*, *what*, *how*, …) decides, wherever it stands:

    - *who*, *whom*, *whose*, *when*, *where* and *which* ask for a name, a date or a place, unless advice is asked for
      (*where should I …*), or an opinion (*which is best*), or the label is COMPARISON;
    - *how many*, *how old* and their like ask for a number;
    - *what year*, *what city* and their like, one word in between allowed (*what French city*), ask for a fact;
    - everything else may pass: a question without such a word too, and one that begins as those do that are answered
      by yes or no.

    A question of one or two words is refused.

    Args:
        question: The question.
        label: Its type, as in NF-CATS.

    Example:
        >>> asks_for_more("Why does the show go on?", "REASON"), asks_for_more("How many shows are there?", "REASON")
        (True, False)
        >>> asks_for_more("The line was drawn for what reason?", "REASON"), asks_for_more("Hi there", "REASON")
        (True, False)
    """
    words = [word.casefold() for word in tokens(question)]
    if label in LEFT_OUT or len(words) < _LEAST_WORDS:
        return False
    place = next((place for place, word in enumerate(words) if word in _ASKING), None)
    if place is None or words[0] in _YES_NO:
        return True
    word, after = words[place], words[place + 1 : place + 3]
    if word in _NAMING:
        advice = word != "which" and bool(_ADVICE & set(after[:1]))
        return label == "COMPARISON" or advice or bool(_OPINION & set(words))
    if word == "how":
        return not _MEASURES & set(after[:1])
    return word != "what" or not _NAMED & set(after)


def as_text(answer: str) -> str:
    """An answer as text: some published ones are lists that were written out as code.

    Example:
        >>> as_text("['rain', 'hail']"), as_text("[sic]")
        ('rain, hail', '[sic]')
    """
    text = answer.strip()
    if not (text.startswith("[") and text.endswith("]")) or len(text) > _LONGEST_LIST:
        return text
    try:
        items = ast.literal_eval(text)  # reads literals only, and runs nothing
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return text
    return ", ".join(str(item).strip() for item in items) if items else text


def kept(questions: Mapping[str, str], labels: Mapping[str, str]) -> list[str]:
    """Ids of the questions that are non-factoid by label and by form, in their order.

    Args:
        questions: Texts by id.
        labels: Types by id; a question without one is left out.

    Example:
        >>> kept({"a": "Why is it so?", "b": "Who is it then?"}, {"a": "REASON", "b": "REASON"})
        ['a']
    """
    return [key for key, question in questions.items() if key in labels and asks_for_more(question, labels[key])]
