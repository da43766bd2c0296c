"""From Python, without the command line: a comparison of two libraries, and gates; stand-ins have planted speeds."""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest
from fakes.library import make
from wording import refuses

import rankbench
from rankbench import store
from rankbench.across.two_campaigns import CampaignPair
from rankbench.campaign import Progress as Counts
from rankbench.campaign import Watch, pinning
from rankbench.model import Campaign, RankbenchError
from rankbench.workflows.comparison import CandidatePair
from rankbench.workflows.runs import RunResult
from rankbench.workflows.watching import Progress

OPTIONS: dict[str, Any] = {"operations": "allreduce,bcast", "sizes": "8,64", "samples": 20, "blocks": "4"}


class Record(Progress):
    """Keeps what a workflow reports."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.counts: list[Counts] = []

    def show_line(self, line: str) -> None:
        self.lines.append(line)

    def watch(self, record: Campaign) -> AbstractContextManager[Watch]:
        self.counts.append(Counts(record))
        return super().watch(record)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with two libraries, the second slower by half."""
    folder = tmp_path_factory.mktemp("python")
    make(folder / "9.1", "9.1")
    make(folder / "9.2", "9.2", factor=1.5)
    return folder


@pytest.fixture(scope="module")
def result(folder: Path) -> RunResult:
    """Return a campaign of both."""
    with pytest.MonkeyPatch.context() as patch:
        prepare(folder, patch)
        words = (f"base=prefix:{folder / '9.1'}", f"slow=prefix:{folder / '9.2'}")
        return rankbench.run(*words, results=folder / "results", name="two", progress=Record(), **OPTIONS)


def prepare(folder: Path, patch: pytest.MonkeyPatch) -> None:
    patch.chdir(folder)
    patch.setenv("RANKBENCH_HOME", str(folder / "home"))
    patch.setattr(pinning, "CPU_FOLDER", folder / "no-cpus")


@pytest.fixture(autouse=True)
def use_folder(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    prepare(folder, monkeypatch)


def test_a_campaign_of_two_libraries_is_measured(result: RunResult, capfd: pytest.CaptureFixture[str]) -> None:
    assert result.decision is not None
    blocks = result.view.verdict.blocks
    assert len(store.open(result.folder).launches()) == 3 * blocks  # Two libraries and the control.
    assert blocks in {4, 5}  # 5 after the test that measures one more.
    assert result.conclusion == rankbench.read(result.folder).conclusion
    assert capfd.readouterr() == ("", "")


def test_a_finished_campaign_is_not_measured_again(result: RunResult) -> None:
    progress = Record()
    again = rankbench.run(continued=result.folder, progress=progress)
    assert again.decision is None
    assert progress.counts == []
    assert again.conclusion == result.conclusion


def test_more_blocks_are_measured_while_the_result_is_in_use(result: RunResult) -> None:
    progress = Record()
    more = rankbench.run(continued=result.folder, more=1, progress=progress)
    assert more.decision is not None
    assert len(progress.counts) == 1
    assert more.view.verdict.blocks == result.view.verdict.blocks


def test_two_candidates_are_compared(result: RunResult) -> None:
    compared = rankbench.compare(result.folder, "base", "slow")
    assert isinstance(compared, CandidatePair)
    assert (compared.base, compared.other) == ("base", "slow")
    assert {case.key for case in result.store.campaign.cases} == compared.comparisons.keys()
    assert all(1.3 < comparison.ratio < 1.7 for comparison in compared.comparisons.values())


def test_two_campaigns_are_compared(result: RunResult) -> None:
    rankbench.run(f"prefix:{Path('9.1').resolve()}", results="results", name="then", **OPTIONS)
    compared = rankbench.compare("results/then", result.folder, match=["mpich-9.1=base"])
    assert isinstance(compared, CampaignPair)
    assert len(compared.comparison.changes) == 4
    gate = rankbench.gate(result.folder, against="results/then", match=["mpich-9.1=slow"], threshold="5%")
    assert not gate.has_passed
    assert gate.counts["failed"] == 4


def test_a_gate_within_a_campaign(result: RunResult) -> None:
    failed = rankbench.gate(result.folder, candidate="slow", against_candidate="base", threshold="10%")
    assert not failed.has_passed
    assert failed.counts["failed"] == len(failed.checks) == 4
    passed = rankbench.gate(result.folder, candidate="base", against_candidate="slow")
    assert passed.has_passed
    assert passed.heading == "base against slow"


def test_wrong_requests_are_errors_of_one_line() -> None:
    with refuses():
        rankbench.run("mpich", "openmpi")
    with pytest.raises(RankbenchError, match="gate NEW takes --against OLD"):
        rankbench.gate("results/two")
    with pytest.raises(RankbenchError, match="results/none is no campaign"):
        rankbench.compare("results/none", "results/two")
