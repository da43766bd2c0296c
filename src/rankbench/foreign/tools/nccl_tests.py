"""Reads NCCL tests: each row has the values of a call out of place, then those of the same call in place.

They time collectives of NCCL between GPUs, not calls of MPI: the core has no counterparts. MPI only starts the
processes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Literal, NamedTuple

from msgspec.structs import replace

from rankbench.foreign import Line, Problem, Role, Row, Table, Text, make_benchmark
from rankbench.foreign.fields import NONE, Drafts, Place, begins_a_row, make_unknown, make_variant
from rankbench.model import Meaning, Operation

NAME = "nccl_tests"
TITLE = "NCCL tests"
VERSION = re.compile(r"# nccl-tests version (?P<version>\S+)(?: nccl-headers=\d+ nccl-library=(?P<library>\d+))?\s*")
PROGRAM = re.compile(r"# Collective test starting: (?P<program>\S+)\s*")
SETTINGS = re.compile(r"# nThreads? \d+ nGpus \d+ .*")
SETTING = re.compile(
    r"(?P<name>nThreads?|nGpus|minBytes|maxBytes|step|warmup iters|agg iters|iters|validation|graph|unalign):? "
    r"(?P<value>\d+)"
)
RANK = re.compile(
    r"#\s+Rank\s+\d+(?: Group\s+(?P<group>\d+))?\s+Pid\s+\d+ on\s+(?P<host>\S+)\s+device\s+\d+ "
    r"(?:\[\S*\] )?(?P<device>.*?)\s*"
)
HEADING = re.compile(r"#\s+size\s+count\s+type\b.*\b(?:cpu)?time\s+algbw\s+busbw\b.*")
FOOT = re.compile(r"# (?P<name>Out of bounds values|Avg bus bandwidth)\s*: (?P<value>.*?)\s*")
END = "# Avg bus bandwidth"
DEBUG = re.compile(r"[A-Za-z][\w.-]*:\d+:\d+ \[\d+\] NCCL ")
"""The beginning of a debug line of NCCL."""
PROGRAM_IN_NAME = re.compile(
    r"all_?reduce|all_?gather|reduce_?scatter|broadcast|all_?to_?allv?|send_?recv|hypercube|scatter|gather|reduce"
)
LEADING = ("size", "count", "type", "redop", "root")
TYPE_BYTES = {
    "int8": 1,
    "uint8": 1,
    "char": 1,
    "f8e4m3": 1,
    "f8e5m2": 1,
    "fp8_e4m3": 1,
    "fp8_e5m2": 1,
    "half": 2,
    "float16": 2,
    "bfloat16": 2,
    "int32": 4,
    "uint32": 4,
    "int": 4,
    "float": 4,
    "int64": 8,
    "uint64": 8,
    "double": 8,
}
DATATYPES = {"int32": "int", "int8": "byte", "uint8": "byte", "char": "byte"}
ROLES: dict[str, Role] = {"time": "value", "cputime": "value", "i_min": "minimum", "i_max": "maximum", "i_p99": "p99"}
WRONG = "#wrong"
NOT_CHECKED = "N/A"
MICROSECOND_NS = 1e3
DEFAULT_ROOTS = {"-1", "0"}
NO_REDUCTION = {"", "none"}

TIME_TEXT = (
    "Microseconds per call: all timed iterations (20 by default) are put into the GPU's stream one after the other, "
    "and the time until the stream is empty, by the CPU's clock, is divided by their number. The mean over processes "
    "is printed, or another one by -a, which the output does not show."
)
BANDWIDTH_TEXT = (
    "algbw and busbw are 10^9 bytes per second: size over time, and that times a factor that depends on the collective "
    "and the number of ranks. Untimed iterations come first, see the settings. The column size is the larger buffer of "
    "a rank; a row's size follows from the call's count, which is one rank's block of an allgather, a reduce_scatter "
    "or an alltoall. Ranks are GPUs, and the call is one of NCCL."
)
CHECKED = Meaning(
    over_calls="mean",
    over_ranks="mean",
    start="none",
    data="checked",
    text=f"{TIME_TEXT} {BANDWIDTH_TEXT} The data are checked.",
)
CPU_TIME = (
    "Microseconds per call until the CPU has put it into the GPU's stream (option -C), not until it is done. The mean "
    "over processes is printed, or another one by -a."
)
NOT_KNOWN = replace(CHECKED, text=f"A test unknown to rankbench. {CHECKED.text}")


def _make_operation(program: str, call: str, kind: Literal["collective", "point-to-point"] = "collective") -> Operation:
    return make_benchmark(NAME, program.removesuffix("_perf"), program, f"{call} between GPUs", CHECKED, kind=kind)


OPERATIONS = [
    _make_operation("all_reduce_perf", "ncclAllReduce"),
    _make_operation("all_gather_perf", "ncclAllGather"),
    _make_operation("reduce_scatter_perf", "ncclReduceScatter"),
    _make_operation("broadcast_perf", "ncclBroadcast"),
    _make_operation("reduce_perf", "ncclReduce"),
    _make_operation("alltoall_perf", "ncclSend and ncclRecv, or ncclAlltoAll, of every rank to every rank"),
    _make_operation("alltoallv_perf", "ncclSend and ncclRecv of unequal blocks of every rank to every rank"),
    _make_operation("gather_perf", "ncclSend of all ranks to one"),
    _make_operation("scatter_perf", "ncclSend of one rank to all"),
    _make_operation("sendrecv_perf", "ncclSend to the next rank and ncclRecv from the one before", "point-to-point"),
    _make_operation("hypercube_perf", "an allgather of ncclSend and ncclRecv along a hypercube"),
]
PROGRAMS = {operation.foreign.benchmark: operation for operation in OPERATIONS if operation.foreign}


class Run:
    """The lines of a run before its rows."""

    def __init__(self, line: int) -> None:
        self.line = line
        self.version = ""
        self.program = ""
        self.facts: dict[str, str] = {}
        self.settings: dict[str, str] = {}
        self.groups: list[str] = []
        self.hosts: dict[str, str] = {}
        self.devices: dict[str, str] = {}
        """Each once, in the order of the output."""
        self.columns: tuple[str, ...] = ()
        self.half: Line | None = None
        """The beginning of a row that a line of NCCL interrupts."""

    @property
    def leading(self) -> int:
        """The number of columns that identify a row."""
        return sum(name in LEADING for name in self.columns)

    @property
    def value_columns(self) -> tuple[str, ...]:
        """The headings of the values of one call."""
        return self.columns[self.leading : self.leading + (len(self.columns) - self.leading) // 2]


class Fields(NamedTuple):
    """The fields that identify a row."""

    datatype: str
    reduction: str
    root: str
    in_place: bool


def recognises(head: Sequence[Line]) -> bool:
    """Return whether lines are from an NCCL test."""
    return any(SETTINGS.fullmatch(line.text) or HEADING.fullmatch(line.text) for line in head)


def read(text: Text) -> Iterator[Table]:
    """Yield a table of calls out of place and one of those in place, for each datatype, reduction and root of a run."""
    run: Run | None = None
    drafts = Drafts()
    for line in text.lines:
        place = Place(text.file, line.number)
        if VERSION.fullmatch(line.text) or (SETTINGS.fullmatch(line.text) and (run is None or run.settings)):
            yield from _end_open(text, run, drafts)
            run = Run(line.number)
        elif run is None and (PROGRAM.fullmatch(line.text) or HEADING.fullmatch(line.text)):
            run = Run(line.number)
        if line.text.startswith("#"):
            _read_heading(run, line.text, place)
            if line.text.startswith(END):
                yield from drafts.finish()
                run = None
        elif run and run.columns and begins_a_row(line.text):
            if row := _join_row(run, line, text):
                _add_row(drafts, run, row, place)
        else:
            drafts.keep_unrecognised(line)
    yield from _end_open(text, run, drafts)


def _end_open(text: Text, run: Run | None, drafts: Drafts) -> Iterator[Table]:
    """Yield the tables of a test without its end, or refuse it."""
    if not run or not run.columns:
        return
    text.refuse_without_end(run.line, "test", f"{END} : 0")
    yield from drafts.finish(has_end=False)


def _read_heading(run: Run | None, text: str, place: Place) -> None:
    """Read a line that begins with #."""
    if run is None:
        return
    if version := VERSION.fullmatch(text):
        run.version = version["version"]
        run.facts |= {"nccl": version["library"]} if version["library"] else {}
    elif program := PROGRAM.fullmatch(text):
        run.program = program["program"]
    elif SETTINGS.fullmatch(text):
        run.settings = {match["name"]: match["value"] for match in SETTING.finditer(text)}
        run.facts |= run.settings
    elif rank := RANK.fullmatch(text):
        run.groups.append(rank["group"] or "0")
        run.hosts[rank["host"]] = run.devices[rank["device"]] = ""
        run.facts |= {"hosts": ", ".join(run.hosts), "devices": ", ".join(run.devices)}
    elif HEADING.fullmatch(text):
        run.columns = _read_columns(text, place)
    elif foot := FOOT.fullmatch(text):
        run.facts[foot["name"].lower()] = foot["value"]


def _read_columns(text: str, place: Place) -> tuple[str, ...]:
    """Return the headings. Raises RankbenchError for unknown ones."""
    columns = tuple(text.removeprefix("#").split())
    plain = tuple(name for name in columns if name != "timestamp")
    value_columns = [name for name in plain if name not in LEADING]
    half = len(value_columns) // 2
    if (
        len(value_columns) % 2
        or value_columns[:half] != value_columns[half:]
        or plain[: len(plain) - len(value_columns)] != tuple(name for name in LEADING if name in plain)
    ):
        raise place.make_error(
            f"columns {' '.join(columns)}, expected size, count and type, then the same values twice"
        )
    return columns


def _join_row(run: Run, line: Line, text: Text) -> Line | None:
    """Return a row; NCCL's debug lines can come between its two halves. None: the other half is still to come."""
    broken = DEBUG.search(line.text)
    half, run.half = run.half, None
    if broken and broken.start():
        run.half = Line(line.number, line.text[: broken.start()])
        return None
    joined = f"{half.text} {line.text}" if half else line.text
    if half and len(joined.split()) == len(run.columns) + ("timestamp" in run.columns):
        return Line(half.number, joined)
    if half and text.problems is not None:
        text.problems.append(Problem(half.number, "a line of NCCL interrupts it, and its rest is not found"))
    return line


def _add_row(drafts: Drafts, run: Run, line: Line, place: Place) -> None:
    stamped = "timestamp" in run.columns
    columns = tuple(name for name in run.columns if name != "timestamp")
    text = line.text
    words = text.split()
    if "redop" in columns and len(words) == len(columns) + stamped - 1 and begins_a_row(words[3]):
        # Before version 2.11 the column is blank in rows of tests that do not reduce.
        text = re.sub(r"^(\s*\S+\s+\S+\s+\S+)", r"\1 none", text)
    fields = place.split(text, (*columns, "date", "time of day") if stamped else columns)
    fields_by_heading = dict(zip(columns[: run.leading], fields, strict=False))
    size, count = (place.parse_size(fields_by_heading[name], name) for name in ("size", "count"))
    each = TYPE_BYTES.get(fields_by_heading["type"])
    bytes_ = place.parse_size(str(count * each), "count in bytes") if each else size
    for half, in_place in enumerate((False, True)):
        begin = run.leading + half * len(run.value_columns)
        fields_by_name = dict(zip(run.value_columns, fields[begin : begin + len(run.value_columns)], strict=True))
        numbers = tuple(_parse_number(place, field, name) for name, field in fields_by_name.items())
        of = Fields(
            fields_by_heading["type"], fields_by_heading.get("redop", ""), fields_by_heading.get("root", "-1"), in_place
        )
        row = Row(line.number, bytes_, (float(size), *numbers), _describe_errors(fields_by_name))
        checked = NOT_CHECKED not in fields_by_name.values()
        printed = [fields_by_heading["size"], *fields_by_name.values()]
        drafts.add((*of, checked), partial(_make_table, run, of, place, checked=checked), row, printed)


def _parse_number(place: Place, field: str, name: str) -> float:
    return NONE if field == NOT_CHECKED and name in {WRONG, "error"} else place.parse_number(field, name)


def _describe_errors(fields_by_name: dict[str, str]) -> str:
    """Return the test's message about wrong data; `error` of older versions is the error of reductions."""
    wrong = fields_by_name.get(WRONG, NOT_CHECKED)
    return "" if wrong == NOT_CHECKED or float(wrong) == 0 else f"{wrong} wrong values"


def _make_table(run: Run, of: Fields, place: Place, *, checked: bool) -> Table:
    roles: dict[Role, int] = {ROLES[name]: index for index, name in enumerate(run.value_columns, 1) if name in ROLES}
    return Table(
        operation=_find_operation(run, place, checked=checked),
        datatype=DATATYPES.get(of.datatype, of.datatype),
        ranks=run.groups.count(run.groups[0]) if run.groups else 0,
        options=_collect_options(run, of),
        columns=("size", *run.value_columns),
        roles=roles,
        scale=MICROSECOND_NS,
        rows=[],
        line=run.line,
        version=run.version,
        facts=run.facts,
    )


def _find_operation(run: Run, place: Place, *, checked: bool) -> Operation:
    """Return the benchmark; for older versions, which do not print it, from the file's name."""
    program = run.program or _find_program(place)
    operation = (
        PROGRAMS.get(program) or PROGRAMS.get(program.removesuffix("_mpi")) or make_unknown(NAME, program, NOT_KNOWN)
    )
    if not checked:
        text = f"{TIME_TEXT} {BANDWIDTH_TEXT} The data are not checked."
        operation = make_variant(operation, "unchecked", data="not checked", text=text)
    if "cputime" in run.value_columns:
        operation = make_variant(operation, "cputime", text=f"{CPU_TIME} {BANDWIDTH_TEXT}")
    return operation


def _find_program(place: Place) -> str:
    names = PROGRAM_IN_NAME.findall(Path(place.file).name.lower())
    if len(set(names)) != 1:
        raise place.make_error(
            "neither the output nor the file's name names the collective; name the file after the program, such "
            f"as all_reduce_perf.txt (allowed: {', '.join(PROGRAMS)})"
        )
    plain = names[0].replace("_", "")
    return next(name for name in PROGRAMS if name.removesuffix("_perf").replace("_", "") == plain)


def _collect_options(run: Run, of: Fields) -> dict[str, str]:
    groups = len(set(run.groups))
    graph = run.settings.get("graph", "0")
    together = run.settings.get("agg iters", "1")
    return {
        **({"aggregated": together} if together != "1" else {}),
        **({"buffers": "in-place"} if of.in_place else {}),
        **({"graph": graph} if graph != "0" else {}),
        **({"groups": str(groups)} if groups > 1 else {}),
        **({"reduction": of.reduction} if of.reduction not in NO_REDUCTION else {}),
        **({"root": of.root} if of.root not in DEFAULT_ROOTS else {}),
    }
