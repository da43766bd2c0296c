"""From a TOML file to a checked `Plan`, to cases, to the order of a block. It reads only the plan and presets."""

from __future__ import annotations

from rankbench.plan.expand import cases, check_calls
from rankbench.plan.footprint import footprint
from rankbench.plan.order import block_order, case_order, launch_groups, looks
from rankbench.plan.reading import load, parse, preset, presets, template

__all__ = [
    "block_order",
    "case_order",
    "cases",
    "check_calls",
    "footprint",
    "launch_groups",
    "load",
    "looks",
    "parse",
    "preset",
    "presets",
    "template",
]
