"""A search compares variants as every report of its campaign compares candidates."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from fakes import campaigns

from rankbench.analysis import evaluation, statistics
from rankbench.model import Variant
from rankbench.store import Store
from rankbench.tuning import DEFAULT, Task
from rankbench.tuning.choosing import Abilities, choose_rules, read_search

CASES = [case for case in campaigns.make_cases("socket") if case.operation == "allreduce" and case.form == "blocking"]
RING = Variant(name="ring", settings={"A": "ring"}, algorithm="ring", at_start=True)
TASK = Task(
    "mpich", ["allreduce"], sorted({case.size_bytes for case in CASES}), {"socket": 2}, 0.03, {"allreduce": [RING]}
)
BY_SIZE = Abilities({"allreduce": {"ring"}}, has_own_choice=True)


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    """Return a search in which ring takes 0.8 times as long while cores are near, and 1.2 times in one case while far.

    In that case it is faster over all visits.
    """
    compute_launch_values = statistics.compute_launch_values
    reverses = (pl.col("candidate") == RING.name) & (pl.col("case") == CASES[0].key)
    faster = (pl.col("candidate") == RING.name) & (pl.col("case") != CASES[0].key)

    def add_visits(*arguments: object) -> pl.DataFrame:
        times = pl.when(reverses).then(pl.lit([70.0, 70.0, 70.0, 480.0]))
        return compute_launch_values(*arguments).with_columns(  # type: ignore[arg-type]
            visit=pl.lit([0, 1, 2, 3]),
            visit_hop_ns=pl.lit([50.0, 50.0, 50.0, 200.0]),
            visit_ns=times.when(faster)
            .then(pl.lit([80.0, 80.0, 80.0, 320.0]))
            .otherwise(pl.lit([100.0, 100.0, 100.0, 400.0])),
        )

    monkeypatch.setattr(statistics, "compute_launch_values", add_visits)
    return campaigns.make_campaign(
        tmp_path / "search", launches=6, candidates=(DEFAULT, RING.name), cases=CASES, control=False
    )


def test_a_search_compares_as_the_report_does(store: Store) -> None:
    view = evaluation.evaluate(store)
    ratios = read_search(store, TASK).ratios
    assert len(ratios) == len(CASES)
    for case in CASES:
        reported = view.comparisons.find(case.key, DEFAULT, RING.name)
        assert reported is not None
        (ratio,) = [ratio for point, ratio in ratios.items() if point.size_bytes == case.size_bytes]
        assert ratio == reported


def test_a_variant_that_is_slower_while_cores_are_far_is_not_chosen(store: Store) -> None:
    rules = choose_rules(TASK, read_search(store, TASK), BY_SIZE)
    covered = [
        case.size_bytes for case in CASES for rule in rules if rule.first_bytes <= case.size_bytes <= rule.last_bytes
    ]
    assert covered == [case.size_bytes for case in CASES[1:]]


def test_a_candidate_is_no_variant_of_an_operation_that_it_does_not_set(tmp_path: Path) -> None:
    cases = [*CASES, *(case for case in campaigns.make_cases("socket") if case.operation == "barrier")]
    search = campaigns.make_campaign(
        tmp_path / "search", launches=6, candidates=(DEFAULT, RING.name), cases=cases, control=False
    )
    task = TASK._replace(operations=["allreduce", "barrier"])
    assert {point.operation for point in read_search(search, task).ratios} == {"allreduce"}
