"""The report: one HTML file that holds everything it shows and asks no network for anything."""

from __future__ import annotations

import dataclasses
import json
from typing import TYPE_CHECKING, Any

import jinja2
import vl_convert

from rankbench import plots, units
from rankbench.quantities import format_size
from rankbench.report import tables
from rankbench.report.rank_tables import rank_tables
from rankbench.report.start_tables import smallest_cases, start_tables
from rankbench.verdict.starts import read_out

if TYPE_CHECKING:
    from pathlib import Path

    from rankbench.plots import Picture
    from rankbench.verdict.evaluation import Evaluation

THEME = plots.theme("var(--ink)", "var(--muted)", "var(--grid)")
"""Charts take the page's own colours, so that a switch of the theme or a print needs no drawing."""


def write_html(path: Path, evaluation: Evaluation) -> None:
    """Write the report as one file."""
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("rankbench.report", "."), autoescape=True, trim_blocks=True, lstrip_blocks=True
    )
    style, behaviour = (environment.get_template(name).render() for name in ("page.css", "page.js"))
    page = environment.get_template("page.html").render(contents(evaluation), style=style, behaviour=behaviour)
    path.write_text(page, encoding="utf-8")


def contents(evaluation: Evaluation) -> dict[str, Any]:
    """Return everything that the template shows."""
    campaign = evaluation.campaign
    whole = plots.picture(evaluation)
    return {
        "campaign": campaign,
        "verdict": evaluation.verdict,
        "figures": key_figures(whole),
        "names": tables.case_names(whole),
        "maps": [key for key, _ in whole.parts("placement")],
        "lines": {key: tables.line_name(part) for key, part in whole.parts("line")},
        "plots": {name: (plot.TITLE, plot.HELP) for name, plot in units.modules(plots).items()},
        "results": tables.results(whole),
        "failures": tables.failures(whole),
        "begun": begun(whole),
        "single": rank_tables(
            dataclasses.replace(whole, cases=[case for case in whole.cases if whole.own_start(case)])
        ),
        "broken": [launch for launch in evaluation.launches if launch.status != "ok"],
        "provenance": [tables.libraries(whole), tables.ranks(whole), tables.clocks(whole)],
        "control": tables.control(whole),
        "probed": any(launch.before or launch.after for launch in evaluation.launches),
        "starts": sorted({case.start for case in campaign.cases}),
        "requirements": [f"{one.family}=={one.version}" for one in campaign.libraries if one.source == "pypi"],
        "memory": format_size(campaign.machine.memory_bytes),
        "book": embedded(book(whole)),
        "engine": vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;"),
    }


def begun(whole: Picture) -> dict[str, Any]:
    """Return what is told of starts where cases were measured with several."""
    names = {name for effect in whole.evaluation.starts for name in (effect.ratio.base, effect.ratio.other)}
    return {
        "said": list(read_out(whole.campaign, whole.evaluation.starts, whole.verdict.summaries)),
        "starts": [start for start in whole.campaign.starts if start.name in names],
        "tables": start_tables(whole),
        "figures": smallest_cases(whole),
    }


def key_figures(whole: Picture) -> dict[str, str]:
    """Return what a reader wants to know of the effort behind the verdict."""
    verdict = whole.verdict
    alarms = sum(comparison.different for comparison in verdict.control)
    samples, late, overrun, discarded = (
        sum(getattr(summary, name) for summary in verdict.summaries)
        for name in ("samples", "late", "overrun", "discarded")
    )
    overran = {"discarded": discarded - late, "kept": overrun - (discarded - late)}
    return {
        "candidates": str(len(whole.candidates)),
        "cases": thousands(len(whole.cases)),
        "launches": thousands(len(whole.launches)),
        "samples": thousands(samples),
        "A/A false alarms": f"{alarms} of {len(verdict.control)}" if verdict.control else "no control",
        "late starts discarded": thousands(late),
        **{f"overran their window, {fate}": thousands(count) for fate, count in overran.items() if count},
    }


def thousands(number: int) -> str:
    """Return a whole number with narrow spaces between groups of three."""
    return f"{number:,}".replace(",", "\N{NARROW NO-BREAK SPACE}")


def book(whole: Picture) -> dict[str, Any]:
    """Return all charts, each as the number of its form, its title and its figures: equal forms are kept once."""
    forms: dict[str, int] = {}
    charts: dict[str, dict[str, Any]] = {}
    for plot, key, chart in plots.charts(whole):
        form = forms.setdefault(json.dumps(chart.form), len(forms))
        packed = {name: packed_rows(rows) for name, rows in chart.datasets.items()}
        charts.setdefault(plot, {})[key] = [form, chart.title, chart.subtitle, packed]
    return {
        "theme": THEME,
        "forms": [json.loads(form) for form in forms],
        "charts": charts,
        "cases": [
            [case.key, plots.SCOPES["line"](case), plots.size_name(case, whole.operation(case))] for case in whole.cases
        ],
    }


def packed_rows(rows: list[plots.Row]) -> list[list[Any]]:
    """Return rows as lists below one list of their column names."""
    columns = list(rows[0]) if rows else []
    return [columns, *(list(row.values()) for row in rows)]


def embedded(value: object) -> str:
    """Return JSON that cannot end the script element around it."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")).replace("<", r"\u003c")
