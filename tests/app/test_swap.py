"""``aspectrag swap``: one table of several language models, resuming, what is refused, and a server that goes away."""

import json
import re
import threading
from types import SimpleNamespace

import pytest
from aspectrag.app import swap
from aspectrag.lms import scripted_lm
from aspectrag.optimizers import compiling
from aspectrag.optimizers.compiling.optimizing import NothingChangedError
from aspectrag.optimizers.evaluation import runner
from aspectrag.optimizers.evaluation.run import ALL, Run
from fakes import by_fields
from servers import chat
from werkzeug import Response

KEY = "sk-test-abcdefghij0123456789"


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def lms(monkeypatch):
    """Language models by their names; one of them keeps to no form where it is to judge."""

    def babbling(call):
        return "Hm." if call.fields == ("type",) else by_fields()(call)

    replies = {"one": by_fields(type="FACTOID"), "two": babbling}
    those = {name: scripted_lm(reply, name=name) for name, reply in replies.items()}
    those["first"] = those["one"]
    monkeypatch.setattr(swap, "load", lambda name, **_: those[name])
    return those


def demo(*options):
    return "--benchmark", "demo", "--limit", 6, "--kind", "bm25", *options


def of(*names):
    return [part for name in names for part in ("--lm", name)]


def cells(line):
    return re.split(r"\s{2,}", line.strip())


def quality(out):
    """Mean, difference and p by metric and language model."""
    found, metric = {}, ""
    for line in out.partition("per question")[0].splitlines()[1:]:
        if line.strip():
            metric, (name, *rest) = (cells(line)[0], cells(line)[1:]) if line[0] != " " else (metric, cells(line))
            found[metric, name] = rest
    return found


def spent(out):
    """Calls, tokens read and written, dollars, seconds, failed, fallbacks and parse failures, row by row."""
    rows = out.partition("per question")[2].partition("\n\n")[0].splitlines()[1:]
    return [(cells(row)[0], cells(row)[1:]) for row in rows]


def folders(out):
    """The runs in the order of the table."""
    return [Run(path) for path in out.glob("*/*") if (path / "predictions.jsonl").is_file()]


def test_a_method_on_two_language_models_makes_one_table_and_resumes(run, here, lms):
    code, out, err = run("swap", "typed", *of("one", "two"), *demo())
    assert code == 0, err
    assert "one (1 of 2)" in err
    assert "two (2 of 2)" in err
    made = {name: len(lm.engine.calls) for name, lm in lms.items()}
    assert made["one"] == 12  # a type, and an answer
    assert made["two"] == 24  # three attempts at the type
    by_lm = {run.config["lm"]["model"]: run for run in folders(here / "runs" / "swap-demo")}
    for name in ("one", "two"):
        found = by_lm[lms[name].model]
        means = {column: mean for (category, _, column), mean in found.means().items() if category == ALL}
        for column in ("em", "f1", "rougeL", "RR"):
            assert quality(out)[column, name][0] == str(means[column])
        took = dict(spent(out))[name]
        columns = ("lm_calls", "prompt_tokens", "completion_tokens", "seconds")
        assert [*took[:3], took[4]] == [str(means[column]).split(" ")[0] for column in columns]
        assert took[3] == "unknown"  # these have no price, which is not 0
        counts = [str(round(means[column].mean * means[column].n)) for column in ("fallbacks", "parse_failures")]
        assert took[5:] == ["0 of 6", *counts]
    assert [took[-1] for _, took in spent(out)] == ["0", "6"]
    _, difference, p = quality(out)["f1", "two"]
    assert re.fullmatch(r"[+-]\d\.\d{3} \[-?\d\.\d{3}, -?\d\.\d{3}\]", difference)
    assert re.fullmatch(r"\d\.\d{3}|< 0\.001", p)
    assert len(quality(out)["f1", "one"]) == 1
    code, again, _ = run("swap", "typed", *of("one", "two"), *demo())
    assert (code, again) == (0, out)
    assert {name: len(lm.engine.calls) for name, lm in lms.items()} == made
    # They are runs as any other.
    code, page, err = run("compare", *sorted((here / "runs" / "swap-demo").glob("*/")), "--metric", "parse_failures")
    assert code == 0, err
    assert "parse_failures" in page


def test_what_is_measured_and_asked_can_be_chosen(run, here, lms):
    code, out, err = run("swap", "rag", *of("one", "two"), *demo("--metric", "em", "--k", 2, "--out", "mine"))
    assert code == 0, err
    assert {metric for metric, _ in quality(out)} == {"em"}
    for found in folders(here / "mine"):
        assert (found.config["config"]["k"], found.config["benchmark"]) == (2, "demo")


@pytest.fixture
def compiled(monkeypatch):
    """Recompiling, without its hours."""
    seen = []

    def fake(recipe, program, out, *, lm, workers, roles):
        seen.append((recipe, lm.model, workers))
        better = program.deepcopy()
        better.route.demos = [{"question": "What about tea?", "route": "single-step", "augmented": True}]
        better.save(out, meta={"lm": lm.model})
        return SimpleNamespace(program=better)

    monkeypatch.setattr(compiling, "compile_recipe", fake, raising=False)
    return seen


def test_recompiled_each_has_two_rows(run, here, lms, compiled):
    arguments = ("swap", "han", *of("one", "two"), *demo("--recompile", "router"))
    code, out, err = run(*arguments)
    assert code == 0, err
    assert compiled == [("router", lms[name].model, 8) for name in ("one", "two")]
    assert [name for name, _ in spent(out)] == ["one", "recompiled (router)", "two", "recompiled (router)"]
    assert out.count("recompiled (router)") == 2 + 2 * len({metric for metric, _ in quality(out)})
    assert len(folders(here / "runs" / "swap-demo")) == 4
    assert any("What about tea?" in call.prompt for call in lms["two"].engine.calls)
    calls = sum(len(lm.engine.calls) for lm in lms.values())
    code, again, _ = run(*arguments)
    assert (code, again, len(compiled)) == (0, out, 2)
    assert sum(len(lm.engine.calls) for lm in lms.values()) == calls


def test_a_recipe_that_changes_nothing_for_one_model_says_so_and_the_table_comes(run, here, lms, monkeypatch):
    def idle(*arguments, **options):
        raise NothingChangedError("gepa changed nothing: it was good as it was")

    monkeypatch.setattr(compiling, "compile_recipe", idle, raising=False)
    code, out, err = run("swap", "han", *of("one", "two"), *demo("--recompile", "router"))
    assert code == 0, err
    assert "router: gepa changed nothing: it was good as it was" in err
    assert [name for name, _ in spent(out)] == ["one", "recompiled (router)", "two", "recompiled (router)"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["rag", *of("one")], "there is one language model only (one): give two or more, each as --lm"),
        (["rag", *of("one", "one")], "--lm one is given twice"),
        (["rag", *of("one", "two", "first")], "one and first are the same language model (scripted/"),
        (["rga", *of("one", "two")], "there is no method 'rga': did you mean 'rag'?"),
        (["rag", *of("one", "two"), "--metric", "f2"], "there is no metric 'f2'"),
        (["rag", *of("one", "two"), "--role", "route=x/y"], "there is no stage 'route'"),
        (["rag", *of("one", "two"), "--index", "a", "--corpus", "b"], "--index and --corpus exclude each other"),
        (["han", *of("one", "two"), "--recompile", "rooter"], "there is no recipe 'rooter'"),
        (["rag", *of("one", "two"), "--recompile", "router"], "this recipe is for han, not for rag"),
        (["rich", *of("one", "two"), "--recompile", "pointer"], "trains what asks no language model"),
        (
            ["han", *of("one", "two"), "--recompile", "router", "--role", "route=embedded"],
            "the stage route has a language model of its own",
        ),
    ],
)
def test_what_cannot_be_swapped_is_refused_in_one_line(run, here, lms, arguments, message):
    code, out, err = run("swap", *arguments)
    assert (code, out) == (1, "")
    assert message in err
    assert err.count("\n") == 1
    assert not (here / "runs").exists()
    assert not any(lm.engine.calls for lm in lms.values())


def test_one_that_answers_nothing_fails_the_command_and_stays_in_the_table(run, here, lms, monkeypatch):
    monkeypatch.setattr(runner, "_PATIENCE", 99)
    lms["two"] = scripted_lm(lambda call: RuntimeError("it fell over"))
    code, out, err = run("swap", "rag", *of("one", "two"), *demo())
    assert code == 1
    assert quality(out)["em", "two"][0] == "0.000 [0.000, 0.000]"
    assert dict(spent(out))["two"] == ["unknown", "6 of 6"]  # what a failed answer took is no low price
    assert "! two, demo:" in err
    assert err.splitlines()[-1] == "aspectrag: two: no question was answered: see the errors above"


@pytest.fixture
def servers(httpserver, monkeypatch, here):
    """Two models of one server, as a profile file names them; those in ``down`` are gone."""
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setattr(runner, "_PAUSES", ())
    down, seen, lock = set(), [], threading.Lock()

    def handle(request):
        model = request.get_json()["model"]
        with lock:
            seen.append(model)
        if model in down:
            return Response("<html>502 Bad Gateway</html>", 502, content_type="text/html")
        text = "[[ ## answer ## ]]\nIt is so [1].\n\n[[ ## citations ## ]]\n[1]\n\n[[ ## completed ## ]]"
        return Response(json.dumps(chat(text)), content_type="application/json")

    httpserver.expect_request("/v1/chat/completions", method="POST").respond_with_handler(handle)
    base = httpserver.url_for("/v1")
    (here / "aspectrag.toml").write_text(
        "".join(
            f'[lms."{name}"]\nmodel = "openai/{model}"\napi_base = "{base}"\nnum_retries = 0\n'
            for name, model in (("[bold]small[/bold]", "small"), ("large", "[red]large[/]"), ("again", "small"))
        )
    )
    return down, seen


def test_a_server_that_goes_away_leaves_what_is_done_and_is_told_in_one_line(run, here, servers):
    down, seen = servers
    down.add("[red]large[/]")
    arguments = ("swap", "rag", *of("[bold]small[/bold]", "large"), *demo("--workers", 1))
    code, out, err = run(*arguments)
    assert (code, out) == (1, "")
    last = err.splitlines()[-1]
    assert re.search(r"aspectrag: large: the server .*What was answered is kept in runs/swap-demo", last)
    first, second = sorted(folders(here / "runs" / "swap-demo"), key=lambda run: run.config["lm"]["model"])[::-1]
    assert (first.metrics["answered"], len(list(second.answers()))) == (6, 5)
    down.clear()
    code, out, err = run(*arguments)
    assert code == 0, err
    assert seen.count("small") == 6
    assert "[bold]small[/bold]" in out  # a name is no markup
    assert [(name, took[5]) for name, took in spent(out)] == [("[bold]small[/bold]", "0 of 6"), ("large", "0 of 6")]
    for file in (here / "runs").rglob("*"):
        assert not file.is_file() or KEY.encode() not in file.read_bytes(), file


def test_two_names_of_one_model_of_one_server_are_refused(run, here, servers):
    code, _, err = run("swap", "rag", *of("[bold]small[/bold]", "again"), *demo())
    assert code == 1
    assert re.search(r"small\[/bold\] and again are the same language model \(.*/small\): give each once", err)
    assert not (here / "runs").exists()
