"""Two levels of the reference inside launches, and winners that change with it, against known truth."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from rankbench.statistics.references import levels, turned

NEAR, FAR = 55.0, 228.0


def test_two_levels_are_found_and_what_lies_between_belongs_to_neither() -> None:
    random = np.random.default_rng(1)
    hops = [*random.normal(NEAR, 3, 300), *random.normal(FAR, 4, 200), *[120.0] * 20, *[0.0] * 9]
    found = levels(hops)
    assert found
    assert found.near_ns == pytest.approx(NEAR, rel=0.03)
    assert found.far_ns == pytest.approx(FAR, rel=0.03)
    assert NEAR < found.nearest_ns < 120 < found.farthest_ns < FAR


@pytest.mark.parametrize(
    "hops",
    [
        [],
        [0.0] * 100,
        [NEAR] * 3 + [FAR] * 3,
        list(np.random.default_rng(2).normal(NEAR, 4, 500)),
        list(np.random.default_rng(3).lognormal(4, 0.5, 500)),
        [NEAR] * 480 + [FAR] * 20,
    ],
    ids=["none", "unknown", "few", "one level", "evenly", "hardly ever"],
)
def test_one_level_is_not_two(hops: list[float]) -> None:
    assert levels(hops) is None


def campaign(near: float, far: float, cases: int = 12, blocks: int = 10, seed: int = 4) -> pl.DataFrame:
    """Return launches of two candidates, of which b takes so much as long as a at each level, in one case only."""
    random = np.random.default_rng(seed)
    rows = []
    for block in range(blocks):
        for case in range(cases):
            hops = [NEAR, FAR, NEAR, FAR, FAR]
            times = np.array([100.0 if hop == NEAR else 300.0 for hop in hops]) * random.lognormal(0, 0.3, 5)
            ratios = np.array([near if hop == NEAR else far for hop in hops]) if case == 0 else np.ones(5)
            for name, own in (("a", times), ("b", times * ratios * random.lognormal(0, 0.02, 5))):
                rows.append(
                    {
                        "case": f"case {case}",
                        "candidate": name,
                        "block": block,
                        "launch": block,
                        "figure_ns": float(np.median(own)),
                        "visit": list(range(5)),
                        "visit_ns": own.tolist(),
                        "visit_hop_ns": hops,
                    }
                )
    return pl.DataFrame(rows)


def test_a_winner_that_changes_with_the_reference_is_found_in_its_case_only() -> None:
    figures = campaign(near=1.2, far=0.85)
    at = levels(figures["visit_hop_ns"].explode().to_list())
    assert at
    (found,) = turned(figures, [("a", "b")], at, 0.03)
    assert (found.near.case, found.far.case) == ("near case 0", "far case 0")
    assert found.near.ratio == pytest.approx(1.2, rel=0.03)
    assert found.far.ratio == pytest.approx(0.85, rel=0.03)


@pytest.mark.parametrize(("near", "far"), [(1.0, 1.0), (1.2, 1.2), (1.2, 1.0), (1.01, 0.99)])
def test_what_does_not_change_sides_is_not_told(near: float, far: float) -> None:
    figures = campaign(near, far)
    at = levels(figures["visit_hop_ns"].explode().to_list())
    assert at
    assert turned(figures, [("a", "b")], at, 0.03) == []


def test_visits_whose_reference_is_not_known_belong_to_neither_level() -> None:
    figures = campaign(near=1.0, far=1.0)
    at = levels(figures["visit_hop_ns"].explode().to_list())
    assert at
    slow = pl.col("visit_ns").list.eval(pl.element() * 9)
    unknown = figures.with_columns(
        visit_hop_ns=pl.lit([0.0] * 5),
        visit_ns=pl.when(pl.col("candidate") == "b").then(slow).otherwise("visit_ns"),
        block=pl.col("block") + 100,
    )
    assert turned(pl.concat([figures, unknown]), [("a", "b")], at, 0.03) == []
    assert turned(unknown, [("a", "b")], at, 0.03) == []
