"""Each benchmark reads the records that its authors published, and those of the hub, to the same question."""

import gzip
import json

import pytest
from aspectrag.data.benchmarks.loading import load
from aspectrag.errors import AspectragError


def held(loaded):
    """The passages that came with the records."""
    assert isinstance(loaded.corpus, tuple)
    return loaded.corpus


@pytest.fixture
def write(tmp_path):
    def call(name, content):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if not isinstance(content, str):
            lines = name.endswith((".jsonl", ".jsonl.gz"))
            content = "".join(json.dumps(one) + "\n" for one in content) if lines else json.dumps(content)
        data = content.encode()
        path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
        return path

    return call


HOTPOT = {
    "_id": "5a1",
    "question": "Which river near Lund Mill is longer?",
    "answer": "the Alda",
    "type": "comparison",
    "level": "hard",
    "supporting_facts": [["Alda", 0], ["Berra", 1], ["Alda", 1]],
    "context": [["Alda", ["The Alda is a river.", " It has 90 km."]], ["Berra", ["A river."]], ["Cole", ["A hill."]]],
}
HOTPOT_HUB = {
    **{key: HOTPOT[key] for key in ("question", "answer", "type", "level")},
    "id": "5a1",
    "supporting_facts": {"title": ["Alda", "Berra", "Alda"], "sent_id": [0, 1, 1]},
    "context": {"title": ["Alda", "Berra", "Cole"], "sentences": [p[1] for p in HOTPOT["context"]]},
}


@pytest.mark.parametrize("content", [[HOTPOT], [HOTPOT_HUB]], ids=["release", "hub"])
def test_hotpotqa(write, content):
    loaded = load("hotpotqa", path=write("hotpot_dev_distractor_v1.json", content))
    (one,) = loaded.questions
    assert (one.id, one.answers, one.type, one.hops) == ("5a1", ["the Alda"], "comparison", 2)
    assert one.supporting_titles == ["Alda", "Berra"]
    assert one.meta == {"level": "hard", "supporting_facts": [["Alda", 0], ["Berra", 1], ["Alda", 1]]}
    assert [p.title for p in held(loaded)] == ["Alda", "Berra", "Cole"]
    assert held(loaded)[0].text == "The Alda is a river. It has 90 km."
    assert one.supporting_ids == [p.id for p in held(loaded)[:2]]
    assert one.qrels == dict.fromkeys(one.supporting_ids, 1)
    assert list(one.inputs()) == ["question"]


def test_hotpotqa_without_facts_as_in_its_test_split_reads(write):
    loaded = load("hotpotqa", path=write("a.json", [{"_id": "7", "question": "Who?", "context": HOTPOT["context"]}]))
    assert (loaded.questions[0].answers, loaded.questions[0].supporting_ids) == ([], [])


TWO_WIKI = {
    "_id": "w1",
    "question": "Where was the director of Grey Tide born?",
    "answer": "Oslo",
    "type": "compositional",
    "supporting_facts": [["Grey Tide", 0], ["Ada Berg", 0]],
    "context": [["Grey Tide", ["A film by Ada Berg."]], ["Ada Berg", ["Born in Oslo."]], ["Cole", ["A hill."]]],
    "evidences": [["Grey Tide", "director", "Ada Berg"], ["Ada Berg", "place of birth", "Oslo"]],
}


@pytest.mark.parametrize(
    "form",
    [
        lambda record: record,
        lambda record: {
            key: json.dumps(value) if key in ("context", "evidences", "supporting_facts") else value
            for key, value in record.items()
        },
        lambda record: {
            **{key: value for key, value in record.items() if key != "_id"},
            "id": "w1",
            "supporting_facts": {"title": ["Grey Tide", "Ada Berg"], "sent_id": [0, 0]},
            "context": {"title": ["Grey Tide", "Ada Berg", "Cole"], "sentences": [p[1] for p in record["context"]]},
        },
    ],
    ids=["release", "parquet with JSON", "hub"],
)
def test_2wikimultihopqa(write, form):
    loaded = load("2wikimultihopqa", path=write("dev.json", [form(TWO_WIKI)]))
    (one,) = loaded.questions
    assert (one.id, one.type, one.hops, one.supporting_titles) == ("w1", "compositional", 2, ["Grey Tide", "Ada Berg"])
    assert one.sub_questions == [
        {"question": "Grey Tide >> director", "answers": ["Ada Berg"]},
        {"question": "Ada Berg >> place of birth", "answers": ["Oslo"]},
    ]
    assert one.supporting_ids == [p.id for p in held(loaded)[:2]]


def test_2wikimultihopqa_four_hops(write):
    path = write("dev.json", [{**TWO_WIKI, "type": "bridge_comparison"}])
    assert load("2wikimultihopqa", path=path).questions[0].hops == 4


MUSIQUE = {
    "id": "2hop__11_22",
    "question": "Who led the firm that owns Halm?",
    "answer": "Ida Voss",
    "answer_aliases": ["I. Voss", "Ida Voss"],
    "answerable": True,
    "paragraphs": [
        {"idx": 0, "title": "Cole", "paragraph_text": "A hill.", "is_supporting": False},
        {"idx": 1, "title": "Halm", "paragraph_text": "Owned by Brix.", "is_supporting": True},
        {"idx": 2, "title": "Brix", "paragraph_text": "Led by Ida Voss.", "is_supporting": True},
    ],
    "question_decomposition": [
        {"id": 11, "question": "Halm >> owned by", "answer": "Brix", "paragraph_support_idx": 1},
        {"id": 22, "question": "Who led #1 ?", "answer": "Ida Voss", "paragraph_support_idx": 2},
    ],
}


def test_musique(write):
    unanswerable = {**MUSIQUE, "id": "2hop__3_4", "answerable": False}
    loaded = load("musique", path=write("musique_full_v1.0_dev.jsonl", [MUSIQUE, unanswerable]))
    (one,) = loaded.questions
    assert (one.id, one.type, one.hops, one.answers) == ("2hop__11_22", "2hop", 2, ["Ida Voss", "I. Voss"])
    cole, halm, brix = held(loaded)
    assert one.supporting_ids == [halm.id, brix.id]
    assert one.sub_questions == [
        {"question": "Halm >> owned by", "answers": ["Brix"], "supporting_id": halm.id},
        {"question": "Who led #1 ?", "answers": ["Ida Voss"], "supporting_id": brix.id},
    ]
    assert cole.contents == "Cole\nA hill."


SQUAD_ROW = {
    "id": "57",
    "title": "River_Alda",
    "context": "The Alda flows to the sea.",
    "question": " Where does it flow? ",
    "answers": {"text": ["to the sea", "the sea", "the sea"], "answer_start": [15, 18, 18]},
}
SQUAD_FILE = {
    "version": "1.1",
    "data": [
        {
            "title": "River_Alda",
            "paragraphs": [
                {
                    "context": "The Alda flows to the sea.",
                    "qas": [
                        {
                            "id": "57",
                            "question": "Where does it flow?",
                            "answers": [{"text": text, "answer_start": 15} for text in ("to the sea", "the sea")],
                        },
                        {"id": "58", "question": "Who?", "answers": [], "is_impossible": True},
                    ],
                }
            ],
        }
    ],
}


@pytest.mark.parametrize(
    ("name", "content"), [("dev-v1.1.json", SQUAD_FILE), ("rows.jsonl", [SQUAD_ROW])], ids=["release", "hub"]
)
def test_squad(write, name, content):
    loaded = load("squad", path=write(name, content))
    (one,) = loaded.questions
    assert (one.id, one.question, one.answers) == ("57", "Where does it flow?", ["to the sea", "the sea"])
    assert (one.type, one.hops, one.supporting_titles) == ("single", 1, ["River Alda"])
    assert [p.contents for p in held(loaded)] == ["River Alda\nThe Alda flows to the sea."]
    assert one.supporting_ids == [held(loaded)[0].id]


def test_nq_open_gets_ids_that_do_not_depend_on_the_place(write):
    rows = [
        {"question": "who led brix", "answer": ["Ida Voss", "Voss"]},
        {"question": "where is halm", "answer": ["Ost"]},
    ]
    one, other = load("nq", path=write("NQ-open.dev.jsonl", rows)).questions
    assert (one.answers, one.hops) == (["Ida Voss", "Voss"], 1)
    again = load("nq", path=write("turned.jsonl.gz", rows[::-1])).questions
    assert [q.id for q in again] == [other.id, one.id]
    assert one.id.startswith("nq:")


TRIVIA_ANSWER = {"Value": "Ost", "Aliases": ["Ost", "The East"], "NormalizedAliases": ["ost", "the east"]}


@pytest.mark.parametrize(
    ("name", "content"),
    [
        (
            "wikipedia-dev.json",
            {"Data": [{"QuestionId": "tc_1", "Question": "Where is Halm?", "Answer": TRIVIA_ANSWER}], "Version": 1.0},
        ),
        (
            "rows.jsonl",
            [
                {
                    "question_id": "tc_1",
                    "question": "Where is Halm?",
                    "answer": {"value": "Ost", "aliases": ["Ost", "The East"]},
                },
                {"question_id": "tc_2", "question": "Who?", "answer": {"value": "<unk>", "aliases": []}},
            ],
        ),
    ],
    ids=["release", "hub"],
)
def test_triviaqa(write, name, content):
    (one,) = load("triviaqa", path=write(name, content)).questions
    assert (one.id, one.question, one.answers) == ("tc_1", "Where is Halm?", ["Ost", "The East"])


ASQA_RECORD = {
    "ambiguous_question": "Who played Ada?",
    "qa_pairs": [
        {
            "question": "Who played Ada in 1990?",
            "short_answers": ["Lis Holm"],
            "context": "No context provided",
            "wikipage": None,
        },
        {
            "question": "Who played Ada in 2004?",
            "short_answers": ["Eva Ek", "Ek"],
            "context": "Ek took over.",
            "wikipage": "Ada (film)",
        },
    ],
    "wikipages": [{"title": "Ada (film)", "url": "http://x"}],
    "annotations": [
        {"knowledge": [{"content": "Holm in 1990.", "wikipage": "Ada (play)"}], "long_answer": "Holm, then Ek."},
        {"knowledge": [{"content": "Ek took over.", "wikipage": "Ada (film)"}], "long_answer": "Ek after Holm."},
    ],
}


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("ASQA.json", {"train": {"1": {"x": 1}}, "dev": {"-88": ASQA_RECORD}}),
        ("dev.jsonl", [{**ASQA_RECORD, "sample_id": "-88"}]),
    ],
    ids=["release", "hub"],
)
def test_asqa(write, name, content):
    loaded = load("asqa", path=write(name, content))
    (one,) = loaded.questions
    assert (one.id, one.type, one.answers) == ("-88", "ambiguous", ["Holm, then Ek.", "Ek after Holm."])
    assert [part["answers"] for part in one.sub_questions] == [["Lis Holm"], ["Eva Ek", "Ek"]]
    assert [p.contents for p in held(loaded)] == ["Ada (film)\nEk took over.", "Ada (play)\nHolm in 1990."]
    assert one.supporting_ids == [p.id for p in held(loaded)]


def test_nf_cats_from_csv(write):
    table = (
        'annotated_by,category,question\nauthors,COMPARISON,"Oder, or Neisse?"\nmturk,REASON,Why?\nmturk,REASON,Why?\n'
    )
    one, other, again = load("nf-cats", path=write("valid.csv", table).parent).questions
    assert (one.question, one.type, one.annotated_by) == ("Oder, or Neisse?", "COMPARISON", "authors")
    assert again.id == f"{other.id}#2"  # the same row twice stays two questions
    with pytest.raises(AspectragError, match=r"other.csv, line 2 is no record of nf-cats: the category 'HOW' is none"):
        load("nf-cats", path=write("other.csv", "annotated_by,category,question\nauthors,how,Why?\n"))


WIKI_NFQA_RECORD = {
    "question_id": "single_squad_dev_7",
    "question_text": "Why did Halm close?",
    "num_answers": 3,
    "answer_dict": {"ground_truth": "['no ore', 'floods']", "gpt-4o": {"answer1": "The ore ran out."}},
    "answer_list": ["no ore", "The ore ran out.", "Cats."],
    "answer_label": [1, 3, 0],
}


def test_wiki_nfqa(write):
    path = write(
        "annotated_odqa_nf_test.jsonl",
        [
            WIKI_NFQA_RECORD,
            {**WIKI_NFQA_RECORD, "question_id": "2hop__1_2", "dataset": "musique", "NFQ_category": "REASON"},
        ],
    )
    one, other = load("wiki-nfqa", path=path).questions
    assert one.answers == ["no ore", "floods"]
    assert one.references == [
        {"text": "no ore", "label": 1}, {"text": "The ore ran out.", "label": 3}, {"text": "Cats.", "label": 0},
    ]  # fmt: skip
    assert (one.type, one.subset, one.hops) == ("non-factoid", "squad", 1)
    assert (other.type, other.subset, other.hops) == ("REASON", "musique", None)


def test_what_looks_like_code_in_an_answer_is_text(write):
    gold = "[__import__('os').system('false')]"
    record = {**WIKI_NFQA_RECORD, "answer_dict": {"ground_truth": gold}}
    assert load("wiki-nfqa", path=write("a.jsonl", [record])).questions[0].answers == [gold]


def test_bamboogle(write):
    (one,) = load(
        "bamboogle", path=write("test.csv", "Question,Answer\nWho led the owner of Halm?,Ida Voss\n")
    ).questions
    assert (one.question, one.answers, one.hops) == ("Who led the owner of Halm?", ["Ida Voss"], 2)


def test_wikipassageqa(write):
    head = "QID\tQuestion\tDocumentID\tDocumentName\tRelevantPassages\n"
    path = write("dev.tsv", head + "9\tWhy did Halm close?\t61\tHalm_(mine).html\t1,2\n")
    alone = load("wikipassageqa", path=path).questions[0]
    assert (alone.id, alone.answers, alone.qrels) == ("9", [], {"61_1": 1, "61_2": 1})
    write(
        "document_passages.json", {"61": {"0": "Halm is a mine.", "1": "The ore ran out. ", "2": "Then came floods."}}
    )
    loaded = load("wikipassageqa", path=path.parent)
    assert loaded.questions[0].answers == ["The ore ran out. Then came floods."]
    assert loaded.questions[0].supporting_titles == ["Halm (mine)"]
    assert [p.id for p in held(loaded)] == ["61_0", "61_1", "61_2"]


def test_wikiasp(write):
    record = {
        "exid": "train-3-9",
        "inputs": ["halm is a mine .", "it closed in 1910 ."],
        "targets": [["history", "halm closed in 1910 ."], ["early_life", ""], ["location", "halm lies in ost ."]],
    }
    loaded = load("wikiasp", path=write("test.jsonl", [record, {**record, "exid": "x", "targets": [["history", ""]]}]))
    (one,) = loaded.questions
    assert one.question == "Write about the subject of these sources: history, location."
    assert one.sub_questions[1] == {"question": "location", "answers": ["halm lies in ost ."]}
    assert one.answers == ["halm closed in 1910 .\n\nhalm lies in ost ."]
    assert [p.text for p in held(loaded)] == ["halm is a mine . it closed in 1910 ."]


def test_freshwiki_one_article_per_file(write):
    for title in ("Halm_Mine", "Alda", "Berra", "Cole", "Ost", "Brix"):
        below = {
            "section_title": "Floods",
            "section_content": [{"sentence": "They came.", "refs": []}],
            "subsections": [],
        }
        section = {"section_title": "History", "section_content": [{"sentence": "It closed", "refs": []}]}
        section["subsections"] = [below]
        path = write(f"json/{title}.json", {"title": title, "url": "u", "summary": "A mine.", "content": [section]})
    both = [load("freshwiki", split, path=path.parent.parent) for split in ("tune", "dev")]
    ids = [{q.id for q in loaded.questions} for loaded in both]
    assert not ids[0] & ids[1]
    assert ids[0] | ids[1] == {"Halm Mine", "Alda", "Berra", "Cole", "Ost", "Brix"}
    one = both[0].questions[0]
    assert one.question == f"Write about {one.id}: History."
    assert one.answers == ["A mine.\n\nIt closed. They came."]
    assert one.sub_questions == [{"question": "History", "answers": ["It closed. They came."]}]
    assert [p.text for p in held(both[0]) if p.title == one.id] == ["A mine.", "History. It closed. They came."]


COMMON = {"label": ["A", "B"], "text": ["bank", "shop"]}


@pytest.mark.parametrize(
    "record",
    [
        {
            "id": "1",
            "question": "Where is money kept?",
            "question_concept": "money",
            "choices": COMMON,
            "answerKey": "A",
        },
        {
            "id": "1",
            "answerKey": "A",
            "question": {
                "question_concept": "money",
                "stem": "Where is money kept?",
                "choices": [{"label": "A", "text": "bank"}, {"label": "B", "text": "shop"}],
            },
        },
    ],
    ids=["hub", "release"],
)
def test_commonsenseqa(write, record):
    (one,) = load(
        "commonsenseqa", path=write("dev_rand_split.jsonl", [record, {**record, "id": "2", "answerKey": ""}])
    ).questions
    assert (one.question, one.answers, one.hops, one.type) == ("Where is money kept?", ["bank"], 0, "straightforward")
    assert one.meta == {"choices": ["bank", "shop"], "concept": "money"}


def test_fanoutqa(write):
    part = {
        "id": "a",
        "question": "How long is the Alda?",
        "answer": 90,
        "evidence": {"title": "Alda", "pageid": 1},
        "decomposition": [],
    }
    first = {"id": "b", "question": "Which are they?", "answer": ["Alda", "Berra"], "evidence": None}
    record = {"id": "f", "question": "How long are they?", "answer": {"Alda": 90, "Berra": [8, True]}}
    record |= {"decomposition": [{**first, "decomposition": [part]}], "categories": ["Geography"]}
    (one,) = load("fanoutqa", path=write("fanout-final-dev.json", [record])).questions
    assert one.answers == ["Alda: 90", "Berra: 8, yes"]
    assert [p["question"] for p in one.sub_questions] == ["Which are they?", "How long is the Alda?"]
    assert (one.hops, one.supporting_titles) == (2, ["Alda"])


@pytest.mark.parametrize("extra", ["metadata", "meta_data"])
def test_flashrag_records_of_any_benchmark(write, extra):
    record = {
        "id": "dev_0",
        "question": "Where is Halm?",
        "golden_answers": ["Ost"],
        extra: {"type": "bridge", "level": "easy"},
    }
    (one,) = load("hotpotqa", path=write("dev.jsonl", [record])).questions
    assert (one.id, one.answers, one.type, one.meta) == ("dev_0", ["Ost"], "bridge", {"level": "easy"})


def test_flashrag_keeps_contexts_and_facts(write):
    meta = {key: HOTPOT_HUB[key] for key in ("type", "supporting_facts", "context")}
    loaded = load(
        "hotpotqa",
        path=write("dev.jsonl", [{"id": "0", "question": "Which?", "golden_answers": ["Alda"], "metadata": meta}]),
    )
    assert loaded.questions[0].supporting_titles == ["Alda", "Berra"]
    assert loaded.questions[0].supporting_ids == [p.id for p in held(loaded)[:2]]
    assert len(held(loaded)) == 3
