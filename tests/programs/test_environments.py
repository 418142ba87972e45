"""Programs where users run them: inside an event loop, in a notebook kernel, with calls that take minutes."""

import asyncio
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import dspy
import nbformat
import pytest
from aspectrag.lms.scripted import scripted_lm
from aspectrag.programs.typed_rag import TypedRag
from fakes import ListRetriever, by_fields
from nbclient import NotebookClient

NOTEBOOK = """
import sys
sys.path.insert(0, {support!r})
import dspy
from aspectrag.lms.scripted import scripted_lm
from aspectrag.programs.typed_rag import TypedRag
from fakes import ListRetriever, by_fields

dspy.configure(lm=scripted_lm(by_fields(type="REASON")))
program = TypedRag(None, ListRetriever())
out = program(question="Why Kresy?")
again = await program.acall(question="Why Kresy?")
print(out.route, out.answer == again.answer, out.usage["lm_calls"])
"""


def test_called_from_inside_a_running_event_loop():
    async def caller():
        with dspy.context(lm=scripted_lm(by_fields(type="REASON"))):
            return program(question="Why Kresy?"), await program.acall(question="Why Kresy?")

    program = TypedRag(None, ListRetriever())
    sync, awaited = asyncio.run(caller())
    assert sync.toDict() == awaited.toDict()
    assert len(sync.sub_questions) == 3


def test_called_from_a_plain_thread():
    program, outs = TypedRag(None, ListRetriever()), []

    def work():
        with dspy.context(lm=scripted_lm(by_fields(type="DEBATE"))):
            outs.append(program(question="Should nuclear power replace coal?"))

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert len(outs) == 3
    assert all(out.toDict() == outs[0].toDict() for out in outs)


def test_in_a_notebook_kernel(tmp_path, monkeypatch):
    monkeypatch.setenv("DSPY_CACHEDIR", str(tmp_path))
    support = str(Path(__file__).parents[1] / "support")
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(NOTEBOOK.format(support=support))])
    try:
        NotebookClient(notebook, timeout=120, kernel_name="python3").execute()
    except OSError as error:
        pytest.skip(f"no kernel can be started here: {error}")
    assert notebook.cells[0].outputs[-1].text.strip() == "REASON True 6"


def test_a_call_that_takes_minutes_is_made_once(monkeypatch):
    """DSPy's own parallel runner repeats an item after 120 seconds, ours must not; the clock runs 1000 times faster."""
    clock, started = time.time, time.time()
    monkeypatch.setattr(time, "time", lambda: started + (clock() - started) * 1000)
    lm = scripted_lm(by_fields(type="REASON"), latency=0.2)
    with dspy.context(lm=lm):
        out = TypedRag(None, ListRetriever())(question="Why Kresy?")
    assert len(lm.engine.calls) == out.usage["lm_calls"] == 6


def test_an_exception_in_a_branch_ends_the_call_and_does_not_hang():
    def reply(call):
        if "passages" in call.inputs:
            return RuntimeError("the server fell over")
        return by_fields(type="REASON")(call)

    began = time.monotonic()
    with dspy.context(lm=scripted_lm(reply)), pytest.raises(dspy.LMError, match="fell over"):
        TypedRag(None, ListRetriever())(question="Why Kresy?")
    assert time.monotonic() - began < 20


def test_one_failing_question_does_not_stop_the_others_and_is_no_answer():
    def reply(call):
        if "bad" in call.inputs.get("question", ""):
            return RuntimeError("the server fell over")
        return by_fields(type="FACTOID")(call)

    examples = [dspy.Example(question=f"{word} question?").with_inputs("question") for word in ("good", "bad", "fine")]
    with dspy.context(lm=scripted_lm(reply)):
        outs = TypedRag(None, ListRetriever()).batch(examples, num_threads=3, disable_progress_bar=True)
    assert [bool(out) for out in outs] == [True, False, True]
    assert outs[0].answer


def test_a_batch_started_again_in_another_process_repeats_no_finished_call(tmp_path):
    """What was answered before a kill comes out of the cache on disk."""
    script = NOTEBOOK.replace("again = await", "again =").replace("program.acall", "program").replace(
        'by_fields(type="REASON"))', 'by_fields(type="REASON"), name="resumed")'
    )  # fmt: skip
    script = script.format(support=str(Path(__file__).parents[1] / "support"))
    environment = {**os.environ, "DSPY_CACHEDIR": str(tmp_path)}
    runs = [
        subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True)
        for _ in range(2)
    ]
    assert [run.stdout.split()[-1] for run in runs] == ["6", "0"]
