"""From a TOML file to a checked `Plan`, to cases, to the order of a block. It reads only the plan and presets."""

from __future__ import annotations

from rankbench.plan.expand import expand_plan, check_calls
from rankbench.plan.footprint import estimate_footprint
from rankbench.plan.order import draw_block_order, draw_case_order, draw_launch_groups, list_looks
from rankbench.plan.reading import load_plan, parse_plan, find_preset, list_presets, read_template

__all__ = [
    "draw_block_order",
    "draw_case_order",
    "expand_plan",
    "check_calls",
    "estimate_footprint",
    "draw_launch_groups",
    "load_plan",
    "list_looks",
    "parse_plan",
    "find_preset",
    "list_presets",
    "read_template",
]
