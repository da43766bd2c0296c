"""How cases are called: everything by which two cases of a campaign may differ is put into words here and only here.

Placement and start stand in captions, since all cases of a table or a chart have them in common.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from rankbench.quantities import format_size

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rankbench.model import Case, CaseVerdict, Operation

ENDS = ("from", "to")
"""Options that name the two ranks between which an operation is."""


def list_unusual(case: Case, operation: Operation) -> list[str]:
    """Return what sets a case apart beside its form and size: `double`, `cold`, `epoch=fence`."""
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
    """Return how cases that differ in size only are called: `put, allocation=create, epoch=fence`."""
    return ", ".join([name_call(case, operation), *list_unusual(case, operation)])


def name_case(case: Case, operation: Operation) -> str:
    """Return how one case is called: `put 8 B, allocation=create, epoch=fence`."""
    size = f" {format_size(case.size_bytes)}" if operation.sized else ""
    return ", ".join([name_call(case, operation) + size, *list_unusual(case, operation)])


def name_variant(case: Case, operation: Operation, *, start: bool, placement: bool) -> str:
    """Return how one case is called, with its start and its placement where they distinguish it from others."""
    text = name_case(case, operation)
    if start:
        text = f"{text}, start {case.start}"
    return f"{text} at {case.placement}" if placement else text


def format_case_size(case: Case, operation: Operation) -> str:
    """Return a case's message size, or a dash where the operation takes none."""
    return format_size(case.size_bytes) if operation.sized else "–"


def join_names(names: Iterable[str]) -> str:
    """Return names one after the other, divided by what is in none of them."""
    texts = list(names)
    return ("; " if any("," in name for name in texts) else ", ").join(texts)


# --- keys -----------------------------------------------------------------------------------------------------------


def format_levels(verdict: CaseVerdict) -> str:
    """Return who is fastest at each level: `near: alpha, far: beta ~ gamma`, or `beta = gamma` if equivalent."""
    signs = {level: " = " if outcome == "equivalent" else " ~ " for level, outcome in verdict.outcome_by_level.items()}
    return ", ".join(f"{level}: {signs[level].join(names)}" for level, names in verdict.winners_by_level.items())


def make_line_key(case: Case) -> str:
    """Return what cases have in common that differ in size only."""
    operation, form, _, rest = case.key.split(".", 3)
    return f"{operation}.{form}.{rest}"


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
    """Return the keys of the cases that were made between several pairs of ranks."""
    pairs: dict[str, list[str]] = {}
    for case in cases:
        pairs.setdefault(drop_ends(case).key, []).append(case.key)
    return {key for keys in pairs.values() if len(keys) > 1 for key in keys}
