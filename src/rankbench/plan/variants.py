"""The datatypes, sizes, starts and states of memory with which an operation is measured; `options` has the rest.

Each case is there once, under one name. What cannot be measured is left out with a note.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import msgspec

from rankbench.language import join_words
from rankbench.model import ROTATING, Description, Form, Machine, Memory, Operation, Placement, Plan
from rankbench.quantities import format_size

SINGLE_RANK_START = "none"
"""The start of operations that a single rank times."""
PAIR_RANKS = 2
"""Ranks of an operation between two."""
MOST_NAMES = 4
"""Most names in a message; of the others only the number is shown."""


class CaseScope(NamedTuple):
    """An operation in one form on one placement, for making its cases."""

    plan: Plan
    description: Description
    operation: Operation
    form: Form
    placement: Placement
    notes: dict[str, None]

    def note(self, text: str) -> None:
        """Record what was done with the operation."""
        self.notes[f"{self.operation.name}: {text}"] = None


def count_exact_ranks(operation: Operation) -> int:
    """Return the number of ranks that take part, 0 for any."""
    return PAIR_RANKS if operation.between_two else operation.ranks_exactly


def count_least_ranks(operation: Operation) -> int:
    """Return the fewest ranks that an operation takes."""
    return max(count_exact_ranks(operation), operation.ranks_least, 2 if operation.in_pairs else 1)


def has_enough_ranks(line: CaseScope) -> bool:
    """Return whether the placement has enough ranks for the operation; a note names ranks that do not take part."""
    operation, placement = line.operation, line.placement
    if operation.in_pairs and placement.ranks % 2 and placement.ranks > 1:
        line.note(f"ranks work in pairs; the last of the {placement.ranks} of {placement.name} stays out")
    return placement.ranks >= count_least_ranks(operation)


def note_too_few_ranks(placement: Placement, operations: Iterable[Operation]) -> Iterator[str]:
    """Yield one note that a placement has too few ranks for these operations."""
    least = {operation.name: operation for operation in operations}
    if len(least) == 1:
        (name, operation), *_ = least.items()
        more = "" if count_exact_ranks(operation) else " or more"
        yield f"{name}: takes {count_least_ranks(operation)} ranks{more}; left out of {placement.name}"
    elif least:
        ranks = "1 rank is" if placement.ranks == 1 else f"{placement.ranks} ranks are"
        yield f"{placement.name}: {ranks} too few for {abbreviate_names(list(least))}; left out there"


def note_fewer_ranks(placement: Placement, operations: Iterable[Operation]) -> Iterator[str]:
    """Yield a note for each number of ranks with which foreign programs run in a placement of more ranks."""
    by_ranks: dict[int, dict[str, None]] = {}
    for operation in operations:
        if operation.foreign and 0 < operation.ranks_exactly < placement.ranks:
            by_ranks.setdefault(operation.ranks_exactly, {})[operation.name] = None
    for ranks, names in by_ranks.items():
        yield (
            f"{abbreviate_names(list(names))}: {'takes' if len(names) == 1 else 'take'} exactly {ranks} "
            f"rank{'s' * (ranks > 1)}; launched with the first {ranks} of {placement.name}"
        )


def abbreviate_names(names: Sequence[str]) -> str:
    """Return the first few of many names: `a, b, c and 7 more`."""
    shown = (
        list(names) if len(names) <= MOST_NAMES else [*names[: MOST_NAMES - 1], f"{len(names) - MOST_NAMES + 1} more"]
    )
    return join_words(shown, "and")


def list_usable_datatypes(line: CaseScope) -> list[str]:
    """Return the datatypes of an operation's cases; without data it has one."""
    operation = line.operation
    if not line.plan.datatypes or not operation.sized:
        return [operation.datatype]
    wanted = dict.fromkeys(operation.datatype if name == "auto" else name for name in line.plan.datatypes)
    lacking = [name for name in wanted if name not in (operation.datatypes or [operation.datatype])]
    if lacking:
        line.note(f"cannot be measured with {', '.join(lacking)}; left out")
    return [name for name in wanted if name not in lacking]


def list_usable_sizes(line: CaseScope, datatype: str) -> list[int]:
    """Return the sizes that an operation can use; a note lists those it cannot."""
    operation, sizes = line.operation, line.plan.sizes_bytes
    if not operation.sized:
        return [0]
    unit = next(unit_type.size_bytes for unit_type in line.description.datatypes if unit_type.name == datatype)
    least = 1 if operation.metric == "bandwidth" else 0
    usable = [size for size in sizes if size % unit == 0 and size >= least]
    left_out = [format_size(size) for size in sizes if size not in usable]
    if left_out:
        wanted = f"a multiple of {unit} B, the size of {datatype}" if unit > 1 else "1 B or more"
        line.note(f"{', '.join(left_out)} left out; a size here is {wanted}")
    return usable


def list_usable_starts(line: CaseScope, machine: Machine) -> list[str]:
    """Return the starts with which cases of an operation are made.

    What one rank alone times needs none: the other ranks wait for its message, whenever they began. And what happens
    once in a launch cannot be begun otherwise. Ranks that share cores cannot all be there at an agreed time.
    """
    operation = line.operation
    crowded = machine.short_of_cores(line.placement.ranks_per_machine)
    usual = "barrier" if crowded and operation.start == "window" else operation.start
    wanted = list(dict.fromkeys(usual if start == "auto" else start for start in line.plan.starts))
    others = ", ".join(start for start in wanted if start != operation.start)
    if not others or operation.rings or (operation.start != SINGLE_RANK_START and not operation.once):
        return wanted
    why = "happens once in a launch" if operation.once else "one rank alone times it"
    line.note(f"{why}, so it is measured with start {operation.start}, not {others}")
    return [operation.start]


def list_usable_memory(line: CaseScope, size_bytes: int) -> Iterator[Memory]:
    """Yield the states of memory in which an operation can be measured; those without effect have their default."""
    for wanted in line.plan.memory:
        memory = reduce_memory(wanted, line, size_bytes)
        reason = explain_unsupported(memory, line)
        if reason:
            line.note(f"{reason}; left out")
        else:
            yield memory


def explain_unsupported(memory: Memory, line: CaseScope) -> str:
    """Return why an operation cannot be measured in this state; empty: it can."""
    operation, placement = line.operation, line.placement
    if memory.buffers == "in-place" and not operation.in_place:
        return "there is no in-place form"
    if memory.root >= placement.ranks:
        return f"root {memory.root} is none of the {placement.ranks} ranks of {placement.name}"
    if line.form == "persistent" and memory.cache == "cold":
        return "a persistent request keeps its buffers, so they cannot be cold"
    if operation.keeps_buffers and memory.cache == "cold":
        return "it binds its buffers once, so they cannot be cold"
    if line.form == "persistent" and memory.root == ROTATING:
        return "a persistent request keeps its root, so it cannot rotate"
    return ""


def reduce_memory(memory: Memory, line: CaseScope, size_bytes: int) -> Memory:
    """Return the state of memory without parts that have no effect: equal cases must have one name."""
    operation, reduced = line.operation, memory
    if not operation.rooted and memory.root:
        line.note("has no root; measured once, whatever the root")
        reduced = msgspec.structs.replace(reduced, root=0)
    if not size_bytes and (memory.cache, memory.pages, memory.alignment) != ("warm", "touched", 0):
        what = f"{operation.name} of 0 B" if operation.sized else operation.name
        line.notes[f"{what}: has no data; measured once, whatever cache, pages and alignment"] = None
        reduced = Memory(buffers=reduced.buffers, root=reduced.root)
    return reduced
