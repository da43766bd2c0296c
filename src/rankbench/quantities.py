"""Quantities as a person reads them. Sizes in powers of two (1 KiB = 1024 B), times in the unit that suits.

What is not a number is `–`, and infinities are `∞` and `-∞`: a missing value never ends a table or a report.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import TypeVar

Number = TypeVar("Number", int, float)
UNKNOWN = "–"


def name_limit(value: float) -> str:
    """Return the text of a value that is not finite, an empty one for all others."""
    if math.isfinite(value):
        return ""
    return UNKNOWN if math.isnan(value) else "∞" if value > 0 else "-∞"


def _total(format_finite: Callable[[Number], str]) -> Callable[[Number], str]:
    """Return a formatter of finite values that accepts all values."""

    @functools.wraps(format_finite)
    def format_any(value: Number) -> str:
        return name_limit(value) or format_finite(value)

    return format_any


@_total
def format_size(size_bytes: int) -> str:
    """Return a size in the largest binary unit that divides it, such as `8 B`, `64 KiB`, `1 MiB`."""
    units = ("B", "KiB", "MiB", "GiB", "TiB")
    power = 0
    while power + 1 < len(units) and size_bytes and size_bytes % 1024 == 0:
        size_bytes //= 1024
        power += 1
    if size_bytes >= 10 * 1024:
        rest = min((size_bytes.bit_length() - 1) // 10, 4)
        return f"{size_bytes / 1024**rest:.1f} {units[power + rest]}"
    return f"{size_bytes} {units[power]}"


@_total
def format_time(time_ns: float) -> str:
    """Return a time with three significant digits, such as `131 ns`, `4.72 µs`, `1.05 ms`; from 1,000 s in hours."""
    for unit, scale in (("ns", 1.0), ("µs", 1e3), ("ms", 1e6)):
        if float(f"{abs(time_ns) / scale:.3g}") < 1000:
            return f"{_three_digits(time_ns / scale)} {unit}"
    seconds = time_ns / 1e9
    return f"{_three_digits(seconds)} s" if abs(seconds) < 999.5 else format_duration(seconds)


@_total
def format_whole(number: float) -> str:
    """Return a whole number with commas between groups of three: `1,329`."""
    return f"{number:,.0f}"


@_total
def format_rate(megabytes_per_s: float) -> str:
    """Return a rate in MB/s, the unit left to who shows it: `48.25`, `948.3`, `12,300`."""
    return f"{megabytes_per_s:,.0f}" if megabytes_per_s >= 999.95 else f"{megabytes_per_s:.4g}"


@_total
def format_count(count: float) -> str:
    """Return a large number with three significant digits, such as `812`, `48.3 k`, `3.52 M`."""
    for unit, scale in (("", 1.0), (" k", 1e3), (" M", 1e6)):
        if float(f"{count / scale:.3g}") < 1000:
            return f"{_three_digits(count / scale)}{unit}" if unit else f"{count:.3g}"
    return f"{_three_digits(count / 1e9)} G"


@_total
def format_memory(size_bytes: float) -> str:
    """Return an amount of memory with three significant digits, such as `512 B`, `1.25 MiB`; not a message size."""
    for unit, scale in (("B", 1), ("KiB", 1 << 10), ("MiB", 1 << 20)):
        if abs(size_bytes) / scale < 1023.5:
            return f"{size_bytes:.0f} B" if scale == 1 else f"{_three_digits(size_bytes / scale)} {unit}"
    return f"{_three_digits(size_bytes / (1 << 30))} GiB"


@_total
def format_duration(seconds: float) -> str:
    """Return a time of day's length in its two largest units: `45 s`, `3 min 40 s`, `1 h 12 min`."""
    total = round(seconds)
    if total < 60:
        return f"{total} s"
    if total < 3600:
        return f"{total // 60} min {total % 60} s"
    return f"{total // 3600} h {total % 3600 // 60} min"


@_total
def format_rough_time(seconds: float) -> str:
    """Return an estimated time: `45 s`, `12 min`, `3.5 h`."""
    if seconds < 120:
        return f"{max(1.0, seconds):.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


@_total
def format_clock(seconds: float) -> str:
    """Return minutes and seconds: `2:05`."""
    return f"{int(seconds) // 60}:{int(seconds) % 60:02}"


@_total
def format_ratio(ratio: float) -> str:
    """Return a ratio with three significant digits at most, below 0.1 with two: `0.021×`, `0.98×`, `12.3×`, `340×`."""
    small = abs(float(f"{ratio:.2f}")) < 0.1
    return f"{ratio:.2g}×" if small else f"{_three_digits(ratio)}×"


def _three_digits(value: float) -> str:
    digits = 2 if abs(value) < 9.995 else 1 if abs(value) < 99.95 else 0
    return f"{value:.{digits}f}"


def choose_word(number: int, words: str, *, with_number: bool) -> str:
    """Return the word for a number, after it where it is reported: `1 case`, `3 cases`. One word has its English
    plural."""
    singular, bar, many = words.partition("|")
    plural = many if bar else f"{singular}{'es' if singular.endswith('ch') else 's'}"
    word = singular if number == 1 else plural
    return f"{number} {word}" if with_number else word


def spell_count(number: int, words: str) -> str:
    """Return a number with its noun: `1 case`, `2 launches`; `library|libraries` has a plural of its own."""
    return choose_word(number, words, with_number=True)
