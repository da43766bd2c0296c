"""Phrases that sentences of findings and of the conclusion share: lists, counts and ranges of sizes. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankbench.language import NOTHING, Text, Words, say

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rankbench.model import Case


def join_or(words: Iterable[str]) -> str:
    """Join words: `a`, `a or b`, `a or b or c`."""
    return " or ".join(words)


def shorten(words: list[str], most: int) -> list[Words]:
    """Return words; where they are more than one above the most, as many, and how many more there are."""
    return [*words] if len(words) <= most + 1 else [*words[:most], say("{n} more", n=len(words) - most)]


def format_count(count: int, noun: str) -> str:
    """Return `1 case`, `2 cases`, `2 launches`."""
    return f"{count} {noun}{'' if count == 1 else 'es' if noun.endswith('ch') else 's'}"


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
