"""Weights tuned on examples as they are: what LabeledFewShot does with demos, done with an adapter."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import dspy
from dspy.clients.provider import TrainingJob
from dspy.clients.utils_finetune import TrainDataFormat
from dspy.teleprompt import Teleprompter
from dspy.utils.exceptions import AdapterParseError

from ...errors import AspectragError
from ...programs.blocks.bare import BareAdapter
from .provider import tunable


class LabeledFinetune(Teleprompter):
    """Tunes a local model on labelled examples, and gives it to the predictors that they are examples of.

    An example teaches each predictor whose fields it has, all of them; several predictors share one adapter. DSPy's
    ``BootstrapFinetune`` does the same with what a teacher says.

    Args:
        lm: The local model that is tuned, such as ``lms.load("local/smollm2")``.
        adapter: How examples are written, and the tuned model is asked; values of fields only by default.
        out: Folder of the adapter; by default one in the cache, by what is learnt.
        train_kwargs: See :class:`.provider.LoraProvider`.

    Example:
        >>> tuner = LabeledFinetune(lms.load("local/smollm2"), epochs=2.0, out="runs/router")  # doctest: +SKIP
        >>> router = tuner.compile(dspy.Predict(RouteQuestion), trainset=examples)  # doctest: +SKIP
        >>> with dspy.context(adapter=BareAdapter()):  # doctest: +SKIP
        ...     router(question="Why is the sky blue?").route  # the programs know by themselves how to ask it
    """

    def __init__(
        self, lm: dspy.LM, *, adapter: dspy.Adapter | None = None, out: str | Path | None = None, **train_kwargs: Any
    ) -> None:
        super().__init__()
        self.lm = tunable(lm)
        self.adapter: Any = adapter or BareAdapter()
        self.train_kwargs = {**train_kwargs, "folder": out}

    def compile(  # pyright: ignore[reportIncompatibleMethodOverride] - DSPy's optimizers name their own
        self,
        student: dspy.Module,
        *,
        trainset: Sequence[dspy.Example],
        valset: Sequence[dspy.Example] | None = None,
        **_: Any,
    ) -> Any:
        """Return a copy of the student whose predictors have the tuned model.

        Args:
            student: Left as it is.
            trainset: Examples with the inputs and outputs of predictors.
            valset: Examples that the best weights are chosen by; a tenth of the others by default.

        Raises:
            AspectragError: No example has the fields of a predictor, or one says what the predictor cannot; or see
                :func:`.lora.tune`.
        """
        better: Any = student.deepcopy()
        taught = [(predictor, list(self._chats(predictor, trainset))) for predictor in better.predictors()]
        chats = [chat for _, chats in taught for chat in chats]
        if not chats:
            fields = " or ".join(", ".join(predictor.signature.fields) for predictor, _ in taught)
            raise AspectragError(f"no example can be learnt from: each needs the fields {fields}")
        held_out: Any = {}
        if valset is not None:
            held_out = {"held_out": [each["messages"] for p, _ in taught for each in self._chats(p, valset)]}
        given = {**self.train_kwargs, **held_out}
        # The job's own thread is not used: nothing would stop it, while an interrupt ends this one.
        model = self.lm.provider.finetune(TrainingJob(), self.lm.model, chats, TrainDataFormat.CHAT, given)
        tuned = self.lm.copy(model=model)
        for predictor, examples in taught:
            if examples:
                predictor.lm, predictor.demos = tuned, []
        better._compiled = True
        return better

    def _chats(self, predictor: Any, examples: Sequence[dspy.Example]) -> Iterator[dict[str, Any]]:
        for place, example in enumerate(examples, 1):
            if all(name in example for name in predictor.signature.fields):
                yield self._chat(predictor.signature, example, place)

    def _chat(self, signature: Any, example: dspy.Example, place: int) -> dict[str, Any]:
        inputs, said = (
            {name: example[name] for name in part} for part in (signature.input_fields, signature.output_fields)
        )
        chat = self.adapter.format_finetune_data(signature=signature, demos=[], inputs=inputs, outputs=said)
        try:
            # As the tuned model will be able to say it: of yes and true, only one.
            read = self.adapter.parse(signature, chat["messages"][-1]["content"])
        except AdapterParseError as error:
            told = ", ".join(f"{name} {value!r:.60}" for name, value in said.items())
            raise AspectragError(f"example {place} cannot be learnt from: {told} can be no answer") from error
        return self.adapter.format_finetune_data(signature=signature, demos=[], inputs=inputs, outputs=read)
