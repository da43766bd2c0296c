"""Shared parts of the readers of tools: numbers, and tables in which no size occurs twice."""

from __future__ import annotations

import math

import pytest
from wording import WORDING, refuses

from rankbench.foreign import Line, Row, Table
from rankbench.foreign.fields import MAX_NOISE_LINES, Drafts, Place, begins_a_row, make_slug, make_unknown, make_variant
from rankbench.model import Meaning

PLACE = Place("out.txt", 7)
MEANING = Meaning(over_calls="mean", over_ranks="one", start="none", text="a loop")


def _make_table() -> Table:
    return Table(make_unknown("tool", "New Thing", MEANING), ("us",), {"value": 0}, 1e3, [])


@pytest.mark.parametrize(("field", "value"), [("1", 1.0), ("-1.5e3", -1500.0), (".5", 0.5), ("+2.", 2.0)])
def test_numbers_are_read(field: str, value: float) -> None:
    assert PLACE.parse_number(field, "Mean", negative=True) == value


@pytest.mark.parametrize("field", ["", "nan", "inf", "-inf", "1e999", "1_0", "0x1", "\u0661", "--1", "1,5", "1 "])
def test_text_instead_of_a_number_is_refused(field: str) -> None:
    with refuses():
        PLACE.parse_number(field, "Mean", negative=True)


def test_a_negative_number_is_refused() -> None:
    with refuses():
        PLACE.parse_number("-1", "Mean")


@pytest.mark.parametrize(("field", "size"), [("0", 0), ("4611686018427387904", 1 << 62), ("007", 7)])
def test_sizes_are_read(field: str, size: int) -> None:
    assert PLACE.parse_size(field, "size") == size


@pytest.mark.parametrize("field", ["", "-1", "1.0", "4611686018427387905", "9" * 5000, "\u0661", "1e3", "x"])
def test_text_instead_of_a_size_is_refused(field: str) -> None:
    with refuses():
        PLACE.parse_size(field, "size")


@pytest.mark.parametrize("text", ["1", "1 2 3"])
def test_a_row_with_too_few_or_too_many_columns_is_refused(text: str) -> None:
    with refuses():
        PLACE.split(text, ("a", "b"))


@pytest.mark.parametrize(
    ("text", "whether"),
    [("  4 1", True), ("-4", True), ("nan 1", True), ("-inf", True), (".5", True), ("name", False), ("info", False)],
)
def test_a_row_begins_with_a_number(text: str, whether: bool) -> None:
    assert begins_a_row(text) is whether


def test_rows_of_one_size_are_samples_in_the_table_of_their_key() -> None:
    drafts = Drafts()
    for line, (key, size) in enumerate([("a", 1), ("a", 2), ("b", 1), ("a", 1), ("a", 1), ("a", 2)]):
        drafts.add(key, _make_table, Row(line, size, (1.0,)))
    tables = list(drafts.finish())
    assert [([row.line for row in table.rows], table.repeated) for table in tables] == [
        ([0, 1, 3, 4, 5], True),
        ([2], False),
    ]
    assert list(drafts.finish()) == []


def test_unrecognised_lines_are_kept_for_the_next_table_and_limited() -> None:
    drafts = Drafts()
    for number in range(MAX_NOISE_LINES + 5):
        drafts.keep_unrecognised(Line(number, "a warning"))
        drafts.keep_unrecognised(Line(number, "  "))
    assert list(drafts.finish()) == []
    drafts.add("a", _make_table, Row(1, 8, (1.0,)))
    drafts.add("b", _make_table, Row(2, 8, (1.0,)))
    first, second = drafts.finish()
    assert (len(first.noise), second.noise) == (MAX_NOISE_LINES, ())


def test_an_unknown_benchmark_is_marked_and_a_variant_has_another_name() -> None:
    operation = make_unknown("tool", "New Thing (2)", MEANING)
    assert (operation.name, operation.help) == ("tool-new-thing-2", WORDING)
    other = make_variant(operation, "window", start="window", over_calls="median")
    assert other.foreign
    assert (other.name, other.start, other.foreign.meaning.start) == ("tool-new-thing-2-window", "window", "window")
    assert (other.foreign.benchmark, other.foreign.meaning.over_calls) == ("New Thing (2)", "median")
    assert math.isclose(other.foreign.meaning.counted, 1.0)
    assert make_unknown("tool", "\u00fc!", MEANING).name == "tool-unnamed"
    assert make_slug("MPI_Put callduration!") == "mpi_put-callduration"
