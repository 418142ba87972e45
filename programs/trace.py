"""The trace: every step of a program call, as a tree, complete under threads and on exceptions.

A :class:`Recorder` listens to DSPy's callbacks for modules and language-model calls; the blocks add what DSPy does not
know of: retrievals, branches that run side by side, and fallbacks. The error that ends a call carries its trace, as
``error.trace``. Several calls are recorded together by:

    >>> with record() as trace:
    ...     pass
    >>> trace.usage["lm_calls"]
    0
"""

import dataclasses
import functools
import itertools
import math
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import dspy
import ujson
from dspy.utils.callback import ACTIVE_CALL_ID, BaseCallback
from dspy.utils.usage_tracker import UsageTracker

from ..errors import AspectragError, is_secret_name, masked, secrets, without
from ..texts import encodable
from ..whole import write

if TYPE_CHECKING:
    from rich.console import RenderableType

    from .showing.difference import Difference


UNFINISHED = "not finished"
# Above any time in seconds since the epoch, and any number of tokens.
_MOST = 1e11


@dataclass(slots=True)
class Step:
    """One step and the steps inside it.

    Attributes:
        kind: ``program``, ``module``, ``lm``, ``retrieval``, ``branch`` (one of several run side by side),
            ``fallback`` or ``warning``.
        name: The stage's attribute name in its program, the model's name, the retriever's class, ...
        inputs: What it was given; outputs: what came back (``None`` where it failed); of a language-model call the
            texts, or where the model measures them, ``text`` and ``probabilities`` of labels.
        started: Wall-clock time, seconds since the epoch; ``seconds``: how long it took.
        error: ``Type: message`` of the exception that ended it, or ``not finished``.
        tokens: ``prompt`` and ``completion`` counts of a language-model call; empty where the backend gave none.
        cached: Whether a language-model call was answered from the cache; ``None`` where it did not end.
    """

    kind: str
    name: str
    inputs: Any = None
    outputs: Any = None
    started: float = 0.0
    seconds: float = 0.0
    error: str | None = None
    tokens: dict[str, int] = field(default_factory=dict)
    cached: bool | None = None
    children: list["Step"] = field(default_factory=list)

    def walk(self) -> Iterator["Step"]:
        """This step and all inside it, depth first."""
        yield self
        for child in self.children:
            yield from child.walk()

    def check(self) -> None:
        """See that what a file says of a step is of the right kind.

        Raises:
            ValueError: It is not.
        """
        numbers = [self.started, self.seconds, *self.tokens.values()]
        texts = [self.kind, self.name, self.error or "", *self.tokens]
        if not all(isinstance(each, (int, float)) and 0 <= each < _MOST for each in numbers):
            raise ValueError("a time or a number of tokens is none")
        if not all(isinstance(each, str) for each in texts) or not isinstance(self.cached, bool | None):
            raise ValueError("a step has no kind or name, or something else in their place")

    def to_dict(self) -> dict[str, Any]:
        """A JSON-ready form, free of secrets."""
        return plain(self)

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> "Step":
        """The inverse of :meth:`to_dict`, up to types that JSON does not have.

        Raises:
            ValueError: It has fields that no step has.
        """
        if unknown := record.keys() - _FIELDS:
            raise ValueError(f"a step has {', '.join(sorted(unknown))}: another version wrote it")
        return cls(**{**record, "children": [cls.from_dict(child) for child in record["children"]]})


_FIELDS = {each.name for each in dataclasses.fields(Step)}


@dataclass(frozen=True, slots=True)
class Trace:
    """The steps of one recording, outermost first.

    Example:
        >>> with record() as trace, step("retrieval", "retrieve", {"k": 1}):
        ...     pass
        >>> [each.name for each in trace.steps], Trace.from_dict(trace.to_dict()) == trace
        (['retrieve'], True)
    """

    steps: list[Step] = field(default_factory=list)

    def walk(self) -> Iterator[Step]:
        """All steps, depth first."""
        return itertools.chain.from_iterable(step.walk() for step in self.steps)

    @property
    def usage(self) -> dict[str, int]:
        """Calls and tokens that were really spent: cached calls cost nothing and are counted apart.

        Returns:
            ``lm_calls``, ``prompt_tokens``, ``completion_tokens`` and ``cached_calls``.
        """
        calls = [step for step in self.walk() if step.kind == "lm"]
        return {
            "lm_calls": sum(not step.cached for step in calls),
            "prompt_tokens": sum(step.tokens.get("prompt", 0) for step in calls),
            "completion_tokens": sum(step.tokens.get("completion", 0) for step in calls),
            "cached_calls": sum(bool(step.cached) for step in calls),
        }

    def usage_by_model(self) -> dict[str, dict[str, int]]:
        """Tokens per model in DSPy's form, as ``Prediction.get_lm_usage`` gives them."""
        usage: dict[str, dict[str, int]] = {}
        for call in (step for step in self.walk() if step.kind == "lm" and step.tokens):
            spent = usage.setdefault(call.name, {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0})
            for ours, theirs in (("prompt", "prompt_tokens"), ("completion", "completion_tokens")):
                spent[theirs] += call.tokens[ours]
                spent["total_tokens"] += call.tokens[ours]
        return usage

    def to_dict(self) -> dict[str, Any]:
        """A JSON-ready form, free of secrets."""
        return {"usage": self.usage, "steps": plain(self.steps)}

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> "Trace":
        """The inverse of :meth:`to_dict`."""
        return cls([Step.from_dict(step) for step in record["steps"]])

    def save(self, path: str | Path) -> None:
        """Write the trace: as a page that stands alone where the path ends in ``.html``, else as JSON."""
        if Path(path).suffix.lower() == ".html":
            from .showing.traces import trace_page

            write(Path(path), trace_page(self, Path(path).name))
            return
        text = ujson.dumps(self.to_dict(), ensure_ascii=False, escape_forward_slashes=False, indent=1)
        write(Path(path), text + "\n")

    @classmethod
    def load(cls, path: str | Path) -> "Trace":
        """Read a trace that :meth:`save` wrote, or that lies in the folder of a run.

        Raises:
            AspectragError: The file cannot be read, or holds no trace.
        """
        try:
            trace = cls.from_dict(ujson.loads(Path(path).read_text(encoding="utf-8")))
            for step in trace.walk():
                step.check()
        except OSError as error:
            raise AspectragError(f"{path} cannot be read: {error.strerror or error}") from None
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            reason = str(error).split("\n")[0]
            raise AspectragError(
                f"{path} is no trace, or damaged ({type(error).__name__}: {reason}): "
                "give a file that 'ask --trace' wrote, or one in the traces/ of a run"
            ) from None
        return trace

    def compare(self, other: "Trace") -> "Difference":
        """What another trace has done otherwise, step by step; shows itself in a notebook.

        Args:
            other: The trace of the same question, asked in another way.

        Example:
            >>> one, two = Step("branch", "hop 1"), Step("branch", "hop 2")
            >>> [(pair.state, pair.row.name) for pair in Trace([one]).compare(Trace([one, two])).walk()]
            [('same', 'hop 1'), ('only B', 'hop 2')]
        """
        from .showing.difference import compare

        return compare(self, other)

    def _repr_html_(self) -> str:
        """How a notebook shows it."""
        from .showing.traces import trace_html

        return trace_html(self)

    def __rich__(self) -> "RenderableType":
        """How a console of rich shows it: question and answer, then the tree of steps."""
        from .showing.tree import whole_view

        return whole_view(self)

    def __repr__(self) -> str:
        """One line: what was called, and what it took."""
        from .showing.lines import clip

        called, usage = clip(", ".join(step.name for step in self.steps)) or "nothing", self.usage
        tokens, seconds = "{prompt_tokens} + {completion_tokens}".format(**usage), sum(s.seconds for s in self.steps)
        steps = sum(1 for _ in self.walk())
        return f"Trace({called}: {steps} steps, {usage['lm_calls']} calls, {tokens} tokens, {seconds:.1f} s)"


class Recorder(BaseCallback, UsageTracker):
    """Builds a trace out of DSPy's callbacks; :func:`record` puts it to work.

    It is DSPy's usage tracker too: that hook alone is called inside each language-model call, with its tokens, and not
    called where the cache answered.
    """

    def __init__(self) -> None:
        super().__init__()
        self.trace = Trace()
        self._open: dict[str, Step] = {}
        self._clock: dict[str, float] = {}
        self._names: dict[int, str] = {}
        self._asked: dict[str, Any] = {}

    def __deepcopy__(self, memo: dict[int, Any]) -> "Recorder":
        """Shared: DSPy copies usage trackers for its workers, and would lose what they count."""
        return self

    def name_stages(self, program: dspy.Module) -> None:
        """Let the modules inside ``program`` appear under their attribute names."""
        for name, module in _inside(program):
            self._names.setdefault(id(module), name)

    def add(self, step: Step, call_id: str | None = None) -> None:
        """Append a step to the one now running, and keep it open under ``call_id``."""
        step.started = step.started or time.time()
        parent = self._open.get(ACTIVE_CALL_ID.get() or "")
        (parent.children if parent else self.trace.steps).append(step)
        if call_id:
            step.error = UNFINISHED  # until it is closed: whoever reads an interrupted trace sees what it waited for
            self._open[call_id], self._clock[call_id] = step, time.perf_counter()

    def restart(self, call_id: str) -> None:
        """Start the clock of an open step now."""
        self._clock[call_id], self._open[call_id].started = time.perf_counter(), time.time()

    def close(self, call_id: str, outputs: Any, exception: BaseException | None) -> Step | None:
        """End the step opened under ``call_id``."""
        step = self._open.pop(call_id, None)
        if step:
            step.seconds = time.perf_counter() - self._clock.pop(call_id)
            step.outputs = outputs
            step.error = None if exception is None else f"{type(exception).__name__}: {exception}".removesuffix(": ")
        return step

    def on_module_start(self, call_id: str, instance: Any, inputs: dict[str, Any]) -> None:  # noqa: D102
        name = self._names.get(id(instance))
        step = Step("module" if name else "program", name or type(instance).__name__, inputs.get("kwargs") or inputs)
        self.add(step, call_id)

    def on_module_end(self, call_id: str, outputs: Any, exception: BaseException | None = None) -> None:  # noqa: D102
        step = self.close(call_id, outputs, exception)
        if step and exception is not None:
            # Each module on the way out puts its own in place of the one inside; a few errors cannot be written on.
            with suppress(AttributeError, TypeError):
                exception.trace = Trace([step])  # pyright: ignore[reportAttributeAccessIssue]

    def on_lm_start(self, call_id: str, instance: Any, inputs: dict[str, Any]) -> None:  # noqa: D102
        self.add(Step("lm", instance.model, {k: v for k, v in inputs.items() if v}), call_id)
        self._asked[call_id] = instance

    def on_lm_end(self, call_id: str, outputs: Any, exception: BaseException | None = None) -> None:  # noqa: D102
        # A model that measures how likely each label is says so while its call ends.
        measured = getattr(self._asked.pop(call_id, None), "probabilities", ())
        if any(measured):
            outputs = [{"text": text, "probabilities": each} for text, each in zip(outputs, measured, strict=True)]
        step = self.close(call_id, outputs, exception)
        if step and step.cached is None:  # nothing was spent
            step.cached = exception is None

    def add_usage(self, lm: str, usage_entry: dict[str, Any]) -> None:
        """Count the tokens of the call that is running."""
        super().add_usage(lm, usage_entry)
        step = self._open.get(ACTIVE_CALL_ID.get() or "")
        if step:
            step.cached = False
            for ours, theirs in (("prompt", "prompt_tokens"), ("completion", "completion_tokens")):
                step.tokens[ours] = step.tokens.get(ours, 0) + int(usage_entry.get(theirs) or 0)


def _inside(module: dspy.Module, path: str = "") -> Iterator[tuple[str, dspy.Module]]:
    """The modules inside a module, by attribute name.

    DSPy's own walk goes through the history of each module too, and that grows with every call.
    """
    for name, value in vars(module).items():
        if name == "history":
            continue
        members = {f"[{key}]": item for key, item in value.items()} if isinstance(value, dict) else {"": value}
        if isinstance(value, (list, tuple)):
            members = {f"[{place}]": item for place, item in enumerate(value)}
        for key, item in members.items():
            if isinstance(item, dspy.Module):
                yield f"{path}{name}{key}", item
                yield from _inside(item, f"{path}{name}{key}.")


@contextmanager
def record(program: dspy.Module | None = None) -> Iterator[Trace]:
    """Record every DSPy call inside the block; inside another recording, join that one.

    Args:
        program: Its stages appear under their attribute names.
    """
    outer, recorder = dspy.settings.usage_tracker, active_recorder()
    joined = recorder is not None
    recorder = recorder or Recorder()
    if program is not None:
        recorder.name_stages(program)
    if joined:
        yield recorder.trace
        return
    try:
        with dspy.context(callbacks=[*dspy.settings.callbacks, recorder], usage_tracker=recorder):
            yield recorder.trace
    finally:
        for lm, entries in recorder.usage_data.items() if outer else ():
            for entry in entries:
                outer.add_usage(lm, entry)


def active_recorder() -> Recorder | None:
    """The recorder that listens here, if any."""
    return next((c for c in dspy.settings.callbacks if isinstance(c, Recorder)), None)


@contextmanager
def _entered(recorder: Recorder | None, own: Step, call_id: str) -> Iterator[Step]:
    if recorder is None:
        yield own
        return
    recorder.restart(call_id)
    token = ACTIVE_CALL_ID.set(call_id)  # pyright: ignore[reportArgumentType] - declared without its type
    error: BaseException | None = None
    try:
        yield own
    except BaseException as exc:
        error = exc
        raise
    finally:
        ACTIVE_CALL_ID.reset(token)
        recorder.close(call_id, own.outputs, error)


def step(kind: str, name: str, inputs: Any = None) -> AbstractContextManager[Step]:
    """A step of our own around a block; set its ``outputs`` inside.

    Its place in the tree is where this is called; the block may run later, and in another thread.
    """
    own, call_id, recorder = Step(kind, name, inputs), uuid.uuid4().hex, active_recorder()
    if recorder:
        recorder.add(own, call_id)
    return _entered(recorder, own, call_id)


def note(kind: str, name: str, text: str) -> None:
    """Record a ``fallback`` or ``warning`` where it happened."""
    recorder = active_recorder()
    if recorder:
        recorder.add(Step(kind, name, outputs=text))


def plain(value: Any) -> Any:
    """Turn a value into what JSON can hold: secrets masked, numbers of numpy unwrapped, the rest as text.

    Example:
        >>> plain({"api_key": "abc", "k": 5})
        {'api_key': '***', 'k': 5}
    """
    known = secrets()  # looked up once: a trace holds thousands of texts
    return _Plainly(functools.cache(lambda text: encodable(masked(text, known))), is_secret_name)(value)


def verbatim(value: Any) -> Any:
    """The same for questions, answers and passages, which are data: a title may look like a key, and an id be named so.

    Secrets of the environment are masked all the same.

    Example:
        >>> verbatim({"access-token": "Basic Instinct", "id": "hf_squad_00012"})
        {'access-token': 'Basic Instinct', 'id': 'hf_squad_00012'}
    """
    known = secrets()
    return _Plainly(functools.cache(lambda text: encodable(without(text, known))), lambda _: False)(value)


@dataclass(frozen=True, slots=True)
class _Plainly:
    """Walks through a value.

    Attributes:
        mask: What becomes of a text; it remembers, as the same texts stand in many steps.
        is_secret: Whether what a mapping holds under a name is masked, whatever it is.
    """

    mask: Callable[[str], str]
    is_secret: Callable[[str], bool]

    def __call__(self, value: Any) -> Any:
        # What nearly all is made of comes first: asking for protocols is slow.
        if isinstance(value, str):
            return self.mask(value)
        if isinstance(value, dict):
            return self._mapping(value)
        if isinstance(value, (list, tuple)):
            return [self(item) for item in value]
        if isinstance(value, float) and not math.isfinite(value):
            return str(value)  # JSON has no such numbers
        if value is None or isinstance(value, (bool, int, float)):
            return value
        if isinstance(value, Step):
            return self._step(value)
        for way in ("model_dump", "toDict", "to_dict"):  # of pydantic, of DSPy, ours
            if hasattr(type(value), way):
                return self(getattr(value, way)())
        if isinstance(value, Mapping):
            return self._mapping(value)
        if isinstance(value, (Sequence, set, frozenset)):
            return [self(item) for item in value]
        if hasattr(value, "tolist"):  # numpy scalars and arrays
            return self(value.tolist())
        return self.mask(str(value))

    def _mapping(self, value: Mapping[Any, Any]) -> dict[str, Any]:
        plain = {str(key): each for key, each in value.items()}
        return {self(k): "***" if v and self.is_secret(k) else self(v) for k, v in plain.items()}

    def _step(self, step: Step) -> dict[str, Any]:
        record = {f.name: self(getattr(step, f.name)) for f in dataclasses.fields(step) if f.name != "children"}
        return {**record, "children": [self._step(child) for child in step.children]}
