"""Reads the keys of a plan about measuring: samples, starts, datatypes, options, memory."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator
from typing import Any, Literal, get_args

import msgspec

from rankbench.model import ROTATING, Buffers, Cache, Memory, Pages, Sampling
from rankbench.plan import keys, notation
from rankbench.plan.document import Value

MOST_SAMPLES = 100_000_000
ROOT_HELP = 'a rank such as 0, or "rotating"'
NAMES_HELP = {
    "start": 'a start, or starts such as ["window", "barrier"]',
    "datatype": 'a datatype, or datatypes such as ["byte", "vector"]',
}
OPTION_HELP = "a name, a whole number, or a list of them such as [1, 8, 64]"


def parse_names(value: Value, kind: Literal["start", "datatype"]) -> list[str]:
    """Return the names of units of the core, each once; a single one needs no list."""
    return list(dict.fromkeys(name.read_text(f"a {kind}") for name in value.read_each(NAMES_HELP[kind])))


USUAL_PASSES, LEAST_PER_PASS, MOST_PASSES = 5, 20, 100
USUAL_SAMPLING = Sampling(good=USUAL_PASSES * LEAST_PER_PASS, passes=USUAL_PASSES, fill_s=0.015)
"""What short calls take beyond these samples costs little: a visit takes some 4 ms before its first sample."""


def parse_options(value: Value) -> dict[str, list[str]]:
    """Return the values of options by NAME or OPERATION.NAME, which may be a quoted key or a nested table."""
    options: dict[str, list[str]] = {}
    for name, entry in _read_option_keys(value):
        if name in options:
            raise entry.make_error("is given twice")
        options[name] = [format_option_value(part) for part in entry.read_each(OPTION_HELP)]
    return options


def _read_option_keys(value: Value) -> Iterator[tuple[str, Value]]:
    for name, entry in value.read_entries("NAME = value").items():
        if isinstance(entry.raw, dict):
            yield from ((f"{name}.{option}", part) for option, part in entry.read_entries("NAME = value").items())
        else:
            yield name, entry


def format_option_value(value: Value) -> str:
    """Return a value as the core spells it."""
    if isinstance(value.raw, bool) or not isinstance(value.raw, int | str) or value.raw == "":
        raise value.reject(OPTION_HELP)
    return str(int(value.raw)) if re.fullmatch(r"-?[0-9]+", str(value.raw)) else str(value.raw)


def parse_sampling(value: Value) -> Sampling:
    """Return when a case has enough samples. A single number is that of good samples."""
    if not isinstance(value.raw, dict):
        return Sampling(good=parse_count(value), passes=choose_passes(parse_count(value)))
    readers: dict[str, tuple[str, Callable[[Value], Any]]] = {
        "good": ("good", parse_count),
        "tried": ("tries", parse_count),
        "rse": ("rse", parse_share),
        "interval": ("interval", parse_share),
        "least": ("least", parse_count),
        "fill": ("fill_s", lambda value: value.parse_with(notation.parse_seconds, notation.TIME_HELP)),
        "passes": ("passes", lambda value: value.read_integer(1, MOST_PASSES)),
    }
    fields = value.read_table(keys.SAMPLES)
    sampling = Sampling(**{readers[key][0]: readers[key][1](field) for key, field in fields.items()})
    if "least" in fields and sampling.least > sampling.good:
        raise fields["least"].make_error(f"found {sampling.least} above good = {sampling.good}")
    if "passes" in fields:
        return set_passes(sampling, fields["passes"])
    # A rule that depends on the samples would see too few of them in each pass.
    return (
        sampling
        if sampling.rse or sampling.interval
        else msgspec.structs.replace(sampling, passes=choose_passes(sampling.good))
    )


def set_passes(sampling: Sampling, value: Value) -> Sampling:
    """Return the rule, if its samples can be divided among this number of passes."""
    if sampling.passes > 1 and (sampling.rse or sampling.interval):
        raise value.make_error(
            f"found {sampling.passes}, but rse and interval look at all samples of a case; leave one out"
        )
    if sampling.passes > sampling.good:
        raise value.make_error(f"found {sampling.passes} above good = {sampling.good}")
    return sampling


def choose_passes(good: int) -> int:
    """Return the default number of passes for a number of samples: each pass must justify its warm-up."""
    return max(1, min(USUAL_PASSES, good // LEAST_PER_PASS))


def parse_count(value: Value) -> int:
    """Return a number of samples."""
    return value.read_integer(1, MOST_SAMPLES)


def parse_share(value: Value) -> float:
    """Return a share of a value."""
    return value.parse_with(notation.parse_share, notation.SHARE_HELP)


def parse_memory(value: Value) -> list[Memory]:
    """Return every combination of the table's states of memory, each once."""
    readers: dict[str, Callable[[Value], Any]] = {
        "cache": lambda value: value.read_choice(get_args(Cache)),
        "buffers": lambda value: value.read_choice(get_args(Buffers)),
        "pages": lambda value: value.read_choice(get_args(Pages)),
        "alignment": lambda value: value.parse_with(notation.parse_alignment, notation.ALIGNMENT_HELP),
        "root": parse_root,
    }
    fields = value.read_table(keys.MEMORY)
    choices = [
        [readers[key](value) for value in field.read_each("a value, or a list of them")]
        for key, field in fields.items()
    ]
    memories = (Memory(**dict(zip(fields, chosen, strict=True))) for chosen in itertools.product(*choices))
    return list(dict.fromkeys(memories))


def parse_root(value: Value) -> int:
    """Return a rank, or ROTATING."""
    if value.raw == "rotating":
        return ROTATING
    if isinstance(value.raw, bool) or not isinstance(value.raw, int) or value.raw < 0:
        raise value.reject(ROOT_HELP)
    return value.raw
