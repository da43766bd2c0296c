"""A new operation is one file: copied into the core's folder, it is described, listed, planned and run."""

from __future__ import annotations

import shutil
from pathlib import Path

import fakes
import pytest
from fakes import mark_thorough

from mpi.conftest import REPOSITORY
from rankbench import build, launch, libraries, plan, samples
from rankbench.model import CaseStatus, Library, Placement, Step

NOOP = """#include "base/op.h"

static int blocking(struct call *call) {
    return MPI_Comm_test_inter(call->peers.comm, &(int){0});
}

static const struct operation noop_example = {
    .name = "noop_example",
    .help = "asks the communicator what it is",
    .standard = "MPI-4.1 7.6.1",
    .kind = KIND_SELF_TEST,
    .metric = METRIC_TIME,
    .timing.start = "window",
    .forms = {blocking},
};
REGISTER(operation, noop_example);
"""
PLAN = """
candidates = ["mpich"]
operations = ["noop_example"]
placements = ["1x2"]
start = "barrier"
samples = 5
case_limit = "30s"
"""
PAIR = Placement(name="1x2", nodes=1, ranks_per_node=2, binding="none")


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["mpich", mark_thorough("openmpi"), mark_thorough("intel-mpi")])
def test_a_new_operation_is_one_file(
    name: str, reach: list[Library], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Speed does not matter here, and optimising takes most of the time of a build.
    assert "-O3" in build.FLAGS
    monkeypatch.setattr(build, "FLAGS", [flag.replace("-O3", "-O0") for flag in build.FLAGS])
    core = tmp_path / "core"
    shutil.copytree(REPOSITORY / "core", core)
    (core / "ops" / "noop_example.c").write_text(NOOP)
    (tmp_path / "plan.toml").write_text(PLAN)
    library = libraries.choose(name, [library for library in reach if library.source == "pypi"])
    core_build = build.build(library, tmp_path / "home", core)
    description = build.describe(core_build)
    assert [operation.help for operation in description.operations if operation.name == "noop_example"] == [
        "asks the communicator what it is"
    ]
    planned = plan.load_plan(tmp_path / "plan.toml", fakes.make_machine())
    cases, _ = plan.expand_plan(planned, description, fakes.make_machine())
    job, stream = tmp_path / "job", tmp_path / "stream"
    samples.write_job(job, cases, planned)
    program = [str(core_build.binary), "--job", str(job), "--stream", str(stream), "--quiet"]
    line = libraries.find_family(library).make_launch_line(library, PAIR, {}, program)
    launch.run(Step(command=line, output=tmp_path / "output", watch=stream, limit_s=60))
    (result,) = samples.read(stream, cases).results
    assert (result.case.operation, result.status) == ("noop_example", CaseStatus.OK)
    assert result.valid > 0
