"""Reads performance logs of ReFrame: a line of names divided by `|`, then a line for each run of a check.

    result|job_completion_time|...|lib|name|num_tasks|...|latency_8_value|latency_8_unit|...|system|...

A variable has its size in its name (`latency_8`, `bw_1M`), or a parameter of the check is the size. Parameters, the
programming environment and further variables of the check say what was measured. Values in other units than those of
times and bandwidths are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

from rankbench.foreign import Line, Problem, Row, Table, Text, make_benchmark
from rankbench.foreign.fields import LIBRARY_NAMES, SIZE_NAME, Place, count_decimals, find_scale, make_slug, parse_bytes
from rankbench.model import Meaning, Operation

NAME = "reframe"
TITLE = "performance logs of ReFrame"
PRECEDENCE = 4
"""Before tables of columns, which its lines are, too."""
RESULT = "result"
VALUE = re.compile(r"(?P<variable>.+)_value")
SIZED = re.compile(r"(?P<what>.*?)[ _-](?P<size>\d{1,18} ?(?:[kmg]i?)?b?)", re.IGNORECASE)
PARAMETERS = re.compile(r"\s*(?:%\S+=\S*|@\S+|/[0-9a-f]{8})")
"""What follows the name of a check's class."""
PARAMETER = re.compile(r"%(?P<name>[^\s=]+)=(?P<value>\S+)")
IGNORED = re.compile(
    r"result|name|\w+_name|descr|info|version|hashcode|jobid|job_\w+|perf_\w+|stagedir|outputdir|maintainers|tags|system|"
    r"partition|environ|num_tasks|num_tasks_per_node"
)
"""Columns that do not distinguish runs, or that have a meaning of their own."""
ABSENT = {"", "null", "None", "{}", "[]", "false"}
TEXT = (
    "a number that a check of ReFrame reports: its author knows over which calls and ranks it is the mean, the minimum "
    "or another statistic, and how the calls began"
)


class Variable(NamedTuple):
    """A performance variable of a log."""

    name: str
    what: str
    """Its name without a size."""
    size_bytes: int | None
    value: int
    """Column of the value."""
    unit: int
    """Column of the unit."""


def _make_operation(slug: str, spelling: str, metric: Literal["time", "bandwidth"]) -> Operation:
    meaning = Meaning(
        over_calls="mean",
        over_ranks="mean",
        start="not reported",
        megabyte=10**6 if metric == "bandwidth" else 0,
        text=TEXT,
    )
    return make_benchmark(NAME, slug, spelling, f"{spelling}, a check of ReFrame", meaning, metric=metric, kind="other")


OPERATIONS = [_make_operation("time", "time", "time"), _make_operation("bandwidth", "bandwidth", "bandwidth")]


def recognises(head: Sequence[Line]) -> bool:
    """Return whether the first line names the columns of a performance log."""
    first = next((line for line in head if line.text.strip()), None)
    return first is not None and _is_header(first.text)


def _is_header(text: str) -> bool:
    names = text.split("|")
    return names[0] == RESULT and bool(_list_variables(names))


def _list_variables(names: Sequence[str]) -> list[Variable]:
    """Return the variables that have a value and a unit."""
    variables = []
    for place, name in enumerate(names):
        match = VALUE.fullmatch(name)
        if not match or f"{match['variable']}_unit" not in names:
            continue
        sized = SIZED.fullmatch(match["variable"])
        size = parse_bytes(sized["size"]) if sized else None
        what = sized["what"] if sized and size is not None else match["variable"]
        variables.append(Variable(match["variable"], what, size, place, names.index(f"{match['variable']}_unit")))
    return variables


def read(text: Text) -> Iterator[Table]:
    """Yield a table for each run of a check and each quantity, with a row per size.

    Raises RankbenchError for a row that does not fit the columns, or has no number as a value.
    """
    names: list[str] = []
    for line in text.lines:
        if not line.text.strip():
            continue
        if _is_header(line.text):  # A check that has other variables since then writes its names again.
            names = line.text.split("|")
            continue
        fields = line.text.split("|")
        place = Place(text.file, line.number)
        if len(fields) != len(names):
            raise place.make_error(f"{len(fields)} columns, expected {len(names)} (those of the line of names)")
        yield from _read_run(text, place, names, fields)


def _read_run(text: Text, place: Place, names: Sequence[str], fields: Sequence[str]) -> Iterator[Table]:
    """Yield the tables of one line."""
    run = {name: field for name, field in zip(names, fields, strict=True) if field not in ABSENT}
    variables = _list_variables(names)
    used = {name for variable in variables for name in names if name.startswith(f"{variable.name}_")}
    parameters = {name: field for name, field in run.items() if name not in used and not IGNORED.fullmatch(name)}
    parameters |= {match["name"]: match["value"] for match in PARAMETER.finditer(run.get("name", ""))}
    size_name = next((name for name in parameters if SIZE_NAME.fullmatch(name.lower())), "")
    size = parse_bytes(parameters.pop(size_name, ""))
    context = _make_context(run, parameters)
    tables: dict[tuple[str, str], Table] = {}
    for variable in variables:
        quantity = find_scale(fields[variable.unit])
        if fields[variable.value] in ABSENT:
            continue
        if not quantity:
            _report(text, place, f"{variable.name} is in {fields[variable.unit]!r}, expected a time or a bandwidth")
            continue
        metric, scale = quantity
        number = place.parse_number(fields[variable.value], variable.name)
        bytes_ = variable.size_bytes if variable.size_bytes is not None else size or 0
        table = tables.setdefault(
            (variable.what, fields[variable.unit]),
            Table(
                operation=_find_operation(run.get("name", ""), variable.what, metric),
                ranks=_parse_count(run.get("num_tasks", "")),
                columns=(f"{variable.what} ({fields[variable.unit]})",),
                roles={"value": 0},
                scale=scale,
                rows=[],
                line=place.line,
                facts={name: run[name] for name in ("system", "partition", "job_completion_time") if name in run},
                context=context,
            ),
        )
        table.rows.append(Row(place.line, bytes_, (number,), decimals=count_decimals(fields[variable.value])))
    yield from tables.values()


def _report(text: Text, place: Place, reason: str) -> None:
    """Note a value that is left out, where somebody reads the notes."""
    if text.problems is not None:
        text.problems.append(Problem(place.line, reason, "with values that are neither times nor bandwidths"))


def _make_context(run: dict[str, str], parameters: dict[str, str]) -> dict[str, str]:
    """Return what a run's columns say about library, ranks and settings, such as `{"library": "openmpi"}`."""
    library = next((name for name in parameters if name.lower() in LIBRARY_NAMES), "")
    context = {"library": parameters[library] if library else run.get("environ", "")}
    ranks, per_node = (_parse_count(run.get(name, "")) for name in ("num_tasks", "num_tasks_per_node"))
    if ranks:
        context["ranks"] = str(ranks)
    if ranks and per_node:
        context |= {"ranks per node": str(per_node), "nodes": str(-(-ranks // per_node))}
    settings = {name: value for name, value in parameters.items() if name != library}
    return {name: value for name, value in {**context, **settings}.items() if value}


def _parse_count(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() else 0


def _find_operation(check: str, what: str, metric: Literal["time", "bandwidth"]) -> Operation:
    """Return the benchmark: the name of the check, and that of the variable where the check's does not contain it."""
    name = PARAMETERS.sub("", check)
    spelling = name if make_slug(what) in make_slug(name) else f"{name} {what}".strip()
    return _make_operation(make_slug(spelling) or "unnamed", spelling, metric)
