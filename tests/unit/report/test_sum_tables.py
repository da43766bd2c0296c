"""The table of sums of a campaign, and what the answer says of bits that differ among ranks."""

from __future__ import annotations

import dataclasses
from pathlib import Path

from fakes import verdicts
from wording import WORDING

from rankbench.analysis.claims.conclusion import conclude
from rankbench.analysis.questions.view import CampaignView
from rankbench.language import render
from rankbench.model.sum_bits import SumRow
from rankbench.report.tables import sums


def make_row(candidate: str, operation: str = "allreduce", *, on_ranks: tuple[int, ...] = ()) -> SumRow:
    return SumRow(
        candidate=candidate,
        operation=operation,
        type="double",
        elements=125,
        on_ranks=list(on_ranks),
        from_call_to_call=[],
        from_launch_to_launch=[],
        in_another_placement=[],
        in_reverse=[4],
    )


def make_view(folder: Path, *rows: SumRow) -> CampaignView:
    view = verdicts.evaluate(folder, lambda _candidate, _case: 1.0, cases=verdicts.LINE)
    return dataclasses.replace(view, sum_rows=rows)


def test_each_candidate_and_operation_has_a_row(tmp_path: Path) -> None:
    view = make_view(tmp_path, make_row("alpha"), make_row("beta", on_ranks=(2, 3)), make_row("beta", "scan"))
    (table,) = sums.tables(view)
    assert [[cell.text for cell in row] for row in table.rows] == [
        ["alpha", "allreduce", "double", "125", "yes", "yes", "yes", "yes", "not on 4"],
        ["beta", "allreduce", "double", "125", "not on 2 and 3", "yes", "yes", "yes", "not on 4"],
        ["beta", "scan", "double", "125", "yes", "yes", "yes", "yes", "not on 4"],
    ]
    frame = sums.frame(view)
    assert frame is not None
    assert frame["on_ranks"].to_list() == ["", "2 and 3", ""]


def test_a_campaign_without_a_study_has_no_table(tmp_path: Path) -> None:
    view = make_view(tmp_path)
    assert (sums.tables(view), sums.sentences(view), sums.frame(view)) == ([], [], None)


def test_ranks_with_different_bits_are_wrong_data(tmp_path: Path) -> None:
    view = make_view(tmp_path, make_row("alpha"), make_row("beta", on_ranks=(2, 3)))
    wrong = [render(claim.text) for claim in conclude(view) if "different bits" in render(claim.text)]
    assert wrong == WORDING
