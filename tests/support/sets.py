"""Small benchmarks of every kind of question, as a folder that the library reads: nothing of a real one."""

import json

# What a question of each benchmark is: how often one looks something up, or that several things are asked at once.
SETS = {
    "nq": 1, "squad": 1, "triviaqa": 1, "commonsenseqa": 0, "musique": 2, "hotpotqa": 2, "2wikimultihopqa": 2,
    "compound": "compound",
}  # fmt: skip
TYPES = ("REASON", "DEBATE", "COMPARISON", "EXPERIENCE")


def make_sets(folder, count=12):
    """Write ``tune``, ``dev`` and the passages of each benchmark, so many questions in each."""
    for name, kind in SETS.items():
        (folder / name).mkdir(parents=True)
        for split in ("tune", "dev"):
            _write(folder / name / f"{split}.jsonl", [_record(name, kind, split, n) for n in range(count)])
        passages = [
            {"id": f"{name}{split}{n}p{p}", "title": _title(name, split, n), "text": f"The {name} {split} {n} has {p}."}
            for split in ("tune", "dev") for n in range(count) for p in ((1,) if kind == 1 else (1, 2))
        ]  # fmt: skip
        _write(folder / name / "corpus.jsonl", passages)
    (folder / "nf_cats").mkdir()
    for split in ("tune", "dev"):
        asked = [
            _blank("nf_cats", split, n) | {"question": f"is {split} thing {n} one?", "type": TYPES[n % 4], "hops": None}
            for n in range(2 * count)
        ]
        _write(folder / "nf_cats" / f"{split}.jsonl", asked)
    return folder


def _write(path, records):
    path.write_text("".join(json.dumps(each) + "\n" for each in records))


def _title(name, split, n):
    """Of two questions in a row: they can be asked at once."""
    return f"{name} {split} {n // 2}"


def _blank(name, split, n):
    return {
        "id": f"{name}:{split}-{n}", "dataset": name, "split": split, "question": f"what is {name} {split} {n}?",
        "answers": [f"{name}{split}{n}"], "type": "", "hops": 1, "supporting_titles": [], "supporting_ids": [],
        "support_kind": "annotated", "sub_questions": [], "meta": {},
    }  # fmt: skip


def _record(name, kind, split, n):
    record = _blank(name, split, n)
    if kind == 0:
        return record | {"hops": 0}
    if kind == 1:
        titles = [_title(name, split, n)]
        return record | {"supporting_ids": [f"{name}{split}{n}p1"], "supporting_titles": titles}
    if kind == 2:
        asked = [f"who leads {name} {split} {n}?", "who is the child of #1 ?"]
    else:
        asked = [f"who leads {name} {split} {n}?", f"who left {name} {split} {n}?"]
    parts = [
        {"question": text, "answers": [f"{name}{split}{n}{p}"], "supporting_id": f"{name}{split}{n}p{p}"}
        for p, text in enumerate(asked, 1)
    ]
    joined = {} if kind == 2 else {"type": "compound-2", "question": " and ".join(asked)}
    return record | {"sub_questions": parts, "supporting_ids": [p["supporting_id"] for p in parts], "hops": 2} | joined
