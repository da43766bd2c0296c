"""Why a tool says another number than the core: ratios that are planted are found, and multiply to the whole."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import msgspec
import pytest
from fakes.alternated import BLOCKS, CORE, OSU, SKEWED, Planted, allreduce, make, of, record

from rankbench.model import Memory
from rankbench.verdict import reconciling
from rankbench.verdict.reconciling import BEGUN, MEAN, PARTS, REST, WHOLE, Moved

if TYPE_CHECKING:
    from pathlib import Path

    from rankbench.verdict.reconciling import Reconciled


def ratios(reconciled: Reconciled) -> dict[str, float]:
    return {name: round(part.ratio, 6) for name, part in reconciled.parts.items()}


def test_a_ratio_is_divided_into_what_makes_it(tmp_path: Path) -> None:
    (reconciled,) = reconciling.reconcile(make(tmp_path, allreduce()))
    assert ratios(reconciled) == {WHOLE: 1.386, BEGUN: 1.2, MEAN: 1.1, REST: 1.05}
    assert math.prod(reconciled.parts[part].ratio for part in PARTS[1:]) == pytest.approx(reconciled.parts[WHOLE].ratio)
    assert {part.blocks for part in reconciled.parts.values()} == {BLOCKS}
    assert reconciled.candidate == "alpha"


def test_intervals_hold_what_is_planted_and_blocks_cancel(tmp_path: Path) -> None:
    """All that scatters is the machine, by a factor of three, and that is the same for both within a block."""
    (reconciled,) = reconciling.reconcile(make(tmp_path, allreduce()))
    for part, ratio in {WHOLE: 1.386, BEGUN: 1.2, MEAN: 1.1, REST: 1.05}.items():
        contrast = reconciled.parts[part]
        assert contrast.low < ratio < contrast.high
        assert contrast.high / contrast.low < 1.01


def test_typical_values_are_medians_over_launches(tmp_path: Path) -> None:
    (reconciled,) = reconciling.reconcile(make(tmp_path, allreduce()))
    middle = (1.0 + 1.1) / 2
    assert reconciled.core_ns == pytest.approx(1000 * middle)
    assert reconciled.theirs_ns == pytest.approx(1386 * middle)


def test_what_the_two_mean_is_reported(tmp_path: Path) -> None:
    (reconciled,) = reconciling.reconcile(make(tmp_path, allreduce()))
    assert reconciled.comparable.reason == reconciled.comparable_same_start.reason == ""
    tool, core = "osu_allreduce (osu) starts calls after MPI_Barrier", "starts calls at agreed times"
    assert f"{tool}, allreduce (rankbench) {core}" in reconciled.comparable.differences
    assert not any("starts calls" in sentence for sentence in reconciled.comparable_same_start.differences)


def test_where_the_core_begins_as_the_tool_does_there_is_no_such_part(tmp_path: Path) -> None:
    planted = [
        Planted(of(CORE["pingpong"]), [500 * value for value in SKEWED]),
        Planted(of(OSU["osu-latency"]), [500 * 1.1 * 0.9]),
    ]
    (reconciled,) = reconciling.reconcile(make(tmp_path, planted))
    assert ratios(reconciled) == {WHOLE: 0.99, MEAN: 1.1, REST: 0.9}
    assert reconciled.pair.core_same_start is reconciled.pair.core


def test_a_window_of_bytes_is_held_against_a_message(tmp_path: Path) -> None:
    """The core times 64 messages of 1000 bytes in 64 µs, the tool shows 900 MB/s."""
    planted = [
        Planted(of(CORE["bandwidth"], 1000), [64000.0] * 3, 64000, 64),
        Planted(of(OSU["osu-bw"], 1000), [1e9 * 1000 / 900e6], 1000),
    ]
    (reconciled,) = reconciling.reconcile(make(tmp_path, planted))
    assert ratios(reconciled) == {WHOLE: round(1 / 0.9, 6), MEAN: 1.0, REST: round(1 / 0.9, 6)}
    assert reconciled.moved == (Moved(1000, 0), Moved(64000, 64))


def test_bytes_of_both_ways_are_counted_in_the_same_way(tmp_path: Path) -> None:
    """Both count twice: 128 messages of 1000 bytes in 64 µs are 2000 MB/s, as the tool has it."""
    planted = [
        Planted(of(CORE["bandwidth-bidirectional"], 1000), [64000.0] * 3, 128000, 128),
        Planted(of(OSU["osu-bibw"], 1000), [1e9 * 1000 / 2000e6], 1000),
    ]
    (reconciled,) = reconciling.reconcile(make(tmp_path, planted))
    assert ratios(reconciled)[WHOLE] == 1.0


def test_bytes_are_held_against_messages_of_their_size(tmp_path: Path) -> None:
    """The core shows messages per second: 64 of 1000 bytes in 32 µs are 2000 MB/s, the tool shows 1600."""
    planted = [
        Planted(of(CORE["message-rate"], 1000), [32000.0] * 3, 64000, 64),
        Planted(of(OSU["osu-mbw_mr"], 1000), [1e9 * 1000 / 1600e6], 1000),
        Planted(of(OSU["osu-mbw_mr-rate"], 1000), [1e9 / 2.5e6], 0, 1),
    ]
    by_bytes, by_messages = reconciling.reconcile(make(tmp_path, planted))
    assert ratios(by_bytes)[WHOLE] == 1.25
    assert ratios(by_messages)[WHOLE] == 0.8


def test_blocks_without_one_of_the_values_say_nothing(tmp_path: Path) -> None:
    planted = allreduce()
    planted[2] = planted[2]._replace(blocks=4)
    (reconciled,) = reconciling.reconcile(make(tmp_path, planted))
    assert {part.blocks for part in reconciled.parts.values()} == {4}


def test_few_blocks_bound_nothing(tmp_path: Path) -> None:
    planted = [reconciled._replace(blocks=2) for reconciled in allreduce()]
    (reconciled,) = reconciling.reconcile(make(tmp_path, planted))
    assert reconciled.parts[WHOLE].ratio == pytest.approx(1.386)
    assert reconciled.parts[WHOLE].high == math.inf


def test_a_case_without_a_partner_is_left_out(tmp_path: Path) -> None:
    planted = [*allreduce(), Planted(of(OSU["osu-allreduce"], 64), [1000.0]), Planted(of(OSU["osu-init"], 0), [1e6])]
    assert len(reconciling.reconcile(make(tmp_path, planted))) == 1


def test_an_a_a_twin_is_no_candidate(tmp_path: Path) -> None:
    results = reconciling.reconcile(make(tmp_path, allreduce(), control=True))
    assert [reconciled.candidate for reconciled in results] == ["alpha"]


def test_only_plain_times_are_pairs() -> None:
    case = of(CORE["allreduce"], form="nonblocking")
    theirs = of(OSU["osu-iallreduce"], form="nonblocking")
    overlap = msgspec.structs.replace(theirs, options={"quantity": "overlap"})
    cold = msgspec.structs.replace(case, memory=Memory(cache="cold"))
    late = msgspec.structs.replace(case, options={"arrival": "random"})
    assert [(pair.theirs, pair.core) for pair in reconciling.find_pairs(record([theirs, case, cold, late]))] == [
        (theirs, case)
    ]
    assert reconciling.find_pairs(record([overlap, case])) == []
    assert reconciling.find_pairs(record([theirs, cold, late])) == []


def test_whole_vectors_are_no_counterparts_of_shares() -> None:
    theirs = {operation.name for operation, _ in reconciling.find_counterparts(record([]))}
    assert {"osu-allreduce", "osu-latency", "osu-bw"} < theirs
    assert "osu-reduce_scatter" not in theirs


CHARS = (
    "osu_allreduce (osu) calculates with numbers of type char, "
    "allreduce (rankbench) calculates with numbers of type float"
)


def test_other_numbers_are_a_difference(tmp_path: Path) -> None:
    planted = allreduce()
    planted[2] = planted[2]._replace(case=of(OSU["osu-allreduce"], datatype="char"))
    (reconciled,) = reconciling.reconcile(make(tmp_path, planted))
    assert reconciled.other_numbers
    assert CHARS in reconciled.comparable.differences
    assert CHARS in reconciled.comparable_same_start.differences


def test_the_same_numbers_are_no_difference(tmp_path: Path) -> None:
    (reconciled,) = reconciling.reconcile(make(tmp_path, allreduce()))
    assert not reconciled.other_numbers
    assert not any("numbers" in sentence for sentence in reconciled.comparable.differences)


def test_a_case_of_the_same_numbers_is_preferred() -> None:
    cases = [of(CORE["allreduce"], datatype=kind) for kind in ("float", "int", "double")]
    theirs = of(OSU["osu-allreduce"], datatype="int")
    (pair,) = reconciling.find_pairs(record([*cases, theirs]))
    assert pair.core.datatype == "int"
