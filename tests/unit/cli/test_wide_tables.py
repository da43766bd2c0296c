"""Tables with many candidates: several below each other, with whole cells. Texts as they are."""

from __future__ import annotations

import pytest
from rich.text import Text

from rankbench.cli.display import plain_table, print_text, split_wide


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


def test_numbers_between_colons_are_printed_as_they_are(capsys: pytest.CaptureFixture[str]) -> None:
    """The launcher's `host:100:100` is not a name of a picture."""
    print_text("node1:100:100 [0] NCCL INFO")
    assert capsys.readouterr().out == "node1:100:100 [0] NCCL INFO\n"
