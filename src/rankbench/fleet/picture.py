"""The picture of a sweep: how slow each node is by trait, and how slow each measured link is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import altair as alt

from rankbench.fleet.sweep_records import OF_LINKS, TRAIT, TRAITS, Sweep
from rankbench.plots import forms
from rankbench.plots.chart import Row

SLOWEST = 1.5
"""From this ratio on cells have the darkest colour."""
CELL = 22
"""Height and least width of a cell, in pixels."""
MOST_PIXELS = 900
COLOURS = ("#f7f7f7", "#fdd49e", "#fc8d59", "#d7301f", "#7f0000")
"""Light to dark, so that printing in grey keeps the order."""


def draw(sweep: Sweep) -> Row:
    """Return the picture as Vega-Lite: a strip of nodes by trait above, the links below."""
    hosts = [node.host for node in sweep.nodes]
    side = max(1, min(CELL, MOST_PIXELS // max(1, len(hosts))))
    strips = make_cells(list(list_strips(sweep)), hosts, "trait", side)
    strips = strips.properties(width=side * len(hosts), height=alt.Step(CELL), title="Nodes")
    parts: list[Any] = [strips]
    for name in OF_LINKS:
        rows = list(list_links(sweep, name))
        if rows:
            direction = " from the left to above" if name == "sending" else ""
            title = f"Links: {TRAIT[name].heading}{direction}, beyond that of their nodes"
            parts.append(
                make_cells(rows, hosts, "other", side).properties(
                    width=side * len(hosts), height=side * len(hosts), title=title
                )
            )
    chart = alt.vconcat(*parts).resolve_scale(color="shared", x="independent")
    spec: Row = chart.to_dict()
    title = f"{len(hosts)} nodes: times as slow as the others"
    return {
        **spec,
        "title": title,
        "config": {**spec.get("config", {}), **forms.make_theme("#1f2328", "#59636e", "#d1d9e0")},
    }


def make_cells(rows: list[Row], hosts: list[str], down: str, side: int) -> alt.Chart:
    """Return cells of one colour scale; names stand along the axes while there is room for them."""
    labels = side >= CELL // 2
    order = [trait.heading for trait in TRAITS] if down == "trait" else hosts
    scale = alt.Scale(domain=[1, SLOWEST], range=list(COLOURS), clamp=True)
    cells: alt.Chart = (
        alt.Chart({"values": rows})
        .mark_rect(stroke="#d1d9e0")
        .encode(
            x=alt.X("node:N", sort=hosts, title=None, axis=alt.Axis(labels=labels, ticks=False)),
            y=alt.Y(f"{down}:N", sort=order, title=None, axis=alt.Axis(labels=labels or down == "trait", ticks=False)),
            color=alt.Color("ratio:Q", scale=scale, legend=alt.Legend(title="times as slow", format=".2f")),
            tooltip=["node:N", f"{down}:N", alt.Tooltip("ratio:Q", format=".3f")],
        )
    )
    return cells


def list_strips(sweep: Sweep) -> Iterator[Row]:
    """Yield a cell for each node and trait."""
    for node in sweep.nodes:
        for trait in TRAITS:
            if trait.name in node.ratios:
                yield {"node": node.host, "trait": trait.heading, "ratio": node.ratios[trait.name]}


def list_links(sweep: Sweep, trait: str) -> Iterator[Row]:
    """Yield a cell for each link; one without a direction has two."""
    for link in sweep.links:
        if link.trait == trait:
            first, second = link.nodes
            yield {"other": first, "node": second, "ratio": link.ratio}
            if trait != "sending":
                yield {"other": second, "node": first, "ratio": link.ratio}
