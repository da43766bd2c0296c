"""OSU micro-benchmarks 2.x to 7.x: a title, lines that begin with `#`, a line of headings, a row for each message size.

    # OSU MPI Allreduce Latency Test v7.4
    # Datatype: MPI_CHAR.
    # Size       Avg Latency(us)   Min Latency(us)   Max Latency(us)  Iterations
    1                       0.90              0.88              0.92        1000

Titles differ between versions and are matched loosely; numbers must match exactly. The output does not define its
numbers: their meaning is written here, for the default options of a program. Output in OSU's format that rankbench
wrote has a line `# Meaning: {...}` with the definition.
"""

from __future__ import annotations

import functools
import itertools
import math
import re
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Literal, NamedTuple

import msgspec
from msgspec.structs import replace

from rankbench.foreign import Line, LineError, Problem, Role, Row, Table, Text, make_benchmark
from rankbench.foreign.fields import count_decimals, make_table_without_rows
from rankbench.foreign.running import RunRequest, find_option, set_repetitions
from rankbench.model import Meaning

if TYPE_CHECKING:
    from rankbench.model import Form, Operation, Plan

NAME = "osu"
TITLE = "OSU micro-benchmarks"

MEGABYTE = 10**6
NOISE_LINES = 20
MAX_FACTS = 100
CACHE_SIZE = 100
"""Number of cached titles and headings: each comes many times in a file."""
MAX_TITLE = 2000
"""Largest number of characters in a title, headings or a meaning."""
LARGEST = 1 << 62


# --- benchmarks and the meaning of their numbers ----------------------------------------------------------------------

LATENCY_LOOP = "10,000 times after 100 unscored ones, above 8 KiB 1,000 times after 10"
WINDOW_LOOP = "100 windows of 64 messages, all from one buffer, after 10 unscored ones, above 8 KiB 20 windows after 2"
COLLECTIVE_LOOP = "1,000 calls after 100 unscored ones, above 8 KiB 100 calls after 10"
MB = "1 MB is 10^6 bytes"
LIBRARY_TIME = "time in the call, between two readings of MPI_Wtime, with MPI_Barrier after each call outside of that"
REDUCTION_NOTE = "; reduces MPI_FLOAT, since version 7.1 MPI_CHAR unless the output says otherwise"

SEND_SIZE = "the size is what each rank sends"
VECTOR = f"the size is each rank's whole vector{REDUCTION_NOTE}"
BLOCK = "the size is the block from each rank to each"
COLLECTIVES = {
    "allgather": SEND_SIZE,
    "allgatherv": SEND_SIZE,
    "allreduce": VECTOR,
    "alltoall": BLOCK,
    "alltoallv": BLOCK,
    "alltoallw": BLOCK,
    "barrier": "there is no size",
    "bcast": "the size is what the root, rank 0, sends",
    "gather": f"{SEND_SIZE} to the root, rank 0",
    "gatherv": f"{SEND_SIZE} to the root, rank 0",
    "reduce": f"{VECTOR}; the root is rank 0",
    "reduce_scatter": f"the size is each rank's whole vector, of which every rank gets a part{REDUCTION_NOTE}",
    "reduce_scatter_block": f"the size is each rank's whole vector, of which every rank gets a part{REDUCTION_NOTE}",
    "scatter": "the size is the block that each rank gets from the root, rank 0",
    "scatterv": "the size is the block that each rank gets from the root, rank 0",
    "neighbor_allgather": "the size is what each rank sends to every neighbour",
    "neighbor_allgatherv": "the size is what each rank sends to every neighbour",
    "neighbor_alltoall": "the size is the block from each rank to each of its neighbours",
    "neighbor_alltoallv": "the size is the block from each rank to each of its neighbours",
    "neighbor_alltoallw": "the size is the block from each rank to each of its neighbours",
}
"""MPI's collective calls, with the meaning of their size."""
WHOLE_VECTOR = {"reduce_scatter", "reduce_scatter_block"}
"""Calls whose size is the vector of all p ranks; the core's size is one block of it."""
REDUCING = {"allreduce", "reduce", "reduce_scatter", "reduce_scatter_block"}
REDUCING |= {"acc_latency", "get_acc_latency", "cas_latency", "fop_latency"}


def _make_collective(call: str, form: Form, meaning: Meaning) -> Operation:
    spelt = {"blocking": call, "nonblocking": f"i{call}", "persistent": f"{call}_persistent"}[form]
    neighbours = call.startswith("neighbor")
    return make_benchmark(
        NAME,
        spelt,
        f"osu_{spelt}",
        f"MPI_{call.capitalize()}, {form}, by OSU",
        meaning,
        # The output does not show the grid of the neighbours.
        counterpart="" if neighbours or call in WHOLE_VECTOR else call,
        kind="neighbourhood" if neighbours else "collective",
        forms=(form,),
        sized=call != "barrier",
        overlap=form == "nonblocking",
        datatype="float" if call in REDUCING else "byte",
    )


def _make_blocking(call: str) -> Operation:
    start: Literal["none", "library-barrier"] = "none" if call == "barrier" else "library-barrier"
    loop = "time of a call in a loop" if call == "barrier" else LIBRARY_TIME
    text = f"mean over ranks of each rank's mean {loop}; {COLLECTIVE_LOOP}; {COLLECTIVES[call]}"
    return _make_collective(call, "blocking", Meaning(over_calls="mean", over_ranks="mean", start=start, text=text))


def _make_nonblocking(call: str) -> Operation:
    text = (
        "Overall is the mean over ranks of each rank's mean time of the call, a computation as long as the "
        "communication alone, and MPI_Wait, with MPI_Barrier after it; Pure Comm. is the same for call and MPI_Wait "
        f"alone; Overlap is the share of it that the computation hides; {COLLECTIVE_LOOP}; {COLLECTIVES[call]}"
    )
    meaning = Meaning(over_calls="mean", over_ranks="mean", start="library-barrier", text=text)
    return _make_collective(call, "nonblocking", meaning)


def _make_persistent(call: str) -> Operation:
    start: Literal["not reported", "library-barrier"] = "not reported" if call == "barrier" else "library-barrier"
    text = (
        f"mean over ranks of each rank's mean time of MPI_Start and MPI_Wait, without MPI_{call.capitalize()}_init, "
        f"which is called before; {COLLECTIVE_LOOP}; {COLLECTIVES[call]}"
    )
    return _make_collective(call, "persistent", Meaning(over_calls="mean", over_ranks="mean", start=start, text=text))


def _make_half_trip(
    name: str, text: str, *, counterpart: str = "", form: Form = "blocking", pairs: bool = False
) -> Operation:
    meaning = Meaning(
        over_calls="mean",
        over_ranks="mean" if pairs else "one",
        start="none",
        trip="half",
        text=f"half of the mean time of a message and an answer of the same size; {text}; {LATENCY_LOOP}",
    )
    return make_benchmark(
        NAME,
        name,
        f"osu_{name}",
        f"half a round trip, {text}, by OSU",
        meaning,
        counterpart=counterpart,
        metric="latency",
        kind="point-to-point",
        forms=(form,),
        ranks_exactly=0 if pairs else 2,
        in_pairs=pairs,
    )


def _make_windows(
    name: str,
    text: str,
    *,
    counterpart: str = "",
    form: Form = "nonblocking",
    kind: str = "point-to-point",
    counted: float = 1.0,
    many: bool = False,
    metric: Literal["bandwidth", "rate"] = "bandwidth",
) -> Operation:
    meaning = Meaning(
        over_calls="mean",
        over_ranks="mean" if many else "one",
        start="none",
        counted=counted,
        megabyte=MEGABYTE if metric == "bandwidth" else 0,
        text=f"all bytes over the whole time, {text}; {WINDOW_LOOP}; {MB}",
    )
    return make_benchmark(
        NAME,
        name,
        "osu_mbw_mr" if metric == "rate" else f"osu_{name}",
        f"{text}, by OSU",
        meaning,
        counterpart=counterpart,
        metric=metric,
        kind=kind,
        forms=(form,),
        ranks_exactly=0 if many else 2,
        in_pairs=many and not name.startswith("bw_fan"),
        one_buffer=True,
    )


def _make_remote(name: str, counterpart: str, text: str, *, pairs: bool = False, datatype: str = "byte") -> Operation:
    meaning = Meaning(
        over_calls="mean",
        over_ranks="mean" if pairs else "one",
        start="none",
        text=f"mean time of {text} and its completion, see `Synchronization` in the output; {LATENCY_LOOP}",
    )
    return make_benchmark(
        NAME,
        name,
        f"osu_{name}",
        f"{text}, by OSU",
        meaning,
        counterpart=counterpart,
        kind="one-sided",
        ranks_exactly=0 if pairs else 2,
        in_pairs=pairs,
        datatype=datatype,
    )


ANSWERED_WINDOWS = "windows of MPI_Isend until the receiver's short answer"
BOTH_WAYS = "bytes of both directions count"
PUT_HALF = "; with fences or post and start half of the time of a put there and one back"
START_UP = Meaning(
    over_calls="single",
    over_ranks="mean",
    start="none",
    text="mean over ranks of the time of MPI_Init, once in a launch, in whole milliseconds; min and max are over ranks",
)
OPERATIONS: list[Operation] = [
    *(_make_blocking(call) for call in COLLECTIVES),
    *(_make_nonblocking(call) for call in COLLECTIVES),
    *(
        _make_persistent(call)
        for call in COLLECTIVES
        if call != "reduce_scatter_block" and not call.startswith("neighbor")
    ),
    _make_half_trip("latency", "MPI_Send and MPI_Recv", counterpart="pingpong"),
    _make_half_trip("latency_persistent", "MPI_Start and MPI_Wait", counterpart="pingpong", form="persistent"),
    _make_half_trip(
        "latency_mt", "with several receiving threads, since 5.6 also sending threads, at each end in turn"
    ),
    _make_half_trip("latency_mp", "with forked processes of both ranks"),
    _make_half_trip("partitioned_latency", "by partitioned communication", form="persistent"),
    _make_half_trip("multi_lat", "all pairs at once, mean over ranks", counterpart="pingpong-pairs", pairs=True),
    _make_windows("bw", ANSWERED_WINDOWS, counterpart="bandwidth"),
    _make_windows("bw_persistent", "windows of MPI_Start until an answer", counterpart="bandwidth", form="persistent"),
    _make_windows("bibw", f"windows each way; {BOTH_WAYS}", counterpart="bandwidth-bidirectional", counted=2.0),
    _make_windows(
        "bibw_persistent",
        f"windows of MPI_Start each way; {BOTH_WAYS}",
        counterpart="bandwidth-bidirectional",
        form="persistent",
        counted=2.0,
    ),
    _make_windows(
        "mbw_mr", f"{ANSWERED_WINDOWS}, all pairs together, over their mean time", counterpart="message-rate", many=True
    ),
    _make_windows(
        "mbw_mr-rate",
        "messages per second of all pairs: their bandwidth over the size",
        counterpart="message-rate",
        many=True,
        metric="rate",
    ),
    _make_windows("bw_fan_in", "windows from all other nodes to one node, bytes of all together", many=True),
    _make_windows("bw_fan_out", "windows from one node to all others, bytes of all together", many=True),
    _make_remote("put_latency", "put", f"one MPI_Put{PUT_HALF}"),
    _make_remote("get_latency", "get", "one MPI_Get"),
    _make_remote("acc_latency", "accumulate", "one MPI_Accumulate of MPI_SUM", datatype="char"),
    _make_remote("get_acc_latency", "get_accumulate", "one MPI_Get_accumulate of MPI_SUM", datatype="char"),
    _make_remote("cas_latency", "compare_and_swap", "one MPI_Compare_and_swap; the size is the number's"),
    _make_remote("fop_latency", "fetch_and_op", "one MPI_Fetch_and_op of MPI_SUM; the size is the number's"),
    _make_remote("get_multi_lat", "", "one MPI_Get, all pairs of ranks at once, mean over pairs", pairs=True),
    _make_windows("put_bw", "windows of MPI_Put", counterpart="put-bandwidth", form="blocking", kind="one-sided"),
    _make_windows("get_bw", "windows of MPI_Get", counterpart="get-bandwidth", form="blocking", kind="one-sided"),
    _make_windows(
        "put_bibw",
        f"windows of MPI_Put each way; {BOTH_WAYS}",
        counterpart="put-bidirectional",
        form="blocking",
        kind="one-sided",
        counted=2.0,
    ),
    _make_windows(
        "get_mbw",
        "windows of MPI_Get, all pairs together, with MPI_Barrier before each; a second number, without a heading, is "
        "10^6 times the messages per second",
        form="blocking",
        kind="one-sided",
        many=True,
    ),
    make_benchmark(
        NAME, "init", "osu_init", "MPI_Init, by OSU", START_UP, counterpart="init", kind="process", sized=False
    ),
]
PROGRAMS = {operation.name.removeprefix(f"{NAME}-"): operation for operation in OPERATIONS}


# --- titles and headings ----------------------------------------------------------------------------------------------

TITLE_LINE = re.compile(
    r"#\s*OSU\s+(\S.{0,200}?)(?:\s+Test){1,2}(?:\s+\(?(?:v|Version )?(\d[\w.+-]{0,30})\)?)?", re.IGNORECASE
)
ACCELERATOR = re.compile(r"-((?:CUDA|OPENACC|ROCM|SYCL|MANAGED)(?: MANAGED)?)\b", re.IGNORECASE)
TITLES = {
    "latency": "latency",
    "latency persistent": "latency_persistent",
    "multi-threaded latency": "latency_mt",
    "multi-process latency": "latency_mp",
    "partitioned latency": "partitioned_latency",
    "multi latency": "multi_lat",
    "bandwidth": "bw",
    "bandwidth persistent": "bw_persistent",
    "bi-directional bandwidth": "bibw",
    "bi-directional bandwidth persistent": "bibw_persistent",
    "multiple bandwidth / message rate": "mbw_mr",
    "bandwidth congestion in": "bw_fan_in",
    "bandwidth congestion out": "bw_fan_out",
    "put latency": "put_latency",
    "get latency": "get_latency",
    "accumulate latency": "acc_latency",
    "get_accumulate latency": "get_acc_latency",
    "compare_and_swap latency": "cas_latency",
    "fetch_and_op latency": "fop_latency",
    "get multi latency": "get_multi_lat",
    "put bandwidth": "put_bw",
    "get bandwidth": "get_bw",
    "put bi-directional bandwidth": "put_bibw",
    "get multiple bandwidth bandwidth": "get_mbw",
}
"""Programs by title. Titles of collectives consist of the words below and the call's name."""
CALL_WORDS = {
    "all-to-all": "alltoall",
    "all-to-allv": "alltoallv",
    "all-to-allw": "alltoallw",
    "broadcast": "bcast",
    "neighborhood": "neighbor",
}
OTHER_WORDS = {"latency", "personalized", "exchange", "non-blocking", "persistent"}
SAME_TITLE = {"bw": ("bw_fan_in", "bw_fan_out"), "ialltoallv": ("ialltoallw",)}
"""Programs that print the title of another one in some versions: only the file's name distinguishes them."""
HEADLESS = "get_mbw"
"""Program with a column without a heading."""

SIZE = re.compile(r"#?\s*Size(?:\s\s+|\t|$)")
FIRST_HEADING = re.compile(r"(?:Avg Latency|Latency|Overall|Bandwidth) ?\(|MB/s\b")
WITHOUT_UNIT = r"(?:Iterations|Validation|Transmit Size|MB/s|Messages/s)(?!\S)"
HEADING = re.compile(rf"(?<![^\s)])(?:{WITHOUT_UNIT}|[^\s(]++(?: [^\s(]++)*+ ?\([^\s()]+\))")
VALIDATION, TRANSMITTED = "Validation", "Transmit Size"
VERDICTS = {"Pass": "", "Fail": "validation failed"}
UNITS = {
    "us": ("time", 1e3),
    "ms": ("time", 1e6),
    "s": ("time", 1e9),
    "MB/s": ("bandwidth", 1e6),
    "Messages/s": ("rate", 1.0),
}
QUANTITIES = {"time": {"time", "latency"}, "bandwidth": {"bandwidth"}, "rate": {"rate"}}
"""Metrics of operations by the quantity of a unit."""
ROLES: dict[str, Role] = {
    "Min Latency": "minimum",
    "Max Latency": "maximum",
    "Iterations": "repetitions",
    "Compute": "compute",
    "Pure Comm.": "pure",
    "Overlap": "overlap",
    "Messages/s": "rate",
    "P50 Tail": "p50",
    "P90 Tail": "p90",
    "P95 Tail": "p95",
    "P99 Tail": "p99",
}
PERCENTILES: set[Role] = {"p50", "p90", "p95", "p99"}
UNDEFINED: set[Role | None] = {"overlap", "rate"}
"""Quotients, printed as `nan` after a division by 0."""

WINDOWS = re.compile(r"#(?:\s+\d{1,9})+")
SECTIONS = {"# Uni-directional Bandwidth (MB/sec)": "mbw_mr", "# Message Rate Profile": "mbw_mr-rate"}
SECTION_UNITS = {"mbw_mr": "MB/s", "mbw_mr-rate": "Messages/s"}
WITHOUT_RATE = {"mbw_mr-rate": "mbw_mr"}
DATATYPE = re.compile(r"#\s*Datatype:\s*(\w{1,60})\.?")
PAIRS = re.compile(r"#\s*\[ pairs: (\d{1,9}) \] \[ window size: (\w{1,20}) \]")
BUFFERS = re.compile(
    r"#\s*(?:Send Buffer|Rank 0 Memory) on (.{1,40}) and (?:Receive Buffer|Rank 1 Memory) on (.{1,40})"
)
FACT = re.compile(r"(?:#\s*(?=.*:)|(?=Dimensions size|Time took))([A-Z][\w. -]{0,60}?)\s*[:=]\s*(\S.{0,200})")
"""`# Window creation: MPI_Win_allocate`, `Dimensions size = 4`."""
MEANING = re.compile(r"#\s*Meaning:\s*(\{.*\})")
"""The meaning of numbers in OSU's format that rankbench wrote."""
OPTIONS = {
    "window creation": "allocation",
    "window": "allocation",
    "synchronization": "synchronisation",
    "pairs": "pairs",
    "dimensions size": "dimensions",
    "number of sender threads": "sender threads",
    "number of receiver threads": "receiver threads",
    "number of forked processes in sender": "sender processes",
    "number of forked processes in receiver": "receiver processes",
}
START_UP_LINE = re.compile(
    r"nprocs: (\d{1,9}), min: (\S{1,40}?)(?: ms)?, max: (\S{1,40}?)(?: ms)?, avg: (\S{1,40}?)(?: ms)?"
)
FOREIGN_ROW = "looks like a row, but does not continue the table"
ROWLIKE = re.compile(r"[-+]?(?:\.?\d|nan\b|inf(?:inity)?\b)|(?:Pass|Fail)$", re.IGNORECASE | re.ASCII)
NUMBER = re.compile(r"\d+(?:\.\d+)?(?:e[-+]?\d+)?", re.ASCII | re.IGNORECASE)
WHOLE = re.compile(r"\d{1,19}", re.ASCII)
NO_ROW = re.compile(r"(?!)")
PLAIN_SIZE, PLAIN_NUMBER = r"(\d{1,18})", r" +(\d{1,99}(?:\.\d{1,99})?)"
"""Parts of rows that need no further checks."""
SINGLE_NUMBER = re.compile(PLAIN_SIZE + PLAIN_NUMBER, re.ASCII)
SINGLE = 2
"""Words in a row with one number."""
SIZES = {str(1 << power): 1 << power for power in range(41)} | {"0": 0}
"""Sizes of nearly all rows, by their text."""


def recognises(head: Sequence[Line]) -> bool:
    """Return whether one of the lines is a title of OSU, or a line of osu_init."""
    short = (line.text.strip() for line in head if len(line.text) <= MAX_TITLE)
    return any(_read_title(text) or START_UP_LINE.fullmatch(text) for text in short)


def read(text: Text) -> Iterator[Table]:
    """Yield the tables of a text. Raises RankbenchError for a damaged row or unknown columns."""
    reader = _Reader(text.file, text.problems)
    single, rows = reader.single, reader.rows
    head: list[Line] = []
    new, sizes = tuple.__new__, SIZES  # Makes a `Row` in half the time: there can be millions.
    for line in text.lines:
        number, words = line
        parts = words.split()
        # Nearly all lines are a size and a number. The reader checks the other ones.
        if single and len(parts) == SINGLE and (size := sizes.get(parts[0])) is not None and words.isascii():
            try:
                value = float(parts[1])
            except ValueError:
                value = math.nan
            if value < LARGEST and "-" not in words and "_" not in words:
                printed = parts[1]
                decimals = 2 if printed[-3:-2] == "." else count_decimals(printed)
                rows.append(new(Row, (number, size, (value,), "", decimals)))
                continue
        if not parts:
            continue
        if parts[0][0] == "#":
            head.append(line)
            single = False
            continue
        yield from reader.take_head(head)
        head = []
        if not reader.take_row(line, parts):
            yield from reader.take(line)
        single, rows = reader.single, reader.rows
    yield from reader.take_head(head)
    yield from reader.end()


@dataclass
class _Run:
    """A run of a benchmark while its lines are read."""

    title: str
    program: str
    line: int
    version: str
    options: dict[str, str]
    facts: dict[str, str]
    meaning: Meaning | None = None
    """The meaning of its numbers, if the file has it."""
    datatype: str = ""
    operation: Operation | None = None
    """None until the line with the columns."""
    scale: float = 0.0
    headings: list[str] = field(default_factory=list)
    """Headings of the numbers, without the size."""
    sized: bool = False
    checked: bool = False
    roles: dict[Role, int] = field(default_factory=dict)
    plain: re.Pattern[str] = NO_ROW
    """Matches a row that needs no further checks, if rows are a size and numbers only."""
    rows: list[Row] = field(default_factory=list)
    noise: list[Line] = field(default_factory=list)

    @property
    def columns(self) -> list[str]:
        """All headings except the validation."""
        return ["Size", *self.headings] if self.sized else self.headings

    @property
    def width(self) -> int:
        """The number of words in a row."""
        return self.sized + len(self.headings) + self.checked

    def make_next(self, line: int) -> _Run:
        """Return a run of the same program without columns."""
        options, facts = dict(self.options), dict(self.facts)
        return _Run(self.title, self.program, line, self.version, options, facts, self.meaning, self.datatype)

    def make_copy(self, line: int) -> _Run:
        """Return a run of the same program with the same columns."""
        run = self.make_next(line)
        run.operation, run.scale, run.headings = self.operation, self.scale, list(self.headings)
        run.sized, run.checked, run.roles, run.plain = self.sized, self.checked, self.roles, self.plain
        return run


class _Reader:
    """Makes tables of lines, one after the other."""

    def __init__(self, file: str, problems: list[Problem] | None = None) -> None:
        self.file = file
        self.problems = problems
        self.name = f"{PurePath(file).name}."
        self.run: _Run | None = None
        self.options: dict[str, str] = {}
        """Options before the title of their run."""
        self.facts: dict[str, str] = {}
        self.heads: dict[tuple[str, ...], _Run] = {}
        """Runs by their first lines: many in a file begin with the same ones."""

    @property
    def single(self) -> bool:
        """Whether rows are a size and one number."""
        return bool(self.run and self.run.plain is SINGLE_NUMBER)

    @property
    def rows(self) -> list[Row]:
        """The rows of the run, to which rows can be added."""
        return self.run.rows if self.run else []

    def take_row(self, line: Line, parts: list[str]) -> bool:
        """Read the words of a line if they are a row. Raises RankbenchError for a damaged row."""
        run, number = self.run, line.number
        if run and (row := run.plain.fullmatch(line.text)):
            size, *numbers = row.groups()
            run.rows.append(Row(number, int(size), tuple(map(float, numbers)), "", count_decimals(numbers[0])))
            return True
        if not run or not parts or not ROWLIKE.match(parts[0]):
            return False
        if not (run.operation and len(parts) == run.width) and not all(map(ROWLIKE.match, parts)):
            return False
        if not run.operation:
            raise self._make_error(number, "a row before the line with the columns, such as `# Size  Latency (us)`")
        if run.rows and not run.sized:
            raise self._make_error(number, f"a second row;  {run.title} has one")
        if run.program == HEADLESS and not run.rows and len(parts) == run.width + 1:
            run.headings.append("")
            run.plain = NO_ROW
        run.rows.append(self._read_row(run, number, parts))
        return True

    def _read_row(self, run: _Run, number: int, parts: list[str]) -> Row:
        """Return a row. Raises RankbenchError if it is damaged."""
        verdicts = [part for part in parts if run.checked and part in VERDICTS]
        texts = [part for part in parts if part not in verdicts]
        if len(texts) != len(run.columns) or len(verdicts) != run.checked:
            text = ", ".join([*run.columns, *([VALIDATION] if run.checked else [])])
            raise self._make_error(number, f"{len(parts)} values, expected {text}")
        size = self._parse_whole(number, "Size", texts.pop(0)) if run.sized else 0
        numbers = [self._parse_number(number, *pair) for pair in zip(run.headings, texts, strict=True)]
        if TRANSMITTED in run.headings:
            place = run.headings.index(TRANSMITTED)
            size, numbers[place] = self._parse_whole(number, TRANSMITTED, texts[place]), float(size)
        wrong = VERDICTS[verdicts[0]] if verdicts else ""
        return Row(number, size, tuple(numbers), wrong, count_decimals(texts[run.roles["value"]]))

    def _parse_whole(self, number: int, heading: str, text: str) -> int:
        if not WHOLE.fullmatch(text) or int(text) > LARGEST:
            raise self._make_error(number, f"{heading} is {text[:40]!r}; expected a whole number of bytes")
        return int(text)

    def _parse_number(self, number: int, heading: str, text: str) -> float:
        if _find_role(heading) in UNDEFINED and text.lower() in {"nan", "-nan"}:
            return math.nan
        if not NUMBER.fullmatch(text) or math.isinf(float(text)):
            raise self._make_error(
                number, f"{heading or 'the last value'} is {text[:40]!r}; expected a number of 0 or more"
            )
        return float(text)

    def _make_error(self, number: int, wrong: str) -> LineError:
        return LineError(self.file, number, wrong)

    def take_head(self, head: Sequence[Line]) -> Iterator[Table]:
        """Read lines that begin with `#`, with only blank ones between, and yield the tables that they end."""
        if not head:
            return
        texts = tuple([line.text for line in head])
        alone = not (self.options or self.facts)
        if alone and (known := self.heads.get(texts)):
            yield from self.end()
            self.run = known.make_copy(head[0].number)
            return
        for line in head:
            yield from self.take(line)
        run = self.run
        if alone and run and run.line == head[0].number and run.operation and len(self.heads) < CACHE_SIZE:
            self.heads[texts] = run.make_copy(run.line)

    def take(self, line: Line) -> Iterator[Table]:
        """Read a line that is neither a row nor blank, and yield the tables that it ends."""
        text = line.text.strip() if len(line.text) <= MAX_TITLE else ""
        if title := _read_title(text):
            yield from self.end()
            self._begin(line.number, title)
        elif text.startswith("nprocs:"):
            version = self.run.version if self.run else ""
            if self.run and not self.run.rows:
                self.run = None
            yield from self.end()
            yield self._read_start_up(line.number, text, version)
        elif self.run and _ends_rows(self.run.program, text):
            yield from self._continue(line.number, text)
        elif not self._read_meaning(line.number, text) and self.run and len(self.run.noise) < NOISE_LINES:
            self.run.noise.append(line)

    def end(self) -> Iterator[Table]:
        """Yield the tables of the run and end it."""
        run, self.run = self.run, None
        if run and run.rows and self.problems is not None:
            run.rows, foreign = _split_off_foreign(run)
            self.problems += [Problem(row.line, FOREIGN_ROW, "that may be of another program") for row in foreign]
        if run and run.rows:
            yield from _make_tables(run)
        elif run and self.problems is not None and (operation := run.operation or PROGRAMS.get(run.program)):
            options, datatype = _collect_options(run), _find_datatype(run)
            table = make_table_without_rows(operation, run.line)._replace(options=options, datatype=datatype)
            yield table._replace(version=run.version, facts=run.facts, noise=tuple(run.noise))

    def _begin(self, number: int, title: _Title) -> None:
        if title.accelerator:
            self.options["accelerator"] = title.accelerator
        others = SAME_TITLE.get(title.program, ())
        program = next((other for other in others if f"osu_{other}." in self.name), title.program)
        self.run = _Run(title.text, program, number, title.version, self.options, self.facts)
        self.options, self.facts = {}, {}

    def _continue(self, number: int, text: str) -> Iterator[Table]:
        """Read a line that can begin the table of another datatype or quantity."""
        run = self.run
        if run and run.rows:
            again = run.make_next(number)
            yield from self.end()
            self.run = run = again
        if run and (datatype := DATATYPE.fullmatch(text)):
            run.datatype = datatype[1]
            run.program = WITHOUT_RATE.get(run.program, run.program)
        elif run and text in SECTIONS:
            run.program = SECTIONS[text]
        elif run:
            self._set_columns(run, number, text)

    def _set_columns(self, run: _Run, number: int, text: str) -> None:
        """Set the columns. Raises RankbenchError if the program has no such columns."""
        columns = _read_columns(run.program, run.title, text)
        if columns.operation is None:
            sentence = ", ".join(_split_headings(run.program, text)[1])
            raise self._make_error(number, f"{run.title} with unknown columns: {sentence}")
        run.operation, run.scale, run.headings = columns.operation, columns.scale, list(columns.headings)
        run.sized, run.checked, run.roles, run.plain = columns.sized, columns.checked, columns.roles, columns.plain

    def _read_meaning(self, number: int, text: str) -> bool:
        """Read a meaning or a fact; return whether the line has one. Raises RankbenchError for a damaged meaning."""
        match = MEANING.fullmatch(text)
        if not match or not self.run or self.run.rows:
            return self._keep_fact(text)
        try:
            self.run.meaning = msgspec.json.decode(match[1], type=Meaning)
        except msgspec.DecodeError as error:
            raise self._make_error(number, f"a line Meaning that is not from rankbench: {error}") from None
        if self.run.meaning.counted <= 0 or self.run.meaning.megabyte not in {0, MEGABYTE}:
            raise self._make_error(number, "a line Meaning with a count of bytes that rankbench does not write")
        return True

    def _keep_fact(self, text: str) -> bool:
        """Keep a fact of the run, or of the next run after its rows; return whether the line has one."""
        run = self.run if self.run and not self.run.rows else self
        if pairs := PAIRS.fullmatch(text):
            run.options |= {"pairs": pairs[1], "window": pairs[2]}
        elif buffers := BUFFERS.fullmatch(text):
            run.options["buffers"] = f"{buffers[1]}, {buffers[2]}"
        elif (match := FACT.fullmatch(text)) and len(run.facts) < MAX_FACTS:
            key = match[1].lower()
            facts = run.options if key in OPTIONS else run.facts
            facts[OPTIONS.get(key, key)] = match[2]
        return text.startswith("#") or bool(match)

    def _read_start_up(self, number: int, text: str, version: str) -> Table:
        """Return the table of a line of osu_init."""
        match = START_UP_LINE.fullmatch(text)
        if not match:
            raise self._make_error(
                number, "not a line of osu_init, such as `nprocs: 2, min: 18 ms, max: 22 ms, avg: 20 ms`"
            )
        columns = ("min", "max", "avg")
        numbers = tuple(self._parse_number(number, *pair) for pair in zip(columns, match.groups()[1:], strict=True))
        ranks = int(match[1])
        # A rank's time is cut to whole milliseconds, and so is the quotient of their sum and the number of ranks.
        rounding = 2 - 1 / ranks if ranks else 1.0
        return Table(
            operation=PROGRAMS["init"],
            form="blocking",
            datatype="",
            ranks=ranks,
            options={},
            columns=columns,
            roles={"minimum": 0, "maximum": 1, "value": 2},
            scale=1e6,
            rows=[Row(number, 0, numbers, "", count_decimals(match[4]))],
            rounding=rounding,
            line=number,
            version=version,
        )


@functools.lru_cache(CACHE_SIZE)
def _compile_plain_row(numbers: int) -> re.Pattern[str]:
    """Return a pattern for rows of a size and so many numbers that need no further checks."""
    return re.compile(PLAIN_SIZE + PLAIN_NUMBER * numbers, re.ASCII)


@functools.lru_cache(CACHE_SIZE)
def _find_unit(heading: str) -> str:
    """Return the unit in brackets, or the whole heading."""
    return re.sub(r".*\(|\).*", "", heading)


@functools.lru_cache(CACHE_SIZE)
def _ends_rows(program: str, text: str) -> bool:
    """Return whether a line has a datatype, a quantity or columns, and so begins another table."""
    return bool(DATATYPE.fullmatch(text) or text in SECTIONS or _split_headings(program, text)[1])


@functools.lru_cache(CACHE_SIZE)
def _split_headings(program: str, text: str) -> tuple[bool, list[str]]:
    """Return whether there is a size, and the other columns; none if a line has no columns."""
    if program in SECTION_UNITS and WINDOWS.fullmatch(text):
        return True, text[1:].split()
    size = SIZE.match(text)
    rest = text[size.end() :] if size else text.lstrip("# ")
    if not size and not FIRST_HEADING.match(rest):
        return False, []
    headings = HEADING.findall(rest)
    if headings and not HEADING.sub("", rest).strip():
        return bool(size), headings
    return bool(size), re.split(r"\s\s+", rest) if size else []


class _Columns(NamedTuple):
    """The columns of a table."""

    operation: Operation | None
    """None if the program has no such columns."""
    scale: float
    headings: list[str]
    """Of the numbers, without the size and the validation."""
    sized: bool
    checked: bool
    roles: dict[Role, int]
    plain: re.Pattern[str]


@functools.lru_cache(CACHE_SIZE)
def _read_columns(program: str, title: str, text: str) -> _Columns:
    """Return the columns of a program's table."""
    sized, names = _split_headings(program, text)
    checked, headings = VALIDATION in names, [heading for heading in names if heading != VALIDATION]
    unit = SECTION_UNITS.get(program) if _has_window_columns(headings) else _find_unit(names[0])
    quantity, scale = UNITS.get(unit or "", ("", 0.0))
    roles = _find_roles(headings)
    operation: Operation | None = PROGRAMS.get(program) or _make_unknown(title, roles, quantity, sized=sized)
    if operation and (operation.sized != sized or operation.metric not in QUANTITIES.get(quantity, ())):
        operation = None
    plain = NO_ROW
    if sized and not checked and TRANSMITTED not in headings:
        plain = SINGLE_NUMBER if len(headings) == 1 else _compile_plain_row(len(headings))
    return _Columns(operation, scale, headings, sized, checked, roles, plain)


def _has_window_columns(headings: Sequence[str]) -> bool:
    """Return whether there is a column for each window size."""
    return bool(headings) and headings[0].isdecimal()


class _Title(NamedTuple):
    """The title of a run."""

    text: str
    program: str
    version: str
    accelerator: str


@functools.lru_cache(CACHE_SIZE)
def _read_title(text: str) -> _Title | None:
    """Return the title in a line; None if it is not one."""
    title = TITLE_LINE.fullmatch(text)
    if not title:
        return None
    accelerator = ACCELERATOR.search(title[1])
    program = _find_program(ACCELERATOR.sub("", title[1]))
    return _Title(title[1], program, title[2] or "", accelerator[1].upper() if accelerator else "")


def _find_program(title: str) -> str:
    """Return the program that prints a title, without `osu_`; empty if it is unknown."""
    plain = re.sub(r"^mpi[\s_]+", "", " ".join(title.lower().split()))
    words = plain.split()
    call = "_".join(CALL_WORDS.get(word, word) for word in words if word not in OTHER_WORDS)
    spelt = f"{'i' * ('non-blocking' in words)}{call}{'_persistent' * ('persistent' in words)}"
    return TITLES.get(plain) or (spelt if spelt in PROGRAMS else "")


def _make_unknown(title: str, roles: Container[Role], quantity: str, *, sized: bool) -> Operation:
    """Return an operation for an unknown benchmark, from its title and headings."""
    meaning = Meaning(
        over_calls="mean",
        over_ranks="mean",
        start="not reported",
        megabyte=MEGABYTE if quantity == "bandwidth" else 0,
        text=f"unknown to rankbench: {title} in the output; assumed to be a mean over calls and ranks",
    )
    slug = re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-") or "unknown"
    metric: Literal["time", "bandwidth", "rate"] = "time"
    if quantity in {"bandwidth", "rate"}:
        metric = "rate" if quantity == "rate" else "bandwidth"
    form: Form = "nonblocking" if "pure" in roles else "blocking"
    return make_benchmark(
        NAME,
        slug,
        title,
        f"{title}, by OSU",
        meaning,
        metric=metric,
        kind="other",
        forms=(form,),
        sized=sized,
    )


def _find_role(heading: str) -> Role | None:
    return next((role for start, role in ROLES.items() if heading.startswith(start)), None)


def _find_roles(headings: list[str]) -> dict[Role, int]:
    """Return the column of each role, without percentiles beside an overlap: it is unknown of which time they are."""
    column_roles: dict[Role, int] = {
        role: place for place, heading in enumerate(headings) if place and (role := _find_role(heading))
    }
    unclear = PERCENTILES if "pure" in column_roles else set()
    return {"value": 0, **{role: place for role, place in column_roles.items() if role not in unclear}}


def _split_off_foreign(run: _Run) -> tuple[list[Row], list[Row]]:
    """Return the rows of a run, and those that another program may have printed after it.

    Sizes rise. After other text the next row is one that the program prints: of twice the size, or some steps further.
    """
    for before, (last, row) in enumerate(itertools.pairwise(run.rows), 1):
        apart = any(last.line < line.number < row.line for line in run.noise)
        expected = {last.size_bytes << step for step in range(1, 6)} if last.size_bytes else {1, 2, 4, 8}
        if row.size_bytes <= last.size_bytes or (apart and row.size_bytes not in expected):
            return run.rows[:before], run.rows[before:]
    return run.rows, []


def find_program(name: str) -> Operation | None:
    """Return the benchmark of a program, such as `osu_latency`; None if it is not known."""
    return PROGRAMS.get(name.removeprefix(f"{NAME}_"))


def _make_tables(run: _Run) -> Iterator[Table]:
    """Yield the table of a run, or one for each window size if each has a column."""
    assert run.operation
    operation = _mark_as_rankbench(run.operation, run.meaning) if run.meaning else run.operation
    pairs = run.options.get("pairs", "")
    table = Table(
        operation=operation,
        form=operation.form,
        datatype=_find_datatype(run),
        ranks=operation.ranks_exactly or 2 * int(pairs if WHOLE.fullmatch(pairs) else 0),
        options=_collect_options(run),
        columns=tuple("Size" if heading == TRANSMITTED else heading for heading in run.headings),
        roles=run.roles,
        scale=run.scale,
        rows=run.rows,
        line=run.line,
        version=run.version,
        facts=run.facts,
        noise=tuple(run.noise),
    )
    by_window = _has_window_columns(run.headings)
    for place, window in enumerate(run.headings) if by_window else ():
        options = dict(sorted((table.options | {"window": window}).items()))
        rows = [row._replace(numbers=row.numbers[place : place + 1]) for row in run.rows]
        yield table._replace(options=options, columns=(window,), roles={"value": 0}, rows=rows)
    if not by_window:
        yield table


def _mark_as_rankbench(operation: Operation, meaning: Meaning) -> Operation:
    """Return a benchmark for numbers that rankbench wrote in OSU's format, with its own meaning."""
    assert operation.foreign
    written = replace(
        operation.foreign, benchmark=f"{operation.foreign.benchmark} of rankbench", meaning=meaning, one_buffer=False
    )
    start = meaning.start.replace(" ", "-")
    help_ = f"{operation.help}; written by rankbench"
    return replace(operation, name=f"{operation.name}-of-rankbench", help=help_, start=start, foreign=written)


def _collect_options(run: _Run) -> dict[str, str]:
    options = {"validation": "yes"} if run.checked else {}
    if "pure" in run.roles:
        options["quantity"] = "overlap"
    return dict(sorted((run.options | options).items()))


def _find_datatype(run: _Run) -> str:
    """Return the core's name of a datatype: characters are bytes, except in reductions."""
    name = run.datatype.removeprefix("MPI_").lower()
    calculates = run.program in REDUCING or run.program.removeprefix("i").removesuffix("_persistent") in REDUCING
    return "byte" if name == "char" and not calculates else name


# --- running ----------------------------------------------------------------------------------------------------------

NO_REPETITIONS = {"osu_init"}
TYPE_OPTIONS = ("-T", "--type")
HELP_TEXTS = {
    "-i": rb"-i, --iterations|-i ITER|ITER - number of iterations",
    "-m": rb"\[MIN:\]MAX",
    TYPE_OPTIONS[0]: rb"[\[<]all,mpi_char,",
}
"""Text in the help of programs that have an option: 5.3 has `-m` only for collectives, and `-T` comes with 7.1.

The help is part of the program. Open MPI's symbols, such as `ompi_mpi_float`, are part of every program.
"""
WITHOUT = {"-i": "it repeats its calls as often as by default", "-m": "it measures all of its own sizes"}
"""What a program does whose build lacks an option. Without `-T` it reduces MPI_FLOAT, as cases do."""
ONE_SIZE = {"osu_cas_latency", "osu_fop_latency"}
"""Programs that measure one size, that of their number: 8 bytes, since version 7.1 one byte."""
REPETITIONS = {
    LATENCY_LOOP: "{} times after 100 unscored ones, above 8 KiB 10",
    WINDOW_LOOP: "{} windows of 64 messages after 10 unscored ones, above 8 KiB 2",
    COLLECTIVE_LOOP: "{} calls after 100 unscored ones, above 8 KiB 10",
}
"""Replacements for the default repetitions if their number is set."""


def program(operation: Operation) -> str:
    """Return the name of a benchmark's program."""
    assert operation.foreign
    return operation.foreign.benchmark


def apply_plan(operation: Operation, plan: Plan, user_arguments: Sequence[str]) -> Operation:
    """Return a benchmark with the datatype and repetitions of a plan and of the user's arguments."""
    times = find_option(user_arguments, ("-i", "--iterations")) or str(plan.sampling.good)
    kind = (
        find_option(user_arguments, TYPE_OPTIONS).lower().removeprefix("mpi_") if operation.datatype == "float" else ""
    )
    described = operation if program(operation) in NO_REPETITIONS else set_repetitions(operation, REPETITIONS, times)
    sized = operation.sized and program(operation) not in ONE_SIZE
    return replace(described, datatype=kind or operation.datatype, sized=sized)


def find_lacking(operation: Operation, path: Path) -> frozenset[str]:
    """Return the options among those of `arguments` that the build of a program does not have."""
    text = path.read_bytes()
    return frozenset(option for option in _list_options(operation) if not re.search(HELP_TEXTS[option], text))


def _list_options(operation: Operation) -> Iterator[str]:
    if program(operation) not in NO_REPETITIONS:
        yield "-i"
    if operation.sized:
        yield "-m"
    if operation.datatype == "float":
        yield TYPE_OPTIONS[0]


def arguments(request: RunRequest) -> list[str]:
    """Return the arguments of the program: repetitions, the range of sizes in factors of two, and the datatype."""
    values = {
        "-i": str(request.plan.sampling.good),
        "-m": f"{min(request.sizes)}:{max(request.sizes)}",
        TYPE_OPTIONS[0]: f"mpi_{request.operation.datatype}",
    }
    offered = [option for option in _list_options(request.operation) if option not in request.lacking]
    return [word for option in offered for word in (option, values[option])]
