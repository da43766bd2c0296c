"""Values do not depend on the order of rows: each stands beside the keys that it belongs to.

Joins and groups of Polars return rows in any order, also from call to call. A column that is computed in the order of
one frame and put into another is beside the wrong keys.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from fakes import campaigns, torus

import rankbench
from rankbench.analysis import statistics
from rankbench.analysis.questions import rings
from rankbench.analysis.statistics.shapes import list_curves
from rankbench.analysis.statistics.unpaired import compare_unpaired
from rankbench.model import Case
from rankbench.store import Store

SOURCE = Path(rankbench.__file__).parent
PLACEMENTS = ((1, 1), (1, 4), (1, 9), (1, 16))
DIRECTIONS = ("right", "left", "up", "down")
PAIRS = list(itertools.combinations(campaigns.CANDIDATES, 2))
SIZES = (1, 8, 64, 512, 4096)


@pytest.fixture(autouse=True)
def unordered_joins(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let joins return rows in another order each time, which Polars is free to do unless an order is asked for."""
    join, seeds = pl.DataFrame.join, itertools.count()

    def join_unordered(frame: pl.DataFrame, *arguments: Any, **options: Any) -> pl.DataFrame:
        joined = join(frame, *arguments, **options)
        ordered = options.get("maintain_order") not in {None, "none"}
        return joined if ordered else joined.sample(fraction=1.0, shuffle=True, seed=next(seeds))

    monkeypatch.setattr(pl.DataFrame, "join", join_unordered)


@pytest.fixture(scope="module")
def ring_store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """Return a campaign of four grids in four directions, whose medians all differ."""
    folder = tmp_path_factory.mktemp("rings") / "made"
    return torus.make_store(folder, PLACEMENTS, directions=DIRECTIONS, launches=3, samples=50)


def test_every_median_of_a_ring_is_within_the_range_of_its_own_row(ring_store: Store) -> None:
    tables = [
        rings.tabulate_rings(ring_store.campaign, ring_store.rank_samples(), ring_store.cases()) for _ in range(3)
    ]
    for row in tables[0].iter_rows(named=True):
        assert row["min_ns"] <= row["low_ns"] <= row["typical_ns"] <= row["high_ns"] <= row["max_ns"]
        assert row["typical_ns"] == pytest.approx(torus.find_typical_ns(row["candidate"], row["hops"]), rel=0.05)
    assert tables[0].equals(tables[1])
    assert tables[0].equals(tables[2])


def list_rings(store: Store, frame: pl.LazyFrame) -> dict[tuple[object, ...], object]:
    table = rings.tabulate_rings(store.campaign, frame, store.cases())
    return {(row["case"], row["candidate"], row["edge"]): row for row in table.iter_rows(named=True)}


def list_costs(store: Store, frame: pl.LazyFrame) -> dict[tuple[object, ...], object]:
    costs = rings.estimate_hop_costs(store.campaign, frame, store.cases())
    return {(cost.candidate, cost.line): pytest.approx(cost.cost_ns) for cost in costs}


@pytest.mark.parametrize("list_values", [list_rings, list_costs])
def test_rings_of_shuffled_samples_have_the_same_values(
    ring_store: Store, list_values: Callable[[Store, pl.LazyFrame], dict[tuple[object, ...], object]]
) -> None:
    samples = ring_store.rank_samples().collect()
    wanted = list_values(ring_store, samples.lazy())
    assert wanted
    for seed in range(3):
        shuffled = samples.sample(fraction=1.0, shuffle=True, seed=seed)
        got = list_values(ring_store, shuffled.lazy())
        assert got.keys() == wanted.keys()
        for key, values in wanted.items():
            assert got[key] == (pytest.approx(values) if isinstance(values, dict) else values)


def compare_times(frame: pl.DataFrame) -> dict[object, object]:
    comparisons = statistics.compare(frame, PAIRS, 0.05)
    return {(result.case, result.base, result.other): (result.ratio, result.error) for result in comparisons}


def compare_sides(frame: pl.DataFrame) -> dict[object, object]:
    comparisons = compare_unpaired(frame, frame, [(name, name) for name in campaigns.CANDIDATES], 0.05)
    return {(result.case, result.base): (*result.typical_ns, result.ratio) for result in comparisons}


def read_curves(frame: pl.DataFrame) -> dict[object, object]:
    keys = {case.size_bytes: case.key for case in make_line()}
    return {(curve.candidate, tuple(curve.sizes)): curve.logs.ravel() for curve in list_curves(frame, [keys])}


def make_line() -> list[Case]:
    return campaigns.make_cases(lines=[("allreduce", "blocking")], sizes=SIZES)


@pytest.fixture(scope="module")
def launch_values(tmp_path_factory: pytest.TempPathFactory) -> pl.DataFrame:
    """Return the values of the launches of one line, whose medians all differ."""
    folder = tmp_path_factory.mktemp("lines") / "made"
    store = campaigns.make_campaign(folder, campaigns.make_slower_beta(1.5), cases=make_line(), samples=50)
    return statistics.compute_launch_values(store.samples(), "median", [])


@pytest.mark.parametrize("list_values", [compare_times, compare_sides, read_curves])
def test_shuffled_launches_have_the_same_values(
    launch_values: pl.DataFrame, list_values: Callable[[pl.DataFrame], dict[object, object]]
) -> None:
    wanted = list_values(launch_values)
    assert wanted
    for seed in range(3):
        got = list_values(launch_values.sample(fraction=1.0, shuffle=True, seed=seed))
        assert got.keys() == wanted.keys()
        for key, values in wanted.items():
            assert got[key] == pytest.approx(values), key


def test_medians_of_tied_samples_stand_beside_their_own_launch() -> None:
    """Where most samples are equal, medians are interpolated within the clock's step: a join puts them back."""
    rows = [
        {"case": f"case {case}", "candidate": "alpha", "block": block, "launch": 10 * case + block, "time_ns": time}
        for case in range(1, 9)
        for block in range(1, 5)
        for time in [100.0 * case] * 60 + [100.0 * case + 20.0] * 20
    ]
    frame = pl.DataFrame(rows).with_columns(
        pl.col("block", "launch").cast(pl.Int32),
        visit=pl.lit(0, pl.Int16),
        discarded=pl.lit(value=False),
        **{name: pl.lit(0.0) for name in ("skew_ns", "bound_ns", "error_ns", "visit_hop_ns")},
        visit_position=pl.lit(0, pl.Int8),
        visit_after=pl.lit(0, pl.Int8),
    )
    values = statistics.compute_launch_values(frame.lazy(), "median", [])
    assert values.height == 32
    for row in values.iter_rows(named=True):
        assert row["figure_ns"] == pytest.approx(100.0 * (row["launch"] // 10), abs=20)


def test_columns_are_expressions_of_their_own_frame() -> None:
    """A Series made from another frame has that frame's order: `map_elements` or a join cannot go wrong."""
    uses = [
        f"{path.relative_to(SOURCE)}:{node.lineno}"
        for path in SOURCE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and ast.unparse(node.func) in {"pl.Series", "polars.Series"}
    ]
    assert uses == []
