"""The starts and states of memory in which an operation is measured. Each case is there once, under one name."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from rankbench.model import ROTATING, Memory

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankbench.model import Form, Operation, Placement, Plan

ALONE = "none"
"""The start of operations that rank 0 alone times."""


def usable_starts(plan: Plan, operation: Operation, notes: dict[str, None]) -> list[str]:
    """Return the starts with which cases of an operation are made.

    What rank 0 alone times needs none: the other rank waits for its message, whenever they began.
    """
    wanted = list(dict.fromkeys(operation.start if start == "auto" else start for start in plan.starts))
    if operation.start != ALONE or wanted == [ALONE]:
        return wanted
    others = ", ".join(start for start in wanted if start != ALONE)
    notes[f"{operation.name}: rank 0 alone times it, so it is measured with start {ALONE}, not {others}"] = None
    return [ALONE]


def usable_memory(
    plan: Plan, operation: Operation, form: Form, size_bytes: int, placement: Placement, notes: dict[str, None]
) -> Iterator[Memory]:
    """Yield the states of memory in which an operation can be measured; what makes no difference is as by default."""
    for wanted in plan.memory:
        memory = effective(wanted, operation, size_bytes, notes)
        reason = hindrance(memory, operation, form, placement)
        if reason:
            notes[f"{operation.name}: {reason}; left out"] = None
        else:
            yield memory


def hindrance(memory: Memory, operation: Operation, form: Form, placement: Placement) -> str:
    """Return why an operation cannot be measured so, if it cannot."""
    if memory.buffers == "in-place" and not operation.in_place:
        return "there is no in-place form"
    if memory.root >= placement.ranks:
        return f"root {memory.root} is none of the {placement.ranks} ranks of {placement.name}"
    if form == "persistent" and memory.cache == "cold":
        return "a persistent request keeps its buffers, so they cannot be cold"
    if form == "persistent" and memory.root == ROTATING:
        return "a persistent request keeps its root, so it cannot rotate"
    return ""


def effective(memory: Memory, operation: Operation, size_bytes: int, notes: dict[str, None]) -> Memory:
    """Return what of the state of memory makes a difference: equal cases under two names would be measured twice."""
    found = memory
    if not operation.rooted and memory.root:
        notes[f"{operation.name}: has no root; measured once, whatever the root"] = None
        found = msgspec.structs.replace(found, root=0)
    if not size_bytes and (memory.cache, memory.pages, memory.alignment) != ("warm", "touched", 0):
        what = f"{operation.name} of 0 B" if operation.sized else operation.name
        notes[f"{what}: has no data; measured once, whatever cache, pages and alignment"] = None
        found = Memory(buffers=found.buffers, root=found.root)
    return found
