"""The finding on placements: exact words, and no more than was measured."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from fakes import campaigns, placement_campaigns, verdicts
from fakes.words import render_texts

from rankbench import evaluation
from rankbench.language import Text, render
from rankbench.model import Finding, Launch

NEAR, FAR = placement_campaigns.SOCKETS
LARGE = (8, 1 << 20, 64 << 20)
STEPS = tuple(2**power for power in range(3, 20))
EXCHANGE = "Without MPI, handing over a cache line between these CPUs takes"
NOT_THE_DISTANCE = "the distance between the CPUs is not the reason. The reason is not known."
NOT_THE_MACHINE = "the machine is not the reason. The reason is not known."
UNKNOWN_DIFFERENCE = "What the library does differently there is not known."
NOT_FASTER = "same-l3 is not faster than two-sockets: without MPI, handing over a cache line between these CPUs takes"


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
            title=Text("alpha: effect of the placement on pingpong"),
            text=(
                Text(
                    "two-sockets against same-l3: 3.00× the time at 8 B (2.99× to 3.02×) and 3.00× the time at 1 KiB "
                    f"(2.99× to 3.01×). {EXCHANGE} 3.01× the time: the machine explains it "
                    "(at same-l3 the CPUs share an L3 cache, at two-sockets they do not)."
                )
            ),
            advice=(
                Text(
                    "Place ranks that communicate most where the values are best. Measure again where the reason is "
                    "not known."
                )
            ),
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
    assert explain_ratio(tmp_path, make_slower(1.2, 1000)).startswith(
        f"{EXCHANGE} 3.01× the time: the machine explains it (at "
    )


@pytest.mark.parametrize(
    ("factor", "between", "sentence"),
    [
        (2.0, placement_campaigns.find_equal_exchange, f"1.00× the time, which is no difference: {NOT_THE_DISTANCE}"),
        (0.5, placement_campaigns.find_exchange_ns, f"3.01× the time, which is the opposite: {NOT_THE_MACHINE}"),
        (
            20.0,
            placement_campaigns.find_exchange_ns,
            f"3.01× the time, which does not explain the difference. {UNKNOWN_DIFFERENCE}",
        ),
    ],
)
def test_a_difference_beyond_the_machine_s_is_not_explained(
    tmp_path: Path, factor: float, between: Callable[[int, int], float], sentence: str
) -> None:
    assert explain_ratio(tmp_path, make_slower(factor), between=between) == f"{EXCHANGE} {sentence}"


def test_an_unmeasured_exchange_explains_nothing(tmp_path: Path) -> None:
    assert explain_ratio(tmp_path, make_slower(2.0), between=None) == (
        "Handing over a cache line between these CPUs was not measured without MPI, so it is not known "
        "whether the machine is the reason."
    )


# --- one socket is not faster than two --------------------------------------------------------------------------------


def test_equal_times_are_explained_if_the_machine_has_no_difference(tmp_path: Path) -> None:
    assert (
        explain_ratio(tmp_path, make_slower(1.0), between=placement_campaigns.find_equal_exchange)
        == f"{NOT_FASTER} the same time at both (1.00×)."
    )


def test_a_difference_of_the_machine_may_be_small_against_the_call(tmp_path: Path) -> None:
    assert explain_ratio(tmp_path, make_slower(1.0, 20000), spread=0.02) == (
        f"{NOT_FASTER} 3.05× the time at two-sockets, but 100 ns are too little to see in a call of 20.0 µs."
    )


def test_otherwise_the_reason_of_equal_times_is_unknown(tmp_path: Path) -> None:
    assert explain_ratio(tmp_path, make_slower(1.0, 2000)) == (
        f"{NOT_FASTER} 3.01× the time at two-sockets, which the call does not show. The reason is not known."
    )


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
    assert sentence == f"{EXCHANGE} 1.59× the time, which is too uncertain to show whether the machine is the reason."


# --- large messages ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("operation", ["pingpong", "bandwidth"])
def test_equal_bandwidth_of_a_copying_core_is_explained_by_copying(tmp_path: Path, operation: str) -> None:
    messages = 64 if operation == "bandwidth" else 1
    sentence = explain_ratio(
        tmp_path, lambda *case: 200 + messages * case[2] / 4.8, sizes=LARGE, operations=[operation]
    )
    assert sentence.endswith(
        " At 64 MiB the two are equally fast, at 4,817 MB/s. Without MPI, a core copies 5,000 MB/s while all others "
        "copy too. No cache holds such messages, so copying is probably the limit, wherever the other core is."
    )


def test_equal_bandwidth_far_above_that_of_a_core_is_not_explained(tmp_path: Path) -> None:
    sentence = explain_ratio(tmp_path, lambda *case: 200 + case[2] / 48, sizes=LARGE)
    assert sentence.endswith(" copy too. Copying alone does not explain this; the reason is not known.")


@pytest.mark.parametrize(
    ("known", "sentence"),
    [(placement_campaigns.CACHE_BYTES, "the last-level cache of 32 MiB"), (0, "a cache of unknown size")],
)
def test_sizes_that_fit_a_cache_do_not_show_copying(tmp_path: Path, known: int, sentence: str) -> None:
    def change(launch: Launch) -> Launch:
        assert launch.facts
        return msgspec.structs.replace(
            launch, facts=msgspec.structs.replace(launch.facts, last_level_cache_bytes=known)
        )

    reason = explain_ratio(tmp_path, lambda *case: 200 + case[2] / 4.8, sizes=(8, 1 << 20), change=change)
    assert reason.endswith(
        f" At 1 MiB the two are equally fast; messages may fit into {sentence}, so it is not known whether "
        "copying is the limit."
    )


def test_without_a_measured_copy_bandwidth_copying_is_not_claimed(tmp_path: Path) -> None:
    sentence = explain_ratio(tmp_path, lambda *case: 200 + case[2] / 4.8, sizes=LARGE, between=None)
    assert sentence.endswith(
        " At 64 MiB the two are equally fast; the copy bandwidth of a core was not measured, so the reason is not "
        "known."
    )


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
    assert (
        " Along the sizes, same-l3 jumps from 64 KiB to 128 KiB (4.94×) and two-sockets jumps from 8 KiB to 16 KiB "
        "(4.50×): the library probably switches its protocol at different sizes, which explains the ratios in "
        "between. "
    ) in sentence


def test_a_jump_at_one_placement_may_be_protocol_or_cache(tmp_path: Path) -> None:
    sentence = explain_ratio(
        tmp_path, make_switching((FAR, 1 << 13)), sizes=STEPS, between=placement_campaigns.find_equal_exchange
    )
    assert sentence.endswith(
        " Along the sizes, two-sockets jumps from 8 KiB to 16 KiB (4.50×), the other does not: probably a switch of "
        "protocol, or a full cache."
    )


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
    assert "(at same-l2 the CPUs share an L3 cache and an L2 cache, at two-sockets they do not)" in render(finding.text)
    assert (
        "Between hosts messages cross the network, which was not measured without MPI, so its share is not known."
    ) in render(finding.text)


def test_ranks_on_different_cpus_between_launches_are_reported(tmp_path: Path) -> None:
    def change(launch: Launch) -> Launch:
        seats = placement_campaigns.make_launch(launch.number, launch.block, "alpha", "same-l2", None).ranks
        return msgspec.structs.replace(launch, ranks=seats) if launch.number == 1 else launch

    assert explain_ratio(tmp_path, make_slower(3.0), change=change) == (
        "Ranks ran on different CPUs in different launches, so the reason is not known."
    )


def test_each_candidate_and_operation_has_a_finding(tmp_path: Path) -> None:
    finding = list_findings(
        tmp_path, make_slower(3.0), operations=["pingpong", "bandwidth"], candidates=["alpha", "beta"]
    )
    assert [render(finding.title) for finding in finding] == [
        "alpha: effect of the placement on pingpong",
        "beta: effect of the placement on pingpong",
        "alpha: effect of the placement on bandwidth",
        "beta: effect of the placement on bandwidth",
    ]


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
