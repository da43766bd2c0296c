"""First sizes that include setup: found where planted, in foreign programs only, in exact words."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path

import msgspec
import polars as pl
import pytest
from fakes import campaign_views, campaigns, tool_outputs
from fakes.words import render_texts
from wording import WORDING

from rankbench import imports
from rankbench.analysis.claims.findings import first_size
from rankbench.analysis.evaluation import evaluate
from rankbench.analysis.questions.view import CampaignView
from rankbench.imports import ImportRequest, Source
from rankbench.language import Text, render
from rankbench.model import Case, Finding

SIZES = (0, 1, 2, 1024, 65536)
ADVICE = (
    "Setup in the first calls counts as time of the first size. Ignore that size, begin with a size that is not "
    "needed, or use more warm-up."
)


def make_cases(sizes: Sequence[int] = SIZES, suite: str = "osu") -> list[Case]:
    return [
        msgspec.structs.replace(case, suite=suite)
        for case in campaigns.make_cases(lines=[("pingpong", "blocking")], sizes=sizes)
    ]


def make_view(factor: float, wanted: Sequence[Case] | None = None, **others: float) -> CampaignView:
    """Return a campaign in which alpha's first size has a factor on its time, by default without scatter."""
    known = make_cases() if wanted is None else wanted
    first = known[0].size_bytes

    def choose_time_ns(candidate: str, case: Case) -> float:
        slow = candidate == "alpha" and case.size_bytes == first
        return campaigns.compute_base_ns(case) * (factor if slow else 1.0)

    return campaign_views.make_view(choose_time_ns, cases=known, **{"spread": 0, "state": 0, **others})  # type: ignore[arg-type]


def find_first_size(campaign_view: CampaignView) -> list[Finding]:
    return list(first_size.find(campaign_view))


def slow_down_first_size(
    campaign_view: CampaignView, blocks: Sequence[int], factor: float, candidate: str = "beta"
) -> CampaignView:
    """Return the campaign with the first size of some of a candidate's launches slower."""
    slow = (
        (pl.col("case") == campaign_view.case_verdicts[0].case.key)
        & pl.col("block").is_in(blocks)
        & (pl.col("candidate") == candidate)
    )
    value = pl.when(slow).then(pl.col("figure_ns") * factor).otherwise(pl.col("figure_ns"))
    return dataclasses.replace(campaign_view, launch_values=campaign_view.judged_values.with_columns(figure_ns=value))


def test_a_slow_first_size_is_reported_with_the_next_size() -> None:
    assert [render_texts(finding) for finding in find_first_size(make_view(50))] == [
        Finding(
            kind="first_size",
            title=Text(WORDING),
            text=Text(WORDING),
            advice=Text(ADVICE),
            cases=["pingpong.blocking.0.byte.socket.none", "pingpong.blocking.1.byte.socket.none"],
            severity="note",
        )
    ]


def test_the_worst_launch_of_each_candidate_is_reported() -> None:
    campaign_view = slow_down_first_size(slow_down_first_size(make_view(1), [2, 5], 10), [3], 100, "gamma")
    (finding,) = find_first_size(slow_down_first_size(campaign_view, [5], 2))
    assert render(finding.text) == WORDING


@pytest.mark.parametrize(("factor", "count"), [(4.9, 0), (5.1, 1)])
def test_a_factor_of_five_is_reported(factor: float, count: int) -> None:
    assert len(find_first_size(make_view(factor))) == count


def test_the_core_s_first_size_is_never_reported() -> None:
    assert find_first_size(make_view(50, make_cases(suite=""))) == []


def test_a_slow_second_size_does_not_make_the_first_one_slow() -> None:
    """Both following sizes must be far faster; otherwise these sizes themselves are slow."""
    campaign_view = make_view(50)
    second = campaign_view.case_verdicts[1].case.key
    slow = pl.when(pl.col("case") == second).then(pl.col("figure_ns") * 50).otherwise(pl.col("figure_ns"))
    assert (
        find_first_size(
            dataclasses.replace(campaign_view, launch_values=campaign_view.judged_values.with_columns(figure_ns=slow))
        )
        == []
    )


def test_large_first_sizes_are_not_compared() -> None:
    assert find_first_size(make_view(50, make_cases((1, 2, 2048)))) == []
    assert len(find_first_size(make_view(50, make_cases((1, 2, 1024))))) == 1


def test_two_sizes_are_too_few() -> None:
    assert find_first_size(make_view(50, make_cases((1, 2)))) == []


def test_a_launch_without_one_of_the_sizes_is_left_out() -> None:
    campaign_view = make_view(50)
    lacking = campaign_view.judged_values.filter(
        (pl.col("case") != campaign_view.case_verdicts[2].case.key) | (pl.col("block") > 3)
    )
    (finding,) = find_first_size(dataclasses.replace(campaign_view, launch_values=lacking))
    assert render(finding.text).endswith("(5 of 5 launches).")


def test_slow_first_sizes_are_hardly_ever_invented() -> None:
    """Launches that scatter by a third of their time have no first calls."""
    assert not any(find_first_size(make_view(1, spread=0.3, seed=seed)) for seed in range(50))


def find_per_second(metric: str, sizes: Sequence[int]) -> list[Finding]:
    """Return findings where alpha's first size takes fifty times as long, in a benchmark with results per second."""
    campaign_view = make_view(50, make_cases(sizes))
    operations = [
        msgspec.structs.replace(operation, metric=metric, messages=64) if operation.name == "pingpong" else operation
        for operation in campaign_view.campaign.operations
    ]
    return find_first_size(
        dataclasses.replace(
            campaign_view, campaign=msgspec.structs.replace(campaign_view.campaign, operations=operations)
        )
    )


@pytest.mark.parametrize("metric", ["bandwidth", "rate"])
def test_rates_and_bandwidths_are_reported_as_such(metric: str) -> None:
    assert [render(finding.text) for finding in find_per_second(metric, (1, 2, 4))] == [WORDING]


def test_an_empty_message_has_no_bandwidth_but_a_rate() -> None:
    assert find_per_second("bandwidth", (0, 1, 2)) == []
    assert len(find_per_second("rate", (0, 1, 2))) == 1


def test_the_first_size_of_the_study_s_latency_is_reported(tmp_path: Path) -> None:
    """One of nine launches printed 73.53 µs for an empty message, and 0.83 µs for the next size."""
    path = tool_outputs.SAMPLES / "study" / "latency.out"
    store = imports.import_files(ImportRequest([Source(path)], ["MPICH", "OpenMPI", "IntelMPI"]), tmp_path / "made")
    (finding,) = [finding for finding in evaluate(store).verdict.findings if finding.kind == "first_size"]
    assert render_texts(finding) == Finding(
        kind="first_size",
        title=Text(WORDING),
        text=Text(WORDING),
        advice=Text(ADVICE),
        cases=["osu-latency.blocking.0.byte.1x2.none", "osu-latency.blocking.1.byte.1x2.none"],
        severity="note",
    )
