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
