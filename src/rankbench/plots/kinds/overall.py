"""The overall answer: the time of every candidate over that of the fastest, with its interval."""

from __future__ import annotations

import altair as alt

from rankbench.analysis.claims.standings import Standing, Standings, list_standings
from rankbench.analysis.questions.block_ratios import Overall
from rankbench.analysis.questions.overall import weigh_cases
from rankbench.analysis.questions.view import CampaignView
from rankbench.language import render, say
from rankbench.plots import axes, forms, palette
from rankbench.plots.chart import Chart, Row
from rankbench.quantities import format_ratio, spell_count

TITLE = "Overall time"
HELP = (
    "The time of each candidate over that of the fastest: the geometric mean of the ratios over all cases that are "
    "compared. The thin line is its interval; ~: not distinguishable. Pale: slower, by how much is not known."
)
SCOPE = "campaign"
ROW = 38
"""Height of a row, in pixels."""
SHARE = 0.42
"""Of the width, the most that a bar takes: words stand beyond it."""


def chart(view: CampaignView) -> Chart | None:
    """Draw a bar for each candidate, in a group for each place where the answer depends on it."""
    groups = list_standings(view)
    if not groups:
        return None
    rows = [row for group in groups for row in make_rows(group)]
    most = max(max(row.get("high", 0), row.get("ratio", 0)) for row in rows)
    return Chart(
        forms.make_form(layers(palette.paint(view), [str(row["row"]) for row in rows], most), ROW * len(rows), 300),
        "Overall time, best = 1",
        describe_weights(view, groups),
        {"rows": rows},
    )


def describe_weights(view: CampaignView, groups: list[Standings]) -> str:
    """Return over how many cases the mean is, and how these weigh."""
    cases = [case for group in groups for case in group.cases]
    counted = f"mean over {spell_count(len(set(cases)), 'case')}"
    operations = {view.case_of[key].operation for key in cases}
    if {call.operation for call in view.campaign.plan.calls} & operations:
        n = len(weigh_cases(view, cases))
        counted = f"the plan's calls ({spell_count(n, 'case')}), each by its share of the time"
    elif len(operations) > 1:
        counted = f"{counted}, operations weigh equally"
    return render(say("{counted}, {level:.0%} intervals", counted=counted, level=view.campaign.plan.confidence))


def make_rows(group: Standings) -> list[Row]:
    """Return a row for the place, if there is one, and a row for each candidate."""
    place = render(group.place)
    head = [{"row": f"{place}\n", "head": place[:1].upper() + place[1:]}] if place else []
    return [*head, *({"row": f"{place}\n{standing.name}", **make_row(standing)} for standing in group.rows)]


def make_row(standing: Standing) -> Row:
    """Return the ratio of a candidate with its interval and its words."""
    overall = standing.overall
    if overall is None:
        return {"candidate": standing.name, "words": render(standing.reason)}
    levels = [f"{level} {format_ratio(ratio.mean)}" for level, ratio in standing.levels.items()]
    row = {"candidate": standing.name, "ratio": overall.mean, "words": describe(overall), "levels": ", ".join(levels)}
    shown = overall.low > 0 and not overall.is_wide and overall.low < overall.high
    if overall.always_slower and not shown and overall.low != overall.high:
        row["pale"] = True
    return {**row, "low": overall.low, "high": overall.high} if shown else row


def describe(overall: Overall) -> str:
    """Return a ratio with its interval; in words where there is none that says anything."""
    if overall.low == overall.high:
        return format_ratio(overall.mean)
    if overall.is_wide or not overall.low:
        if overall.always_slower:
            return f"slower in all {spell_count(overall.blocks, 'block')}"
        return f"{format_ratio(overall.mean)} ~"
    return render(say("{mean:ratio} ({low:bare}–{high:ratio})", mean=overall.mean, low=overall.low, high=overall.high))


def layers(candidates: palette.Names, rows: list[str], most: float) -> list[alt.Chart]:
    """Return bars, intervals, a line at 1, and words."""
    labels = alt.Axis(
        ticks=False, domain=False, grid=False, labelLimit=0, labelFontSize=12, labelExpr="split(datum.value, '\\n')[1]"
    )
    scale = alt.Scale(domain=[0, most / SHARE], nice=False)
    axis = alt.Axis(
        title=None,
        labelExpr=f"datum.value <= {most * 1.05} ? ({axes.RATIO_LABEL}) : ''",
        tickCount=8,
        grid=False,
        ticks=False,
        domain=False,
    )
    base = alt.Chart(forms.data("rows")).encode(y=alt.Y("row:N", sort=rows, title=None, axis=labels))
    bar = (
        base.transform_filter("isValid(datum.ratio)")
        .mark_bar(height={"band": 0.5})
        .encode(
            x=alt.X("ratio:Q", scale=scale, axis=axis),
            color=alt.Color("candidate:N", scale=palette.colours(candidates), legend=None),
            opacity=alt.condition("datum.pale", alt.value(0.35), alt.value(1)),
            tooltip=forms.tooltips("candidate", "words", "levels"),
        )
    )
    unity = (
        alt.Chart(forms.data("rows"))
        .transform_filter("datum.ratio === 1")
        .mark_rule(strokeDash=[3, 3], color="#888888")
    )
    known = base.transform_filter("isValid(datum.low)")
    interval = known.mark_rule(strokeWidth=2, color="#777777").encode(x=alt.X("low:Q", scale=scale), x2="high:Q")
    beyond = base.transform_calculate(end="max(datum.high || 0, datum.ratio || 0)")
    return [unity.encode(x=alt.X("ratio:Q", scale=scale)), bar, interval, *draw_words(base, beyond, scale)]


def draw_words(base: alt.Chart, beyond: alt.Chart, scale: alt.Scale) -> list[alt.Chart]:
    """Return the value beyond each bar, below it that at each level, and the names of places."""
    at = alt.X("end:Q", scale=scale)

    def text(source: alt.Chart, where: str, field: str, dy: int, size: int) -> alt.Chart:
        mark = source.transform_filter(where).mark_text(align="left", dx=7, dy=dy, fontSize=size, aria=False)
        drawn: alt.Chart = mark.encode(x=at, text=f"{field}:N")
        return drawn

    head = base.transform_filter("isValid(datum.head)").mark_text(align="left", fontWeight="bold", fontSize=12, dy=6)
    return [
        text(beyond, "isValid(datum.words) && !datum.levels", "words", 0, 12),
        text(beyond, "isValid(datum.words) && datum.levels", "words", -7, 12),
        text(beyond, "datum.levels", "levels", 8, 10),
        head.encode(x=alt.value(0), text="head:N"),
    ]
