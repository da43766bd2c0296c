"""Tables with a line of headings, as scripts write them: columns for the size and for a time or a bandwidth.

    library,ranks,benchmark,size,time_us,bandwidth_MBps
    openmpi,4,allreduce,8,1.53,

Headings name the unit, or a column `unit` does. Columns for library, ranks, nodes and benchmark are optional; those for
repeats make runs of their own, and any other column is a setting. Only its author knows which statistic a number is.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Container, Iterator, Mapping, Sequence
from pathlib import PurePath
from typing import Literal, NamedTuple

from rankbench.foreign import Line, Row, Table, Text, make_benchmark
from rankbench.foreign.fields import LIBRARY_NAMES, SIZE_NAME, Place, count_decimals, find_scale, make_slug, parse_bytes
from rankbench.model import Meaning, Operation, RankbenchError

NAME = "columns"
TITLE = "CSV with a header"
PRECEDENCE = 5
"""After the tools that print titles."""
SEPARATORS = (",", ";", "\t", "|")
TIME = re.compile(
    r"(?:(?:avg|mean|average|median|min|max|p50|typical)[ _-]*)?(?:latency|lat|time|duration|t|t[ _-]?avg|rtt)"
)
BANDWIDTH = re.compile(r"(?:(?:avg|mean|average|median|min|max|peak)[ _-]*)?(?:bandwidth|bw|throughput|rate)")
UNIT = re.compile(r"(?P<what>.*?)[ _-]*(?:[(\[](?P<bracket>[^)\]]+)[)\]]|[ _-](?P<end>[A-Za-zµμ]+(?:/s(?:ec)?|ps)?))")
KNOWN = {
    "library": LIBRARY_NAMES,
    "ranks": ("ranks", "nranks", "np", "nprocs", "procs", "processes", "tasks", "ntasks", "n_ranks", "num_procs"),
    "nodes": ("nodes", "nnodes", "n_nodes", "num_nodes"),
    "ranks per node": ("ppn", "ranks_per_node", "tasks_per_node", "procs_per_node"),
    "benchmark": ("benchmark", "operation", "test", "collective", "op", "bench", "call"),
    "unit": ("unit", "units"),
    "repeat": ("run", "rep", "repeat", "repetition", "iteration", "iter", "trial", "sample", "job", "jobid", "job_id",
               "date", "timestamp", "time_stamp", "index", "id", "seed"),
}  # fmt: skip
"""Columns by what they hold."""
CALLS = re.compile(
    r"(?i)(all-?reduce|all-?gather|all-?to-?all|bcast|broadcast|barrier|ping-?pong|latency|bandwidth|bw)"
)
TEXT = (
    "a number in a table that a script wrote: its author knows over which calls and ranks it is the mean, the minimum "
    "or another statistic, and how the calls began"
)


class Value(NamedTuple):
    """A column of times or bandwidths."""

    place: int
    metric: Literal["time", "bandwidth"]
    scale: float
    """To nanoseconds or bytes per second; 0: the column `unit` has the unit."""


class Header(NamedTuple):
    """What the columns of a table hold."""

    separator: str
    names: tuple[str, ...]
    size: int
    values: tuple[Value, ...]
    known: dict[str, int]
    settings: dict[str, int]


def _make_operation(slug: str, spelling: str, metric: Literal["time", "bandwidth"]) -> Operation:
    meaning = Meaning(
        over_calls="mean",
        over_ranks="mean",
        start="not reported",
        megabyte=10**6 if metric == "bandwidth" else 0,
        text=TEXT,
    )
    return make_benchmark(
        NAME, slug, spelling, f"{spelling}, in a table of columns", meaning, metric=metric, kind="other"
    )


OPERATIONS = [_make_operation("time", "time", "time"), _make_operation("bandwidth", "bandwidth", "bandwidth")]


def recognises(head: Sequence[Line]) -> bool:
    """Return whether the first line names a column of sizes and one of times or bandwidths."""
    first = next((line for line in head if line.text.strip()), None)
    return first is not None and _read_header(first.text) is not None


def _read_header(text: str) -> Header | None:
    """Return what the columns are; None if a line does not name them."""
    separator = next((mark for mark in SEPARATORS if mark in text), "")
    if not separator:
        return None
    names = tuple(name.strip().strip("\"'# ") for name in text.split(separator))
    plain = [name.lower() for name in names]
    sizes = [place for place, name in enumerate(plain) if SIZE_NAME.fullmatch(name)]
    known = {what: plain.index(name) for what, all_ in KNOWN.items() for name in all_ if name in plain}
    values = _list_values(names, {*sizes, *known.values()})
    if len(sizes) != 1 or not values:
        return None
    used = {*sizes, *known.values(), *(value.place for value in values)}
    settings = {name: place for place, name in enumerate(names) if place not in used and name}
    return Header(separator, names, sizes[0], tuple(values), known, settings)


def _list_values(names: Sequence[str], others: Container[int]) -> list[Value]:
    """Return the columns of times and bandwidths; `others` are the indices of columns with another meaning."""
    values = (_read_value(place, name) for place, name in enumerate(names) if place not in others)
    return [value for value in values if value]


def _read_value(place: int, name: str) -> Value | None:
    """Return a column of times or bandwidths with its unit; None for others."""
    match = UNIT.fullmatch(name)
    unit = (match["bracket"] or match["end"]) if match else ""
    scale = find_scale(unit)
    what = match["what"] if match and scale else name
    if TIME.fullmatch(what.lower()) and (not scale or scale[0] == "time"):
        return Value(place, "time", scale[1] if scale else 0.0)
    if BANDWIDTH.fullmatch(what.lower()) and (not scale or scale[0] == "bandwidth"):
        return Value(place, "bandwidth", scale[1] if scale else 0.0)
    return None


def read(text: Text) -> Iterator[Table]:
    """Yield a table for each run: for each combination of library, ranks, benchmark and settings, and each repeat.

    Raises RankbenchError if a unit is missing, or for a damaged row.
    """
    header: Header | None = None
    tables: dict[tuple[object, ...], Table] = {}
    counts: dict[tuple[object, ...], int] = {}
    for line in text.lines:
        if not line.text.strip() or (header and line.text.startswith("#")):
            continue
        if header is None or (again := _read_header(line.text)):
            header = again if header else _read_header(line.text)
            if header:
                _check_units(text.file, line.number, header)
            continue
        fields = [field.strip() for field in next(csv.reader([line.text], delimiter=header.separator))]
        place = Place(text.file, line.number)
        if len(fields) != len(header.names):
            raise place.make_error(f"{len(fields)} columns, expected {len(header.names)} ({', '.join(header.names)})")
        for value in header.values:
            if not fields[value.place]:
                continue
            key, row, table = _read_row(text, place, header, fields, value)
            repeat = counts[(*key, row.size_bytes)] = counts.get((*key, row.size_bytes), 0) + 1
            tables.setdefault((*key, repeat), table).rows.append(row)
    yield from tables.values()


def _check_units(file: str, number: int, header: Header) -> None:
    missing = [header.names[value.place] for value in header.values if not value.scale]
    if missing and "unit" not in header.known:
        name = missing[0]
        way_out = f"name it {name}_us or {name}_MB/s, or add a column unit"
        raise RankbenchError(f"{file}: line {number}: the column {name} has no unit; {way_out}")


def _read_row(
    text: Text, place: Place, header: Header, fields: Sequence[str], value: Value
) -> tuple[tuple[object, ...], Row, Table]:
    """Return the key of a row's run without its repeats, the row, and the table to begin with it."""
    bytes_ = parse_bytes(fields[header.size])
    if bytes_ is None:
        raise place.make_error(f"{header.names[header.size]} is {fields[header.size]!r}, expected a number of bytes")
    scale, metric = value.scale, value.metric
    if not scale:
        unit = fields[header.known["unit"]]
        quantity = find_scale(unit)
        if not quantity or quantity[0] != metric:
            raise place.make_error(f"unit is {unit!r}, expected one of a {metric}")
        scale = quantity[1]
    facts = {what: fields[at] for what, at in header.known.items() if what not in {"unit", "benchmark", "repeat"}}
    facts |= {name: fields[at] for name, at in header.settings.items()}
    repeat = fields[header.known["repeat"]] if "repeat" in header.known else ""
    spelling = fields[header.known["benchmark"]] if "benchmark" in header.known else _find_call(text.file, metric)
    number = place.parse_number(fields[value.place], header.names[value.place])
    bytes_ = place.parse_size(str(bytes_), header.names[header.size])
    table = Table(
        operation=_find_operation(spelling, metric),
        ranks=int(facts["ranks"]) if facts.get("ranks", "").isdigit() else 0,
        columns=(header.names[value.place],),
        roles={"value": 0},
        scale=scale,
        rows=[],
        line=place.line,
        context={name: fact for name, fact in facts.items() if fact},
    )
    key = (spelling, metric, value.place, repeat, *_sort(facts))
    return key, Row(place.line, bytes_, (number,), decimals=count_decimals(fields[value.place])), table


def _sort(facts: Mapping[str, str]) -> list[tuple[str, str]]:
    return sorted(facts.items())


def _find_call(file: str, metric: str) -> str:
    """Return the benchmark in a file's name; else the quantity."""
    match = CALLS.search(PurePath(file).name)
    return match[1].lower() if match and match[1].lower() not in {"latency", "bandwidth", "bw"} else metric


def _find_operation(spelling: str, metric: Literal["time", "bandwidth"]) -> Operation:
    known = next((operation for operation in OPERATIONS if operation.name == f"{NAME}-{spelling}"), None)
    if known and known.metric == metric:
        return known
    slug = make_slug(spelling) or "unnamed"
    return _make_operation(slug if metric == "time" else f"{slug}-bandwidth", spelling, metric)
