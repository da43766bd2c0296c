"""Reading of a plan's keys that say how cases are measured: samples, starts, datatypes, options, memory."""

from __future__ import annotations

import itertools
import re
from typing import TYPE_CHECKING, Any, Literal, get_args

import msgspec

from rankbench.model import ROTATING, Buffers, Cache, Memory, Pages, Sampling
from rankbench.plan import keys, notation

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rankbench.plan.document import Value

MOST_SAMPLES = 100_000_000
ROOT_HELP = 'a rank such as 0, or "rotating"'
NAMES_HELP = {
    "start": 'a start, or starts such as ["window", "barrier"]',
    "datatype": 'a datatype, or datatypes such as ["byte", "vector"]',
}
OPTION_HELP = "a name, a whole number, or a list of them such as [1, 8, 64]"


def names(value: Value, kind: Literal["start", "datatype"]) -> list[str]:
    """Return the names of units that the core has, each once; a lone one needs no list."""
    return list(dict.fromkeys(one.text(f"a {kind}") for one in value.each(NAMES_HELP[kind])))


USUAL_PASSES, LEAST_A_PASS, MOST_PASSES = 5, 20, 100
USUAL_SAMPLING = Sampling(good=USUAL_PASSES * LEAST_A_PASS, passes=USUAL_PASSES, fill_s=0.015)
"""What short calls take beyond these samples costs little: a visit takes some 4 ms before its first sample."""


def options(value: Value) -> dict[str, list[str]]:
    """Return the values of options by NAME or OPERATION.NAME, be that a quoted key or a table within the table."""
    found: dict[str, list[str]] = {}
    for name, one in option_keys(value):
        if name in found:
            raise one.fail("stands there twice")
        found[name] = [option_value(part) for part in one.each(OPTION_HELP)]
    return found


def option_keys(value: Value) -> Iterator[tuple[str, Value]]:
    """Yield what the table says of each option."""
    for name, one in value.entries("NAME = value").items():
        if isinstance(one.raw, dict):
            yield from ((f"{name}.{option}", part) for option, part in one.entries("NAME = value").items())
        else:
            yield name, one


def option_value(value: Value) -> str:
    """Return a value as the core spells it."""
    if isinstance(value.raw, bool) or not isinstance(value.raw, int | str) or value.raw == "":
        raise value.expected(OPTION_HELP)
    return str(int(value.raw)) if re.fullmatch(r"-?[0-9]+", str(value.raw)) else str(value.raw)


def sampling(value: Value) -> Sampling:
    """Return when a case has samples enough. A lone number is that of good samples."""
    if not isinstance(value.raw, dict):
        return Sampling(good=count(value), passes=usual_passes(count(value)))
    readers: dict[str, tuple[str, Callable[[Value], Any]]] = {
        "good": ("good", count),
        "tried": ("tries", count),
        "rse": ("rse", share),
        "interval": ("interval", share),
        "least": ("least", count),
        "fill": ("fill_s", lambda one: one.parsed(notation.seconds, notation.TIME_HELP)),
        "passes": ("passes", lambda one: one.whole(1, MOST_PASSES)),
    }
    fields = value.table(keys.SAMPLES)
    found = Sampling(**{readers[key][0]: readers[key][1](one) for key, one in fields.items()})
    if "least" in fields and found.least > found.good:
        raise fields["least"].fail(f"found {found.least} above good = {found.good}")
    if "passes" in fields:
        return with_passes(found, fields["passes"])
    # A rule that looks at the samples would look at too few of them in each pass.
    return found if found.rse or found.interval else msgspec.structs.replace(found, passes=usual_passes(found.good))


def with_passes(found: Sampling, said: Value) -> Sampling:
    """Return the rule, if its samples can be parted among so many passes."""
    if found.passes > 1 and (found.rse or found.interval):
        raise said.fail(f"found {found.passes}, but rse and interval look at all samples of a case; leave one out")
    if found.passes > found.good:
        raise said.fail(f"found {found.passes} above good = {found.good}")
    return found


def usual_passes(good: int) -> int:
    """Return in how many passes so many samples are taken, unless a plan says: each is worth its own warm-up."""
    return max(1, min(USUAL_PASSES, good // LEAST_A_PASS))


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
    fields = value.table(keys.MEMORY)
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
