"""The names of cases: everything by which two cases of a campaign may differ is put into words here and only here.

Placement and start are in captions, since all cases of a table or a chart have them in common.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from rankbench.model import Case, CaseVerdict, Operation
from rankbench.model.verdicts import Outcome
from rankbench.quantities import format_ratio, format_size

ENDS = ("from", "to")
"""Options that name the two ranks between which an operation is."""


def list_unusual(case: Case, operation: Operation) -> list[str]:
    """Return what distinguishes a case beside its form and size: `double`, `cold`, `epoch=fence`."""
    datatype = [case.datatype] if case.datatype != operation.datatype else []
    memory = [case.memory.label] if case.memory.label else []
    options = case.options
    if options.keys() & set(ENDS):  # Of one end alone nobody would know what the other is.
        options = options | {name: str(rank) for name, rank in zip(ENDS, find_ends(case, operation), strict=True)}
    return [*datatype, *memory, *(f"{name}={options[name]}" for name in sorted(options))]


def name_call(case: Case, operation: Operation) -> str:
    """Return the operation, with its form where it is neither the usual nor the only one."""
    usual = case.form == operation.form or len(operation.forms) == 1
    return case.operation if usual else f"{case.operation} {case.form}"


def name_line(case: Case, operation: Operation) -> str:
    """Name cases that differ in size only: `put, allocation=create, epoch=fence`."""
    return ", ".join([name_call(case, operation), *list_unusual(case, operation)])


def name_case(case: Case, operation: Operation) -> str:
    """Name a case: `put 8 B, allocation=create, epoch=fence`."""
    size = f" {format_size(case.size_bytes)}" if operation.sized else ""
    return ", ".join([name_call(case, operation) + size, *list_unusual(case, operation)])


def name_variant(case: Case, operation: Operation, *, start: bool, placement: bool) -> str:
    """Name a case, with its start and placement where these distinguish it from others."""
    text = name_case(case, operation)
    if start:
        text = f"{text}, start {case.start}"
    return f"{text} at {case.placement}" if placement else text


def format_case_size(case: Case, operation: Operation) -> str:
    """Return a case's message size, or a dash where the operation takes none."""
    return format_size(case.size_bytes) if operation.sized else "–"


def join_names(names: Iterable[str]) -> str:
    """Join names by commas, or by semicolons where a name has a comma."""
    texts = list(names)
    return ("; " if any("," in name for name in texts) else ", ").join(texts)


# --- keys -----------------------------------------------------------------------------------------------------------


def list_levels(verdict: CaseVerdict) -> list[str]:
    """Return who is fastest at each level, one text per level."""
    return [
        f"{level}: {_join_winners(names, verdict.outcome_by_level[level], verdict.margins_by_level.get(level))}"
        for level, names in verdict.winners_by_level.items()
    ]


def _join_winners(names: Sequence[str], outcome: Outcome, margin: tuple[float, float, float] | None) -> str:
    """Join the winners at a level; a single one has its ratio to the next slower one, with the interval."""
    if outcome != "faster" or not margin or margin[0] <= 1:
        return (" = " if outcome == "equivalent" else " ~ ").join(names)
    ratio, low, high = map(format_ratio, margin)
    return f"{names[0]} {ratio} ({low.removesuffix('×')}–{high})" if margin[2] else f"{names[0]} {ratio}"


def make_line_key(case: Case) -> str:
    """Return what cases have in common that differ in size only."""
    return case.without("size")


def drop_ends(case: Case) -> Case:
    """Return the case without the ranks between which it is."""
    options = {name: value for name, value in case.options.items() if name not in ENDS}
    return msgspec.structs.replace(case, options=options)


def find_ends(case: Case, operation: Operation) -> tuple[int, int]:
    """Return the two ranks between which a case is."""
    usual = {option.name: option.usual for option in operation.options}
    first, second = (int(case.options.get(name, usual[name])) for name in ENDS)
    return first, second


def find_pair_cases(cases: Iterable[Case]) -> set[str]:
    """Return the keys of the cases that were measured between several pairs of ranks."""
    pairs: dict[str, list[str]] = {}
    for case in cases:
        pairs.setdefault(case.without(*ENDS), []).append(case.key)
    return {key for keys in pairs.values() if len(keys) > 1 for key in keys}
