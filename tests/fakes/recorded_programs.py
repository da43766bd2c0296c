"""The view of a campaign that measured the calls of a recorded program, and the program."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path

import msgspec

from fakes import campaigns, verdicts
from rankbench.analysis.questions.view import CampaignView
from rankbench.campaign.rank_records import name_form
from rankbench.model import Calls, Case, Recorded
from rankbench.model.program_records import FORMAT, Dropped, Kind, RunRecord

LINE = campaigns.make_cases(lines=[("allreduce", "blocking")], sizes=(8,))
PROGRAM = msgspec.structs.replace(*campaigns.make_cases(lines=[("barrier", "blocking")]), suite="program")


def make_kind(call: str, *, started: bool = False, **changes: object) -> Kind:
    """Return ten calls of 8 bytes on each of two ranks, which take one second, with these changes."""
    kind = Kind(
        call=call,
        form=name_form(call, started=started),
        bytes=8,
        gaps=False,
        ranks=2,
        root=-1,
        calls=[10, 10],
        seconds=[1.0, 1.0],
        shortest_ns=1.0,
        longest_ns=2.0,
        distribution=[],
    )
    return msgspec.structs.replace(kind, **changes)


def make_run(*kinds: Kind, hosts: Sequence[str] = ("a", "a"), **changes: object) -> RunRecord:
    """Return the record of a program with a rank on each of these hosts, with these changes."""
    run = RunRecord(
        record="calls of a program",
        format=FORMAT,
        command=["mpiexec"],
        library="mpich-5",
        version="MPICH",
        ranks=len(hosts),
        hosts=list(hosts),
        seconds=[4.0] * len(hosts),
        finalised=[True] * len(hosts),
        kinds=list(kinds),
        dropped=Dropped(),
    )
    return msgspec.structs.replace(run, **changes)


def make_recorded(folder: Path) -> CampaignView:
    """Beta needs twice alpha's time for calls, and a quarter more for the program, half of whose time is calls."""

    def find_factor(candidate: str, case: Case) -> float:
        return {"allreduce": 2.0, "barrier": 1.25}[case.operation] if candidate == "beta" else 1.0

    plain = verdicts.evaluate(folder, find_factor, candidates=("alpha", "beta"), cases=[*LINE, PROGRAM])
    recorded = Recorded(file="/r.json", library="other", ranks=2, seconds=1.004, mpi_s=0.502, waiting_s=0.251)
    calls = [Calls("allreduce", 8, 5e5, "blocking", ranks=2, seconds=0.502, waiting_s=0.251)]
    plan = msgspec.structs.replace(plain.campaign.plan, calls=calls, profile=recorded)
    late_ns = [[0.0, 0.0, 10.0], [100.0, 2000.0, 30000.0]]
    kinds = [
        make_kind("MPI_Allreduce", seconds=[0.6, 0.4], waiting_s=[0.5, 0.0], late_ns=late_ns),
        make_kind("MPI_Bcast", seconds=[1e-6, 1e-6], waiting_s=[0.0, 0.0]),
    ]
    run = make_run(*kinds, library="other", version="MPI", seconds=[1.0, 1.008])
    campaign = msgspec.structs.replace(plain.campaign, plan=plan)
    return dataclasses.replace(plain, campaign=campaign, records={"": run, "beta": run})
