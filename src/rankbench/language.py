"""Sentences in the reader's language: English, or another one whose catalogue is a file of `languages`.

`say` takes an English template and what is put into its fields. The catalogue of a language has, by the English
template, the one of the same sense; where it has none, English is said. Inflection is the templates' own affair: a
field can choose its words by a number.

    {n:count case|cases}     1 case, 3 cases          {n:of is|are}     is, are: the words alone
    {names:and}              a, b and c               {names:or}        a, b or c
    {r:ratio} {t:time} {b:size} {p:.0%}               1.73×, 4.72 µs, 64 KiB, 12%

What is no field's format is Python's own, with the language's decimal mark.
"""

from __future__ import annotations

import string
from contextlib import contextmanager
from contextvars import ContextVar
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from rankbench import languages, quantities, units
from rankbench.model import RankbenchError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

ENGLISH = "en"


class Language(NamedTuple):
    """What differs from English."""

    name: str
    decimal: str = "."
    words: Mapping[str, str] = MappingProxyType({})
    """By English word or template."""


PLAIN = Language(ENGLISH)
_spoken: ContextVar[Language] = ContextVar("spoken", default=PLAIN)


def known() -> list[str]:
    """Return the names of the languages."""
    return sorted({ENGLISH, *units.names(languages)})


@contextmanager
def spoken(name: str) -> Iterator[None]:
    """Say everything in a language until the context ends. Raises RankbenchError where it is not known."""
    if name not in known():
        raise RankbenchError(f"language {name!r}: {units.suggestion(name, known())}")
    found = PLAIN if name == ENGLISH else catalogue(name)
    token, mark = _spoken.set(found), quantities.decimal.set(found.decimal)
    try:
        yield
    finally:
        quantities.decimal.reset(mark)
        _spoken.reset(token)


def catalogue(name: str) -> Language:
    """Return a language from its file."""
    module = units.module(languages, name)
    return Language(name, module.DECIMAL, module.WORDS)


def current() -> Language:
    """Return the language that is spoken."""
    return _spoken.get()


def say(template: str, **fields: object) -> str:
    """Return a template in the language that is spoken, its fields filled."""
    return _Filled().vformat(word(template), (), fields)


def word(english: str) -> str:
    """Return what stands for an English word or template."""
    return current().words.get(english, english)


class _Filled(string.Formatter):
    """Templates with the formats of this module."""

    def format_field(self, value: Any, format_spec: str) -> str:
        """Return a field's text."""
        name, _, rest = format_spec.partition(" ")
        if name in {"count", "of"} and rest:
            return chosen(value, rest, told=name == "count")
        if name in {"and", "or"} and not rest:
            return joined(list(value), word(name))
        if name in QUANTITIES:
            return QUANTITIES[name](value)
        return quantities.marked(format(value, format_spec)) if isinstance(value, float) else format(value, format_spec)


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
