"""Candidates that are equal are called different no more often than promised, in the noise of real campaigns.

Stored campaigns are of one library under several names. Their labels are exchanged at random within each block, which
is as likely as what was measured, and each result is evaluated anew: whatever is called different is false.
"""

from __future__ import annotations

import os
import tarfile
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec
import numpy as np
import polars as pl
import pytest
import scipy

from proofs.judging import UndecidedError
from rankbench import store
from rankbench.analysis import evaluation
from rankbench.language import render
from rankbench.model import Launch
from rankbench.store import Store

BUDGET_S = float(os.environ.get("BUDGET") or 150)
RECORDED = sorted((Path(__file__).parents[1] / "recorded" / "campaigns").glob("equal*.tar.xz"))
FALSE = 0.05
"""Share of campaigns in which anything may be called different."""
MOST = 200
"""Exchanges of each campaign."""


class RelabelledStore(Store):
    """A campaign of which the launches of a block have exchanged their candidates."""

    def __init__(self, original: Store, random: np.random.Generator) -> None:
        super().__init__(original.folder, original.campaign)
        self._original = original
        names = [candidate.name for candidate in original.campaign.candidates]
        self._names = {
            (block, name): new
            for block in sorted({launch.block for launch in original.launches()})
            for name, new in zip(names, random.permutation(names).tolist(), strict=True)
        }

    def launches(self) -> list[Launch]:
        """Return the launches with their new candidates."""
        return [
            msgspec.structs.replace(launch, candidate=self._names[launch.block, launch.candidate])
            for launch in self._original.launches()
        ]

    def _rename(self, frame: pl.LazyFrame) -> pl.LazyFrame:
        rows = [(block, name, new) for (block, name), new in self._names.items()]
        schema = {"block": pl.Int32, "candidate": pl.String, "new": pl.String}
        table = pl.LazyFrame(rows, schema, orient="row")
        joined = frame.join(table, on=["block", "candidate"], how="left", maintain_order="left")
        return joined.with_columns(candidate=pl.col("new")).drop("new")

    def cases(self) -> pl.DataFrame:
        """Return the cases with their new candidates."""
        return self._rename(self._original.cases().lazy()).collect()

    def samples(self) -> pl.LazyFrame:
        """Return the samples with their new candidates."""
        return self._rename(self._original.samples())


@pytest.fixture(params=RECORDED, ids=lambda path: path.name.partition(".")[0])
def campaign(request: pytest.FixtureRequest, tmp_path: Path) -> Store:
    """Return a recorded campaign of one library under several names."""
    with tarfile.open(request.param) as archive:
        archive.extractall(tmp_path, filter="data")
    return store.open(tmp_path)


def exchange(original: Store, seed: int = 3) -> Iterator[RelabelledStore]:
    """Yield the campaign with exchanged labels."""
    random = np.random.default_rng(seed)
    for _ in range(MOST):
        yield RelabelledStore(original, random)


def test_equal_candidates_are_seldom_called_different(campaign: Store) -> None:
    began_s = time.monotonic()
    tried = comparisons = false = campaigns = answers = 0
    for relabelled in exchange(campaign):
        view = evaluation.compute(relabelled, relabelled.campaign, relabelled.launches())
        different = [comparison for comparison in view.verdict.comparisons if comparison.different]
        brief = [render(claim.text) for claim in view.verdict.conclusion if claim.brief]
        tried += 1
        comparisons += len(view.verdict.comparisons)
        false += len(different)
        campaigns += bool(different)
        answers += any(text.startswith("Use ") for text in brief)
        if time.monotonic() - began_s > BUDGET_S / len(RECORDED):
            break
    print("exchanges  comparisons  different  campaigns with any  Use X")
    print(f"{tried:9}  {comparisons:11}  {false:9}  {campaigns:18}  {answers:5}")
    text = f"{campaigns} of {tried} campaigns of equal candidates call any different, {answers} recommend one"
    print(text)
    for count in (campaigns, answers):
        assert scipy.stats.binom.sf(count - 1, tried, FALSE) > 0.05, text
    if scipy.stats.binom.cdf(campaigns, tried, 2 * FALSE) > 0.05:
        raise UndecidedError(f"{text}: too few exchanges")
