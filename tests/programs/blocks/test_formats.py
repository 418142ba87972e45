import dspy
from aspectrag.programs.blocks.adapter import TolerantChatAdapter
from aspectrag.programs.blocks.bare import BareAdapter
from aspectrag.programs.blocks.formats import adapter_for


class Lm:
    def __init__(self, schema, params, **more):
        self.supports_response_schema, self.supported_params = schema, params
        vars(self).update(more)


def test_the_format_follows_what_the_model_can_do():
    assert isinstance(adapter_for(Lm(True, {"response_format"})), dspy.JSONAdapter)
    assert type(adapter_for(Lm(True, set()))) is TolerantChatAdapter
    assert type(adapter_for(Lm(False, {"response_format"}))) is TolerantChatAdapter


def test_what_was_trained_gets_the_prompts_it_was_trained_on():
    assert type(adapter_for(Lm(True, {"response_format"}, prompt="bare"))) is BareAdapter
    assert type(adapter_for(Lm(True, {"response_format"}, prompt="chat"))) is TolerantChatAdapter
    assert isinstance(adapter_for(Lm(True, {"response_format"}, prompt=None)), dspy.JSONAdapter)
