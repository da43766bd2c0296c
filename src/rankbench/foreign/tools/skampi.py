"""Reads SKaMPI's .sko: results by name, each row with loop variables, size, three values and a time for each process.

SKaMPI runs programs in its own language. The known names are those of the programs that come with it; other programs
can use any names, and the file does not show what they call.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import partial
from typing import NamedTuple

from msgspec.structs import replace

from rankbench.files import write
from rankbench.foreign import Line, Role, Row, Table, Text, make_benchmark, make_pair_benchmark
from rankbench.foreign.fields import NONE, Drafts, Place, begins_a_row, make_slug, make_unknown
from rankbench.foreign.running import RunRequest, set_repetitions
from rankbench.model import Meaning, Operation, Plan

NAME = "skampi"
TITLE = "SKaMPI"
BEGIN = re.compile(r'\s*#?\s*begin result "(?P<name>.*)"\s*')
END = re.compile(r'\s*#?\s*end result "(?P<name>.*)"\s*')
VERSION = re.compile(r"#\s*SKaMPI Version\s+(?P<version>\S.*?)\s*")
START_DATE = re.compile(r"#\s*Started at\s+(?P<started>\S.*?)\s*")
VARIABLE = re.compile(r"\s*(?P<name>[A-Za-z_]\w*)= (?P<value>\S+)")
SERIES = re.compile(r"-(?:length|procs|nodes)(?:-short|-long)?$")
"""Suffixes of results of one call that loop over sizes, or over processes with a short or a long message."""
PROCESSES = {"procs", "nodes", "tasks"}
COLUMNS = ("mean", "standard error", "repetitions")
ROLES: dict[Role, int] = {"value": 0, "error": 1, "repetitions": 2}
NO_TIME = "---"
QUANTILES = 16
"""With more processes than this, as many quantiles are printed instead of the time of each process."""
MICROSECOND_NS = 1e3

REPETITIONS = "8 to 16 or 32 with the programs that come with SKaMPI"
STATISTICS = (
    "Microseconds (unless the program called set_unit). Mean and standard error are over the valid repetitions without "
    "the fastest and the slowest quarter. The printed number of repetitions includes these quarters; repetitions end "
    f"when the standard error is small enough ({REPETITIONS}, which use MPI_INT and MPI_SUM). A column for each "
    "process is the mean of its times in the same repetitions; with more than 16 processes they are 16 quantiles. The "
    "data are not checked."
)
COLLECTIVE = Meaning(
    over_calls="trimmed mean",
    over_ranks="maximum",
    start="window",
    text="Time from an agreed start until the last process has returned; late starts and repetitions longer than their "
    f"window are not valid. {STATISTICS}",
)
ROUND_TRIP = Meaning(
    over_calls="trimmed mean",
    over_ranks="maximum",
    start="none",
    trip="round",
    text="Time of a whole round trip between the two most distant processes; both measure one, the second from its "
    f"answer on, and the longer one is used. A repetition is a single round trip. {STATISTICS}",
)
BOTH_WAYS = Meaning(
    over_calls="trimmed mean",
    over_ranks="maximum",
    start="none",
    text=f"Time of one call in which two processes send to each other at the same time; the longer one. {STATISTICS}",
)
ONE_SIDED = Meaning(
    over_calls="trimmed mean",
    over_ranks="maximum",
    start="window",
    text="Time of the call or epoch in the name, on the processes that take part; only SKaMPI's source shows what is "
    f"opened before and closed after it. {STATISTICS}",
)
CLOCK = Meaning(
    over_calls="trimmed mean",
    over_ranks="one",
    start="none",
    text=f"Time of MPI_Wtime on one process, called `iters` times in a row. {STATISTICS}",
)
NOT_KNOWN = Meaning(
    over_calls="trimmed mean",
    over_ranks="maximum",
    start="not reported",
    text="A measurement of a SKaMPI program unknown to rankbench: the output shows neither the call nor how processes "
    f"start together. {STATISTICS}",
)


def _make_collective(
    spelling: str, help_: str, counterpart: str = "", note: str = "", *, sized: bool = True
) -> Operation:
    meaning = replace(COLLECTIVE, text=f"{note} {COLLECTIVE.text}".strip())
    name = make_slug(spelling.removeprefix("MPI_"))
    reduces = "educe" in spelling or spelling == "MPI_Scan"
    datatype = "int" if reduces else "byte"
    return make_benchmark(NAME, name, spelling, help_, meaning, counterpart=counterpart, sized=sized, datatype=datatype)


def _make_pair(spelling: str, help_: str, meaning: Meaning, counterpart: str = "") -> Operation:
    return make_pair_benchmark(NAME, make_slug(spelling), spelling, help_, meaning, counterpart=counterpart)


def _make_one_sided(spelling: str) -> Operation:
    return make_benchmark(
        NAME, make_slug(spelling), spelling, f"{spelling} of SKaMPI's one-sided program", ONE_SIDED, kind="one-sided"
    )


BY_HAND = "implemented with"
WHOLE_VECTOR = "The size is that of the whole reduced vector, of which every process gets a part."
OPERATIONS = [
    _make_pair("Pingpong_Send_Recv", "a round trip by MPI_Send and MPI_Recv", ROUND_TRIP, "pingpong"),
    _make_pair("Pingpong_Send_Iprobe_Recv", "a round trip whose messages are awaited by MPI_Iprobe", ROUND_TRIP),
    _make_pair("Pingpong_Send_Irecv", "a round trip by MPI_Send, MPI_Irecv and MPI_Wait", ROUND_TRIP),
    _make_pair("Pingpong_Send_Recv_AnyTag", "a round trip by MPI_Send and MPI_Recv of any tag", ROUND_TRIP),
    _make_pair("Pingpong_Ssend_Recv", "a round trip by MPI_Ssend and MPI_Recv", ROUND_TRIP),
    _make_pair("Pingpong_Isend_Recv", "a round trip by MPI_Isend, MPI_Wait and MPI_Recv", ROUND_TRIP),
    _make_pair("Pingpong_Issend_Recv", "a round trip by MPI_Issend, MPI_Wait and MPI_Recv", ROUND_TRIP),
    _make_pair("Pingpong_Bsend_Recv", "a round trip by MPI_Bsend and MPI_Recv", ROUND_TRIP),
    _make_pair("Pingpong_Sendrecv", "an exchange by MPI_Sendrecv", BOTH_WAYS, "sendrecv"),
    _make_pair("Pingpong_Sendrecv_replace", "an exchange by MPI_Sendrecv_replace", BOTH_WAYS, "sendrecv-replace"),
    _make_collective("MPI_Bcast", "MPI_Bcast", "bcast"),
    _make_collective("Bcast_using_Send_Recv", f"a broadcast {BY_HAND} a binary tree of MPI_Send and MPI_Recv"),
    _make_collective("MPI_Barrier", "MPI_Barrier", "barrier", sized=False),
    _make_collective("MPI_Reduce", "MPI_Reduce", "reduce"),
    _make_collective("MPI_Allreduce", "MPI_Allreduce", "allreduce"),
    _make_collective("Allreduce_using_Reduce_Bcast", f"an allreduce {BY_HAND} MPI_Reduce and MPI_Bcast"),
    _make_collective("MPI_Reduce_scatter", "MPI_Reduce_scatter", note=WHOLE_VECTOR),
    _make_collective("Reduce_Scatterv", f"a reduce_scatter {BY_HAND} MPI_Reduce and MPI_Scatterv", note=WHOLE_VECTOR),
    _make_collective("MPI_Alltoall", "MPI_Alltoall", "alltoall"),
    _make_collective("Alltoall_using_Isend_Irecv", f"an alltoall {BY_HAND} MPI_Isend, MPI_Irecv and MPI_Waitall"),
    _make_collective("MPI_Alltoallv", "MPI_Alltoallv with equal counts", "alltoallv"),
    _make_collective("Alltoallv_using_Isend_Irecv", f"an alltoallv {BY_HAND} MPI_Isend, MPI_Irecv and MPI_Waitall"),
    _make_collective("MPI_Gather", "MPI_Gather", "gather"),
    _make_collective("Gather_using_Send_Recv", f"a gather {BY_HAND} MPI_Send and, in the order of processes, MPI_Recv"),
    _make_collective("Gather_using_Isend_Irecv_Waitall", f"a gather {BY_HAND} MPI_Isend, MPI_Irecv and MPI_Waitall"),
    _make_collective("MPI_Gatherv", "MPI_Gatherv with equal counts", "gatherv"),
    _make_collective("MPI_Allgather", "MPI_Allgather", "allgather"),
    _make_collective("MPI_Allgatherv", "MPI_Allgatherv with equal counts", "allgatherv"),
    _make_collective("MPI_Scatter", "MPI_Scatter", "scatter"),
    _make_collective("MPI_Scatterv", "MPI_Scatterv with equal counts", "scatterv"),
    _make_collective("MPI_Scan", "MPI_Scan", "scan"),
    _make_collective("MPI_Comm_split", "MPI_Comm_split into processes of even and of odd rank", sized=False),
    _make_collective("MPI_Comm_dup", "MPI_Comm_dup", "comm_dup", sized=False),
    make_benchmark(
        NAME, "wtime", "MPI_Wtime_avg", "the cost of MPI_Wtime", CLOCK, kind="local", sized=False, ranks_exactly=1
    ),
    *map(
        _make_one_sided,
        (
            *("MPI_Win_fence_open", "MPI_Win_fence_close", "MPI_Win_fence_close-noput", "MPI_Win_fence_openclose"),
            *("MPI_Win_start", "MPI_Win_start with MPI_MODE_NOCHECK", "MPI_Win_start with delayed MPI_Win_post"),
            *(
                "Pingpong_Put_Put_fence",
                "MPI_Put callduration",
                "MPI_Put_dedicated",
                "MPI_Put_passive",
                "MPI_Put_fence",
            ),
            *("MPI_Put_maxlatency", "Combining_short_Puts_fence", "Combining_measure_large_Put"),
            *("MPI_Accumulate MPI_REPLACE", "MPI_Accumulate MPI_MAX", "MPI_Accumulate MPI_SUM"),
        ),
    ),
]
KNOWN = {operation.foreign.benchmark: operation for operation in OPERATIONS if operation.foreign}


class Result(NamedTuple):
    """The head of a result."""

    name: str
    line: int
    version: str
    facts: dict[str, str]


class Fields(NamedTuple):
    """The fields of a row."""

    variables: dict[str, str]
    size_bytes: int
    numbers: tuple[float, ...]
    printed: list[str]
    """The fields of the numbers."""


def recognises(head: Sequence[Line]) -> bool:
    """Return whether lines are from SKaMPI."""
    return any(VERSION.fullmatch(line.text) or BEGIN.fullmatch(line.text) for line in head)


def read(text: Text) -> Iterator[Table]:
    """Yield a table for each measurement, number of processes and value of other loop variables.

    Programs measure a call in several results, over sizes and over processes: those of one run are samples of it.
    """
    version = ""
    facts: dict[str, str] = {}
    result: Result | None = None
    drafts = Drafts()
    for line in text.lines:
        if begin := BEGIN.fullmatch(line.text):
            _refuse_open(text, result)
            result = Result(begin["name"], line.number, version, {**facts, "measurement": begin["name"]})
        elif END.fullmatch(line.text):
            result = None
        elif match := VERSION.fullmatch(line.text):
            yield from drafts.finish()
            version, facts = match["version"], {}
        elif match := START_DATE.fullmatch(line.text):
            facts["started"] = match["started"]
        elif result and (VARIABLE.match(line.text) or begins_a_row(line.text)):
            _add_row(drafts, result, _split_row(line, Place(text.file, line.number)), line.number)
        elif not line.text.lstrip().startswith("#"):
            drafts.keep_unrecognised(line)
    _refuse_open(text, result)
    yield from drafts.finish(has_end=result is None)


def _refuse_open(text: Text, result: Result | None) -> None:
    if result:
        text.refuse_without_end(result.line, "result", f'# end result "{result.name}"', "the run")


def _split_row(line: Line, place: Place) -> Fields:
    """Return the loop variables of a row, its size, its values and the times of processes."""
    rest = line.text
    variables = {}
    while match := VARIABLE.match(rest):
        variables[match["name"]] = match["value"]
        rest = rest[match.end() :]
    fields = rest.split()
    if len(fields) <= len(COLUMNS):
        raise place.make_error(
            f"{len(fields)} columns after the loop variables, expected {len(COLUMNS) + 1} or more "
            f"(size, {', '.join(COLUMNS)}, then times of processes); is it cut?"
        )
    numbers = [place.parse_number(field, name) for field, name in zip(fields[1:], COLUMNS, strict=False)]
    times = fields[len(COLUMNS) + 1 :]
    numbers += [NONE if field == NO_TIME else place.parse_number(field, "time of a process") for field in times]
    _check_processes(place, variables, len(times))
    return Fields(variables, place.parse_size(fields[0], "size"), tuple(numbers), fields[1:])


def _check_processes(place: Place, variables: dict[str, str], times: int) -> None:
    for name in sorted(PROCESSES & variables.keys()):
        if times > place.parse_size(variables[name], name):
            raise place.make_error(
                f"times of {times} processes where {name}= {variables[name]}, expected no more than that"
            )


def _add_row(drafts: Drafts, result: Result, fields: Fields, line: int) -> None:
    """Add a row to the table of its processes and loop variables, without the variable that is the size in elements."""
    options = {
        name: value
        for name, value in sorted(fields.variables.items())
        if name not in PROCESSES and not (name == "count" and fields.size_bytes)
    }
    times = len(fields.numbers) - len(COLUMNS)
    counts = [int(fields.variables[name]) for name in sorted(PROCESSES & fields.variables.keys())]
    ranks = counts[0] if counts else times if times < QUANTILES else 0
    operation = _find_operation(result.name)
    make = partial(_make_table, operation, result, ranks, options, times)
    key = (operation.name, ranks, times, *options.items())
    drafts.add(key, make, Row(line, fields.size_bytes, fields.numbers), fields.printed)


def _find_operation(name: str) -> Operation:
    """Return the measurement of a result."""
    measured = SERIES.sub("", name)
    return KNOWN.get(name) or KNOWN.get(measured) or make_unknown(NAME, measured, NOT_KNOWN)


def _make_table(operation: Operation, result: Result, ranks: int, options: dict[str, str], times: int) -> Table:
    return Table(
        operation=operation,
        datatype="",
        ranks=ranks,
        options=options,
        columns=(*COLUMNS, *(f"process {number}" for number in range(times))),
        roles=ROLES,
        scale=MICROSECOND_NS,
        rows=[],
        line=result.line,
        version=result.version,
        facts=result.facts,
    )


# --- running ----------------------------------------------------------------------------------------------------------

SCRIPT = "measure.ski"
"""SKaMPI's program, in the folder of a launch, which all nodes see."""
INT_BYTES = 4
LEAST_REPETITIONS = 8
SPARE_BYTES = 1 << 20
BLOCKS = "({0}, datatype, {0}, datatype)"
ROOTED_BLOCKS = "({0}, datatype, {0}, datatype, 0)"
REDUCED = "({0}, datatype, MPI_SUM, 0)"
REDUCED_BY_ALL = "({0}, datatype, MPI_SUM)"
PAIR = "({0}, datatype, 0, 1)"
PAIR_RANKS = 2
ARGUMENTS = {
    **dict.fromkeys(("MPI_Bcast", "Bcast_using_Send_Recv"), "({0}, datatype, 0)"),
    **dict.fromkeys(("MPI_Barrier", "MPI_Comm_split", "MPI_Comm_dup"), "()"),
    **dict.fromkeys(
        ("MPI_Reduce", "Allreduce_using_Reduce_Bcast", "MPI_Reduce_scatter", "Reduce_Scatterv"),
        REDUCED,
    ),
    **dict.fromkeys(("MPI_Allreduce", "MPI_Scan"), REDUCED_BY_ALL),
    **dict.fromkeys(
        (
            *("MPI_Alltoall", "Alltoall_using_Isend_Irecv", "MPI_Alltoallv", "Alltoallv_using_Isend_Irecv"),
            *("MPI_Allgather", "MPI_Allgatherv"),
        ),
        BLOCKS,
    ),
    **dict.fromkeys(
        (
            *("MPI_Gather", "Gather_using_Send_Recv", "Gather_using_Isend_Irecv_Waitall"),
            *("MPI_Gatherv", "MPI_Scatter", "MPI_Scatterv"),
        ),
        ROOTED_BLOCKS,
    ),
    **{name: PAIR for name in KNOWN if name.startswith("Pingpong_") and KNOWN[name].ranks_exactly == PAIR_RANKS},
    "Pingpong_Sendrecv": "({0}, datatype, 0, {0}, datatype, 0, 1)",
    "Pingpong_Sendrecv_replace": "({0}, datatype, 0, 0, 1)",
}
"""Arguments of measurements in SKaMPI's language for a count of MPI_INT, as in the programs that come with it."""
SPELLINGS = {"Pingpong_Send_Recv_AnyTag": "Pingpong_Send_Recv_AT"}
"""Functions of SKaMPI with another name than their result."""
RUNNABLE = [operation for name, operation in KNOWN.items() if name in ARGUMENTS]
"""Benchmarks that a plan can run."""


def program(_operation: Operation) -> str:
    """Return the name of the program, which has all measurements."""
    return "skampi"


def apply_plan(operation: Operation, plan: Plan, _user_arguments: Sequence[str]) -> Operation:
    """Return a measurement with the number of repetitions of a plan."""
    most = str(_count_repetitions(plan))
    return set_repetitions(operation, {REPETITIONS: f"{LEAST_REPETITIONS} to {{}} in programs of rankbench"}, most)


def _count_repetitions(plan: Plan) -> int:
    return max(LEAST_REPETITIONS, plan.sampling.good)


def arguments(request: RunRequest) -> list[str]:
    """Return the arguments of SKaMPI: the program that measures each size, which is written into the folder."""
    path = request.folder / SCRIPT
    write(path, _write_script(request))
    return ["-i", str(path)]


def _write_script(request: RunRequest) -> str:
    assert request.operation.foreign
    name = request.operation.foreign.benchmark
    function = SPELLINGS.get(name, name.removeprefix("MPI_"))
    counts = [size // INT_BYTES for size in request.sizes if size and size % INT_BYTES == 0] or [1]
    buffer_bytes = 2 * request.ranks * INT_BYTES * max(counts) + SPARE_BYTES
    lines = [
        f"set_min_repetitions({LEAST_REPETITIONS})",
        f"set_max_repetitions({_count_repetitions(request.plan)})",
        "set_max_relative_standard_error(0.03)",
        f"set_skampi_buffer({buffer_bytes})",
        "datatype = MPI_INT",
        "comm_all = comm(get_np())",
    ]
    for count in counts if request.operation.sized else [0]:
        lines += [
            f'begin measurement "{name}"',
            f"   measure comm_all : {function}{ARGUMENTS[name].format(count)}",
            "end measurement",
        ]
    return "\n".join([*lines, ""])
