"""Settings of links for `tc`, and their description for users."""

from __future__ import annotations

import pytest
from wording import WORDING

from rankbench.lab import Delay, links

SYMMETRIC = Delay(50_000, 50_000)


@pytest.mark.parametrize(
    ("rate_bit_s", "delay", "ends"),
    [
        (0, None, {}),
        (
            10**9,
            None,
            {
                "from_node": "tbf rate 1000000000bit burst 10000 latency 50ms",
                "to_node": "tbf rate 1000000000bit burst 10000 latency 50ms",
            },
        ),
        (0, SYMMETRIC, {"to_node": "netem delay 50us limit 100000"}),
        (
            10**7,
            Delay(1_500, 1_500),
            {
                "from_node": "tbf rate 10000000bit burst 3200 latency 50ms",
                "to_node": "netem delay 1.5us limit 100000 rate 10000000bit",
            },
        ),
    ],
)
def test_both_ends_of_a_link_are_shaped(rate_bit_s: int, delay: Delay | None, ends: dict[str, str]) -> None:
    """If the kernel delays packets, it also limits the rate at which a node receives."""
    assert links.shaping(rate_bit_s, delay) == ends


def test_the_switch_delays_each_direction_between_nodes_but_not_the_head() -> None:
    assert [*links.matrix(Delay(3, 5), 3)] == [0, 0, 0, 0, 0, 3, 0, 5, 0]


@pytest.mark.parametrize(
    ("rate_bit_s", "delay", "by_kernel"),
    [
        (0, None, False),
        (2_500_000, None, False),
        (64_000, SYMMETRIC, True),
        (10**10, None, False),
        (0, Delay(200_000, 200_000), False),
        (0, Delay(200_000, 50_000), False),
    ],
)
def test_links_are_described_with_rate_and_delay(rate_bit_s: int, delay: Delay | None, by_kernel: bool) -> None:
    assert links.describe_links(rate_bit_s, delay, by_kernel=by_kernel) == WORDING


@pytest.mark.parametrize(
    ("rate_bit_s", "delay", "name"),
    [
        (0, None, ""),
        (10**9, None, "1 Gbit/s"),
        (2 * 10**8, Delay(200_000, 200_000), "200 Mbit/s, 200 µs"),
        (0, Delay(200_000, 50_000), "200 µs and 50.0 µs"),
    ],
)
def test_links_are_named_by_rate_and_delay(rate_bit_s: int, delay: Delay | None, name: str) -> None:
    assert links.name_links(rate_bit_s, delay) == name
