"""The report: one HTML file that holds everything it shows and asks no network for anything.

The HTML itself holds what is read first: the verdict, findings, and the `book` of all cases in columns, from which
the page draws its winner map and answers to filters. Charts and tables are packed (`packing`), and the page makes each
of them when it comes into view.
"""

from __future__ import annotations

import functools
import re
from collections import Counter
from collections.abc import Iterable
from importlib import metadata
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import jinja2
import vl_convert
from markupsafe import Markup, escape

from rankbench import caching, files, plots, units
from rankbench.across.two_campaigns import CampaignPair
from rankbench.analysis.claims import findings as verdict_findings
from rankbench.analysis.claims.joining import group_findings, join_group
from rankbench.analysis.questions import case_labels
from rankbench.analysis.questions.origins import describe_origins
from rankbench.analysis.questions.view import SCOPES, CampaignView
from rankbench.analysis.statistics import FEWEST_BLOCKS
from rankbench.language import Text, render, say
from rankbench.model import Campaign, Finding
from rankbench.plan import notation, stop_rules
from rankbench.plots import captions, palette, winner_cells
from rankbench.plots import forms as plots_forms
from rankbench.quantities import format_ratio, format_size, format_whole, spell_count
from rankbench.report import foreign_tables, packing, summary, tables, then_and_now
from rankbench.report.evidence import SHOWN, describe_period, list_evidence, list_groups
from rankbench.report.method import paragraphs
from rankbench.report.tables import Table

SCRIPTS = ("data.js", "charts.js", "map.js", "tables.js", "filters.js", "page.js")
"""What the page does, in the order in which it is read."""
THEME = plots_forms.make_theme("var(--ink)", "var(--muted)", "var(--grid)")
"""Charts take the page's own colours, so that a switch of the theme or a print needs no drawing."""
DRAWN_FROM_THE_BOOK = "winner_map"
MAIN = "results"
"""The kind of table whose tables are one for each line of cases."""
MOST_SENTENCES = 6
"""Sentences of the conclusion that are shown; more are folded."""
NEAR = 300
"""Cases that are shown with histogram and single ranks; of more, those that are evidence."""


def write_html(path: Path, view: CampaignView, comparison: CampaignPair | None = None) -> None:
    """Write the report as one file."""
    files.write(path, html(view, comparison))


def html(view: CampaignView, comparison: CampaignPair | None = None) -> str:
    """Return the report as one page; with what changed since an older campaign, where one is compared with it."""
    style, *behaviour = (templates().get_template(name).render() for name in ("page.css", *SCRIPTS))
    shown = contents(view) | {"changes": changes(comparison) if comparison else None}
    shown["book"] = packing.escape_script(shown["book"])
    return templates().get_template("page.html").render(shown, style=style, behaviour="\n".join(behaviour))


@functools.cache
def templates() -> jinja2.Environment:
    """Return the templates beside this file, which are compiled once."""
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("rankbench.report", "."),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=lambda value: render(value) if isinstance(value, Text) else value,
    )
    environment.globals |= {"say": format_markup}
    environment.filters["code"] = mark_commands
    return environment


@functools.cache
def engine() -> str:
    """Return the script that draws charts. It is the same for every page, and kept: to bundle it takes seconds."""
    name = f"charts-{metadata.version('vl-convert-python')}.js"
    if script := caching.find("scripts", name):
        return script.decode()
    bundle = str(vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;"))
    caching.store("scripts", name, bundle.encode())
    return bundle


def mark_commands(text: Text) -> Markup:
    """Return a text as HTML, with what is between backticks as code."""
    return Markup(re.sub(r"`([^`]+)`", r"<code>\1</code>", str(escape(render(text)))))  # noqa: S704 - it is escaped


def format_markup(template: str, **fields: object) -> Markup:
    """Return what a template that may hold markup says; texts in its fields hold none."""
    plain = {name: escape(value) if isinstance(value, str) else value for name, value in fields.items()}
    return Markup(render(say(template, **plain)))  # noqa: S704 - templates are our own


def contents(view: CampaignView) -> dict[str, Any]:
    """Return everything that the template shows."""
    campaign = view.campaign
    names = tables.case_names(view)
    kinds = tables.kinds()
    shown = {name: tables.make_tables("page", kind, view) for name, kind in kinds.items()}
    sections = [section(name, kinds[name], view, kind_tables) for name, kind_tables in shown.items() if kind_tables]
    near = list_evidence(view)[:NEAR] if len(view.cases) > NEAR else None
    forms, charts = packing.charts(plots.charts(view, near=near, less=[DRAWN_FROM_THE_BOOK]))
    numbers = {case.key: number for number, case in enumerate(view.cases)}
    packed = packing.tables(shown, numbers)
    return {
        **answer_contents(view, numbers),
        **provenance_contents(view),
        "campaign": campaign,
        "verdict": view.verdict,
        "figures": key_figures(view),
        "alarms": false_alarms(view),
        "control_judged": max((each.blocks for each in view.verdict.control), default=0) >= FEWEST_BLOCKS,
        "method": paragraphs(view),
        "names": names,
        "legend": legend(view),
        "signs": winner_cells.explain_signs(winner_cells.list_shown(view)),
        "findings": findings(view),
        "counted_findings": count_findings(view.verdict.findings),
        "period": describe_period(view),
        "maps": maps(view),
        "lines": {key: line_of(part) for key, part in view.parts("line")},
        "plots": {name: (plot.TITLE, plot.HELP) for name, plot in units.modules(plots.kinds).items()},
        "sections": sections,
        "main": MAIN,
        "drawn": {*charts},
        "rests": rests(view, sections, numbers),
        "rests_of_tables": rests_of_tables(shown, numbers),
        "few_near": near is not None,
        "failures": tables.failures(view),
        "broken": [launch for launch in view.launches if launch.status != "ok"],
        "control": tables.control(view),
        "foreign": any(operation.foreign for operation in campaign.operations),
        "probed": any(launch.before or launch.after for launch in view.launches),
        "starts": sorted({case.start for case in campaign.cases}),
        "book": book(view),
        "parts": {name: packing.deflate(part) for name, part in {**charts, "forms": forms, "tables": packed}.items()},
        "most_named": SHOWN,
        "most_sentences": MOST_SENTENCES,
        "engine": engine(),
    }


def answer_contents(view: CampaignView, numbers: dict[str, int]) -> dict[str, Any]:
    """Return what the template shows of the answer; `numbers` are those of the cases."""
    conclusion, groups = view.verdict.conclusion, list_groups(view.verdict)
    return {
        "answer": next(iter(conclusion), None),
        "scope": summary.describe_scope(view),
        "digest": summary.digest(view),
        "sentence_cases": {
            number: join_numbers(sentence.cases, numbers)
            for number, sentence in enumerate(conclusion, 1)
            if SHOWN < len(sentence.cases) < len(numbers)
        },
        "groups": groups,
        "alone": [line for group in view.verdict.groups if group not in groups for line in group.lines],
    }


def provenance_contents(view: CampaignView) -> dict[str, Any]:
    """Return what the template shows of the origin of values: files, libraries, machine."""
    campaign = view.campaign
    return {
        "provenance": [
            foreign_tables.files(view),
            tables.libraries(view),
            *tables.usage(view),
            *tables.devices(view),
            tables.locations(view),
            tables.clocks(view),
            foreign_tables.list_meanings(view),
        ],
        "requirements": [
            f"{library.family}=={library.version}" for library in campaign.libraries if library.source == "pypi"
        ],
        "machine_text": describe_machine(campaign),
        "origins": render(describe_origins(campaign)),
    }


def describe_machine(campaign: Campaign) -> str:
    """Return a sentence with what is known of the machine: of the nodes of a job, little."""
    machine = campaign.machine
    parts = [
        (machine.cpu, machine.cpu),
        (machine.sockets, spell_count(machine.sockets, "socket")),
        (machine.cores, spell_count(machine.cores, "core")),
        (machine.memory_bytes, f"{format_size(machine.memory_bytes)} of memory"),
        (machine.distribution, machine.distribution),
        (machine.kernel, f"kernel {machine.kernel}"),
        (machine.virtual, f"virtual ({machine.virtual or 'no'})"),
        (machine.cpu and not machine.virtual, "not virtual"),
    ]
    known = [text for value, text in parts if value]
    host = machine.host or "The nodes of a job"
    return render(say("{host}: {known:,}." if known else "{host}.", host=host, known=known))


def changes(comparison: CampaignPair) -> dict[str, Any]:
    """Return what changed since an older campaign: a table with the verdicts of both, how to read it, and sentences."""
    past = {verdict.case.key: verdict for verdict in comparison.then.list_shown_verdicts()}
    present = {verdict.case.key: verdict for verdict in comparison.now.list_shown_verdicts()}
    renamed = {match.old: match.new for match in comparison.comparison.matches}
    table = then_and_now.make_table(comparison)
    changed: list[list[tables.Cell]] = []
    unchanged: list[list[tables.Cell]] = []
    for row, change in zip(table.rows, comparison.comparison.changes, strict=True):
        before, now = past.get(change.case), present.get(change.case)
        winners = [tables.Cell(tables.winner(verdict) if verdict else "") for verdict in (before, now)]
        words = then_and_now.describe_change(change, before, now, renamed)
        cells = [tables.Cell(row[0].text, case=change.case), *row[1:], *winners, tables.Cell(words)]
        (changed if change.different or words else unchanged).append(cells)
    columns = [*table.columns, "fastest then", "fastest now", "change"]
    return {
        "changed": tables.Table(table.caption, columns, changed),
        "unchanged": tables.Table(table.caption, columns, unchanged),
        "explanation": then_and_now.explain_table(comparison.comparison),
        "sentences": list(then_and_now.list_lines(comparison.comparison)),
    }


def legend(view: CampaignView) -> list[tuple[str, str, str]]:
    """Return each candidate's name, letter and colour in the winner map."""
    letters = captions.make_initials(view.candidates)
    colours = palette.paint(view).colours
    return [(name, letters[name], colour) for name, colour in zip(view.candidates, colours, strict=True)]


def maps(view: CampaignView) -> dict[str, tuple[str, str]]:
    """Return title and subtitle of the winner map of each placement that has one."""
    parts = {place: (part, winner_cells.list_shown(part)) for place, part in view.parts("placement")}
    return {place: winner_cells.headings(part, verdicts) for place, (part, verdicts) in parts.items() if verdicts}


def line_of(part: CampaignView) -> dict[str, Any]:
    """Return how a line is called, how its page shows it, and one of its cases."""
    case = part.cases[0]
    return {
        "name": tables.line_name(part),
        "plot": "curves" if len({case.size_bytes for case in part.cases}) > 1 else "bars",
        "case": case.key,
        "plain": case.key not in part.pair_cases,
    }


class Entry(NamedTuple):
    """A finding of the page with its number from 1; its chart, or number and title of the finding that has it."""

    number: int
    finding: Finding
    chart: tuple[str, str] | None
    earlier: int | None
    earlier_title: Text


class Kind(NamedTuple):
    """Findings of one kind, the most severe first."""

    title: str
    entries: list[Entry]

    @property
    def alike(self) -> list[tuple[str, list[Entry]]]:
        """Return the entries whose titles differ in fields only together, with one title for them."""
        entry_of = {id(entry.finding): entry for entry in self.entries}
        groups = group_findings([entry.finding for entry in self.entries])
        return [
            (" ".join(map(render, join_group(group))), [entry_of[id(finding)] for finding in group]) for group in groups
        ]


SEVERITIES = ("failure", "warning", "note")
"""In the order in which a reader wants them."""


def findings(view: CampaignView) -> list[Kind]:
    """Return the findings by kind; kinds and findings with the most severe first. A chart is drawn once."""
    titles = {name: finding.TITLE for name, finding in units.modules(verdict_findings).items()}
    by_severity = sorted(view.verdict.findings, key=lambda finding: SEVERITIES.index(finding.severity))
    keys = chart_keys(view)
    drawn: dict[tuple[str, str], int] = {}
    kinds: dict[str, Kind] = {}
    for number, finding in enumerate(by_severity, 1):
        chart = keys.get((finding.plot, finding.cases[0])) if finding.cases else None
        earlier = drawn.setdefault(chart, number) if chart else number
        title = by_severity[earlier - 1].title
        entry = Entry(
            number, finding, chart if earlier == number else None, earlier if earlier != number else None, title
        )
        kinds.setdefault(finding.kind, Kind(titles.get(finding.kind, finding.kind), [])).entries.append(entry)
    return list(kinds.values())


def chart_keys(view: CampaignView) -> dict[tuple[str, str], tuple[str, str]]:
    """Return plot and key of a finding's chart, by its plot and its first case; none for what the map shows."""
    by_key = {case.key: case for case in view.cases}
    plot_kinds = units.modules(plots.kinds)
    single = {key for key, part in view.parts("line") if len({case.size_bytes for case in part.cases}) == 1}
    keys = {}
    for finding in view.verdict.findings:
        if finding.plot == DRAWN_FROM_THE_BOOK or finding.plot not in plot_kinds or not finding.cases:
            continue
        if case := by_key.get(finding.cases[0]):
            key = SCOPES[plot_kinds[finding.plot].SCOPE](case)
            plot = "bars" if finding.plot == "curves" and key in single else finding.plot
            keys[finding.plot, case.key] = (plot, key)
    return keys


def section(name: str, kind: ModuleType, view: CampaignView, kind_tables: list[Table]) -> dict[str, Any]:
    """Return what the page shows of a kind of table that it has."""
    meaning = [tables.Hint(kind.MEANING)] if hasattr(kind, "MEANING") else []
    return {
        "name": name,
        "anchor": getattr(kind, "ANCHOR", kind.FLAG),
        "title": kind.TITLE,
        "short": getattr(kind, "SHORT", kind.TITLE),
        "folded": getattr(kind, "FOLDED", False),
        "blocks": kind.body(view) if hasattr(kind, "body") else meaning,
        "tables": [(table, kind.note(table) if hasattr(kind, "note") else "") for table in kind_tables],
    }


def rests(view: CampaignView, sections: list[dict[str, Any]], numbers: dict[str, int]) -> dict[str, dict[str, str]]:
    """Return the numbers of the cases that charts of sections are made of, by plot and key, for the page's filters."""
    known = units.modules(plots.kinds)
    blocks = [block for part in sections for block in part["blocks"]]
    names = {block.plot for block in blocks if isinstance(block, tables.Charts)}
    names |= {name for block in blocks if isinstance(block, tables.Sizes) for name in block.plots}
    by_scope = {
        scope: {key: join_numbers((case.key for case in part.cases), numbers) for key, part in view.parts(scope)}
        for scope in {known[name].SCOPE for name in names}
    }
    return {name: by_scope[known[name].SCOPE] for name in names}


def rests_of_tables(shown: dict[str, list[Table]], numbers: dict[str, int]) -> dict[str, list[str]]:
    """Return the same of tables, by kind. The main tables are filtered by their lines."""
    return {
        kind: [join_numbers(table.cases, numbers) for table in kind_tables]
        for kind, kind_tables in shown.items()
        if kind != MAIN
    }


def join_numbers(keys: Iterable[str], numbers: dict[str, int]) -> str:
    """Return the numbers of cases, as the page reads them."""
    return " ".join(str(numbers[key]) for key in keys if key in numbers)


def key_figures(view: CampaignView) -> dict[str, str]:
    """Return what a reader wants to know of the effort behind the verdict."""
    verdict = view.verdict
    samples, late, overrun = (
        sum(getattr(summary, name) for summary in verdict.summaries) for name in ("samples", "late", "overrun")
    )
    # A case that failed may have had late starts and no sample at all.
    discarded = sum(max(0, summary.discarded - summary.late) for summary in verdict.summaries)
    overran = {
        "longer than their window, discarded": discarded,
        "longer than their window, kept": overrun - discarded,
    }
    return {
        "candidates": str(len(view.candidates)),
        "cases": format_whole(len(view.cases)),
        "launches": format_whole(len(view.launches)),
        "samples": format_whole(samples),
        "false alarms of the noise check": false_alarms(view) if verdict.control else "none",
        **({} if view.campaign.imported else {"late starts discarded": format_whole(late)}),
        **{fate: format_whole(count) for fate, count in overran.items() if count},
        **compare_effort(view),
    }


def compare_effort(view: CampaignView) -> dict[str, str]:
    """Return how much less a campaign that stopped where it was decided measured than one of all its blocks would."""
    campaign, rows = view.campaign, view.case_rows
    by_case = stop_rules.find_rule(notation.parse_until(campaign.plan.stop.until).rule).by_case
    if not by_case or rows.is_empty():
        return {}
    measured = rows.select("block", "candidate", "case").n_unique()
    all_of_it = len(campaign.cases) * len(campaign.candidates) * campaign.plan.stop.blocks_max
    if measured >= all_of_it:
        return {}
    title = f"less measured than in {campaign.plan.stop.blocks_max} full blocks"
    return {title: f"{1 - measured / all_of_it:.0%}"}


def count_findings(all_findings: Iterable[Finding]) -> str:
    """Return how many findings of each severity there are, the most severe first."""
    counts = Counter(str(finding.severity) for finding in all_findings)
    names = [name for name in SEVERITIES if counts[name]]
    return ", ".join(render(say(f"{{n:count {name}}}", n=counts[name])) for name in names)


def false_alarms(view: CampaignView) -> str:
    """Return how many of the A/A comparisons were false alarms."""
    control = view.verdict.control
    if max((comparison.blocks for comparison in control), default=0) < FEWEST_BLOCKS:
        return "too few blocks"
    return f"{sum(comparison.different for comparison in control)} of {len(control)}"


# --- the book of all cases --------------------------------------------------------------------------------------------


def book(view: CampaignView) -> dict[str, Any]:
    """Return what the page must know of every line and every case before it draws anything, column by column."""
    parts = list(view.parts("line"))
    number = {id(case): line for line, (_, part) in enumerate(parts) for case in part.cases}
    placements = [placement.name for placement in view.campaign.plan.placements]
    firsts = [(key, part.cases[0], part.operation(part.cases[0])) for key, part in parts]
    around = [case.split_at_size() for _, case, _ in firsts]
    return {
        "theme": THEME,
        "kinds": {operation.kind: operation.kind for _, _, operation in firsts},
        "candidates": list(view.candidates),
        "letters": list(captions.make_initials(view.candidates).values()),
        "placements": placements,
        "sizes": {str(case.size_bytes): format_size(case.size_bytes) for case in view.cases},
        "lines": {
            "key": [key for key, _, _ in firsts],
            "before": [before for before, _ in around],
            "after": [after for _, after in around],
            "call": [case_labels.name_call(case, operation) for _, case, operation in firsts],
            "rest": [
                "".join(f", {word}" for word in case_labels.list_unusual(case, operation))
                for _, case, operation in firsts
            ],
            "placed": [tables.name_circumstances(view, case) for _, case, _ in firsts],
            "placement": [placements.index(case.placement) for _, case, _ in firsts],
            "kind": [operation.kind for _, _, operation in firsts],
            "sized": [operation.sized for _, _, operation in firsts],
        },
        "cases": cases(view, number),
    }


def cases(view: CampaignView, line: dict[int, int]) -> dict[str, list[Any]]:
    """Return the columns of the cases: what the winner map shows of each, and by what it is filtered."""
    place = {name: number for number, name in enumerate(view.candidates)}
    mapped = {id(verdict.case) for verdict in winner_cells.list_shown(view)}
    columns: dict[str, list[Any]] = {name: [] for name in COLUMNS}
    for case, verdict in zip(view.cases, view.list_shown_verdicts(), strict=True):
        row = {
            "line": line[id(case)],
            "bytes": case.size_bytes,
            "winners": [place[name] for name in verdict.winners],
            "different": int(len(verdict.winners) < len(verdict.ranking)),
            "halves": [pack_half(half, place) for half in winner_cells.list_halves(verdict)],
            "mapped": int(id(case) in mapped),
        }
        for name, value in row.items():
            columns[name].append(value)
    return columns


def pack_half(half: winner_cells.Half, place: dict[str, int]) -> list[Any]:
    """Return level, sign, winners by number, the ratio in words and the strength of its colour in per cent."""
    ratio = format_ratio(half.margin) if half.winner and half.margin > 1 else ""
    strength = round(100 * winner_cells.scale_ratio(half.margin))
    return [half.level, half.sign, [place[name] for name in half.winners], ratio, strength]


COLUMNS = ("line", "bytes", "winners", "different", "halves", "mapped")
