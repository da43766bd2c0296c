"""Tables of single ranks, with and without their samples."""

from __future__ import annotations

import dataclasses

import msgspec
from fakes import evaluations
from wording import WORDING

from rankbench.analysis.questions.view import CampaignView
from rankbench.report.tables import ranks as rank_tables


def keep_all(evaluation: CampaignView) -> CampaignView:
    return evaluation


def make_view_without_rank_samples() -> CampaignView:
    view = evaluations.make_evaluation()
    return dataclasses.replace(view, rank_samples=view.rank_samples.clear())


def test_a_row_has_the_place_of_a_rank_and_when_it_began_and_ended() -> None:
    table = rank_tables.tables(keep_all(evaluations.make_evaluation()))[0]
    assert table.caption == "barrier: single ranks, start: window"
    assert table.columns[:5] == ["message size", "candidate", "rank", "host", "CPU"]
    assert [[cell.text for cell in row] for row in table.rows[:2]] == [
        ["–", "alpha", "0", "n1", "0", "500 ns", "538 ns", "74%", "0.00 ns", "0.00 ns"],
        ["–", "alpha", "1", "n1", "1", "250 ns", "269 ns", "26%", "5.00 ns", "5.00 ns"],
    ]


def test_operations_timed_by_one_rank_have_no_table() -> None:
    names = {table.caption.split(":")[0] for table in rank_tables.tables(keep_all(evaluations.make_evaluation()))}
    assert names == {"barrier", "allreduce", "allreduce nonblocking"}


def test_without_samples_of_ranks_shares_of_last_ranks_are_reported() -> None:
    table = rank_tables.tables(keep_all(make_view_without_rank_samples()))[0]
    assert table.caption == WORDING
    assert [cell.text for cell in table.rows[0]] == WORDING


def test_many_ranks_are_summarised() -> None:
    ranks = [{"rank": rank, "last": share} for rank, share in enumerate((0.1, 0.4, 0.2, 0.15, 0.15))]
    assert rank_tables.last(ranks) == WORDING
    assert rank_tables.last([]) == "–"


def test_ranks_that_never_were_last_are_not_named() -> None:
    ranks = [{"rank": rank, "last": share} for rank, share in enumerate((0.0, 1.0, 0.0, 0.0, 0.0))]
    assert rank_tables.last(ranks) == "rank 1: 100%"
    ranks = [{"rank": rank, "last": share} for rank, share in enumerate((0.7, 0.1, 0.1, 0.1, 0.0))]
    assert rank_tables.last(ranks) == WORDING


def test_without_a_common_start_no_rank_begins_late() -> None:
    view = evaluations.make_evaluation()
    free = [msgspec.structs.replace(start, scheduled=False) for start in view.campaign.starts]
    loose = dataclasses.replace(view, campaign=msgspec.structs.replace(view.campaign, starts=free))
    row = rank_tables.tables(keep_all(loose))[0].rows[1]
    assert [cell.text for cell in row][5:] == ["250 ns", "269 ns", "26%", "–", "–"]
