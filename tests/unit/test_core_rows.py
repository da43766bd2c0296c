"""Wrong rows of operations, core/base/rows.c, are found at start: it compiles without MPI."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import fakes

ROOT = Path(__file__).parents[2]
CORE = ROOT / "core"
HEADER = """\
typedef int MPI_Comm, MPI_Datatype, MPI_Op, MPI_Request, MPI_Win;
typedef long MPI_Count, MPI_Aint;
enum { MPI_SUCCESS, MPI_DATATYPE_NULL, MPI_INT };
"""
FAULTS = {
    "without_help": "it lacks its help or its section of the standard",
    "measured_twice": "rank 0 measures, and ranks that it chooses itself",
    "without_pattern": "it has no pattern of targets",
    "rooted_pair": "it has a root and is between two ranks",
    "right": "another operation has the same name",
    "without_kind": "it has no kind",
    "without_form": "it has no form, or none from its usual one on",
    "without_start": "its start is not known",
    "of_two_and_pairs": "its number of ranks is set in two ways",
    "unchecked": "its results are not checked, and it does not say why",
    "checked_and_not": "its results are checked, and it says why not",
    "filled_only": "it fills data that it does not check",
    "without_size": "it moves data and has no size",
    "counted_twice": "its messages are counted in two ways",
    "wrong_default": "the default of a choice is none of its values",
    "same_choice": "two choices have the same name",
    "many_choices": "it has too many choices",
}
"""By operation of tests/fakes/row_faults.c."""


def test_each_wrong_row_is_reported_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "mpi.h").write_text(HEADER)
    (tmp_path / "missing.h").touch()
    source, program = Path(fakes.__file__).with_name("row_faults.c"), tmp_path / "row_faults"
    command = ["cc", "-std=c11", "-Wall", "-Wextra", "-Werror", f"-I{CORE}", f"-I{tmp_path}", "-o", str(program)]
    subprocess.run([*command, str(source)], check=True)
    process = subprocess.run([program], capture_output=True, text=True, check=False)
    lines = [f"rankbench-core: the row of operation {name}: {fault}" for name, fault in FAULTS.items()]
    assert process.stderr.splitlines() == lines
    assert process.returncode == 0


def test_every_fault_is_tested() -> None:
    texts = re.findall(r'return (?:checked \? )?"([^"]+)"(?: *: "([^"]+)")?', (CORE / "base" / "rows.c").read_text())
    assert {text for pair in texts for text in pair if text} == set(FAULTS.values())
