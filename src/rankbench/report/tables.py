"""The tables of a report as plain values, the same for HTML, Markdown and LaTeX. Nothing is rendered here."""

from __future__ import annotations

import dataclasses
import math
from collections import defaultdict
from typing import TYPE_CHECKING

from rankbench import plots
from rankbench.language import say
from rankbench.model import CaseStatus
from rankbench.quantities import format_ratio, format_time
from rankbench.statistics.estimators import TRIMMED
from rankbench.verdict import naming

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rankbench.model import Case, CaseVerdict, Launch, RankFact, Summary
    from rankbench.plots import Picture
    from rankbench.verdict.measures import Measure


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

    @property
    def cases(self) -> dict[str, None]:
        """Return the keys of the cases that it is made of."""
        return dict.fromkeys([*self.rests, *(cell.case for row in self.rows for cell in row if cell.case)])


def results(whole: Picture, *, launches: bool = False) -> list[Table]:
    """Return one table per line: sizes downwards, candidates to the right; `launches` adds their range."""
    summaries = {(summary.case, summary.candidate): summary for summary in whole.verdict.summaries}
    return [result(part, summaries, launches=launches) for _, part in whole.plain().parts("line")]


def result(part: Picture, summaries: dict[tuple[str, str], Summary], *, launches: bool) -> Table:
    """Return the table of one line."""
    measure = part.measure(part.cases[0])
    caption = f"{line_name(part)}: {measure.heading}, {plots.circumstances(part)}"
    best = fastest_heading(part)
    rows = [
        [
            Cell(part.size(verdict.case), case=part.key(verdict.case)),
            *(
                figure(part, verdict, name, summaries.get((part.key(verdict.case), name)), launches=launches)
                for name in part.candidates
            ),
            Cell(winner(verdict)),
        ]
        for verdict in part.verdicts()
    ]
    return Table(caption, [say("message size"), *part.candidates, best], rows)


def figure(
    part: Picture, verdict: CaseVerdict, candidate: str, summary: Summary | None, *, launches: bool = False
) -> Cell:
    """Return a typical value with its interval, or why there is none."""
    measure = part.measure(verdict.case)
    if summary is None or candidate not in verdict.ranking:
        doubted = summary is not None and summary.doubt
        text = f"{measure.text(summary.typical_ns)} ?" if summary and doubted else "–"
        return Cell(text, verdict.failures.get(candidate, say("not measured")))
    low, high = interval(summary, part.campaign.plan.estimator)
    detail = spread(summary, measure.interval(low, high), alone=low == high)
    if launches and summary.launches > 1:
        detail = say("{interval}; launches {range}", interval=detail, range=launch_range(measure, summary))
    if measure.kind == "memory":
        detail = say("{interval}; the first use added {growth:memory}", interval=detail, growth=summary.growth_bytes)
    return Cell(measure.text(summary.typical_ns), detail, candidate in verdict.winners)


def launch_range(measure: Measure, summary: Summary) -> str:
    """Return the least and the largest figure of any launch."""
    return measure.interval(summary.launches_min_ns, summary.launches_max_ns)


def spread(summary: Summary, interval: str, *, alone: bool) -> str:
    """Return an interval; of a lone launch that it is one, and what is known within it."""
    if summary.coverage:
        return interval
    return say("one launch") if alone else say("one launch: {interval} within it", interval=interval)


def interval(summary: Summary, estimator: str) -> tuple[float, float]:
    """Return the interval of the typical value; of one launch, MPIPerf's where its estimator is wanted."""
    if estimator == TRIMMED and math.isfinite(summary.trimmed_low_ns):
        return summary.trimmed_low_ns, summary.trimmed_high_ns
    return summary.low_ns, summary.high_ns


def ended(summary: Summary) -> str:
    """Return how a case ended in the launches in which it did not end well."""
    return ", ".join(status.replace("-", " ") for status in summary.failures)


def fastest_heading(part: Picture) -> str:
    """Return the heading of the column of winners, which says what its ratio is."""
    memory = part.cases[0].quantity == "memory"
    return say("least (×: next)") if memory else say("fastest (×: next slower)")


def outcome_legend(whole: Picture) -> str:
    """Return what the signs of a table of winners mean."""
    return say("~ not distinguishable, = equivalent within {within:.0%}", within=whole.campaign.plan.threshold)


def winner(verdict: CaseVerdict) -> str:
    """Return who is fastest and by how much; `=` joins equivalent ones, `~` those of which the fastest is undecided.

    Where there are several, the text says to whom the ratio is: else it would seem to be between them.
    """
    if verdict.outcome == "depends":
        return naming.by_level(verdict)
    only = (
        say("{level} only: ", level=next(iter(verdict.winners_by_level))) if len(verdict.winners_by_level) == 1 else ""
    )
    return only + joined_winners(verdict)


def joined_winners(verdict: CaseVerdict) -> str:
    """Return the winners and their margin, levels of the reference aside."""
    names = f" {verdict.sign} ".join(verdict.winners)
    if verdict.margin <= 1:
        return verdict.sign if len(verdict.winners) > 1 else names or "–"
    ratio = format_ratio(verdict.margin)
    if len(verdict.winners) == 1:
        return f"{names} {ratio}"
    slower = [name for name in verdict.ranking if name not in verdict.winners]
    rival = slower[0] if len(slower) == 1 else say("the next slower")
    return say("{names}, {ratio} to {rival}", names=names, ratio=ratio, rival=rival)


def failures(whole: Picture) -> Table:
    """Return what went wrong by candidate and reason, with the cases it befell."""
    found: dict[tuple[str, str], list[str]] = defaultdict(list)
    doubts: dict[str, dict[str, Summary]] = defaultdict(dict)
    for one in whole.verdict.summaries:
        if one.doubt and not one.failures:
            doubts[one.candidate][one.case] = one
    said = {name: not_judged(list(ones.values())) for name, ones in doubts.items()}
    for verdict in whole.verdicts():
        for candidate, reason in verdict.failures.items():
            told = said[candidate] if verdict.case.key in doubts.get(candidate, {}) else reason
            found[candidate, told].append(verdict.case.key)
    for case, summary in whole.summaries():
        for status, count in {**summary.failures, LEFT_OUT: summary.uncertain, TOO_FEW: summary.few}.items():
            of = sum(summary.failures.values()) + summary.launches + summary.left_out
            if count:
                told = f" ({summary.elsewhere})" if status == CaseStatus.NOT_AS_ASKED else ""
                befell = say("{status} in {count} of {all} launches", status=status, count=count, all=of)
                found[summary.candidate, befell + told].append(case.key)
    names = case_names(whole)
    rows = [
        [Cell(candidate), Cell(reason), Cell(listed([names[key] for key in keys]), case=keys[0])]
        for (candidate, reason), keys in found.items()
    ]
    columns = [say("candidate"), say("what happened"), say("cases")]
    return Table(say("Cases without figures, or with fewer"), columns, rows)


def not_judged(doubted: list[Summary]) -> str:
    """Return why cases of a candidate are not judged: the reason of the worst stands for all."""
    worst = max(doubted, key=lambda one: one.error_ns / one.typical_ns if one.typical_ns else math.inf)
    if len(doubted) > 1:
        return say("not judged: at worst {doubt}", doubt=worst.doubt)
    return say("not judged: {doubt}", doubt=worst.doubt)


def placed(whole: Picture, case: Case) -> str:
    """Return start and placement of a case, as the tail of a name, where they tell it from others."""
    several = len(whole.campaign.plan.placements) > 1
    return begun(whole, case) + (f" {say('at {placement}', placement=case.placement)}" if several else "")


def begun(whole: Picture, case: Case) -> str:
    """Return the start of a case, as the tail of a name, where it is not the usual one."""
    return "" if whole.own_start(case) else f", {say('start {start}', start=case.start)}"


def line_name(part: Picture) -> str:
    """Return how the line of a part is called."""
    case = part.cases[0]
    return part.line() + placed(part, case)


def case_names(whole: Picture) -> dict[str, str]:
    """Return how each case is called."""
    return {case.key: whole.name(case) + placed(whole, case) for case in whole.cases}


def listed(names: list[str], most: int = 3) -> str:
    """Return the first few names and how many more there are."""
    told = naming.joined(names[:most])
    return say("{names} and {n} more", names=told, n=len(names) - most) if len(names) > most else told


def libraries(whole: Picture) -> Table:
    """Return what each candidate is made of, as found inside its own launches."""
    campaign = whole.campaign
    by_name = {library.name: library for library in campaign.libraries}
    receipts = {receipt.library: receipt for receipt in campaign.receipts}
    rows = []
    for candidate in campaign.candidates:
        library, receipt, twin = by_name[candidate.library], receipts.get(candidate.library), candidate.control_of
        settings = " ".join(f"{key}={value}" for key, value in candidate.settings.items())
        rows.append(
            [
                Cell(candidate.name, say("A/A twin of {name}", name=twin) if twin else ""),
                Cell(f"{library.family} {library.version}", library.prefix),
                Cell(said(whole.launches, candidate.name)),
                Cell(receipt.compiler if receipt else "–", " ".join(receipt.flags) if receipt else ""),
                Cell(settings or say("none")),
            ]
        )
    columns = [say("candidate"), say("library"), say("says of itself"), say("compiler"), say("settings")]
    return Table(say("Candidates"), columns, rows)


def said(launches: Iterable[Launch], candidate: str) -> str:
    """Return the first line of the version string that the library gave inside a launch."""
    strings = (launch.facts.library_version for launch in launches if launch.facts and launch.candidate == candidate)
    return next(strings, "–").strip().split("\n")[0]


def ranks(whole: Picture) -> Table:
    """Return where the ranks ran, once for each different answer."""
    seen: dict[tuple[str, str, str], list[Launch]] = defaultdict(list)
    for launch in whole.launches:
        if launch.ranks:
            seats = ", ".join(map(seat, launch.ranks))
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
    columns = [say("placement"), say("candidates"), say("launches"), say("rank: host and CPU"), say("MPI library")]
    return Table(say("Where ranks ran"), columns, rows)


def seat(one: RankFact) -> str:
    """Return where a rank ran."""
    return say("{rank}: {host} cpu {cpu} of {cpus}", rank=one.rank, host=one.host, cpu=one.cpu, cpus=one.cpus)


def clocks(whole: Picture) -> Table:
    """Return the time sources in use, their resolution and cost, and how far ranks share a clock."""
    seen: dict[tuple[str, str, str, str], list[float]] = defaultdict(list)
    for facts, launch in ((launch.facts, launch) for launch in whole.launches if launch.facts):
        identities = len({rank.clock for rank in launch.ranks})
        compared = facts.synchronisation or "linear"
        several = say("{n}, synchronised by {how}", n=identities, how=compared)
        shared = say("one, nothing to synchronise") if identities == 1 else several
        key = (facts.source, facts.source_reason, format_time(facts.resolution_ns), shared)
        seen[key].append(facts.cost_ns)
    rows = [
        [
            Cell(source, reason),
            Cell(resolution),
            Cell(say("{low:time} to {high:time}", low=min(costs), high=max(costs))),
            Cell(shared),
        ]
        for (source, reason, resolution, shared), costs in seen.items()
    ]
    columns = [say("source"), say("resolution"), say("cost of a reading"), say("clocks of the ranks")]
    return Table(say("Time"), columns, rows)


def control(whole: Picture) -> Table:
    """Return the A/A comparisons that were false alarms."""
    names = case_names(whole)
    rows = [
        [
            Cell(names[comparison.case], case=comparison.case),
            Cell(f"{comparison.other} / {comparison.base}"),
            Cell(format_ratio(comparison.ratio)),
            Cell(say("{low:ratio} to {high:ratio}", low=comparison.low, high=comparison.high)),
        ]
        for comparison in whole.verdict.control
        if comparison.different and comparison.case in names
    ]
    columns = [say("case"), say("pair"), say("ratio"), say("interval")]
    return Table(say("A/A pairs that looked different"), columns, rows)
