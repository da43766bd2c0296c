"""Pictures of a campaign as charts: one file per kind, in `kinds`. No files are opened here.

A plot module has `TITLE`, `HELP`, `SCOPE` and `chart(view)`. `SCOPE` says what one chart of it covers: the whole
campaign, one placement, one line (all sizes), places (one line at all placements), a scale (one size at all
placements), one call (by several tools), one matrix (all pairs of ranks) or one case; near is one case too, of many
drawn for some only. `chart` draws `view.cases`, which all lie in one such part, and returns None where there is nothing
to draw. Every chart is a single view, so that it can take the width of any page, and holds aggregated rows only.
`VALUES`, if a module has it, names the count of a summary that says how many values a chart of one case shows of a
candidate.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

from rankbench import units
from rankbench.analysis.questions.view import CLOSE
from rankbench.plots import kinds

if TYPE_CHECKING:
    from rankbench.analysis.questions.view import CampaignView
    from rankbench.plots.chart import Chart


def charts(
    view: CampaignView,
    only: Collection[str] | None = None,
    near: Collection[str] | None = None,
    less: Collection[str] = (),
) -> Iterator[tuple[str, str, Chart]]:
    """Draw every kind of plot for every part of its scope: the plot's name, the part's key, the chart.

    `only` names the cases for which plots of single cases are drawn; without it they are drawn for all. `near` does so
    for those whose scope is `near`, if they are others. `less` names plots that are not drawn.
    """
    view = view.drawing(only, only if near is None else near)
    wanted = {"case": view.only, "near": view.near}
    divided: dict[str, list[tuple[str, CampaignView]]] = {}
    for name, plot in units.modules(kinds).items():
        if name in less:
            continue
        scope = "case" if plot.SCOPE in CLOSE else plot.SCOPE
        if scope not in divided:
            divided[scope] = list(view.parts(scope))
        keys_wanted = wanted.get(plot.SCOPE)
        for key, part in divided[scope]:
            chart = plot.chart(part) if keys_wanted is None or key in keys_wanted else None
            if chart is not None:
                yield name, key, chart
