"""The share of this machine's CPU time that other processes use, as the kernel counts it."""

from __future__ import annotations

import os
import resource
import time
from pathlib import Path
from typing import NamedTuple

QUIET = 0.05
"""Share of CPU time up to which other processes leave the machine quiet."""


class Times(NamedTuple):
    """Seconds: elapsed time, CPU time of the whole machine, and CPU time of this process and its children."""

    wall_s: float
    busy_s: float
    own_s: float


def read_times() -> Times:
    """Return the times until now; stolen time counts as busy."""
    user, nice, system, _idle, _wait, irq, soft, steal = (
        float(word) / os.sysconf("SC_CLK_TCK") for word in Path("/proc/stat").read_text().split()[1:9]
    )
    usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    own_s = sum(usage.ru_utime + usage.ru_stime for usage in usages)
    return Times(time.monotonic(), user + nice + system + irq + soft + steal, own_s)


def measure_others_share(since: Times) -> float:
    """Return the share of the CPU time since then that neither this process nor its ended children used."""
    now = read_times()
    wall_s = (now.wall_s - since.wall_s) * (os.cpu_count() or 1)
    return max(0.0, (now.busy_s - since.busy_s) - (now.own_s - since.own_s)) / wall_s
