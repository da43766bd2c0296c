"""Reads a TOML file as a checked `Plan`, and makes its cases and the order of a block. Reads plans and presets only."""

from __future__ import annotations

from rankbench.plan.expand import (
    MEMORY_SHARE,
    NoCaseError,
    check_calls,
    count_node_bytes,
    expand_plan,
    note_unmeasured_calls,
)
from rankbench.plan.footprint import Footprint, estimate_footprint
from rankbench.plan.order import count_least_blocks, draw_block_order, draw_case_order, draw_launch_groups, list_looks
from rankbench.plan.reading import find_preset, list_presets, load_plan, make_plan, parse_plan, read_plan, read_template
from rankbench.plan.writing import write_toml
