"""``aspectrag lm``: which language models there are, whether one works, and fetching the embedded one."""

from importlib.util import find_spec
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from ..errors import AspectragError
from ..home import home
from ..lms import LmOptions, check, fetch, load, resolve
from ..lms.artifacts import ARTIFACTS
from ..lms.embedded_model import converted_model
from ..lms.local.smollm2 import converted
from ..lms.profiles import read_profiles
from .options import ApiBase, Lm
from .progress import waiting
from .views.terminal import console

_HOW = """
Any other model is named by its model string: openai/gpt-4o-mini, ollama_chat/qwen3:4b, or hosted_vllm/NAME with the
--api-base of its server. local/NAME is a small one in this process: a LoRA adapter, or any causal model.
A profile file gives it a name and keeps its options; this one is read: {path}

  default = "small"
  [lms.small]
  model = "ollama_chat/qwen3:4b"
  num_ctx = 8192
  [roles]                    # single stages on a model of their own
  aggregate = "openai/gpt-4o-mini"
"""

app = typer.Typer(no_args_is_help=True, help="Language models: list, check, fetch.")


@app.command("list")
def list_command() -> None:
    """List the language models: the embedded one, those of your profile file, and how to name any other."""
    profiles = read_profiles()
    table = Table(box=None)
    for heading in ("name", "model", "server", ""):
        table.add_column(heading, overflow="fold")
    chosen = resolve()
    rows = {"embedded": LmOptions(), **profiles.lms}
    for name, options in rows.items():
        used = "default" if options.model == chosen.model and options.api_base == chosen.api_base else ""
        fetched = name != "embedded" or (home() / "models" / ARTIFACTS["lm"].target).exists()
        state = used if fetched else f"{used} not fetched yet: aspectrag lm pull".strip()
        table.add_row(name, options.model, options.api_base or "", state)
    for stage, name in profiles.roles.items():
        table.add_row(f"(stage {stage})", name, "", "role")
    console(wrap=True).print(table)
    console().print(Text(_HOW.format(path=profiles.path or "aspectrag.toml (none here)"), style="dim"))


@app.command("check")
def check_command(lm: Lm = None, api_base: ApiBase = None) -> None:
    """Ask a language model one tiny typed question; say what is wrong and what to do where it fails."""
    outcome = check(load(lm, api_base=api_base))
    if not outcome.ok:
        raise AspectragError(f"{outcome.message}: {outcome.remedy}")
    console().print(f"{outcome.message} ({outcome.seconds:.1f} s, {outcome.tokens} tokens)")


@app.command()
def pull(
    names: Annotated[list[str] | None, typer.Argument(help=f"Any of: {', '.join(ARTIFACTS)}; all by default.")] = None,
) -> None:
    """Fetch the weights of the embedded language model, of the small one and of the encoder; nothing twice."""
    for name in names or list(ARTIFACTS):
        console().print(f"{name}: {fetch(name)}")
        if name == "lm" and find_spec("openvino_genai"):
            with waiting("converting it for this machine, once: some minutes at most …"):
                converted_model()
        if name == "smollm2" and find_spec("gguf"):
            with waiting("converting it, once: some minutes at most …"):
                converted()
