"""Reads ReproMPI: a row for each call, a summary of each size, or start and end of each process.

The meaning of a value depends on settings and headings: the statistic over calls of a size, each process's own clock or
a common one, how processes start together, and the call. Each combination has its own name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Literal, NamedTuple

from msgspec.structs import replace

from rankbench.foreign import Line, Role, Row, Table, Text, make_benchmark, make_pair_benchmark
from rankbench.foreign.fields import NONE, NUMBER, Drafts, Place, begins_a_row, make_slug, make_unknown
from rankbench.model import Meaning, Operation

NAME = "reprompi"
TITLE = "ReproMPI"
SETTING = re.compile(r"#@(?P<name>\w+)=(?P<value>.*?)\s*")
COMMAND = re.compile(r"#Command-[Ll]ine [Aa]rguments:\s*(?P<command>.*?)\s*")
CALL = re.compile(r"#\t(?P<call>[A-Za-z]\w*)\s*")
HEADING = re.compile(r"\s*(?:process\s+)?test(?:\s+nrep)?\s+(?:count|msize_bytes)(?:\s+\w+)+\s*")
START_DATE = re.compile(r"# Benchmark started at (?P<started>.*?)\s*")
CALLS = "#MPI calls:"
END = "# Execution time:"
SECOND_NS = 1e9
LEADING = {"process", "test", "count", "msize_bytes"}
"""Columns that identify a row."""
COMMON_CLOCK = {"gl_tstart_sec", "gl_tend_sec"}
ROLES: dict[str, Role] = {
    "mean_sec": "mean",
    "median_sec": "median",
    "min_sec": "minimum",
    "max_sec": "maximum",
    "stddev_sec": "deviation",
    "valid_nrep": "repetitions",
}
DATATYPES = {"MPI_BYTE": "byte", "MPI_INT": "int", "MPI_FLOAT": "float", "MPI_DOUBLE": "double"}

Statistic = Literal["", "median", "mean", "min"]
STATISTICS: dict[Statistic, tuple[Literal["single", "median", "mean", "minimum"], str]] = {
    "": ("single", "Each value is of one call."),
    "median": ("median", "Median over the valid calls of a size."),
    "mean": ("mean", "Mean over the valid calls of a size."),
    "min": ("minimum", "Minimum over the valid calls of a size."),
}
RUNTIMES: dict[str, tuple[Literal["maximum", "span", "one"], str]] = {
    "local": ("maximum", "The time of a call is the longest of the processes' times, each by its own clock."),
    "global": (
        "span",
        "The time of a call is from the first process's start to the last one's end, on synchronised clocks.",
    ),
    "process": ("one", "The time is the end minus the start of the process in the option process."),
}
StartName = Literal["none", "barrier", "library-barrier", "window", "roundtime", "not reported"]
STARTS: dict[str, tuple[StartName, str]] = {
    "MPI_Barrier": ("library-barrier", "MPI_Barrier comes before each call."),
    "Double_MPI_Barrier": ("library-barrier", "MPI_Barrier comes twice before each call."),
    "dissem_barrier": ("barrier", "ReproMPI's own dissemination barrier comes before each call."),
    "window": (
        "window",
        "Calls start at agreed times on synchronised clocks, one window apart; late calls and those longer than their "
        "window are not valid.",
    ),
    "roundtime": (
        "roundtime",
        "After each call the start of the next one is agreed on, on synchronised clocks, until a given time is over; "
        "late calls are not valid.",
    ),
    "None": ("none", "Calls are back to back."),
}
NOTES_FOR_ALL = "There is no warm-up. A size is the count of elements times their extent. The data are not checked."
DEFAULTS = "local", "MPI_Barrier"
"""Settings that a benchmark's name does not have."""


COLLECTIVES = [
    "Allgather",
    "Allreduce",
    "Alltoall",
    "Barrier",
    "Bcast",
    "Exscan",
    "Gather",
    "Reduce",
    "Reduce_scatter",
    "Reduce_scatter_block",
    "Scan",
    "Scatter",
]
BLOCKS = {
    f"MPI_{name}" for name in ("Allgather", "Alltoall", "Gather", "Reduce_scatter", "Reduce_scatter_block", "Scatter")
}
REDUCTIONS = {
    f"MPI_{name}" for name in ("Allreduce", "Exscan", "Reduce", "Reduce_scatter", "Reduce_scatter_block", "Scan")
}
UNSIZED = {"MPI_Barrier", "BBarrier", "Empty"}
GUIDELINES = [
    "GL_Allgather_as_Allreduce",
    "GL_Allgather_as_Alltoall",
    "GL_Allgather_as_GatherBcast",
    "GL_Allreduce_as_ReduceBcast",
    "GL_Allreduce_as_ReducescatterAllgatherv",
    "GL_Allreduce_as_ReducescatterblockAllgather",
    "GL_Bcast_as_ScatterAllgather",
    "GL_Gather_as_Allgather",
    "GL_Gather_as_Reduce",
    "GL_Reduce_as_Allreduce",
    "GL_Reduce_as_ReducescatterGatherv",
    "GL_Reduce_as_ReducescatterblockGather",
    "GL_Reduce_scatter_as_Allreduce",
    "GL_Reduce_scatter_as_ReduceScatterv",
    "GL_Reduce_scatter_block_as_ReduceScatter",
    "GL_Scan_as_ExscanReducelocal",
    "GL_Scatter_as_Bcast",
]
"""Collectives that are implemented with other ones."""
BLOCK = "The count is of one process's block."
AT_ONCE = "Two processes send to each other at the same time, and each waits for both messages."
EXCHANGES = {
    "Sendrecv": ("an exchange by MPI_Sendrecv", "sendrecv"),
    "Isend_Recv": ("an exchange by MPI_Isend and MPI_Recv", ""),
    "Isend_Irecv": ("an exchange by MPI_Isend and MPI_Irecv", ""),
    "Send_Irecv": ("an exchange by MPI_Irecv and MPI_Send", ""),
}
ROUND_TRIP = "Send_Recv"
NOTES = {
    **dict.fromkeys(BLOCKS, BLOCK),
    **dict.fromkeys(EXCHANGES, AT_ONCE),
    ROUND_TRIP: "The time is that of a whole round trip between two processes.",
}


def _make_meaning(call: str, statistic: Statistic, runtime: str, start_name: str) -> Meaning:
    over_calls, note = STATISTICS[statistic]
    over_ranks, clocks = RUNTIMES[runtime]
    unknown: tuple[StartName, str] = "not reported", f"The start of processes is called {start_name!r}."
    start, begins = STARTS.get(start_name, unknown)
    return Meaning(
        over_calls=over_calls,
        over_ranks=over_ranks,
        start=start,
        trip="round" if call == ROUND_TRIP else "call",
        text=" ".join(filter(None, (note, clocks, begins, NOTES.get(call, ""), NOTES_FOR_ALL))),
    )


def _make_collective(name: str, counterpart: str = "") -> Operation:
    meaning = _make_meaning(name, "", *DEFAULTS)
    plain = make_slug(name.removeprefix("MPI_"))
    return make_benchmark(NAME, plain, name, name, meaning, counterpart=counterpart, sized=name not in UNSIZED)


def _make_pair(name: str, help_: str, counterpart: str) -> Operation:
    meaning = _make_meaning(name, "", *DEFAULTS)
    return make_pair_benchmark(NAME, make_slug(name), name, help_, meaning, counterpart=counterpart)


SINGLE_CALLS = {
    **{f"MPI_{name}": _make_collective(f"MPI_{name}", name.lower()) for name in COLLECTIVES},
    **{name: _make_collective(name) for name in (*GUIDELINES, "BBarrier", "Empty")},
    ROUND_TRIP: _make_pair(ROUND_TRIP, "a round trip by MPI_Send and MPI_Recv", "pingpong"),
    **{name: _make_pair(name, *texts) for name, texts in EXCHANGES.items()},
}
PAIRS = {ROUND_TRIP, *EXCHANGES}


def _make_variant(operation: Operation, statistic: Statistic, runtime: str, start_name: str) -> Operation:
    """Return a variant of a benchmark with another statistic, clock or start."""
    assert operation.foreign
    meaning = _make_meaning(operation.foreign.benchmark, statistic, runtime, start_name)
    marks = [
        statistic,
        runtime if runtime != DEFAULTS[0] else "",
        make_slug(start_name) if start_name != DEFAULTS[1] else "",
    ]
    name = "-".join([operation.name, *filter(None, marks)])
    return replace(
        operation, name=name, start=meaning.start.replace(" ", "-"), foreign=replace(operation.foreign, meaning=meaning)
    )


OPERATIONS = [
    operation
    for first in SINGLE_CALLS.values()
    for operation in (first, *(_make_variant(first, name, *DEFAULTS) for name in STATISTICS if name))
]


class Run:
    """A run: the lines before its rows, and its calls that are not valid."""

    def __init__(self, line: int) -> None:
        self.line = line
        self.facts: dict[str, str] = {}
        self.settings: dict[str, str] = {}
        self.calls: set[str] = set()
        self.columns: tuple[str, ...] = ()
        self.invalid: list[Fields] = []
        self.valid: set[tuple[str, str, int]] = set()

    @property
    def value_columns(self) -> tuple[str, ...]:
        """The headings of the values; for processes with the time from start to end added."""
        headings = tuple(name for name in self.columns if name not in LEADING)
        return (*headings, "runtime_sec") if "process" in self.columns else headings


class Fields(NamedTuple):
    """The fields of a row."""

    call: str
    process: str
    row: Row
    printed: list[str]
    """The fields of its numbers; that of a time between two moments is the end."""
    place: Place

    @property
    def key(self) -> tuple[str, str]:
        """The key of its table."""
        return self.call, self.process


def recognises(head: Sequence[Line]) -> bool:
    """Return whether lines are from ReproMPI."""
    return any(line.text.startswith(("#@reproMPI", "#@procsync=")) or COMMAND.fullmatch(line.text) for line in head)


def read(text: Text) -> Iterator[Table]:
    """Yield a table for each call of a run, and for each process if they are listed separately."""
    run: Run | None = None
    drafts = Drafts()
    for line in text.lines:
        if line.text.startswith("#"):
            if _begins(run, line.text):
                yield from _end_open(text, run, drafts)
                run = Run(line.number)
            _read_setting(run, line.text)
            if line.text.startswith(END) and run:
                yield from _finish(drafts, run)
                run = None
        elif run and "test" in line.text and HEADING.fullmatch(line.text):
            run.columns = tuple(line.text.split())
            _check_columns(run, Place(text.file, line.number))
        elif run and run.columns and _is_row(run, line.text):
            _add_row(drafts, run, _split_row(run, line, Place(text.file, line.number)))
        else:
            drafts.keep_unrecognised(line)
    yield from _end_open(text, run, drafts)


def _begins(run: Run | None, text: str) -> bool:
    """Return whether a line begins a run: its command line, or calls or settings in a file without command lines."""
    is_setting = text.startswith((CALLS, "#@"))
    return COMMAND.fullmatch(text) is not None or (is_setting and (run is None or bool(run.columns)))


def _end_open(text: Text, run: Run | None, drafts: Drafts) -> Iterator[Table]:
    """Yield the tables of a run without its end, or refuse it."""
    if not run or not run.columns:
        return
    text.refuse_without_end(run.line, "run", f"{END} 0s")
    yield from _finish(drafts, run, has_end=False)


def _read_setting(run: Run | None, text: str) -> None:
    """Read a setting, a measured call, the command line or the date."""
    if run is None:
        return
    if setting := SETTING.fullmatch(text):
        run.settings[setting["name"]] = run.facts[setting["name"]] = setting["value"]
    elif call := CALL.fullmatch(text):
        run.calls.add(call["call"])
    elif command := COMMAND.fullmatch(text):
        run.facts["command"] = command["command"]
    elif started := START_DATE.fullmatch(text):
        run.facts["started"] = started["started"]


def _check_columns(run: Run, place: Place) -> None:
    """Refuse headings without a time."""
    if "process" in run.columns:
        needed = {"loc_tstart_sec", "loc_tend_sec"}
    else:
        needed = {"runtime_sec"} & set(run.columns) or {_find_statistic(run.columns) + "_sec"}
    if not needed <= set(run.columns) or len(set(run.columns)) < len(run.columns):
        raise place.make_error(
            f"columns {' '.join(run.columns)}, expected runtime_sec, or one of median_sec, mean_sec and min_sec, or "
            "with a column process loc_tstart_sec and loc_tend_sec, and none twice"
        )


def _find_statistic(columns: Sequence[str]) -> Statistic:
    """Return the statistic that is the value of a size: the median if there is one."""
    return next((name for name in STATISTICS if name and f"{name}_sec" in columns), "")


def _is_row(run: Run, text: str) -> bool:
    """Return whether a line is a row: it names a call, or all fields except a name are numbers."""
    fields = text.split()
    at = run.columns.index("test")
    name, others = fields[at : at + 1], [*fields[:at], *fields[at + 1 :]]
    return (
        any(word in run.calls or word in SINGLE_CALLS for word in name)
        or begins_a_row(text)
        or (len(fields) == len(run.columns) and all(NUMBER.fullmatch(other) for other in others))
    )


def _split_row(run: Run, line: Line, place: Place) -> Fields:
    by_heading = dict(zip(run.columns, place.split(line.text, run.columns), strict=True))
    call = by_heading["test"]
    if not re.fullmatch(r"[A-Za-z]\w*", call, re.ASCII):
        raise place.make_error(f"test is {call!r}, expected the name of a call")
    numbers = {
        name: place.parse_number(by_heading[name], name, negative=name in COMMON_CLOCK)
        for name in run.columns
        if name not in LEADING
    }
    process = str(place.parse_size(by_heading["process"], "process")) if "process" in by_heading else ""
    if process:
        numbers["runtime_sec"] = round(numbers["loc_tend_sec"] - numbers["loc_tstart_sec"], 10)
        if numbers["runtime_sec"] < 0:
            raise place.make_error(
                "loc_tend_sec is before loc_tstart_sec, expected the end of the call after its start"
            )
    if numbers.get("valid_nrep") == 0:
        numbers = {name: NONE if name.endswith("_sec") else number for name, number in numbers.items()}
    row = Row(line.number, _parse_size(run, call, by_heading, place), tuple(numbers.values()))
    fields = by_heading | ({"runtime_sec": by_heading["loc_tend_sec"]} if process else {})
    return Fields(call, process, row, [fields[name] for name in numbers], place)


def _parse_size(run: Run, call: str, by_heading: dict[str, str], place: Place) -> int:
    """Return the message size in bytes; counts are of elements, whose extent is in the settings."""
    if "msize_bytes" in by_heading:
        size = place.parse_size(by_heading["msize_bytes"], "msize_bytes")
    else:
        extent = place.parse_size(
            run.settings.get("datatype_extent_bytes", ""), "the setting #@datatype_extent_bytes above"
        )
        size = place.parse_size(str(place.parse_size(by_heading["count"], "count") * extent), "count in bytes")
    return 0 if call in UNSIZED else size


def _add_row(drafts: Drafts, run: Run, fields: Fields) -> None:
    """Add a row, unless its call is not valid."""
    if "errorcode" in run.columns and fields.row.numbers[run.value_columns.index("errorcode")] != 0:
        run.invalid.append(fields._replace(row=fields.row._replace(numbers=(NONE,) * len(run.value_columns))))
        return
    run.valid.add((*fields.key, fields.row.size_bytes))
    drafts.add(fields.key, partial(_make_table, run, fields), fields.row, fields.printed)


def _finish(drafts: Drafts, run: Run, *, has_end: bool = True) -> Iterator[Table]:
    """Yield the tables of a run; a size without a valid call has a row without values."""
    for fields in run.invalid:
        if (*fields.key, fields.row.size_bytes) not in run.valid:
            run.valid.add((*fields.key, fields.row.size_bytes))
            drafts.add(fields.key, partial(_make_table, run, fields), fields.row)
    if run.invalid:
        run.facts["left out"] = f"{len(run.invalid)} calls that started late or exceeded their window"
    yield from drafts.finish(has_end=has_end)


def _make_table(run: Run, fields: Fields) -> Table:
    statistic = _find_statistic(run.columns)
    time = f"{statistic}_sec" if statistic else "runtime_sec"
    roles: dict[Role, int] = {ROLES[name]: index for index, name in enumerate(run.value_columns) if name in ROLES}
    processes = run.settings.get("nprocs", "0")
    version = run.settings.get("reproMPIcommitSHA1", "")
    datatype = run.settings.get("datatype", "")
    return Table(
        operation=_find_operation(run, fields, statistic),
        datatype=DATATYPES.get(datatype, datatype.removeprefix("MPI_").lower()),
        ranks=2 if fields.call in PAIRS else fields.place.parse_size(processes, "the setting #@nprocs above"),
        options=_collect_options(run, fields),
        columns=run.value_columns,
        roles={"value": run.value_columns.index(time), **roles},
        scale=SECOND_NS,
        rows=[],
        rounding=1.0 if fields.process else 0.5,  # A process has the difference of two rounded moments.
        repeated=not statistic,
        line=run.line,
        version="" if version == "unknown" else version,
        facts=run.facts,
    )


def _find_operation(run: Run, fields: Fields, statistic: Statistic) -> Operation:
    first = SINGLE_CALLS.get(fields.call) or make_unknown(NAME, fields.call, _make_meaning(fields.call, "", *DEFAULTS))
    runtime = "process" if fields.process else run.settings.get("runtime_type", DEFAULTS[0])
    if runtime not in RUNTIMES:
        raise fields.place.make_error(f"the setting #@runtime_type above is {runtime!r}, expected local or global")
    return _make_variant(first, statistic, runtime, run.settings.get("procsync", DEFAULTS[1]))


def _collect_options(run: Run, fields: Fields) -> dict[str, str]:
    reduction = run.settings.get("operation", "").removeprefix("MPI_").lower()
    root = run.settings.get("root_proc", "0")
    return {
        **({"process": fields.process} if fields.process else {}),
        **({"reduction": reduction} if reduction and fields.call in REDUCTIONS else {}),
        **({"root": root} if root != "0" else {}),
    }
