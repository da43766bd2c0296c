"""The ratio to a reference library in one campaign: paired within blocks."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest
from fakes import campaign_views
from fakes.campaign_views import Noise

from rankbench.across.nightly import compute_typical_logs
from rankbench.model import Case

NAMES = ("alpha", "beta")


def make_truth(name: str, case: Case) -> float:
    return campaign_views.find_equal_time(name, case) * (1.2 if name == "beta" else 1.0)


def draw_values(seed: int, state: float) -> pl.DataFrame:
    """Return ten launches that scatter by 2%, in blocks that scatter by `state`; each candidate lacks one."""
    drawn = campaign_views.draw_values(make_truth, Noise(seed, 0.02, state, 0), 10, campaign_views.ONE_LINE, NAMES)
    lost = ((pl.col("candidate") == "alpha") & (pl.col("block") == 1)) | (
        (pl.col("candidate") == "beta") & (pl.col("block") == 2)
    )
    return drawn.filter(~lost)


def test_pairing_within_blocks_removes_the_scatter_of_blocks() -> None:
    """Over 40 campaigns the scatter of the ratio falls from 2.8 to 1.1%, the scatter of launches alone."""
    paired, unpaired = [], []
    for seed in range(40):
        drawn = draw_values(seed, 0.1)
        paired.append(list(compute_typical_logs(drawn, "beta", "alpha").values()))
        beta, alpha = (compute_typical_logs(drawn, name, None) for name in ("beta", "alpha"))
        unpaired.append([beta[key] - alpha[key] for key in beta])
    after, before = (float(np.std(logs, axis=0).mean()) for logs in (paired, unpaired))
    assert np.mean(paired) == pytest.approx(math.log(1.2), abs=0.01)
    assert after < 0.013
    assert before > 2 * after


def test_without_a_reference_the_figure_is_the_median() -> None:
    drawn = pl.DataFrame({"case": "x", "candidate": "beta", "block": [1, 2, 3], "figure_ns": [1.0, 8.0, 2.0]})
    assert compute_typical_logs(drawn, "beta", None) == {"x": pytest.approx(math.log(2))}
    assert compute_typical_logs(drawn, "beta", "alpha") == {}
