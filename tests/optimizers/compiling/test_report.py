"""The report of an optimization in notebooks."""

from aspectrag.optimizers.compiling.report import Measured, Report, StageChange
from aspectrag.optimizers.evaluation.statistics import difference_of, mean_of


def test_a_report_shows_scores_stages_and_what_is_kept_as_text():
    before, after = (Measured(mean_of(values), tuple(values), {}, 0) for values in ([0.0, 1.0], [1.0, 1.0]))
    report = Report(
        target="typed/classify", recipe=None, optimizer="bootstrap", arguments={}, metric="em", models={},
        examples={"test": 2}, data="", uncompiled=before, compiled=after, difference=difference_of([1, 1], [0, 1]),
        kept="compiled", why="<script>", stages={"classify": StageChange(4, 0, True, "Be so.", "Be.")}, spent={},
    )  # fmt: skip
    html = report._repr_html_()
    assert "<td>mean (2)</td><td>0.500 [0.000, 1.000]</td><td>1.000 [1.000, 1.000]</td><td>+0.500" in html
    assert "<td>classify</td><td>0 → 4</td><td><strong>new</strong></td>" in html
    assert "The compiled program is kept: &lt;script&gt;" in html
