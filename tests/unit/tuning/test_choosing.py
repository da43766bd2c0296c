"""Rules from ratios: only what is significantly faster is changed, and neighbouring sizes share a rule."""

from __future__ import annotations

import msgspec
import pytest
from fakes import campaigns

from rankbench.model import Comparison, Variant
from rankbench.tuning import Task, choosing, plans, proving
from rankbench.tuning.choosing import SearchResult

SIZES = [8, 64, 512, 4096]
RING, TREE = (Variant(name=name, settings={"A": name}, algorithm=name) for name in ("ring", "tree"))
TASK = Task("mpich", "mpich", ["bcast"], SIZES, "socket", 2, 0.03, {"bcast": [RING, TREE]}, in_launch=True)


def ratio(value: float, *, sure: bool = True) -> Comparison:
    """Return a ratio to the default that is significant, or not."""
    half = 0.01 if sure else 0.5
    return Comparison(
        case="", base="default", other="", blocks=8, ratio=value, low=value - half, high=value + half,
        p_value=0.0, p_adjusted=0.0, different=sure and abs(value - 1) > 0.04, alike=False,
    )  # fmt: skip


def found(ring: list[Comparison], tree: list[Comparison], wrong: dict[str, list[str]] | None = None) -> SearchResult:
    ratios = {("bcast", size, "ring"): comparison for size, comparison in zip(SIZES, ring, strict=True)}
    ratios |= {("bcast", size, "tree"): comparison for size, comparison in zip(SIZES, tree, strict=True)}
    return SearchResult(ratios, wrong or {})


def ranges(measured: SearchResult, *, split: bool) -> list[tuple[int, int, str]]:
    rules = choosing.choose_rules(TASK, measured, {"bcast": split})
    return [(rule.first_bytes, rule.last_bytes, rule.variant.name) for rule in rules]


FAST, EVEN, SLOW = ratio(0.8), ratio(1.0), ratio(1.3)
PERHAPS = ratio(0.8, sure=False)


@pytest.mark.parametrize(
    ("ring", "tree", "expected"),
    [
        ([EVEN] * 4, [SLOW] * 4, []),
        ([PERHAPS] * 4, [EVEN] * 4, []),
        ([FAST, FAST, EVEN, EVEN], [SLOW] * 4, [(8, 64, "ring")]),
        ([FAST, FAST, EVEN, SLOW], [SLOW, SLOW, EVEN, FAST], [(8, 64, "ring"), (4096, 4096, "tree")]),
        ([FAST, FAST, FAST, SLOW], [SLOW, SLOW, ratio(0.79), FAST], [(8, 4095, "ring"), (4096, 4096, "tree")]),
        (
            [FAST, FAST, FAST, FAST],
            [SLOW, SLOW, ratio(0.6), SLOW],
            [(8, 511, "ring"), (512, 4095, "tree"), (4096, 4096, "ring")],
        ),
    ],
)  # fmt: skip
def test_ranges_of_sizes(ring: list[Comparison], tree: list[Comparison], expected: list[tuple[int, int, str]]) -> None:
    assert ranges(found(ring, tree), split=True) == expected


@pytest.mark.parametrize(
    ("ring", "tree", "expected"),
    [
        ([FAST, EVEN, EVEN, EVEN], [SLOW] * 4, [(8, 4096, "ring")]),
        ([FAST, FAST, FAST, SLOW], [SLOW] * 4, []),
        ([FAST, EVEN, EVEN, EVEN], [FAST, FAST, EVEN, EVEN], [(8, 4096, "tree")]),
        ([EVEN] * 4, [PERHAPS] * 4, []),
    ],
)
def test_one_variant_for_all_sizes(
    ring: list[Comparison], tree: list[Comparison], expected: list[tuple[int, int, str]]
) -> None:
    assert ranges(found(ring, tree), split=False) == expected


@pytest.mark.parametrize("split", [False, True])
def test_wrong_data_are_never_chosen(split: bool) -> None:
    assert ranges(found([FAST] * 4, [SLOW] * 4, {"ring": ["bcast"]}), split=split) == []


def test_hopeless_variants_leave_after_screening() -> None:
    assert choosing.select_promising(TASK, found([SLOW] * 4, [SLOW, SLOW, PERHAPS, SLOW])) == {"bcast": [TREE]}


def test_a_rule_that_makes_a_case_slower_is_left_out() -> None:
    rules = choosing.choose_rules(TASK, found([FAST, FAST, EVEN, SLOW], [SLOW, SLOW, EVEN, FAST]), {"bcast": True})

    case = next(case for case in campaigns.cases_of("socket") if case.operation == "allreduce")

    slower = msgspec.structs.replace(case, operation="bcast", size_bytes=24)
    proof = proving.Proof(None, [(slower, SLOW)], 0.03)
    assert [rule.variant.name for rule in proving.drop_slower(rules, proof, {"bcast": True})] == ["tree"]
    assert proving.drop_slower(rules, proof, {"bcast": False}) == []


def test_the_proof_has_sizes_between_those_that_were_tuned() -> None:
    assert plans.add_middles([8, 64, 512]) == [8, 24, 64, 184, 512]
