"""Texts: templates with fields, and the one place where they become strings. A field can choose its words by a number.

    {n:count case|cases}     1 case, 3 cases          {n:of is|are}     is, are: the words alone
    {name:of is|are}         is; of a list with several parts are
    {names:and}  {names}     a, b and c               {names:or}        a, b or c
    {lines: }                a b c                    {parts:;}  {parts:,}   a; b; c  and  a, b, c
    {text:capital}           A text                   {n:ordinal}       3rd
    {r:ratio} {t:time} {b:size} {p:.0%}               1.73×, 4.72 µs, 64 KiB, 12%
    {s:clock}                                         2:05
    {low:bare}–{high:ratio}                           1.69–1.77×

All other formats are Python's own. What judges makes texts with `say`; what shows them makes strings with `render`.
"""

from __future__ import annotations

import string
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NoReturn

import msgspec

from rankbench import quantities
from rankbench.quantities import choose_word


class Text(msgspec.Struct, frozen=True):
    """A template and its fields: numbers in the units of their names, strings, texts, and lists of these.

    It has no `str`, so that no sentence is rendered by chance while numbers are judged.
    """

    template: str
    fields: dict[str, Any] = {}

    def __hash__(self) -> int:
        """Return the template's: fields may be lists."""
        return hash(self.template)

    def __bool__(self) -> bool:
        """Return whether there is anything to say."""
        return bool(self.template)

    def __str__(self) -> NoReturn:
        """Refuse: only `render` makes strings."""
        raise TypeError(f"render the text {self!r} instead of taking its str()")

    def __format__(self, format_spec: str) -> NoReturn:
        """Refuse, as `str` does."""
        self.__str__()


Words = Text | str
"""A text, or a string that comes from a library, a log or a plan."""
NOTHING = Text("")


def say(template: str, **fields: object) -> Text:
    """Return a template with its fields. Iterables that are no lists become lists."""
    return Text(template, {name: convert_plain(value) for name, value in fields.items()})


def sentences(lines: Iterable[Words]) -> Text:
    """Return sentences one after the other."""
    return _several("{sentences: }", sentences=list(lines))


def clauses(parts: Iterable[Words]) -> Text:
    """Return the parts of a sentence, divided by semicolons, without an end."""
    return _several("{clauses:;}", clauses=list(parts))


def list_parts(parts: Iterable[Words]) -> Text:
    """Return parts as `a`, `a and b`, `a, b and c`."""
    return _several("{parts:and}", parts=list(parts))


def end_sentence(text: Words) -> Text:
    """Return a text with a full stop."""
    return say("{sentence}.", sentence=text)


def capital(text: Words) -> Text:
    """Return a text as a sentence begins."""
    return say("{sentence:capital}", sentence=text)


def render(text: Words) -> str:
    """Return a text as a string; a string as it is."""
    return _Rendering().vformat(text.template, (), text.fields) if isinstance(text, Text) else text


def as_data(record: object) -> Any:
    """Return a record as JSON has it: each text an object of `template`, `fields` and `text`.

    A text that is called `text` is a string, with its template and fields beside it.
    """
    return _objects(msgspec.to_builtins(record))


def restore_texts(record: Any) -> None:
    """Make texts again of what was made of the texts within texts, wherever they are in a record that was decoded."""
    if isinstance(record, Text):
        for name, value in record.fields.items():
            record.fields[name] = restore_text(value)
    elif isinstance(record, msgspec.Struct):
        for name in record.__struct_fields__:
            restore_texts(getattr(record, name))
    elif isinstance(record, dict):
        restore_texts(list(record.values()))
    elif isinstance(record, list | tuple):
        for value in record:
            restore_texts(value)


def _is_text(value: Any) -> bool:
    return isinstance(value, dict) and value.keys() == {"template", "fields"}


def restore_text(value: Any) -> Any:
    """Return what was made of texts as texts again."""
    if _is_text(value):
        return Text(value["template"], {name: restore_text(part) for name, part in value["fields"].items()})
    return [restore_text(part) for part in value] if isinstance(value, list) else value


def _objects(value: Any) -> Any:
    """Return what was made of records, whose texts have their words, too."""
    if _is_text(value):
        fields = {name: _objects(part) for name, part in value["fields"].items()}
        return {"template": value["template"], "fields": fields, "text": render(restore_text(value))}
    if isinstance(value, dict):
        objects = {name: _objects(part) for name, part in value.items()}
        return {**objects, **objects["text"]} if _is_text(value.get("text")) else objects
    return [_objects(part) for part in value] if isinstance(value, list | tuple) else value


def _several(template: str, **fields: list[Words]) -> Text:
    (parts,) = fields.values()
    only = parts[0] if len(parts) == 1 else None
    return only if isinstance(only, Text) else say(template, **fields) if parts else NOTHING


def convert_plain(value: object) -> object:
    """Return a value as JSON has it: lists instead of other iterables, numbers of Python instead of NumPy's."""
    if isinstance(value, str | Text):
        return str.__str__(value) if isinstance(value, str) else value
    if hasattr(value, "__iter__"):
        return [convert_plain(element) for element in value]
    item = getattr(value, "item", None)
    return item() if callable(item) else value


class EmptyFieldError(ValueError):
    """A field of a sentence has no text: `Valid on , for these versions`."""


refuses_empty = False
"""Whether a field without a text is an error, as in tests; else a dash stands there. A sentence without a value must be
another sentence."""
DASH = "–"


class _Rendering(string.Formatter):
    """Templates with the formats of this module."""

    def get_field(self, field_name: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """Return the value of a field, and remember its name."""
        self._name = field_name
        return super().get_field(field_name, args, kwargs)

    def format_field(self, value: Any, format_spec: str) -> str:
        """Return a field's text, which is never empty, nor is a part of a list."""
        text = self._format(value, format_spec)
        if text and not (isinstance(value, list) and "" in map(_string, value)):
            return text
        if refuses_empty:
            raise EmptyFieldError(f"the field {self._name} is empty; choose another sentence where it has no value")
        return text or DASH

    def _format(self, value: Any, format_spec: str) -> str:
        name, _, rest = format_spec.partition(" ")
        if name in {"count", "of"} and rest:
            return choose_word(_count(value), rest, with_number=name == "count")
        if format_spec in {"and", "or"} or (not format_spec and isinstance(value, list)):
            return join_words([_string(part) for part in value], name or "and")
        if format_spec in DIVIDERS and isinstance(value, list):
            return DIVIDERS[format_spec].join(map(_string, value))
        if isinstance(value, Text):
            return self._format(render(value), format_spec)
        if name in QUANTITIES:
            return QUANTITIES[name](value)
        if isinstance(value, float):
            return quantities.name_limit(value) or format(value, format_spec)
        return format(value, format_spec)


def _count(value: object) -> Any:
    """Return the number by which words are chosen: of a list its length, of a word 1."""
    return len(value) if isinstance(value, list) else 1 if isinstance(value, str | Text) else value


def _string(value: object) -> str:
    return render(value) if isinstance(value, Text) else str(value)


DIVIDERS = {" ": " ", ";": "; ", ",": ", "}
"""What stands between the parts of a list."""


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _ordinal(number: int) -> str:
    ending = {1: "st", 2: "nd", 3: "rd"}.get(number % 10 if number // 10 % 10 != 1 else 0, "th")
    return f"{number}{ending}"


QUANTITIES: dict[str, Callable[[Any], str]] = {
    "ratio": quantities.format_ratio,
    "time": quantities.format_time,
    "clock": quantities.format_clock,
    "size": quantities.format_size,
    "memory": quantities.format_memory,
    "capital": _capital,
    "bare": lambda ratio: quantities.format_ratio(ratio).removesuffix("×"),
    "ordinal": _ordinal,
}


def join_words(words: Sequence[str], last: str) -> str:
    """Return `a`, `a and b`, `a, b and c`."""
    return f" {last} ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)
