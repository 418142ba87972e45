"""What tokens cost, where that is known."""

import os
from collections.abc import Mapping


def cost_of(usage_by_model: Mapping[str, Mapping[str, int]]) -> float | None:
    """US dollars by LiteLLM's price list, or ``None`` where a model has no price: unknown is not free.

    Args:
        usage_by_model: ``prompt_tokens`` and ``completion_tokens`` of each model.

    Example:
        >>> cost_of({"embedded/some-model": {"prompt_tokens": 10, "completion_tokens": 1}}) is None
        True
        >>> cost_of({})
        0.0
    """
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")  # else it fetches prices while it is imported
    import litellm  # takes seconds: only who prices pays for it

    total = 0.0
    for model, used in usage_by_model.items():
        if model not in litellm.model_cost and model.partition("/")[2] not in litellm.model_cost:
            return None
        try:
            prices = litellm.cost_per_token(
                model=model, prompt_tokens=used["prompt_tokens"], completion_tokens=used["completion_tokens"]
            )
        except Exception:  # LiteLLM raises many kinds for a model that it cannot place
            return None
        total += sum(prices)
    return total
