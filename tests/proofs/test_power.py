"""A call that is a few percent slower is found within two minutes, and nothing else is called different.

A preloaded library adds a known share to every allreduce (`fakes/slower.c`); it precedes the calls of all candidates.
One long campaign has a candidate for each share. It is divided into twenty, each of which is judged like a campaign of
two candidates and the A/A control, for each share separately.
"""

from __future__ import annotations

import math
import os
import subprocess
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl
import pytest
import scipy
from mpi.conftest import run_rankbench
from mpi.test_core import Core

from proofs.judging import UndecidedError
from rankbench import store
from rankbench.analysis import statistics
from rankbench.analysis.questions.view import select_judgeable
from rankbench.analysis.statistics.launch_values import VISITS
from rankbench.analysis.statistics.pairing import pair_logs
from rankbench.model import Comparison
from rankbench.store import Store

pytestmark = pytest.mark.timeout(4 * 3600)
SOURCE = Path(__file__).parents[1] / "fakes" / "slower.c"
BUDGET_S = float(os.environ.get("BUDGET") or 1800)
"""For each library. The campaigns of two candidates then have half a minute each."""
ALONE = 0.2
"""Share of the budget for launches that do not measure in turns."""
CAMPAIGNS = 20
CLAIMED = {3: 0.5, 5: 0.8, 10: 0.95, 20: 1.0}
"""Share of the campaigns in which a call that is so many percent slower is found."""
FALSE = 0.05
"""Share of campaigns that may call equal candidates different."""
LAUNCH_RATIO = 0.2
"""Number of launches in turns relative to launches without turns, for the same certainty."""
THRESHOLD = 0.01
BASE = "plain"
PLAN = """
question = "Which of them is slower?"
operations = ["pingpong", "allreduce", "bcast", "alltoall"]
sizes = "8,1K,64K"
placements = ["socket"]
samples = 100
case_limit = "50ms"
threshold = "1%"
together = {together}
[stop]
blocks = {{ min = 5, max = 1000 }}
until = "time {seconds:.0f}s"
"""
CANDIDATE = """
[[candidate]]
library = "{library}"
name = "{name}"
settings = {{ LD_PRELOAD = "{preloaded}", SLOWER = "allreduce {percent}" }}
"""


class Measured(NamedTuple):
    """A campaign and the figures of its launches."""

    launch_values: pl.DataFrame
    twin: str
    wall_s: float
    """Time of a block of two candidates and the twin."""

    @property
    def blocks(self) -> list[int]:
        return self.launch_values["block"].unique().sort().to_list()

    def select(self, blocks: list[int]) -> pl.DataFrame:
        return self.launch_values.filter(pl.col("block").is_in(blocks))


def name_slower(percent: int) -> str:
    return f"{percent}% slower"


def run_campaign(core: Core, home: Path, folder: Path, percents: list[int], seconds: float, *, together: bool) -> Store:
    preloaded = folder / "slower.so"
    command = [core.library.wrapper, "-O2", "-shared", "-fPIC", "-o", str(preloaded), str(SOURCE)]
    subprocess.run(command, check=True, env=os.environ | core.library.environment)
    named = {BASE: 0} | {name_slower(percent): percent for percent in percents}
    candidates = [
        CANDIDATE.format(library=core.library.name, name=name, preloaded=preloaded, percent=percent)
        for name, percent in named.items()
    ]
    plan = folder / "plan.toml"
    plan.write_text(PLAN.format(together=str(together).lower(), seconds=seconds) + "".join(candidates))
    process = run_rankbench("run", str(plan), "--results", str(folder), "--seed", "1", home=home)
    assert process.returncode == 0, process.stdout[-3000:] + process.stderr[-3000:]
    return store.open(folder / "plan")


def read_figures(campaign_store: Store, estimator: str = "median") -> Measured:
    campaign = campaign_store.campaign
    by_ranks = [case.key for case in campaign.cases if not campaign.scheduled(case)]
    launch_values = select_judgeable(statistics.compute_launch_values(campaign_store.samples(), estimator, by_ranks))
    twin = next(candidate.name for candidate in campaign.candidates if candidate.control_of)
    seconds = sum(launch.duration_s for launch in campaign_store.launches()) / launch_values["block"].n_unique()
    return Measured(launch_values, twin, seconds * 3 / len(campaign.candidates))


@pytest.fixture(scope="module")
def long_campaign(core: Core, home: Path, tmp_path_factory: pytest.TempPathFactory) -> Measured:
    """Return the long campaign, whose candidates measured in turns."""
    folder = tmp_path_factory.mktemp("together")
    return read_figures(run_campaign(core, home, folder, list(CLAIMED), (1 - ALONE) * BUDGET_S, together=True))


@pytest.fixture(scope="module")
def campaign_alone(core: Core, home: Path, tmp_path_factory: pytest.TempPathFactory) -> Store:
    """Return a campaign in which each launch ran alone."""
    return run_campaign(core, home, tmp_path_factory.mktemp("alone"), [10], ALONE * BUDGET_S, together=False)


def divide_blocks(long: Measured, share: float = 1.0) -> list[list[int]]:
    """Return the blocks of each of the campaigns, or of its beginning."""
    length = len(long.blocks) // CAMPAIGNS
    if length < statistics.FEWEST_BLOCKS:
        raise UndecidedError(f"{len(long.blocks)} blocks in all: give it more time, as with BUDGET=1800")
    block_count = max(1, round(share * length))
    return [long.blocks[begin : begin + block_count] for begin in range(0, length * CAMPAIGNS, length)]


def compare_with(long: Measured, blocks: list[int], other: str) -> list[Comparison]:
    return statistics.compare(long.select(blocks), [(BASE, other)], THRESHOLD, control=[(BASE, long.twin)])


def is_slowed(comparison: Comparison) -> bool:
    return comparison.case.startswith("allreduce")


def check_share(count: int, of: int, claimed: float, text: str) -> None:
    """Judge a share: the claim does not hold if so few would occur in one of twenty times although it is true."""
    print(f"{count} of {of} {text}, claimed {claimed:.0%}")
    if count >= claimed * of:
        return
    assert scipy.stats.binom.cdf(count, of, claimed) > 0.05, f"{count} of {of} {text}, claimed {claimed:.0%}"
    raise UndecidedError(f"{count} of {of} {text}, claimed {claimed:.0%}")


@pytest.mark.parametrize("percent", CLAIMED)
def test_a_slower_call_is_found(long_campaign: Measured, percent: int) -> None:
    curve = []
    for share in (0.25, 0.5, 1.0):
        by_campaign = [
            compare_with(long_campaign, blocks, name_slower(percent)) for blocks in divide_blocks(long_campaign, share)
        ]
        slowed = [
            [
                comparison
                for comparison in comparisons
                if is_slowed(comparison) and comparison.other == name_slower(percent)
            ]
            for comparisons in by_campaign
        ]
        cases = [
            [comparison.different and comparison.ratio > 1 for comparison in comparisons] for comparisons in slowed
        ]
        successes = sum(map(any, cases))
        seconds = long_campaign.wall_s * len(divide_blocks(long_campaign, share)[0])
        curve.append(f"{successes} in {seconds:.0f} s ({sum(map(sum, cases))} of {sum(map(len, cases))} cases)")
    check_share(successes, CAMPAIGNS, CLAIMED[percent], f"campaigns find {percent}%: {', '.join(curve)}")


@pytest.mark.parametrize("percent", CLAIMED)
def test_other_calls_are_not_reported_as_slower(long_campaign: Measured, percent: int) -> None:
    by_campaign = [compare_with(long_campaign, blocks, name_slower(percent)) for blocks in divide_blocks(long_campaign)]
    clean = [
        not any(
            comparison.different
            for comparison in comparisons
            if not is_slowed(comparison) and comparison.other == name_slower(percent)
        )
        for comparisons in by_campaign
    ]
    called = [
        f"{comparison.case} {comparison.ratio:.3f}"
        for comparisons in by_campaign
        for comparison in comparisons
        if comparison.different and not is_slowed(comparison)
    ]
    check_share(
        sum(clean), CAMPAIGNS, 1 - FALSE, f"campaigns call nothing else different ({', '.join(called) or 'none'})"
    )


def test_equal_candidates_are_not_reported_as_different(long_campaign: Measured) -> None:
    by_campaign = [
        [
            comparison
            for comparison in compare_with(long_campaign, blocks, name_slower(10))
            if comparison.other == long_campaign.twin
        ]
        for blocks in divide_blocks(long_campaign)
    ]
    clean = [not any(comparison.different for comparison in comparisons) for comparisons in by_campaign]
    called, cases = (
        sum(comparison.different for comparisons in by_campaign for comparison in comparisons),
        sum(map(len, by_campaign)),
    )
    check_share(sum(clean), CAMPAIGNS, 1 - FALSE, f"campaigns err nowhere ({called} of {cases} cases)")


def test_intervals_cover_the_next_campaign_s_ratio(long_campaign: Measured) -> None:
    """The difference of two campaigns' ratios lies within the interval of differences in 95% of the cases."""
    inside = []
    for name in (long_campaign.twin, *map(name_slower, CLAIMED)):
        by_campaign = [
            statistics.compare(long_campaign.select(blocks), [(BASE, name)], THRESHOLD)
            for blocks in divide_blocks(long_campaign)
        ]
        for before, after in pairwise(by_campaign):
            for comparison, after_ in zip(before, after, strict=True):
                half = scipy.stats.t.isf(0.025, comparison.degrees + after_.degrees) * math.hypot(
                    comparison.error, after_.error
                )
                inside.append(abs(math.log(comparison.ratio / after_.ratio)) <= half)
    share = sum(inside) / len(inside)
    print(f"{share:.1%} of {len(inside)} differences lie within their 95% interval")
    assert 0.92 <= share <= 0.995, f"{share:.1%} of {len(inside)} differences lie within their 95% interval"


def estimate_scatter(of: Measured) -> float:
    """Return the standard deviation of a log ratio of equal candidates, by the median deviation; median over cases."""
    logs = pair_logs(of.launch_values, [(BASE, of.twin)]).group_by("case").agg("log")["log"]
    return float(np.median([scipy.stats.median_abs_deviation(log.to_numpy(), scale="normal") for log in logs]))


def test_a_launch_in_turns_is_worth_several(long_campaign: Measured, campaign_alone: Store) -> None:
    """A precision that takes n launches alone takes n times the squared ratio of scatters in turns."""
    together, single = estimate_scatter(long_campaign), estimate_scatter(read_figures(campaign_alone))
    needed = (together / single) ** 2
    text = f"pairs scatter by {together:.1%} in turn, by {single:.1%} alone: {needed:.2g} of the launches"
    print(text)
    assert needed <= LAUNCH_RATIO, text


def list_usual_winners(alone: Store, runs: int) -> list[tuple[bool, bool]]:
    """Return, for two repetitions of so many runs of a call 10% slower, whether each identifies the slower one."""
    means = read_figures(alone, "mean").launch_values.drop(VISITS)
    logs = pair_logs(means, [(BASE, name_slower(10))]).filter(pl.col("case").str.starts_with("allreduce")).sort("block")
    winners: list[tuple[bool, bool]] = []
    for (case_logs,) in logs.group_by("case").agg("log").select("log").iter_rows():
        repeated = np.array(case_logs[: len(case_logs) // runs * runs]).reshape(-1, runs).mean(axis=1) > 0
        winners += zip(repeated[::2].tolist(), repeated[1::2].tolist(), strict=False)
    return winners


def test_two_repetitions_identify_the_same_winner(long_campaign: Measured, campaign_alone: Store) -> None:
    """Compared with usual practice: one run each, or the mean of three, of a call that is 10% slower."""
    unlike = [np.mean([first != two for first, two in list_usual_winners(campaign_alone, runs)]) for runs in (1, 3)]
    by_campaign = [compare_with(long_campaign, blocks, name_slower(10)) for blocks in divide_blocks(long_campaign)]
    by_campaign = [
        [comparison for comparison in comparisons if is_slowed(comparison) and comparison.other == name_slower(10)]
        for comparisons in by_campaign
    ]
    pairs = [
        (comparison, two)
        for before, after in pairwise(by_campaign)
        for comparison, two in zip(before, after, strict=True)
    ]
    contradicted = sum(
        comparison.different and two.different and (comparison.ratio > 1) != (two.ratio > 1)
        for comparison, two in pairs
    )
    print(
        f"two repetitions name different winners: one run each in {unlike[0]:.0%}, mean of three in {unlike[1]:.0%}, "
        f"these campaigns in {contradicted} of {len(pairs)} cases"
    )
    assert contradicted == 0
