"""A stored campaign as data frames, for scripts and notebooks: what `rankbench.read` returns."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from rankbench import store
from rankbench.exports import EvaluatedCampaign
from rankbench.exports.tidy import make_tables
from rankbench.language import render

if TYPE_CHECKING:
    from rankbench.model import Campaign

NAMES = pl.List(pl.String)


class CampaignFrames:
    """The data of one campaign as Polars frames, each computed when it is first used. Times are in nanoseconds."""

    def __init__(self, folder: Path) -> None:
        self._measured = EvaluatedCampaign(store.open(folder))

    @property
    def campaign(self) -> Campaign:
        """The record of the campaign: plan, machine, candidates, libraries, cases."""
        return self._measured.store.campaign

    @cached_property
    def samples(self) -> pl.DataFrame:
        """One row per sample, also of those that do not count; the columns of `samples/*.parquet`."""
        return self._measured.store.samples().collect()

    @property
    def launches(self) -> pl.DataFrame:
        """One row per launch and case: `figure_ns` is what the plan's estimator makes of the launch."""
        return self._tables["launches"]

    @property
    def summary(self) -> pl.DataFrame:
        """One row per case and candidate: `value` with `value_low` and `value_high` in `value_unit`."""
        return self._tables[""]

    @property
    def comparisons(self) -> pl.DataFrame:
        """One row per case and pair of candidates: `ratio` of times, `low`, `high`, `p_adjusted`, `different`."""
        return self._tables["comparisons"]

    @cached_property
    def verdict(self) -> pl.DataFrame:
        """One row per case: `outcome`, `winners`, `ranking`, and `margin` to the next slower candidate."""
        rows = [
            (
                verdict.case.key,
                verdict.case.operation,
                verdict.case.form,
                verdict.case.size_bytes,
                verdict.case.placement,
                verdict.outcome,
                verdict.winners,
                verdict.ranking,
                verdict.margin,
                verdict.margin_low,
                verdict.margin_high,
            )
            for verdict in self._measured.view.verdict.cases
        ]
        schema: dict[str, pl.DataType | type[pl.DataType]] = {
            "case": pl.String,
            "operation": pl.String,
            "form": pl.String,
            "size_bytes": pl.Int64,
            "placement": pl.String,
            "outcome": pl.String,
            "winners": NAMES,
            "ranking": NAMES,
            "margin": pl.Float64,
            "margin_low": pl.Float64,
            "margin_high": pl.Float64,
        }
        return pl.DataFrame(rows, schema=schema, orient="row")

    @property
    def conclusion(self) -> list[str]:
        """The sentences of the short answer."""
        return [render(claim.text) for claim in self._measured.view.verdict.conclusion if claim.brief]

    @cached_property
    def _tables(self) -> dict[str, pl.DataFrame]:
        return make_tables(self._measured.view)


def read(folder: str | Path) -> CampaignFrames:
    """Read a campaign from its folder, such as `results/small`. Raises RankbenchError if it holds none."""
    return CampaignFrames(Path(folder))
