"""Ranks: when each began and ended in one case; or, where only that is known, how often each was the last to end."""

from __future__ import annotations

import functools
import math

import altair as alt
import polars as pl

from rankbench.analysis.questions.view import CampaignView, group_by_case
from rankbench.language import render, say
from rankbench.plots import axes, captions, forms, marks, palette
from rankbench.plots.chart import Chart, Row

TITLE = "Single ranks"
HELP = (
    "Each rank's bar runs from when it began to when it ended; a thin line goes on to the 90th percentile of ends. "
    "Where the samples of single ranks were not kept: how often each was the last to end; dashed is an even share."
)
SCOPE = "near"
HEIGHT = 220
MOST_NUMBERS = 32
"""Ranks whose numbers have room below the axis."""
BESIDE = 0.6
"""The part of a rank's width over which candidates are spread."""


def chart(view: CampaignView) -> Chart | None:
    """Draw the ranks of one case."""
    case = view.cases[0]
    rank_rows = view.once("ranks", lambda: ranks_of(view)).get(case.key, [])
    if not rank_rows:
        return None
    timed = [row for row in rank_rows if row["median_ns"] is not None]
    name = view.case_name(case)
    if not timed:
        rows = [make_share(view, row) for row in rank_rows]
        chosen = draw_shares(palette.paint(view), case.ranks)
        title = f"{name}: how often each rank was the last"
    else:
        rows = [make_times(view, row) for row in timed]
        chosen = draw_spans(palette.paint(view), case.ranks, heading(view))
        title = f"{name}: from beginning to end of each rank"
    return Chart(
        chosen, title, captions.describe_conditions(view), {"ranks": rows, "even": [{"share": 1 / case.ranks}]}
    )


def ranks_of(view: CampaignView) -> dict[str, list[Row]]:
    """Return the ranks of each case that is drawn."""
    frame = view.single_ranks.filter(pl.col("candidate").is_in(list(view.candidates)))
    return group_by_case(frame if view.near is None else frame.filter(pl.col("case").is_in(list(view.near))))


def place(view: CampaignView, row: Row) -> Row:
    """Return a rank's candidate and position: candidates are side by side."""
    count = len(view.candidates)
    beside = (view.candidates.index(row["candidate"]) - (count - 1) / 2) * BESIDE / count
    last = render(say("{share:.0%} of {n} samples", share=row["last"], n=row["samples"]))
    return {"candidate": row["candidate"], "rank": row["rank"], "place": row["rank"] + beside, "last": last}


def make_share(view: CampaignView, row: Row) -> Row:
    """Return how often a rank was the last."""
    return {**place(view, row), "share": marks.shorten(row["last"])}


def make_times(view: CampaignView, row: Row) -> Row:
    """Return when a rank began and ended. Without a common start each begins at its own."""
    known = {name: row[name] or 0.0 for name in ("began_ns", "began_p90_ns", "median_ns", "p90_ns")}
    return {
        **place(view, row),
        **{name: marks.shorten(value) for name, value in known.items()},
        "began": render(
            say("{late:time} late, 90% within {p90:time}", late=known["began_ns"], p90=known["began_p90_ns"])
        ),
        "ended": render(say("after {end:time}, 90% within {p90:time}", end=known["median_ns"], p90=known["p90_ns"])),
    }


def place_ranks(candidates: tuple[str, ...], ranks: int, *fields: str) -> alt.Chart:
    """Return the ranks from left to right, candidates side by side."""
    step = max(1, 2 ** math.ceil(math.log2(ranks / MOST_NUMBERS)))
    axis = alt.Axis(title="rank", values=list(range(0, ranks, step)), grid=False, format="d")
    return alt.Chart(forms.data("ranks")).encode(
        x=alt.X("place:Q", scale=alt.Scale(domain=[-BESIDE, ranks - 1 + BESIDE], nice=False), axis=axis),
        color=palette.colour(candidates),
        tooltip=forms.tooltips("candidate", "rank", *fields),
    )


def heading(view: CampaignView) -> str:
    """Return what times are counted from."""
    common = view.campaign.scheduled(view.cases[0])
    return "after the common start" if common else "after its own beginning"


@functools.lru_cache
def draw_spans(candidates: tuple[str, ...], ranks: int, heading: str) -> Row:
    """Draw a bar from a rank's beginning to its end."""
    axis = alt.Axis(title=heading, labelExpr=axes.TIME_LABEL)
    base = place_ranks(candidates, ranks, "began", "ended", "last")
    bar = base.mark_rule(strokeWidth=5).encode(y=alt.Y("began_ns:Q", axis=axis), y2="median_ns:Q")
    tail = base.mark_rule(strokeWidth=1.5).encode(y=alt.Y("median_ns:Q"), y2="p90_ns:Q")
    end = base.mark_point(size=45, filled=True, opacity=1).encode(
        y="median_ns:Q", shape=palette.choose_shapes(candidates)
    )
    return forms.make_form([bar, tail, end], HEIGHT)


@functools.lru_cache
def draw_shares(candidates: tuple[str, ...], ranks: int) -> Row:
    """Draw the share of samples in which a rank was the last."""
    y = alt.Y("share:Q", axis=alt.Axis(title="share of samples", format=".0%"), scale=alt.Scale(domainMin=0))
    point = place_ranks(candidates, ranks, "last").mark_point(size=60, filled=True, opacity=1)
    even = alt.Chart(forms.data("even")).mark_rule(strokeDash=[4, 3], color="#888888").encode(y="share:Q")
    return forms.make_form([even, point.encode(y=y, shape=palette.choose_shapes(candidates))], HEIGHT)
