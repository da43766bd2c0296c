"""Running steps on this machine, and what state the machine is in. This room does not know what a step computes."""

from __future__ import annotations

from rankbench.launch.host import load, machine, stolen_s
from rankbench.launch.local import run
from rankbench.launch.probe import state

__all__ = ["load", "machine", "run", "state", "stolen_s"]
