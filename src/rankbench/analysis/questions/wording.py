"""Phrases that sentences of findings and of the conclusion share: lists, counts, shares and ranges of sizes. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from rankbench.language import NOTHING, Text, Words, say
from rankbench.model import Case
from rankbench.quantities import format_size

LEAST_SHARE = 0.001
SMALL_SHARE = 0.01
"""Shares below this have a decimal place."""
LEAST_P_VALUE = 0.0001


def shorten(words: list[str], most: int) -> list[Words]:
    """Return words; where they are more than one above the most, as many, and how many more there are."""
    return [*words] if len(words) <= most + 1 else [*words[:most], say("{n} more", n=len(words) - most)]


def format_plan_sizes(sizes_bytes: Iterable[int]) -> list[str]:
    """Return sizes in a plan's notation, rising, each once: `8`, `64K`, `1M`."""
    texts = {size: format_size(size) for size in sorted(set(sizes_bytes))}
    return [
        str(size) if "." in text else text.replace(" ", "").removesuffix("B").removesuffix("i")
        for size, text in texts.items()
    ]


def describe_share(share: float) -> Text:
    """Return a share in percent; one that is not zero never reads `0%`."""
    if 0 < share < LEAST_SHARE:
        return say("less than {share:.1%}", share=LEAST_SHARE)
    return say("{share:.1%}" if 0 < share < SMALL_SHARE else "{share:.0%}", share=share)


def describe_p_value(p_value: float) -> Text:
    """Return `p = 0.0123`, or `p < 0.0001`."""
    return say("p < {least}" if p_value < LEAST_P_VALUE else "p = {p:.4f}", p=p_value, least=LEAST_P_VALUE)


def add_sizes(what: str, cases: list[Case]) -> Words:
    """Return `x from 8 B to 1 KiB` for cases in ascending size, or `x at 8 B`, or `x` where there is no size."""
    return say("{what} {sizes}", what=what, sizes=sizes) if (sizes := describe_sizes(cases)) else what


def describe_sizes(cases: list[Case]) -> Text:
    """Return `from 8 B to 1 KiB` for cases in ascending size, or `at 8 B`, or nothing where there is no size."""
    first, last = cases[0].size_bytes, cases[-1].size_bytes
    if not last:
        return NOTHING
    if first == last:
        return say("at {size:size}", size=first)
    return say("from {first:size} to {last:size}", first=first, last=last)
