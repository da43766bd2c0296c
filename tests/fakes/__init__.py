"""Stand-ins for what is slow or not available. With them a whole campaign runs in seconds and without MPI."""

from __future__ import annotations

import functools
import re
from pathlib import Path

import msgspec
import pytest
from _pytest.mark import ParameterSet

from rankbench.model import CaseResult, Cpu, Description, Machine, list_columns

NEUTRAL = {int: "0", float: "0", str: '""', list[int]: "[]"}


def mark_thorough(*values: object) -> ParameterSet:
    """Return values of a parametrized test that only `make test-all` uses."""
    return pytest.param(*values, marks=pytest.mark.thorough)


def drop_line(message: str) -> str:
    """Return an error about a key of a plan without the number of its line."""
    return re.sub(r"^(\S+\.toml):\d+: (?=[a-z][^:]*: )", r"\1: ", message)


@functools.cache
def read_description() -> Description:
    """Return the core's recorded description."""
    return msgspec.json.decode((Path(__file__).parent / "description.json").read_bytes(), type=Description)


def add_columns(record: str) -> str:
    """Return the record of a case with a neutral value for each column that it lacks; another record as it is."""
    head, series, rest = record.partition(',"series"')
    if not series:
        return record
    columns = {column.column.stream_name or field: column for field, column in list_columns(CaseResult).items()}
    added = [
        f',"{name}":{NEUTRAL[column.kind]}'
        for name, column in columns.items()
        if column.column.streamed and f'"{name}":' not in head
    ]
    return "".join([head, *added, series, rest])


def make_machine(cores: int = 2, sockets: int = 1, memory_bytes: int = 8 << 30) -> Machine:
    """Return a machine whose sockets have equal shares of its cores, each with one hardware thread, and an L3 each."""
    each = cores // sockets
    numbers = range(each * sockets)
    return Machine(
        host="fake",
        cpu="Example 9000",
        sockets=sockets,
        cores=cores,
        memory_bytes=memory_bytes,
        kernel="6.1",
        distribution="Example Linux",
        virtual="",
        cpus=[
            Cpu(
                number=number,
                core=number,
                socket=number // each,
                numa=number // each,
                caches={"L2": number, "L3": number // each * each},
                ordinal=number,
                core_ordinal=number,
            )
            for number in numbers
        ],
    )
