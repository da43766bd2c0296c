"""A campaign is of one program: a changed one is noticed."""

from __future__ import annotations

from pathlib import Path

import fakes
import msgspec
import pytest
from fakes import campaigns

from rankbench.campaign import program_files, user_program
from rankbench.campaign.foreign import Program, Programs
from rankbench.model import ProgramSpec, RankbenchError
from rankbench.plan import parse_plan


@pytest.fixture
def spec(tmp_path: Path) -> ProgramSpec:
    for name in ("solver", "input", "other"):
        (tmp_path / name).write_text(name)
    return ProgramSpec(run=["./solver", "input", "-n"], folder=str(tmp_path))


def make_programs(spec: ProgramSpec) -> Programs:
    operation = fakes.read_description().operations[0]
    path = Path(spec.folder) / "solver"
    return {("mpich-9.1", "program"): Program(path, {}, operation, [], script="#!/bin/sh")}


@pytest.mark.parametrize(("name", "changed"), [("solver", "./solver of mpich-9.1"), ("input", "input"), ("other", "")])
def test_a_campaign_does_not_continue_with_another_program(
    spec: ProgramSpec, tmp_path: Path, name: str, changed: str
) -> None:
    """The program and the files that its command names; others are not known to be read."""
    folder = tmp_path / "results"
    folder.mkdir()
    program_files.keep(folder, program_files.describe(spec, make_programs(spec)))
    program_files.require_same(folder, program_files.describe(spec, make_programs(spec)))
    assert program_files.find_changed(folder, spec, "plan.toml") == ""
    (tmp_path / name).write_text("changed")
    assert program_files.find_changed(folder, spec, "plan.toml") == changed
    now = program_files.describe(spec, make_programs(spec))
    if changed:
        with pytest.raises(RankbenchError, match=f"the program was changed since this campaign began .{changed}"):
            program_files.require_same(folder, now)
    else:
        program_files.require_same(folder, now)


@pytest.mark.parametrize(("name", "known"), [("fast", True), ("mpich-9.1", True), ("mpich", True), ("Fast", False)])
def test_paths_of_other_names_are_refused(name: str, *, known: bool) -> None:
    """They would be ignored, and one program compared with itself."""
    text = f"""placements = ["1x2"]
    [[candidate]]
    library = "mpich"
    name = "fast"
    [program]
    run = "./a"
    folder = "/"
    paths = {{ {name!r} = "./b" }}"""
    planned = parse_plan(text, "plan.toml", fakes.make_machine())
    used = [msgspec.structs.replace(campaigns.make_library("mpich"), name="mpich-9.1", family="mpich")]
    if known:
        user_program.require_known_paths(planned, used)
        return
    with pytest.raises(RankbenchError, match='found "Fast"'):
        user_program.require_known_paths(planned, used)
