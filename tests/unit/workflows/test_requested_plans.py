"""Plans of recorded programs: the calls of smaller communicators have placements."""

from __future__ import annotations

from pathlib import Path

import fakes
import pytest
from fakes.recorded_programs import make_kind, make_run
from wording import refuses

from rankbench.cli.job_options import request_campaign
from rankbench.model import Memory
from rankbench.model.program_records import encode
from rankbench.workflows.requested_plans import MeasuringOptions, PlanRequest, make_plan

MACHINE = fakes.make_machine(8)
TEXT = 'candidates = ["mpich"]\nprofile = "record.json"\n'


def write_record(folder: Path, hosts: list[str], *communicators: int) -> None:
    """Write the record of a program with a rank on each of these hosts, and calls in communicators of these sizes."""
    calls, seconds = [10] * len(hosts), [1.0] * len(hosts)
    kinds = [make_kind("MPI_Allreduce", bytes=64, ranks=size, calls=calls, seconds=seconds) for size in communicators]
    (folder / "record.json").write_bytes(encode(make_run(*kinds, hosts=hosts)))


def plan_profile(folder: Path, text: str, **place_options: object) -> PlanRequest:
    (folder / "plan.toml").write_text(TEXT + text)
    return make_plan([str(folder / "plan.toml")], "", MeasuringOptions(), place_options, MACHINE)


@pytest.mark.parametrize("text", ["", 'placements = ["1x8"]\n'])
def test_calls_of_smaller_communicators_are_placed_on_the_first_ranks(text: str, tmp_path: Path) -> None:
    """Whether the plan names the placement of the program, or the record does."""
    write_record(tmp_path, ["a"] * 8, 8, 2, 4)
    planned = plan_profile(tmp_path, text).plan
    assert [(placement.name, placement.ranks) for placement in planned.placements] == [
        ("1x8", 8),
        ("1x2", 2),
        ("1x4", 4),
    ]
    assert [note.partition(",")[0] for note in planned.notes] == [
        "1x2: the first 2 ranks",
        "1x4: the first 4 ranks",
    ]


def test_a_placement_of_the_plan_with_as_many_ranks_is_used(tmp_path: Path) -> None:
    write_record(tmp_path, ["a"] * 4, 4, 2)
    planned = plan_profile(tmp_path, 'placements = ["1x4", { name = "apart", cores = [0, 5] }]\n').plan
    assert [placement.name for placement in planned.placements] == ["1x4", "apart"]


def test_smaller_communicators_fill_node_after_node(tmp_path: Path) -> None:
    write_record(tmp_path, ["a", "a", "b", "b"] * 2, 8, 2, 6, 3)
    planned = plan_profile(tmp_path, 'placements = ["4x2"]\n', hosts=["a", "b", "c", "d"]).plan
    assert [(placement.name, placement.hosts) for placement in planned.placements] == [
        ("4x2", ["a", "b", "c", "d"]),
        ("1x2", ["a"]),
        ("3x2", ["a", "b", "c"]),
    ]


def test_a_job_measures_the_calls_of_a_record_where_the_program_ran(tmp_path: Path) -> None:
    write_record(tmp_path, ["a", "a", "b", "b"], 4, 2)
    (tmp_path / "plan.toml").write_text(TEXT + '[job]\nscheduler = "slurm"\n')
    planned = request_campaign([str(tmp_path / "plan.toml")]).plan
    assert [(placement.name, placement.nodes) for placement in planned.placements] == [("2x2", 2), ("1x2", 1)]
    assert planned.job.nodes == 2
    assert {call.ranks for call in planned.calls} == {2, 4}


def test_programs_have_written_their_data_unless_the_plan_has_other_memory(tmp_path: Path) -> None:
    write_record(tmp_path, ["a"] * 2, 2)
    assert plan_profile(tmp_path, "").plan.memory == [Memory(cache="written")]
    assert plan_profile(tmp_path, '[memory]\ncache = "cold"\n').plan.memory == [Memory(cache="cold")]


def test_a_communicator_of_one_rank_has_a_placement(tmp_path: Path) -> None:
    write_record(tmp_path, ["a"] * 2, 2, 1)
    assert [placement.name for placement in plan_profile(tmp_path, "").plan.placements] == ["1x2", "1x1"]


def test_a_record_of_other_ranks_is_refused(tmp_path: Path) -> None:
    write_record(tmp_path, ["a"] * 4, 4)
    with refuses():
        plan_profile(tmp_path, 'placements = ["1x2"]\n')
