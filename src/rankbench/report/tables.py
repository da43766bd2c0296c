"""The tables of a report as plain values, the same for HTML, Markdown and LaTeX. Nothing is rendered here."""

from __future__ import annotations

import dataclasses
import math
from collections import defaultdict
from typing import TYPE_CHECKING

from rankbench import plots
from rankbench.quantities import format_rate, format_ratio, format_time
from rankbench.statistics.estimators import TRIMMED

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rankbench.model import Case, CaseVerdict, Launch, Operation, Summary
    from rankbench.plots import Picture


LEFT_OUT = "start too uncertain"


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


def results(whole: Picture) -> list[Table]:
    """Return one table per operation, form and placement: message sizes downwards, candidates to the right."""
    summaries = {(summary.case, summary.candidate): summary for summary in whole.verdict.summaries}
    return [result(part, summaries) for _, part in whole.parts("line")]


def result(part: Picture, summaries: dict[tuple[str, str], Summary]) -> Table:
    """Return the table of one line."""
    operation = part.operation(part.cases[0])
    unit = " in MB/s (1 MB = 10^6 B)" if operation.metric == "bandwidth" else ""
    caption = f"{line_name(part)}: {operation.metric}{unit}, {plots.circumstances(part)}"
    columns = ["message size", *part.candidates, "fastest"]
    rows = [
        [
            Cell(plots.size_name(verdict.case, operation), case=verdict.case.key),
            *(
                figure(verdict, operation, name, summaries.get((verdict.case.key, name)), part.campaign.plan.estimator)
                for name in part.candidates
            ),
            Cell(winner(verdict)),
        ]
        for verdict in part.verdicts()
    ]
    return Table(caption, columns, rows)


def figure(verdict: CaseVerdict, operation: Operation, candidate: str, summary: Summary | None, estimator: str) -> Cell:
    """Return a typical value with its interval, or why there is none."""
    if summary is None or candidate not in verdict.ranking:
        doubted = summary is not None and summary.doubt
        text = f"{quantity(verdict.case, operation, summary.typical_ns)} ?" if summary and doubted else "–"
        return Cell(text, verdict.failures.get(candidate, "not measured"))
    low, high = interval(summary, estimator)
    ends = sorted((low, high), reverse=operation.metric == "bandwidth")
    spelt = " to ".join(quantity(verdict.case, operation, end) for end in ends)
    detail = spelt if summary.coverage else f"one launch: {spelt} within it" if low < high else "one launch"
    return Cell(quantity(verdict.case, operation, summary.typical_ns), detail, candidate in verdict.winners)


def interval(summary: Summary, estimator: str) -> tuple[float, float]:
    """Return the interval of the typical value; of one launch, MPIPerf's where its estimator is wanted."""
    if estimator == TRIMMED and math.isfinite(summary.trimmed_low_ns):
        return summary.trimmed_low_ns, summary.trimmed_high_ns
    return summary.low_ns, summary.high_ns


def quantity(case: Case, operation: Operation, time_ns: float) -> str:
    """Return a time as the operation reports it: as a time or as a bandwidth."""
    if operation.metric == "bandwidth":
        return format_rate(plots.bandwidth(case, operation, time_ns))
    return format_time(time_ns)


def winner(verdict: CaseVerdict) -> str:
    """Return who is fastest and by how much; `~` joins those that cannot be told apart."""
    names = " ~ ".join(verdict.winners)
    if verdict.margin > 1:
        return f"{names} {format_ratio(verdict.margin)}"
    return "~" if len(verdict.winners) > 1 else names or "–"


def failures(whole: Picture) -> Table:
    """Return what went wrong by candidate and reason, with the cases it befell."""
    found: dict[tuple[str, str], list[str]] = defaultdict(list)
    doubts = {(one.case, one.candidate): one for one in whole.verdict.summaries if one.doubt and not one.failures}
    for verdict in whole.verdicts():
        for candidate, reason in verdict.failures.items():
            doubted = [one for (_, name), one in doubts.items() if name == candidate]
            told = not_judged(doubted) if (verdict.case.key, candidate) in doubts else reason
            found[candidate, told].append(verdict.case.key)
    for case, summary in whole.summaries():
        for status, count in {**summary.failures, LEFT_OUT: summary.uncertain}.items():
            of = sum(summary.failures.values()) + summary.launches + summary.uncertain
            if count:
                found[summary.candidate, f"{status} in {count} of {of} launches"].append(case.key)
    names = case_names(whole)
    rows = [
        [Cell(candidate), Cell(reason), Cell(listed([names[key] for key in keys]), case=keys[0])]
        for (candidate, reason), keys in found.items()
    ]
    return Table("Cases without figures, or with fewer", ["candidate", "what happened", "cases"], rows)


def not_judged(doubted: list[Summary]) -> str:
    """Return why cases of a candidate are not judged: the reason of the worst stands for all."""
    worst = max(doubted, key=lambda one: one.bound_ns / one.typical_ns if one.typical_ns else math.inf)
    return f"not judged: {'at worst ' if len(doubted) > 1 else ''}{worst.doubt}"


def placed(whole: Picture, case: Case) -> str:
    """Return start and placement of a case, as the tail of a name, where they tell it from others."""
    start = "" if whole.own_start(case) else f", start {case.start}"
    return start + (f" at {case.placement}" if len(whole.campaign.plan.placements) > 1 else "")


def line_name(part: Picture) -> str:
    """Return how the line of a part is called."""
    case = part.cases[0]
    return plots.line_name(case, part.operation(case)) + placed(part, case)


def case_names(whole: Picture) -> dict[str, str]:
    """Return how each case is called."""
    return {case.key: plots.case_name(case, whole.operation(case)) + placed(whole, case) for case in whole.cases}


def listed(names: list[str], most: int = 3) -> str:
    """Return the first few names and how many more there are."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def libraries(whole: Picture) -> Table:
    """Return what each candidate is made of, as found inside its own launches."""
    campaign = whole.campaign
    by_name = {library.name: library for library in campaign.libraries}
    receipts = {receipt.library: receipt for receipt in campaign.receipts}
    rows = []
    for candidate in campaign.candidates:
        library, receipt = by_name[candidate.library], receipts.get(candidate.library)
        settings = " ".join(f"{key}={value}" for key, value in candidate.settings.items())
        rows.append(
            [
                Cell(candidate.name, f"A/A twin of {candidate.control_of}" if candidate.control_of else ""),
                Cell(f"{library.family} {library.version}", library.prefix),
                Cell(said(whole.launches, candidate.name)),
                Cell(receipt.compiler if receipt else "–", " ".join(receipt.flags) if receipt else ""),
                Cell(settings or "none"),
            ]
        )
    return Table("Candidates", ["candidate", "library", "says of itself", "compiler", "settings"], rows)


def said(launches: Iterable[Launch], candidate: str) -> str:
    """Return the first line of the version string that the library gave inside a launch."""
    strings = (launch.facts.library_version for launch in launches if launch.facts and launch.candidate == candidate)
    return next(strings, "–").strip().split("\n")[0]


def ranks(whole: Picture) -> Table:
    """Return where the ranks ran, once for each different answer."""
    seen: dict[tuple[str, str, str], list[Launch]] = defaultdict(list)
    for launch in whole.launches:
        if launch.ranks:
            seats = ", ".join(f"{rank.rank}: {rank.host} cpu {rank.cpu} of {rank.cpus}" for rank in launch.ranks)
            seen[launch.placement, seats, launch.ranks[0].libmpi].append(launch)
    rows = [
        [
            Cell(placement),
            Cell(", ".join(dict.fromkeys(launch.candidate for launch in launches))),
            Cell(str(len(launches))),
            Cell(seats),
            Cell(libmpi),
        ]
        for (placement, seats, libmpi), launches in seen.items()
    ]
    return Table("Where ranks ran", ["placement", "candidates", "launches", "rank: host and CPU", "MPI library"], rows)


def clocks(whole: Picture) -> Table:
    """Return the time sources in use, their resolution and cost, and how far ranks share a clock."""
    seen: dict[tuple[str, str, str, str], list[float]] = defaultdict(list)
    for facts, launch in ((launch.facts, launch) for launch in whole.launches if launch.facts):
        identities = len({rank.clock for rank in launch.ranks})
        compared = facts.synchronisation or "linear"
        shared = "one, nothing to synchronise" if identities == 1 else f"{identities}, synchronised by {compared}"
        key = (facts.source, facts.source_reason, format_time(facts.resolution_ns), shared)
        seen[key].append(facts.cost_ns)
    rows = [
        [
            Cell(source, reason),
            Cell(resolution),
            Cell(f"{format_time(min(costs))} to {format_time(max(costs))}"),
            Cell(shared),
        ]
        for (source, reason, resolution, shared), costs in seen.items()
    ]
    return Table("Time", ["source", "resolution", "cost of a reading", "clocks of the ranks"], rows)


def control(whole: Picture) -> Table:
    """Return the A/A comparisons that were false alarms."""
    names = case_names(whole)
    rows = [
        [
            Cell(names[comparison.case], case=comparison.case),
            Cell(f"{comparison.other} / {comparison.base}"),
            Cell(format_ratio(comparison.ratio)),
            Cell(f"{format_ratio(comparison.low)} to {format_ratio(comparison.high)}"),
        ]
        for comparison in whole.verdict.control
        if comparison.different and comparison.case in names
    ]
    return Table("A/A pairs that looked different", ["case", "pair", "ratio", "interval"], rows)
