"""The tables of a report as plain values, the same for HTML, Markdown, LaTeX and terminals. Each module is one kind.

A kind of table has
- `TITLE`, the heading of its section in the page; where it is long also `SHORT`, for the navigation,
- `FLAG` and `HELP`: its name for `rankbench show --table`, and what it shows,
- `ORDER`: its place among the others, everywhere,
- `tables(view) -> list[Table]` of the view's cases, and `frame(view)`, what `--format csv` prints: a frame or None.

It may have
- `MEANING`: what the page shows above the tables; or, if that is more, `body(view) -> list[Block]`,
- `sentences(view) -> list[str]`: what Markdown and terminals print below them,
- `page(view)`, `text(view)`, `latex(view)`: the tables of the page, of Markdown and LaTeX, and of LaTeX alone, where
  these are not all,
- `note(table)`: what a folded table says of itself beside its name,
- `ABSENT`, or `absent(view)`: why there is no such table, for `rankbench show`,
- `ANCHOR`: the section's name in addresses, if it is not the flag,
- `FOLDED`: no table of the page is open from the start; `DETAILS`: terminals print the detail below a value;
  `UNASKED`: `rankbench show` prints them unasked, below each `line` or below the `campaign`.
"""

from __future__ import annotations

import dataclasses
import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import PurePosixPath
from types import ModuleType
from typing import ClassVar

from rankbench import units
from rankbench.analysis.questions import case_labels, networks
from rankbench.analysis.questions.measures import Measure
from rankbench.analysis.questions.view import CampaignView
from rankbench.analysis.statistics.launch_values import TRIMMED
from rankbench.language import render, say
from rankbench.libraries import content
from rankbench.model import Candidate, Case, CaseVerdict, Launch, NodeNetwork, RankFact, Summary
from rankbench.model.verdicts import LEAST_COVERAGE, is_informative
from rankbench.quantities import format_memory, format_ratio, format_time, spell_count

NAMED_HOSTS = 8
"""Nodes that a cell names."""
SHOWN_RANKS = 256
"""Ranks that a cell names, each with its CPU."""
LEFT_OUT = "start too uncertain"
TOO_FEW = "too few rounds that count"


@dataclasses.dataclass(frozen=True)
class Cell:
    """One cell: its text, a smaller detail, whether it stands out, and the case it leads to."""

    text: str
    detail: str = ""
    best: bool = False
    case: str = ""


@dataclasses.dataclass(frozen=True)
class Table:
    """A caption, a heading per column and rows of as many cells; the first cell of a row names it."""

    caption: str
    columns: list[str]
    rows: list[list[Cell]]
    rests: tuple[str, ...] = ()
    """Cases that it is made of, where no row leads to them."""
    wide: bool = False
    """Whether terminals print it only with -v: it has all values, others have the usual ones."""

    @property
    def cases(self) -> dict[str, None]:
        """Return the keys of the cases that it is made of."""
        return dict.fromkeys([*self.rests, *(cell.case for row in self.rows for cell in row if cell.case)])


@dataclasses.dataclass(frozen=True)
class Hint:
    """What a reader must know: the help of a plot, and a text."""

    kind: ClassVar = "hint"
    text: str = ""
    plot: str = ""


@dataclasses.dataclass(frozen=True)
class Paragraph:
    """A sentence about the values."""

    kind: ClassVar = "paragraph"
    text: str


@dataclasses.dataclass(frozen=True)
class Terms:
    """Names, each with what it means."""

    kind: ClassVar = "terms"
    terms: list[tuple[str, str]]


@dataclasses.dataclass(frozen=True)
class Charts:
    """A plot's charts of several parts of the campaign, below each other or in pairs."""

    kind: ClassVar = "charts"
    plot: str
    keys: list[str]
    paired: bool = False


@dataclasses.dataclass(frozen=True)
class Sizes:
    """Charts of several plots, of one size that the reader chooses: keys by size, and the key of the first one."""

    kind: ClassVar = "sizes"
    name: str
    keys: dict[str, str]
    shown: str
    plots: tuple[str, ...]


Block = Hint | Paragraph | Terms | Charts | Sizes


def kinds() -> dict[str, ModuleType]:
    """Return the kinds of tables by the names of their modules, in their order."""
    from rankbench.report import tables

    return dict(sorted(units.modules(tables).items(), key=lambda item: (item[1].ORDER, item[0])))


def make_tables(place: str, kind: ModuleType, view: CampaignView) -> list[Table]:
    """Return the tables of a kind for a place: `page`, `text` or `latex`."""
    names = ("latex", "text") if place == "latex" else (place,)
    make = next((getattr(kind, name) for name in names if hasattr(kind, name)), kind.tables)
    return list(make(view))


def smallest_cases(view: CampaignView) -> list[str]:
    """Return, for each line that has several starts, the key of its case of the smallest size with the usual one."""
    several = [case for case in view.cases if view.has_usual_start(case) and len(view.start_variants(case)) > 1]
    lines = view.showing(several).parts("line")
    return [min(part.cases, key=lambda case: case.size_bytes).key for _, part in lines]


TOO_FEW_BLOCKS = "too few blocks"
"""In place of winners at a level."""
DOUBT = "?"
"""Behind a value that is not compared."""


TOO_FEW_LAUNCHES, TOO_WIDE = "too few launches for an interval", "launches differ too much for an interval"
"""In place of an interval that says nothing."""


def row_text(part: CampaignView, verdict: CaseVerdict, level: str) -> str:
    """Return the head of a row: a message size, and where values are of one level that level."""
    return f"{part.size_text(verdict.case)} {level}".strip()


def make_value_cell(
    part: CampaignView, verdict: CaseVerdict, candidate: str, level: str = "", *, launches: bool = False
) -> Cell:
    """Return a typical value with its interval at a level, or why there is none."""
    measure, summary = part.measure(verdict.case), part.find_value(part.key(verdict.case), candidate, level)
    if level and summary is None and candidate in verdict.ranking:
        return Cell("–", f"no visit while cores were {level}")
    if summary is None or candidate not in verdict.ranking:
        doubted = summary is not None and summary.doubt
        text = f"{measure.text(summary.typical_ns)} {DOUBT}" if summary and doubted else "–"
        return Cell(text, render(verdict.failures.get(candidate, "not measured")))
    low, high = interval(summary, part.campaign.plan.estimator)
    detail = spread(summary, measure.interval(low, high), alone=low == high)
    between = launch_range(measure, summary)
    if launches and summary.launches > 1 and not level and between != measure.interval(low, high):
        detail = f"{detail}; launches {between}"
    if measure.kind == "memory":
        detail = f"{detail}; the first use added {format_memory(summary.growth_bytes)}"
    return Cell(measure.text(summary.typical_ns), detail, candidate in verdict.winners)


def launch_range(measure: Measure, summary: Summary) -> str:
    """Return the least and the largest value of any launch."""
    return measure.interval(summary.launches_min_ns, summary.launches_max_ns)


def spread(summary: Summary, interval: str, *, alone: bool) -> str:
    """Return an interval, or why it says nothing; of a lone launch that it is one, and what is known within it."""
    if summary.has_interval:
        return interval
    if summary.coverage:
        return TOO_WIDE if summary.coverage >= LEAST_COVERAGE else TOO_FEW_LAUNCHES
    return "one launch" if alone else f"one launch: {interval} within it"


def interval(summary: Summary, estimator: str) -> tuple[float, float]:
    """Return the interval of the typical value; of one launch, MPIPerf's where its estimator is wanted."""
    if estimator == TRIMMED and math.isfinite(summary.trimmed_low_ns):
        return summary.trimmed_low_ns, summary.trimmed_high_ns
    return summary.low_ns, summary.high_ns


def describe_end(summary: Summary) -> str:
    """Return how a case ended in the launches in which it did not end well."""
    return ", ".join(status.replace("-", " ") for status in summary.failures)


def fastest_heading(part: CampaignView) -> str:
    """Return the heading of the column of winners, which says what its ratio is."""
    memory = part.cases[0].quantity == "memory"
    return "least (×: next)" if memory else "fastest (×: next slower)"


def outcome_legend(view: CampaignView) -> str:
    """Return what the signs of a table of winners mean; of one candidate nothing is compared."""
    if len(view.candidates) == 1:
        return ""
    signs = render(say("~ not distinguishable, = equivalent within {within:.0%}", within=view.campaign.plan.threshold))
    shown = {verdict.case.key for verdict in view.list_shown_verdicts()}
    doubted = any(summary.doubt and summary.case in shown for summary in view.verdict.summaries)
    return f"{signs}, {DOUBT} {'too uncertain to compare'}" if doubted else signs


def margin_interval(verdict: CaseVerdict) -> str:
    """Return the interval of the ratio to the next slower candidate, where there is one: `1.95–2.05×`."""
    if verdict.margin <= 1 or verdict.differs or not (verdict.margin_low and verdict.margin_high):
        return ""
    if not is_informative(verdict.margin_low, verdict.margin_high):
        return ""
    return render(say("{low:bare}–{high:ratio}", low=verdict.margin_low, high=verdict.margin_high))


def winner(verdict: CaseVerdict, spread: str = "", between: str = ", ") -> str:
    """Return who is fastest and by how much; `=` joins equivalent ones, `~` those of which the fastest is undecided.

    `spread` follows the ratio: its interval. Where there are several winners, the text says to whom the ratio is: else
    it would seem to be between them. `between` divides the levels of the reference.
    """
    if verdict.differs:
        return between.join(case_labels.list_levels(verdict))
    if verdict.ranking and not verdict.winners:
        return TOO_FEW_BLOCKS
    only = f"{next(iter(verdict.winners_by_level))} only: " if len(verdict.winners_by_level) == 1 else ""
    return only + join_winners(verdict, spread)


def join_winners(verdict: CaseVerdict, spread: str = "") -> str:
    """Return the winners and their margin, levels of the reference aside."""
    names = f" {verdict.sign} ".join(verdict.winners)
    if len(verdict.ranking) == 1:
        return f"only {names}"
    if verdict.margin <= 1:
        return verdict.sign if len(verdict.winners) > 1 else names or "–"
    ratio = format_ratio(verdict.margin) + spread
    if len(verdict.winners) == 1:
        return f"{names} {ratio}"
    slower = [name for name in verdict.ranking if name not in verdict.winners]
    rival = slower[0] if len(slower) == 1 else "the next slower"
    return f"{names}, {ratio} to {rival}"


def failures(view: CampaignView) -> Table:
    """Return what went wrong by candidate and reason, with the cases it befell."""
    cases_of: dict[tuple[str, str], list[str]] = defaultdict(list)
    doubts: dict[str, dict[str, Summary]] = defaultdict(dict)
    for entry in view.verdict.summaries:
        if entry.doubt and not entry.failures:
            doubts[entry.candidate][entry.case] = entry
    texts = {name: not_judged(list(ones.values())) for name, ones in doubts.items()}
    for verdict in view.list_shown_verdicts():
        for candidate, reason in verdict.failures.items():
            text = texts[candidate] if verdict.case.key in doubts.get(candidate, {}) else render(reason)
            cases_of[candidate, text].append(verdict.case.key)
    for case, summary in view.list_shown_summaries():
        for status, count in {**summary.failures, LEFT_OUT: summary.uncertain, TOO_FEW: summary.few}.items():
            of = sum(summary.failures.values()) + summary.launches + summary.left_out
            if count:
                text = f" ({summary.reasons[status]})" if status in summary.reasons else ""
                befell = f"{status} in {count} of {of} launches"
                cases_of[summary.candidate, befell + text].append(case.key)
    names = case_names(view)
    rows = [
        [Cell(candidate), Cell(reason), Cell(list_names([names[key] for key in keys]), case=keys[0])]
        for (candidate, reason), keys in cases_of.items()
    ]
    columns = ["candidate", "what happened", "cases"]
    return Table("Cases without values, or with fewer", columns, rows)


def not_judged(doubted: list[Summary]) -> str:
    """Return why cases of a candidate are not judged: the reason of the worst case."""
    worst = max(doubted, key=lambda summary: summary.error_ns / summary.typical_ns if summary.typical_ns else math.inf)
    if len(doubted) > 1:
        return f"not judged: at worst {render(worst.doubt)}"
    return f"not judged: {render(worst.doubt)}"


def name_circumstances(view: CampaignView, case: Case) -> str:
    """Return start and placement of a case, as the tail of a name, where they distinguish it from others."""
    several = len(view.campaign.plan.placements) > 1
    return name_start(view, case) + (f" {render(say('at {placement}', placement=case.placement))}" if several else "")


def name_start(view: CampaignView, case: Case) -> str:
    """Return the start of a case, as the tail of a name, where it is not the usual one."""
    return "" if view.has_usual_start(case) else f", {render(say('start {start}', start=case.start))}"


def line_name(part: CampaignView) -> str:
    """Return how the line of a part is called."""
    case = part.cases[0]
    return part.line_name() + name_circumstances(part, case)


def case_names(view: CampaignView) -> dict[str, str]:
    """Return how each case is called."""
    return {case.key: view.case_name(case) + name_circumstances(view, case) for case in view.cases}


def list_names(names: list[str], most: int = 3) -> str:
    """Return the first few names and how many more there are."""
    text = case_labels.join_names(names[:most])
    return f"{text} and {len(names) - most} more" if len(names) > most else text


def libraries(view: CampaignView) -> Table:
    """Return the software of each candidate, as seen inside its own launches."""
    campaign = view.campaign
    by_name = {library.name: library for library in campaign.libraries}
    receipts = {receipt.library: receipt for receipt in campaign.receipts}
    rows = []
    for candidate in campaign.candidates:
        library, receipt, twin = by_name[candidate.library], receipts.get(candidate.library), candidate.control_of
        rows.append(
            [
                Cell(candidate.name, f"twin of {twin}, for the noise check" if twin else ""),
                Cell(f"{library.family} {library.version}", library.prefix),
                Cell(describe_launches(view.launches, candidate.name)),
                describe_content(view.launches, candidate.name, library.prefix),
                Cell(receipt.compiler if receipt else "–", " ".join(receipt.flags) if receipt else ""),
                Cell(describe_settings(candidate) or "none"),
            ]
        )
    columns = [
        "candidate",
        "library",
        "version string",
        "content",
        "compiler",
        "settings",
    ]
    return Table("Candidates", columns, rows)


def describe_settings(candidate: Candidate) -> str:
    """Return the settings of a candidate; empty: none."""
    return " ".join(f"{key}={value}" for key, value in candidate.settings.items())


def describe_launches(launches: Iterable[Launch], candidate: str) -> str:
    """Return the first line of the version string that the library gave inside a launch."""
    strings = (launch.facts.library_version for launch in launches if launch.facts and launch.candidate == candidate)
    return next(strings, "–").strip().split("\n")[0]


def describe_content(launches: Iterable[Launch], candidate: str, prefix: str) -> Cell:
    """Return the hash and date of the files of a candidate's library, with the hash of each libmpi as detail."""
    library_files = content.collect(launches, candidate)
    hashes = [
        f"{PurePosixPath(file.path).name} {file.sha256[: content.HASH_LENGTH]}"
        for file in library_files
        if content.is_mpi(file)
    ]
    count = f"{spell_count(len(library_files), 'file')} in all"
    return Cell(
        content.describe_build(library_files, prefix) or "–", ", ".join([*hashes, count]) if library_files else ""
    )


def usage(view: CampaignView) -> Iterator[Table]:
    """Yield what libraries reported of what they use, a row for each candidate, placement and part of it."""
    several = len(view.campaign.plan.placements) > 1
    settings = {candidate.name: describe_settings(candidate) for candidate in view.campaign.candidates}
    places: dict[tuple[str, str, str], list[str]] = {}
    for candidate in dict.fromkeys(usage.candidate for usage in view.campaign.usage):
        for usage in view.campaign.usage:
            if usage.candidate == candidate:
                plan_settings = ("settings of the plan", settings.get(candidate, ""))
                for name, text in [plan_settings, *usage.uses.items(), *describe_carriers(usage.nodes)]:
                    places.setdefault((candidate, name, text), []).append(usage.placement)
    rows = [
        [Cell(candidate), *([Cell(", ".join(where))] if several else []), Cell(name), Cell(text)]
        for (candidate, name, text), where in places.items()
        if text
    ]
    columns = [
        "candidate",
        *(["placement"] if several else []),
        "what",
        "as the library reports it",
    ]
    if rows:
        yield Table("What libraries used, by a check before the campaign", columns, rows)


def describe_carriers(nodes: Iterable[NodeNetwork]) -> Iterator[tuple[str, str]]:
    """Yield through which devices a check's data went to another node, and what the row is called."""
    alike: dict[tuple[tuple[str, str], ...], list[NodeNetwork]] = defaultdict(list)
    for node in nodes:
        alike[tuple((device.name, device.kind) for device in networks.list_carriers(node))].append(node)
    for devices, group in alike.items():
        hosts = list_hosts([node.host for node in group])
        where = ", ".join(f"{name} ({kind})" for name, kind in devices) or "no device that counts it"
        name = f"what carried {format_memory(group[0].probe_bytes)} between nodes"
        yield name, f"{where} on {hosts}"


def list_hosts(hosts: Sequence[str]) -> str:
    """Return names of nodes, of many the first ones and how many there are."""
    if len(hosts) <= NAMED_HOSTS:
        return ", ".join(hosts)
    more = len(hosts) - NAMED_HOSTS
    return f"{', '.join(list(hosts[:NAMED_HOSTS]))} and {more} more"


def devices(view: CampaignView) -> Iterator[Table]:
    """Yield the network devices of the nodes, and what passed through them, a row for all nodes that have one alike."""
    rows = [
        [
            Cell(list_hosts(use.hosts)),
            *(Cell(text or "–") for text in (use.device.name, use.device.kind, use.device.state, use.device.rate)),
            Cell(use.device.driver or "virtual"),
            *(Cell(describe_bytes(numbers)) for numbers in (use.sent_bytes, use.received_bytes)),
        ]
        for use in networks.list_uses(view.launches)
    ]
    columns = [
        "nodes",
        "device",
        "kind",
        "state",
        "rate",
        "driver",
        "sent",
        "received",
    ]
    if rows:
        yield Table(
            "Network devices of each node, and their traffic while launches ran",
            columns,
            rows,
        )


def describe_bytes(numbers: Sequence[int]) -> str:
    """Return what passed through a device of several nodes: the least and the most of a node."""
    if min(numbers) < 0:
        return "not known"
    least, most = format_memory(min(numbers)), format_memory(max(numbers))
    return least if least == most else f"{least} to {most}"


def locations(view: CampaignView) -> Table:
    """Return where the ranks ran, once for each different answer."""
    texts: dict[str | int, tuple[str, str]] = {}
    launches_by: dict[tuple[str, str, str], list[Launch]] = defaultdict(list)
    for launch in view.launches:
        if launch.rank_table or launch.ranks:
            key = launch.rank_table or id(launch.ranks)
            if key not in texts:
                texts[key] = describe_locations(launch.ranks), launch.ranks[0].libmpi
            launches_by[launch.placement, *texts[key]].append(launch)
    rows = [
        [
            Cell(placement),
            Cell(", ".join(dict.fromkeys(launch.candidate for launch in launches))),
            Cell(str(len(launches))),
            Cell(text),
            Cell(libmpi),
        ]
        for (placement, text, libmpi), launches in launches_by.items()
    ]
    columns = [
        "placement",
        "candidates",
        "launches",
        "host and CPU",
        "MPI library",
    ]
    return Table("Where ranks ran", columns, rows)


def describe_locations(facts: Sequence[RankFact]) -> str:
    """Return where each rank ran; of many ranks on how many hosts."""
    if len(facts) <= SHOWN_RANKS:
        return "; ".join(map(describe_location, facts))
    counts = Counter(fact.host for fact in facts)
    hosts, least, most = list(counts), min(counts.values()), max(counts.values())
    if len(hosts) == 1:
        return f"{len(facts)} ranks on {hosts[0]}"
    each = f"{least} on each" if least == most else f"{least} to {most} on each"
    return f"{len(facts)} ranks on {len(hosts)} hosts, {hosts[0]} to {hosts[-1]}, {each}"


def describe_location(fact: RankFact) -> str:
    """Return where a rank ran."""
    return f"rank {fact.rank}: {fact.host}, CPU {fact.cpu} (bound to {fact.cpus})"


def clocks(view: CampaignView) -> Table:
    """Return the time sources in use, their resolution and cost, and how far ranks share a clock."""
    costs_by: dict[tuple[str, str, str], list[float]] = defaultdict(list)
    reasons_by: dict[tuple[str, str, str], list[str]] = defaultdict(list)
    clocks_of: dict[str | int, int] = {}
    for facts, launch in ((launch.facts, launch) for launch in view.launches if launch.facts):
        place = launch.rank_table or id(launch.ranks)
        if place not in clocks_of:
            clocks_of[place] = len({rank.clock for rank in launch.ranks})
        identities = clocks_of[place]
        compared = facts.synchronisation or "linear"
        several = f"{identities}, synchronised by {compared}"
        shared = "one, nothing to synchronise" if identities == 1 else several
        key = (facts.source, format_time(facts.resolution_ns), shared)
        costs_by[key].append(facts.cost_ns)
        reasons_by[key].append(facts.source_reason)
    rows = [
        [
            Cell(key[0], first_reason(reasons_by[key])),
            Cell(key[1]),
            Cell(time_range(min(costs), max(costs))),
            Cell(key[2]),
        ]
        for key, costs in costs_by.items()
    ]
    columns = [
        "source",
        "resolution",
        "cost of a reading",
        "clocks of the ranks",
    ]
    return Table("Time", columns, rows)


def first_reason(reasons: list[str]) -> str:
    """Return why a time source was chosen; its values differ a little between launches, and the first ones do."""
    return reasons[0] if len(set(reasons)) == 1 else f"first launch: {reasons[0]}"


def time_range(low_ns: float, high_ns: float) -> str:
    """Return `20.5 ns to 21.5 ns`, or one time where both read the same."""
    low, high = format_time(low_ns), format_time(high_ns)
    return low if low == high else f"{low} to {high}"


def control(view: CampaignView) -> Table:
    """Return the A/A comparisons that were false alarms."""
    names = case_names(view)
    rows = [
        [
            Cell(names[comparison.case], case=comparison.case),
            Cell(f"{comparison.other} / {comparison.base}"),
            Cell(format_ratio(comparison.ratio)),
            Cell(f"{format_ratio(comparison.low)} to {format_ratio(comparison.high)}"),
        ]
        for comparison in view.verdict.control
        if comparison.different and comparison.case in names
    ]
    columns = ["case", "pair", "ratio", "interval"]
    return Table("Noise check: cases that looked different", columns, rows)
