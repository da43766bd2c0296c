"""Recorded output of real libraries about themselves, and of their launchers when they failed."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from rankbench import libraries
from rankbench.libraries import families, inspection

HERE = Path(__file__).parent
LIBRARIES = sorted((HERE / "libraries").iterdir())
FOREIGN = "the launcher has another process interface: it belongs to another library; use the library's own mpiexec"
KILLED = "a rank was killed from outside, usually for lack of memory; use fewer ranks or smaller sizes"
NO_PROGRAM = "the launcher cannot find the program; build it again"
NO_PROGRAM_OPEN_MPI = "the launcher cannot find or execute the program; build it again"
ROOT = "Open MPI refuses to run as root; be another user or set OMPI_ALLOW_RUN_AS_ROOT=1 and ..._CONFIRM=1"
SLOTS = "more ranks than cores with binding core; use fewer ranks or binding none"
FAILURES = {
    "intel-mpi-fabric": "no usable network fabric; within one node set I_MPI_FABRICS=shm, else check FI_PROVIDER",
    "intel-mpi-program": NO_PROGRAM,
    "intel-mpi-root": "I_MPI_ROOT does not name the library's prefix; unset it, or load the module of this version",
    "mpich-5-foreign-launcher": FOREIGN,
    "mpich-5-killed": KILLED,
    "mpich-5-permission": "the program may not be executed; is its folder mounted noexec?",
    "mpich-5-program": NO_PROGRAM,
    "mpich-5-setting": "MPI_Init failed without a reason, for example because of an unknown setting; "
    "check the MPIR_CVAR_* values",
    "openmpi-4-program": NO_PROGRAM_OPEN_MPI,
    "openmpi-4-root": ROOT,
    "openmpi-4-slots": SLOTS,
    "openmpi-5-foreign-launcher": "the launcher belongs to another library; use the library's own mpiexec",
    "openmpi-5-killed": KILLED,
    "openmpi-5-lost-files": "Open MPI does not find its own files; "
    "was its folder moved, or is OPAL_PREFIX set to another one?",
    "openmpi-5-overload": SLOTS,
    "openmpi-5-program": NO_PROGRAM_OPEN_MPI,
    "openmpi-5-root": ROOT,
    "openmpi-5-slots": SLOTS,
    "openmpi-5-unreachable": "its transports do not reach the other ranks; "
    "set btl to one that does: self,sm (4.x: self,vader)",
}


def read_text(folder: Path, name: str) -> str:
    file = folder / f"{name}.txt"
    return file.read_text("utf-8") if file.exists() else ""


def read_expected(folder: Path) -> tuple[str, str]:
    record = msgspec.json.decode((folder / "expected.json").read_bytes())
    return record["family"], record["version"]


def test_every_recorded_library_is_tested() -> None:
    assert len(LIBRARIES) == 12


@pytest.mark.parametrize("folder", LIBRARIES, ids=lambda folder: folder.name)
def test_a_library_is_recognised_by_its_tools(folder: Path) -> None:
    identity = inspection.judge(read_text(folder, "wrapper"), read_text(folder, "launcher"))
    assert identity
    assert (identity[0].name, identity[1]) == read_expected(folder)


@pytest.mark.parametrize(
    "file", sorted((HERE / "libraries").glob("*/[io]*.txt")), ids=lambda file: f"{file.parent.name}-{file.stem}"
)
def test_a_library_is_recognised_in_a_launch_and_by_its_other_tools(file: Path) -> None:
    identity = libraries.recognise(file.read_text("utf-8"))
    assert identity
    assert (identity[0].name, identity[1]) == read_expected(file.parent)


def test_a_foreign_launcher_does_not_change_the_library() -> None:
    identity = inspection.judge(
        read_text(HERE / "libraries" / "debian-mpich-4.0.2", "wrapper"),
        read_text(HERE / "libraries" / "openmpi-4.1.8", "launcher"),
    )
    assert identity
    assert (identity[0].name, identity[1]) == ("mpich", "4.0.2")


def test_every_recorded_failure_is_expected() -> None:
    assert {file.stem for file in (HERE / "failures").iterdir()} == set(FAILURES)


@pytest.mark.parametrize(("name", "meaning"), FAILURES.items())
def test_a_failure_is_explained(name: str, meaning: str) -> None:
    family = next(family for family in families.list_families().values() if name.startswith(family.name))
    assert family.explain((HERE / "failures" / f"{name}.txt").read_text("utf-8")) == meaning


@pytest.mark.parametrize("family", families.list_families().values(), ids=lambda family: family.name)
def test_successful_output_is_not_explained(family: libraries.Family) -> None:
    assert family.explain("one world of 2 ranks, data right\n") is None
