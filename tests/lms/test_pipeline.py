"""The process protocol, against a worker that needs no model."""

import subprocess
import sys
import textwrap

import pytest
from aspectrag.lms.pipeline import Generated, Job, Pipeline, PipelineError, PipelineSettings, RequestRefusedError

# Answers with the tokens it was given. The first tells what else to do:
# 1 crash, 2 crash once, 3 blame this request, 4 never answer, 5 refuse.
WORKER = """
import json, os, pathlib, sys
once = pathlib.Path(json.loads(sys.argv[1])["model"])
def say(**message):
    print(json.dumps(message), flush=True)
say(ready=True)
print("native noise", file=sys.stderr)
for line in sys.stdin:
    message = json.loads(line)
    if "cancel" in message:
        once.with_name("cancelled").touch()
        continue
    request, first = message["id"], message["tokens"][0]
    if first == 1 or (first == 2 and not once.exists()):
        once.touch()
        os._exit(7)
    elif first == 3:
        say(fatal="RuntimeError: bad schema", suspects=[request])
        os._exit(0)
    elif first == 5:
        say(id=request, error="ValueError: no")
    elif first != 4:
        *some, last = message["tokens"]
        for token in some if message["stream"] else ():
            say(id=request, tokens=[token])
        say(id=request, tokens=[last] if message["stream"] else message["tokens"], finish="stop")
"""


@pytest.fixture
def pipeline(tmp_path):
    worker = tmp_path / "worker.py"
    worker.write_text(textwrap.dedent(WORKER))
    made = Pipeline(PipelineSettings(str(tmp_path / "once")), worker=worker)
    yield made
    made.close()


def submitted(pipeline, *tokens, listener=None):
    job = Job(list(tokens), {}, listener)
    pipeline.submit(job)
    return job.future


def test_every_job_gets_its_own_tokens(pipeline):
    futures = [submitted(pipeline, 9, number) for number in range(20)]
    assert [future.result(30) for future in futures] == [Generated((9, number), "stop") for number in range(20)]


def test_tokens_arrive_one_by_one(pipeline):
    pieces: list[list[int]] = []
    submitted(pipeline, 9, 8, 7, listener=pieces.append).result(30)
    assert pieces == [[9], [8], [7]]


def test_a_crash_is_survived_once(pipeline):
    waiting = submitted(pipeline, 4)
    crashed = submitted(pipeline, 2, 6)
    assert crashed.result(30).tokens == (2, 6)
    assert not waiting.done()
    for _ in range(2):
        with pytest.raises(PipelineError, match="ended with code 7"):
            submitted(pipeline, 1).result(30)
    assert submitted(pipeline, 9).result(30).tokens == (9,)


def test_only_the_request_to_blame_fails(pipeline):
    innocent = submitted(pipeline, 4)
    with pytest.raises(RequestRefusedError, match="bad schema"):
        submitted(pipeline, 3).result(30)
    assert not innocent.done()
    with pytest.raises(RequestRefusedError, match="no"):
        submitted(pipeline, 5).result(30)


def test_cancelling_tells_the_worker(pipeline, tmp_path):
    submitted(pipeline, 4).cancel()
    submitted(pipeline, 9).result(30)
    assert (tmp_path / "cancelled").exists()
    assert not pipeline._jobs


def test_closing_ends_process_and_waiting(pipeline):
    waiting = submitted(pipeline, 4)
    process = pipeline._process
    pipeline.close()
    with pytest.raises(PipelineError, match="closed"):
        waiting.result(5)
    assert process.poll() is not None
    with pytest.raises(PipelineError, match="closed"):
        submitted(pipeline, 9)


def test_a_worker_that_cannot_start_says_why(tmp_path):
    broken = Pipeline(PipelineSettings("x"), worker=tmp_path / "missing.py")
    with pytest.raises(PipelineError, match=r"missing\.py"):
        submitted(broken, 9).result(30)


def test_the_worker_ends_with_its_input():
    from aspectrag.lms import pipeline as module

    done = subprocess.run(
        [sys.executable, "-P", str(module._WORKER), "{}"], stdin=subprocess.DEVNULL, capture_output=True, text=True
    )
    assert "fatal" in done.stdout or "No module" in done.stderr
