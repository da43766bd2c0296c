"""Reads MPIPerf: a report of a benchmark for numbers of processes and of elements, or a report of each process.

Headings and settings show the printed statistics: runs that start together or one after the other, with or without the
quarters at both ends, calls alone or with a computation in between.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import partial
from typing import NamedTuple

from msgspec.structs import replace

from rankbench.foreign import Line, Role, Row, Table, Text, make_benchmark, make_pair_benchmark
from rankbench.foreign.fields import NONE, Drafts, Place, begins_a_row, make_unknown, make_variant
from rankbench.foreign.running import RunRequest, find_option, set_repetitions
from rankbench.model import Meaning, Operation, Plan

NAME = "mpiperf"
TITLE = "MPIPerf"
VERSION = re.compile(r"# mpiperf (?P<version>\S+) report\s*")
HEADING = re.compile(r"#(?: \[[A-Za-z][A-Za-z ]*\] *){3,}")
SETTING = re.compile(r"# (?P<name>[A-Z][^:\[\]]*): ?(?P<value>.*?)\s*")
HOST = re.compile(r"# \d+:(?P<host>\S+)\s*")
CHARACTERISTICS = "# Characteristics of measurements:"
END = "# Elapsed time:"
DOUBLE_BYTES = 8
COUNTS = ("TRuns", "CRuns", "FRuns")
NEGATIVE = {"CI LB", "CI UB", "Overlap"}
ROLES: dict[str, Role] = {
    "Min": "minimum",
    "Max": "maximum",
    "StdErr": "error",
    "BlockingTime": "pure",
    "CompTime": "compute",
    "Mean": "value",
    "Total": "value",
}
REPORTED = {
    **dict(zip(("tried", "valid", "left"), COUNTS, strict=True)),
    "mean_ns": "Mean",
    "standard_error_ns": "StdErr",
    "min_ns": "Min",
    "max_ns": "Max",
    "absolute_error_ns": "Err",
    "low_ns": "CI LB",
    "high_ns": "CI UB",
    "relative_standard_error": "RSE",
    "relative_error": "RelErr",
}
"""Its headings by name, for tables in the form of its reports."""
SCALES = {"microseconds": 1e3, "seconds": 1e9}
SECONDS_DECIMALS = 6
DEFAULT_STEPS = 10

ENDS = "The measurement ends after 30 valid runs (an option; at most 100)."
SLOTS = (
    "All processes start each run at an agreed time on synchronised clocks; runs in which one started late or exceeded "
    f"its time slot are not valid. A warm-up stage comes first. {ENDS} Count is of elements: bytes, or MPI_DOUBLE for "
    "reductions (MPI_SUM). The data are not checked."
)
TRIMMED = Meaning(
    over_calls="trimmed mean",
    over_ranks="maximum",
    start="window",
    text="Mean over runs of the slowest process's time, without the fastest 25% and the slowest 25% of the valid "
    f"runs; Min, Max, StdErr and the interval are of the same runs. {SLOTS}",
)
MASTER = replace(
    TRIMMED,
    over_ranks="one",
    text="Mean over runs of the time of the call on the master process, without the fastest 25% and the slowest 25% "
    f"of the valid runs; Min, Max, StdErr and the interval are of the same runs. {SLOTS}",
)
UNTRIMMED = "Mean of the time over all valid runs: nothing is dropped."
PIPELINED = (
    "Runs are back to back without synchronisation: each process divides the time of the loop (100 runs by default) by "
    "their number, and the slowest process counts. One untimed run comes first. Count is of elements: bytes, or "
    "MPI_DOUBLE for reductions (MPI_SUM). The data are not checked."
)
SINGLE_PROCESS = "Of the process in the option rank: the mean over all valid runs; nothing is dropped."
NONBLOCKING = Meaning(
    over_calls="mean",
    over_ranks="maximum",
    start="window",
    text="Mean over all valid runs of the slowest process's time of the nonblocking call (Init) and MPI_Wait together; "
    f"nothing is dropped. {SLOTS}",
)
OVERLAP = Meaning(
    over_calls="mean",
    over_ranks="maximum",
    start="window",
    text="Time of the nonblocking call, a computation with calls of MPI_Test, and MPI_Wait: the mean over all valid "
    "runs for each process, of these the largest. The option compute is the length of the computation as a multiple "
    "of the time without it (BlockingTime). Overlap is 1 - (Total - CompTime) / BlockingTime, as a fraction, of the "
    f"process with the largest overlap. Nothing is dropped. {SLOTS}",
)
NOT_KNOWN = replace(
    TRIMMED,
    text=f"A benchmark unknown to rankbench; sizes are counts of elements of unknown size. {TRIMMED.text}",
)

MOVED = [
    "Allgather",
    "Allgatherv",
    "Alltoall",
    "Alltoallv",
    "Alltoallw",
    "Bcast",
    "Gather",
    "Gatherv",
    "Scatter",
    "Scatterv",
]
REDUCING = ["Allreduce", "Reduce", "Reduce_scatter", "Reduce_scatter_block", "Scan", "Exscan"]
COLLECTIVES = [*MOVED, *REDUCING, "Barrier"]
PATTERNS = {"WaitPatternUp": "wait-up", "WaitPatternDown": "", "WaitPatternNull": "wait-null"}
WHOLE_VECTOR = {"Reduce_scatter", "Ireduce_scatter"}
"""Calls whose count is the whole reduced vector, of which every process gets a part."""
UNSIZED = {"Barrier", "Ibarrier", *PATTERNS}
REDUCTIONS = {*REDUCING, *(f"I{name.lower()}" for name in REDUCING)}


def _make_collective(name: str) -> Operation:
    return _make_operation(name, name.lower(), f"MPI_{name}", TRIMMED)


def _make_nonblocking(name: str, mode: str, meaning: Meaning) -> Operation:
    spelt = f"I{name.lower()}"
    help_ = f"MPI_{spelt} and MPI_Wait" + (", with a computation in between" if mode else "")
    operation = _make_operation(spelt, f"{spelt.lower()}{mode}", help_, meaning, name.lower())
    return replace(operation, forms=["nonblocking"], form="nonblocking")


def _make_operation(spelling: str, name: str, help_: str, meaning: Meaning, counterpart: str = "") -> Operation:
    if spelling in WHOLE_VECTOR:
        meaning = replace(
            meaning, text=f"Count is of the whole vector, of which each process gets a part. {meaning.text}"
        )
    same = "" if spelling in WHOLE_VECTOR else counterpart or name
    return make_benchmark(
        NAME,
        name,
        spelling,
        help_,
        meaning,
        counterpart=same,
        sized=spelling not in UNSIZED,
        datatype="double" if spelling in REDUCTIONS else "byte",
    )


def _make_pair(spelling: str, help_: str, counterpart: str) -> Operation:
    return make_pair_benchmark(NAME, spelling.lower(), spelling, help_, MASTER, counterpart=counterpart)


def _make_pattern(spelling: str, counterpart: str) -> Operation:
    help_ = "processes wait and call nothing: the overhead of the measurement"
    return make_benchmark(
        NAME, spelling.lower(), spelling, help_, TRIMMED, counterpart=counterpart, kind="self-test", sized=False
    )


CALLS = {call: _make_collective(call) for call in COLLECTIVES}
WITH_WAIT = {f"I{call.lower()}": _make_nonblocking(call, "", NONBLOCKING) for call in COLLECTIVES}
WITH_COMPUTATION = {f"I{call.lower()}": _make_nonblocking(call, "-overlap", OVERLAP) for call in COLLECTIVES}
OTHERS = {
    "Send": _make_pair("Send", "MPI_Send alone, on its sender", ""),
    "Sendrecv": _make_pair("Sendrecv", "MPI_Sendrecv between two processes", "sendrecv"),
    **{spelt: _make_pattern(spelt, same) for spelt, same in PATTERNS.items()},
}
KNOWN_NAMES = CALLS.keys() | WITH_WAIT.keys() | OTHERS.keys()
OPERATIONS = [*CALLS.values(), *WITH_WAIT.values(), *WITH_COMPUTATION.values(), *OTHERS.values()]


class Run:
    """The lines of a run before its rows."""

    def __init__(self, line: int, version: str = "") -> None:
        self.line = line
        self.version = version
        self.settings: dict[str, str] = {}
        self.hosts: list[str] = []
        self.columns: tuple[str, ...] = ()
        self.steps: dict[tuple[str, ...], int] = {}
        """Number of computations so far, by processes, count and rank."""

    @property
    def benchmark(self) -> str:
        """The benchmark's name as MPIPerf spells it."""
        return self.settings.get("Benchmark", "")

    def collect_facts(self) -> dict[str, str]:
        """Return the facts of the run."""
        settings = {
            name.lower(): value for name, value in self.settings.items() if name not in {"Benchmark", "Elapsed time"}
        }
        command = {"command": settings.pop("command line")} if "command line" in settings else {}
        hosts = {"hosts": ", ".join(self.hosts)} if self.hosts else {}
        return {**command, **hosts, **{name: value for name, value in settings.items() if value}}


class Fields(NamedTuple):
    """The fields of a row by heading."""

    place: Place
    by_heading: dict[str, str]


def recognises(head: Sequence[Line]) -> bool:
    """Return whether lines are a report of MPIPerf, or its report of each process."""
    return any(VERSION.fullmatch(line.text) or line.text.startswith("# [Procs] [Count]") for line in head)


def read(text: Text) -> Iterator[Table]:
    """Yield a table for each number of processes, and for each process or computation that is listed separately."""
    run: Run | None = None
    drafts = Drafts()
    for line in text.lines:
        place = Place(text.file, line.number)
        if begins := VERSION.fullmatch(line.text):
            yield from _end_open(text, run, drafts)
            run = Run(line.number, begins["version"])
        elif line.text.startswith(END):
            yield from drafts.finish()
            run = None
        elif line.text.startswith(CHARACTERISTICS) and (run is None or run.columns):
            yield from _end_open(text, run, drafts)
            run = Run(line.number)
        elif line.text.startswith("#"):
            _read_heading(run, line.text)
        elif run and run.columns and begins_a_row(line.text):
            fields = place.split(line.text, run.columns)
            _add_row(drafts, run, Fields(place, dict(zip(run.columns, fields, strict=True))))
        else:
            drafts.keep_unrecognised(line)
    yield from _end_open(text, run, drafts)


def _end_open(text: Text, run: Run | None, drafts: Drafts) -> Iterator[Table]:
    """Yield the tables of a report without an end mark, or refuse it; the report of each process has none."""
    is_open = bool(run and run.version)
    if run and is_open:
        text.refuse_without_end(run.line, "report", f"{END} 0 sec.", "the run")
    yield from drafts.finish(has_end=not is_open)


def _read_heading(run: Run | None, text: str) -> None:
    """Read a setting, a host or the headings."""
    if run is None:
        return
    if HEADING.fullmatch(text):
        run.columns = tuple(re.findall(r"\[([^\]]+)\]", text))
    elif host := HOST.fullmatch(text):
        run.hosts.append(host["host"])
    elif setting := SETTING.fullmatch(text):
        run.settings[setting["name"]] = setting["value"]


def _add_row(drafts: Drafts, run: Run, fields: Fields) -> None:
    place, by_heading = fields
    procs, count = (place.parse_size(by_heading.get(name, ""), name) for name in ("Procs", "Count"))
    options = {"rank": str(place.parse_size(by_heading["Rank"], "Rank"))} if "Rank" in by_heading else {}
    if "CompTime" in by_heading:
        options = {
            "compute": _find_computation(run, (by_heading["Procs"], by_heading["Count"], by_heading.get("Rank", ""))),
            **options,
        }
    headings = tuple(name for name in run.columns if name not in {"Procs", "Count", "Rank"})
    size = 0 if run.benchmark in UNSIZED else count * (DOUBLE_BYTES if run.benchmark in REDUCTIONS else 1)
    row = Row(place.line, place.parse_size(str(size), "Count in bytes"), _parse_numbers(fields, headings))
    make = partial(_make_table, run, fields, procs, options, headings)
    printed = [] if NONE in row.numbers else [by_heading[name] for name in headings]
    drafts.add((procs, *options.items()), make, row, printed)


def _find_computation(run: Run, key: tuple[str, ...]) -> str:
    """Return the length of the computation as a multiple of the time without it; steps go from 0 to 2."""
    text = run.settings.get("Compute time iterations", "")
    steps = int(text) if text.isascii() and text.isdigit() and 0 < len(text) < 9 and int(text) else DEFAULT_STEPS
    step = run.steps[key] = run.steps.get(key, -1) + 1
    return "2" if steps == 1 else f"{2 * step / steps:g}"


def _parse_numbers(fields: Fields, headings: Sequence[str]) -> tuple[float, ...]:
    """Return the values; without a valid run only the numbers of runs."""
    place, by_heading = fields
    counts = {name: float(place.parse_size(by_heading[name], name)) for name in headings if name in COUNTS}
    if 0 in counts.values():
        return tuple(counts.get(name, NONE) for name in headings)
    return tuple(
        counts[name] if name in counts else place.parse_number(by_heading[name], name, negative=name in NEGATIVE)
        for name in headings
    )


def _make_table(run: Run, fields: Fields, procs: int, options: dict[str, str], headings: tuple[str, ...]) -> Table:
    place, by_heading = fields
    roles: dict[Role, int] = {ROLES[name]: place_ for place_, name in enumerate(headings) if name in ROLES}
    counts = [name for name in COUNTS if name in headings]
    if "value" not in roles or not counts:
        headings_text = " ".join(f"[{name}]" for name in run.columns)
        raise place.make_error(
            f"columns {headings_text}, expected [Mean] or [Total] and one of [TRuns], [CRuns], [FRuns]"
        )
    roles["repetitions"] = headings.index(counts[-1])
    operation = _find_operation(run, headings)
    cache = {"cache": "defeated"} if run.settings.get("Cache defeat") == "on" else {}
    return Table(
        operation=operation,
        datatype="double" if run.benchmark in REDUCTIONS else "byte" if run.benchmark in KNOWN_NAMES else "",
        ranks=procs,
        options={**cache, **options},
        columns=headings,
        roles=roles,
        scale=_find_scale(run, by_heading[headings[roles["value"]]]),
        rows=[],
        line=run.line,
        version=run.version,
        facts=run.collect_facts(),
    )


def _find_operation(run: Run, headings: Sequence[str]) -> Operation:
    """Return the benchmark, from its name and the meaning of its values in columns and settings."""
    name = run.benchmark
    if "CompTime" in headings:
        known = WITH_COMPUTATION.get(name)
    else:
        known = WITH_WAIT.get(name) if "Init" in headings else CALLS.get(name) or OTHERS.get(name)
    operation = known or make_unknown(NAME, name or "unnamed", NOT_KNOWN)
    if "Rank" in run.columns:
        assert operation.foreign
        slots = operation.foreign.meaning.text if "Init" in headings else SLOTS
        return make_variant(operation, "process", over_calls="mean", over_ranks="one", text=f"{SINGLE_PROCESS} {slots}")
    if "FRuns" in headings:
        untrimmed = run.settings.get("Statistical analysis of data (removing outliers)") == "off"
        return (
            make_variant(operation, "untrimmed", over_calls="mean", text=f"{UNTRIMMED} {SLOTS}")
            if untrimmed
            else operation
        )
    if "Mean" in headings:
        return make_variant(operation, "pipelined", over_calls="mean", start="none", text=PIPELINED)
    return operation


def _find_scale(run: Run, field: str) -> float:
    """Return the factor to nanoseconds; in the report of each process only the decimals show the unit."""
    unit_ns = SCALES.get(run.settings.get("Time scale", ""))
    decimals = len(field.partition(".")[2])
    return unit_ns or SCALES["seconds" if decimals == SECONDS_DECIMALS else "microseconds"]


# --- running ----------------------------------------------------------------------------------------------------------

RUNNABLE = [*CALLS.values(), *WITH_WAIT.values(), *OTHERS.values()]
"""Benchmarks that a plan can run. Those with a computation print a table for each of its lengths."""
TRIES = 10 / 3
"""Most runs for each valid one that is wanted, as by default."""
LEAST_TRIES = 100


def program(_operation: Operation) -> str:
    """Return the name of the program, which has all benchmarks."""
    return "mpiperf"


def apply_plan(operation: Operation, plan: Plan, user_arguments: Sequence[str]) -> Operation:
    """Return a benchmark with the number of runs of a plan or of the user's arguments."""
    valid = find_option(user_arguments, ("-E",)) or str(plan.sampling.good)
    most = find_option(user_arguments, ("-R",)) or str(_count_tries(plan))
    return set_repetitions(operation, {ENDS: f"The measurement ends after {{}} valid runs, or {most} in all."}, valid)


def _count_tries(plan: Plan) -> int:
    return max(LEAST_TRIES, round(TRIES * plan.sampling.good))


def arguments(request: RunRequest) -> list[str]:
    """Return the arguments of the program: valid runs and most runs, counts in factors of two, and the benchmark."""
    assert request.operation.foreign
    spelling = request.operation.foreign.benchmark
    words = ["-E", str(request.plan.sampling.good), "-R", str(_count_tries(request.plan))]
    words += ["-b"] if spelling in WITH_WAIT else []
    unit = DOUBLE_BYTES if spelling in REDUCTIONS else 1
    # A count of 0 would be multiplied for ever.
    counts = [size // unit for size in request.sizes if size >= unit and size % unit == 0] or [1]
    return [*words, "-x", str(min(counts)), "-X", str(max(counts)), "-S", "2", spelling]
