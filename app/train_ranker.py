"""``aspectrag train-ranker``: a list-wise ranker for your own passages and questions."""

import dataclasses
from pathlib import Path
from typing import Annotated, Any, Literal

import dspy
import typer
import ujson

from ..data.faceted import load_faceted
from ..data.index import SentenceEncoder
from ..errors import AspectragError
from ..lms import load, roles
from ..programs.rankers.pointer import PointerRanker
from ..programs.rich_rag import RichRag, RichRagConfig
from .corpora import encoder_of, index_of
from .options import ApiBase, Encoder, Kind, Lm
from .progress import load_model
from .views.terminal import console, shown


def train_ranker(
    questions: Annotated[list[Path], typer.Argument(help="JSON lines with sub_questions, as 'data annotate' writes.")],
    out: Annotated[Path, typer.Option(help="Folder for the ranker; checkpoints are kept in it, under training/.")],
    index: Annotated[Path | None, typer.Option(help="The index to rank passages of.")] = None,
    docs: Annotated[list[Path] | None, typer.Option(help="Files or folders to rank passages of.")] = None,
    val: Annotated[
        list[Path] | None, typer.Option(help="Questions to choose the best epoch by.", show_default="a fifth, held out")
    ] = None,
    objective: Annotated[
        Literal["sft", "dpo"], typer.Option(help="sft: from silver lists. dpo: from preferences, starting at --start.")
    ] = "sft",
    start: Annotated[
        Path | None, typer.Option(help="For dpo: the ranker to go on from.", show_default="the one of the package")
    ] = None,
    reward: Annotated[
        Literal["coverage", "answer"],
        typer.Option(help="For dpo: what a list earns: by coverage, or by the answer the model writes from it."),
    ] = "coverage",
    pairs: Annotated[
        Literal["us3", "best-vs-worst", "all-pairs"], typer.Option(help="For dpo: which lists are compared.")
    ] = "us3",
    tau: Annotated[float, typer.Option(help="For dpo: smallest difference that makes a pair.")] = 0.02,
    samples: Annotated[int, typer.Option(min=1, help="For dpo: lists sampled per question.")] = 8,
    explored: Annotated[bool, typer.Option("--explored", help="Let the model explore the aspects, as in use.")] = False,
    k: Annotated[int, typer.Option("--k", min=2, help="Length of the lists.")] = 10,
    epochs: Annotated[int | None, typer.Option(min=1, show_default="60 for sft, 10 for dpo or --tune-encoder")] = None,
    patience: Annotated[
        int | None,
        typer.Option(
            min=1, help="Epochs to wait for a better one.", show_default="12 for sft, 4 for dpo, 3 for --tune-encoder"
        ),
    ] = None,
    tune_encoder: Annotated[
        float | None,
        typer.Option(help="For sft: train the sentence encoder too, at this rate (2e-5 is usual). Slow without a GPU."),
    ] = None,
    learning_rate: Annotated[float | None, typer.Option(show_default="0.0005 and 0.00002")] = None,
    seed: Annotated[int, typer.Option(help="Of all that is left to chance.")] = 0,
    limit: Annotated[int | None, typer.Option(min=1, help="Most questions per file.", show_default="all")] = None,
    lm: Lm = None,
    api_base: ApiBase = None,
    kind: Kind = "hybrid",
    encoder: Encoder = None,
) -> None:
    """Train the ranker of --method rich; stopped at any moment, the same command goes on where it was.

    A question needs aspects and the part of a good answer that belongs to each:
    'aspectrag data annotate' makes them of long answers. The better a passage
    covers what is still uncovered, the earlier it belongs: sft learns to rank
    so. dpo then learns from pairs of its own lists, of which one earned more.

    Examples:
      aspectrag train-ranker faceted.jsonl --index my-index --out my-ranker
      aspectrag train-ranker faceted.jsonl --index my-index --out better --objective dpo --start my-ranker
      aspectrag ask "How does it work?" --method rich --index my-index --ranker my-ranker
    """
    if (index is None) == (not docs):
        raise AspectragError("say whose passages are ranked: either --index FOLDER or --docs FILES")
    if objective == "sft" and (start or reward != "coverage"):
        raise AspectragError("--start and --reward belong to --objective dpo")
    if objective == "dpo" and tune_encoder:
        raise AspectragError("--tune-encoder belongs to --objective sft; dpo keeps the encoder of --start")
    if tune_encoder is not None and tune_encoder <= 0:
        raise AspectragError(f"--tune-encoder is a learning rate, such as 2e-5, not {tune_encoder}")
    train, held_out = load_faceted(questions, limit), load_faceted(val, limit) if val else None
    retriever = index_of(index, docs or [], kind, encoder, progress=True)
    chosen = {"epochs": epochs, "patience": patience, "learning_rate": learning_rate}
    chosen = {name: value for name, value in chosen.items() if value is not None}
    program = RichRag(RichRagConfig(k=k), retriever, PointerRanker.load(start) if start else None)
    # Torch takes seconds to import: only who trains pays for it.
    from ..optimizers.ranker.dpo import PreferenceRanker
    from ..optimizers.ranker.rewards import AnswerReward, CoverageReward
    from ..optimizers.ranker.sft import SupervisedRanker
    from ..optimizers.ranker.training import Settings

    folder = out / "training"
    given: dict[str, Any]
    if objective == "sft":
        given = {"most": 16, "tune_encoder": tune_encoder} if tune_encoder else {}
        trainer: Any = SupervisedRanker(folder, encoder=_encoder(encoder), explored=explored, **given)
        if tune_encoder:  # each text of a step is encoded with gradients
            trainer.settings = Settings(epochs=10, patience=3, batch=4)
    else:
        earns = AnswerReward(program) if reward == "answer" else CoverageReward(k)
        given = {"strategy": pairs, "tau": tau, "samples": samples, "explored": explored}
        # What the model writes from a list is costly: the best epoch is then chosen by the greedy lists alone.
        trainer = PreferenceRanker(folder, reward=earns, drawn=0 if reward == "answer" else 8, **given)
    trainer.settings = dataclasses.replace(trainer.settings, **chosen, k=k, seed=seed)
    if explored or reward == "answer":
        model = load(lm, api_base=api_base)
        load_model(model)
        dspy.configure(lm=model, roles=roles())
    better = trainer.compile(program, trainset=train, valset=held_out)
    better.ranker.save(out)
    report = dataclasses.asdict(trainer.report)
    (out / "report.json").write_text(ujson.dumps(report, indent=2) + "\n", encoding="utf-8")
    console().print(shown(f"{out}: {trainer.report}"))


def _encoder(encoder: str | None) -> SentenceEncoder:
    source = encoder_of("dense", encoder)
    assert source is not None, "a dense index has an encoder"
    return SentenceEncoder(source)
