"""Scaling: one case over the number of nodes, a panel for each number of ranks on a node."""

from __future__ import annotations

from rankbench.analysis.questions.view import CampaignView
from rankbench.plots import over_nodes
from rankbench.plots.chart import Chart

TITLE = "Scaling with nodes"
HELP = (
    "Typical value with its interval over the number of nodes, a panel for each number of ranks on a node; both axes "
    "are logarithmic. A cross at the foot: it failed there, in some launches if it has a point too. Dotted, of "
    "what is per second: all nodes together, if each kept what the fastest has on the fewest nodes above one."
)
SCOPE = "scale"


def chart(view: CampaignView) -> Chart | None:
    """Draw one case at all numbers of nodes, where there are several."""
    return over_nodes.draw_over_nodes(view, lambda case, _place: view.measure(case), per_node=False)
