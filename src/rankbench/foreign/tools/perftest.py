"""Reads perftest of linux-rdma (ib_send_lat, ib_write_bw ...): transfers by verbs between two processes, no MPI."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import partial
from typing import NamedTuple

from rankbench.foreign import Line, Role, Row, Table, Text, make_pair_benchmark
from rankbench.foreign.fields import Drafts, Place
from rankbench.model import Meaning, Operation

NAME = "perftest"
TITLE = "perftest of linux-rdma"
PRECEDENCE = 4
"""Its titles do not begin like those of others."""
TITLED = re.compile(
    r"\s*(?P<verb>Send|RDMA_Write|RDMA_Read|Atomic FETCH_AND_ADD|Atomic CMP_AND_SWAP)"
    r"(?P<both> Bidirectional)?(?: Post List)? (?P<kind>Latency|BW) Test\s*"
)
HEADING = re.compile(r"#?\S+?\[[^]]+\]|BW (?:peak|average)\[[^]]+\]|99(?:\.9)?% percentile\[[^]]+\]|CPU_Util\[%\]|#\w+")
GIGABIT = 125_000_000
MEGABYTE = 1 << 20
FACT = re.compile(r"\s*(?P<name>[A-Z]\S*(?: \S+)*?)\s*:\s(?P<value>\S+)")
FACTS = {"Device": "device", "Connection type": "connection", "Transport type": "transport", "Link type": "link"}
OPTIONS = {"Number of qps": "queue pairs", "TX depth": "send depth"}


class Run(NamedTuple):
    """A run whose title was read."""

    operation: Operation
    line: int
    options: dict[str, str]
    facts: dict[str, str]


def _make_operation(verb: str, kind: str, *, both: bool = False) -> Operation:
    direction = "-both" if both else ""
    name = f"{verb.lower().replace(' ', '-')}{direction}-{'latency' if kind == 'Latency' else 'bandwidth'}"
    half = kind == "Latency" and verb in {"Send", "RDMA_Write"}
    if kind == "Latency":
        text = f"{'half of a round trip' if half else 'time'} of a {verb} by verbs between two processes, without MPI"
    else:
        ways = ", both directions added" if both else ""
        text = f"bytes of {verb} by verbs between two processes, without MPI, over the time of all{ways}"
    meaning = Meaning(
        over_calls="mean",
        over_ranks="one",
        start="none",
        trip="half" if half else "call",
        counted=2.0 if both else 1.0,
        megabyte=MEGABYTE if kind == "BW" else 0,
        text=f"{text}; t_typical is the median, where no mean is printed the value",
    )
    return make_pair_benchmark(
        NAME,
        name,
        f"{verb}{' Bidirectional' if both else ''} {kind}",
        text,
        meaning,
        metric="latency" if kind == "Latency" else "bandwidth",
    )


VERBS = ("Send", "RDMA_Write", "RDMA_Read", "Atomic FETCH_AND_ADD", "Atomic CMP_AND_SWAP")
BY_TITLE = {
    (verb, kind, both): _make_operation(verb, kind, both=both)
    for verb in VERBS
    for kind, both in (("Latency", False), ("BW", False), ("BW", True))
}
OPERATIONS = list(BY_TITLE.values())
ROLES: dict[str, Role] = {
    "t_min": "minimum",
    "t_max": "maximum",
    "t_typical": "median",
    "t_avg": "mean",
    "t_stdev": "deviation",
    "99% percentile": "p99",
    "#iterations": "repetitions",
}


def recognises(head: Sequence[Line]) -> bool:
    """Return whether one of the lines is a title of perftest."""
    return any(TITLED.fullmatch(line.text) for line in head)


def read(text: Text) -> Iterator[Table]:
    """Yield the table of each run. Raises RankbenchError for a damaged row."""
    drafts = Drafts()
    run: Run | None = None
    headings: tuple[str, ...] = ()
    for line in text.lines:
        if match := TITLED.fullmatch(line.text):
            yield from drafts.finish()
            operation = BY_TITLE[match["verb"], match["kind"], bool(match["both"])]
            run, headings = Run(operation, line.number, {}, {}), ()
        elif run and line.text.strip().startswith("#bytes"):
            headings = tuple(HEADING.findall(line.text))
        elif run and headings and re.match(r"\s*\d+\s+\d", line.text):
            place = Place(text.file, line.number)
            size, *fields = place.split(line.text, headings)
            numbers = place.parse_numbers(fields, headings[1:])
            row = Row(line.number, place.parse_size(size, "#bytes"), numbers)
            drafts.add(run.line, partial(_make_table, run, headings[1:]), row, fields)
        else:
            if run:
                _read_facts(run, line.text)
            drafts.keep_unrecognised(line)
    yield from drafts.finish()


def _read_facts(run: Run, text: str) -> None:
    """Add the facts in a line of the preamble, which has up to two."""
    for match in FACT.finditer(text):
        if name := FACTS.get(match["name"]):
            run.facts[name] = match["value"]
        elif name := OPTIONS.get(match["name"]):
            run.options[name] = match["value"]


def _make_table(run: Run, columns: tuple[str, ...]) -> Table:
    names = [column.partition("[")[0] for column in columns]
    value = next(names.index(name) for name in ("t_avg", "t_typical", "BW average") if name in names)
    roles: dict[Role, int] = {ROLES[name]: place for place, name in enumerate(names) if name in ROLES}
    in_bits = columns[value].endswith("[Gb/sec]")
    scale = 1e3 if run.operation.metric == "latency" else GIGABIT if in_bits else MEGABYTE
    return Table(
        operation=run.operation,
        ranks=2,
        options=dict(sorted(run.options.items())),
        columns=columns,
        roles={**roles, "value": value},
        scale=scale,
        rows=[],
        line=run.line,
        facts=run.facts,
    )
