"""The report: one HTML file that holds everything it shows and asks no network for anything.

What stands in the HTML itself is read first: the verdict, findings, and the `book` of all cases in columns, from which
the page draws its winner map and answers to filters. Charts and tables are packed (`packing`), and the page makes each
of them when it comes into view.
"""

from __future__ import annotations

import dataclasses
import functools
from typing import TYPE_CHECKING, Any

import jinja2
import vl_convert
from markupsafe import Markup, escape

from rankbench import files, plots, units
from rankbench.language import say
from rankbench.plots import winner_map
from rankbench.quantities import format_size, format_whole
from rankbench.report import foreign_tables, packing, tables
from rankbench.report.figures import SHOWN, alike, evidence
from rankbench.report.first_call_tables import MEANING as OF_FIRST_CALLS
from rankbench.report.first_call_tables import first_call_sentences, first_call_tables
from rankbench.report.matrix_tables import matrix_sentences, matrix_tables
from rankbench.report.method import paragraphs
from rankbench.report.mpiperf_tables import mpiperf_tables, wanted
from rankbench.report.overlap_tables import MEANING, overlap_tables
from rankbench.report.placement_tables import MEANING as BY_PLACE
from rankbench.report.placement_tables import placement_tables, several
from rankbench.report.rank_tables import rank_tables
from rankbench.report.ring_tables import MEANING as OF_RINGS
from rankbench.report.ring_tables import ring_tables
from rankbench.report.scaling_tables import MEANING as BY_NODES
from rankbench.report.scaling_tables import middle, operations, scaling_tables
from rankbench.report.start_tables import smallest_cases, start_tables
from rankbench.verdict import naming
from rankbench.verdict.starts import read_out

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from rankbench.plots import Picture
    from rankbench.report.tables import Table
    from rankbench.verdict.evaluation import Evaluation

SCRIPTS = ("data.js", "charts.js", "map.js", "tables.js", "filters.js", "page.js")
"""What the page does, in the order in which it is read."""
THEME = plots.theme("var(--ink)", "var(--muted)", "var(--grid)")
"""Charts take the page's own colours, so that a switch of the theme or a print needs no drawing."""
DRAWN_FROM_THE_BOOK = "winner_map"
NEAR = 300
"""Cases that are shown with histogram and single ranks; of more, those that are evidence."""


def write_html(path: Path, evaluation: Evaluation) -> None:
    """Write the report as one file."""
    files.write(path, html(evaluation))


def html(evaluation: Evaluation) -> str:
    """Return the report as one page."""
    style, *behaviour = (templates().get_template(name).render() for name in ("page.css", *SCRIPTS))
    shown = contents(evaluation)
    shown["book"] = packing.embedded(shown["book"])
    return templates().get_template("page.html").render(shown, style=style, behaviour="\n".join(behaviour))


@functools.cache
def templates() -> jinja2.Environment:
    """Return the templates beside this file, which are compiled once."""
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("rankbench.report", "."), autoescape=True, trim_blocks=True, lstrip_blocks=True
    )
    environment.globals |= {"say": said}
    return environment


@functools.cache
def engine() -> str:
    """Return the script that draws charts. It is the same for every page, and to bundle it takes seconds."""
    return str(vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;"))


def said(template: str, **fields: object) -> Markup:
    """Return what a template that may hold markup says; texts in its fields hold none."""
    plain = {name: escape(value) if isinstance(value, str) else value for name, value in fields.items()}
    return Markup(say(template, **plain))  # noqa: S704 - templates are our own


def contents(evaluation: Evaluation) -> dict[str, Any]:
    """Return everything that the template shows."""
    campaign = evaluation.campaign
    whole = plots.picture(evaluation)
    names = tables.case_names(whole)
    usual = dataclasses.replace(whole, cases=[case for case in whole.cases if whole.own_start(case)])
    shown: dict[str, list[Table]] = {
        "results": tables.results(whole, launches=True),
        "overlap": overlap_tables(whole),
        "placed": placement_tables(whole),
        "scaled": scaling_tables(whole),
        "matrices": matrix_tables(whole),
        "rings": ring_tables(whole),
        "first_calls": first_call_tables(whole),
        "begun": start_tables(whole),
        "single": rank_tables(usual),
    }
    near = evidence(evaluation)[:NEAR] if len(whole.cases) > NEAR else None
    forms, charts = packing.charts(plots.charts(whole, near=near, less=[DRAWN_FROM_THE_BOOK]))
    numbers = {case.key: number for number, case in enumerate(whole.cases)}
    packed = packing.tables(shown, numbers)
    return {
        "campaign": campaign,
        "verdict": evaluation.verdict,
        "groups": alike(evaluation.verdict),
        "alone": [line for group in evaluation.verdict.groups if len(group.lines) == 1 for line in group.lines],
        "figures": key_figures(whole),
        "alarms": false_alarms(whole),
        "method": paragraphs(evaluation),
        "outcome_legend": tables.outcome_legend(whole),
        "names": names,
        "legend": legend(whole),
        "scopes": scopes(whole),
        "maps": maps(whole),
        "lines": {key: line_of(part) for key, part in whole.parts("line")},
        "overlap_meaning": MEANING,
        "places": [key for key, part in whole.plain().parts("places") if several(part)],
        "by_place": BY_PLACE,
        "scales": scale_sizes(whole),
        "over_nodes": evaluation.over_nodes,
        "by_nodes": BY_NODES,
        "pairs": [key for key, part in whole.parts("matrix") if part.cases[0].key in evaluation.pairs],
        "near": matrix_sentences(whole),
        "of_rings": OF_RINGS,
        "of_first_calls": OF_FIRST_CALLS,
        "slow_first_calls": first_call_sentences(whole),
        "plots": {name: (plot.TITLE, plot.HELP) for name, plot in units.modules(plots).items()},
        "tables": shown,
        "rests": rests(whole, shown, numbers),
        "few_near": near is not None,
        "failures": tables.failures(whole),
        "begun": begun(whole),
        "broken": [launch for launch in evaluation.launches if launch.status != "ok"],
        "provenance": [
            foreign_tables.files(whole),
            tables.libraries(whole),
            tables.ranks(whole),
            tables.clocks(whole),
            foreign_tables.meanings(whole),
            *(mpiperf_tables(whole) if wanted(whole) else []),
        ],
        "control": tables.control(whole),
        "foreign": any(one.foreign for one in campaign.operations),
        "probed": any(launch.before or launch.after for launch in evaluation.launches),
        "starts": sorted({case.start for case in campaign.cases}),
        "requirements": [f"{one.family}=={one.version}" for one in campaign.libraries if one.source == "pypi"],
        "memory": format_size(campaign.machine.memory_bytes),
        "book": book(whole),
        "parts": {name: packing.zipped(part) for name, part in {**charts, "forms": forms, "tables": packed}.items()},
        "most_named": SHOWN,
        "engine": engine(),
    }


def legend(whole: Picture) -> list[tuple[str, str, str]]:
    """Return each candidate's name, letter and colour in the winner map."""
    letters = plots.initials(whole.candidates)
    colours = plots.cycle(plots.COLOURS, len(whole.candidates))
    return [(name, letters[name], colour) for name, colour in zip(whole.candidates, colours, strict=True)]


def maps(whole: Picture) -> dict[str, tuple[str, str]]:
    """Return title and subtitle of the winner map of each placement that has one."""
    parts = {place: (part, winner_map.shown(part)) for place, part in whole.parts("placement")}
    return {place: winner_map.headings(part, verdicts) for place, (part, verdicts) in parts.items() if verdicts}


def line_of(part: Picture) -> dict[str, Any]:
    """Return how a line is called, how its page shows it, and one of its cases."""
    case = part.cases[0]
    return {
        "name": tables.line_name(part),
        "plot": "curves" if len({one.size_bytes for one in part.cases}) > 1 else "bars",
        "case": case.key,
        "plain": case.key not in part.evaluation.pairs,
    }


def scopes(whole: Picture) -> dict[str, Any]:
    """Return how the first case of a finding leads to the key of its picture, by plot."""
    by_key = {case.key: case for case in whole.cases}

    def key_of(plot: str, case: str) -> str:
        found = by_key.get(case)
        return plots.SCOPES[known[plot].SCOPE](found) if found and plot in known else ""

    known = units.modules(plots)
    first = [(one.plot, one.cases[0]) for one in whole.verdict.findings if one.cases]
    return {f"{plot} {case}": key_of(plot, case) for plot, case in first}


def rests(whole: Picture, shown: dict[str, list[Table]], numbers: dict[str, int]) -> dict[str, Any]:
    """Return the numbers of the cases that tables and figures are made of, by which the page sifts them."""

    def told(keys: Iterable[str]) -> str:
        return " ".join(str(numbers[key]) for key in keys if key in numbers)

    figures = {
        scope: {key: told(case.key for case in part.cases) for key, part in whole.parts(scope)}
        for scope in ("places", "scale", "matrix")
    }
    single = {key: told([key]) for key in numbers}
    tables_of = {kind: [told(one.cases) for one in found] for kind, found in shown.items() if kind != "results"}
    return {**figures, **tables_of, "case": single}


def scale_sizes(whole: Picture) -> dict[str, dict[str, str]]:
    """Return the keys of the charts of scaling by operation and by size, and which of them is `shown` first."""
    found: dict[str, dict[str, str]] = {}
    for sizes in operations(whole):
        cases = [next(iter(one.values())) for one in sizes]
        shown = next(iter(middle(sizes).values()))
        name = naming.line(cases[0], whole.operation(cases[0]))
        keys = {whole.size(case): plots.SCOPES["scale"](case) for case in cases}
        found[name] = {"shown": plots.SCOPES["scale"](shown), **keys}
    return found


def begun(whole: Picture) -> dict[str, Any]:
    """Return what is told of starts where cases were measured with several."""
    names = {name for effect in whole.evaluation.starts for name in (effect.ratio.base, effect.ratio.other)}
    return {
        "said": list(read_out(whole.campaign, whole.evaluation.starts, whole.verdict.summaries)),
        "starts": [start for start in whole.campaign.starts if start.name in names],
        "figures": smallest_cases(whole),
    }


def key_figures(whole: Picture) -> dict[str, str]:
    """Return what a reader wants to know of the effort behind the verdict."""
    verdict = whole.verdict
    samples, late, overrun = (
        sum(getattr(summary, name) for summary in verdict.summaries) for name in ("samples", "late", "overrun")
    )
    # A case that failed may have had late starts and no sample at all.
    discarded = sum(max(0, summary.discarded - summary.late) for summary in verdict.summaries)
    overran = {
        say("overran their window, discarded"): discarded,
        say("overran their window, kept"): overrun - discarded,
    }
    return {
        say("candidates"): str(len(whole.candidates)),
        say("cases"): format_whole(len(whole.cases)),
        say("launches"): format_whole(len(whole.launches)),
        say("samples"): format_whole(samples),
        say("A/A false alarms"): false_alarms(whole) if verdict.control else say("no control"),
        **({} if whole.campaign.imported else {say("late starts discarded"): format_whole(late)}),
        **{fate: format_whole(count) for fate, count in overran.items() if count},
        **saved(whole),
    }


def saved(whole: Picture) -> dict[str, str]:
    """Return how much less a campaign that stopped where it was decided measured than one of all its blocks would."""
    campaign, rows = whole.campaign, whole.evaluation.cases
    if campaign.plan.stop.until != "decided" or rows.is_empty():
        return {}
    made = rows.select("block", "candidate", "case").n_unique()
    all_of_it = len(campaign.cases) * len(campaign.candidates) * campaign.plan.stop.blocks_max
    if made >= all_of_it:
        return {}
    title = say("less measured than in {n} full blocks", n=campaign.plan.stop.blocks_max)
    return {title: f"{1 - made / all_of_it:.0%}"}


def false_alarms(whole: Picture) -> str:
    """Return how many of the A/A comparisons were false alarms."""
    control = whole.verdict.control
    return say("{n} of {all}", n=sum(comparison.different for comparison in control), all=len(control))


# --- the book of all cases --------------------------------------------------------------------------------------------


def book(whole: Picture) -> dict[str, Any]:
    """Return what the page must know of every line and every case before it draws anything, column by column."""
    parts = list(whole.parts("line"))
    number = {id(case): line for line, (_, part) in enumerate(parts) for case in part.cases}
    placements = [one.name for one in whole.campaign.plan.placements]
    firsts = [(key, part.cases[0], part.operation(part.cases[0])) for key, part in parts]
    return {
        "theme": THEME,
        "kinds": {operation.kind: operation.kind for _, _, operation in firsts},
        "candidates": list(whole.candidates),
        "placements": placements,
        "sizes": {str(case.size_bytes): format_size(case.size_bytes) for case in whole.cases},
        "lines": {
            "key": [key for key, _, _ in firsts],
            "call": [naming.call(case, operation) for _, case, operation in firsts],
            "rest": ["".join(f", {word}" for word in naming.unusual(case, operation)) for _, case, operation in firsts],
            "placed": [tables.placed(whole, case) for _, case, _ in firsts],
            "placement": [placements.index(case.placement) for _, case, _ in firsts],
            "kind": [operation.kind for _, _, operation in firsts],
            "sized": [operation.sized for _, _, operation in firsts],
        },
        "cases": cases(whole, number),
    }


def cases(whole: Picture, line: dict[int, int]) -> dict[str, list[Any]]:
    """Return the columns of the cases: what the winner map shows of each, and by what it is filtered."""
    letters = plots.initials(whole.candidates)
    place = {name: number for number, name in enumerate(whole.candidates)}
    mapped = {id(verdict.case) for verdict in winner_map.shown(whole)}
    columns: dict[str, list[Any]] = {name: [] for name in COLUMNS}
    for case, verdict in zip(whole.cases, whole.verdicts(), strict=True):
        told = winner_map.cell(verdict, letters, whole)
        row = {
            "line": line[id(case)],
            "bytes": case.size_bytes,
            "winners": [place[name] for name in verdict.winners],
            "decided": int(verdict.decided),
            "different": int(len(verdict.winners) < len(verdict.ranking)),
            "mark": told["mark"],
            "margin": told["margin"],
            "strength": round(100 * told["strength"]),
            "mapped": int(id(case) in mapped),
        }
        for name, value in row.items():
            columns[name].append(value)
    return columns


COLUMNS = ("line", "bytes", "winners", "decided", "different", "mark", "margin", "strength", "mapped")
