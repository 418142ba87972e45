"""Tables in notebooks: texts stay texts, nothing runs, nothing is loaded."""

from aspectrag.programs.showing.tables import Strong, Table, tables_html


def test_what_stands_in_a_table_is_text():
    bad = "<script>alert(1)</script>"
    html = tables_html(bad, [Table((bad,), ((bad, Strong(bad)), ()), bad)], [bad])
    assert "<script" not in html
    assert html.count("&lt;script&gt;") == 6
    assert "<strong>&lt;script&gt;" in html
    assert html.count("<tr>") == 2  # the gap is for terminals


def test_tables_with_a_title_are_folded_those_without_rows_left_out_and_nothing_is_loaded():
    html = tables_html("a", [Table(("x",), (("1",),)), Table(("y",), (("2",),), "more"), Table(("z",), ())])
    assert html.count("<table>") == 2
    assert html.count("<details>") == 1
    assert "light dark" in html
    assert not any(sign in html for sign in ("http", "url(", "@import", '<th scope="col">z'))
