from __future__ import annotations

import math

import msgspec
import pytest
from fakes import campaigns
from wording import WORDING

from rankbench.analysis.questions.standing import describe_standing, find_standing
from rankbench.language import render
from rankbench.model import Calls

CASES = campaigns.make_cases(lines=[("pingpong", "blocking"), ("barrier", "blocking")])
SMALL, LARGE, BARRIER = (case.key for case in CASES)
SIZES = [case.size_bytes for case in CASES]


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


@pytest.mark.parametrize(
    ("calls", "weights"),
    [
        ([Calls("pingpong", SIZES[0], 30), Calls("barrier", 0, 10)], (0.75, 0, 0.25)),
        ([Calls("pingpong", 3 * SIZES[1], 1), Calls("barrier", 0, 0, share=0.5)], (0, 2e-9, 1)),
        ([Calls("pingpong", SIZES[1], 1, "blocking", ranks=2), Calls("bcast", 8, 9)], (0, 1, 0)),
    ],
    ids=["numbers", "the nearest size, and a share", "what was not measured"],
)
def test_a_case_counts_as_much_as_the_calls_that_it_is_like(
    calls: list[Calls], weights: tuple[float, float, float]
) -> None:
    """The candidates need as long on average, so that numbers are shares of the time."""
    ratios = {SMALL: 2.0, LARGE: 3.0, BARRIER: 0.5}
    medians = {(name, key): [ratio ** (0.5 if name == "b" else -0.5)] for key, ratio in ratios.items() for name in "ab"}
    mean = math.prod(ratio ** (weight / sum(weights)) for ratio, weight in zip(ratios.values(), weights, strict=True))
    standing = find_standing(CASES, ["a", "b"], medians, calls)
    assert standing["b"] / standing["a"] == pytest.approx(mean)


def test_a_call_is_represented_by_the_case_with_its_options() -> None:
    late = msgspec.structs.replace(CASES[0], options={"thread_level": "multiple"})
    medians = {(name, case.key): [1.0] for name in "ab" for case in (CASES[0], late)} | {("b", late.key): [2.0]}
    for options, ratio in (({"thread_level": "multiple", "gap_us": "1"}, 2.0), ({}, 1.0)):
        call = Calls("pingpong", SIZES[0], 1, options=options)
        assert find_standing([CASES[0], late], ["a", "b"], medians, [call]) == {"a": 1.0, "b": pytest.approx(ratio)}
