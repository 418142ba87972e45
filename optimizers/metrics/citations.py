"""Citations: whether the passages that an answer cites bear out what it says, as a language model judges it."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

import dspy

from ...data.passages import Passage
from ...data.sentences import sentence_spans
from ...programs.blocks.citations import citations, unmarked
from ...programs.blocks.concurrent import run_all
from ...programs.blocks.stage import StageError
from ...signatures.answering import NumberedPassage
from ...signatures.evaluating import JudgeCitation
from ...texts import encodable
from .judge import Judged, ask
from .metric import Metric
from .rouge import rouge_tokens

_BRACKETS = re.compile(r"(\[[^\[\]]*\])")
_JUDGE = dspy.Predict(JudgeCitation)


@dataclass(frozen=True)
class CitingSentence:
    """A sentence without its citations, and the numbers of the passages that it cites."""

    text: str
    numbers: tuple[int, ...]


def citing_sentences(answer: str, passages: Sequence[Passage]) -> list[CitingSentence]:
    """Cut an answer into sentences; a citation belongs to the sentence before it, or that it stands in.

    Numbers that point to no passage cite nothing; what has no word is no sentence.

    Example:
        >>> passages = [Passage("a", "A", "x"), Passage("b", "B", "y")]
        >>> for sentence in citing_sentences("It is long. [1] It is deep [2][1]. So they say.", passages):
        ...     print(sentence.text, sentence.numbers)
        It is long. (1,)
        It is deep. (2, 1)
        So they say. ()
    """
    bare, marks = "", []
    for piece in _BRACKETS.split(encodable(answer)):
        if piece.startswith("[") and not unmarked(piece):
            bare = bare.rstrip()
            # One at the very beginning belongs to what comes after it.
            marks += [(max(len(bare), 1), citation.number) for citation in citations(piece, passages)]
        else:
            bare += piece
    return [
        CitingSentence(text, tuple(dict.fromkeys(number for place, number in marks if start < place <= end)))
        for start, end in sentence_spans(bare)
        if rouge_tokens(text := bare[start:end].strip())
    ]


def citation_scores(example: dspy.Example, prediction: dspy.Prediction) -> Judged:
    """How far citations hold, and how much of the answer they hold up.

    Source: ALCE (Gao et al., EMNLP 2023), section 3, read more simply. Recall is the share of the sentences that are
    fully supported by all passages they cite, taken together; one that cites nothing is not. Precision is the share of
    the citations (a sentence and one passage) of which that passage alone supports the sentence, fully or in part;
    ALCE also wants the sentence supported as a whole, and the passage needed for it. An answer that cites nothing has
    0 of both. A language model takes the place of ALCE's inference model.

    One call for each sentence that cites, and one for each of its passages where it cites several; none where nothing
    is cited.

    Returns:
        ``citation_precision`` and ``citation_recall``, over what the judge gave a verdict on, and absent where it gave
        none; ``citations_failed``, the share of its calls that gave none; in ``detail`` the verdict of each call.
    """
    passages = prediction.get("passages") or ()
    sentences = citing_sentences(prediction.get("answer") or "", passages)
    pairs = [(sentence.text, (number,)) for sentence in sentences for number in sentence.numbers]
    wholes = [(sentence.text, sentence.numbers) for sentence in sentences if sentence.numbers]

    def support(asked: tuple[str, tuple[int, ...]]) -> dict[str, Any]:
        text, numbers = asked
        cited = [passages[number - 1] for number in numbers]
        shown = [NumberedPassage(number=place, title=p.title, text=p.text) for place, p in enumerate(cited, 1)]
        given = {"question": example.question, "passages": shown, "sentence": text}
        told = {"sentence": text, "passages": [passage.id for passage in cited], "verdict": None, "failure": None}
        try:
            return told | {"verdict": ask(_JUDGE, lambda out: out.support, **given)}
        except StageError as error:
            return told | {"failure": error.reason}

    distinct = list(dict.fromkeys([*wholes, *pairs]))
    detail = run_all(support, distinct, "citation")
    verdicts = {asked: each["verdict"] for asked, each in zip(distinct, detail, strict=True)}
    held = [verdicts[pair] != "no support" for pair in pairs if verdicts[pair]]
    full = [verdicts[whole] == "fully supported" for whole in wholes if verdicts[whole]]
    full += [False] * (len(sentences) - len(wholes))
    columns = {
        "citation_precision": fmean(held) if held else None if pairs else 0.0,
        "citation_recall": fmean(full) if full else None if wholes else 0.0,
        "citations_failed": sum(not verdict for verdict in verdicts.values()) / max(len(verdicts), 1),
    }
    return Judged(columns, detail)


METRIC = Metric(
    "citations",
    "whether the passages cited support what is said (precision), and all that is said (recall)",
    citation_scores,
    judged=True,
    gives=("citation_precision", "citation_recall", "citations_failed"),
)
