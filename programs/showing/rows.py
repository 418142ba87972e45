"""A trace as the rows of its tree: what belongs together is one row, with what it did, when, and what it took."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ...texts import clipped

KINDS = ("program", "module", "lm", "retrieval", "branch", "fallback", "warning")
_NOTES = ("fallback", "warning")
_CLIP = 120


@dataclass
class Row:
    """One line of the tree.

    Attributes:
        kind: As of a step; ``other`` where it is none that is known.
        name: As of a step: of the outermost one, where a row stands for a stage, its predictor and its one call.
        did: What it did in few words: pairs of a label, which may be empty, and a text.
        parts: All that went in and came out, by label: ``inputs``, ``prompt`` as it was sent, ``settings``, ``reply``
            as it came back, ``outputs``.
        model: Of the one call of a row.
        seconds: How long it took; ``began``: seconds after the first step, ``None`` where no time was noted.
        prompt: Tokens read, itself or inside it; ``completion``: tokens written.
        cached: Whether there are calls, itself or inside it, and all were answered from the cache.
        error: The exception that ended it.
        children: What happened inside it.
        number: Its place in the trace, from 0, outer rows first.
        troubled: Whether an error, a fallback or a warning is inside it.
        step: The step that it stands for, the outermost of them; ``place``: of that among all steps, as ``number``.
    """

    kind: str
    name: str
    did: list[tuple[str, str]] = field(default_factory=list)
    parts: dict[str, Any] = field(default_factory=dict)
    model: str = ""
    seconds: float = 0.0
    began: float | None = None
    prompt: int = 0
    completion: int = 0
    cached: bool | None = None
    error: str | None = None
    children: list["Row"] = field(default_factory=list)
    number: int = 0
    troubled: bool = False
    step: Mapping[str, Any] = field(default_factory=dict, repr=False)
    place: int = 0

    @property
    def is_note(self) -> bool:
        """Whether it tells of something, and took no time."""
        return self.kind in _NOTES

    @property
    def is_trouble(self) -> bool:
        """Whether a reader who looks for what went wrong should see it; not what only passed an error on."""
        return self.is_note or (self.error is not None and not any(child.error for child in self.children))

    def gist(self, arrow: str = "→") -> str:
        """What it did, on one line; may be empty."""
        return clipped("; ".join(self.said(label, text, arrow) for label, text in self.did), _CLIP)

    def said(self, label: str, text: str, arrow: str = "→") -> str:
        """One thing that it did."""
        joint = f" {arrow} " if self.kind == "retrieval" else ": "
        return joint.join(filter(None, (label, text)))

    def walk(self) -> Iterator["Row"]:
        """This row and all inside it, as they are numbered."""
        yield self
        for child in self.children:
            yield from child.walk()


@dataclass
class Tree:
    """The rows of a trace.

    Attributes:
        rows: The outermost ones.
        usage: See :attr:`..trace.Trace.usage`.
        seconds: What the outermost rows took together.
        length: Seconds from the first step's beginning to the last one's end.
    """

    rows: list[Row]
    usage: Mapping[str, int]
    seconds: float
    length: float

    def walk(self) -> Iterator[Row]:
        """All rows, as they are numbered."""
        for row in self.rows:
            yield from row.walk()

    def row_of(self, place: int) -> Row:
        """The row that a step is on, or is a part of.

        Args:
            place: Of the step among all of the trace, outer ones first, from 0.
        """
        return [row for row in self.walk() if row.place <= place][-1]


def tree_of(record: Mapping[str, Any]) -> Tree:
    """The rows of a trace.

    Args:
        record: What :meth:`..trace.Trace.to_dict` gives, as it also lies in files.

    Example:
        >>> step = {"kind": "module", "name": "route", "inputs": None, "outputs": {"route": "complex"}, "started": 2.0,
        ...         "seconds": 0.5, "error": None, "tokens": {}, "cached": None, "children": []}
        >>> tree_of({"usage": {}, "steps": [step]}).rows[0].gist()
        'route: complex'
    """
    steps = record["steps"]
    times = [(step["started"], step["started"] + step["seconds"]) for step in _all(steps) if step["started"]]
    first = min((began for began, _ in times), default=0.0)
    found = [_row(step, first) for step in steps]
    last = max((ended for _, ended in times), default=0.0)
    tree = Tree(found, record["usage"], sum(row.seconds for row in found), last - first)
    places = {id(step): place for place, step in enumerate(_all(steps))}
    for number, row in enumerate(tree.walk()):
        row.number, row.place = number, places[id(row.step)]
    return tree


def _all(steps: Sequence[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    for step in steps:
        yield step
        yield from _all(step["children"])


def _row(step: Mapping[str, Any], first: float) -> Row:
    if call := _only_call(step):
        return _own(step, first, call)
    if step["kind"] == "branch" and len(step["children"]) == 1 and (call := _only_call(step["children"][0])):
        # A branch that is one verdict is one line: there are ten of them to a question.
        inner = _own(step["children"][0], first, call)
        if inner.did and isinstance(outputs := inner.parts.get("outputs"), Mapping) and len(outputs) == 1:
            own = _own(step, first)
            parts = {"inputs": own.parts.get("inputs"), **inner.parts, "prompt": inner.parts.get("prompt")}
            return replace(
                inner,
                kind="branch",
                name=own.name,
                did=[*inner.did, *own.did[:1]],
                parts={label: value for label, value in parts.items() if _holds(value)},
                seconds=own.seconds,
                began=own.began,
                error=own.error or inner.error,
                step=step,
            )
    return _own(step, first, children=[_row(child, first) for child in step["children"]])


def _only_call(step: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The language-model call of a stage that made one and nothing else, in whatever modules it is wrapped."""
    if step["kind"] != "module" or len(step["children"]) != 1:
        return None
    (only,) = step["children"]
    return (only if not only["children"] else None) if only["kind"] == "lm" else _only_call(only)


def _own(
    step: Mapping[str, Any], first: float, call: Mapping[str, Any] | None = None, children: Sequence[Row] = ()
) -> Row:
    """A row for a step, the one call that is all that it did, and the rows inside it."""
    asked = call or (step if step["kind"] == "lm" else None)
    tokens = (asked["tokens"] or {}) if asked else {}
    own = [bool(asked["cached"])] if asked else []
    flags = [*own, *(child.cached for child in children if child.cached is not None)]
    row = Row(
        kind=step["kind"] if step["kind"] in KINDS else "other",
        name=step["name"],
        did=_did(step, call),
        parts={label: value for label, value in _parts(step, asked).items() if _holds(value)},
        model=asked["name"] if asked else "",
        seconds=step["seconds"],
        began=step["started"] - first if step["started"] else None,
        prompt=tokens.get("prompt", 0) + sum(child.prompt for child in children),
        completion=tokens.get("completion", 0) + sum(child.completion for child in children),
        cached=all(flags) if flags else None,
        error=step["error"],
        children=list(children),
        step=step,
    )
    row.troubled = row.is_trouble or any(child.troubled for child in children)
    return row


def _parts(step: Mapping[str, Any], asked: Mapping[str, Any] | None) -> dict[str, Any]:
    if asked is None:
        return {} if step["kind"] in _NOTES else {"inputs": step["inputs"], "outputs": _by_query(step)}
    given = asked["inputs"] if isinstance(asked["inputs"], Mapping) else {"prompt": asked["inputs"]}
    prompt = given.get("messages") or given.get("prompt")
    # Settings of a call stand within a mapping of their own.
    settings = {name: value for name, value in given.items() if name not in ("messages", "prompt", "kwargs")}
    settings |= given["kwargs"] if isinstance(given.get("kwargs"), Mapping) else {}
    called = {"prompt": prompt, "settings": settings, "reply": asked["outputs"]}
    return called if asked is step else {"inputs": step["inputs"], **called, "outputs": step["outputs"]}


def _by_query(step: Mapping[str, Any]) -> Any:
    """What came out; of a search, with the query that found it."""
    inputs, outputs = step["inputs"], step["outputs"]
    queries = inputs.get("queries") if step["kind"] == "retrieval" and isinstance(inputs, Mapping) else None
    if not isinstance(queries, list) or not isinstance(outputs, list) or len(queries) != len(outputs):
        return outputs
    return [{"query": query, "found": found} for query, found in zip(queries, outputs, strict=True)]


def _holds(value: Any) -> bool:
    return value is not None and value != {}


def _did(step: Mapping[str, Any], call: Mapping[str, Any] | None) -> list[tuple[str, str]]:
    inputs, outputs = step["inputs"], step["outputs"]
    match step["kind"]:
        case "retrieval" if isinstance(inputs, Mapping):
            return _found(inputs, outputs)
        case "branch":
            answer = _answer(outputs)
            # The answer is what a reader looks for: a long question leaves room for it.
            subject = clipped(_subject(inputs), _CLIP // 2 if answer else _CLIP)
            return [pair for pair in (("", subject), ("answer", answer)) if pair[1]]
        case "module" if isinstance(outputs, Mapping):
            return [(name, short(value)) for name, value in outputs.items() if value not in (None, "", [], {})]
        case "module" if call and call["outputs"]:
            return [("reply", short(_replies(call["outputs"])))]  # nothing could be read out of it
        case "lm":
            return [("", text)] if (text := short(_replies(outputs))) else []
        case "fallback" | "warning":
            return [("", short(outputs))]
    return []


def _found(inputs: Mapping[str, Any], outputs: Any) -> list[tuple[str, str]]:
    """What was looked up, with the titles of what was found."""
    queries = inputs.get("queries")
    many = isinstance(queries, list)
    ranking = f"{_size(inputs.get('pool'))} passages, {inputs.get('ranker')}"
    asked = queries if many else [inputs.get("query") or ranking]
    lists = outputs if many else [outputs]
    if not isinstance(lists, list) or len(lists) != len(asked):
        lists = [None] * len(asked)
    return [(short(query), _titles(passages)) for query, passages in zip(asked, lists, strict=True)]


def _titles(passages: Any) -> str:
    if passages is None:
        return ""
    listed = passages if isinstance(passages, list) else []
    titles = [p.get("title") or p.get("id") for p in listed if isinstance(p, Mapping)]
    return clipped(", ".join(dict.fromkeys(map(str, titles))), _CLIP) or "nothing"


def _size(value: Any) -> int:
    return len(value) if isinstance(value, (list, dict)) else 0


def _subject(inputs: Any) -> str:
    """What a branch is about: a passage, a question, or one with the passages that were found for it."""
    inputs = inputs[0] if isinstance(inputs, list) and inputs else inputs
    if isinstance(inputs, Mapping):
        inputs = inputs.get("title") or inputs.get("question") or inputs.get("query") or inputs
    return short(inputs) if inputs else ""


def _answer(outputs: Any) -> str:
    return short(outputs.get("answer") or "") if isinstance(outputs, Mapping) else ""


def _replies(outputs: Any) -> Any:
    """Texts of a call, without the probabilities that may stand beside them."""
    if not isinstance(outputs, list):
        return outputs or ""
    return [each["text"] if isinstance(each, Mapping) and "text" in each else each for each in outputs]


def short(value: Any) -> str:
    """A value in so few words that it fits on a line.

    Example:
        >>> short([{"aspect": "cost", "weight": 2}, {"aspect": "risk", "weight": 1}])
        'cost: 2 | risk: 1'
    """
    return clipped(_joined(value), _CLIP)


def _joined(value: Any) -> str:
    if isinstance(value, Mapping):
        return ": ".join(_joined(part) for part in value.values())
    if isinstance(value, Sequence) and not isinstance(value, str):
        return " | ".join(_joined(part) for part in value)
    return str(value)
