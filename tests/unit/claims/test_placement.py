"""The finding on placements: exact words, and no more than was measured."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from fakes import campaigns, placement_campaigns, verdicts
from fakes.words import render_texts
from wording import WORDING, find_lines

from rankbench.analysis import evaluation
from rankbench.language import Text, render
from rankbench.model import Finding, Launch

NEAR, FAR = placement_campaigns.SOCKETS
LARGE = (8, 1 << 20, 64 << 20)
STEPS = tuple(2**power for power in range(3, 20))


def list_findings(folder: Path, time_ns: Callable[[str, str, int], float], **others: object) -> list[Finding]:
    store = placement_campaigns.make_store(folder / "made", time_ns, **others)  # type: ignore[arg-type]
    return [finding for finding in evaluation.evaluate(store).verdict.findings if finding.kind == "placement"]


def explain_ratio(folder: Path, time_ns: Callable[[str, str, int], float], **others: object) -> str:
    """Return the text of the only finding after its ratios."""
    (finding,) = list_findings(folder, time_ns, **others)
    return render(finding.text).partition("). ")[2]


def make_slower(factor: float, start_ns: float = 200) -> Callable[[str, str, int], float]:
    """Return times with a factor at the far placement, whatever the size."""
    return lambda _candidate, place, size: (start_ns + size / 10) * (factor if place == FAR else 1)


def test_a_difference_that_the_machine_has_without_mpi_is_explained(tmp_path: Path) -> None:
    assert [render_texts(finding) for finding in list_findings(tmp_path, make_slower(3.0))] == [
        Finding(
            kind="placement",
            title=Text(WORDING),
            text=(Text(WORDING)),
            advice=(Text(WORDING)),
            cases=[
                placement_campaigns.make_case("pingpong", size, place).key
                for size in placement_campaigns.SMALL
                for place in placement_campaigns.SOCKETS
            ],
            severity="note",
        )
    ]


def test_a_few_more_cache_lines_explain_a_small_ratio(tmp_path: Path) -> None:
    """A library takes 1 µs, or 1.2 times as long with 200 ns more; a cache line takes three times as long."""
    assert explain_ratio(tmp_path, make_slower(1.2, 1000)) == WORDING


@pytest.mark.parametrize(
    ("factor", "between"),
    [
        (2.0, placement_campaigns.find_equal_exchange),
        (0.5, placement_campaigns.find_exchange_ns),
        (20.0, placement_campaigns.find_exchange_ns),
    ],
)
def test_a_difference_beyond_the_machine_s_is_not_explained(
    tmp_path: Path, factor: float, between: Callable[[int, int], float]
) -> None:
    assert explain_ratio(tmp_path, make_slower(factor), between=between) == WORDING


def test_an_unmeasured_exchange_explains_nothing(tmp_path: Path) -> None:
    assert explain_ratio(tmp_path, make_slower(2.0), between=None) == WORDING


# --- one socket is not faster than two --------------------------------------------------------------------------------


def test_equal_times_are_explained_if_the_machine_has_no_difference(tmp_path: Path) -> None:
    assert explain_ratio(tmp_path, make_slower(1.0), between=placement_campaigns.find_equal_exchange) == WORDING


def test_a_difference_of_the_machine_may_be_small_against_the_call(tmp_path: Path) -> None:
    assert explain_ratio(tmp_path, make_slower(1.0, 20000), spread=0.02) == WORDING


def test_otherwise_the_reason_of_equal_times_is_unknown(tmp_path: Path) -> None:
    assert explain_ratio(tmp_path, make_slower(1.0, 2000)) == WORDING


@pytest.mark.parametrize("others", [{"launches": 1}, {"launches": 2}, {"spread": 0.3}])
def test_ratios_that_show_neither_a_difference_nor_equality_are_no_finding(
    tmp_path: Path, others: dict[str, object]
) -> None:
    assert not list(list_findings(tmp_path, make_slower(1.0), **others))


def test_an_uncertain_exchange_explains_nothing(tmp_path: Path) -> None:
    def change(launch: Launch) -> Launch:
        """The two CPUs are near in one launch and far in the next."""
        state = placement_campaigns.make_state(
            lambda _one, _two: 50.0, 4.0 if launch.block % 3 == 0 and launch.placement == FAR else 1.0
        )
        return msgspec.structs.replace(launch, before=state, after=state)

    sentence = explain_ratio(tmp_path, make_slower(1.5), change=change)
    assert sentence == WORDING


# --- large messages ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("operation", ["pingpong", "bandwidth"])
def test_equal_bandwidth_of_a_copying_core_is_explained_by_copying(tmp_path: Path, operation: str) -> None:
    messages = 64 if operation == "bandwidth" else 1
    sentence = explain_ratio(
        tmp_path, lambda *case: 200 + messages * case[2] / 4.8, sizes=LARGE, operations=[operation]
    )
    assert sentence == WORDING


def test_equal_bandwidth_far_above_that_of_a_core_is_not_explained(tmp_path: Path) -> None:
    sentence = explain_ratio(tmp_path, lambda *case: 200 + case[2] / 48, sizes=LARGE)
    assert sentence == WORDING


@pytest.mark.parametrize("known", [placement_campaigns.CACHE_BYTES, 0])
def test_sizes_that_fit_a_cache_do_not_show_copying(tmp_path: Path, known: int) -> None:
    def change(launch: Launch) -> Launch:
        assert launch.facts
        return msgspec.structs.replace(
            launch, facts=msgspec.structs.replace(launch.facts, last_level_cache_bytes=known)
        )

    reason = explain_ratio(tmp_path, lambda *case: 200 + case[2] / 4.8, sizes=(8, 1 << 20), change=change)
    assert reason == WORDING


def test_without_a_measured_copy_bandwidth_copying_is_not_claimed(tmp_path: Path) -> None:
    sentence = explain_ratio(tmp_path, lambda *case: 200 + case[2] / 4.8, sizes=LARGE, between=None)
    assert sentence == WORDING


# --- protocols --------------------------------------------------------------------------------------------------------


def make_switching(*at_bytes: tuple[str, int]) -> Callable[[str, str, int], float]:
    """Return times that are 2.5 times as long beyond a size, which depends on the placement."""
    limit = dict(at_bytes)
    return lambda _candidate, place, size: (200 + size / 10) * (2.5 if size > limit.get(place, size) else 1)


def test_switches_of_protocol_at_different_sizes_are_reported(tmp_path: Path) -> None:
    sentence = explain_ratio(
        tmp_path,
        make_switching((NEAR, 1 << 16), (FAR, 1 << 13)),
        sizes=STEPS,
        between=placement_campaigns.find_equal_exchange,
    )
    assert find_lines(sentence, "Along the sizes, same-l3") == WORDING


def test_a_jump_at_one_placement_may_be_protocol_or_cache(tmp_path: Path) -> None:
    sentence = explain_ratio(
        tmp_path, make_switching((FAR, 1 << 13)), sizes=STEPS, between=placement_campaigns.find_equal_exchange
    )
    assert sentence == WORDING


def test_equal_jumps_at_both_placements_are_not_reported(tmp_path: Path) -> None:
    sentence = explain_ratio(
        tmp_path,
        make_switching((NEAR, 1 << 13), (FAR, 1 << 13)),
        sizes=STEPS,
        between=placement_campaigns.find_equal_exchange,
    )
    assert "Along the sizes" not in sentence


# --- compared placements ----------------------------------------------------------------------------------------------


def test_the_nearest_placement_is_compared_with_each_of_the_others(tmp_path: Path) -> None:
    factors = {"same-l2": 1.0, "same-l3": 1.0, "two-sockets": 3.0, "nodes": 25.0}
    (finding,) = list_findings(
        tmp_path,
        lambda _candidate, place, size: (200 + size / 10) * factors[place],
        names=("nodes", "two-sockets", "same-l3", "same-l2"),
    )
    for name in ("nodes", "two-sockets", "same-l3"):
        assert f"{name} against same-l2: " in render(finding.text)
    assert find_lines(render(finding.text), "(at same-l2 the CPUs") == WORDING
    assert find_lines(render(finding.text), "Between hosts messages cross") == WORDING


def test_ranks_on_different_cpus_between_launches_are_reported(tmp_path: Path) -> None:
    def change(launch: Launch) -> Launch:
        seats = placement_campaigns.make_launch(launch.number, launch.block, "alpha", "same-l2", None).ranks
        return msgspec.structs.replace(launch, ranks=seats) if launch.number == 1 else launch

    assert explain_ratio(tmp_path, make_slower(3.0), change=change) == WORDING


def test_each_candidate_and_operation_has_a_finding(tmp_path: Path) -> None:
    finding = list_findings(
        tmp_path, make_slower(3.0), operations=["pingpong", "bandwidth"], candidates=["alpha", "beta"]
    )
    assert [render(finding.title) for finding in finding] == WORDING


def test_a_single_placement_has_no_finding(tmp_path: Path) -> None:
    assert list_findings(tmp_path, make_slower(1.0), names=[NEAR]) == []


def test_different_numbers_of_ranks_are_different_cases(tmp_path: Path) -> None:
    """An allreduce of 24 ranks is not compared with one of 2."""
    cases = [
        msgspec.structs.replace(case, placement=place, ranks=ranks)
        for case in verdicts.LINE
        for place, ranks in (("a", 2), ("b", 24))
    ]
    store = campaigns.make_campaign(tmp_path / "made", cases=cases, placements=("a", "b"), launches=3, samples=5)
    assert [finding for finding in evaluation.evaluate(store).verdict.findings if finding.kind == "placement"] == []
