"""The self-test `verify` with real libraries: wrong data are found."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from mpi.test_core import FLIP
from rankbench import libraries
from rankbench.model import Library


def list_wrong_calls(printed: str) -> set[str]:
    """Return operation and form of the calls that deliver wrong data according to `verify`."""
    groups = re.findall(r"^FAILED \S+: wrong-data, (\w+), \d+ calls: (.*?)\. The first: ", printed, re.MULTILINE)
    return {f"{call.partition(',')[0]}.{form}" for form, calls in groups for call in calls.split("; ")}


@pytest.mark.thorough
def test_a_flipped_byte_is_a_failure(home: Path, reach: list[Library], tmp_path: Path) -> None:
    """With MPICH, whose handles are numbers: a library in between is loaded into every started program."""
    mpich = libraries.choose("mpich", [library for library in reach if library.source == "pypi"])
    between = tmp_path / "flip.so"
    subprocess.run([mpich.wrapper, "-shared", "-fPIC", "-w", "-o", str(between), str(FLIP)], check=True)
    process = subprocess.run(
        [Path(sys.executable).with_name("rankbench"), "verify", mpich.name, "--clock", "clock_gettime"],
        env=os.environ | {"RANKBENCH_HOME": str(home), "LD_PRELOAD": str(between), "FLIP": "MPI_Allreduce"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert list_wrong_calls(process.stdout) == {"allreduce.blocking"}
    assert process.returncode == 1
