import dspy
import pytest
from aspectrag.app.stream import streamed
from aspectrag.lms.scripted import scripted_lm
from aspectrag.programs.blocks.adapter import answer_so_far
from aspectrag.programs.typed_rag import TypedRag
from fakes import ListRetriever, by_fields


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("", ""),
        ("{", ""),
        ('{"answer', ""),
        ('{"answer": "Zwei \\"Fl', 'Zwei "Fl'),
        ('{"answer": "done", "x": 1}', "done"),
        ('{"reasoning": "hm", "answer": "so', "so"),
        ("[[ ## answer ## ]]\nSo [1] it [", "So [1] it"),
        ("[[ ## answer ## ]]\nSo it is\n\n[[ ## completed ## ]]", "So it is"),
        ("[[ ## reasoning ## ]]\nhm", ""),
    ],
)
def test_the_answer_is_read_out_of_a_reply_in_the_making(text, answer):
    assert answer_so_far(text) == answer


def test_only_the_last_answer_streams():
    program = TypedRag(None, ListRetriever())
    pieces = []
    with dspy.context(lm=scripted_lm(by_fields(type="REASON", answer="The one and only answer."))):
        result, shown = streamed(program, "Why Kresy?", pieces.append)
    assert result.route == "REASON"
    assert shown in ("", result.answer)
    assert "".join(pieces) == shown
