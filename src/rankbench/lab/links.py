"""Links between nodes: how fast and how long they are, by the kernel's `tc` or by a switch in user space."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from rankbench.quantities import format_time

SWITCH = "switch.c"
SWITCH_NS = 36_000
"""What the switch in user space takes itself on a quiet machine of two cores."""
SWITCH_LEAST_NS = 100_000
"""Delays from this on it keeps well."""
BURST_S = 80e-6
"""How long what may pass at once takes at the rate. More would let a ping-pong of larger messages exceed the rate."""
LEAST_BURST_BYTES = 3200
"""Two frames."""
RATE_KEPT_BIT_S = 1_000_000_000
"""Up to this rate it is kept by timers of a machine of two cores."""
QUEUE_MS = 50
QUEUE_FRAMES = 100_000
TRIALS = {"netem": "netem delay 1us", "tbf": "tbf rate 1gbit burst 128k latency 50ms"}
"""The kernel's disciplines in use here, with arguments that show whether it has them."""


class Delay(NamedTuple):
    """How long a frame is on its way from a node to one of higher number, and back."""

    forward_ns: int
    backward_ns: int

    @property
    def is_even(self) -> bool:
        """Return whether both ways take as long."""
        return self.forward_ns == self.backward_ns

    def of(self, sender: int, receiver: int) -> int:
        """Return the delay between two ports of the switch. The head is port 0; to and from it there is none."""
        if 0 in {sender, receiver} or sender == receiver:
            return 0
        return self.forward_ns if sender < receiver else self.backward_ns


def matrix(delay: Delay, ports: int) -> Iterator[int]:
    """Yield the delays between all ports, in reading order."""
    yield from (delay.of(sender, receiver) for sender in range(ports) for receiver in range(ports))


def shaping(rate_bit_s: int, delay: Delay | None) -> dict[str, str]:
    """Return the arguments of `tc` for the two ends of a link; `delay` as far as it is netem's.

    Each way has the rate: what a node sends by a token bucket, what it receives by netem's own where there is one.
    """
    burst_bytes = max(LEAST_BURST_BYTES, round(rate_bit_s / 8 * BURST_S))
    bucket = f"tbf rate {rate_bit_s}bit burst {burst_bytes} latency {QUEUE_MS}ms" if rate_bit_s else ""
    paced = f" rate {rate_bit_s}bit" if rate_bit_s else ""
    delayed = f"netem delay {delay.forward_ns / 1000:g}us limit {QUEUE_FRAMES}{paced}" if delay else ""
    ends = {"from_node": bucket, "to_node": delayed or bucket}
    return {end: arguments for end, arguments in ends.items() if arguments}


def name_links(rate_bit_s: int, delay: Delay | None) -> str:
    """Return the rate and the delay of links: `1 Gbit/s, 200 µs`; empty: as fast as the machine is."""
    ways = dict.fromkeys(map(format_time, delay or ()))
    return ", ".join([*([format_rate(rate_bit_s)] if rate_bit_s else []), *([" and ".join(ways)] if ways else [])])


def describe_links(rate_bit_s: int, delay: Delay | None, *, by_kernel: bool) -> str:
    """Return what the links are and by what, in words."""
    rate = f"{format_rate(rate_bit_s)} each way (tbf)" if rate_bit_s else "as fast as the machine is"
    limits = f", of which streams may reach less: timers keep up to {format_rate(RATE_KEPT_BIT_S)}"
    remark = limits if rate_bit_s > RATE_KEPT_BIT_S else ""
    return f"links {rate}{remark}; {_describe_delay(delay, by_kernel=by_kernel)}"


def _describe_delay(delay: Delay | None, *, by_kernel: bool) -> str:
    if not delay:
        return "no delay added"
    ways = [format_time(time_ns) for time_ns in delay]
    text = f"delay {ways[0]} each way" if delay.is_even else f"delay {ways[0]} and back {ways[1]}"
    if by_kernel:
        return f"{text} (netem)"
    limits = f"adds about {format_time(SWITCH_NS)} itself"
    if min(delay) < SWITCH_LEAST_NS:
        limits += f", so delays below {format_time(SWITCH_LEAST_NS)} are rough"
    return f"{text} by a switch in user space{', as this kernel has no netem' * delay.is_even}: it {limits}"


def format_rate(rate_bit_s: int) -> str:
    """Return a rate such as `2.5 Gbit/s`."""
    for unit, scale in (("Gbit/s", 10**9), ("Mbit/s", 10**6)):
        if rate_bit_s >= scale:
            return f"{rate_bit_s / scale:g} {unit}"
    return f"{rate_bit_s / 1000:g} kbit/s"
