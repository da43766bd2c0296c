"""Values of launches on a machine whose cores are sometimes near each other and sometimes far, with known truth."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
import polars as pl

from rankbench.analysis.statistics.references import Levels

NEAR, FAR = 50.0, 200.0
LEVELS = Levels(NEAR, FAR, 79.0, 126.0)
NAMES = ("a", "b", "c")


def draw_values(
    near: np.ndarray, far: np.ndarray, share: np.ndarray, *, seed: int = 1, scatter: float = 0.02
) -> pl.DataFrame:
    """Return the values of launches.

    Args:
        near: logarithms of times by candidate and case while cores are near.
        far: the same while they are far, less the loss that is equal for all candidates.
        share: of the visits of each block that are far.
        seed: of the scatter.
        scatter: standard deviation of a launch's times.
    """
    random = np.random.default_rng(seed)
    rows = []
    (candidates, cases), visits = near.shape, 4
    for block, case in itertools.product(range(len(share)), range(cases)):
        distant = np.arange(visits) < round(share[block] * visits)
        for candidate in range(candidates):
            logs = np.where(distant, far[candidate, case] + 1, near[candidate, case]) + random.normal(0, scatter)
            rows.append(_draw_launch(NAMES[candidate], case, block, 1000 * np.exp(logs), distant))
    return pl.DataFrame(rows, schema_overrides={"block": pl.Int32})


def _draw_launch(
    name: str, case: int, block: int, times: np.ndarray, distant: Sequence[bool] | np.ndarray
) -> dict[str, object]:
    return {
        "case": f"case {case:02}",
        "candidate": name,
        "block": block,
        "launch": block,
        "figure_ns": float(np.median(times)),
        "visit": list(range(len(times))),
        "visit_ns": times.tolist(),
        "visit_hop_ns": [FAR if is_distant else NEAR for is_distant in distant],
    }


def list_levels(cases: int) -> dict[str, Levels]:
    """Return the levels of every case."""
    return {f"case {case:02}": LEVELS for case in range(cases)}
