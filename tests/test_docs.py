"""The pages of the documentation: what they tell to run runs, what they call exists, and they make a site."""

import re
import shlex
from importlib.util import find_spec
from pathlib import Path

import aspectrag
import pytest
from aspectrag import lms
from aspectrag.app import cli
from aspectrag.data import Passage, index
from aspectrag.data.index import build
from aspectrag.lms import scripted_lm
from fakes import by_fields
from mlflow_stores import missing, store
from sybil import Sybil
from sybil.parsers.markdown import PythonCodeBlockParser
from typer.main import get_command

ROOT = Path(aspectrag.__file__).parent
FOLDER = ROOT / "docs"
PAGES = sorted(FOLDER.rglob("*.md"))

pytestmark = pytest.mark.skipif(not PAGES, reason="runs from a checkout")
each_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(FOLDER)))


@each_page
def test_examples_run_one_after_another(page, tmp_path, monkeypatch):
    """Models that are asked for by name are scripted ones."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(lms, "load", lambda name: scripted_lm(by_fields()), raising=False)
    examples = list(Sybil([PythonCodeBlockParser()]).parse(page).examples())
    assert examples or page.parent.name == "api" or page.name == "numbers.md"
    if "connect(" not in page.read_text(encoding="utf-8"):
        for example in examples:
            example.evaluate()
        return
    if reason := missing():
        pytest.skip(reason)
    with store(tmp_path):
        for example in examples:
            example.evaluate()


# Blocks of the README that cannot run here, by a word of theirs.
NOT_HERE = {
    'connect("http': "a server of MLflow",
    "compile_recipe": "benchmarks that were fetched",
    "LabeledFinetune": "the weights of a small model",
    "adapters(": "adapters that were trained",
}


def test_examples_of_the_readme_run(tmp_path, monkeypatch):
    """What they speak of without making it is given; of blocks that cannot run here only the imports do."""
    monkeypatch.chdir(tmp_path)
    lm = scripted_lm(by_fields())
    built = build([Passage("1", "Coal", "Coal is cheap.")], "my-index", "bm25")
    monkeypatch.setattr(lms, "load", lambda name: lm, raising=False)
    monkeypatch.setattr(lms, "fetch", lambda name: name, raising=False)
    monkeypatch.setattr(index, "open_index", lambda folder: built)
    names = {"index": built}
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    run = [block for block in blocks if not any(word in block for word in NOT_HERE)]
    assert len(blocks) - len(run) == len(NOT_HERE)
    for block in blocks:
        lines = block if block in run else "\n".join(re.findall(r"^(?:from|import) .+", block, re.MULTILINE))
        exec(lines, names)
    assert names["result"].answer
    assert [run.name for run in names["runs"]]


def commands(page):
    """The lines of a page that call ``aspectrag``."""
    for block in re.findall(r"```sh\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL):
        for line in block.splitlines():
            words = shlex.split(line, comments=True)
            if words and Path(words[0]).name == "aspectrag":
                yield words[1:]


@each_page
def test_commands_and_their_options_exist(page):
    for words in commands(page):
        command, rest = get_command(cli._app()), words
        while subcommands := getattr(command, "commands", None):
            command, rest = subcommands[rest[0]], rest[1:]
        with command.make_context(command.name, list(rest), resilient_parsing=False) as context:
            assert context.args == []


def test_every_page_is_in_the_navigation():
    told = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    assert [page for page in PAGES if f": {page.relative_to(FOLDER).as_posix()}\n" not in told] == []


@pytest.mark.skipif(not find_spec("mkdocs") or not find_spec("mkdocstrings"), reason="needs the extra docs")
def test_they_make_a_site_that_loads_nothing_from_elsewhere(tmp_path):
    from mkdocs.commands.build import build
    from mkdocs.config import load_config

    build(load_config(str(ROOT / "mkdocs.yml"), site_dir=str(tmp_path / "site"), strict=True))
    for page in (tmp_path / "site").rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        loaded = re.findall(
            r"""<(?:script|img|iframe)[^>]+src="(https?:[^"]+)|<link[^>]+stylesheet[^>]+href="(https?:[^"]+)""", text
        )
        assert loaded == [], page
        assert re.findall(r":(?:attr|class|data|func|math|meth|mod):|\.\. math|={9}", text) == [], page
