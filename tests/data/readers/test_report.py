from aspectrag.data.readers.report import Ledger, Problem, ReadReport


def test_one_problem_in_the_summary():
    report = ReadReport(files=1, documents=1, problems=(Problem("a.pdf", "unreadable page", page=3),))
    assert report.summary() == "1 document from 1 file; 1 problem (a.pdf, page 3: unreadable page)"


def test_problems_of_a_file_are_listed_up_to_a_limit_and_counted_beyond():
    ledger = Ledger()
    for path in ("a.jsonl", "b.jsonl"):
        ledger.open(path)
        for line in range(1, 1502):
            ledger.at(line=line)
            ledger.problem("not JSON")
    report = ledger.report()
    assert (len(report.problems), report.unlisted) == (2000, 1002)
    assert "3,002 problems (first: a.jsonl, line 1: not JSON)" in report.summary()


def test_place_does_not_leak_into_the_next_file():
    ledger = Ledger()
    ledger.open("a.jsonl")
    ledger.at(line=4)
    ledger.open("b.txt")
    ledger.problem("empty file")
    assert ledger.problems == [Problem("b.txt", "empty file")]
