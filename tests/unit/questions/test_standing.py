from __future__ import annotations

import msgspec
from fakes import campaigns
from wording import WORDING

from rankbench.analysis.questions.standing import describe_standing, find_standing
from rankbench.language import render

CASES = campaigns.make_cases(lines=[("pingpong", "blocking"), ("barrier", "blocking")])
SMALL, LARGE, BARRIER = (case.key for case in CASES)


def test_every_operation_has_the_same_weight() -> None:
    medians = {(name, key): [time] for key in (SMALL, LARGE, BARRIER) for name, time in (("a", 1.0), ("b", 2.0))}
    medians["b", BARRIER] = [0.5]
    assert find_standing(CASES, ["a", "b"], medians) == {"a": 1.0, "b": 1.0}


def test_the_lowest_is_named_first() -> None:
    medians = {("a", SMALL): [1.0, 1.0, 9.0], ("b", SMALL): [2.0, 2.0, 2.0]}
    assert render(describe_standing(find_standing(CASES, ["b", "a"], medians))) == WORDING


def test_cases_without_values_of_all_and_memory_are_left_out() -> None:
    assert find_standing(CASES, ["a", "b"], {("a", SMALL): [1.0]}) == {}
    assert find_standing(CASES, ["a"], {("a", SMALL): [1.0]}) == {}
    memory = [msgspec.structs.replace(CASES[0], options={"quantity": "memory"})]
    assert find_standing(memory, ["a", "b"], {(name, memory[0].key): [1.0] for name in "ab"}) == {}
