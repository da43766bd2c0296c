"""Groups: planted ones are found exactly, noise alone divides nothing, and different lines are separate."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import msgspec
import numpy as np
import pytest
from fakes import campaign_views, campaigns
from fakes.words import render_texts
from wording import WORDING

from rankbench.analysis.claims.groups import find_groups
from rankbench.analysis.statistics.resemblance import APART, group_lines
from rankbench.language import Text, render
from rankbench.model import Case, Group, Span

SIZES = tuple(2**power for power in range(3, 19))
SWITCH = 8192
KINDS = {
    "ahead": ("allreduce", "gather", "alltoall", "scan"),
    "crossing": ("reduce", "scatter", "exscan"),
    "level": ("bcast", "allgather"),
    "far": ("gatherv",),
}
KIND = {name: kind for kind, names in KINDS.items() for name in names}


def make_lines(names: Sequence[str], sizes: Sequence[int] = SIZES) -> list[Case]:
    return campaigns.make_cases(lines=[(name, "blocking") for name in names], sizes=sizes)


def find_factor(kind: str, candidate: str, size_bytes: int) -> float:
    """Return a candidate's time over that of the fastest in its kind of line."""
    return {
        "ahead": {"alpha": 1.0, "beta": 1.15, "gamma": 1.8},
        "crossing": {"alpha": 1.0, "beta": 1.5 if size_bytes < SWITCH else 0.7, "gamma": 2.0},
        "level": {"alpha": 1.0, "beta": 1.0, "gamma": 1.0},
        "far": {"alpha": 1.0, "beta": 1.15, "gamma": 6.0},
    }[kind][candidate]


def time_ns(candidate: str, case: Case) -> float:
    """Return a time; the time of an operation itself does not depend on its kind."""
    scale = 1 + 3 * list(KIND).index(case.operation)
    return scale * campaigns.compute_base_ns(case) * find_factor(KIND[case.operation], candidate, case.size_bytes)


def list_operations(groups: Sequence[Group]) -> list[set[str]]:
    return [{line.split(".")[0] for line in group.lines} for group in groups]


def group_two(
    first_line: Callable[[str, Case], float], other: Callable[[str, Case], float], **others: object
) -> list[Group]:
    """Return the groups of two lines, allreduce and bcast, with these factors."""

    def choose_factor(candidate: str, case: Case) -> float:
        return campaigns.compute_base_ns(case) * (first_line if case.operation == "allreduce" else other)(
            candidate, case
        )

    changes = {"spread": 0.02, "cases": make_lines(("allreduce", "bcast")), "candidates": ("alpha", "beta"), **others}
    return find_groups(campaign_views.make_view(choose_factor, **changes))  # type: ignore[arg-type]


def test_groups_are_reported_with_their_pattern_largest_first() -> None:
    groups = find_groups(campaign_views.make_view(time_ns, cases=make_lines(list(KIND)), spread=0, state=0))
    first, second, third, fourth = groups
    assert render_texts(first) == Group(
        lines=[f"{name}.blocking.{kind}.socket.window" for name, kind in (
            ("allreduce", "float"), ("alltoall", "byte"), ("gather", "byte"), ("scan", "float"),
        )],
        title=Text("allreduce and 3 similar"),
        text=(
            Text(WORDING)
        ),
        cases=[case.key for case in make_lines(("allreduce",))],
        spans=[Span(candidates=["alpha"], cases=[case.key for case in make_lines(("allreduce",))])]
    )  # fmt: skip
    assert render(second.title) == "exscan and 2 similar"
    assert render(second.text) == WORDING
    assert render(third.text) == WORDING
    assert (render(fourth.title), fourth.lines) == ("gatherv", ["gatherv.blocking.byte.socket.window"])
    assert "are similar" not in render(fourth.text)


@pytest.mark.parametrize("spread", [0.01, 0.05])
@pytest.mark.thorough
def test_planted_groups_are_found_exactly(spread: float) -> None:
    """In each of 10 campaigns, whatever the order of the plan."""
    wanted = sorted(map(sorted, KINDS.values()))
    for seed in range(10):
        names = [str(name) for name in np.random.default_rng(seed).permutation(list(KIND))]
        groups = find_groups(campaign_views.make_view(time_ns, seed=seed, cases=make_lines(names), spread=spread))
        assert sorted(map(sorted, list_operations(groups))) == wanted


@pytest.mark.thorough
@pytest.mark.parametrize("spread", [0.02, 0.1])
@pytest.mark.parametrize("kind", ["crossing", "level"])
def test_noise_alone_divides_hardly_any_lines(spread: float, kind: str) -> None:
    """Ten lines of one truth are one group in at least 9 of 10 campaigns."""
    cases = make_lines(list(KIND))
    parted = 0
    for seed in range(10):
        campaign_view = campaign_views.make_view(
            lambda name, case: campaigns.compute_base_ns(case) * find_factor(kind, name, case.size_bytes),
            seed=seed, cases=cases, spread=spread,
        )  # fmt: skip
        parted += len(find_groups(campaign_view)) > 1
    assert parted <= 1


def test_equal_evidence_gives_equal_groups() -> None:
    first, second = (
        find_groups(campaign_views.make_view(time_ns, cases=make_lines(list(KIND)), spread=0.05)) for _ in range(2)
    )
    assert first == second


def test_lines_with_other_sizes_are_similar_if_they_agree_where_they_overlap() -> None:
    def choose_crossing_time(candidate: str, case: Case) -> float:
        return campaigns.compute_base_ns(case) * find_factor("crossing", candidate, case.size_bytes)

    cases = [*make_lines(("allreduce",)), *make_lines(("bcast",), SIZES[1::2])]
    assert list_operations(find_groups(campaign_views.make_view(choose_crossing_time, cases=cases))) == [
        {"allreduce", "bcast"}
    ]
    few = [*make_lines(("allreduce",)), *make_lines(("bcast",), SIZES[:4])]
    assert len(find_groups(campaign_views.make_view(choose_crossing_time, cases=few))) == 2


@pytest.mark.parametrize(
    ("first_line", "other"),
    [
        # Another candidate leads, by little.
        (lambda name, _case: 1.08 if name == "beta" else 1.0, lambda name, _case: 1.08 if name == "alpha" else 1.0),
        # The same candidate leads, by much or by little.
        (lambda name, _case: 1.1 if name == "beta" else 1.0, lambda name, _case: 1.6 if name == "beta" else 1.0),
        # A candidate leads, or is equal.
        (lambda name, _case: 1.15 if name == "beta" else 1.0, lambda _name, _case: 1.0),
        # Another candidate leads from another size on.
        (
            lambda name, case: 1.2 if (name == "beta") == (case.size_bytes < 512) else 1.0,
            lambda name, case: 1.2 if (name == "beta") == (case.size_bytes < 32768) else 1.0,
        ),
        # One candidate deviates at one size.
        (lambda _name, _case: 1.0, lambda name, case: 1.6 if name == "beta" and case.size_bytes == SWITCH else 1.0),
    ],
)
def test_different_lines_are_separate_groups(
    first_line: Callable[[str, Case], float], other: Callable[[str, Case], float]
) -> None:
    assert [len(group_two(first_line, other, seed=seed)) for seed in range(5)] == [2] * 5


def test_uncertain_lines_are_not_similar() -> None:
    level = lambda _name, _case: 1.0  # noqa: E731
    (group,) = group_two(level, level, spread=1.5, launches=4)
    assert group.kind == "noisy"
    text = render(group.text)
    assert text == WORDING
    assert " allreduce: " in text
    assert " bcast: " in text


def test_single_values_have_a_group_with_a_sentence_each() -> None:
    factors = {"gather": {"beta": 2.0, "gamma": 3.0}, "bcast": {"gamma": 2.0}}
    cases = [*make_lines(("gather", "scan", "bcast"), (8,)), *make_lines(("alltoall",))]

    def choose_time(candidate: str, case: Case) -> float:
        return campaigns.compute_base_ns(case) * factors.get(case.operation, {}).get(candidate, 1.0)

    *others, group = find_groups(campaign_views.make_view(choose_time, cases=cases, spread=0, state=0))
    assert list_operations(others) == [{"alltoall"}]
    assert (group.kind, render(group.title)) == ("single", "Single values: 3 operations")
    assert render(group.text) == WORDING


def test_failed_candidates_are_ignored_and_separate_lines() -> None:
    def fail_gamma(name: str, _case: Case) -> float:
        return math.nan if name == "gamma" else 1.0

    candidates = ("alpha", "beta", "gamma")
    assert len(group_two(fail_gamma, lambda _name, _case: 1.0, candidates=candidates)) == 2
    assert len(group_two(fail_gamma, fail_gamma, candidates=candidates)) == 1


def test_lines_with_few_sizes_or_candidates_are_left_out() -> None:
    assert find_groups(campaign_views.make_view(time_ns, cases=make_lines(("allreduce",), (8, 64)))) == []
    assert find_groups(campaign_views.make_view(time_ns, cases=make_lines(("allreduce",)), candidates=("alpha",))) == []


@pytest.mark.parametrize(
    "front",
    [
        {8: "a", 1024: "a", 8192: "", 65536: "b"},
        {8: "", 1024: "a", 8192: "", 65536: ""},
        {8: "a", 1024: "", 8192: "", 65536: "a"},
        {8: "a", 1024: "b", 8192: "a", 65536: "a"},
        {8: "", 1024: "a", 8192: "a", 65536: ""},
    ],
)
def test_patterns_are_described_in_words(front: dict[int, str]) -> None:
    def make_truth(candidate: str, case: Case) -> float:
        return 500 * (1.0 if front[case.size_bytes] in ("", candidate[0]) else 1.5)

    cases = make_lines(("allreduce",), tuple(front))
    (group,) = find_groups(
        campaign_views.make_view(make_truth, cases=cases, candidates=("alpha", "beta"), spread=0, state=0)
    )
    assert render(group.text) == WORDING


def test_all_lines_of_a_group_are_similar_and_the_middle_one_represents_them() -> None:
    """Lines in a row, each similar only to its neighbours."""
    far = np.array([[0, 0.6, 1.2, APART], [0.6, 0, 0.6, APART], [1.2, 0.6, 0, APART], [APART] * 3 + [0]], dtype=float)
    assert sorted(map(sorted, group_lines(far))) in ([[0], [1, 2], [3]], [[0, 1], [2], [3]])
    assert group_lines(np.minimum(far, 0.9)) == [[1, 0, 2, 3]]
    assert group_lines(np.zeros((0, 0))) == []
    assert group_lines(np.zeros((1, 1))) == [[0]]


def test_overall_times_of_overlaps_are_grouped_and_labelled() -> None:
    cases = [msgspec.structs.replace(case, options={"quantity": "overlap"}) for case in make_lines(("allreduce",))]
    view = campaign_views.make_view(lambda _candidate, case: campaigns.compute_base_ns(case), cases=cases, spread=0.02)
    (group,) = find_groups(view)
    assert render(group.title) == "allreduce (overall time)"
