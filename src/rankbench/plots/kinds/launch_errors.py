"""Launch errors: the relative standard error of the mean over launches, over the ranks of all nodes."""

from __future__ import annotations

import functools
import math

import altair as alt

from rankbench.analysis.evaluation import scales
from rankbench.analysis.evaluation.scales import SiteResult
from rankbench.analysis.questions.placements import remove_placement
from rankbench.analysis.questions.view import CampaignView
from rankbench.plots import captions, forms, marks, palette
from rankbench.plots.chart import Chart, Row

TITLE = "Errors over launches"
HELP = (
    "Relative standard error of the mean over launches over the ranks of all nodes, a line for each candidate and "
    "number of ranks per node: how well a few more launches would repeat the mean."
)
SCOPE = "scale"
HEIGHT = 260


def chart(view: CampaignView) -> Chart | None:
    """Draw one case at all numbers of ranks, if any candidate has several launches at several of them."""
    cases = view.scaled.get(remove_placement(view.cases[0]).key, {})
    shown = [
        standing
        for standing in scales.list_results(view, cases, view.candidates)
        if standing.counts and math.isfinite(standing.summary.launches_rse)
    ]
    last = {
        (standing.candidate, standing.site.ranks_per_node): standing.site for standing in sorted(shown, key=by_ranks)
    }
    several = len({standing.site.ranks_per_node for standing in shown}) > 1
    rows: list[Row] = [
        {
            "key": standing.case.key,
            "candidate": standing.candidate,
            "place": scales.place_name(standing.site, view.campaign),
            "part": f"{standing.candidate} {standing.site.ranks_per_node}",
            "ranks": standing.site.ranks,
            "rse": marks.shorten(standing.summary.launches_rse),
            "error": f"{standing.summary.launches_rse:.2%}",
            "launches": standing.summary.launches,
            "samples": standing.summary.samples,
            "words": f"{standing.site.ranks_per_node} per node"
            if several and last[standing.candidate, standing.site.ranks_per_node] == standing.site
            else "",
        }
        for standing in shown
    ]
    ranks = tuple(sorted({row["ranks"] for row in rows}))
    if len(ranks) < 2:
        return None
    title = f"{view.case_name(view.cases[0])}: relative standard error over launches"
    return Chart(
        make_form(palette.paint(view), ranks),
        title,
        captions.describe_launches(sorted({row["launches"] for row in rows})),
        {"points": rows},
    )


def by_ranks(standing: SiteResult) -> int:
    """Return the ranks of all nodes."""
    return standing.site.ranks


@functools.lru_cache
def make_form(candidates: tuple[str, ...], ranks: tuple[int, ...]) -> Row:
    """Return lines over ranks, on a logarithmic axis with a tick at each number of ranks."""
    base = alt.Chart(forms.data("points")).encode(
        x=alt.X(
            "ranks:Q",
            scale=alt.Scale(type="log", base=2, nice=False, padding=14),
            axis=alt.Axis(title="ranks of all nodes", values=list(ranks), format="d"),
        ),
        y=alt.Y("rse:Q", axis=alt.Axis(title="relative standard error of the mean", format="~%")),
        color=palette.colour(candidates),
        detail="part:N",
    )
    line = base.mark_line(strokeWidth=1.5).encode(strokeDash=palette.dash(candidates))
    point = base.mark_point(size=40, filled=True, opacity=1, cursor="pointer").encode(
        shape=palette.choose_shapes(candidates), tooltip=forms.tooltips("candidate", "place", "error", "launches")
    )
    words = base.mark_text(align="right", dx=-7, dy=-9, fontSize=11, aria=False).encode(text="words:N")
    return forms.make_form([line, point, words], HEIGHT)
