from __future__ import annotations

import msgspec
from fakes import campaigns
from wording import WORDING

from rankbench.analysis.questions.standing import Standing, find_standing
from rankbench.language import render

CASES = campaigns.make_cases(lines=[("pingpong", "blocking"), ("barrier", "blocking")])
SMALL, LARGE, BARRIER = (case.key for case in CASES)


def test_every_operation_has_the_same_weight() -> None:
    medians = {(name, key): [time] for key in (SMALL, LARGE, BARRIER) for name, time in (("a", 1.0), ("b", 2.0))}
    medians["b", BARRIER] = [0.5]
    standing = find_standing(CASES, ["a", "b"], medians)
    assert standing == Standing({"a": 1.0, "b": 1.0}, steady=3, cases=3, blocks=1)


def test_one_block_shows_nothing_of_other_blocks() -> None:
    standing = find_standing(CASES, ["a", "b"], {("a", SMALL): [1.0], ("b", SMALL): [2.0]})
    assert standing is not None
    assert render(standing.describe()) == WORDING


def test_a_case_is_steady_where_one_candidate_is_lowest_in_every_block() -> None:
    medians = {("a", SMALL): [1.0, 1.0, 9.0], ("b", SMALL): [2.0, 2.0, 2.0]}
    medians |= {("a", LARGE): [1.0, 1.0], ("b", LARGE): [2.0, 2.0, 0.5]}
    standing = find_standing(CASES, ["b", "a"], medians)
    assert standing is not None
    assert (standing.steady, standing.cases) == (1, 2)
    assert render(standing.describe()) == WORDING


def test_cases_without_values_of_all_and_memory_are_left_out() -> None:
    assert find_standing(CASES, ["a", "b"], {("a", SMALL): [1.0]}) is None
    assert find_standing(CASES, ["a"], {("a", SMALL): [1.0]}) is None
    memory = [msgspec.structs.replace(CASES[0], options={"quantity": "memory"})]
    assert find_standing(memory, ["a", "b"], {(name, memory[0].key): [1.0] for name in "ab"}) is None
