"""Measures of figures: times, amounts per second, or memory."""

from __future__ import annotations

import msgspec
import pytest
from fakes import kinds

from rankbench.analysis.questions.measures import Measure, choose_measure
from rankbench.foreign.tools import mpbench

PUT, RATE = kinds.BY_NAME["put"], kinds.BY_NAME["message-rate"]
BANDWIDTH = msgspec.structs.replace(PUT, metric="bandwidth", messages=64)
CASE = kinds.make_case("put", 8)


def test_a_rate_is_all_messages_of_all_ranks_over_the_time() -> None:
    measure = choose_measure(kinds.RATES[0], RATE, moved_bytes=1024, moved_messages=128)
    assert measure.value(500.0) == pytest.approx(128 / 500e-9)
    assert (measure.text(500.0), measure.format(500.0), measure.heading) == (
        "256 M",
        "256 M/s",
        "message rate in messages/s",
    )


def test_a_bandwidth_is_all_bytes_of_all_ranks_over_the_time() -> None:
    measure = choose_measure(CASE, BANDWIDTH, moved_bytes=2_000_000, moved_messages=4)
    assert measure.value(1e6) == pytest.approx(2000)
    assert (measure.text(1e6), measure.format(1e6)) == ("2,000", "2,000 MB/s")
    assert measure.interval(1e6, 2e6) == "1,000 to 2,000"
    window = choose_measure(CASE, BANDWIDTH, moved_bytes=64 * 65536, moved_messages=64)
    assert window.format(341_000.0) == "12,300 MB/s"


def test_without_recorded_amounts_those_of_the_operation_count() -> None:
    assert choose_measure(CASE, BANDWIDTH).value(512.0) == pytest.approx(1000)
    assert choose_measure(kinds.RATES[0], msgspec.structs.replace(RATE, messages=2)).value(1e9) == pytest.approx(2)


def test_memory_is_in_bytes_and_never_a_time() -> None:
    measure = choose_measure(kinds.MEMORY[0], kinds.BY_NAME["allreduce"], 8, 1)
    assert (measure.text(1.5 * 2**20), measure.interval(1024, 4096)) == ("1.50 MiB", "1.00 KiB to 4.00 KiB")
    assert (measure.what, measure.per_second, measure.of_samples) == ("memory", False, measure)


def test_times_are_named_by_metric_and_quantity() -> None:
    names = {case.key: choose_measure(case, kinds.BY_NAME[case.operation]).name for case in kinds.CASES}
    assert names["pingpong.blocking.8.byte.1x4.none"] == "latency"
    assert names["put.blocking.8.byte.1x4.window"] == "time"
    assert names["allreduce.nonblocking.8.float.1x4.window.quantity=overlap"] == "overall time"


def test_single_samples_of_a_rate_are_times() -> None:
    assert choose_measure(kinds.RATES[0], RATE, 8, 1).of_samples == Measure("time", "time")


def test_round_trips_are_not_counted_as_messages() -> None:
    """An imported rate of round trips has two messages in each."""
    roundtrip = msgspec.structs.replace(mpbench.ROUNDTRIP, messages=1)
    measure = choose_measure(CASE, roundtrip, moved_messages=1)
    assert (measure.heading, measure.unit) == ("round-trip rate in round trips/s", "round trips/s")
    assert measure.format(1e6) == "1.00 k/s"


def test_a_bandwidth_grows_by_bytes_over_time() -> None:
    small, large = (choose_measure(CASE, BANDWIDTH, moved_bytes=size) for size in (1000, 4000))
    assert large.grow(small, 2.0, 1.0) == pytest.approx(2.0)
    unknown = Measure("bandwidth", "bandwidth")
    assert unknown.grow(unknown, 2.0, 4.0) == pytest.approx(2.0)
    assert Measure("rate", "message rate").grow(Measure("rate", "message rate"), 2.0, 4.0) == pytest.approx(0.5)
    assert Measure("time", "time").grow(Measure("time", "time"), 2.0, 4.0) == 2.0
