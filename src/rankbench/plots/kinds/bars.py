"""Bars: what has one value for each candidate, such as a barrier, from nought on so that lengths can be compared."""

from __future__ import annotations

from rankbench.analysis.questions.view import CampaignView
from rankbench.plots import captions, marks, palette
from rankbench.plots.bar_form import form
from rankbench.plots.chart import Chart

TITLE = "Bars"
HELP = "Typical value (median over launches of each launch's median) from nought on; the thin line is its interval."
SCOPE = "line"


def chart(view: CampaignView) -> Chart | None:
    """Draw one operation that was measured in one size, or takes none."""
    if len({case.size_bytes for case in view.cases}) > 1:
        return None
    rows = [
        marks.make_point(summary, view.measure(case))
        | {"key": case.key, "row": f"{summary.candidate}{level and f', {level}'}"}
        for case, level, summary in view.list_shown_values()
    ]
    if not rows:
        return None
    case = view.cases[0]
    measure = marks.drop_moved(view.measure(case))
    title = captions.make_title(view.case_name(case), measure)
    drawn = form(palette.paint(view), measure, tuple(str(row["row"]) for row in rows))
    return Chart(drawn, title, captions.describe_conditions(view), {"points": rows})
