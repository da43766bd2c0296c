"""Recorded runs of a program between the blocks of a campaign: how many, when, and which one stays."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import msgspec
import pytest
from fakes import campaigns, recorded_programs

from rankbench import store
from rankbench.campaign import recording
from rankbench.campaign.preparation import PreparedCampaign
from rankbench.campaign.recording import ProgramRecorder
from rankbench.model import ProgramSpec, RankbenchError, Stop
from rankbench.model.program_records import RunRecord, sum_mpi

TIMES_S = {"alpha": [3.0, 1.0, 2.0, 5.0, 4.0], "beta": [7.0]}
"""Of the launches of each candidate, in their order; then it fails."""


class Site:
    """A campaign whose launches of the program are made up."""

    def __init__(self, place: Path, monkeypatch: pytest.MonkeyPatch, blocks: int) -> None:
        record = campaigns.make_record("c", [recorded_programs.PROGRAM])
        stop = Stop(blocks_min=blocks, blocks_max=blocks, until="blocks")
        program = ProgramSpec(run=["./a"], folder="/", record=True)
        plan = msgspec.structs.replace(record.plan, stop=stop, program=program)
        self.store = store.create(place / "c", msgspec.structs.replace(record, plan=plan))
        self.lines: list[str] = []
        self.launched: list[str] = []
        monkeypatch.setattr(recording, "record_launch", self.record)
        programs = dict.fromkeys(((name, "barrier") for name in ("alpha", "beta")), object())
        self.prepared = cast(PreparedCampaign, SimpleNamespace(store=self.store, refused={}, programs=programs))

    def record(self, _prepared: PreparedCampaign, candidate: Any, *_others: object) -> RunRecord:
        """Return the next run of a candidate. Raises RankbenchError behind the last one."""
        self.launched.append(candidate.name)
        seconds = TIMES_S[candidate.name][self.launched.count(candidate.name) - 1 :]
        if not seconds:
            raise RankbenchError("no more")
        return recorded_programs.make_run(recorded_programs.make_kind("MPI_Allreduce", seconds=[seconds[0]] * 2))

    def run(self, blocks: int) -> list[int]:
        """Run blocks, and what follows; return how many runs of alpha there are behind each block, and at the end."""
        recorder = ProgramRecorder(self.prepared, self.lines.append)
        counts = []
        for block in range(1, blocks + 1):
            recorder.record_between(block)
            counts.append(len(self.store.program_runs("alpha")))
        recorder.record_rest()
        return [*counts, len(self.store.program_runs("alpha"))]


@pytest.mark.parametrize(
    ("blocks", "counts"),
    [(1, [1, 3]), (3, [1, 2, 3, 3]), (5, [1, 2, 3, 4, 5, 5]), (10, [1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 5])],
)
def test_runs_are_spread_over_the_blocks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, blocks: int, counts: list[int]
) -> None:
    assert Site(tmp_path, monkeypatch, blocks).run(blocks) == counts


def test_the_median_run_stands_for_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    site = Site(tmp_path, monkeypatch, 5)
    site.run(3)
    record = site.store.records()["alpha"]
    assert (sum_mpi(record), record.runs_mpi_s) == (2.0, [3.0, 1.0, 2.0])
    assert [sum_mpi(run) for run in site.store.program_runs("alpha")] == record.runs_mpi_s


def test_a_campaign_that_goes_on_repeats_no_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    site = Site(tmp_path, monkeypatch, 5)
    site.run(2)
    assert site.run(5)[:3] == [3, 3, 3]
    assert site.launched.count("alpha") == 5
    assert site.store.records()["alpha"].runs_mpi_s == TIMES_S["alpha"]


def test_a_candidate_that_fails_is_named_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    site = Site(tmp_path, monkeypatch, 5)
    site.run(5)
    assert site.lines == ["note: the calls of beta are not recorded: no more"]
    assert site.store.records()["beta"].runs_mpi_s == [7.0]
