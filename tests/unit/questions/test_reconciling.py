"""Differences between a tool and the core: planted ratios are found, and their product is the total ratio."""

from __future__ import annotations

import math
from pathlib import Path

import msgspec
import pytest
from fakes.reconciliation import BLOCKS, CORE, OSU, SKEWED, Planted, make_case, make_record, make_store, plant_allreduce

from rankbench.analysis.questions import reconciling
from rankbench.analysis.questions.reconciling import BEGUN, MEAN, PARTS, REST, WHOLE, Moved, Reconciled
from rankbench.model import Memory


def list_ratios(reconciled: Reconciled) -> dict[str, float]:
    return {name: round(part.ratio, 6) for name, part in reconciled.parts.items()}


def test_a_ratio_is_divided_into_its_parts(tmp_path: Path) -> None:
    (reconciled,) = reconciling.reconcile(make_store(tmp_path, plant_allreduce()))
    assert list_ratios(reconciled) == {WHOLE: 1.386, BEGUN: 1.2, MEAN: 1.1, REST: 1.05}
    assert math.prod(reconciled.parts[part].ratio for part in PARTS[1:]) == pytest.approx(reconciled.parts[WHOLE].ratio)
    assert {part.blocks for part in reconciled.parts.values()} == {BLOCKS}
    assert reconciled.candidate == "alpha"


def test_intervals_cover_planted_ratios_and_the_scatter_of_blocks_cancels(tmp_path: Path) -> None:
    """Only the machine scatters, by a factor of three, and equally for both within a block."""
    (reconciled,) = reconciling.reconcile(make_store(tmp_path, plant_allreduce()))
    for part, ratio in {WHOLE: 1.386, BEGUN: 1.2, MEAN: 1.1, REST: 1.05}.items():
        contrast = reconciled.parts[part]
        assert contrast.low < ratio < contrast.high
        assert contrast.high / contrast.low < 1.01


def test_typical_values_are_medians_over_launches(tmp_path: Path) -> None:
    (reconciled,) = reconciling.reconcile(make_store(tmp_path, plant_allreduce()))
    middle = (1.0 + 1.1) / 2
    assert reconciled.core_ns == pytest.approx(1000 * middle)
    assert reconciled.theirs_ns == pytest.approx(1386 * middle)


def test_differences_of_meaning_are_reported(tmp_path: Path) -> None:
    (reconciled,) = reconciling.reconcile(make_store(tmp_path, plant_allreduce()))
    assert reconciled.comparable.reason == reconciled.comparable_same_start.reason == ""
    tool, core = "osu_allreduce (osu) starts calls after MPI_Barrier", "starts calls at agreed times"
    assert f"{tool}, allreduce (rankbench) {core}" in reconciled.comparable.differences
    assert not any("starts calls" in sentence for sentence in reconciled.comparable_same_start.differences)


def test_equal_starts_have_no_part_of_their_own(tmp_path: Path) -> None:
    planted = [
        Planted(make_case(CORE["pingpong"]), [500 * value for value in SKEWED]),
        Planted(make_case(OSU["osu-latency"]), [500 * 1.1 * 0.9]),
    ]
    (reconciled,) = reconciling.reconcile(make_store(tmp_path, planted))
    assert list_ratios(reconciled) == {WHOLE: 0.99, MEAN: 1.1, REST: 0.9}
    assert reconciled.pair.core_same_start is reconciled.pair.core


def test_a_bandwidth_of_a_window_is_compared_with_that_of_a_tool(tmp_path: Path) -> None:
    """The core times 64 messages of 1000 bytes in 64 µs, the tool reports 900 MB/s."""
    planted = [
        Planted(make_case(CORE["bandwidth"], 1000), [64000.0] * 3, 64000, 64),
        Planted(make_case(OSU["osu-bw"], 1000), [1e9 * 1000 / 900e6], 1000),
    ]
    (reconciled,) = reconciling.reconcile(make_store(tmp_path, planted))
    assert list_ratios(reconciled) == {WHOLE: round(1 / 0.9, 6), MEAN: 1.0, REST: round(1 / 0.9, 6)}
    assert reconciled.moved == (Moved(1000, 0), Moved(64000, 64))


def test_bytes_of_both_directions_are_counted_alike(tmp_path: Path) -> None:
    """Both count twice: 128 messages of 1000 bytes in 64 µs are 2000 MB/s."""
    planted = [
        Planted(make_case(CORE["bandwidth-bidirectional"], 1000), [64000.0] * 3, 128000, 128),
        Planted(make_case(OSU["osu-bibw"], 1000), [1e9 * 1000 / 2000e6], 1000),
    ]
    (reconciled,) = reconciling.reconcile(make_store(tmp_path, planted))
    assert list_ratios(reconciled)[WHOLE] == 1.0


def test_a_message_rate_is_compared_with_a_bandwidth(tmp_path: Path) -> None:
    """The core reports messages per second: 64 of 1000 bytes in 32 µs are 2000 MB/s, the tool reports 1600 MB/s."""
    planted = [
        Planted(make_case(CORE["message-rate"], 1000), [32000.0] * 3, 64000, 64),
        Planted(make_case(OSU["osu-mbw_mr"], 1000), [1e9 * 1000 / 1600e6], 1000),
        Planted(make_case(OSU["osu-mbw_mr-rate"], 1000), [1e9 / 2.5e6], 0, 1),
    ]
    by_bytes, by_messages = reconciling.reconcile(make_store(tmp_path, planted))
    assert list_ratios(by_bytes)[WHOLE] == 1.25
    assert list_ratios(by_messages)[WHOLE] == 0.8


def test_blocks_without_both_values_are_left_out(tmp_path: Path) -> None:
    planted = plant_allreduce()
    planted[2] = planted[2]._replace(blocks=4)
    (reconciled,) = reconciling.reconcile(make_store(tmp_path, planted))
    assert {part.blocks for part in reconciled.parts.values()} == {4}


def test_few_blocks_have_no_interval(tmp_path: Path) -> None:
    planted = [reconciled._replace(blocks=2) for reconciled in plant_allreduce()]
    (reconciled,) = reconciling.reconcile(make_store(tmp_path, planted))
    assert reconciled.parts[WHOLE].ratio == pytest.approx(1.386)
    assert reconciled.parts[WHOLE].high == math.inf


def test_a_case_without_a_partner_is_left_out(tmp_path: Path) -> None:
    planted = [
        *plant_allreduce(),
        Planted(make_case(OSU["osu-allreduce"], 64), [1000.0]),
        Planted(make_case(OSU["osu-init"], 0), [1e6]),
    ]
    assert len(reconciling.reconcile(make_store(tmp_path, planted))) == 1


def test_the_twin_is_left_out(tmp_path: Path) -> None:
    results = reconciling.reconcile(make_store(tmp_path, plant_allreduce(), control=True))
    assert [reconciled.candidate for reconciled in results] == ["alpha"]


def test_only_plain_times_are_paired() -> None:
    case = make_case(CORE["allreduce"], form="nonblocking")
    theirs = make_case(OSU["osu-iallreduce"], form="nonblocking")
    overlap = msgspec.structs.replace(theirs, options={"quantity": "overlap"})
    cold = msgspec.structs.replace(case, memory=Memory(cache="cold"))
    late = msgspec.structs.replace(case, options={"arrival": "random"})
    assert [(pair.theirs, pair.core) for pair in reconciling.find_pairs(make_record([theirs, case, cold, late]))] == [
        (theirs, case)
    ]
    assert reconciling.find_pairs(make_record([overlap, case])) == []
    assert reconciling.find_pairs(make_record([theirs, cold, late])) == []


def test_windows_from_one_buffer_are_paired_with_windows_from_one_buffer() -> None:
    """Each message from a buffer of its own is another benchmark."""
    theirs, usual = (make_case(kind, form="nonblocking") for kind in (OSU["osu-bw"], CORE["bandwidth"]))
    assert OSU["osu-bw"].foreign
    theirs = msgspec.structs.replace(theirs, options=OSU["osu-bw"].foreign.options)
    same = msgspec.structs.replace(usual, options={"send_buffers": "one"})
    assert theirs.options == same.options
    assert [pair.core for pair in reconciling.find_pairs(make_record([theirs, usual, same]))] == [same]
    assert reconciling.find_pairs(make_record([theirs, usual])) == []


def test_entire_vectors_are_no_counterparts_of_blocks() -> None:
    theirs = {operation.name for operation, _ in reconciling.find_counterparts(make_record([]))}
    assert {"osu-allreduce", "osu-latency", "osu-bw"} < theirs
    assert "osu-reduce_scatter" not in theirs


CHARS = (
    "osu_allreduce (osu) calculates with numbers of type char, "
    "allreduce (rankbench) calculates with numbers of type float"
)


def test_other_datatypes_are_a_difference(tmp_path: Path) -> None:
    planted = plant_allreduce()
    planted[2] = planted[2]._replace(case=make_case(OSU["osu-allreduce"], datatype="char"))
    (reconciled,) = reconciling.reconcile(make_store(tmp_path, planted))
    assert reconciled.other_numbers
    assert CHARS in reconciled.comparable.differences
    assert CHARS in reconciled.comparable_same_start.differences


def test_equal_datatypes_are_no_difference(tmp_path: Path) -> None:
    (reconciled,) = reconciling.reconcile(make_store(tmp_path, plant_allreduce()))
    assert not reconciled.other_numbers
    assert not any("numbers" in sentence for sentence in reconciled.comparable.differences)


def test_a_case_of_the_same_datatype_is_preferred() -> None:
    cases = [make_case(CORE["allreduce"], datatype=kind) for kind in ("float", "int", "double")]
    theirs = make_case(OSU["osu-allreduce"], datatype="int")
    (pair,) = reconciling.find_pairs(make_record([*cases, theirs]))
    assert pair.core.datatype == "int"
