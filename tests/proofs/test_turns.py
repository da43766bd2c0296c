"""Launches in turns give the ratios of launches alone, whatever launch precedes.

Blocks in turns and blocks alone alternate, so that both have the same machine; each block is a campaign of one block
with its own seed. Other work on the machine can widen intervals; it favours neither kind.
"""

from __future__ import annotations

import itertools
import math
import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl
import pytest
import scipy
from mpi.conftest import run_rankbench

from proofs.judging import UndecidedError
from rankbench import store
from rankbench.analysis import statistics
from rankbench.analysis.questions.view import select_judgeable
from rankbench.analysis.statistics.references import find_levels
from rankbench.analysis.statistics.turns import estimate_effects
from rankbench.model import Library
from rankbench.store import Store

pytestmark = pytest.mark.timeout(4 * 3600)
BUDGET_S = float(os.environ.get("BUDGET") or 1800)
BLOCKS, FEWEST = 140, 6
"""Blocks of each kind, wanted and needed."""
WITHIN = 0.02
"""Allowed deviation of the quotient of ratios from 1, for each case."""
SHOWN = 0.05
"""Probability of an error at each end of a quotient's interval (two one-sided tests, Schuirmann, 1987)."""
ALONE = " alone"
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
    error: float
    degrees: float

    def __str__(self) -> str:
        low, high = (math.exp(self.log + sign * self.find_half(SHOWN)) for sign in (-1, 1))
        return f"{self.case} {self.other} / {self.base}: {math.exp(self.log):.3f} [{low:.3f} {high:.3f}]"

    def find_half(self, tail: float) -> float:
        """Return half of the interval that leaves out this probability at each end."""
        return float(scipy.stats.t.isf(tail, self.degrees)) * self.error


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
    """Return the quotient of every case and pair.

    Both kinds of launches of a block follow each other, so that all four values are paired within it.
    """
    turns, alone = (
        frame.pivot(on="candidate", index=["case", "block", "state"], values="log") for frame in divide_by_state(both)
    )
    names = sorted(name for name in turns.columns[3:] if "(again)" not in name)
    paired = turns.join(alone, on=["case", "block", "state"], suffix=ALONE)
    quotients = []
    for (base, other), case in itertools.product(itertools.combinations(names, 2), turns["case"].unique().sort()):
        log = pl.col(other) - pl.col(base) - (pl.col(other + ALONE) - pl.col(base + ALONE))
        logs = paired.filter(pl.col("case") == case).select("state", log=log).drop_nulls()
        estimates = [trim(part["log"].to_numpy()) for part in logs.partition_by("state") if len(part) >= FEWEST]
        if estimates:
            weights = np.array([estimate.error**-2 for estimate in estimates])
            mean = float(weights @ [estimate.mean for estimate in estimates] / weights.sum())
            degrees = min(estimate.degrees for estimate in estimates)
            quotients.append(Quotient(case, base, other, mean, 1 / math.sqrt(weights.sum()), degrees))
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
    """Each quotient must be shown to be near 1; that one is not must hold for the worst of so many (Bonferroni)."""
    all_quotients, most = list_quotients(alternating_blocks), math.log1p(WITHIN)
    print(
        f"{alternating_blocks[0].number} blocks of each kind, quotient of ratios in turns and alone:",
        *all_quotients,
        sep="\n",
    )
    refuted = SHOWN / 2 / max(1, len(all_quotients))
    beyond = [quotient for quotient in all_quotients if abs(quotient.log) - quotient.find_half(refuted) > most]
    assert not beyond, f"surely differ by more than {WITHIN:.0%}: {'; '.join(map(str, beyond))}"
    wide = [quotient for quotient in all_quotients if abs(quotient.log) + quotient.find_half(SHOWN) > most]
    if wide:
        widest = sorted(wide, key=lambda quotient: -quotient.error)
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
