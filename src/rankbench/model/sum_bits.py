"""Whether the bits of a sum are the same wherever they could differ: a row for each candidate and sum."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from rankbench.model.base import Record

HEADS = ("on all ranks", "in all calls", "in all launches", "in all placements", "ranks reversed")


class SumRow(Record, frozen=True):
    """Where the bits of one sum differ: numbers of ranks; empty: nowhere."""

    candidate: str
    """A candidate of a campaign, else a library."""
    operation: str
    type: str
    elements: int
    on_ranks: list[int]
    """Ranks of one call got different bits, which the standard forbids."""
    from_call_to_call: list[int]
    from_launch_to_launch: list[int]
    in_another_placement: list[int]
    in_reverse: list[int]
    """With the ranks in the reverse order."""

    @property
    def where(self) -> tuple[list[int], ...]:
        """Return the numbers of ranks for each way in which bits can differ, in the order of HEADS."""
        return (
            self.on_ranks,
            self.from_call_to_call,
            self.from_launch_to_launch,
            self.in_another_placement,
            self.in_reverse,
        )


def group_alike(rows: Sequence[SumRow]) -> list[list[SumRow]]:
    """Return the sums of a candidate and an operation that differ in the same ways together."""
    alike: defaultdict[tuple[object, ...], list[SumRow]] = defaultdict(list)
    for row in rows:
        alike[row.candidate, row.operation, *map(tuple, row.where)].append(row)
    return list(alike.values())


def describe_bits(alike: Sequence[SumRow]) -> list[str]:
    """Return the cells of sums that differ in the same ways: candidate, operation, types, elements, and below HEADS."""
    first, elements = alike[0], sorted({row.elements for row in alike})
    return [
        first.candidate,
        first.operation,
        ", ".join(dict.fromkeys(row.type for row in alike)),
        f"{elements[0]}–{elements[-1]}" if len(elements) > 1 else str(elements[0]),
        *(f"not on {join_numbers(ranks)}" if ranks else "yes" for ranks in first.where),
    ]


def join_numbers(ranks: Sequence[int]) -> str:
    """Return numbers in words: `3 and 5`."""
    return " and ".join(filter(None, [", ".join(map(str, ranks[:-1])), *map(str, ranks[-1:])]))
