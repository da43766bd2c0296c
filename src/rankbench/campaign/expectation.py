"""How long blocks of a campaign will take, before it begins: as similar cases of stored campaigns, or within bounds."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Hashable, Iterator, Sequence
from pathlib import Path
from statistics import median
from typing import NamedTuple

from rankbench import files, store
from rankbench.model import Campaign, Case, Machine, Plan, RankbenchError, Sampling, Stop
from rankbench.plan import notation
from rankbench.quantities import format_rough_time, spell_count

VISIT_S = 0.004
"""Least time of a visit of a case before its first sample: buffers, calls checked before timing, warm-up."""
USUAL = 4.0
"""A visit usually takes so many times its least time: 1.2 to 6 times in ten campaigns, 4 in the middle."""
MOST_CAMPAIGNS = 10
"""Number of stored campaigns that are read, the newest ones."""
COMPARABLE = 2
"""Least number of blocks that compare candidates with an interval."""
EXACT_S = 120
"""Up to this time, a suggested time is a multiple of ten seconds; beyond, of a minute."""


class Expectation(NamedTuple):
    """How long a block takes, in seconds."""

    least_s: float
    most_s: float
    campaigns: int = 0
    """Number of stored campaigns with similar cases, from which it is known; 0: bounds."""

    @property
    def usual_s(self) -> float:
        """Return how long a block usually takes where only its bounds are known; else the known time."""
        return self.least_s if self.campaigns else min(self.most_s, USUAL * self.least_s)


def expect_block(planned: Plan, cases: Sequence[Case], machine: Machine, candidates: int, results: Path) -> Expectation:
    """Return how long a block of these cases with this number of candidates takes.

    Args:
        planned: the plan of the campaign.
        cases: all its cases.
        machine: on which it is measured.
        candidates: their number, the twin of the A/A control included.
        results: folder with stored campaigns.
    """
    times: defaultdict[Hashable, list[float]] = defaultdict(list)
    campaigns = 0
    for opened in list_similar(planned, machine, results):
        campaigns += add_case_times(opened, times)
    known_s = [find_case_s(case, times) for case in cases]
    if campaigns and None not in known_s:
        block_s = candidates * sum(filter(None, known_s))
        return Expectation(block_s, block_s, campaigns)
    bounds = count_least_s(planned.sampling, planned.case_limit_s), planned.case_limit_s
    least_s, most_s = (len(cases) * candidates * bound for bound in bounds)
    return Expectation(least_s, most_s)


def count_least_s(sampling: Sampling, case_limit_s: float) -> float:
    """Return how long a launch takes for a case of a short call, at least."""
    return min(case_limit_s, (sampling.passes or 1) * VISIT_S + sampling.fill_s)


def list_similar(planned: Plan, machine: Machine, results: Path) -> Iterator[store.Store]:
    """Yield the newest campaigns that were measured on this machine with such samples."""
    facts = files.find_facts(results.glob("*/campaign.json"))
    for path in sorted(facts, key=lambda path: facts[path].st_mtime, reverse=True)[:MOST_CAMPAIGNS]:
        try:
            opened = store.open(path.parent)
        except RankbenchError:
            continue
        if is_similar(opened.campaign, planned, machine):
            yield opened


def is_similar(record: Campaign, planned: Plan, machine: Machine) -> bool:
    """Return whether launches of a campaign take as long for a case as those of the plan."""
    here = all(getattr(record.machine, what) == getattr(machine, what) for what in ("host", "cpu", "cores"))
    then = record.plan.sampling, record.plan.case_limit_s
    return here and not record.imported and then == (planned.sampling, planned.case_limit_s)


def add_case_times(opened: store.Store, times: defaultdict[Hashable, list[float]]) -> bool:
    """Add the seconds for each case of a campaign's launches, by the case and by what it has in common with others;
    return whether there were some.

    A launch does not report the time of each of its cases: all get the same part of it.
    """
    try:
        rows = list(opened.cases().filter(status="ok").select("launch", "case").iter_rows())
        duration_s = {launch.number: launch.duration_s for launch in opened.launches()}
    except RankbenchError:
        return False
    cases = {case.key: case for case in opened.campaign.cases}
    by_launch: defaultdict[int, list[Case]] = defaultdict(list)
    for launch, key in rows:
        by_launch[launch].append(cases[key])
    for launch, measured in by_launch.items():
        for case in measured:
            for trait in list_traits(case):
                times[trait].append(duration_s[launch] / len(measured))
    return bool(by_launch)


def list_traits(case: Case) -> Iterator[Hashable]:
    """Yield by what the time of a case is looked up, the most precise first."""
    yield case.key
    yield case.operation, case.ranks
    yield case.ranks


def find_case_s(case: Case, times: defaultdict[Hashable, list[float]]) -> float | None:
    """Return the time that a launch took for the case, or for similar ones; None: none was measured."""
    return next((median(times[trait]) for trait in list_traits(case) if trait in times), None)


def count_fitting(stop: Stop, block_s: float) -> float:
    """Return how many blocks of so many seconds fit into the time of a stop rule; infinite: it has none."""
    limit_s = notation.find_time_limit_s(stop.until)
    return limit_s if math.isinf(limit_s) else limit_s // block_s if block_s else math.inf


def check_time(stop: Stop, cases: int, expected: Expectation) -> str:
    """Return a note if fewer blocks than planned fit into the plan's time; empty: all do.

    Raises RankbenchError if too few fit to compare anything.
    """
    usual, fitting = (count_fitting(stop, block_s) for block_s in (expected.usual_s, expected.least_s))
    if usual >= stop.blocks_min:
        return ""
    time = notation.name_time_limit(stop.until)
    if fitting >= min(COMPARABLE, stop.blocks_min):
        most = "" if usual == fitting else f" (usually; at most {fitting:.0f})"
        fit = f"about {max(usual, 1):.0f} of at least {stop.blocks_min} blocks fit into the time of {time}{most}"
        return f"{fit}; only large differences will be shown"
    wanted_s = stop.blocks_min * expected.least_s
    unit_s = 10 if wanted_s < EXACT_S else 60
    count = math.ceil(wanted_s / unit_s)
    longer = f"{count * unit_s}s" if unit_s == 10 else f"{count}m"
    take = "takes" if stop.blocks_min == 1 else "take"
    raise RankbenchError(
        f"{spell_count(stop.blocks_min, 'block')} of {spell_count(cases, 'case')} {take} "
        f"{'about' if expected.campaigns else 'at least'} {format_rough_time(wanted_s)}, and a time of {time} allows "
        f"{'none' if fitting < 1 else 'only one'}; fewer sizes, --blocks {COMPARABLE} instead of a time, or "
        f"--time {longer}"
    )
