"""Sentences from templates. A field can choose its words by a number.

    {n:count case|cases}     1 case, 3 cases          {n:of is|are}     is, are: the words alone
    {names:and}              a, b and c               {names:or}        a, b or c
    {r:ratio} {t:time} {b:size} {p:.0%}               1.73×, 4.72 µs, 64 KiB, 12%

All other formats are Python's own.
"""

from __future__ import annotations

import string
from typing import TYPE_CHECKING, Any

from rankbench import quantities

if TYPE_CHECKING:
    from collections.abc import Sequence


def say(template: str, **fields: object) -> str:
    """Return a template with its fields filled."""
    return _Sentence().vformat(template, (), fields)


class _Sentence(string.Formatter):
    """Templates with the formats of this module."""

    def format_field(self, value: Any, format_spec: str) -> str:
        """Return a field's text."""
        name, _, rest = format_spec.partition(" ")
        if name in {"count", "of"} and rest:
            return chosen(value, rest, told=name == "count")
        if name in {"and", "or"} and not rest:
            return joined(list(value), name)
        if name in QUANTITIES:
            return QUANTITIES[name](value)
        return format(value, format_spec)


QUANTITIES = {
    "ratio": quantities.format_ratio,
    "time": quantities.format_time,
    "size": quantities.format_size,
    "memory": quantities.format_memory,
}


def chosen(number: int, words: str, *, told: bool) -> str:
    """Return the word for a number, after it where it is told: `1 case`, `3 cases`. One word has its English plural."""
    one, bar, many = words.partition("|")
    plural = many if bar else f"{one}{'es' if one.endswith('ch') else 's'}"
    own = one if number == 1 else plural
    return f"{number} {own}" if told else own


def joined(words: Sequence[str], last: str) -> str:
    """Return `a`, `a and b`, `a, b and c`."""
    return f" {last} ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)
