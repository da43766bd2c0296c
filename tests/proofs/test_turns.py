"""Launches in turns give the ratios of launches alone, whatever launch precedes.
/ Blocks in turns and blocks alone alternate, so that both have the same machine; each block is a campaign of one block
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
from rankbench.statistics.pairing import pair_logs
from rankbench.statistics.turns import estimate_effects
from rankbench.verdict.view import select_judgeable

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from rankbench.model import Library
    from rankbench.store import Store

pytestmark = pytest.mark.timeout(4 * 3600)
BUDGET_S = float(os.environ.get("BUDGET") or 1800)
BLOCKS, FEWEST = 60, 6
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

    figures: pl.DataFrame
    beside: Mapping[int, list[str]]

    @property
    def number(self) -> int:
        return self.figures["block"].n_unique()


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
    """Return the figures of single blocks as those of one campaign, with unique numbers of launches."""
    frames: list[pl.DataFrame] = []
    beside: dict[int, list[str]] = {}
    first = 0
    for number, block_store in enumerate(stores, 1):
        by_ranks = [case.key for case in block_store.campaign.cases if not block_store.campaign.scheduled(case)]
        figures = select_judgeable(statistics.launch_figures(block_store.samples(), "median", by_ranks))
        frames.append(figures.with_columns(pl.col("launch") + first, pl.lit(number, pl.Int32).alias("block")))
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
    """The ratio of two candidates in turns over that alone, of one case."""

    case: str
    base: str
    other: str
    log: float
    half: float

    def __str__(self) -> str:
        low, high = math.exp(self.log - self.half), math.exp(self.log + self.half)
        return f"{self.case} {self.other} / {self.base}: {math.exp(self.log):.3f} [{low:.3f} {high:.3f}]"


def compute_quotients(turns: Blocks, alone: Blocks) -> list[Quotient]:
    """Return the quotient of every case and pair, with simultaneous intervals (Bonferroni)."""
    names = turns.figures["candidate"].unique().sort().to_list()
    pairs = [pair for pair in itertools.combinations(names, 2) if "(again)" not in "".join(pair)]
    logs_by_pair = []
    for base, other in pairs:
        joined = pair_logs(turns.figures, base, other).join(
            pair_logs(alone.figures, base, other), on=["case", "block"], suffix="_alone"
        )
        for (case,), frame in joined.group_by("case", maintain_order=True):
            logs = (frame["log"] - frame["log_alone"]).to_numpy()
            if len(logs) >= FEWEST:
                logs_by_pair.append((str(case), base, other, logs))
    tail = (1 - CONFIDENCE) / 2 / max(1, len(logs_by_pair))
    return [Quotient(case, base, other, *trim(logs, tail)) for case, base, other, logs in logs_by_pair]


def trim(logs: np.ndarray, tail: float) -> tuple[float, float]:
    """Return the mean without a fifth at each end, and half its interval (Tukey and McLaughlin, 1963)."""
    cut, count = len(logs) // 5, len(logs)
    drawn = scipy.stats.mstats.winsorize(np.sort(logs), limits=(cut / count, cut / count))
    error = float(np.std(np.asarray(drawn), ddof=1)) / ((1 - 2 * cut / count) * math.sqrt(count))
    return float(scipy.stats.trim_mean(logs, cut / count)), float(scipy.stats.t.isf(tail, count - 2 * cut - 1)) * error


def test_ratios_in_turns_are_those_of_launches_alone(alternating_blocks: tuple[Blocks, Blocks]) -> None:
    all_quotients, most = compute_quotients(*alternating_blocks), math.log1p(WITHIN)
    print(
        f"{alternating_blocks[0].number} blocks of each kind, quotient of ratios in turns and alone:",
        *all_quotients,
        sep="\n",
    )
    beyond = [quotient for quotient in all_quotients if abs(quotient.log) - quotient.half > most]
    assert not beyond, f"surely differ by more than {WITHIN:.0%}: {'; '.join(map(str, beyond))}"
    wide = [quotient for quotient in all_quotients if abs(quotient.log) + quotient.half > most]
    if wide:
        raise UndecidedError(f"{len(wide)} of {len(all_quotients)} quotients may differ by more than {WITHIN:.0%}")


def test_position_and_predecessor_do_not_matter(alternating_blocks: tuple[Blocks, Blocks]) -> None:
    effects = estimate_effects(alternating_blocks[0].figures, alternating_blocks[0].beside)
    texts = [f"{effect.kind} {effect.level}: {math.expm1(effect.log):+.2%} (± {effect.half:.2%})" for effect in effects]
    print(f"effects over {alternating_blocks[0].number} blocks:", *texts, sep="\n")
    beyond = [text for effect, text in zip(effects, texts, strict=True) if effect.exceeds(WITHIN)]
    assert not beyond, f"surely above {WITHIN:.0%}: {'; '.join(beyond)}"
    if not effects or any(abs(effect.log) + effect.half > math.log1p(WITHIN) for effect in effects):
        raise UndecidedError(f"effects may be above {WITHIN:.0%}: {'; '.join(texts)}")
