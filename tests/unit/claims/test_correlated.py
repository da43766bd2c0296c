"""The finding on successive launches that are correlated."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from fakes import verdicts

from rankbench.analysis.claims.findings import correlated
from rankbench.language import render

BLOCKS = 16


@pytest.mark.parametrize(("states", "expected"), [([0] * 8 + [1] * 8, 1), ([0, 1] * 8, 0)])
def test_states_that_last_for_several_blocks_are_reported(states: list[int], expected: int, tmp_path: Path) -> None:
    view = verdicts.evaluate(tmp_path, lambda _name, _case: 1.0, launches=BLOCKS, cases=verdicts.LINE)
    factor = dict(enumerate(np.where(states, 1.3, 1.0)))
    launch_values = view.judged_values.select("case", "candidate", "block", "launch", "figure_ns")
    blocks = sorted(launch_values["block"].unique())
    slower = pl.col("block").replace_strict({block: factor[place] for place, block in enumerate(blocks)})
    changed = launch_values.with_columns(
        pl.when(pl.col("candidate") == "beta").then(pl.col("figure_ns") * slower).otherwise(pl.col("figure_ns"))
    )
    findings = list(
        correlated.find(dataclasses.replace(view, launch_values=changed.with_columns(uncertain=False, few=False)))
    )
    assert len(findings) == expected
    for finding in findings:
        assert finding.severity == "warning"
        assert "a lag-1 correlation of 0." in render(finding.text)
        assert ", 16 blocks);" in render(finding.text)
