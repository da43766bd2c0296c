"""The state of the machine over the launches: how long two CPUs took to hand each other a cache line, without MPI."""

from __future__ import annotations

import altair as alt

from rankbench.analysis.questions.view import CampaignView
from rankbench.analysis.statistics import states
from rankbench.analysis.statistics.states import LaunchState
from rankbench.plots import axes, forms, marks, palette
from rankbench.plots.chart import Chart, Row
from rankbench.quantities import format_time

TITLE = "State of the machine"
HELP = (
    "The time in which one CPU hands a cache line to another, measured without MPI before and after every launch. "
    "A bar joins the two. Hollow: the machine changed while the launch ran. No launch is left out because of its state."
)
SCOPE = "campaign"
LEAST = 1.5
"""The axis shows at least from the middle over this to this times the middle, so that a calm machine looks calm."""


def chart(view: CampaignView) -> Chart | None:
    """Draw one point and one bar per launch."""
    known = [state for state in states.find_states(view.launches) if state.known]
    if not known:
        return None
    ends = sorted(end for state in known for end in ends_of(state))
    middle = ends[len(ends) // 2]
    scale = alt.Scale(type="log", nice=False, domain=[min(ends[0], middle / LEAST), max(ends[-1], middle * LEAST)])
    return Chart(
        forms.make_form(layers(palette.paint(view), scale), 200),
        "State of the machine during each launch, measured without MPI",
        subtitle(known),
        {"launches": [make_row(view, state) for state in known]},
    )


def subtitle(known: list[LaunchState]) -> str:
    """Return which pairs of CPUs the values are of."""
    pairs = {pair for state in known for pair in state.level}
    ((first, two),) = pairs if len(pairs) == 1 else [(0, 0)]
    if len(pairs) > 1:
        return f"geometric mean over {len(pairs)} pairs of CPUs"
    return f"between CPUs {first} and {two}"


def ends_of(state: LaunchState) -> tuple[float, float]:
    """Return the exchange time before and after a launch; where one of them is not known, the other twice."""
    return states.average_times(state.before or state.after), states.average_times(state.after or state.before)


def make_row(view: CampaignView, state: LaunchState) -> Row:
    """Return a launch's point; the A/A twin goes by the name of its original."""
    original = {candidate.name: candidate.control_of or candidate.name for candidate in view.campaign.candidates}
    before_ns, after_ns = ends_of(state)
    return {
        "candidate": original[state.launch.candidate],
        "launch": state.launch.number,
        "block": state.launch.block,
        "exchange_ns": marks.shorten(state.exchange_ns),
        "before_ns": marks.shorten(before_ns),
        "after_ns": marks.shorten(after_ns),
        "before": format_time(before_ns),
        "after": format_time(after_ns),
        "changed": state.changing,
    }


def layers(candidates: tuple[str, ...], scale: alt.Scale) -> list[alt.Chart]:
    """Return bars from before to after, and points."""
    base = alt.Chart(forms.data("launches")).encode(
        x=axes.block_x(),
        color=palette.colour(candidates),
        tooltip=forms.tooltips("candidate", "launch", "block", "before", "after"),
    )
    axis = axes.time_axis("exchange of a cache line")
    bar = base.mark_rule(strokeWidth=2).encode(y=alt.Y("before_ns:Q", scale=scale, axis=axis), y2="after_ns:Q")
    points = base.mark_point(size=80, opacity=1).encode(
        y=alt.Y("exchange_ns:Q", scale=scale, axis=axis),
        shape=palette.choose_shapes(candidates),
        fillOpacity=alt.condition("datum.changed", alt.value(0), alt.value(1)),
        fill=alt.Fill("candidate:N", scale=palette.colours(candidates), title=None),
    )
    return [bar, points]
