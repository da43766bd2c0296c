"""The wording of messages and pages, which stands in `tests/golden/wording` and in no test.

`assert text == WORDING` compares a text, or lists of texts, with the next lines of the running test's entry. A file has
the entries of one test file, each behind or below the name of its test: a list of inputs and of what a user reads then.
Temporary folders are called TMP, this repository ROOT, checksums HASH and moments DATE. `pytest --renew-wording` writes
the entries of what it runs.
"""

from __future__ import annotations

import difflib
import re
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from fcntl import LOCK_EX, flock
from pathlib import Path
from typing import Any

import pytest

from rankbench.language import Text, render
from rankbench.model import RankbenchError

TESTS = Path(__file__).parent
FOLDER = "golden/wording"
VARIANT, LINE, ARROW = "  [", "    ", " → "


def read_entries(text: str) -> dict[str, list[str]]:
    """Return the lines of each entry by the name of its test."""
    entries: dict[str, list[str]] = {}
    lines: list[str] = []
    function = ""
    for line in text.splitlines():
        if not line.startswith(LINE) and line:
            name, arrow, only = line.partition(ARROW)
            function = function if name.startswith(VARIANT) else name
            lines = entries.setdefault(f"{function}{name.strip()}" if name.startswith(VARIANT) else name, [])
            lines += [only] if arrow else []
        else:
            lines.append(line[len(LINE) :])
    return {name: lines for name, lines in entries.items() if lines}


def format_entries(entries: dict[str, list[str]]) -> str:
    """Return the text of a file: variants stand below the name of their test, an entry of one line behind its name."""
    text: list[str] = []
    function = ""
    for name, lines in sorted(item for item in entries.items() if item[1]):
        test, bracket, variant = name.partition("[")
        text += [test] if bracket and test != function else []
        head, function = f"{VARIANT}{variant}" if bracket else name, test
        is_short = len(lines) == 1 and lines[0]
        text += [f"{head}{ARROW}{lines[0]}"] if is_short else [head, *(f"{LINE}{line}".rstrip() for line in lines)]
    return "".join(f"{line}\n" for line in text)


def list_lines(value: Any) -> Iterator[str]:
    """Yield the lines of a text, of the parts of a list, each behind a dash, or of a mapping, behind its keys."""
    if isinstance(value, dict):
        for key, part in value.items():
            yield from _indent(f"{key}: ", list_lines(part))
    elif isinstance(value, list | tuple):
        for part in value:
            yield from _indent("- ", list_lines(part))
    else:
        yield from (render(value) if isinstance(value, str | Text) else repr(value)).splitlines() or [""]


def _indent(first: str, lines: Iterable[str]) -> Iterator[str]:
    for number, line in enumerate(lines):
        yield f"{first if number == 0 else '  '}{line}"


def _shorten(name: str) -> str:
    """Return the name of a test, with the checksum instead of the end of a long one."""
    name = name.replace(ARROW, " -> ")
    return name if len(name) <= 200 else f"{name[:160]}… {zlib.crc32(name.encode()):08x}]"


class Wording:
    """The entry of the running test. It equals what its next lines say."""

    def __init__(self, tests: Path = TESTS) -> None:
        self.tests = tests
        self.base = ""
        self.names: dict[Path, set[str]] = {}
        self._renews = False

    def note_tests(self, items: Iterable[pytest.Item]) -> None:
        """Note the names of all tests of the files that are collected."""
        for item in items:
            self.names.setdefault(item.path, set()).add(_shorten(item.name))

    def begin(self, item: pytest.Item) -> None:
        """Read the entry of a test."""
        self._path, self._name = item.path, _shorten(item.name)
        self._tmp_path = str(getattr(item, "funcargs", {}).get("tmp_path", self.base))
        self._renews = item.config.getoption("renew_wording")
        self._is_whole = not any("::" in argument for argument in item.config.args)
        self._lines: list[str] = []
        self._expected = [] if self._renews else self._read()
        self._difference = ""

    def end(self) -> None:
        """Fail if the entry has more lines than the test has compared, or write it."""
        file = self._find_file()
        if not self._renews:
            assert self._lines == self._expected, f"{file}: the entry has more than the test compares: {self._name}"
        elif self._lines or file.exists():
            file.parent.mkdir(parents=True, exist_ok=True)
            with file.open("a+", encoding="utf-8") as stream:
                flock(stream, LOCK_EX)
                stream.seek(0)
                entries = read_entries(stream.read()) | {self._name: self._lines}
                stream.truncate(0)
                stream.write(format_entries({name: entries[name] for name in entries if self._is_test(name)}))

    def __eq__(self, value: object) -> bool:
        """Return whether a value is what the entry has next. After the first difference, nothing is."""
        if self._difference:
            return False
        lines = [self._normalise(line).rstrip() for line in list_lines(value)]
        expected = lines if self._renews else self._expected[len(self._lines) :][: len(lines)]
        self._lines += lines
        self._difference = "" if lines == expected else "\n".join(difflib.ndiff(expected, lines))
        return lines == expected

    def __repr__(self) -> str:
        """Return the first difference."""
        return f"the entry in {self._find_file()} (pytest --renew-wording writes it):\n{self._difference}"

    def _find_file(self) -> Path:
        return (self.tests / FOLDER / self._path.relative_to(self.tests)).with_suffix(".txt")

    def _read(self) -> list[str]:
        file = self._find_file()
        entries = read_entries(file.read_text(encoding="utf-8")) if file.exists() else {}
        unknown = [name for name in entries if not self._is_test(name)]
        assert not unknown, f"{file}: entries of no test, remove them: {unknown}"
        return entries.get(self._name, [])

    def _is_test(self, name: str) -> bool:
        return not self._is_whole or name in self.names[self._path]

    def _normalise(self, line: str) -> str:
        line = re.sub(r"\b(?=[0-9a-f]*[a-f])[0-9a-f]{16}\b", "HASH", line.replace(self._tmp_path, "TMP"))
        line = re.sub(r"\b\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\b", "DATE", line)
        return re.sub(rf"{re.escape(self.base)}/(\w+?)\d+\b", r"TMP/\1", line).replace(str(self.tests.parent), "ROOT")


WORDING: Any = Wording()


@contextmanager
def refuses(error: type[Exception] = RankbenchError) -> Iterator[None]:
    """Assert that an error is raised, with the wording of the running test's entry."""
    with pytest.raises(error) as refusal:
        yield
    assert str(refusal.value) == WORDING


def find_lines(text: str | Iterable[str], part: str) -> list[str]:
    """Return the lines of a text that contain a part; there is at least one."""
    lines = [line for line in (text.splitlines() if isinstance(text, str) else text) if part in line]
    assert lines, f"no line has {part!r}:\n{text}"
    return lines
