"""Only variants that keep the bits of sums are used where that is asked for."""

from __future__ import annotations

import pytest
from fakes.ratios import make_ratio
from wording import WORDING

from rankbench.model import Rule, Variant
from rankbench.model.sum_bits import SumRow
from rankbench.tuning import DEFAULT, TUNED, Task, choosing, reproducibility
from rankbench.tuning.choosing import Abilities, Point, SearchResult
from rankbench.tuning.proving import Exclusion

RING, TREE, LINE = (Variant(name=name, settings={"A": name}, algorithm=name) for name in ("ring", "tree", "line"))
SIZES = [8, 64, 512]
TASK = Task(
    "mpich",
    ["allreduce", "bcast"],
    SIZES,
    {"socket": 2},
    0.03,
    {"allreduce": [RING, TREE, LINE], "bcast": [RING]},
    reproducible=True,
)
RULE = Rule(operation="allreduce", first_bytes=8, last_bytes=512, variant=TREE, ranks=2, all_sizes=True)


def make_row(candidate: str, *where: list[int]) -> SumRow:
    lists = [*where, *[[]] * (5 - len(where))]
    return SumRow(candidate, "allreduce", "double", 8, *lists)


def test_variants_that_change_bits_are_left_out() -> None:
    rows = [make_row(DEFAULT), make_row("ring", [], [], [], [2]), make_row("tree", [], [], [], [], [2])]
    task, sentences = reproducibility.select(TASK, rows, {"line": "it crashed"})
    assert task.variants == {"allreduce": [TREE], "bcast": [RING]}
    assert task.forced == set()
    assert sentences == WORDING


def test_an_operation_that_changes_bits_by_default_gets_a_rule_for_every_size() -> None:
    rows = [make_row(DEFAULT, [], [2]), make_row("ring"), make_row("tree"), make_row("line")]
    task, sentences = reproducibility.select(TASK, rows, {})
    assert task.forced == {"allreduce"}
    assert sentences == WORDING
    again, repeated = reproducibility.select(task._replace(variants={"allreduce": [RING]}), rows, {})
    assert (again.forced, repeated) == (task.forced, [])


def test_an_operation_without_a_variant_that_keeps_bits_is_left_out() -> None:
    rows = [make_row(name, [2]) for name in (DEFAULT, "ring", "tree", "line")]
    task, sentences = reproducibility.select(TASK, rows, {})
    assert (task.operations, task.forced) == (["bcast"], frozenset())
    assert sentences[-1] == WORDING


def make_result(**ratios: list[float]) -> SearchResult:
    return SearchResult(
        {
            Point("socket", "allreduce", size, name): make_ratio(ratio)
            for name, of in ratios.items()
            for size, ratio in zip(SIZES, of, strict=True)
        }
    )


@pytest.mark.parametrize(
    ("can_split", "expected"),
    [
        ({"ring", "tree"}, [("ring", 8, 63), ("tree", 64, 512)]),
        ({"ring"}, [("tree", 8, 512)]),
        (set(), [("tree", 8, 512)]),
    ],
)
def test_the_fastest_rules_for_all_sizes_are_chosen_even_if_all_are_slower(
    can_split: set[str], expected: list[tuple[str, int, int]]
) -> None:
    result = make_result(ring=[1.1, 1.9, 1.9], tree=[1.4, 1.2, 1.2])
    forced = TASK._replace(forced=frozenset({"allreduce"}))
    assert set(choosing.select_promising(forced, result)) == {"allreduce"}
    for has_own_choice in (True, False):
        rules = choosing.choose_rules(forced, result, Abilities({"allreduce": can_split}, has_own_choice))
        assert [(rule.variant.name, rule.first_bytes, rule.last_bytes) for rule in rules] == expected
        assert choosing.choose_rules(TASK, result, Abilities({"allreduce": can_split}, has_own_choice)) == []


@pytest.mark.parametrize(
    ("rows", "changes"),
    [
        ([make_row(TUNED), make_row(DEFAULT, [2])], False),
        ([make_row(TUNED, [], [], [2])], True),
        ([make_row(DEFAULT)], True),
    ],
)
def test_rules_with_which_the_tuned_library_changes_bits_are_excluded(rows: list[SumRow], *, changes: bool) -> None:
    exclusion = reproducibility.exclude_changing(Exclusion(SearchResult({}), {}, []), [RULE], rows)
    assert exclusion.sentences == [WORDING] * changes
    assert [fault.variant for fault in exclusion.result.faults] == ["tree"] * changes
