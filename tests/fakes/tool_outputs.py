"""Output of tools, recorded or made, and damaged output."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import strategies as st

import fakes
from rankbench.foreign import Line, Table, Text
from rankbench.model import Plan, RankbenchError
from rankbench.plan.reading import parse_plan

SAMPLES = Path(__file__).parents[1] / "recorded" / "outputs"
"""Recorded outputs, a folder for each tool."""
FIELDS = ["", "nan", "-1", "inf", "0", "1e999", "9" * 30, "4.5", "---", "# begin result", "x", "\u0664", "1_0"]
"""Replacements of a field."""


def list_files(tool: str) -> list[Path]:
    """Return the recorded outputs of a tool."""
    return sorted(path for path in (SAMPLES / tool).rglob("*.txt"))


def number_lines(text: str) -> list[Line]:
    return [Line(number, line) for number, line in enumerate(text.splitlines(), 1)]


def read_tables(tool: ModuleType, text: str, file: str = "f") -> list[Table]:
    return list(tool.read(Text(file, iter(number_lines(text)))))


def read_sample(tool: ModuleType, path: Path) -> list[Table]:
    """Return the tables of a recorded output, which the tool must recognise unless it is empty."""
    text = path.read_text()
    assert not text or tool.recognises(number_lines(text)[:400])
    return read_tables(tool, text, str(path))


def read_refusal(tool: ModuleType, text: str, file: str = "f") -> str:
    """Return the message with which a text is refused."""
    with pytest.raises(RankbenchError) as caught:
        read_tables(tool, text, file)
    return str(caught.value)


def count_rows(table: Sequence[Table]) -> int:
    return sum(len(part.rows) for part in table)


def draw_damage(texts: Sequence[str]) -> st.SearchStrategy[str]:
    """Return lines of several texts, mixed, truncated and with impossible fields."""
    every = sorted({line for text in texts for line in text.splitlines()})
    field = st.tuples(st.sampled_from(every), st.integers(0, 12), st.sampled_from(FIELDS)).map(_replace_field)
    cut = st.tuples(st.sampled_from(every), st.integers(0, 40)).map(lambda pair: pair[0][: pair[1]])
    mixed = st.lists(st.one_of(st.sampled_from(every), field, cut, st.text(max_size=30)), max_size=40).map("\n".join)
    single = st.tuples(st.sampled_from(texts), st.integers(0, 5000), st.sampled_from(FIELDS)).map(_damage_line)
    return st.one_of(mixed, single)


def _replace_field(place_and_field: tuple[str, int, str]) -> str:
    line, place, field = place_and_field
    fields = re.split(r"(\S+)", line)
    fields[min(2 * place + 1, len(fields) - 1)] = field
    return "".join(fields)


def _damage_line(place_and_field: tuple[str, int, str]) -> str:
    """Return a text in which one field is replaced, or which is truncated after it."""
    text, place, field = place_and_field
    split = text.splitlines()
    split[place % len(split)] = _replace_field((split[place % len(split)], place % 7, field))
    return "\n".join(split[: place % len(split) + 1] if field == "" else split)


def assert_read_or_refused(tool: ModuleType, text: str, file: str = "f.txt") -> None:
    """Assert that a text is read, or refused with a message that has the place."""
    try:
        found_tables = read_tables(tool, text, file)
    except RankbenchError as error:
        message = str(error)
        assert re.match(rf"{re.escape(file)}(:\d+)?: \S", message), message
        assert "\n" not in message
        return
    for table in found_tables:
        assert table.rows
        assert all(len(row.numbers) == len(table.columns) for row in table.rows)
        assert all(0 <= index < len(table.columns) for index in table.roles.values())
        sizes = [row.size_bytes for row in table.rows]
        assert table.repeated or len(set(sizes)) == len(sizes)


def make_plan(operation: str) -> Plan:
    """Return a plan of 50 samples of a foreign benchmark."""
    text = f'candidates = ["mpich"]\noperations = ["{operation}"]\nsizes = "8"\nsamples = 50\n'
    return parse_plan(text, "plan.toml", fakes.make_machine())
