"""Launches in turns give the ratios of launches alone, whatever launch precedes.

Blocks in turns and blocks alone alternate, so that both have the same machine; each block is a campaign of one block
with its own seed. Other work on the machine can widen intervals; it favours neither kind.
"""

from __future__ import annotations

import itertools
import math
import os
import time
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import polars as pl
import pytest
import scipy
from mpi.conftest import run_rankbench

from proofs.judging import UndecidedError
from rankbench import statistics, store
from rankbench.statistics.references import find_levels
from rankbench.statistics.turns import estimate_effects
from rankbench.verdict.view import select_judgeable

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from rankbench.model import Library
    from rankbench.store import Store

pytestmark = pytest.mark.timeout(4 * 3600)
BUDGET_S = float(os.environ.get("BUDGET") or 1800)
BLOCKS, FEWEST = 140, 6
"""Blocks of each kind, wanted and needed."""
WITHIN = 0.02
"""Allowed deviation of the quotient of ratios from 1, for each case."""
CONFIDENCE = 0.95
PLAN = """
question = "Do turns favour anybody?"
operations = ["pingpong", "allreduce", "bcast", "alltoall"]
sizes = "8,1K,64K"
placements = ["socket"]
case_limit = "50ms"
together = {together}
[stop]
blocks = 1
"""
CANDIDATE = """
[[candidate]]
library = "{name}"
"""


class Blocks(NamedTuple):
    """The figures of blocks of one kind."""

    launch_values: pl.DataFrame
    beside: Mapping[int, list[str]]

    @property
    def number(self) -> int:
        return self.launch_values["block"].n_unique()


def run_block(home: Path, folder: Path, names: list[str], number: int, *, together: bool) -> Store:
    name = f"{'turns' if together else 'alone'}-{number}"
    plan = folder / f"{name}.toml"
    plan.write_text(
        PLAN.format(together=str(together).lower()) + "".join(CANDIDATE.format(name=library) for library in names)
    )
    process = run_rankbench("run", str(plan), "--results", str(folder), "--seed", str(number), home=home)
    assert process.returncode == 0, process.stdout[-3000:] + process.stderr[-3000:]
    return store.open(folder / name)


def gather(stores: list[Store]) -> Blocks:
    """Return the values of single blocks as those of one campaign, with unique numbers of launches."""
    frames: list[pl.DataFrame] = []
    beside: dict[int, list[str]] = {}
    first = 0
    for number, block_store in enumerate(stores, 1):
        by_ranks = [case.key for case in block_store.campaign.cases if not block_store.campaign.scheduled(case)]
        launch_values = select_judgeable(statistics.compute_launch_values(block_store.samples(), "median", by_ranks))
        frames.append(launch_values.with_columns(pl.col("launch") + first, pl.lit(number, pl.Int32).alias("block")))
        beside |= {first + launch.number: launch.beside for launch in block_store.launches() if launch.beside}
        first += max(launch.number for launch in block_store.launches())
    return Blocks(pl.concat(frames), beside)


@pytest.fixture(scope="module")
def alternating_blocks(
    home: Path, reach: list[Library], tmp_path_factory: pytest.TempPathFactory
) -> tuple[Blocks, Blocks]:
    """Return alternating blocks in turns and alone, as many as wanted or allowed by the budget."""
    folder, names = tmp_path_factory.mktemp("turns"), [library.name for library in reach if library.source == "pypi"]
    stores_by_kind: tuple[list[Store], list[Store]] = ([], [])
    began_s = time.monotonic()
    for number in range(1, BLOCKS + 1):
        kinds = [(stores_by_kind[0], True), (stores_by_kind[1], False)]
        for stores, together in kinds if number % 2 else reversed(kinds):
            stores.append(run_block(home, folder, names, number, together=together))
        if time.monotonic() - began_s > BUDGET_S:
            break
    if len(stores_by_kind[0]) < FEWEST:
        raise UndecidedError(f"{len(stores_by_kind[0])} blocks of each kind: give it more time, as with BUDGET=1800")
    return gather(stores_by_kind[0]), gather(stores_by_kind[1])


class Quotient(NamedTuple):
    """The ratio of two candidates in turns over that alone, of one case, averaged over the states of the machine."""

    case: str
    base: str
    other: str
    log: float
    half: float

    def __str__(self) -> str:
        low, high = math.exp(self.log - self.half), math.exp(self.log + self.half)
        return f"{self.case} {self.other} / {self.base}: {math.exp(self.log):.3f} [{low:.3f} {high:.3f}]"


def divide_by_state(both: tuple[Blocks, Blocks]) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return case, candidate, block, state (near or far, empty where there is one only) and log of the visits' median.

    Launches alone meet states of the machine at other times than launches in turns. Libraries react to it differently,
    so that without this what was compared would be states.
    """
    hops = pl.concat([kind.launch_values["visit_hop_ns"].explode() for kind in both]).drop_nulls()
    levels = find_levels(hops.to_list())
    hop, state = pl.col("visit_hop_ns"), pl.lit("")
    if levels:
        near = (hop > 0) & (hop <= levels.nearest_ns)
        state = pl.when(near).then(pl.lit("near")).when(hop >= levels.farthest_ns).then(pl.lit("far"))
    keys = ["case", "candidate", "block", "state"]
    turns, alone = (
        kind.launch_values.explode("visit", "visit_ns", "visit_hop_ns")
        .with_columns(state=state, log=pl.col("visit_ns").log())
        .drop_nulls("state")
        .group_by(keys)
        .agg(pl.col("log").median())
        for kind in both
    )
    return turns, alone


def list_quotients(both: tuple[Blocks, Blocks]) -> list[Quotient]:
    """Return the quotient of every case and pair, with intervals that all hold at once (Bonferroni).

    In turns, two candidates are paired within blocks; alone, their launches are independent.
    """
    turns, alone = divide_by_state(both)
    names = turns["candidate"].unique().sort().to_list()
    pairs = [pair for pair in itertools.combinations(names, 2) if "(again)" not in "".join(pair)]
    cases, states = turns["case"].unique().sort().to_list(), turns["state"].unique().sort().to_list()
    tail = (1 - CONFIDENCE) / 2 / max(1, len(pairs) * len(cases))
    quotients = []
    for (base, other), case in itertools.product(pairs, cases):
        estimates = []
        for state in states:
            at_state = (pl.col("case") == case) & (pl.col("state") == state)
            sides = [
                {
                    name: frame.filter(at_state, pl.col("candidate") == name).select("block", "log")
                    for name in (base, other)
                }
                for frame in (turns, alone)
            ]
            paired = sides[0][base].join(sides[0][other], on="block", suffix="_other")
            logs = [paired["log_other"] - paired["log"], sides[1][base]["log"], sides[1][other]["log"]]
            if min(map(len, logs)) >= FEWEST:
                of_pair, of_base, of_other = (trim(values.to_numpy()) for values in logs)
                error = math.hypot(of_pair.error, of_base.error, of_other.error)
                degrees = min(of_pair.degrees, of_base.degrees, of_other.degrees)
                estimates.append(Trimmed(of_pair.mean - (of_other.mean - of_base.mean), error, degrees))
        if estimates:
            weights = np.array([estimate.error**-2 for estimate in estimates])
            log = float(weights @ [estimate.mean for estimate in estimates] / weights.sum())
            degrees = min(estimate.degrees for estimate in estimates)
            half = float(scipy.stats.t.isf(tail, degrees)) / math.sqrt(weights.sum())
            quotients.append(Quotient(case, base, other, log, half))
    return quotients


class Trimmed(NamedTuple):
    """A mean without a fifth at each end, and its standard error (Tukey and McLaughlin, 1963)."""

    mean: float
    error: float
    degrees: float


def trim(logs: np.ndarray) -> Trimmed:
    """Return the trimmed mean of at least `FEWEST` values."""
    cut, count = len(logs) // 5, len(logs)
    winsorized = scipy.stats.mstats.winsorize(np.sort(logs), limits=(cut / count, cut / count))
    error = float(np.std(np.asarray(winsorized), ddof=1)) / ((1 - 2 * cut / count) * math.sqrt(count))
    return Trimmed(float(scipy.stats.trim_mean(logs, cut / count)), max(error, 1e-6), count - 2 * cut - 1)


def test_ratios_in_turns_are_those_of_launches_alone(alternating_blocks: tuple[Blocks, Blocks]) -> None:
    all_quotients, most = list_quotients(alternating_blocks), math.log1p(WITHIN)
    print(
        f"{alternating_blocks[0].number} blocks of each kind, quotient of ratios in turns and alone:",
        *all_quotients,
        sep="\n",
    )
    beyond = [quotient for quotient in all_quotients if abs(quotient.log) - quotient.half > most]
    assert not beyond, f"surely differ by more than {WITHIN:.0%}: {'; '.join(map(str, beyond))}"
    wide = [quotient for quotient in all_quotients if abs(quotient.log) + quotient.half > most]
    if wide:
        widest = sorted(wide, key=lambda quotient: -quotient.half)
        raise UndecidedError(
            f"{len(wide)} of {len(all_quotients)} quotients may differ by more than {WITHIN:.0%}; widest: {widest[0]}"
        )


def test_position_and_predecessor_do_not_matter(alternating_blocks: tuple[Blocks, Blocks]) -> None:
    effects = estimate_effects(alternating_blocks[0].launch_values, alternating_blocks[0].beside)
    texts = [f"{effect.kind} {effect.level}: {math.expm1(effect.log):+.2%} (± {effect.half:.2%})" for effect in effects]
    print(f"effects over {alternating_blocks[0].number} blocks:", *texts, sep="\n")
    beyond = [text for effect, text in zip(effects, texts, strict=True) if effect.exceeds(WITHIN)]
    assert not beyond, f"surely above {WITHIN:.0%}: {'; '.join(beyond)}"
    if not effects or any(abs(effect.log) + effect.half > math.log1p(WITHIN) for effect in effects):
        raise UndecidedError(f"effects may be above {WITHIN:.0%}: {'; '.join(texts)}")
