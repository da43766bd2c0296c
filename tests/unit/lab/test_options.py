"""Values of a lab's options."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from rankbench.lab import Cores, lab_request
from rankbench.model import RankbenchError


@pytest.mark.parametrize(
    ("text", "delay_ns"), [("50us", 50_000), ("200ns", 200), ("1.5ms", 1_500_000), ("2s", 2_000_000_000)]
)
def test_delays_are_read(text: str, delay_ns: int) -> None:
    assert lab_request.delay_ns(text) == delay_ns


@pytest.mark.parametrize(
    ("text", "rate_bit_s"), [("1gbit", 10**9), ("2.5gbit", 2_500_000_000), ("100mbit", 10**8), ("64kbit", 64_000)]
)
def test_rates_are_read(text: str, rate_bit_s: int) -> None:
    assert lab_request.rate_bit_s(text) == rate_bit_s


@pytest.mark.parametrize(("text", "cores"), [("4", Cores(1, 4)), ("2x4", Cores(2, 4)), ("16x64", Cores(16, 64))])
def test_cores_are_read(text: str, cores: Cores) -> None:
    assert lab_request.cores(text) == cores


def test_clocks_of_nodes_differ_by_a_step() -> None:
    assert lab_request.offsets_ns("5s", 3) == (0, 5_000_000_000, 10_000_000_000)


def test_random_clocks_differ() -> None:
    offsets = lab_request.offsets_ns("random", 8)
    assert len(set(offsets)) == 8
    assert all(0 <= offset_ns < lab_request.MOST_AHEAD_NS for offset_ns in offsets)


DELAY = "expected a time above 0 in ns, us, ms or s, such as 50us"
RATE = "expected a rate above 0 in kbit, mbit or gbit, such as 1gbit"
CLOCKS = "expected random or a time above 0 in ns, us, ms or s, such as 5s"
CORES = "expected a number of cores, or sockets x cores of each, such as 2x4"


@pytest.mark.parametrize(
    ("read", "text", "message"),
    [
        *(
            (lab_request.delay_ns, text, f"--delay {text}: {DELAY}")
            for text in ("50", "us", "0us", "50 us", "-1us", "1min")
        ),
        *(
            (lab_request.rate_bit_s, text, f"--rate {text}: {RATE}")
            for text in ("1", "1Gbit", "0gbit", "1gbit/s", "1..5gbit")
        ),
        *(
            (lambda text: lab_request.offsets_ns(text, 2), text, f"--clocks {text}: {CLOCKS}")
            for text in ("5", "0s", "any")
        ),
        *((lab_request.cores, text, f"--cores {text}: {CORES}") for text in ("0", "2x", "x4", "2x0", "2x4x1", "many")),
    ],
)
def test_wrong_values_are_refused(read: Callable[[str], object], text: str, message: str) -> None:
    with pytest.raises(RankbenchError) as caught:
        read(text)
    assert str(caught.value) == message
