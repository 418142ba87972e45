"""What an optimization will take."""

import pytest
from aspectrag.optimizers.compiling.measuring import Probe
from aspectrag.optimizers.compiling.spending import Spent, estimated


@pytest.mark.parametrize(
    ("seconds", "told"),
    [(0.01, "about a second"), (3, "about 60 seconds"), (60, "about 20 minutes"), (1200, "about 6.7 hours")],
)
def test_estimate_at_the_pace_of_the_first_runs(seconds, told):
    estimate = estimated(Probe(runs=3, calls=6, tokens=300, seconds=seconds), runs=80, test=20, workers=2)
    assert str(estimate) == f"at most 120 runs, 240 calls, 12,000 tokens, {told}"


def test_calls_without_tokens_told_count_for_none():
    spent = Spent()
    spent.add_usage("m", {"prompt_tokens": 3, "completion_tokens": 2})
    spent.add_usage("m", {"prompt_tokens": None, "completion_tokens": 1})
    assert spent.totals() == {"lm_calls": 2, "prompt_tokens": 3, "completion_tokens": 3}
    assert spent.__deepcopy__({}) is spent
