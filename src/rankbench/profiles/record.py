"""Reads the file of `rankbench record`: what each rank of a program called, and how long it took."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankbench.model import Calls
from rankbench.model.program_records import HEAD, decode
from rankbench.profiles import NONBLOCKING, Profile, convert_counts, find_operation

if TYPE_CHECKING:
    from rankbench.model import Form

NAME = "rankbench record"


def recognises(text: str) -> bool:
    """Return whether a text is such a record."""
    return HEAD in text[:200]


def read(text: str, file: str) -> Profile:
    """Return the mean calls of a rank. Receives and completions count at the sender and at the start."""
    run = decode(text.encode(), file)
    blocking: dict[tuple[str, int], float] = {}
    others: dict[tuple[str, int, Form], float] = {}
    notes = []
    for kind in run.kinds:
        name, total = kind.call.removeprefix("MPI_"), sum(kind.calls)
        operation = find_operation(name)
        if kind.bytes < 0:
            notes.append(f"{total} calls of {kind.call} have no known size and are not counted")
        elif operation in NONBLOCKING:
            key = operation, kind.bytes, kind.form
            others[key] = others.get(key, 0.0) + total / run.ranks
        elif not name.endswith("_init") or kind.form == "persistent":
            blocking[name, kind.bytes] = blocking.get((name, kind.bytes), 0.0) + total
    calls, ignored = convert_counts(blocking, run.ranks)
    calls += [
        Calls(operation=operation, size_bytes=size, calls=count, form=form)
        for (operation, size, form), count in others.items()
    ]
    return Profile(NAME, calls, ignored, tuple(notes))
