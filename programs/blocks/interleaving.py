"""Interleaved retrieval and reasoning: each thought of a chain is what the next passages are searched with.

Source: IRCoT (Trivedi et al., ACL 2023), section 3. The paper ends its chain where a sentence holds "answer is"; here
the model says so in a field of its own.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import dspy

from ...data.index.retriever import Retriever
from ...data.passages import Passage
from .answering import SubQuestion
from .citations import unmarked
from .fallbacks import fall_back
from .parts import at_least
from .passages import fit, merge, numbered, retrieve
from .stage import StageError, call_stage, lm_of

# What ends a loop. ``verdict``: enough is held to be found; ``repetition``: the same was asked or thought again;
# ``failure``: a stage of the loop gave nothing usable.
Stop = Literal["verdict", "max_steps", "repetition", "failure"]


@dataclass(frozen=True)
class Chain:
    """A chain of thought, and the passages it gathered.

    Attributes:
        links: Each thought as the answer to the query that its newest passages were found with.
        passages: What was gathered, first come first.
        steps: How often it retrieved and thought.
        stopped_by: What ended it.
    """

    links: Sequence[SubQuestion]
    passages: Sequence[Passage]
    steps: int
    stopped_by: Stop


def interleave(
    retriever: Retriever,
    think: dspy.Predict,
    attempts: int,
    question: str,
    *,
    k: int,
    max_passages: int,
    max_steps: int,
) -> Chain:
    """Retrieve with the question, think, retrieve with the thought, and so on until a thought gives the answer.

    Args:
        retriever: Where passages come from.
        think: Predictor that writes the next ``thought`` and whether it is the last; its stage is named ``think``.
        attempts: Calls of a thought before the chain ends for want of one.
        question: What is asked.
        k: Passages per retrieval.
        max_passages: Most passages gathered; those found first stay.
        max_steps: Most thoughts.
    """
    links: list[SubQuestion] = []
    gathered: list[Passage] = []
    query = question

    def accept(out: dspy.Prediction) -> tuple[str, bool]:
        # Numbers in a thought mean the passages of that step; they are no words to search with.
        (thought,) = at_least(1, [unmarked(out.thought)], "thoughts")
        return thought, bool(out.answered)

    for step in range(1, max_steps + 1):
        (found,) = retrieve(retriever, [query], k)
        gathered = merge([gathered, found])[:max_passages]
        thoughts = [link.answer for link in links]
        shown = fit(gathered, " ".join([question, *thoughts]), lm_of("think", think))
        try:
            given = {"passages": numbered(shown), "question": question, "thoughts": thoughts}
            thought, answered = call_stage("think", think, accept, attempts, **given)
        except StageError as failed:
            fall_back("think", f"{failed.reason}; answered from what was found")
            return Chain(links, gathered, step, "failure")
        if thought.casefold() in map(str.casefold, thoughts):
            fall_back("think", f"the same thought again ({thought}); answered from what was found")
            return Chain(links, gathered, step, "repetition")
        links.append(SubQuestion(query, thought, tuple(found)))
        if answered:
            return Chain(links, gathered, step, "verdict")
        query = thought
    fall_back("think", f"no end after {max_steps} thoughts; answered from what was found")
    return Chain(links, gathered, max_steps, "max_steps")
