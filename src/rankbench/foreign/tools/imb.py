"""Reads the Intel MPI Benchmarks, all components: a head for each run, then a table for each benchmark and rank count.

Since version 2017 a megabyte of their bandwidths is 10^6 bytes (before: 2^20), and ranks meet in a barrier between the
calls of a collective. The version and the command line in the head show which applies.
"""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from msgspec.structs import replace

from rankbench.files import write
from rankbench.foreign import Line, Role, Row, Table, Text
from rankbench.foreign.fields import NONE, Drafts, Place, begins_a_row, make_variant
from rankbench.foreign.running import RunRequest, find_option, set_repetitions
from rankbench.foreign.suites import imb as catalogue
from rankbench.foreign.suites.imb import (
    ANY_SOURCE,
    BANDWIDTH,
    BENCHMARKS,
    DEFECTS,
    KNOWN,
    MEGABYTE,
    OLD_MEGABYTE,
    REDUCTION,
    REPETITIONS,
    ROOTED,
    Benchmark,
    OverRanks,
    get_foreign,
    make_entry,
)
from rankbench.model import Meaning, Operation, Plan

NAME = catalogue.NAME
TITLE = catalogue.TITLE
OPERATIONS = catalogue.OPERATIONS


def make_unknown(component: str, spelling: str, columns: Sequence[str], *, sized: bool) -> Benchmark:
    """Return a benchmark that is not in the table, from its headings."""
    value = columns[find_roles(columns)["value"]]
    text = f"unknown to rankbench: {value} by the heading; assumed to be a mean over calls, as in other tables of IMB"
    over_ranks: OverRanks = "mean" if value == "t_avg[usec]" else "maximum"
    means = Meaning(over_calls="mean", over_ranks=over_ranks, start="not reported", text=text, megabyte=MEGABYTE)
    metric = "bandwidth" if value == BANDWIDTH else "time"
    return make_entry(component or "unknown", spelling, means, metric=metric, sized=sized)


# --- a run ------------------------------------------------------------------------------------------------------------

HEAD = re.compile(
    r"#\s*(?:Intel ?\(R\)|PALLAS) MPI Benchmarks?(?: Suite)? V?(?P<version>\d.*?), (?P<part>\S+) part(?P<gpu> \(GPU\))?"
)
COMMAND = "# Calling sequence was:"
MAX_WORDS = 4096
FACTS = {
    "Date": "date",
    "Machine": "machine",
    "System": "system",
    "Release": "release",
    "Version": "kernel",
    "MPI Version": "mpi_version",
    "MPI Thread Environment": "thread_environment",
}
"""Names of a table's facts by the lines of the head."""
PARTS = {
    "MPI-1": "mpi1",
    "MPI-2": "ext",
    "MPI-IO": "io",
    "MPI-NBC": "nbc",
    "MPI-RMA": "rma",
    "RMA": "rma",
    "MPI-4": "mpi4",
    "MT": "mt",
    "IMB-P2P": "p2p",
}
"""Components by their names in the head."""
OFF, ON = {"off", "0", "disable", "no"}, {"on", "1", "enable", "yes"}
LATEST_VERSION = (2021, 11)


@dataclass
class Run:
    """The head of a run."""

    version: str = ""
    part: str = ""
    accelerated: bool = False
    """Whether the program uses messages in the memory of an accelerator."""
    head_facts: dict[str, str] = field(default_factory=dict)
    words: list[str] = field(default_factory=list)
    """The command line."""
    in_command: bool = False
    datatypes: dict[str, str] = field(default_factory=dict)

    @property
    def component(self) -> str:
        """The component's name; empty if the head has no known one."""
        return PARTS.get(self.part, "")

    @property
    def version_number(self) -> tuple[int, ...]:
        """The version as numbers, such as (2019, 6) for `2019 Update 6`; the latest one if not printed."""
        return tuple(int(each) for each in re.findall(r"\d{1,9}", self.version, re.ASCII)) or LATEST_VERSION

    @property
    def is_before_2017(self) -> bool:
        """Whether the version is older than 2017, when the meaning of numbers changed."""
        return self.version_number < (2017,)

    @property
    def facts(self) -> dict[str, str]:
        """Facts about the run."""
        return {**self.head_facts, "command": " ".join(self.words)} if self.words else dict(self.head_facts)

    def get_argument(self, option: str) -> str:
        """Return the word after an option in the command line, in lower case; empty without it."""
        return next((value.lower() for name, value in itertools.pairwise(self.words) if name.lower() == option), "")

    def take(self, text: str) -> None:
        """Read a line of the head."""
        if text.startswith(COMMAND):
            self.in_command = True
        elif self.in_command:
            self.take_command(text.removeprefix("#").split())
        else:
            name, _, value = text.removeprefix("#").partition(":")
            self.take_fact(name.strip(), value.strip())

    def take_command(self, words: list[str]) -> None:
        """Read a line of the command line, which can continue in the next line and ends with an empty one."""
        self.words.extend(words[: MAX_WORDS - len(self.words)])
        self.in_command = bool(words) or not self.words

    def take_fact(self, name: str, value: str) -> None:
        """Read a line with a name and a value."""
        if name in FACTS and value:
            self.head_facts.setdefault(FACTS[name], value)
        elif name.startswith("MPI_Datatype"):
            self.datatypes[name] = value.removeprefix("MPI_").lower()


def list_changes(run: Run, entry: Benchmark, columns: Sequence[str]) -> Iterator[tuple[str, dict[str, Any], str]]:
    """Yield how a benchmark differs in a run: a name, changes of the meaning, and an addition to its text."""
    means = get_foreign(entry.operation).meaning
    sync = run.get_argument("-sync")
    if means.start == "library-barrier" and entry.component != "mt":
        if sync in OFF or (run.is_before_2017 and sync not in ON):
            yield "unsynchronised", {"start": "none"}, "but here without the barrier: calls are back to back"
        elif run.get_argument("-imb_barrier") in ON:
            yield "imb-barrier", {"start": "barrier"}, "but here with IMB's own barrier of MPI_Sendrecv"
    if means.megabyte and run.is_before_2017:
        yield "before-2017", {"megabyte": OLD_MEGABYTE}, "a megabyte has 2^20 bytes"
    value = columns[find_roles(columns, entry.operation.metric)["value"]]
    if means.over_ranks == "maximum" and value == "t_avg[usec]":
        yield "groups", {"over_ranks": "mean"}, "but here t_avg, the mean over the ranks of all groups (-multi 0)"
    if DEFECTS in columns:
        yield "checked", {"data": "checked"}, "received data are checked within the loop, since built with -DCHECK"


def _adapt_to_run(run: Run, entry: Benchmark, columns: Sequence[str]) -> Operation:
    operation = entry.operation
    for name, change, text in list_changes(run, entry, columns):
        text = f"{get_foreign(operation).meaning.text}; {text}"
        operation = make_variant(operation, name, text=text, **change)
    return operation


# --- a table ----------------------------------------------------------------------------------------------------------

BENCHMARK = re.compile(r"# Benchmarking (?:Multi-)?(?P<name>\S+)(?: \((?P<grid>\d+(?: x \d+)+)\))?$", re.ASCII)
HEADINGS = re.compile(r"(?:Group\s+)?#(?:bytes|repetitions)\s")
RANKS = re.compile(
    r"# (?:\( )?#processes = (?P<ranks>\d{1,9})(?: \))?(?: \(threads: (?P<threads>[1-9]\d{0,8})\))?", re.ASCII
)
"""In parentheses before it was Intel's."""
GROUPS = re.compile(r"# \( (?P<groups>\d{1,9}) groups of (?P<ranks>\d{1,9}) processes each", re.ASCII)
IDLE = re.compile(r"# \( (?P<idle>\d{1,9}) additional process", re.ASCII)
MODE = re.compile(r"#\s+MODE: (?P<mode>NON-AGGREGATE|AGGREGATE)\b")
WINDOW = re.compile(r"# window_size = (?P<window>\d{1,9})", re.ASCII)
END = "# All processes entering MPI_Finalize"
CHECK_FAILED = "CHECK FAILURES"
SKIPPED_SIZE = re.compile(r"\s(?:time-out\.|out-of-mem\.|int-overflow\.?;)")
GROUP, SIZE = "Group", "#bytes"
ROLES: dict[str, Role] = {
    "#repetitions": "repetitions",
    "t_min[usec]": "minimum",
    "t_max[usec]": "maximum",
    "t_pure[usec]": "pure",
    "t_CPU[usec]": "compute",
    "overlap[%]": "overlap",
    "Msg/sec": "rate",
}
TIMES = ("t_ovrl[usec]", "t_avg[usec]", "t[usec]")
"""The value is the first of these that a table has."""


@dataclass
class Section:
    """A table while it is read; with `-multi 1` one for each group of ranks."""

    file: str
    run: Run
    line: int
    spelling: str
    ranks: int = 0
    threads: int = 1
    mode: str = ""
    options: dict[str, str] = field(default_factory=dict)
    facts: dict[str, str] = field(default_factory=dict)
    headings: list[str] = field(default_factory=list)
    drafts: Drafts = field(default_factory=Drafts)
    wrong: str = ""
    """Error message for the next row."""

    @functools.cached_property
    def columns(self) -> tuple[str, ...]:
        """The headings without group and size."""
        return tuple(each for each in self.headings if each not in {GROUP, SIZE})

    @functools.cached_property
    def benchmark(self) -> Benchmark:
        """The benchmark, made from its headings if it is unknown."""
        same = KNOWN.get(self.spelling.lower(), [])
        if not self.run.component and len({each.component for each in same}) > 1:
            same = []
        component = self.run.component or next((each.component for each in same), "")
        benchmarks = [each for each in same if each.component == component and each.mode in {self.mode, ""}]
        if benchmarks:
            return benchmarks[0]
        return make_unknown(component, self.spelling, self.columns, sized=SIZE in self.headings)

    @functools.cached_property
    def operation(self) -> Operation:
        """The benchmark's operation, adapted to the run."""
        return _adapt_to_run(self.run, self.benchmark, self.columns)

    def take(self, line: Line, text: str) -> None:
        """Read a line; `text` is without surrounding blanks."""
        place = Place(self.file, line.number)
        if begins_a_row(text):
            self.take_row(place, text)
        elif HEADINGS.match(text):
            self.take_headings(place, text.split())
        elif text.startswith("#"):
            self.take_title(text)
        else:
            self.wrong = text if text.startswith(CHECK_FAILED) else self.wrong
            self.drafts.keep_unrecognised(line)

    def take_title(self, text: str) -> None:
        """Read a line above the columns."""
        if match := RANKS.match(text):
            self.ranks, self.threads = int(match["ranks"]), int(match["threads"] or 1)
        elif match := GROUPS.match(text):
            self.ranks, self.options["groups"] = int(match["ranks"]), match["groups"]
        elif match := IDLE.match(text):
            self.facts["idle_ranks"] = match["idle"]
        elif match := MODE.match(text):
            self.mode = match["mode"].lower()
        elif match := WINDOW.match(text):
            self.options["window"] = match["window"]

    def take_headings(self, place: Place, headings: list[str]) -> None:
        """Read the line of headings. Raises RankbenchError for unknown ones."""
        if self.headings:
            raise place.make_error(f"headings again in the table of {self.spelling}, expected rows or '# Benchmarking'")
        self.headings = headings
        leading = [each for each in (GROUP, SIZE) if each in headings]
        if headings != [*leading, *self.columns]:
            raise place.make_error(
                f"columns of {self.spelling} in an order that is not IMB's: {' '.join(headings)[:200]}"
            )
        if "value" not in find_roles(self.columns):
            known, shown = ", ".join((*TIMES, BANDWIDTH)), " ".join(headings)
            raise place.make_error(f"no column of {self.spelling} is known: {shown[:200]} (known: {known})")

    def take_row(self, place: Place, text: str) -> None:
        """Read a row."""
        if not self.headings:
            raise place.make_error(f"a row of {self.spelling} before the line that names its columns, such as '{SIZE}'")
        reason = SKIPPED_SIZE.search(text)
        cells = [] if reason else place.split(text, self.headings)
        group, row = (
            self.read_skipped_row(place, text, reason.start()) if reason else self.read_measured_row(place, cells)
        )
        printed = cells[-len(self.columns) :]
        self.drafts.add(group, functools.partial(self.make_table, group), row, printed)
        self.wrong = ""

    def read_skipped_row(self, place: Place, text: str, reason: int) -> tuple[str, Row]:
        """Return the group and the row of a size that IMB skipped; the message begins at `reason`."""
        cells = place.split(text[:reason], [GROUP, SIZE] if GROUP in self.headings else [SIZE])
        size_bytes, wrong = self.parse_message_size(place, cells[-1]), " ".join(text[reason:].split())
        return self.parse_group(place, cells), Row(place.line, size_bytes, (NONE,) * len(self.columns), wrong)

    def read_measured_row(self, place: Place, cells: list[str]) -> tuple[str, Row]:
        """Return the group and the row of a line of numbers."""
        first = len(cells) - len(self.columns)
        numbers = place.parse_numbers(cells[first:], self.columns)
        size_bytes = self.parse_message_size(place, cells[first - 1]) if SIZE in self.headings else 0
        wrong = self.wrong or describe_defects(self.columns, numbers)
        return self.parse_group(place, cells), Row(place.line, size_bytes, numbers, wrong)

    def parse_group(self, place: Place, cells: list[str]) -> str:
        """Return the number of the group of ranks; empty without groups."""
        return str(place.parse_size(cells[0], GROUP)) if self.headings[0] == GROUP else ""

    def parse_message_size(self, place: Place, cell: str) -> int:
        """Return the size of a message, 0 without one: IMB-MT prints the size of all threads together."""
        size_bytes = place.parse_size(cell, SIZE)
        if size_bytes % self.threads:
            raise place.make_error(f"{SIZE} is '{size_bytes}', expected a multiple of the {self.threads} threads")
        return size_bytes // self.threads if self.operation.sized else 0

    def make_table(self, group: str) -> Table:
        """Return the table of a group, without rows."""
        operation, columns = self.operation, self.columns
        options = {
            **self.options,
            **self.benchmark.options,
            **self.collect_options(),
            **({"group": group} if group else {}),
        }
        column_roles = find_roles(columns, operation.metric)
        return Table(
            operation=operation,
            datatype=self.find_datatype(),
            ranks=self.ranks,
            options=dict(sorted(options.items())),
            columns=columns,
            roles=column_roles,
            scale=find_scale(columns[column_roles["value"]], operation),
            rows=[],
            line=self.line,
            version=self.run.version,
            facts={**self.run.facts, **self.facts},
        )

    def collect_options(self) -> dict[str, str]:
        """Return the options that follow from the run's version and command line."""
        run, entry = self.run, self.benchmark
        name, counterpart = get_foreign(entry.operation).benchmark, get_foreign(entry.operation).counterpart
        more = {"mode": self.mode, "off_cache": run.get_argument("-off_cache")}
        if run.accelerated:
            more["memory"] = run.get_argument("-mem_alloc_type") or "device"
        if self.threads > 1:
            more["threads"] = str(self.threads)
        if entry.component == "mpi1" and name in {"Uniband", "Biband"}:
            more["window"] = run.get_argument("-window_size") or ("256" if run.version_number >= (2021, 2) else "64")
        if entry.component == "mpi1" and name in {"PingPong", "PingPing"} and run.version_number < (2017, 1):
            more |= ANY_SOURCE
        if counterpart in ROOTED and entry.component != "mt":
            more["root"] = (
                "rotating" if (run.get_argument("-root_shift") or ("off", "on")[run.is_before_2017]) in ON else ""
            )
        return {option: value for option, value in more.items() if value}

    def find_datatype(self) -> str:
        """Return the datatype by its name in the core; empty if unknown."""
        name = self.spelling.lower()
        if self.run.component == "p2p" or name == "compare_and_swap":
            return "byte" if self.run.component == "p2p" else "int"
        heading = "MPI_Datatype for reductions" if REDUCTION.fullmatch(name) else "MPI_Datatype"
        return self.run.datatypes.get(heading, "")


def find_roles(columns: Sequence[str], metric: str = "time") -> dict[Role, int]:
    """Return the column of each role: the value is a time if there is one, unless a bandwidth is measured."""
    column_roles: dict[Role, int] = {ROLES[name]: index for index, name in enumerate(columns) if name in ROLES}
    order = (BANDWIDTH, *TIMES) if metric == "bandwidth" else (*TIMES, BANDWIDTH)
    value = next((name for name in order if name in columns), None)
    return column_roles if value is None else {"value": columns.index(value), **column_roles}


def find_scale(heading: str, operation: Operation) -> float:
    """Return the factor that converts a value to nanoseconds or bytes per second."""
    return float(get_foreign(operation).meaning.megabyte) if heading == BANDWIDTH else 1000.0


def describe_defects(columns: Sequence[str], numbers: Sequence[float]) -> str:
    """Return IMB's message about wrong data in a row; empty if there is none."""
    value = numbers[columns.index(DEFECTS)] if DEFECTS in columns else 0.0
    return f"{DEFECTS}: {value:g}" if value else ""


# --- a text -----------------------------------------------------------------------------------------------------------


def recognises(head: Sequence[Line]) -> bool:
    """Return whether the first lines of a text are from IMB."""
    return any(HEAD.match(text) or BENCHMARK.match(text) for text in (line.text.strip() for line in head))


def read(text: Text) -> Iterator[Table]:
    """Yield the tables of a text. Raises RankbenchError if one is damaged."""
    run, section = Run(), None
    for line in text.lines:
        stripped = line.text.strip()
        if section and not stripped.startswith("#"):
            section.take(line, stripped)
            continue
        head, title = HEAD.match(stripped), BENCHMARK.match(stripped)
        if section and (head or title or stripped.startswith(END)):
            yield from section.drafts.finish()
            section = None
        if head:
            run = Run(head["version"], head["part"], bool(head["gpu"]))
        elif title:
            section = Section(text.file, run, line.number, title["name"])
            section.options |= {"grid": title["grid"].replace(" ", "")} if title["grid"] else {}
        elif section:
            section.take(line, stripped)
        else:
            run.take(stripped)
    if section:
        yield from section.drafts.finish()


# --- running ----------------------------------------------------------------------------------------------------------

SIZES = "sizes.txt"
"""File in the folder of a launch."""


TYPE_OPTION = "-red_data_type"


def program(operation: Operation) -> str:
    """Return the name of a benchmark's program."""
    component = next(entry.component for entry in BENCHMARKS if entry.operation.name == operation.name)
    return f"IMB-{component.upper()}"


def apply_plan(operation: Operation, plan: Plan, user_arguments: Sequence[str]) -> Operation:
    """Return a benchmark with the datatype and repetitions of a plan and of the user's arguments."""
    times = find_option(user_arguments, ("-iter",)) or str(plan.sampling.good)
    limit = find_option(user_arguments, ("-time",)) or f"{plan.case_limit_s:g}"
    fewer = f"{{}} repetitions after some unscored ones, fewer for sizes that would take more than {limit} s"
    kind = find_option(user_arguments, (TYPE_OPTION,)).lower() if operation.datatype == "float" else ""
    return replace(set_repetitions(operation, {REPETITIONS: fewer}, times), datatype=kind or operation.datatype)


def arguments(request: RunRequest) -> list[str]:
    """Return the arguments of the program: the benchmark on all ranks, sizes, and as many repetitions as samples."""
    words = [get_foreign(request.operation).benchmark, "-npmin", str(request.ranks)]
    words += ["-iter", str(request.plan.sampling.good), "-time", f"{request.plan.case_limit_s:g}"]
    if request.operation.sized:
        path = request.folder / SIZES
        write(path, "".join(f"{size}\n" for size in request.sizes))
        words += ["-msglen", str(path)]
    return words
