"""What the calls of a question have cost, so that a run that was killed counts them as if it had not been."""

import hashlib
import json
from collections import defaultdict
from collections.abc import Callable
from threading import Lock
from typing import Any

from ...data.growing import GrowingFile
from ...programs.trace import Recorder, Step, plain


class Ledger:
    """Tokens and seconds of every finished call, by question.

    The calls of a question that was under way when the run was killed are answered from DSPy's cache when it is asked
    again. That is free now, but was not: the ledger gives back what it had cost.

    Args:
        file: Where calls are written down, as soon as they are finished.
    """

    def __init__(self, file: GrowingFile) -> None:
        self._file = file
        self._spent: dict[str, dict[str, list[dict[str, Any]]]] = defaultdict(lambda: defaultdict(list))
        self._lock = Lock()
        for record in file:
            self._spent[record["id"]][record["call"]].append({k: record[k] for k in ("tokens", "seconds")})

    def recorder(self, question: str) -> Recorder:
        """A recorder for one attempt at a question, which writes down its calls and restores those of earlier ones."""
        with self._lock:
            spent = {call: list(costs) for call, costs in self._spent[question].items()}
        return _LedgerRecorder(lambda call, cost: self._note(question, call, cost), spent)

    def forget(self, question: str) -> None:
        """A question that is answered is not asked again."""
        with self._lock:
            self._spent.pop(question, None)

    def _note(self, question: str, call: str, cost: dict[str, Any]) -> None:
        self._file.add({"id": question, "call": call, **cost})
        with self._lock:
            self._spent[question][call].append(cost)


class _LedgerRecorder(Recorder):
    def __init__(self, note: Callable[[str, dict[str, Any]], None], spent: dict[str, list[dict[str, Any]]]) -> None:
        super().__init__()
        self._note, self._spent, self._lock = note, spent, Lock()

    def close(self, call_id: str, outputs: Any, exception: BaseException | None) -> Step | None:
        """End a step; one of a language model is looked up, or written down."""
        step = super().close(call_id, outputs, exception)
        if step is None or step.kind != "lm" or exception is not None:
            return step
        call = _key(step)
        if not step.cached:
            self._note(call, {"tokens": step.tokens, "seconds": step.seconds})
            return step
        with self._lock:
            if earlier := self._spent.get(call):
                was = earlier.pop()
                step.cached, step.tokens, step.seconds = False, was["tokens"], was["seconds"]
        return step


def _key(step: Step) -> str:
    asked = json.dumps([step.name, plain(step.inputs)], sort_keys=True, default=str)
    return hashlib.sha256(asked.encode("utf-8", "surrogatepass")).hexdigest()[:32]
