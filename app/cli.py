"""The ``aspectrag`` command: what fails says so in one line, and exits non-zero."""

import logging
import os
import sys
import warnings
from typing import Annotated

import typer

from .. import __version__

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Questions with many aspects, answered by optimizable DSPy programs over your own documents.",
)


def _version(wanted: bool) -> None:
    if wanted:
        sys.stdout.write(f"aspectrag {__version__}\n")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Show it.")] = False,
) -> None:
    """Questions with many aspects, answered by optimizable DSPy programs over your own documents."""


def main() -> None:
    """Run the command line; every failure that a user can meet becomes one clear line on stderr."""
    # Before the heavy imports: nothing below may reach out to the network or talk on its own.
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)
    from ..errors import AspectragError, redact
    from . import ask, index, lm

    app.command()(ask.ask)
    app.add_typer(index.app, name="index")
    app.add_typer(lm.app, name="lm")
    debug = bool(os.environ.get("ASPECTRAG_DEBUG"))
    try:
        app()
    except KeyboardInterrupt:
        _fail("interrupted", 130)
    except AspectragError as exc:
        _fail(redact(str(exc)), 1)
    except Exception as exc:
        if debug:
            raise
        _fail(_explained(exc), 1)


def _explained(exc: Exception) -> str:
    import dspy

    from ..errors import redact
    from ..lms import explain

    if isinstance(exc, dspy.LMError):
        return redact(explain(exc))
    return redact(f"unexpected {type(exc).__name__}: {exc} (ASPECTRAG_DEBUG=1 shows where)")


def _fail(message: str, code: int) -> None:
    sys.stderr.write("aspectrag: " + " ".join(message.split()) + "\n")
    sys.stderr.flush()
    raise SystemExit(code)
