"""``aspectrag data build revelator``: training sets for HANRAG's stages, from invented sets and from real ones."""

import json
from collections import Counter
from pathlib import Path

import pytest
from aspectrag.app import cli, data_build
from aspectrag.data.construction.splitting import disjoint
from aspectrag.data.construction.stages import STAGES

SHARED = Path(__file__).parents[3] / "shared" / "data"


@pytest.fixture
def run(capsys, monkeypatch):
    monkeypatch.setattr(cli, "_app", lambda: data_build.app)

    def call(*arguments):
        code = cli.run(["revelator", *map(str, arguments)])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return call


def lines(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n")[:-1]]


def parts(out):
    """All records of all stages, by part."""
    return {part: [one for name in STAGES for one in lines(out / name / f"{part}.jsonl")] for part in ("train", "test")}


def written(folder, **files):
    folder.mkdir(parents=True)
    for name, records in files.items():
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(one) + "\n" for one in records), encoding="utf-8")


@pytest.fixture
def sets(tmp_path):
    """Four sets of ten questions to learn from; a question of dev is in musique's tune, a passage of dev in squad's."""

    def asked(name, n, **more):
        return {"id": f"{name}:{n}", "question": f"who did {name} {n}", "answers": [f"A{name}{n}"], **more}

    def chain(n):
        subs = [
            {"question": f"Who made film {n}?", "answers": [f"Maker{n}"], "supporting_id": f"m:{n}a"},
            {"question": "#1 >> spouse", "answers": [f"Spouse{n}"], "supporting_id": f"m:{n}b"},
        ]
        return asked("musique", n, hops=2, type="2hop", supporting_ids=[f"m:{n}a", f"m:{n}b"], sub_questions=subs)

    def compound(n):
        subs = [
            {"question": f"Where is {side} {n}?", "answers": [f"{side}land{n}"], "supporting_id": f"c:{n}{side}"}
            for side in ("east", "west")
        ]
        return asked("compound", n, type="compound-2", hops=2, sub_questions=subs)

    def passages(prefix, text):
        return [{"id": f"{prefix}:{n}{side}", "title": f"{prefix}{n}{side}", "text": text.format(n=n, side=side)}
                for n in range(10) for side in ("", "a", "b", "east", "west")]  # fmt: skip

    store = tmp_path / "sets"
    sure = [asked("commonsenseqa", n, hops=0, type="straightforward") for n in range(12)]
    written(store / "commonsenseqa", tune=sure[:10], dev=sure[10:])
    singles = [asked("squad", n, hops=1, supporting_ids=[f"s:{n}"]) for n in range(10)]
    written(store / "squad", tune=singles, dev=[asked("squad", 11, hops=1, supporting_ids=["s:3"])],
            corpus=passages("s", "This tells who did squad {n}{side}: Asquad{n}."))  # fmt: skip
    chains = [chain(n) for n in range(10)]
    written(store / "musique", tune=chains, dev=[{**chain(4), "id": "musique:x", "supporting_ids": []}],
            corpus=passages("m", "Who made film {n}{side} is told."))  # fmt: skip
    written(store / "compound", tune=[compound(n) for n in range(10)], dev=[compound(11)],
            corpus=passages("c", "Where is {side} {n}: in {side}land{n}."))  # fmt: skip
    return store


NAMES = ("commonsenseqa", "squad", "musique", "compound")


def test_a_folder_for_each_stage_that_shares_nothing(run, sets, tmp_path):
    out = tmp_path / "out"
    code, said, err = run(*NAMES, "--data", sets, "--out", out, "--test", 0.3)
    assert code == 0
    assert err == "2 of 40 questions left out: they share something with dev\n"
    made = parts(out)
    disjoint(made["train"], made["test"])
    sources = {one["source_id"] for part in made.values() for one in part}
    assert not sources & {"squad:3", "musique:4"}
    # Every question but some of the many that need no look-up, of which the router takes as many as of the others.
    assert len([source for source in sources if not source.startswith("commonsenseqa")]) == 28
    routes = Counter(one["route"] for one in lines(out / "router" / "train.jsonl"))
    assert len(set(routes.values())) == 1
    assert set(routes) == {"straightforward", "single-step", "compound", "complex"}
    judged = Counter(one["relevant"] for one in lines(out / "relevance" / "train.jsonl"))
    assert judged[True] >= judged[False] > 0
    refined = {one["id"]: one for part in made.values() for one in part}["musique:2#refiner#1"]
    assert refined["seed_question"] == "Who is the spouse of Maker2?"
    assert f"{out}: from 38 questions of commonsenseqa, squad, musique, compound" in said
    again = tmp_path / "again"
    assert run(*NAMES, "--data", sets, "--out", again, "--test", 0.3)[0] == 0
    assert parts(again) == made
    other = tmp_path / "other"
    assert run(*NAMES, "--data", sets, "--out", other, "--test", 0.3, "--seed", 5)[0] == 0
    assert parts(other) != made


def test_one_stage_without_a_test_part_and_with_all_questions(run, sets, tmp_path):
    out = tmp_path / "out"
    arguments = ("musique", "--data", sets, "--out", out, "--stage", "ending", "--test", 0, "--no-beside-dev")
    code, _, err = run(*arguments)
    assert (code, err) == (0, "")
    assert [path.name for path in out.rglob("*.jsonl")] == ["train.jsonl"]
    assert Counter(one["verdict"] for one in lines(out / "ending" / "train.jsonl")) == {"continue": 20, "end": 10}
    assert run(*arguments, "--most", 7)[0] == 0
    assert len(lines(out / "ending" / "train.jsonl")) == 7


def test_stages_that_nothing_is_there_for_are_left_out_and_said(run, sets, tmp_path):
    out = tmp_path / "out"
    code, said, err = run("squad", "--data", sets, "--out", out)
    assert code == 0
    assert "! nothing for the decomposer, left out: give a set of compound questions" in err
    assert sorted(path.name for path in out.iterdir()) == ["relevance", "router"]
    assert "refiner" not in said


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("musique", "--stage", "judge"), "there is no stage 'judge': choose router, decomposer"),
        (("musik",), "there is no benchmark 'musik': did you mean 'musique'?"),
        (("squad", "--stage", "refiner"), "nothing for the refiner in squad: give a set with hops"),
        (("commonsenseqa", "--stage", "relevance"), "nothing for the relevance in commonsenseqa"),
        (("wikiasp",), "wikiasp does not say how its questions are looked up"),
    ],
)
def test_unusable_input_is_told_in_one_line(run, sets, tmp_path, arguments, words):
    aspects = [{"id": "w", "question": "What about Ulm?", "answers": ["Long."]}]
    written(sets / "wikiasp", tune=aspects, dev=[{**aspects[0], "id": "v"}])
    code, said, err = run(*arguments, "--data", sets, "--out", tmp_path / "out")
    assert (code, said) == (1, "")
    assert err.splitlines()[-1].startswith("aspectrag: ")
    assert words in err.splitlines()[-1]


@pytest.mark.skipif(not SHARED.is_dir(), reason="the real benchmark data is not here")
def test_real_sets(run, tmp_path):
    out = tmp_path / "out"
    assert run("musique", "squad", "commonsenseqa", "compound", "--data", SHARED, "--out", out, "--test", 0.2)[0] == 0
    made = parts(out)
    disjoint(made["train"], made["test"])
    kept = {one["source_id"] for part in made.values() for one in part}
    assert len(kept) > 400
    for part, least in {"train": 200, "test": 40}.items():
        routes = Counter(one["route"] for one in lines(out / "router" / f"{part}.jsonl"))
        assert len(routes) == 4
        assert len(set(routes.values())) == 1
        assert routes.total() >= least
        judged = Counter(one["relevant"] for one in lines(out / "relevance" / f"{part}.jsonl"))
        assert 0.8 < judged[False] / judged[True] <= 1
    verdicts = Counter(one["verdict"] for one in made["train"] if "verdict" in one)
    assert verdicts["continue"] > verdicts["end"] > 80
    seeds = [one["seed_question"] for one in made["train"] if "seed_question" in one]
    assert not any("#" in seed or ">>" in seed for seed in seeds)
    # What is measured on shares nothing with what is learnt from.
    for name in ("musique", "squad", "commonsenseqa", "compound"):
        disjoint(made["train"], [{**one, "sub_questions": []} for one in lines(SHARED / name / "dev.jsonl")])
