"""What the forms of all charts share: size, theme, data sets, tooltips."""

from __future__ import annotations

from typing import Any

import altair as alt

from rankbench.plots.chart import Row

WIDTH = 680


def tooltips(*fields: str) -> list[alt.Tooltip]:
    """Return tooltip entries for text fields; the field's name is the label."""
    return [alt.Tooltip(f"{field}:N", title=field) for field in fields]


def spelt(kind: str, field: str) -> str:
    """Return the expression that spells a value as `Measure.spelt` does."""
    value = f"datum.{field}"

    def choose_unit(*steps: tuple[float, float, str]) -> str:
        parts = [f"{value} < {end:g} ? format({value} / {scale:g}, '.3r') + '{unit}' : " for end, scale, unit in steps]
        return "".join(parts)

    if kind == "bandwidth":
        return f"({value} >= 999.95 ? format({value}, ',.0f') : format({value}, '.4~r')) + ' MB/s'"
    if kind == "rate":
        last = f"format({value} / 1e9, '.3r') + ' G/s'"
        return f"({choose_unit((999.5, 1, '/s'), (999.5e3, 1e3, ' k/s'), (999.5e6, 1e6, ' M/s'))}{last})"
    if kind == "memory":
        scales = ((1023.5 * 1024, 1024, " KiB"), (1023.5 * 1024**2, 1024**2, " MiB"))
        last = f"format({value} / {1024**3}, '.3r') + ' GiB'"
        return f"({value} < 1023.5 ? format({value}, '.0f') + ' B' : {choose_unit(*scales)}{last})"
    last = f"format({value} / 1e9, '.3r') + ' s'"
    return f"({choose_unit((999.5, 1, ' ns'), (999.5e3, 1e3, ' µs'), (999.5e6, 1e6, ' ms'))}{last})"


def add_tooltips(chart: alt.Chart, kind: str) -> alt.Chart:
    """Return a chart whose points spell their value and its interval in tooltips."""
    interval = f"{spelt(kind, 'low')} + ' to ' + {spelt(kind, 'high')}"
    worded: alt.Chart = chart.transform_calculate(typical=spelt(kind, "value"), interval=interval)
    return worded


def make_form(layers: list[alt.Chart], height: int, least_width: int = 0) -> Row:
    """Return layers that name their data as one Vega-Lite view. A page may make it as narrow as `least_width`."""
    view = alt.LayerChart(layer=layers, width=WIDTH, height=height, usermeta={"least_width": least_width})
    plain: Row = view.to_dict(validate=False)
    del plain["config"]
    return plain


def make_theme(ink: str, muted: str, grid: str) -> dict[str, Any]:
    """Return the Vega-Lite configuration for three colours; a page may give CSS variables."""
    axis = {"domainColor": muted, "tickColor": muted, "gridColor": grid, "labelColor": muted, "titleColor": muted}
    return {
        "background": "transparent",
        "font": "system-ui, -apple-system, 'Segoe UI', 'Liberation Sans', Arial, sans-serif",
        "view": {"stroke": None},
        "axis": {**axis, "labelFontSize": 11, "titleFontSize": 11, "titleFontWeight": "normal", "tickSize": 4},
        "legend": {"labelColor": ink, "titleColor": ink, "labelFontSize": 12, "labelLimit": 400, "columnPadding": 18},
        "title": {
            "anchor": "start",
            "color": ink,
            "subtitleColor": muted,
            "fontSize": 14,
            "offset": 10,
            "frame": "group",
        },
        "text": {"color": ink},
    }


PAPER = {**make_theme("#111111", "#555555", "#dddddd"), "background": "#ffffff"}
"""The theme of charts on paper, and in pictures."""


def data(name: str) -> alt.NamedData:
    """Return a reference to one of a chart's data sets."""
    return alt.NamedData(name=name)
