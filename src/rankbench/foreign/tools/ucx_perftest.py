"""Reads ucx_perftest of UCX: transfers over UCP or UCT between two processes, no MPI.

The server prints the test and the message size, the client prints the numbers. A text needs both.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache, partial

from rankbench.foreign import Line, Role, Row, Table, Text, make_pair_benchmark
from rankbench.foreign.fields import Drafts, Place, make_slug
from rankbench.model import Meaning, Operation

NAME = "ucx_perftest"
TITLE = "ucx_perftest of UCX"
PRECEDENCE = 4
"""Its titles do not begin like those of others."""
FACT = re.compile(r"\| (?P<name>API|Test|Data layout|Send memory|Recv memory|Message size):\s+(?P<value>\S.*?)\s*\|")
TEST = re.compile(r"(?P<what>.+) (?P<kind>latency|bandwidth|rate)(?: / message rate)?")
HEADING = re.compile(r"\|\s*\|\s*\|\s*(?:latency|overhead) \(usec\)\s*\|\s*bandwidth \(MB/s\)\s*\|.*")
FINAL = re.compile(r"Final:((?:\s+[\d.]+){6,10})\s*")
COLUMNS = (
    "iterations",
    "usec 50.0%ile",
    "usec average",
    "usec overall",
    "MB/s average",
    "MB/s overall",
    "msg/s average",
    "msg/s overall",
)
VALUES = {"latency": 3, "bandwidth": 5, "rate": 7}
SCALES = {"latency": 1e3, "bandwidth": 1 << 20, "rate": 1.0}
OPTIONS = {"Data layout": "(automatic)", "Send memory": "host", "Recv memory": "host"}
"""Facts that are options of the transfer, each with its usual value."""


@cache
def _find_operation(test: str) -> Operation:
    """Return the operation of a test such as `tag match latency`."""
    match = TEST.fullmatch(test)
    metric = match["kind"] if match else "latency"
    half = metric == "latency" and "get" not in test and "atomic" not in test
    timed = {
        "latency": "half a round trip" if half else "the time of one call",
        "bandwidth": "bytes over the time of all",
        "rate": "calls over the time of all",
    }
    meaning = Meaning(
        over_calls="mean",
        over_ranks="one",
        start="none",
        trip="half" if half else "call",
        megabyte=1 << 20 if metric == "bandwidth" else 0,
        text=f"{test} of UCX between two processes, without MPI: {timed[metric]}",
    )
    return make_pair_benchmark(
        NAME,
        make_slug(test.partition(" / ")[0]),
        test,
        f"{test} over UCX, without MPI",
        meaning,
        metric={"latency": "latency", "bandwidth": "bandwidth", "rate": "rate"}[metric],  # type: ignore[arg-type]
    )


OPERATIONS = [_find_operation(f"tag match {kind}") for kind in ("latency", "bandwidth")]


def recognises(head: Sequence[Line]) -> bool:
    """Return whether one of the lines is a heading of its numbers, or names a test as the server does."""
    return any(HEADING.fullmatch(line.text) or FACT.fullmatch(line.text) for line in head)


def read(text: Text) -> Iterator[Table]:
    """Yield the table of each run. Raises RankbenchError for a damaged row, and without the server's output."""
    drafts = Drafts()
    facts: dict[str, str] = {}
    for line in text.lines:
        place = Place(text.file, line.number)
        if match := FACT.fullmatch(line.text):
            if match["name"] == "API":  # The first line of a run.
                yield from drafts.finish()
                facts = {}
            facts[match["name"]] = match["value"]
        elif match := FINAL.fullmatch(line.text):
            if not {"Test", "Message size"} <= facts.keys():
                raise place.make_error(
                    "the client's output names neither test nor message size; import a file that has the server's "
                    "output, too, before the client's"
                )
            printed = place.split(match[1], COLUMNS)
            numbers = place.parse_numbers(printed, COLUMNS)
            row = Row(line.number, place.parse_size(facts["Message size"], "message size"), numbers)
            drafts.add(place.line, partial(_make_table, dict(facts), line.number), row, printed)
            yield from drafts.finish()
            facts = {}
        else:
            drafts.keep_unrecognised(line)
    yield from drafts.finish()


def _make_table(facts: dict[str, str], line: int) -> Table:
    operation = _find_operation(facts["Test"])
    unusual = sorted(name for name, usual in OPTIONS.items() if facts.get(name, usual) != usual)
    roles: dict[Role, int] = {"value": VALUES[operation.metric]}
    if operation.metric == "latency":
        roles["p50"] = COLUMNS.index("usec 50.0%ile")
    return Table(
        operation=operation,
        ranks=2,
        options={name.lower(): facts[name] for name in unusual},
        columns=COLUMNS,
        roles=roles,
        scale=SCALES[operation.metric],
        rows=[],
        line=line,
        facts={"API": facts.get("API", "")},
    )
