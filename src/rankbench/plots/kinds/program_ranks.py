"""What each rank of a recorded program did: compute, wait for later ranks, or be in MPI otherwise."""

from __future__ import annotations

from rankbench.analysis.questions.view import CampaignView
from rankbench.language import render, say
from rankbench.model.program_records import RunRecord, sum_time
from rankbench.plots import bar_form, forms
from rankbench.plots.chart import Chart, Row
from rankbench.quantities import format_time

TITLE = "Ranks of the program"
HELP = (
    "The time of each rank of the recorded run. Where ranks wait for one that computes longer, work is unequal, and no "
    "library makes the program faster. Of very many ranks some are drawn, evenly spread."
)
SCOPE = "campaign"
MOST = 64
NS_PER_S = 1e9
ROW = 22
PARTS = ("waiting for later ranks", "otherwise in MPI", "outside MPI")


def chart(view: CampaignView) -> Chart | None:
    """Draw a bar for each rank."""
    run = view.main_record
    if run is None:
        return None
    step = -(-run.ranks // MOST)
    ranks = range(0, run.ranks, step)
    labels = [f"{rank}\nrank {rank}" for rank in ranks]
    rows: list[Row] = [
        {"row": label, "part": part, "value": time_s * NS_PER_S, "time": format_time(time_s * NS_PER_S)}
        for rank, label in zip(ranks, labels, strict=True)
        for part, time_s in zip(PARTS, divide_time(run, rank), strict=True)
    ]
    subtitle = render(say("{library}, {ranks:count rank}", library=run.library, ranks=run.ranks))
    form = forms.make_form(bar_form.draw_parts(labels, PARTS), ROW * len(labels), 300)
    return Chart(form, "Time of each rank", subtitle, {"rows": rows})


def divide_time(run: RunRecord, rank: int) -> tuple[float, float, float]:
    """Return a rank's time of each of PARTS, in seconds."""
    inside = sum(sum_time(kind)[rank] for kind in run.kinds)
    waiting = sum(kind.waiting_s[rank] for kind in run.kinds if kind.waiting_s)
    return waiting, inside - waiting, max(0.0, run.seconds[rank] - inside)
