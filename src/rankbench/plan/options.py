"""The options of operations: a plan's values are checked against the core's description and made into cases."""

from __future__ import annotations

import difflib
import itertools
import math
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from rankbench.model import LEVEL, MULTIPLE, Description, Operation, Option, Plan
from rankbench.plan.document import Value
from rankbench.plan.variants import CaseScope
from rankbench.units import suggestion

TIME, MEMORY, OVERLAP = "time", "memory", "overlap"
TOGETHER = "together"
IDLE: dict[str, tuple[str, tuple[str, ...]]] = {
    "tests": ("quantity", (TIME, MEMORY)),
    "compute_us": ("quantity", (TIME, MEMORY)),
    "spread_us": ("arrival", (TOGETHER,)),
    "busy_us": ("target", ("waiting",)),
}
"""Options without effect while another option has one of these values, the first of which is the default."""
PAIR = ("from", "to")
AUTO = "auto"
MOST_DIMENSIONS, MOST_EXTENT = 6, 1023
GRID_HELP = f'"auto", or a grid such as "4x4" of up to {MOST_DIMENSIONS} extents from 1 to {MOST_EXTENT}'


class Key(NamedTuple):
    """A key of the plan's options: an option, of one operation or of all that have it."""

    place: Value
    operation: str
    """Empty: all."""
    name: str


def check_options(plan: Plan, description: Description, measured: Collection[str]) -> Iterator[str]:
    """Refuse options and values that the core does not have; yield a note on each that changes nothing.

    Args:
        plan: the plan.
        description: what the core says of itself.
        measured: names of the operations that the plan measures.
    """
    for text, values in plan.options.items():
        operation, _, name = text.rpartition(".")
        place = Value(plan.file, f"options.{text}", None, "" if plan.from_options else plan.text)
        key = Key(place, operation, name)
        owners = find_owners(key, description)
        used = [owner for owner in owners if owner.name in measured]
        offered = [option for owner in used or owners for option in owner.options if option.name == name]
        for index, value in enumerate(values):
            suffix = f"[{index}]" if len(values) > 1 else ""
            check_value(replace(place, place=f"{place.place}{suffix}", raw=value), offered)
        if not used:
            yield f"options.{text}: no operation of this plan has it; left out"
        elif not matters_somewhere(name, plan):
            decider, idle = IDLE[name]
            yield f"options.{text}: makes no difference while {decider} is {' or '.join(idle)}; left out"


def find_owners(key: Key, description: Description) -> list[Operation]:
    """Return the operations that have an option which the plan names; there is at least one."""
    among = [operation for operation in description.operations if key.operation in {"", operation.name}]
    if not among:
        names = [operation.name for operation in description.operations]
        listed = suggestion(key.operation, names, "rankbench operations")
        raise key.place.make_error(f'found "{key.operation}"{listed}')
    having = _group_by_option(description.operations)
    if key.operation and key.name in having and key.name not in _group_by_option(among):
        raise key.place.make_error(
            f"{key.operation} has no such option; those that have it: {', '.join(having[key.name])}"
        )
    known = _group_by_option(among)
    if key.name not in known:
        near = difflib.get_close_matches(key.name, known, n=1)
        whose = f"; {near[0]} is an option of {', '.join(having[near[0]])}" if near else ""
        command = f"rankbench operations {key.operation or '-v'}"
        raise key.place.make_error(f"unknown option{suggestion(key.name, known, command)}{whose}")
    return [operation for operation in among if operation.name in known[key.name]]


def _group_by_option(operations: Sequence[Operation]) -> dict[str, list[str]]:
    names: dict[str, list[str]] = {}
    for operation in operations:
        for option in operation.options:
            names.setdefault(option.name, []).append(operation.name)
    return names


def check_value(value: Value, offered: Sequence[Option]) -> None:
    """Refuse a value that none of the options allows."""
    names = list(dict.fromkeys(name for option in offered for name in option.values))
    if offered[0].extents:
        if not is_grid(value.raw):
            raise value.reject(GRID_HELP)
    elif names:
        value.read_choice(names)
    else:
        number = int(value.raw) if is_number(value.raw) else value.raw
        replace(value, raw=number).read_integer(
            min(option.least for option in offered), max(option.most for option in offered)
        )


def is_number(text: str) -> bool:
    """Return whether a value is a whole number."""
    return text.removeprefix("-").isdecimal()


def is_grid(text: str) -> bool:
    """Return whether a value is the extents of a grid, or `auto`."""
    extents = text.split("x")
    in_bounds = all(re.fullmatch(r"[1-9]\d*", extent) and int(extent) <= MOST_EXTENT for extent in extents)
    return text == AUTO or (in_bounds and len(extents) <= MOST_DIMENSIONS)


def parse_extents(operation: Operation, chosen: Mapping[str, str]) -> list[int]:
    """Return the extents of the chosen grid; empty: MPI_Dims_create chooses them."""
    text = chosen.get("grid", AUTO) if any(option.extents for option in operation.options) else AUTO
    return [] if text == AUTO else [int(extent) for extent in text.split("x")]


def count_dimensions(operation: Operation, chosen: Mapping[str, str]) -> int:
    """Return the number of dimensions of an operation's grid of ranks; 0: no grid."""
    usual = {option.name: option.usual for option in operation.options}
    return len(parse_extents(operation, chosen)) or int((usual | dict(chosen)).get("dimensions", 0))


def allows(option: Option, value: str) -> bool:
    """Return whether an option of an operation can have a value."""
    if option.extents:
        return is_grid(value)
    if option.values:
        return value in option.values
    return is_number(value) and option.least <= int(value) <= option.most


def matters_somewhere(name: str, plan: Plan) -> bool:
    """Return whether an option can have an effect with any of the plan's values of other options."""
    chosen_values = [(key.rpartition(".")[2], value) for key, values in plan.options.items() for value in values]
    return any(matters(name, {other: value}) for other, value in chosen_values)


def matters(name: str, chosen: Mapping[str, str]) -> bool:
    """Return whether an option has an effect with the chosen values of other options."""
    if name not in IDLE:
        return True
    decider, idle = IDLE[name]
    return chosen.get(decider, idle[0]) not in idle


def list_usable_options(line: CaseScope, start: str) -> Iterator[dict[str, str]]:
    """Yield the chosen values of an operation's options, without defaults, sorted by name."""
    for chosen in list_combinations(line):
        reason = explain_unsupported(line, chosen, start)
        if reason:
            line.note(f"{reason}; left out")
        else:
            yield drop_defaults(line.operation, chosen)


def list_combinations(line: CaseScope) -> Iterator[dict[str, str]]:
    """Yield every combination of the plan's values of an operation's options, and of pairs of ranks."""
    wanted = {
        option.name: values for option in line.operation.options if (values := list_values(option, line)) is not None
    }
    for chosen in itertools.product(*wanted.values()):
        for pair in list_pairs(line):
            yield dict(zip(wanted, chosen, strict=True)) | pair


def list_values(option: Option, line: CaseScope) -> list[str] | None:
    """Return the plan's values of an operation's option that it can have; empty: the plan has none."""
    options = line.plan.options
    wanted = options.get(f"{line.operation.name}.{option.name}", options.get(option.name))
    for value in wanted or ():
        if not allows(option, value):
            line.note(f"{option.name} cannot be {value}; left out")
    return None if wanted is None else [value for value in wanted if allows(option, value)]


def list_pairs(line: CaseScope) -> list[dict[str, str]]:
    """Return the pairs of ranks of an operation between two ranks: every pair if the plan says so."""
    if not line.plan.every_pair or not set(PAIR) <= {option.name for option in line.operation.options}:
        return [{}]
    # Half a round trip is the same from either end; a bandwidth may differ.
    choose = itertools.combinations if line.operation.metric == "latency" else itertools.permutations
    both = choose(map(str, range(line.placement.ranks)), 2)
    return [dict(zip(PAIR, ranks, strict=True)) for ranks in both]


def explain_unsupported(line: CaseScope, chosen: dict[str, str], start: str) -> str:
    """Return why an operation cannot be measured with these options, as far as known before it runs."""
    usual = {option.name: option.usual for option in line.operation.options}
    ends = [(usual | chosen)[name] for name in PAIR if name in usual]
    missing = [rank for rank in ends if int(rank) >= line.placement.ranks]
    if missing:
        return f"rank {missing[0]} is none of the {line.placement.ranks} ranks of {line.placement.name}"
    if len(ends) > len(set(ends)):
        return f"from and to are both rank {ends[0]}"
    if reason := explain_off_grid(line, chosen):
        return reason
    arrival = chosen.get("arrival", TOGETHER)
    if arrival != TOGETHER and not any(unit.scheduled for unit in line.description.starts if unit.name == start):
        return f"ranks arrive {arrival} only at agreed times, which start {start} does not have"
    if chosen.get("threads", "1") != "1" and chosen.get(LEVEL) == MULTIPLE:
        return "several threads have MPI_THREAD_MULTIPLE in any case"
    quantity = chosen.get("quantity", TIME)
    if quantity != TIME and line.operation.once:
        return "happens once in a launch, so only its time is known"
    if quantity != TIME and chosen.get("threads", "1") != "1":
        return f"of several threads only the time is measured, not {quantity}"
    return explain_no_overlap(line, usual) if quantity == OVERLAP else ""


def explain_off_grid(line: CaseScope, chosen: Mapping[str, str]) -> str:
    """Return why the grid, or the direction of its rings, is impossible."""
    ranks, dimensions = math.prod(parse_extents(line.operation, chosen)), count_dimensions(line.operation, chosen)
    if ranks > line.placement.ranks:
        return f"a grid of {chosen['grid']} takes {ranks} ranks, and {line.placement.name} has {line.placement.ranks}"
    direction = chosen.get("direction", "") if line.operation.rings else ""
    if direction in {"up", "down"} and dimensions == 1:
        return f"direction {direction} is in the dimension before the last, and there is only one"
    if direction[:1].isdigit() and int(direction[0]) >= dimensions:
        return f"direction {direction} is in a dimension that a grid of {dimensions} does not have"
    return ""


def explain_no_overlap(line: CaseScope, usual: Collection[str]) -> str:
    """Return why an operation cannot overlap with computation; empty: it can."""
    if line.form == "blocking":
        return "nothing can be computed during a blocking call, so there is no overlap"
    return "" if "compute_us" in usual else "it waits for its messages itself, so there is no overlap"


def drop_defaults(operation: Operation, chosen: dict[str, str]) -> dict[str, str]:
    """Return the chosen values without defaults and values without effect, so that each case has one name."""
    usual = {option.name: option.usual for option in operation.options}
    texts = (name for name in sorted(chosen) if chosen[name] != usual[name] and matters(name, chosen))
    return {name: chosen[name] for name in texts}
