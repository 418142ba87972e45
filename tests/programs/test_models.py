"""Which language models are saved with a program, and how they come back."""

import json

import dspy
import pytest
from aspectrag.errors import AspectragError
from aspectrag.lms import load
from aspectrag.lms.named import NamedLM
from aspectrag.lms.patient import PatientLM
from aspectrag.lms.scripted import scripted_lm
from aspectrag.programs.baselines.rag import Rag
from aspectrag.programs.models import UnloadedLM, check_lms, load_lm
from fakes import ListRetriever


def test_ours_make_themselves_again(monkeypatch):
    monkeypatch.delenv("OPENAI_API_BASE", raising=False)
    for lm in (load("embedded"), load("openai/gpt-4o-mini", max_tokens=5)):
        made = load_lm(json.loads(json.dumps(lm.dump_state())))
        assert (type(made), made.model, made.kwargs) == (type(lm), lm.model, lm.kwargs)
        assert isinstance(made, NamedLM)


def test_dspys_own_is_loaded_as_dspy_does():
    made = load_lm(
        json.loads(json.dumps(dspy.LM("openai/m", max_tokens=5, temperature=0.3, num_retries=7).dump_state()))
    )
    assert type(made) is dspy.LM
    assert (made.model, made.kwargs["max_tokens"], made.kwargs["temperature"], made.num_retries) == (
        "openai/m", 5, 0.3, 7
    )  # fmt: skip
    with pytest.raises(ValueError, match="Refusing to import"):
        load_lm({"_dspy_lm_class": "os.system", "model": "m"})


def test_one_that_is_looked_at_is_not_asked():
    state = load("embedded").dump_state()
    lm = UnloadedLM(state)
    assert (lm.model, lm.dump_state()) == (state["model"], state)
    with pytest.raises(AspectragError, match=r"load\(\) it"):
        lm("Hello?")


def test_others_are_refused_by_the_name_of_their_stage():
    program = Rag(retriever=ListRetriever())
    for fits in (None, load("embedded"), dspy.LM("openai/m"), UnloadedLM(load("embedded").dump_state())):
        program.answer.lm = fits
        check_lms(program)
    for other in (scripted_lm({}), PatientLM("openai/m")):
        program.answer.lm = other
        with pytest.raises(AspectragError, match=r"language model of answer \(\w+\) cannot be saved"):
            check_lms(program)
