"""Tables with many candidates: several below each other, with whole cells. Texts as they are."""

from __future__ import annotations

import io
from collections.abc import Callable

import pytest
from rich.table import Table
from rich.text import Text

from rankbench.cli.display import (
    CommandConsole,
    columns,
    console,
    drop_wide,
    fit_table,
    plain_table,
    print_text,
    split_wide,
)


def test_columns_that_do_not_fit_are_in_a_table_below() -> None:
    names = [f"library-number\n{number}" for number in range(26)]
    table = plain_table("size", *names)
    for size in ("1 B", "8 B"):
        table.add_row(Text(size), *(Text(f"{number}.01 µs ±10%") for number in range(26)))
    parts = split_wide(table, 100)
    assert len(parts) > 1
    assert [str(column.header) for part in parts for column in part.columns[1:]] == names
    for part in parts:
        assert [str(cell) for cell in part.columns[0].cells] == ["1 B", "8 B"]
        assert sum(2 + max(len(str(cell)) for cell in column.cells) for column in part.columns) <= 100
    assert [str(cell) for cell in parts[-1].columns[-1].cells] == ["25.01 µs ±10%"] * 2


def test_a_table_that_fits_is_as_it_was() -> None:
    table = plain_table("size", "alpha", "beta")
    table.add_row("1 B", "1.00 µs", "2.00 µs")
    assert split_wide(table, 40) == [table]


WORDS = ["details", "first-calls", "operations without blanks"]


@pytest.mark.parametrize("width", [200, 80, 60, 40])
@pytest.mark.parametrize("make", [columns, plain_table])
def test_tables_of_words_break_none(make: Callable[..., Table], width: int) -> None:
    table = make("table", "shows", "value") if make is plain_table else make("table", "shows", "value", text_columns=2)
    for word in WORDS:
        table.add_row(Text(word), Text("The relative standard error of each mean over launches. " * 2), "12.5 µs ±10%")
    printed = CommandConsole(width=width, file=io.StringIO())
    printed.print(table)
    lines = printed.file.getvalue().splitlines()  # type: ignore[attr-defined]
    assert max(map(len, lines)) <= width
    text = "\n".join(lines)
    assert text.count("12.5 µs ±10%") == len(WORDS)
    assert text.count("relative") == text.count("standard") == 2 * len(WORDS)
    assert all(word.rpartition(" ")[2] in text for word in WORDS)


def test_narrow_names_are_repeated_in_tables_that_are_split() -> None:
    table = columns("operation", "candidate", *(f"value {number}" for number in range(9)), text_columns=2)
    table.add_row("bcast", "mpich", *["1.00 µs ±10%"] * 9)
    parts = fit_table(table, 60)
    assert len(parts) > 1
    assert {tuple(str(column.header) for column in part.columns[:2]) for part in parts} == {("operation", "candidate")}
    assert sum(len(part.columns) - 2 for part in parts) == 9


def test_sections_stay_in_tables_that_are_split() -> None:
    table = plain_table("call", *(f"library-{number}" for number in range(5)))
    table.add_row("one", *["1.00 µs"] * 5)
    table.add_section()
    table.add_row("in all", *["1.00 µs"] * 5)
    parts = fit_table(table, 40)
    assert len(parts) > 1
    assert [[row.end_section for row in part.rows] for part in parts] == [[True, False]] * len(parts)


def test_numbers_between_colons_are_printed_as_they_are(capsys: pytest.CaptureFixture[str]) -> None:
    """The launcher's `host:100:100` is not a name of a picture."""
    print_text("node1:100:100 [0] NCCL INFO")
    assert capsys.readouterr().out == "node1:100:100 [0] NCCL INFO\n"


@pytest.mark.parametrize(("width", "titles"), [(30, ["case", "ratio", "p"]), (22, ["case", "ratio"])])
def test_a_column_is_left_out_where_there_is_no_room(
    width: int, titles: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    table = plain_table("case", "ratio", "p")
    table.add_row("allreduce 8 B", "1.05×", "0.012")
    monkeypatch.setattr(console, "width", width)
    assert [str(column.header) for column in drop_wide(table, "p").columns] == titles
