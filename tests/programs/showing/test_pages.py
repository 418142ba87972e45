import pytest
from aspectrag.programs.showing.pages import TEMPLATES, asset, templates


def rendered(said):
    return templates().from_string('<p title="{{ said }}">{{ said }}</p>').render(said=said)


@pytest.mark.parametrize("said", ["</script>", "<!--", '"><img src=x onerror=alert(1)>', "]]>", "' onclick='x"])
def test_no_text_becomes_markup(said):
    html = rendered(said)
    assert html.count("<") == 2
    assert html.count('"') == 2


def test_lone_surrogates_control_characters_and_reading_order_do_not_come_through():
    assert rendered("a\ud83d\x00\x1b[1m\u202eb\u2066c\n") == '<p title="a?[1mbc\n">a?[1mbc\n</p>'


def test_keys_are_masked_in_any_text(monkeypatch):
    monkeypatch.setenv("MY_API_KEY", "quite-long-&-odd")
    assert (
        rendered("it is quite-long-&-odd, or sk-abcdef123456") == '<p title="it is ***, or ***">it is ***, or ***</p>'
    )


def test_style_and_script_are_put_in_as_they_are_and_end_nothing():
    for name in ("trace.css", "trace.js", "page.css"):
        assert not any(word in asset(name) for word in ("</", "url(", "@import", "://"))
        assert templates().from_string("{{ it }}").render(it=asset(name)) == (TEMPLATES / name).read_text()


def test_the_script_runs_no_text():
    script = asset("trace.js")
    assert not any(
        word in script for word in ("innerHTML", "outerHTML", "eval(", "Function(", "document.write", "fetch(")
    )
