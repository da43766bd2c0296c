"""Entries of `docs/reference/coverage.md` exist, and every benchmark with recorded output has one."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from typing import NamedTuple

import fakes
import pytest
from fakes.tool_outputs import SAMPLES

from rankbench.model import Operation, Option

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "reference" / "coverage.md"
SUITES = {
    "osu-7.4": ("OSU 7.4", "A fork of OSU 7.4"),
    "osu-5.3": ("OSU 7.4",),
    "imb": ("IMB 2021.11",),
    "mpiperf": ("MPIPerf 0.0.3",),
    "mpbench": ("MPBench",),
    "reprompi": ("ReproMPI",),
    "skampi": ("SKaMPI",),
}
"""The page's chapters for each folder of recorded output."""
NO_SUITES = {"study", "reframe", "ucx_perftest"}
OPERATIONS = {operation.name: operation for operation in fakes.read_description().operations}


class Row(NamedTuple):
    """One benchmark of the page."""

    suite: str
    part: str
    name: str
    here: list[str]
    """Operation, form and options of each case that times the same."""
    differs: str

    @property
    def full_name(self) -> str:
        """Return the name as files of recorded output have it: IMB's with the program in front."""
        return f"{self.part}.{self.name}" if self.part.startswith("IMB") else self.name


def _read_rows() -> Iterator[Row]:
    suite = part = ""
    for line in PAGE.read_text().splitlines():
        if heading := re.fullmatch(r"(##|###) (.*)", line):
            suite, part = (heading[2], "") if heading[1] == "##" else (suite, heading[2])
        elif row := re.fullmatch(r"\| (`[^|]+`) \| (.*?) \| ?(.*?) ?\|", line):
            for name in re.findall(r"`([^`]+)`", row[1]):
                here = [case.replace("NAME", _find_call(name)) for case in re.findall(r"`([^`]+)`", row[2])]
                yield Row(suite, part, name, here, row[3])


def _find_call(benchmark: str) -> str:
    """Return the operation that a benchmark is named after; as it is where there is none."""
    name = re.sub("(_persistent|_pure|mt)$", "", benchmark.lower())
    stems = [re.sub("^(osu_|mpi_)?i", "", name), re.sub("^(osu_|mpi_)", "", name)]
    return next((stem for stem in stems if stem in OPERATIONS), name)


ROWS = list(_read_rows())


def _allows(option: Option, value: str) -> bool:
    return value in option.values if option.values else value.isdigit() and option.least <= int(value) <= option.most


def _find_option_fault(operation: Operation, setting: str) -> str:
    name, _, value = setting.partition("=")
    known = any(option.name == name and _allows(option, value) for option in operation.options)
    return "" if known else f"{operation.name} has no {setting}"


def _find_fault(case: str) -> str:
    """Return the part of a case that the core lacks; empty if it has all."""
    name, form, *options = case.split()
    operation = OPERATIONS.get(name)
    if not operation:
        return f"there is no operation {name}"
    if form not in operation.forms:
        return f"{name} has no form {form}"
    return next(filter(None, (_find_option_fault(operation, option) for option in options)), "")


def _list_recordings(folder: str) -> set[str]:
    """Return the benchmarks with output in a folder; in IMB's file names the part after the first dot is a mode."""
    names = {path.stem for path in (SAMPLES / folder).glob("*.txt")}
    return names if folder == "imb" else {name.partition(".")[0] for name in names}


@pytest.mark.parametrize(
    ("benchmark", "call"),
    [
        ("osu_iallgather", "allgather"),
        ("osu_neighbor_alltoallv", "neighbor_alltoallv"),
        ("osu_reduce_scatter_persistent", "reduce_scatter"),
        ("Iallgather_pure", "allgather"),
        ("AllReduceMT", "allreduce"),
        ("MPI_Scan", "scan"),
        ("osu_hello", "osu_hello"),
    ],
)
def test_a_benchmark_is_named_after_a_call(benchmark: str, call: str) -> None:
    assert _find_call(benchmark) == call


def test_every_listed_case_is_in_the_core() -> None:
    faults = {row.full_name: [fault for case in row.here if (fault := _find_fault(case))] for row in ROWS}
    assert {name: fault for name, fault in faults.items() if fault} == {}


@pytest.mark.parametrize(
    ("case", "fault"),
    [
        ("allreduced blocking", "there is no operation allreduced"),
        ("send-gap persistent", "send-gap has no form persistent"),
        ("put blocking epoch=fences", "put has no epoch=fences"),
        ("put blocking window=8", "put has no window=8"),
        ("halo nonblocking dimensions=7", "halo has no dimensions=7"),
        ("halo nonblocking dimensions=two", "halo has no dimensions=two"),
        ("halo nonblocking dimensions=3", ""),
    ],
)
def test_a_case_missing_in_the_core_is_found(case: str, fault: str) -> None:
    assert _find_fault(case) == fault


def test_each_benchmark_without_a_counterpart_has_a_reason() -> None:
    assert [row.full_name for row in ROWS if not row.here and not row.differs] == []


def test_every_program_of_osu_has_one_row() -> None:
    names = [row.name for row in ROWS if row.suite == "OSU 7.4"]
    assert len(names) == len(set(names)) == 77


@pytest.mark.parametrize("folder", SUITES)
def test_every_benchmark_with_recorded_output_has_a_row(folder: str) -> None:
    names = [row.full_name for row in ROWS if row.suite in SUITES[folder]]
    recorded = _list_recordings(folder)
    assert recorded
    assert sorted(name for name in recorded if not any(fnmatchcase(name, pattern) for pattern in names)) == []


def test_every_suite_with_recorded_output_has_a_chapter() -> None:
    assert {path.name for path in SAMPLES.iterdir() if path.is_dir()} - NO_SUITES == SUITES.keys()
