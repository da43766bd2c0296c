"""The mean over cases is not decided by a few disturbed launches, and counts states of the machine by their share."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest

from rankbench.analysis.questions.block_ratios import average_logs, draw_in_outliers, tabulate_pairs

BLOCKS = 20


def tabulate(logs: list[float]) -> np.ndarray:
    """Return the table of one case."""
    frame = pl.DataFrame({"case": ["a"] * len(logs), "block": range(len(logs)), "log": logs})
    return tabulate_pairs(frame, ["a"], frame["block"])


def scatter(count: int = BLOCKS) -> list[float]:
    """Return log ratios near 1.1 that scatter by 2%."""
    return [math.log(1.1) + off for off in np.random.default_rng(7).normal(0, 0.02, count).tolist()]


def test_ordinary_launches_are_unchanged() -> None:
    logs = scatter()
    assert tabulate(logs)[:, 0].tolist() == logs


def test_disturbed_launches_do_not_decide() -> None:
    """Two of twenty launches are 50,000 times slower: without drawing them in the mean ratio would be above 3."""
    logs = scatter()
    quiet = average_logs(tabulate(logs), np.ones(1))
    disturbed = average_logs(tabulate([*logs[2:], math.log(50_000), math.log(50_000)]), np.ones(1))
    assert math.exp(disturbed.mean) == pytest.approx(math.exp(quiet.mean), rel=0.08)
    assert disturbed.error > quiet.error
    assert np.mean([*logs[2:], math.log(50_000), math.log(50_000)]) > math.log(3)


@pytest.mark.parametrize("far", [2, 6, 10])
def test_a_state_of_the_machine_counts_by_its_share(far: int) -> None:
    logs = [*scatter(BLOCKS - far), *(log + math.log(1.4) for log in scatter(far))]
    assert tabulate(logs)[:, 0].tolist() == logs


def test_directions_are_symmetric_and_gaps_stay() -> None:
    logs = [*scatter(), 9.0]
    assert tabulate(logs)[:, 0] == pytest.approx(-tabulate([-log for log in logs])[:, 0])
    table = np.array([[0.1], [math.nan], [0.2], [0.1], [0.2], [0.1], [9.0]])
    assert np.isnan(draw_in_outliers(table)[1, 0])


def test_of_two_blocks_none_is_an_outlier() -> None:
    assert tabulate([0.1, 9.0])[:, 0].tolist() == [0.1, 9.0]


@pytest.mark.parametrize("blocks", [3, 4, 5])
def test_one_disturbed_launch_of_few_is_drawn_in(blocks: int) -> None:
    table = np.random.default_rng(3).normal(math.log(1.3), 0.02, (blocks, 6))
    table[1] = math.log(50_000)
    drawn = draw_in_outliers(table)
    quiet = np.delete(np.arange(blocks), 1)
    assert (drawn[quiet] == table[quiet]).all()
    assert (drawn[1] < math.log(1.3) + 1).all()


@pytest.mark.parametrize("blocks", [3, 4, 5])
@pytest.mark.parametrize("spread", [0.1, 0.5])
def test_the_scatter_of_few_blocks_is_that_of_all_cases(blocks: int, spread: float) -> None:
    """A case that scatters by chance hardly at all does not make its third value an outlier."""
    tables = np.random.default_rng(4).normal(0, spread, (200, blocks, 9))
    drawn = np.array([(draw_in_outliers(table) != table).any(axis=0).mean() for table in tables])
    assert drawn.mean() < 0.01
