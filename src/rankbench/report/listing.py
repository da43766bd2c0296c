"""The page over several campaigns: a row for each, with its answer and a link to its report."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from rankbench.report.page import templates


class ListedCampaign(NamedTuple):
    """A campaign of the page."""

    name: str
    date: str
    """Day and time at which it began; empty: not known."""
    state: str
    candidates: Sequence[str]
    blocks: int
    question: str
    answer: str
    link: str
    """Where its report is, relative to the page; empty: it has none."""


def render_list(folder: str, campaigns: Sequence[ListedCampaign]) -> str:
    """Return the page for the campaigns of a folder, in this order."""
    style = templates().get_template("page.css").render()
    return templates().get_template("listing.html").render(folder=folder, campaigns=campaigns, style=style)
