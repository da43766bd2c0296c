"""Reading of a plan's keys that say how cases are measured: samples, starts, memory."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any, get_args

from rankbench.model import ROTATING, Buffers, Cache, Memory, Pages, Sampling
from rankbench.plan import notation

if TYPE_CHECKING:
    from collections.abc import Callable

    from rankbench.plan.document import Value

MOST_SAMPLES = 100_000_000
ROOT_HELP = 'a rank such as 0, or "rotating"'
STARTS_HELP = 'a start, or starts such as ["window", "barrier"]'


def starts(value: Value) -> list[str]:
    """Return the starts of a name or a list of names, each once."""
    return list(dict.fromkeys(one.text("a start") for one in value.each(STARTS_HELP)))


def sampling(value: Value) -> Sampling:
    """Return when a case has samples enough. A lone number is that of good samples."""
    if not isinstance(value.raw, dict):
        return Sampling(good=count(value))
    readers: dict[str, tuple[str, Callable[[Value], Any]]] = {
        "good": ("good", count),
        "tried": ("tries", count),
        "rse": ("rse", share),
        "interval": ("interval", share),
        "least": ("least", count),
    }
    fields = value.table(readers)
    found = Sampling(**{readers[key][0]: readers[key][1](one) for key, one in fields.items()})
    if "least" in fields and found.least > found.good:
        raise fields["least"].fail(f"found {found.least} above good = {found.good}")
    return found


def count(value: Value) -> int:
    """Return a number of samples."""
    return value.whole(1, MOST_SAMPLES)


def share(value: Value) -> float:
    """Return a share of a figure."""
    return value.parsed(notation.share, notation.SHARE_HELP)


def memory(value: Value) -> list[Memory]:
    """Return every combination of what the table says of memory, each once."""
    readers: dict[str, Callable[[Value], Any]] = {
        "cache": lambda one: one.one_of(get_args(Cache)),
        "buffers": lambda one: one.one_of(get_args(Buffers)),
        "pages": lambda one: one.one_of(get_args(Pages)),
        "alignment": lambda one: one.parsed(notation.alignment, notation.ALIGNMENT_HELP),
        "root": root,
    }
    fields = value.table(readers)
    choices = [[readers[key](one) for one in field.each("a value, or a list of them")] for key, field in fields.items()]
    found = (Memory(**dict(zip(fields, chosen, strict=True))) for chosen in itertools.product(*choices))
    return list(dict.fromkeys(found))


def root(value: Value) -> int:
    """Return a rank, or ROTATING."""
    if value.raw == "rotating":
        return ROTATING
    if isinstance(value.raw, bool) or not isinstance(value.raw, int) or value.raw < 0:
        raise value.expected(ROOT_HELP)
    return value.raw
