import math

import pytest
import torch
from aspectrag.lms.local.grammar import Grammars
from aspectrag.lms.local.writing import Draw, Writer, Written
from tiny import tiny_tokenizer


@pytest.mark.parametrize("temperature", [0.0, 0.5])
@pytest.mark.parametrize("behind", ["}", ",", "x"])
@pytest.mark.parametrize(("kind", "number"), [("integer", "12"), ("number", "-1.5")])
def test_a_number_ends_where_the_model_would_write_something_else(kind, number, behind, temperature):
    tokenizer = tiny_tokenizer()
    end = tokenizer.eos_token_id
    value = Written(Draw(9, temperature, seed=1), Grammars(tokenizer, len(tokenizer)).matcher({"type": kind}))
    writer = Writer([value], [end], lambda: True)
    for wanted in number + behind:
        scores = torch.zeros(1, len(tokenizer))
        scores[0, tokenizer.convert_tokens_to_ids("3")] = 20
        scores[0, tokenizer.convert_tokens_to_ids(wanted)] = 40
        writer.stop(writer.process(torch.empty(0), scores).argmax(1, keepdim=True))
    assert (tokenizer.decode(value.tokens), value.finished) == (number, True)


@pytest.mark.parametrize("seed", [-1, 2**64 - 1, 2**70])
@pytest.mark.parametrize("temperature", [1e-310, 0.5, 1e300])
def test_any_seed_and_temperature_draws_a_token(seed, temperature):
    value = Written(Draw(9, temperature, seed=seed))
    scores = torch.tensor([-math.inf, 3.0, 2.0, -1e30])
    drawn = value.choose(scores, 0)
    assert drawn in (1, 2, 3)
    assert drawn == Written(Draw(9, temperature, seed=seed)).choose(scores, 0)
    if temperature == 1e-310:
        assert drawn == 1
