"""Tables of sums, from launches with known digests."""

from __future__ import annotations

import msgspec
import pytest
from wording import WORDING

from rankbench.campaign.sum_launches import Launched, compare
from rankbench.cli import sum_study
from rankbench.model.sum_bits import join_numbers
from rankbench.samples.sums import SumBits


def launch(ranks: int, binding: str, digest: str, *, on_ranks: bool = True, reverse: bool = True) -> Launched:
    bits = SumBits(
        operation="allreduce",
        type="float",
        elements=1,
        lacking=False,
        on_ranks=on_ranks,
        from_call_to_call=True,
        in_reverse=reverse,
        digest=digest,
    )
    return Launched(ranks, binding, [bits])


def test_launches_are_compared_with_those_of_as_many_ranks() -> None:
    launches = [launch(2, "core", "a"), launch(2, "core", "a"), launch(2, "none", "b"), launch(3, "none", "c")]
    (row,) = compare("mpich", [*launches, launch(3, "none", "d", on_ranks=False, reverse=False)])
    assert (row.on_ranks, row.from_call_to_call, row.in_reverse) == ([3], [], [3])
    assert row.from_launch_to_launch == [3]
    assert row.in_another_placement == [2]


def test_calls_that_a_library_lacks_have_no_row() -> None:
    lacking = SumBits(
        operation="scan",
        type="float",
        elements=1,
        lacking=True,
        on_ranks=True,
        from_call_to_call=True,
        in_reverse=True,
        digest="",
    )
    assert compare("mpich", [Launched(2, "core", [lacking])]) == []


def test_numbers_are_joined_in_words() -> None:
    assert [join_numbers(numbers) for numbers in ([2], [2, 3], [2, 3, 5])] == ["2", "2 and 3", "2, 3 and 5"]


def test_sums_that_differ_in_the_same_ways_have_one_row(capsys: pytest.CaptureFixture[str]) -> None:
    rows = compare("mpich", [launch(3, "core", "a", reverse=False)])
    others = [msgspec.structs.replace(rows[0], type="double", elements=125, in_reverse=[]), *rows]
    sum_study.show([*rows, msgspec.structs.replace(rows[0], elements=16384), *others])
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith("mpich")]
    assert [" ".join(line.split()) for line in lines] == WORDING
