"""The ``aspectrag`` command: what fails says so in one line, and exits non-zero."""

import logging
import os
import sys
import traceback
import warnings
from pathlib import Path
from typing import Annotated, Any

import typer

from .. import __version__
from ..errors import AspectragError, redact
from ..texts import printable

# What shells give a process that Ctrl-C ended.
_INTERRUPTED = 130


def _version(wanted: bool) -> None:
    if wanted:
        sys.stdout.write(f"aspectrag {__version__}\n")
        raise typer.Exit


def main() -> None:
    """Entry point of the ``aspectrag`` command."""
    # Before the heavy imports: nothing may reach out to the network, or talk, on its own.
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    # An answer that was paid for is not lost to a terminal that lacks a letter, or to a closed stream.
    for name in ("stdout", "stderr"):
        stream: Any = getattr(sys, name) or Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115
        stream.reconfigure(errors="replace")
        setattr(sys, name, stream)
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)
    code = run(sys.argv[1:])
    if code == _INTERRUPTED:
        # Python would wait for calls that other threads have under way; nobody waits for their answers any more.
        sys.stdout.flush()
        os._exit(code)
    raise SystemExit(code)


def run(arguments: list[str]) -> int:
    """Run one command; every failure that a user can meet becomes one clear line on stderr.

    Returns:
        The exit code: 0, 1 for a failure, 2 for a wrong call, 130 where the user interrupted.
    """
    try:
        _app()(args=arguments)
        return 0
    except SystemExit as exc:  # wrong calls and --help end this way, already explained; Ctrl-C without a word
        code = exc.code if isinstance(exc.code, int) else 0
        return _fail("interrupted", code) if code == _INTERRUPTED else code
    except KeyboardInterrupt:
        return _fail("interrupted", _INTERRUPTED)
    except Exception as exc:
        if os.environ.get("ASPECTRAG_DEBUG"):
            sys.stderr.write(redact(traceback.format_exc()))
        return _fail(_explained(exc), 1)


def _app() -> typer.Typer:
    from . import ask, compile, data, diagnose, evaluate, index, lm, program, report, swap, trace, train, train_ranker

    app = typer.Typer(
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
        help="Questions with many aspects, answered by optimizable DSPy programs over your own documents.",
    )

    @app.callback()
    def root(
        version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Show it.")] = False,
    ) -> None:
        pass

    app.command()(ask.ask)
    app.command("eval")(evaluate.evaluate)
    app.command()(evaluate.compare)
    app.command()(compile.compile)
    app.command()(swap.swap)
    app.command()(diagnose.diagnose)
    app.command()(report.report)
    app.command()(train_ranker.train_ranker)
    app.add_typer(train.app, name="train")
    app.add_typer(program.app, name="program")
    app.add_typer(trace.app, name="trace")
    app.add_typer(index.app, name="index")
    app.add_typer(data.app, name="data")
    app.add_typer(lm.app, name="lm")
    return app


def _explained(exc: Exception) -> str:
    import dspy

    from ..lms import explain

    if isinstance(exc, AspectragError):
        return str(exc)
    if isinstance(exc, dspy.LMError):
        return explain(exc)
    if isinstance(exc, OSError):
        return f"{exc.strerror or exc}{f': {exc.filename}' if exc.filename else ''}"
    if isinstance(exc, RecursionError):
        return "what was given is nested too deeply to be read or shown"
    return f"unexpected {type(exc).__name__}: {exc} (ASPECTRAG_DEBUG=1 shows where)"


def _fail(message: str, code: int) -> int:
    sys.stderr.write("aspectrag: " + printable(" ".join(redact(message).split())) + "\n")
    return code
