"""What tools share that can be run: options among a user's arguments, and repetitions in what a number means."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rankbench.model import Operation


def find_option(arguments: Sequence[str], names: Sequence[str]) -> str:
    """Return the value of an option, the last one as programs take it: `-T x`, `-Tx` or `--type=x`; else nothing."""
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
    """Return a benchmark whose meaning has a number of repetitions in place of its tool's usual ones, by `loops`."""
    assert operation.foreign
    text = operation.foreign.meaning.text
    for usual, loop in loops.items():
        text = text.replace(usual, loop.format(repetitions))
    meaning = replace(operation.foreign.meaning, text=text)
    return replace(operation, foreign=replace(operation.foreign, meaning=meaning))
