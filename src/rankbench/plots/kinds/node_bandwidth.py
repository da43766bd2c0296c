"""Bandwidth per node: what one case moves in a second for each node, over the number of nodes."""

from __future__ import annotations

from rankbench.analysis.questions import measures
from rankbench.analysis.questions.measures import Measure
from rankbench.analysis.questions.scaling import Site
from rankbench.analysis.questions.view import CampaignView
from rankbench.model import Case
from rankbench.plots import over_nodes
from rankbench.plots.chart import Chart

TITLE = "Bandwidth per node"
HELP = (
    "The payload that all ranks send in a call, over its time and the number of nodes. Dotted: every node has what the "
    "fastest has on the fewest nodes above one; who falls below it lets nodes wait for each other."
)
SCOPE = "scale"


def chart(view: CampaignView) -> Chart | None:
    """Draw one case that moves payload at all numbers of nodes, where there are several."""

    def measure(case: Case, place: Site) -> Measure | None:
        return measures.measure_per_node(case, place.nodes, *view.moved.get(case.key, ()))

    return over_nodes.draw_over_nodes(view, measure, per_node=True)
