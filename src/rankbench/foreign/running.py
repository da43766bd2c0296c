"""Shared by tools that can be run: the request for a run, options in the user's arguments, repetitions in a meaning.

A tool that can be run has `program(operation)`, the name of a benchmark's program, `apply_plan(operation, plan,
arguments)`, the benchmark as a plan describes it, and `arguments(request)`. Optional: `find_lacking(operation, path)`
returns the options that a build lacks, and `WITHOUT` says what a program then does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace

from rankbench.model import Operation, Plan


class RunRequest(NamedTuple):
    """What the arguments of a program depend on."""

    operation: Operation
    sizes: Sequence[int]
    """In bytes, rising."""
    ranks: int
    plan: Plan
    folder: Path
    """Files for the program are written there."""
    lacking: frozenset[str] = frozenset()
    """Options that its build does not have."""


def find_option(arguments: Sequence[str], names: Sequence[str]) -> str:
    """Return the last value of an option, in any form: `-T x`, `-Tx`, `--type=x`; empty without it."""
    value = ""
    for place, argument in enumerate(arguments):
        if argument in names:
            value = next(iter(arguments[place + 1 : place + 2]), "")
        for name in names:
            start = f"{name}=" if name.startswith("--") else name
            if argument.startswith(start) and argument != name:
                value = argument.removeprefix(start)
    return value


def set_repetitions(operation: Operation, loops: Mapping[str, str], repetitions: str) -> Operation:
    """Return a benchmark with another number of repetitions in its meaning; `loops` maps default texts to templates."""
    assert operation.foreign
    text = operation.foreign.meaning.text
    for usual, loop in loops.items():
        text = text.replace(usual, loop.format(repetitions))
    meaning = replace(operation.foreign.meaning, text=text)
    return replace(operation, foreign=replace(operation.foreign, meaning=meaning))
