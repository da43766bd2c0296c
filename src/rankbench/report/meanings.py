"""What the number of each benchmark of each foreign tool means, and the page that lists the tools."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from types import ModuleType

from rankbench import units
from rankbench.foreign import tools
from rankbench.model import Foreign, Meaning, Operation
from rankbench.report.catalogue import code, make_table

HEAD = """\
# What others measure

What the number of each benchmark means, as the readers state it (`src/rankbench/foreign/tools`, one file for each
tool). A benchmark is named as its tool spells it, then as a plan and a campaign name it; after `=` comes the operation
of rankbench that measures the same. Even then the numbers can have different meanings: comparisons state what differs,
and what cannot be compared is not compared.
"""
TOOLS = """\
# Formats that import reads

Which output can [`rankbench import`](../howto/import-old-results.md) read? That of these tools, recognised by its text,
not by the name of its file:
"""
READING = """
One import can have several tools, and one file several runs. Labels that launchers put before lines, colours and
Windows line ends are removed. A malformed line is left out and named with file and line number. Lines that are not the
tool's are reported, and kept with the run.

Values are only converted to nanoseconds: a bandwidth becomes the time of one message, and is shown as a bandwidth
again. All that is printed beside the value is kept under its own heading (`printed`, see [Formats](formats.md)).

What each number means, such as what was averaged over what, or whose bytes:

    rankbench import --meanings

[Coverage](coverage.md) has each benchmark beside the operation of rankbench that measures the same.
"""
RUN = "can be operations of a plan: `rankbench run` and `rankbench reconcile` start its programs."
READ = "Its output is read; its programs are not started."
TRIPS = {"half": "half a round trip", "round": "a whole round trip", "gap": "from one send to the next"}
MEGABYTES = {10**6: "1 MB = 10^6 B", 1 << 20: "1 MB = 2^20 B"}


def list_tools() -> str:
    """Return the page of the tools: how many benchmarks of each are read, and which a plan can start."""
    rows = [[tool.TITLE, str(len(tool.OPERATIONS)), count_runnable(tool)] for tool in units.modules(tools).values()]
    table = make_table("", ["tool", "benchmarks", "a plan can start"], rows).partition("\n\n")[2]
    return f"{TOOLS}\n{table}{READING}"


def count_runnable(tool: ModuleType) -> str:
    """Return how many of a tool's benchmarks a plan can start: all, none, or a number."""
    if not hasattr(tool, "program"):
        return "none"
    number = len(getattr(tool, "RUNNABLE", tool.OPERATIONS))
    return "all" if number == len(tool.OPERATIONS) else str(number)


def page() -> str:
    """Return the meanings of all benchmarks as Markdown."""
    return "\n".join([HEAD, *(section(tool) for tool in units.modules(tools).values())])


def section(tool: ModuleType) -> str:
    """Return what there is to say of one tool: a row for each meaning, with the benchmarks that have it."""
    by_meaning: dict[Meaning, list[tuple[Operation, Foreign]]] = {}
    for operation in tool.OPERATIONS:
        by_meaning.setdefault(operation.foreign.meaning, []).append((operation, operation.foreign))
    rows = [
        [
            ", ".join(name_foreign(*member) for member in members),
            "; ".join(short(meaning)),
            meaning.text.replace("|", r"\|"),
        ]
        for meaning, members in by_meaning.items()
    ]
    heading, _, lines = make_table(tool.TITLE, ["benchmark", "in short", "its number"], rows).partition("\n\n")
    return f"{heading}\n\n{count(tool.OPERATIONS)} {describe_running(tool)}\n\n{lines}"


def describe_running(tool: ModuleType) -> str:
    """Return which of a tool's benchmarks a plan can run."""
    number = count_runnable(tool)
    if number == "none":
        return READ
    return f"{'Its benchmarks' if number == 'all' else f'{number} of them'} {RUN}"


def count(operations: Sequence[Operation]) -> str:
    """Return how many benchmarks a tool has."""
    return "One benchmark." if len(operations) == 1 else f"{len(operations)} benchmarks."


def name_foreign(operation: Operation, foreign: Foreign) -> str:
    """Return a benchmark's names: `osu_latency osu-latency = pingpong`, the last two as they are typed."""
    same = f" = {code(foreign.counterpart)}" if foreign.counterpart else ""
    return f"{foreign.benchmark} {code(operation.name)}{same}"


def short(meaning: Meaning) -> Iterator[str]:
    """Yield what two meanings are compared by, as far as it is anything special."""
    yield "a single call" if meaning.over_calls == "single" else f"{meaning.over_calls} over calls"
    ranks = {"one": "one rank measures", "span": "from a common start to the last end"}
    yield ranks.get(meaning.over_ranks, f"{meaning.over_ranks} over ranks")
    yield f"start: {meaning.start}"
    if meaning.trip in TRIPS:
        yield TRIPS[meaning.trip]
    if meaning.counted != 1:
        yield f"bytes count {meaning.counted:g} times"
    if meaning.megabyte:
        yield MEGABYTES.get(meaning.megabyte, f"1 MB = {meaning.megabyte} B")
    yield f"data {meaning.data}"
