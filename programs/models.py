"""Language models that were set on the stages of a program: which can be saved with it, and how they come back."""

from typing import Any

import dspy
from dspy.clients.base_lm import LM_CLASS_STATE_KEY

from ..errors import AspectragError

# Those of ``lms.load``, which make themselves again out of their names alone; others are not imported at a file's word.
_NAMED = f"{__name__.partition('.')[0]}.lms.named.NamedLM"
_LOADED = (_NAMED, "dspy.clients.lm.LM")


def load_lm(state: dict[str, Any]) -> dspy.BaseLM:
    """A language model out of its saved state: one of ours, or DSPy's own.

    Raises:
        AspectragError: There is no such model here, or its server is not known.
        ValueError: It is of another class, or the state is damaged.
    """
    # Through a predictor, as DSPy leaves out addresses, and says so, there alone.
    asked: Any = dspy.Predict("question -> answer")
    ours = state.get(LM_CLASS_STATE_KEY) == _NAMED
    return asked.load_state({**asked.dump_state(), "lm": state}, allow_unsafe_lm_state=ours).lm


def check_lms(program: dspy.Module) -> None:
    """Refuse language models that :func:`load_lm` could not make again.

    Raises:
        AspectragError: A stage of the program has one.
    """
    for stage, predictor in program.named_predictors():
        lm: Any = predictor.lm
        if lm is not None and not _can_be_loaded(lm):
            raise AspectragError(
                f"the language model of {stage} ({type(lm).__name__}) cannot be saved with the program: set it to "
                f"None, and again after loading; those of aspectrag.lms.load and dspy.LM can be"
            )


def _can_be_loaded(lm: dspy.BaseLM) -> bool:
    try:
        state = lm.dump_state()
    except TypeError:  # of an engine that DSPy cannot save
        return False
    return state.get(LM_CLASS_STATE_KEY) in _LOADED and isinstance(state.get("engine", "auto"), str)


class UnloadedLM(dspy.LM):
    """The name of a saved language model, in a program that is only looked at.

    Args:
        state: As it was saved.
    """

    def __init__(self, state: dict[str, Any]) -> None:
        super().__init__(str(state["model"]))
        self._state = state

    def dump_state(self) -> dict[str, Any]:
        """As it was saved."""
        return self._state

    def __call__(self, *_: Any, **__: Any) -> Any:
        """Refuse to answer.

        Raises:
            AspectragError: Always.
        """
        raise AspectragError("this program was opened to be looked at: load() it, to ask it")

    async def acall(self, *_: Any, **__: Any) -> Any:
        """As a call.

        Raises:
            AspectragError: Always.
        """
        self()
