"""A stored campaign as data frames, for scripts and notebooks: what `rankbench.read` returns."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from rankbench import store, units
from rankbench.analysis.questions.near_and_far import FAR, NEAR
from rankbench.analysis.statistics.references import name_level
from rankbench.exports import EvaluatedCampaign
from rankbench.exports.tidy import make_tables
from rankbench.language import render
from rankbench.model import Campaign, Case, RankbenchError
from rankbench.report.flat_frames import case_row
from rankbench.units import suggestion

if TYPE_CHECKING:
    import altair as alt

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
        """One row per sample, also of those that do not count; the columns of `samples/*.parquet`, and `state`."""
        return self._measured.store.samples().with_columns(state=name_level(self._measured.view.levels)).collect()

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
        """One row per case: `outcome`, `winners`, `ranking`, and `margin` to the next slower candidate; `outcome` and
        `winners` also `_near` and `_far`, where there are two states.
        """
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
                verdict.margin if verdict.margin_low else None,
                verdict.margin_low,
                verdict.margin_high,
                *(
                    known.get(level)
                    for level in (NEAR, FAR)
                    for known in (verdict.outcome_by_level, verdict.winners_by_level)
                ),
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
            "outcome_near": pl.String,
            "winners_near": NAMES,
            "outcome_far": pl.String,
            "winners_far": NAMES,
        }
        return pl.DataFrame(rows, schema=schema, orient="row")

    @cached_property
    def cases(self) -> dict[str, Case]:
        """Each case by its key, with its operation, size, placement and options as fields."""
        return {case.key: case for case in self.campaign.cases}

    def compare(self, base: str, other: str) -> pl.DataFrame:
        """Return one row per case of two candidates: time of `other` over that of `base`, paired within blocks.

        Columns: those of the case, `ratio`, `low`, `high`, `p_adjusted`, `different`.

        Raises RankbenchError for a candidate that the campaign does not have.
        """
        names = [candidate.name for candidate in self.campaign.candidates if not candidate.control_of]
        for name in (base, other):
            if name not in names:
                raise RankbenchError(f"no candidate {name}{suggestion(name, names)}")
        find = self._measured.view.comparisons.find
        columns = ("ratio", "low", "high", "p_adjusted", "different")
        rows = [
            {**case_row(case), **{column: getattr(comparison, column) for column in columns}}
            for case in self.campaign.cases
            if (comparison := find(case.key, base, other))
        ]
        return pl.DataFrame(rows)

    def plot(self, kind: str = "curves", operation: str = "") -> alt.Chart | alt.VConcatChart:
        """Return a chart of the report, of one operation or of all, several below each other.

        Args:
            kind: `curves`, `bars`, `winner_map`, `overall` or another kind that `report --figures-of` takes.
            operation: such as `allreduce`; empty: all.

        Raises RankbenchError for an unknown kind, and where there is nothing to draw.
        """
        import altair as alt

        from rankbench import plots
        from rankbench.plots.forms import PAPER

        kinds = units.list_names(plots.kinds)
        if kind not in kinds:
            raise RankbenchError(f"no chart {kind}{suggestion(kind, kinds)}")
        view = self._measured.view
        part = view.showing([case for case in view.cases if operation in {"", case.operation}])
        drawn = plots.charts(part, less=set(kinds) - {kind}) if part.cases else ()
        charts = [alt.Chart.from_dict(chart.spec(PAPER)) for _, _, chart in drawn]
        if not charts:
            raise RankbenchError(f"nothing to draw as {kind}{f' of {operation}' if operation else ''}")
        return alt.vconcat(*charts) if len(charts) > 1 else charts[0]

    @property
    def conclusion(self) -> list[str]:
        """The sentences of the short answer."""
        return [render(claim.text) for claim in self._measured.view.verdict.conclusion if claim.brief]

    @cached_property
    def _tables(self) -> dict[str, pl.DataFrame]:
        return make_tables(self._measured.view)


class JoinedFrames:
    """The data of several campaigns below each other: frames with the columns of `CampaignFrames`, after `campaign`.

    That is the folder as it was given. A column that one of the campaigns lacks is empty there.
    """

    def __init__(self, folders: Sequence[str | Path]) -> None:
        self.campaigns = {str(folder): read(folder) for folder in folders}
        """Each campaign by its folder."""

    @cached_property
    def samples(self) -> pl.DataFrame:
        """One row per sample."""
        return self._join("samples")

    @cached_property
    def launches(self) -> pl.DataFrame:
        """One row per launch and case."""
        return self._join("launches")

    @cached_property
    def summary(self) -> pl.DataFrame:
        """One row per case and candidate."""
        return self._join("summary")

    @cached_property
    def comparisons(self) -> pl.DataFrame:
        """One row per case and pair of candidates of a campaign."""
        return self._join("comparisons")

    @cached_property
    def verdict(self) -> pl.DataFrame:
        """One row per case."""
        return self._join("verdict")

    def _join(self, name: str) -> pl.DataFrame:
        parts: list[pl.DataFrame] = [
            getattr(campaign, name).select(pl.lit(folder).alias("campaign"), pl.all())
            for folder, campaign in self.campaigns.items()
        ]
        return pl.concat(parts, how="diagonal_relaxed")


def read(folder: str | Path) -> CampaignFrames:
    """Read a campaign from its folder, such as `results/small`. Raises RankbenchError if it holds none."""
    return CampaignFrames(Path(folder))


def read_all(folders: Sequence[str | Path]) -> JoinedFrames:
    """Read campaigns from their folders. Raises RankbenchError if there is none, or a folder holds none."""
    if not folders:
        raise RankbenchError('name the folders of campaigns: rankbench.read_all("results/a", "results/b")')
    return JoinedFrames(folders)
