"""Over time: campaigns of the same plan in the order of their making, and from which one on a case changed.

Like `evaluation` it reads stores, but for what each launch came to only: of many campaigns all else would take long.
"""

from __future__ import annotations

import math
from datetime import UTC, datetime
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import polars as pl

from rankbench import statistics
from rankbench.language import say
from rankbench.model import RankbenchError, Record
from rankbench.statistics import changes, states
from rankbench.statistics.starts import usual_starts
from rankbench.verdict import circumstances, naming
from rankbench.verdict.evaluation import judged
from rankbench.verdict.measures import measure

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from rankbench.model import Campaign, Case, Launch, Operation
    from rankbench.statistics.changes import Step
    from rankbench.store import Store
    from rankbench.verdict.measures import Measure


class Past(NamedTuple):
    """A campaign as far as its history is concerned."""

    name: str
    campaign: Campaign
    launches: list[Launch]
    figures: dict[tuple[str, str], list[float]]
    """Of the launches that can be judged, by case and candidate."""
    moved: dict[str, tuple[int, int]]
    """Bytes and messages of one sample, by case."""

    @property
    def date(self) -> str:
        """Return the day on which it was made."""
        return self.campaign.created[:10]


class Point(Record, frozen=True):
    """What a case took in one campaign. Of quantity `memory` figures are bytes."""

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
    reasons: list[str]
    """What else is not what it was in the campaign before."""
    explained: bool
    """Whether the raw probes of the machine, without MPI, changed as much."""


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
    """Series over which changes were told."""
    machine: list[Step]
    """Changes of what is common to all cases and candidates; the index is the campaign's place."""

    def measure(self, case: str) -> Measure:
        """Return what the figures of a case are."""
        one = self.cases[case]
        newest = last_with(self.pasts, one)
        return measure(one, operation_of(newest.campaign, one), *newest.moved.get(case, ()))


def last_with(pasts: Sequence[Past], case: Case) -> Past:
    """Return the newest campaign that has a case."""
    return next(past for past in reversed(pasts) if case in past.campaign.cases)


def operation_of(campaign: Campaign, case: Case) -> Operation:
    """Return what the core says of a case's operation."""
    return next(one for one in campaign.operations if one.name == case.operation)


# --- reading ----------------------------------------------------------------------------------------------------------


def history(stores: Sequence[Store]) -> History:
    """Return what campaigns measured over time, all by the estimator of the newest one, and where it changed."""
    ordered = sorted(stores, key=lambda one: made(one.campaign))
    if len(ordered) < 2:
        raise RankbenchError(
            "a history takes two campaigns or more; name their folders, or the folder that they are in"
        )
    newest = ordered[-1].campaign.plan
    pasts = [recall(store, name, newest.estimator) for store, name in zip(ordered, names(ordered), strict=True)]
    cases = {case.key: case for past in pasts for case in past.campaign.cases}
    titles = {key: _called(pasts, case) for key, case in cases.items()}
    found = [one for track in tracks(pasts) for one in lines(pasts, track, cases, titles, newest.confidence)]
    order = {key: place for place, key in enumerate(key for past in reversed(pasts) for key in keys(past.campaign))}
    found.sort(key=lambda one: order[one.case])
    common = shared(pasts, found)
    steady = changes.Levels(common, np.zeros(len(common)))
    return History(
        pasts,
        turned(pasts, found, newest.threshold, common),
        cases,
        newest.estimator,
        newest.threshold,
        len(found),
        changes.steps([steady], newest.threshold)[0],
    )


def made(campaign: Campaign) -> datetime:
    """Return when a campaign was made."""
    moment = datetime.fromisoformat(campaign.created)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def names(stores: Sequence[Store]) -> list[str]:
    """Return how campaigns are called: by their own names, or those of their folders where two are called alike."""
    own = [one.campaign.name for one in stores]
    return own if len(set(own)) == len(own) else [str(one.folder) for one in stores]


def recall(store: Store, name: str, estimator: str) -> Past:
    """Read what a campaign's launches came to."""
    campaign = store.campaign
    by_ranks = [case.key for case in campaign.cases if not campaign.scheduled(case)]
    figures = judged(statistics.launch_figures(store.samples(), estimator, by_ranks))
    rows = figures.filter(pl.col("figure_ns") > 0).group_by("case", "candidate").agg("figure_ns")
    moved = store.cases().group_by("case").agg(pl.col("moved_bytes", "moved_messages").max())
    return Past(
        name,
        campaign,
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


def tracks(pasts: Sequence[Past]) -> list[Track]:
    """Follow candidates from campaign to campaign, by name or else by family; each to the last one that had it."""
    found: list[dict[int, str]] = []
    for place, past in enumerate(pasts):
        left = circumstances.candidates(past.campaign)
        for earlier in range(place - 1, -1, -1):
            known = {track[earlier]: track for track in found if max(track) == earlier}
            for match in circumstances.matches(pasts[earlier].campaign, past.campaign, {}) if known and left else ():
                if match.old in known and match.new in left:
                    known[match.old][place] = match.new
                    left.remove(match.new)
        found += [{place: name} for name in left]
    families = [circumstances.library(pasts[max(one)].campaign, one[max(one)]).family for one in found]
    return [
        Track(_title(one, family, alone=families.count(family) == 1), one)
        for one, family in zip(found, families, strict=True)
    ]


def _title(names: dict[int, str], family: str, *, alone: bool) -> str:
    """Return how a track is called: as its candidates always were, else by their family if it is the only one of it."""
    return names[max(names)] if len(set(names.values())) == 1 or not alone else family


def lines(
    pasts: Sequence[Past], track: Track, cases: dict[str, Case], titles: dict[str, str], confidence: float
) -> list[Series]:
    """Return the series of one candidate, one for each case that it has figures of; with as many ranks as at last."""
    found = []
    for key, case in cases.items():
        points = [
            _point(place, name, pasts[place].figures[key, name], confidence)
            for place, name in track.names.items()
            if (key, name) in pasts[place].figures and case in pasts[place].campaign.cases
        ]
        if points:
            memory = case.quantity == "memory"
            found.append(
                Series(case=key, title=titles[key], candidate=track.title, memory=memory, points=points, turns=[])
            )
    return found


def _called(pasts: Sequence[Past], case: Case) -> str:
    """Return how a case is called, by the newest campaign that has it."""
    campaign = last_with(pasts, case).campaign
    return naming.apart(
        case,
        operation_of(campaign, case),
        start=usual_starts(campaign)[case.key] != case,
        placement=len(campaign.plan.placements) > 1,
    )


def _point(place: int, name: str, figures: Sequence[float], confidence: float) -> Point:
    ordered = np.sort(np.asarray(figures, dtype=np.float64))
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
    """Return which of so many ordered figures the interval of their median ends at."""
    low, high, _ = statistics.median_interval(np.arange(count, dtype=np.float64), confidence)
    return int(low), int(high)


# --- changes ----------------------------------------------------------------------------------------------------------


def shared(pasts: Sequence[Past], series: Sequence[Series]) -> NDArray[np.float64]:
    """Return what is common to all cases and candidates of each campaign, as a logarithm.

    With a baseline in the newest plan it is the median over the baseline's cases. Else it is the smallest of the
    candidates' medians where all have the same sign, and 0 where not: a library that changes alone is in no common
    part. One candidate alone has none, since its library and the machine are the same series.
    """
    base = pasts[-1].campaign.baseline
    timed = [one for one in series if not one.memory]
    names = {one.candidate for one in timed if not base or one.points[-1].candidate == base}
    if len(names) < (1 if base else 2):
        return np.zeros(len(pasts))
    medians = np.array([_medians(len(pasts), [one for one in timed if one.candidate == name]) for name in names])
    smallest = np.abs(medians).min(axis=0)
    alike = np.abs(np.sign(medians).sum(axis=0)) == len(medians)
    common: NDArray[np.float64] = np.where(alike, np.sign(medians[0]) * smallest, 0.0)
    return common


def _medians(count: int, series: Sequence[Series]) -> NDArray[np.float64]:
    """Return the median over series of each campaign's log time less the series' own median; 0 where none has any."""
    logs = np.full((len(series), count), np.nan)
    for row, one in enumerate(series):
        own = np.log([point.typical_ns for point in one.points])
        logs[row, [point.campaign for point in one.points]] = own - np.median(own)
    known = ~np.isnan(logs).all(axis=0)
    medians = np.zeros(count)
    medians[known] = np.nanmedian(logs[:, known], axis=0)
    return medians


def turned(
    pasts: Sequence[Past], series: Sequence[Series], threshold: float, common: NDArray[np.float64]
) -> list[Series]:
    """Return the series with what changed in them beyond what is common to all, tested over all of them together."""
    found = changes.steps([levels(pasts, one, common) for one in series], threshold)
    return [
        Series(
            case=one.case,
            title=one.title,
            candidate=one.candidate,
            memory=one.memory,
            points=one.points,
            turns=[turn(pasts, one, steps, number) for number in range(len(steps))],
        )
        for one, steps in zip(series, found, strict=True)
    ]


def levels(pasts: Sequence[Past], one: Series, common: NDArray[np.float64]) -> changes.Levels:
    """Return the logarithms of typical values less the common part, and what launches let expect of their scatter."""
    logs = np.log([point.typical_ns for point in one.points])
    if not one.memory:
        logs = logs - common[[point.campaign for point in one.points]]
    figures = [np.log(pasts[point.campaign].figures[one.case, point.candidate]) for point in one.points]
    return changes.Levels(
        logs, np.array([float(own.var(ddof=1)) / len(own) if len(own) > 1 else 0.0 for own in figures])
    )


def turn(pasts: Sequence[Past], one: Series, steps: Sequence[Step], number: int) -> Turn:
    """Return a change with what else changed."""
    step = steps[number]
    at, before = one.points[step.at], one.points[step.at - 1]
    first = steps[number - 1].at if number else 0
    end = steps[number + 1].at if number + 1 < len(steps) else len(one.points)
    launches = [
        [launch for point in one.points[start:stop] for launch in pasts[point.campaign].launches]
        for start, stop in ((first, step.at), (step.at, end))
    ]
    probes = circumstances.probes(*launches)
    return Turn(
        campaign=at.campaign,
        since=pasts[at.campaign].date,
        name=pasts[at.campaign].name,
        ratio=step.ratio,
        low=step.low,
        high=step.high,
        p_adjusted=step.p_adjusted,
        reasons=[*reasons(pasts[before.campaign], pasts[at.campaign], before.candidate, at.candidate), *raw(probes)],
        explained=not one.memory and probes.explain(step.ratio),
    )


def reasons(then: Past, now: Past, old: str, new: str) -> list[str]:
    """Return what the records of two campaigns have otherwise: `openmpi 5.0.10 → 5.0.11`, `kernel 6.1 → 6.8`."""
    sides = [(past.campaign, past.launches, name) for past, name in ((then, old), (now, new))]
    candidates = [circumstances.of_candidate(*side) for side in sides]
    others: Iterable[list[dict[str, str]]] = (
        [circumstances.of_machine(campaign) for campaign, _, _ in sides],
        [circumstances.of_rankbench(campaign, launches) for campaign, launches, _ in sides],
        [circumstances.of_plan(campaign, launches) for campaign, launches, _ in sides],
    )
    told = [*circumstances.of_library(*candidates)]
    for before, after in others:
        told += circumstances.differences(before, after)
    return [one.arrow for one in told]


def raw(probes: circumstances.Probes) -> list[str]:
    """Return what the machine did without MPI, where it was in another state."""
    if not probes.exchange or abs(math.log(probes.exchange)) <= math.log(states.ALIKE):
        return []
    return [say("handing a cache line to another CPU takes {ratio:ratio} without MPI", ratio=probes.exchange)]
