"""The finding that the winner depends on how near the cores are, word for word, and none where it does not."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl
from fakes import verdicts

from rankbench.verdict.findings import reference

if TYPE_CHECKING:
    from pathlib import Path

    from rankbench.verdict.evidence import Evidence

HOPS = [50.0, 200.0, 50.0, 200.0]


def evidence(tmp_path: Path, near: float, far: float) -> Evidence:
    """Return evidence in which beta takes so much as long as alpha in the smallest case, at each level."""
    names = ("alpha", "beta")
    told = verdicts.evaluate(tmp_path, verdicts.constant({}), candidates=names, cases=verdicts.LINE).evidence
    smallest = verdicts.LINE[0].key
    slow = pl.when(pl.col("case") == smallest, pl.col("candidate") == "beta")
    figures = told.figures.with_columns(
        visit=pl.lit([0, 1, 2, 3]),
        visit_hop_ns=pl.lit(HOPS),
        visit_ns=slow.then(pl.lit([100 * near, 400 * far] * 2)).otherwise(pl.lit([100.0, 400.0] * 2)),
    )
    return replace(told, figures=figures)


def test_the_finding_names_both_levels_and_the_cases(tmp_path: Path) -> None:
    (found,) = reference.find(evidence(tmp_path, near=1.2, far=0.8))
    assert found.title == "alpha leads while cores are near, beta while they are far"
    assert found.text == (
        "Without MPI, handing a cache line from one rank to the next took 50.0 ns at times and 200 ns at others. alpha "
        "is faster in the former, beta in the latter: allreduce, 8 B (1.20× near, 1.25× far). Ratios are of the slower "
        "to the faster one."
    )
    assert found.cases == [verdicts.LINE[0].key]


def test_no_winner_that_stays_is_told(tmp_path: Path) -> None:
    assert list(reference.find(evidence(tmp_path / "a", near=1.2, far=1.2))) == []
    assert list(reference.find(evidence(tmp_path / "b", near=1.0, far=1.0))) == []
