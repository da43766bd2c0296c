from __future__ import annotations

import pytest

from rankbench.quantities import format_rate, format_ratio, format_size, format_time


@pytest.mark.parametrize(
    ("size_bytes", "text"),
    [
        (0, "0 B"),
        (8, "8 B"),
        (1000, "1000 B"),
        (1024, "1 KiB"),
        (65536, "64 KiB"),
        (1 << 20, "1 MiB"),
        (3 << 29, "1536 MiB"),
    ],
)
def test_a_size_has_the_largest_unit_that_divides_it(size_bytes: int, text: str) -> None:
    assert format_size(size_bytes) == text


def test_a_size_without_a_dividing_unit_is_rounded() -> None:
    assert format_size(100_000) == "97.7 KiB"


@pytest.mark.parametrize(
    ("time_ns", "text"),
    [
        (4.0, "4.00 ns"),
        (131.4, "131 ns"),
        (999.6, "1.00 µs"),
        (4720, "4.72 µs"),
        (1.05e6, "1.05 ms"),
        (2.5e12, "41 min 40 s"),
    ],
)
def test_a_time_has_three_digits_and_a_suitable_unit(time_ns: float, text: str) -> None:
    assert format_time(time_ns) == text


@pytest.mark.parametrize(
    ("rate", "text"),
    [(0.0312, "0.0312"), (48.25, "48.25"), (948.31, "948.3"), (999.96, "1,000"), (12_345.6, "12,346")],
)
def test_a_rate_has_no_exponent(rate: float, text: str) -> None:
    assert format_rate(rate) == text


@pytest.mark.parametrize(
    ("ratio", "text"),
    [
        (340.4, "340×"),
        (12.34, "12.3×"),
        (1.036, "1.04×"),
        (0.976, "0.98×"),
        (0.0996, "0.10×"),
        (0.0214, "0.021×"),
        (0.00123, "0.0012×"),
    ],
)
def test_a_ratio_has_three_digits_at_most_and_two_at_least(ratio: float, text: str) -> None:
    assert format_ratio(ratio) == text
