"""The method section describes how this campaign was measured, and what its outcomes mean."""

from __future__ import annotations

import dataclasses

import msgspec
import polars as pl
import pytest
from fakes import evaluations
from wording import WORDING, find_lines

from rankbench.report.method import paragraphs


def describe(together: tuple[int, ...], calls: int = 1) -> dict[str, str]:
    view = evaluations.make_evaluation()
    launches = [
        msgspec.structs.replace(launch, together=together[number % len(together)])
        for number, launch in enumerate(view.launches)
    ]
    cases = pl.DataFrame({"calls": [1, calls]})
    return dict(paragraphs(dataclasses.replace(view, launches=launches, case_rows=cases)))


@pytest.mark.parametrize("together", [(3,), (1, 3), (1,)])
def test_concurrent_launches_are_described(together: tuple[int, ...]) -> None:
    assert describe(together)["Launches"] == WORDING


def test_a_sample_of_several_calls_is_described_as_their_mean() -> None:
    assert describe((3,))["Samples"] == WORDING
    assert find_lines(describe((3,), 40)["Samples"], "the mean of several") == WORDING


def test_stop_rule_and_builds_are_those_of_the_campaign() -> None:
    texts, campaign = describe((3,)), evaluations.make_evaluation().campaign
    stop = campaign.plan.stop
    assert f'until "{stop.until}"' in texts["Stop rule"]
    assert str(stop.blocks_max) in texts["Stop rule"]
    assert all(receipt.compiler in texts["Clocks and compilers"] for receipt in campaign.receipts)


def test_three_outcomes_are_explained_with_the_threshold() -> None:
    text = describe((3,))["Comparison"]
    assert all(words in text for words in ("three outcomes", "equivalent (=)", "undecided (~)", "beyond 3%"))


def test_an_imported_campaign_has_no_launches_to_describe() -> None:
    view = evaluations.make_evaluation()
    record = msgspec.structs.replace(view.campaign, imported="osu")
    titles = [title for title, _ in paragraphs(dataclasses.replace(view, campaign=record))]
    assert titles == ["Typical value", "Comparison"]
