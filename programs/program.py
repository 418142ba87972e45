"""The base of all programs: result, trace, and a folder that loads anywhere."""

import dataclasses
import functools
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, ClassVar, Self, TypeVar

import dspy

from ..data.index.retriever import NoPassages, Retriever
from ..data.passages import Passage
from ..errors import AspectragError
from ..lms.tokens import count
from ..texts import encodable
from .blocks.answering import SubQuestion, answer_from, generate
from .blocks.citations import citations
from .blocks.interleaving import Stop
from .blocks.merging import merged
from .blocks.stage import call_stage
from .config import Config
from .fitting import adoptable, identity_of, load_prompts
from .models import UnloadedLM, check_lms, load_lm
from .saved import read, read_manifest, tuned_stages, tuning_of, write
from .trace import Trace, plain, record, verbatim

Accepted = TypeVar("Accepted")

# Longer than any question; asked of a model whose context window is unknown.
MAX_QUESTION_TOKENS = 8000


class Result(dspy.Prediction):
    """What a program returns: a ``dspy.Prediction`` with all intermediate values, and the trace beside them.

    Fields: ``answer``, ``route`` (question type or complexity), ``sub_questions``, ``passages`` (the numbers of the
    answer's citations point into this list), ``citations``, ``steps`` (retrieval-generation cycles: sub-questions that
    are answered side by side are one, hops are counted one by one; HANRAG, arXiv 2509.09713, section 4),
    ``stopped_by`` (what ended a loop of hops; ``None`` where there is none), ``fallbacks``.

    Example:
        >>> from aspectrag import lms
        >>> from aspectrag.programs import Direct
        >>> with dspy.context(lm=lms.scripted_lm({"answer": "Rome."})):
        ...     found = Direct()(question="What is the capital of Italy?")
        >>> found.answer, found.fallbacks, found.usage["lm_calls"], len(found.trace.steps)
        ('Rome.', [], 1, 1)
    """

    _trace: Trace

    @property
    def trace(self) -> Trace:
        """Every step of the call."""
        return self._trace

    @property
    def usage(self) -> dict[str, int]:
        """Language-model calls and tokens of the call; see :attr:`Trace.usage`."""
        return self._trace.usage

    def _repr_html_(self) -> str:
        """How a notebook shows it: the answer, then every step; see :func:`.showing.traces.trace_html`."""
        from .showing.traces import trace_html

        # A result that was made by hand has no trace.
        return trace_html(getattr(self, "_trace", Trace()), verbatim(self.toDict()))


def result(
    answer: str,
    *,
    route: str,
    passages: Sequence[Passage] = (),
    sub_questions: Sequence[SubQuestion] = (),
    steps: int,
    stopped_by: Stop | None = None,
) -> Result:
    """Put a result together, with the citations of the answer and the fallbacks of the call that is running.

    Example:
        >>> result("Rome.", route="direct", steps=0).answer
        'Rome.'
    """
    return Result(
        answer=answer,
        route=route,
        sub_questions=list(sub_questions),
        passages=list(passages),
        citations=citations(answer, passages),
        steps=steps,
        stopped_by=stopped_by,
        fallbacks=list(dspy.settings.get("fallbacks") or []),
    )


class Program(dspy.Module):
    """A method: predictors as attributes, ``forward(question) -> Result``.

    Subclasses set ``config_class``, make their predictors in ``__init__`` and nothing else there, and write
    ``forward``. Language models come from ``dspy.context(lm=...)``, or per stage from ``dspy.context(roles=...)``.

    A call that fails, or is interrupted, loses none of its steps: the error, of whatever type, has them as its
    attribute ``trace``.

    Args:
        config: Frozen, saved beside the state; ``None`` for the defaults.
        retriever: Where passages come from; ``None`` for a program that retrieves nothing.

    Attributes:
        tuning: What is known of what was tuned and loaded, or adopted: ``stages``, by their names, and ``ranker`` where
            one was trained.

    Example:
        >>> try:  # doctest: +SKIP
        ...     program(question="Why do corals turn white?")
        ... except dspy.LMError as error:
        ...     error.trace.save("failed.json")
    """

    config_class: ClassVar[type[Config]] = Config
    retrieves: ClassVar[bool] = True

    def __init__(self, config: Config | None = None, retriever: Retriever | None = None) -> None:
        super().__init__()
        if self.retrieves and retriever is None:
            raise AspectragError(f"{type(self).__name__} needs a retriever: pass an index, such as open_index(folder)")
        if config is not None and not isinstance(config, self.config_class):
            raise AspectragError(f"{type(self).__name__} takes a {self.config_class.__name__}, not {config!r}")
        self.config = config or self.config_class()
        self.retriever = retriever
        self.tuning: dict[str, Any] = {}

    def __call__(self, *args: Any, **kwargs: Any) -> Result:
        """Answer a question; see :class:`Result`.

        Raises:
            AspectragError: The question is blank or too long.
            dspy.LMError: The language model cannot be reached or refuses to answer.
        """
        with record(self) as trace, dspy.context(fallbacks=[]):
            out = super().__call__(*args, **kwargs)
        return self._with_trace(out, trace)

    async def acall(self, *args: Any, **kwargs: Any) -> Result:
        """The same, awaited: the program runs in a worker thread, so both ways give the same answer."""
        with record(self) as trace, dspy.context(fallbacks=[]):
            out = await super().acall(*args, **kwargs)
        return self._with_trace(out, trace)

    async def aforward(self, **kwargs: Any) -> Result:
        """Run ``forward`` in a worker thread that sees the same DSPy context."""
        # Taken from the class: DSPy warns when ``forward`` is reached through an instance.
        forward: Any = functools.partial(vars(type(self))["forward"], self)
        worker: Any = dspy.asyncify(forward)
        return await worker(**kwargs)

    def check(self, question: Any) -> str:
        """Return the question, stripped.

        Raises:
            AspectragError: It is not text, blank, or longer than half of what the model reads.
        """
        if not isinstance(question, str) or not question.strip():
            raise AspectragError("the question is empty: ask something")
        lm = dspy.settings.lm
        limit = (getattr(lm, "context_window", None) or 2 * MAX_QUESTION_TOKENS) // 2
        # A token is at most a few signs of text: no need to count what cannot be too long.
        if len(question) > limit and lm is not None and (tokens := count(lm, question)) > limit:
            raise AspectragError(
                f"the question has about {tokens} tokens, the model takes {limit}: shorten it, "
                "and give long material as documents instead"
            )
        return encodable(question).strip()

    def call(self, stage: str, accept: Callable[[dspy.Prediction], Accepted], **inputs: Any) -> Accepted:
        """Call the predictor of a stage, as often as the config allows, until ``accept`` takes its output.

        Raises:
            StageError: It took none, or the prompt exceeds the context window.
        """
        return call_stage(stage, getattr(self, stage), accept, self.config.max_attempts, **inputs)

    def generate(self, stage: str, **inputs: Any) -> str:
        """The answer of a stage that writes one without passages; empty where the model says nothing, flagged."""
        return generate(stage, getattr(self, stage), self.config.max_attempts, **inputs)

    def answer_from(self, stage: str, passages: Sequence[Passage], **inputs: Any) -> tuple[str, list[Passage]]:
        """The answer of a stage from passages, and those of them that it was shown."""
        return answer_from(stage, getattr(self, stage), self.config.max_attempts, passages, **inputs)

    def merge(self, stage: str, parts: Sequence[SubQuestion], field: str, **inputs: Any) -> tuple[str, list[Passage]]:
        """One answer out of those to the parts, given to the stage as ``field``, and the passages of all parts."""
        return merged(stage, getattr(self, stage), self.config.max_attempts, parts, field, **inputs)

    def save(self, path: str | Path, *args: Any, meta: dict[str, Any] | None = None, **kwargs: Any) -> None:
        """Write the program to a folder: ``state.json``, ``config.json``, ``manifest.json``; no pickle.

        Secrets of the environment are masked wherever a demo, an instruction or a setting repeats them.

        A path that ends in ``.json`` gets DSPy's bare state, which DSPy's own optimizers ask for.

        Args:
            path: The folder; made where it is missing.
            args: Handed to DSPy for a bare state.
            meta: What produced the program (language model, optimizer, metric, scores, data hash); kept in the
                manifest.
            kwargs: As ``args``.

        Raises:
            AspectragError: A stage has a language model that could not be made again.
        """
        folder = Path(path)
        told = self._unsecret()
        if folder.suffix == ".json" or kwargs.get("save_program"):
            dspy.Module.save(told, path, *args, **kwargs)
            return
        check_lms(self)
        folder.mkdir(parents=True, exist_ok=True)
        write(folder / "config.json", verbatim(dataclasses.asdict(self.config)))
        # A language model set on a predictor may carry keys: what is written of it has none.
        state = {name: {**part, "lm": plain(part.get("lm"))} for name, part in told.dump_state().items()}
        write(folder / "state.json", state)
        write(folder / "manifest.json", {**identity_of(self), "dspy": dspy.__version__, "meta": plain(meta or {})})

    def _unsecret(self) -> Self:
        """A copy whose predictors say no secret of the environment, whoever put it there: an example, or a model."""
        copy: Self = self.deepcopy()
        for predictor in copy.predictors():
            said: Any = predictor
            if (clean := verbatim(said.signature.instructions)) != said.signature.instructions:
                said.signature = said.signature.with_instructions(clean)
            said.demos, said.traces, said.train = map(verbatim, (said.demos, said.traces, said.train))
        return copy

    @classmethod
    def load(  # pyright: ignore[reportIncompatibleMethodOverride] - a state without its class cannot be checked
        cls, path: str | Path, retriever: Retriever | None = None
    ) -> Self:
        """Read a program that :meth:`save` wrote, with the language models that were set on its stages.

        Raises:
            AspectragError: The folder is none, is of another class, or its predictors or fields differ; or a stage's
                language model cannot be had; says which.
        """
        return cls._loaded(Path(path), retriever, load_lm)

    @classmethod
    def inspect(cls, path: str | Path) -> Self:
        """Read a saved program to look at it, not to ask it: it finds no passages, and a trained ranker is left out.

        Of language models that were set on its stages there are the names.

        Raises:
            AspectragError: As for :meth:`load`.
        """
        return cls._loaded(Path(path), NoPassages(), UnloadedLM)

    @classmethod
    def _loaded(cls, folder: Path, retriever: Retriever | None, lm: Callable[[dict[str, Any]], dspy.BaseLM]) -> Self:
        saved, config = read_manifest(folder), read(folder, "config")
        try:
            program = cls(cls.config_class(**config), retriever)
        except TypeError as exc:
            raise AspectragError(f"{folder}: its config does not fit {cls.__name__} ({exc})") from None
        load_prompts(program, folder, lm)
        program.tuning = tuning_of(saved)
        return program

    @classmethod
    def stages(cls, config: Config | None = None) -> list[str]:
        """Names of the stages, each of which ``roles`` can give a language model of its own."""
        return [name for name, _ in cls(config, NoPassages()).named_predictors()]

    def adopt(self, path: str | Path, stages: Sequence[str] | None = None) -> list[str]:
        """Take over tuned stages, their demos and instructions, of a saved program of this class, whatever its config.

        A stage that promises something else here, as another config asks for brief answers or another judge, is left
        as it is.

        Args:
            path: The folder that :meth:`save` wrote.
            stages: Their names; by default those that were tuned, as its manifest says.

        Returns:
            The names of those that were taken over, in the order of this program.

        Raises:
            AspectragError: The folder is none, is damaged, of another class, or lacks a stage; nothing was taken over.

        Example:
            >>> program = HanRag(config, index)  # doctest: +SKIP
            >>> program.adopt("compiled/han")  # doctest: +SKIP
            ['route', 'judge_ending']
        """
        found, told = adoptable(self, Path(path), stages), tuned_stages(read_manifest(path))
        for name, state in found.items():
            predictor: Any = getattr(self, name)
            lm = predictor.lm
            predictor.load_state(state).lm = lm
        known = {**self.tuning.get("stages", {}), **{name: told.get(name, {}) for name in found}}
        self.tuning = {**self.tuning, "stages": known}
        return list(found)

    @staticmethod
    def _with_trace(out: Any, trace: Trace) -> Result:
        # Inside a wider recording the trace holds other calls too: this one's part is the step that returned ``out``,
        # the outermost, as a program may hand on what one inside it returned.
        trace = Trace([step for step in trace.walk() if step.outputs is out][:1])
        out._trace = trace
        if dspy.settings.track_usage:
            out.set_lm_usage(trace.usage_by_model())
        return out
