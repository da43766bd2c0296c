"""Values of a TOML document with their place: errors name the file, the key, the value and what is allowed.

It knows nothing of what a plan means.
"""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from rankbench.model import RankbenchError
from rankbench.plan import notation
from rankbench.units import suggestion

T = TypeVar("T")
REPEATED = re.compile(r"Cannot overwrite a value|Cannot declare .* twice")
"""Message of Python's parser about a key that is set twice."""
HEADER = re.compile(r"\s*\[(\[?)\s*([^\[\]]+?)\s*\]")
ASSIGNMENT = re.compile(r"""\s*((?:[\w-]+|"[^"]*"|'[^']*')(?:\s*\.\s*(?:[\w-]+|"[^"]*"|'[^']*'))*)\s*=""")
LONG_QUOTES = re.compile(r"\"{3}|'{3}")
CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")


@dataclass(frozen=True)
class Value:
    """One value of a document with its place: `stop.blocks.min`, `candidate[1].name`."""

    file: str
    place: str
    raw: Any
    text: str = ""
    """The whole document, in which errors find the line."""

    def make_error(self, message: str) -> RankbenchError:
        """Return an error about this value."""
        return make_error(self.file, self.text, self.place, message)

    def reject(self, what: str) -> RankbenchError:
        """Return an error with this value and what was expected."""
        return self.make_error(f"found {self.format_raw()}, expected {what}")

    def format_raw(self) -> str:
        """Return the value roughly as it is written in TOML."""
        if isinstance(self.raw, dict):
            return "a table"
        if isinstance(self.raw, bool):
            return str(self.raw).lower()
        if isinstance(self.raw, str):
            return '"' + CONTROL.sub(lambda match: repr(match[0])[1:-1], self.raw) + '"'
        return str(self.raw)

    def make_child(self, key: str, raw: Any) -> Value:
        """Return a value below this one. Options that set the stop rule do not contain the name of its table."""
        if self.place == "--stop":
            return Value(self.file, f"--{key}", raw)
        return Value(self.file, f"{self.place}.{key}" if self.place else key, raw, self.text)

    def read_table(self, allowed: Iterable[str], others: Mapping[str, Iterable[str]] = {}) -> dict[str, Value]:
        """Return the values of a table with only the allowed keys; a key of other tables is shown where it belongs."""
        allowed = list(allowed)
        if not isinstance(self.raw, dict):
            raise self.reject(f"a table with {', '.join(allowed)}")
        for key in self.raw:
            if key not in allowed:
                table = next((name for name, keys in others.items() if key in keys), "")
                hint = f"; it belongs to [{table}]" if table else suggestion(key, allowed, "rankbench plan keys")
                raise self.make_child(key, None).make_error(f"unknown key{hint}")
        return {key: self.make_child(key, raw) for key, raw in self.raw.items()}

    def read_entries(self, what: str) -> dict[str, Value]:
        """Return the values of a table with any keys."""
        return self.read_table(self.raw if isinstance(self.raw, dict) else [what])

    def read_items(self, what: str) -> Iterator[Value]:
        """Yield the values of a list that is not empty."""
        if not isinstance(self.raw, list) or not self.raw:
            raise self.reject(what)
        for index, raw in enumerate(self.raw):
            yield Value(self.file, f"{self.place}[{index}]", raw, self.text)

    def read_each(self, what: str) -> Iterator[Value]:
        """Yield the values of a list, or a single value."""
        if isinstance(self.raw, list):
            yield from self.read_items(what)
        else:
            yield self

    def read_text(self, what: str = "text", *, lines: bool = False) -> str:
        """Return text that is not empty and, unless it may have several lines, is without control characters.

        Names become parts of scripts and of what terminals show, where a line end would begin something else.
        """
        if not isinstance(self.raw, str) or not self.raw.strip():
            raise self.reject(what)
        if not lines and CONTROL.search(self.raw):
            raise self.reject(f"{what}, in one line and without control characters")
        return self.raw

    def read_choice(self, allowed: Iterable[str]) -> str:
        """Return text that is one of the allowed values."""
        allowed, text = list(allowed), self.read_text()
        if text not in allowed:
            raise self.make_error(f"found {self.format_raw()}{suggestion(text, allowed)}")
        return text

    def read_switch(self) -> bool:
        """Return true or false."""
        if not isinstance(self.raw, bool):
            raise self.reject("true or false")
        return self.raw

    def read_integer(self, least: int, most: int | None = None) -> int:
        """Return a whole number within bounds."""
        number = self.raw if isinstance(self.raw, int) and not isinstance(self.raw, bool) else least - 1
        if number < least or (most is not None and number > most):
            raise self.reject(f"a whole number, {least} {'or more' if most is None else f'to {most}'}")
        return number

    def parse_with(self, parse: Callable[[Any], T], what: str) -> T:
        """Return the parsed value; turn a ValueError of the parser into an error about this value."""
        try:
            return parse(self.raw)
        except notation.UnlikelyError as error:
            message = f"found {self.format_raw()}, expected {what}; {error.hint}"
            raise self.make_error(error.hint if error.alone else message) from None
        except ValueError:
            raise self.reject(what) from None


def parse_document(text: str, file: str, *, lines: bool = True) -> Value:
    """Parse TOML. A syntax error names file and line; other errors do with `lines`, if the text is the file's.

    Raises RankbenchError for a syntax error.
    """
    try:
        return Value(file, "", tomllib.loads(text), text if lines else "")
    except tomllib.TOMLDecodeError as error:
        message, _, position = str(error).rpartition(" (at ")
        message = REPEATED.sub("this key is set already; remove one of the two", message)
        line = position.removeprefix("line ").partition(",")[0]
        raise RankbenchError(f"{file}:{line if line.isdigit() else len(text.splitlines())}: {message}") from None


def make_error(file: str, text: str, place: str, message: str) -> RankbenchError:
    """Return an error about a place of a document, with its line where the text has it."""
    line = find_line(text, place)
    return RankbenchError(
        ": ".join(part for part in (f"{file}:{line}" if file and line else file, place, message) if part)
    )


def find_line(text: str, place: str) -> int:
    """Return the number of the line that sets a place, or the innermost table or list around it; 0: no line does."""
    table, lengths, inside, nearest, line_number = "", Counter[str](), False, "", 0
    for number, line in enumerate(text.splitlines(), 1):
        header, assignment = (None, None) if inside else (HEADER.match(line), ASSIGNMENT.match(line))
        inside ^= len(LONG_QUOTES.findall(line)) % 2 == 1
        if header:
            table = _strip_quotes(header[2])
            lengths[table] += len(header[1])  # A table of a list has two brackets.
            name, dot, rest = table.partition(".")
            path = table = f"{name}[{lengths[name] - 1}]{dot}{rest}" if lengths[name] else table
        elif assignment:
            path = ".".join(part for part in (table, _strip_quotes(assignment[1])) if part)
        else:
            continue
        if len(path) > len(nearest) and (
            place == path or place.startswith((f"{path}.", f"{path}[")) or path.startswith(f"{place}[")
        ):
            nearest, line_number = path, number
    return line_number


def _strip_quotes(key: str) -> str:
    """Return a key, which may have several parts, as places have it."""
    return re.sub(r"\s*\.\s*", ".", key).replace('"', "").replace("'", "")
