"""How long after the first rank each rank arrives at the collectives of a recorded program that take most time."""

from __future__ import annotations

import altair as alt

from rankbench.analysis.questions.view import CampaignView
from rankbench.language import render, say
from rankbench.model.program_records import Kind, describe_size, name_kind, sum_time
from rankbench.plots import axes, forms
from rankbench.plots.chart import Chart, Row
from rankbench.quantities import format_time

TITLE = "Arrivals at collectives"
HELP = (
    "How long after the first rank each rank arrived, in half of the calls at most, of the ten collectives that took "
    "most time. A rank that is always late computes longer; ranks that take turns in being late are disturbed. Of very "
    "many ranks some are drawn, evenly spread."
)
SCOPE = "campaign"
SHOWN = 10
MOST_RANKS = 64
MOST_WORDS = 8
"""Ranks up to which a cell has room for its value."""
ROW = 26


def chart(view: CampaignView) -> Chart | None:
    """Draw a cell for each collective and rank."""
    run = view.main_record
    kinds = [kind for kind in run.kinds if kind.late_ns] if run else []
    if run is None or not kinds:
        return None
    kinds = sorted(kinds, key=lambda kind: -sum(sum_time(kind)))[:SHOWN]
    ranks = range(0, run.ranks, -(-run.ranks // MOST_RANKS))
    labels = [f"{number}\n{name_call(kind)}" for number, kind in enumerate(kinds)]
    rows: list[Row] = [
        {"row": label, "rank": rank, "late": late[1], **spell(late)}
        for label, kind in zip(labels, kinds, strict=True)
        for rank in ranks
        if (late := kind.late_ns[rank])
    ]
    form = forms.make_form(draw_cells(labels, has_words=len(ranks) <= MOST_WORDS), ROW * len(labels), 300)
    subtitle = say("after the first rank, median; {library}, {ranks:count rank}", library=run.library, ranks=run.ranks)
    return Chart(form, "Arrivals at collectives", render(subtitle), {"rows": rows})


def name_call(kind: Kind) -> str:
    """Return a collective, its size and its number of ranks."""
    return f"{name_kind(kind)}, {describe_size(kind)}, {kind.ranks} ranks"


def spell(late: list[float]) -> Row:
    """Return the words of a cell."""
    low, middle, high = (format_time(value) if value else "0" for value in late)
    return {"words": middle, "range": f"{low} to {high}"}


def draw_cells(labels: list[str], *, has_words: bool) -> list[alt.Chart]:
    """Return the cells, darker where a rank is later, with their values where there is room."""
    axis = alt.Axis(ticks=False, domain=False, labelLimit=0, labelExpr="split(datum.value, '\\n')[1]")
    base = alt.Chart(forms.data("rows")).encode(
        x=alt.X("rank:O", title="rank", axis=alt.Axis(labelAngle=0)),
        y=alt.Y("row:N", sort=labels, title=None, axis=axis),
        tooltip=forms.tooltips("rank", "words", "range"),
    )
    legend = alt.Legend(title=None, orient="top", labelExpr=axes.VALUE_LABELS["time"], gradientLength=220)
    scale = alt.Scale(type="sqrt", scheme="blues", domainMin=0)
    cells = [base.mark_rect().encode(color=alt.Color("late:Q", scale=scale, legend=legend))]
    if has_words:
        dark = alt.ExprRef("datum.late > 0.5 * domain('color')[1] ? 'white' : 'black'")
        cells.append(base.mark_text(fontSize=11, aria=False, color=dark).encode(text="words:N"))
    return cells
