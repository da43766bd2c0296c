"""From a plan and what the core says of itself to cases. What cannot be run is left out with a note or refused."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankbench.model import FORMS, Case, RankbenchError
from rankbench.plan.variants import usable_memory, usable_starts
from rankbench.quantities import format_size
from rankbench.units import suggestion

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rankbench.model import Description, Form, Machine, Memory, Named, Operation, Placement, Plan

MEMORY_SHARE = 0.8
"""Of a node's memory, what message buffers may take."""


def cases(plan: Plan, description: Description, machine: Machine) -> tuple[list[Case], list[str]]:
    """Return the cases of a plan, each once, and notes on what was left out and what a reader must know."""
    check_names(plan, description)
    notes: dict[str, None] = {}
    found: dict[str, Case] = {}
    for placement in plan.placements:
        notes.update(dict.fromkeys(oversubscription(placement, machine)))
        for operation, form in chosen(plan, description, notes):
            for size_bytes in usable_sizes(plan, description, operation, placement, notes):
                check_memory(plan, operation, size_bytes, placement, machine)
                for start in usable_starts(plan, operation, notes):
                    for memory in usable_memory(plan, operation, form, size_bytes, placement, notes):
                        case = make(operation, form, size_bytes, placement, start, memory)
                        found[case.key] = case
    if not found:
        raise RankbenchError(f"{plan.file}: no case is left: {'; '.join(notes)}")
    return list(found.values()), list(notes)


def make(operation: Operation, form: Form, size_bytes: int, placement: Placement, start: str, memory: Memory) -> Case:
    """Return one case."""
    return Case(
        operation=operation.name,
        form=form,
        size_bytes=size_bytes,
        datatype=operation.datatype,
        placement=placement.name,
        ranks=placement.ranks,
        start=start,
        memory=memory,
    )


def check_names(plan: Plan, description: Description) -> None:
    """Refuse starts, time sources and synchronisations that the core does not have."""
    for index, start in enumerate(plan.starts):
        key = f"start[{index}]" if len(plan.starts) > 1 else "start"
        check_name(plan, key, start, description.starts, "auto")
    check_name(plan, "clock", plan.clock, description.sources, "auto")
    check_name(plan, "synchronisation", plan.synchronisation, description.synchronisations)


def check_name(plan: Plan, key: str, name: str, units: Sequence[Named], *more: str) -> None:
    """Refuse a name that is neither that of a unit nor one more that is allowed."""
    allowed = [*more, *(unit.name for unit in units)]
    if name not in allowed:
        raise RankbenchError(f'{plan.file}: {key}: found "{name}"; {suggestion(name, allowed)}')


def oversubscription(placement: Placement, machine: Machine) -> Iterator[str]:
    """Yield the note that a placement has more ranks than the machine has cores."""
    if placement.ranks_per_node > machine.cores:
        yield (
            f"{placement.name}: oversubscribed, {placement.ranks_per_node} ranks share {machine.cores} cores: figures "
            "show how ranks wait for each other more than how they communicate; ranks are not bound"
        )


def chosen(plan: Plan, description: Description, notes: dict[str, None]) -> Iterator[tuple[Operation, Form]]:
    """Yield the operations and forms that the plan names.

    An operation of one form is meant in that form. A form that an operation lacks is left out with a note.
    """
    for index, text in enumerate(plan.operations):
        name, _, suffix = text.partition(".")
        place = f"{plan.file}: operations[{index}]"
        for operation in named(name, description, place):
            forms = operation.forms if len(operation.forms) == 1 else plan.forms
            for form in [checked_form(suffix, operation, place)] if suffix else forms:
                if form in operation.forms:
                    yield operation, form
                else:
                    notes[f"{operation.name}: there is no {form} form; left out"] = None


def named(name: str, description: Description, place: str) -> list[Operation]:
    """Return the operations of a name or of a family of them; `all` is every one but the core's tests of itself."""
    families = list(dict.fromkeys(operation.kind for operation in description.operations))
    found = [
        operation
        for operation in description.operations
        if name in (operation.name, operation.kind) or (name == "all" and operation.kind != "self-test")
    ]
    if not found:
        allowed = [*(operation.name for operation in description.operations), *families, "all"]
        raise RankbenchError(f'{place}: found "{name}"; {suggestion(name, allowed)}')
    return found


def checked_form(text: str, operation: Operation, place: str) -> Form:
    """Return the form named in `allreduce.persistent`, which the operation must have."""
    for form in FORMS:
        if text == form and form in operation.forms:
            return form
    raise RankbenchError(f'{place}: found "{operation.name}.{text}"; {suggestion(text, operation.forms)}')


def usable_sizes(
    plan: Plan, description: Description, operation: Operation, placement: Placement, notes: dict[str, None]
) -> list[int]:
    """Return the sizes that an operation can use; a note tells those it cannot."""
    if placement.ranks < operation.ranks_exactly:
        notes[f"{operation.name}: takes {operation.ranks_exactly} ranks; left out of {placement.name}"] = None
        return []
    if not operation.sized:
        return [0]
    unit = next(datatype.size_bytes for datatype in description.datatypes if datatype.name == operation.datatype)
    least = 1 if operation.metric == "bandwidth" else 0
    usable = [size for size in plan.sizes_bytes if size % unit == 0 and size >= least]
    left_out = [format_size(size) for size in plan.sizes_bytes if size not in usable]
    if left_out:
        wanted = f"a multiple of {unit} B, the size of {operation.datatype}" if unit > 1 else "1 B or more"
        notes[f"{operation.name}: {', '.join(left_out)} left out; a size here is {wanted}"] = None
    return usable


def buffer_bytes(operation: Operation, size_bytes: int, placement: Placement) -> int:
    """Return the bytes of message buffers that the operation needs on the node of rank 0, the root."""
    ranks = placement.ranks
    other = operation.send.bytes(size_bytes, ranks) + operation.receive.bytes(size_bytes, ranks)
    root = operation.root_send.bytes(size_bytes, ranks) + operation.root_receive.bytes(size_bytes, ranks)
    return root + other * (placement.ranks_per_node - 1)


def check_memory(plan: Plan, operation: Operation, size_bytes: int, placement: Placement, machine: Machine) -> None:
    """Refuse a size whose buffers do not fit, before anything starts."""
    needed, room = buffer_bytes(operation, size_bytes, placement), int(machine.memory_bytes * MEMORY_SHARE)
    if needed <= room:
        return
    largest = size_bytes * room // needed
    raise RankbenchError(
        f"{plan.file}: sizes: {operation.name} of {format_size(size_bytes)} on {placement.name} needs "
        f"{format_size(needed)} of buffers on a node, and {format_size(room)} ({MEMORY_SHARE:.0%} of its memory) "
        f"may be used; sizes up to {format_size(largest)} fit"
    )
