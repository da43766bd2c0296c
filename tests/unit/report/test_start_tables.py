"""Tables of starts: ratios to the usual start, how ranks began, and unknown values."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from fakes import campaigns
from fakes.campaigns import Truth
from wording import WORDING

from rankbench import plots
from rankbench.analysis import evaluation
from rankbench.analysis.questions.view import CampaignView
from rankbench.model import Case
from rankbench.report.tables import smallest_cases
from rankbench.report.tables.starts import tables as start_tables

WINDOW = campaigns.make_cases(lines=[("allreduce", "blocking"), ("barrier", "blocking")])
SMALL = "allreduce.blocking.8.float.socket.window"


@pytest.fixture(scope="module")
def view(tmp_path_factory: pytest.TempPathFactory) -> CampaignView:
    """Without scatter: times with none are 0.4 of those with window; beta's clocks agree badly at 8 bytes."""
    allreduces = [case for case in WINDOW if case.operation == "allreduce"]
    none = [msgspec.structs.replace(case, start="none") for case in allreduces]

    def make_truth(candidate: str, case: Case) -> Truth:
        uncertain = candidate == "beta" and case.key == SMALL
        return Truth(
            factor=0.4 if case.start == "none" else 1,
            noise=0,
            spread=0,
            bound_ns=400.0 * uncertain,
            error_ns=251.0 * uncertain,
        )

    folder: Path = tmp_path_factory.mktemp("starts") / "made"
    store = campaigns.make_campaign(folder, make_truth, 6, cases=[*WINDOW, *none], control=False)
    return evaluation.evaluate(store)


def test_only_lines_with_several_starts_have_a_table(view: CampaignView) -> None:
    assert [table.caption for table in start_tables(view)] == WORDING
    assert smallest_cases(view) == [SMALL]


def test_a_cell_has_ratio_time_skew_and_discarded_rounds(view: CampaignView) -> None:
    (table,) = start_tables(view)
    assert table.columns == ["message size", "candidate", "window", "none"]
    alpha = table.rows[0]
    assert [cell.text for cell in alpha] == ["8 B", "alpha", "502 ns", "0.40×"]
    assert alpha[3].detail == WORDING
    assert [cell.best for cell in alpha] == [False, False, False, True]


def test_an_uncertain_case_has_no_ratio_but_a_reason(view: CampaignView) -> None:
    beta = start_tables(view)[0].rows[1]
    assert [cell.text for cell in beta] == ["8 B", "beta", "502 ns ?", "201 ns"]
    assert beta[2].detail == WORDING


def test_other_starts_are_not_in_the_winner_map(view: CampaignView) -> None:
    drawn = {plot: chart for plot, _, chart in plots.charts(view, only=[])}
    assert [row["case"] for row in drawn["winner_map"].datasets["cells"]] == [
        "allreduce 8 B",
        "allreduce 64 KiB",
        "barrier",
    ]
