"""One row for each candidate with what decides whether it can be the default."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import msgspec
import pytest
from fakes import campaigns
from fakes.campaigns import Truth

from rankbench.analysis import evaluation
from rankbench.analysis.questions.view import CampaignView
from rankbench.model import Case, CaseStatus
from rankbench.report.tables import fitness

SIZES = (8, 64, 1024, 4096, 65536)
FAULTS = {
    ("gamma", 8): CaseStatus.WRONG_DATA,
    ("gamma", 64): CaseStatus.CRASHED,
    ("gamma", 1024): CaseStatus.LACKING,
}


def make_truth(candidate: str, case: Case) -> Truth:
    """Beta takes half as long again; gamma has one fault of each kind, and two right cases."""
    if status := FAULTS.get((candidate, case.size_bytes)):
        return Truth(status=status)
    if candidate == "delta":
        return Truth(status=CaseStatus.REFUSED)
    return Truth(factor=1.5 if candidate == "beta" else 1.0)


@pytest.fixture
def view(tmp_path: Path) -> CampaignView:
    names = ("alpha", "beta", "gamma", "delta")
    cases = campaigns.make_cases(lines=[("allreduce", "blocking")], sizes=SIZES)
    return evaluation.evaluate(
        campaigns.make_campaign(tmp_path / "made", make_truth, candidates=names, cases=cases, control=False)
    )


def test_each_candidate_has_its_times_and_its_faults(view: CampaignView) -> None:
    (table,) = fitness.tables(view)
    cells = {row[0].text: [cell.text for cell in row[1:]] for row in table.rows}
    assert table.columns[1:6] == ["time", "fastest in", "wrong data", "failed", "lacking"]
    assert cells["alpha"][:5] == ["1.00×", "3 of 5", "0", "0", "0"]
    assert cells["beta"][1:5] == ["0 of 5", "0", "0", "0"]
    assert 1.45 < float(cells["beta"][0].rstrip("×")) < 1.55
    assert cells["gamma"][:5] == ["not compared", "0 of 5", "1", "1", "1"]
    assert cells["delta"][:5] == ["not compared", "0 of 5", "0", "5", "0"]
    assert table.rows[1][1].detail.startswith("1.")


def test_known_wrong_data_stand_beside_the_measured_ones(view: CampaignView) -> None:
    known = {view.campaign.get_candidate("beta").library: ["scan.blocking", "scan.persistent"]}
    campaign = msgspec.structs.replace(view.campaign, known_wrong=known)
    (table,) = fitness.tables(dataclasses.replace(view, campaign=campaign))
    assert {row[0].text: row[3].text for row in table.rows if row[0].text in {"alpha", "beta"}} == {
        "alpha": "0",
        "beta": "0, known 2",
    }


def test_the_frame_has_the_same_numbers(view: CampaignView) -> None:
    frame = fitness.frame(view)
    assert frame.select("candidate", "fastest", "wrong_data", "failed", "lacking").rows() == [
        ("alpha", 3, 0, 0, 0),
        ("beta", 0, 0, 0, 0),
        ("gamma", 0, 1, 1, 1),
        ("delta", 0, 0, 5, 0),
    ]
    assert frame["ratio"].to_list()[2:] == [None, None]


def test_the_time_in_init_is_the_median_over_launches(view: CampaignView) -> None:
    assert fitness.find_init_ns(view, "alpha") is None
    times = iter((1e-3, 3e-3, 2e-3))
    ours = [launch for launch in view.launches if launch.candidate == "alpha"][:3]
    view.launches[:] = [msgspec.structs.replace(launch, spent_s={"init": next(times)}) for launch in ours]
    assert fitness.find_init_ns(view, "alpha") == 2e6


def test_one_candidate_has_no_table(tmp_path: Path) -> None:
    view = evaluation.evaluate(
        campaigns.make_campaign(tmp_path / "made", candidates=("alpha",), control=False, launches=2)
    )
    assert fitness.tables(view) == []
    assert fitness.frame(view).is_empty()
