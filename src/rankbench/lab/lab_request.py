"""What a lab is asked for, read from words as a user writes them. Errors name the option."""

from __future__ import annotations

import random
import re

from rankbench.lab.slurm import Cores
from rankbench.language import join_words
from rankbench.model import RankbenchError

TIME_NS = {"ns": 1, "us": 1_000, "ms": 1_000_000, "s": 1_000_000_000}
RATE_BIT_S = {"kbit": 1_000, "mbit": 1_000_000, "gbit": 1_000_000_000}
MOST_AHEAD_NS = 1_000_000_000_000
"""Random clocks are ahead by less than this: a thousand seconds."""


def delay_ns(text: str) -> int:
    """Return the time of `50us`."""
    return _quantity(text, TIME_NS, "--delay", "a time above 0", "50us")


def rate_bit_s(text: str) -> int:
    """Return the bits per second of `1gbit`."""
    return _quantity(text, RATE_BIT_S, "--rate", "a rate above 0", "1gbit")


def offsets_ns(text: str, nodes: int) -> tuple[int, ...]:
    """Return how far each node's clock is ahead: by a multiple of what is said, or `random`."""
    if text == "random":
        return tuple(random.SystemRandom().randrange(MOST_AHEAD_NS) for _ in range(nodes))
    step_ns = _quantity(text, TIME_NS, "--clocks", "random or a time above 0", "5s")
    return tuple(step_ns * number for number in range(nodes))


def cores(text: str) -> Cores:
    """Return the sockets and cores of `4` or `2x4`. Raises RankbenchError for another form."""
    match = re.fullmatch(r"(?:([1-9]\d{0,2})x)?([1-9]\d{0,3})", text)
    if not match:
        raise RankbenchError(f"--cores {text}: expected a number of cores, or sockets x cores of each, such as 2x4")
    return Cores(int(match[1] or 1), int(match[2]))


def _quantity(text: str, units: dict[str, int], option: str, what: str, example: str) -> int:
    """Return a number with a unit in the smallest one."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)([a-z]+)", text)
    scale = units.get(match[2]) if match else None
    value = round(float(match[1]) * scale) if match and scale else 0
    if not value:
        raise RankbenchError(f"{option} {text}: expected {what} in {join_words([*units], 'or')}, such as {example}")
    return value
