"""Makes cases from a plan and the core's description. What cannot run is omitted with a note, or refused."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import msgspec

from rankbench.model import FORMS, LEVEL, Case, RankbenchError
from rankbench.plan import document, notation, settings
from rankbench.plan.options import PAIR, check_options, count_dimensions, list_usable_options
from rankbench.plan.variants import (
    PAIR_RANKS,
    CaseScope,
    abbreviate_names,
    count_exact_ranks,
    has_enough_ranks,
    list_usable_datatypes,
    list_usable_memory,
    list_usable_sizes,
    list_usable_starts,
    note_fewer_ranks,
    note_too_few_ranks,
)
from rankbench.quantities import format_size
from rankbench.units import suggestion

if TYPE_CHECKING:
    from rankbench.model import Amount, Calls, Description, Form, Machine, NamedUnit, Operation, Placement, Plan

MEMORY_SHARE = 0.8
"""Share of a node's memory that message buffers may use."""
MOST_COMPARED = 3
"""Calls of a program that are measured without MPI_THREAD_MULTIPLE, too, to say what it costs."""
LISTED_BY = "rankbench operations"
"""The command that prints the names of operations."""


class NoCaseError(RankbenchError):
    """No case of a plan is left. The message says what each one lacks."""


def expand_plan(plan: Plan, description: Description, machine: Machine) -> tuple[list[Case], list[str]]:
    """Return the cases of a plan, each once, and notes on omitted cases and on limits of the results."""
    check_names(plan, description)
    check_calls(plan, description)
    description = settings.add_settings_option(description, plan)
    notes: dict[str, None] = dict.fromkeys(plan.notes)
    wanted = list(choose_operations(plan, description, notes))
    notes.update(dict.fromkeys(check_options(plan, description, {operation.name for operation, _ in wanted})))
    cases: dict[str, Case] = {}
    notes.update(dict.fromkeys(list_oversubscriptions(plan.placements, machine)))
    repeated, texts = list_repetitions(plan, [operation for operation, _ in wanted], machine)
    notes.update(dict.fromkeys(texts))
    for placement in plan.placements:
        lines = [
            CaseScope(plan, description, operation, form, placement, notes)
            for operation, form in wanted
            if (operation.name, placement.name) not in repeated
            and not (plan.profile and plan.profile.ranks not in {0, placement.ranks})
        ]
        enough = [line for line in lines if has_enough_ranks(line)]
        notes.update(
            dict.fromkeys(note_too_few_ranks(placement, [line.operation for line in lines if line not in enough]))
        )
        notes.update(dict.fromkeys(note_fewer_ranks(placement, [line.operation for line in enough])))
        for line in enough:
            cases.update((case.key, case) for case in make_cases(line, machine))
    if plan.profile or not plan.operations:
        cases.update((case.key, case) for case in make_called_cases(plan, description, machine, notes))
    if not cases:
        raise NoCaseError(f"{plan.file}: no case is left: {'; '.join(notes)}")
    notes.update(dict.fromkeys(note_unmeasured_calls(plan, description, cases.values())))
    return list(cases.values()), list(notes)


def check_calls(plan: Plan, description: Description) -> None:
    """Refuse calls of unknown operations and forms, and calls without a size if they are what is measured."""
    operations = {operation.name: operation for operation in description.operations}
    calls = plan.calls if not plan.profile else []
    for call in calls:
        if call.operation not in operations:
            raise make_error(
                plan, "calls", f'found "{call.operation}"{suggestion(call.operation, operations, LISTED_BY)}'
            )
        if call.form:
            check_form(call.form, operations[call.operation], plan, "calls")
    sized = notation.list_sized(description.operations, [])
    if not plan.operations and (fault := notation.find_unsized(calls, sized)):
        raise make_error(plan, "calls", fault)


def note_unmeasured_calls(plan: Plan, description: Description, measured: Iterable[Case]) -> Iterator[str]:
    """Yield a note for each call that no case measures."""
    operations = {operation.name: operation for operation in description.operations}
    measured = list(measured)
    for call in plan.calls if plan.operations and not plan.profile else ():
        sizes = {case.size_bytes for case in measured if case.operation == call.operation}
        if not sizes:
            yield f"calls: {call.operation} is not among the measured operations"
        elif call.size_bytes not in sizes and operations[call.operation].sized:
            yield f"calls: {call.operation} is not measured with {format_size(call.size_bytes)}"


def make_called_cases(plan: Plan, description: Description, machine: Machine, notes: dict[str, None]) -> Iterator[Case]:
    """Yield the cases of each call that can be measured, with a note for each other one."""
    operations = {operation.name: operation for operation in description.operations}
    for call in [*plan.calls, *list_without_threads(plan)]:
        operation = operations.get(call.operation)
        places = [placement for placement in plan.placements if call.ranks in {0, placement.ranks}]
        if operation is None:
            notes[f"{call.operation}: called by the program, and nothing that is measured corresponds to it"] = None
            continue
        if not places:
            notes[f"{call.operation}: called by {call.ranks} ranks, and no placement has as many"] = None
        for placement in places:
            line = make_called_line(
                plan, call, CaseScope(plan, description, operation, operation.form, placement, notes)
            )
            if has_enough_ranks(line):
                usual = line._replace(plan=msgspec.structs.replace(line.plan, options={}))
                yield from list(make_cases(line, machine)) or make_cases(usual, machine)


def list_without_threads(plan: Plan) -> Iterator[Calls]:
    """Yield the calls that took most time of a program that has MPI_THREAD_MULTIPLE without using it, without it."""
    if plan.profile and plan.profile.thread_multiple and not plan.profile.several_threads:
        costly = sorted(plan.calls, key=lambda call: call.waiting_s - call.seconds)
        for call in costly[:MOST_COMPARED]:
            options = {name: value for name, value in call.options.items() if name != LEVEL}
            yield msgspec.structs.replace(call, options=options)


def make_called_line(plan: Plan, call: Calls, line: CaseScope) -> CaseScope:
    """Return the scope of a call's case: its form, size, datatype and options, as far as the operation has them."""
    operation = line.operation
    form = call.form if call.form in operation.forms else operation.form
    datatype = call.datatype if call.datatype in operation.datatypes else operation.datatype
    datatypes = [datatype] if plan.profile or not plan.datatypes else plan.datatypes
    unit = max((entry.size_bytes for entry in line.description.datatypes if entry.name in datatypes), default=1)
    known = {option.name for option in operation.options}
    changed = msgspec.structs.replace(
        plan,
        sizes_bytes=[max(size_bytes - size_bytes % unit, min(unit, size_bytes)) for size_bytes in list_sizes(call)],
        datatypes=datatypes,
        options=({} if plan.profile else plan.options)
        | {name: [value] for name, value in call.options.items() if name in known},
    )
    return line._replace(plan=changed, form=form)


def list_sizes(call: Calls) -> list[int]:
    """Return the sizes that are measured of a call: of a range in steps of 4, and its end."""
    least = max(call.size_bytes, 1)
    return notation.list_geometric(least, call.most_bytes, 4) if call.most_bytes else [call.size_bytes]


def make_cases(line: CaseScope, machine: Machine) -> Iterator[Case]:
    """Yield the cases of an operation in one form on one placement with enough ranks."""
    if line.operation.foreign:
        yield from make_foreign_cases(line)
        return
    for datatype in list_usable_datatypes(line):
        for size_bytes in list_usable_sizes(line, datatype):
            for start in list_usable_starts(line, machine):
                for options in list_usable_options(line, start):
                    check_memory(line, size_bytes, options, machine)
                    threads = int(options.get("threads", 1))
                    if threads > 1:
                        texts = note_oversubscription(line.placement.name, line.placement, machine, threads)
                        line.notes.update(dict.fromkeys(texts))
                    for memory in list_usable_memory(line, size_bytes):
                        yield Case(
                            operation=line.operation.name,
                            form=line.form,
                            size_bytes=size_bytes,
                            datatype=datatype,
                            placement=line.placement.name,
                            ranks=line.placement.ranks,
                            start=start,
                            memory=memory,
                            options=options,
                        )


def make_foreign_cases(line: CaseScope) -> Iterator[Case]:
    """Yield the cases of a foreign tool's benchmark. Only the size can be chosen.

    A program for an exact number of processes refuses others, so it is launched with the first ranks of the placement.
    """
    operation, placement = line.operation, line.placement
    assert operation.foreign
    texts = [f"start {start}" for start in line.plan.starts if start not in {"auto", operation.start}]
    texts += [f"{memory.label} buffers" for memory in line.plan.memory if memory.label]
    texts += [f"datatype {name}" for name in line.plan.datatypes if name not in {"auto", operation.datatype}]
    if texts:
        line.note(f"is {operation.foreign.suite}'s, which measures in its own way; not with {', '.join(texts)}")
    for size_bytes in line.plan.sizes_bytes if operation.sized else [0]:
        yield Case(
            operation=operation.name,
            form=line.form,
            size_bytes=size_bytes,
            datatype=operation.datatype,
            placement=placement.name,
            ranks=count_exact_ranks(operation) or placement.ranks,
            start=operation.start,
            options=operation.foreign.options,
            suite=operation.foreign.suite,
        )


def check_names(plan: Plan, description: Description) -> None:
    """Refuse datatypes, starts, time sources and synchronisations that the core does not have."""
    for key, names, units in (
        ("datatypes", plan.datatypes, description.datatypes),
        ("start", plan.starts, description.starts),
    ):
        for index, name in enumerate(names):
            check_name(plan, f"{key}[{index}]" if len(names) > 1 else key, name, units, "auto")
    check_name(plan, "clock", plan.clock, description.sources, "auto")
    check_name(plan, "synchronisation", plan.synchronisation, description.synchronisations)


def check_name(plan: Plan, key: str, name: str, units: Sequence[NamedUnit], *more: str) -> None:
    """Refuse a name that is neither a unit's nor another allowed one."""
    allowed = [*more, *(unit.name for unit in units)]
    if name not in allowed:
        raise make_error(plan, key, f'found "{name}"{suggestion(name, allowed)}')


def make_error(plan: Plan, place: str, message: str) -> RankbenchError:
    """Return an error about a place of a plan: its line, or the option that set it."""
    if place.partition("[")[0] in plan.from_options:
        return document.make_error("", "", f"--{place}", message)
    return document.make_error(plan.file, "" if plan.from_options else plan.text, place, message)


def list_oversubscriptions(placements: Sequence[Placement], machine: Machine) -> Iterator[str]:
    """Yield a note for each number of ranks above the number of cores, with its placements."""
    many: dict[int, list[Placement]] = {}
    for placement in placements:
        many.setdefault(placement.ranks_per_machine, []).append(placement)
    for group in many.values():
        yield from note_oversubscription(", ".join(placement.name for placement in group), group[0], machine)


def note_oversubscription(names: str, placement: Placement, machine: Machine, threads: int = 1) -> Iterator[str]:
    """Yield the note that placements have more ranks, or threads, than the machine has cores."""
    ranks = f"{placement.ranks_per_machine} ranks"
    who = ranks if threads == 1 else f"{threads} threads of each of {ranks}"
    if machine.short_of_cores(placement.ranks_per_machine * threads):
        yield (
            f"{names}: oversubscribed, {who} share {machine.cores} cores: values "
            "show how ranks wait for each other more than how they communicate; ranks are not bound"
        )


def list_repetitions(
    plan: Plan, operations: Sequence[Operation], machine: Machine
) -> tuple[set[tuple[str, str]], list[str]]:
    """Return operations between two ranks and the placements that would only repeat them, with a note.

    Placements by numbers are of two kinds: ranks 0 and 1 on one node, or on two. One of each kind is measured:
    the first one that has a core for each rank, if there is one.
    """
    names = list(
        dict.fromkeys(
            operation.name
            for operation in operations
            if count_exact_ranks(operation) == PAIR_RANKS and not names_ranks(plan, operation)
        )
    )
    kinds: dict[bool, list[Placement]] = {}
    for placement in plan.placements:
        if placement.ranks > 1 and placement.name == f"{placement.nodes}x{placement.ranks_per_node}":
            kinds.setdefault(placement.ranks_per_node > 1, []).append(placement)
    first = [
        min(group, key=lambda placement: machine.short_of_cores(placement.ranks_per_machine)).name
        for group in kinds.values()
    ]
    out = [placement.name for group in kinds.values() for placement in group if placement.name not in first]
    if not names or not out:
        return set(), []
    verb = "is" if len(names) == 1 else "are"
    note = (
        f"{abbreviate_names(names)}: {verb} between ranks 0 and 1; measured at {' and '.join(first)}, "
        f"left out of {abbreviate_names(out)}"
    )
    return {(name, placement) for name in names for placement in out}, [note]


def names_ranks(plan: Plan, operation: Operation) -> bool:
    """Return whether the plan names the two ranks of an operation; a foreign program's are always the first two."""
    if operation.foreign:
        return False
    texts = {f"{operation.name}.{name}" for name in PAIR} | set(PAIR)
    return plan.every_pair or not texts.isdisjoint(plan.options)


def choose_operations(plan: Plan, description: Description, notes: dict[str, None]) -> Iterator[tuple[Operation, Form]]:
    """Yield the operations and forms that the plan names.

    An operation of one form is meant in that form. A form that an operation lacks is left out with a note, unless all
    forms are asked for.
    """
    for index, text in enumerate(plan.operations):
        name, _, suffix = text.partition(".")
        place = f"operations[{index}]"
        for operation in find_operations(name, description, plan, place):
            for form in [check_form(suffix, operation, plan, place)] if suffix else list_forms(operation, plan):
                if form in operation.forms:
                    yield operation, form
                elif set(plan.forms) != set(FORMS):
                    notes[f"{operation.name}: there is no {form} form; left out"] = None


def list_forms(operation: Operation, plan: Plan) -> list[Form]:
    """Return the forms of an operation that the plan names, existing or not."""
    if len(operation.forms) == 1:
        return operation.forms
    return plan.forms or [operation.form]


def find_operations(name: str, description: Description, plan: Plan, place: str) -> list[Operation]:
    """Return the operations with a name or of a kind; `all`: every one except the core's self-tests."""
    families = list(dict.fromkeys(operation.kind for operation in description.operations))
    operations = [
        operation
        for operation in description.operations
        if name in (operation.name, operation.kind) or (name == "all" and operation.kind != "self-test")
    ]
    if not operations:
        allowed = [*(operation.name for operation in description.operations), *families, "all"]
        raise make_error(plan, place, f'found "{name}"{suggestion(name, allowed, LISTED_BY)}')
    return operations


def check_form(text: str, operation: Operation, plan: Plan, place: str) -> Form:
    """Return the form named in `allreduce.persistent`. Raises RankbenchError if the operation lacks it."""
    for form in FORMS:
        if text == form and form in operation.forms:
            return form
    raise make_error(plan, place, f'found "{operation.name}.{text}"{suggestion(text, operation.forms)}')


def count_messages(operation: Operation, options: Mapping[str, str], ranks: int) -> int:
    """Return the messages of a call: those of a window, or one for each neighbour in a grid or each rank at most."""
    chosen = {option.name: option.usual for option in operation.options} | dict(options)
    if "window" in chosen:
        return int(chosen["window"])
    return operation.messages or 2 * count_dimensions(operation, options) or ranks


def count_buffer_bytes(operation: Operation, size_bytes: int, placement: Placement, messages: int = 1) -> int:
    """Return the bytes of message buffers that the operation needs on the node of rank 0, the root."""
    ranks = count_exact_ranks(operation) or placement.ranks

    def both(send: Amount, receive: Amount) -> int:
        return send.bytes(size_bytes, ranks, messages) + receive.bytes(size_bytes, ranks, messages)

    others = min(ranks, placement.ranks_per_node) - 1
    return both(operation.root_send, operation.root_receive) + others * both(operation.send, operation.receive)


def count_node_bytes(operation: Operation, size_bytes: int, options: Mapping[str, str], placement: Placement) -> int:
    """Return the bytes of message buffers that a case with these options needs on the node of rank 0."""
    return count_buffer_bytes(operation, size_bytes, placement, count_messages(operation, options, placement.ranks))


def check_memory(line: CaseScope, size_bytes: int, options: Mapping[str, str], machine: Machine) -> None:
    """Refuse a size whose buffers do not fit, before anything starts."""
    operation, placement = line.operation, line.placement
    needed = count_node_bytes(operation, size_bytes, options, placement)
    room = int(machine.memory_bytes * MEMORY_SHARE)
    if needed <= room or not machine.memory_bytes:
        return
    largest = size_bytes * room // needed
    raise make_error(
        line.plan,
        "sizes",
        f"{operation.name} of {format_size(size_bytes)} on {placement.name} needs "
        f"{format_size(needed)} of buffers on a node, and {format_size(room)} ({MEMORY_SHARE:.0%} of its memory) "
        f"may be used; sizes up to {format_size(largest)} fit",
    )
