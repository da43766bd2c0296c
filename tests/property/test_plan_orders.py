from __future__ import annotations

from itertools import groupby

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from rankbench import plan
from rankbench.model import Case
from rankbench.plan import notation

names = st.lists(st.text("abc", min_size=1), unique=True, min_size=1, max_size=8)
seeds = st.integers(0, 2**63)
blocks = st.integers(1, 1000)


def make_cases(count: int) -> list[Case]:
    return [
        Case(
            operation="bcast", form="blocking", size_bytes=size, datatype="byte", placement="1x2", ranks=2, start="none"
        )
        for size in range(count)
    ]


@given(names, seeds, blocks)
def test_a_block_has_every_candidate_once(candidates: list[str], seed: int, block: int) -> None:
    assert sorted(plan.draw_block_order(seed, block, candidates)) == sorted(candidates)


@given(names, seeds, blocks)
def test_an_order_is_reproducible(candidates: list[str], seed: int, block: int) -> None:
    assert plan.draw_block_order(seed, block, candidates) == plan.draw_block_order(seed, block, candidates)


@given(st.integers(1, 40), seeds, blocks)
def test_a_block_has_every_case_once(count: int, seed: int, block: int) -> None:
    assert sorted(plan.draw_case_order(seed, block, make_cases(count)), key=lambda case: case.size_bytes) == make_cases(
        count
    )


GROUPS: list[dict[str, str]] = [{}, {"threads": "2"}, {"quantity": "memory"}, {"quantity": "overlap"}]


@given(st.lists(st.sampled_from(GROUPS), max_size=30), seeds, blocks)
def test_launch_groups_are_contiguous_and_memory_is_in_plan_order(
    options: list[dict[str, str]], seed: int, block: int
) -> None:
    wanted = [
        msgspec.structs.replace(case, options=option)
        for case, option in zip(make_cases(len(options)), options, strict=True)
    ]
    order = plan.draw_case_order(seed, block, wanted)
    assert sorted(order, key=lambda case: case.size_bytes) == wanted
    groups = [group for group, _ in groupby(order, lambda case: case.launch_group)]
    assert len(groups) == len(set(groups))
    assert [case for case in order if case.launch_group == "memory"] == [
        case for case in wanted if case.launch_group == "memory"
    ]


@settings(max_examples=20)
@given(seeds)
def test_every_candidate_comes_first_about_equally_often(seed: int) -> None:
    first = [plan.draw_block_order(seed, block, ["a", "b", "c"])[0] for block in range(600)]
    assert all(130 < first.count(name) < 270 for name in "abc")


@given(st.integers(1, 2**40), st.integers(0, 30), st.integers(2, 16))
def test_a_range_of_sizes_ends_at_its_last_size(first: int, steps: int, factor: int) -> None:
    last = first * factor**steps
    sizes = notation.parse_sizes(f"{first}:{last}:x{factor}")
    assert sizes == [first * factor**step for step in range(steps + 1)]
    beyond = last * factor - 1
    assert notation.parse_sizes(f"{first}:{beyond}:x{factor}") == list(dict.fromkeys([*sizes, beyond]))


@given(st.lists(st.integers(0, 2**40), min_size=1))
def test_sizes_are_the_same_as_text_and_as_numbers(sizes: list[int]) -> None:
    assert notation.parse_sizes(sizes) == notation.parse_sizes(",".join(map(str, sizes))) == sorted(set(sizes))


@given(st.text(max_size=12))
def test_parsers_raise_only_value_error_on_any_text(text: str) -> None:
    parsers = (notation.parse_sizes, notation.parse_seconds, notation.parse_share, notation.parse_until,
               notation.parse_alignment, notation.parse_estimator, notation.parse_confidence)  # fmt: skip
    for parse in parsers:
        try:
            parse(text)
        except ValueError:
            continue
