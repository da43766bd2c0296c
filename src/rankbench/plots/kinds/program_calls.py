"""Time of a recorded program by kind of call and size, with the part that is waiting."""

from __future__ import annotations

from rankbench.analysis.questions.view import CampaignView
from rankbench.language import render, say
from rankbench.model.program_records import describe_size, name_kind, sum_time
from rankbench.plots import bar_form, forms
from rankbench.plots.chart import Chart, Row
from rankbench.quantities import format_time

TITLE = "Calls of the program"
HELP = (
    "The mean rank's time in each kind of call of the recorded run. Waiting is the time until the last rank or "
    "partner that a call needs has arrived: no library changes it."
)
SCOPE = "campaign"
SHOWN = 12
LEAST_SHARE = 0.001
"""A kind of call with less of the time in MPI is not drawn."""
ROW = 26
NS_PER_S = 1e9
PARTS = ("waiting", "other")
"""Of the time in a call."""


def chart(view: CampaignView) -> Chart | None:
    """Draw a bar for each kind of call, those that took most time first."""
    run = view.main_record
    if run is None:
        return None
    least_s = LEAST_SHARE * sum(sum(sum_time(kind)) for kind in run.kinds)
    kinds = sorted((kind for kind in run.kinds if sum(sum_time(kind)) > least_s), key=lambda kind: -sum(sum_time(kind)))
    rows: list[Row] = []
    labels = []
    for number, kind in enumerate(kinds[:SHOWN]):
        seconds, waiting_s = sum(sum_time(kind)) / run.ranks, sum(kind.waiting_s) / run.ranks
        label = ", ".join(
            filter(None, [name_kind(kind), describe_size(kind), f"{kind.ranks} ranks" * bool(kind.ranks)])
        )
        labels.append(f"{number}\n{label}")
        for part, part_s in zip(PARTS, (waiting_s, seconds - waiting_s), strict=True):
            spelt = format_time(part_s * NS_PER_S)
            rows.append({"row": labels[-1], "part": part, "value": part_s * NS_PER_S, "time": spelt})
    subtitle = render(
        say(
            "{n} of {all:count kind} of calls, {library}, {ranks:count rank}",
            n=len(labels),
            all=len(run.kinds),
            library=run.library,
            ranks=run.ranks,
        )
    )
    return Chart(
        forms.make_form(bar_form.draw_parts(labels, PARTS), ROW * len(labels), 300),
        "Time in MPI by call",
        subtitle,
        {"rows": rows},
    )
