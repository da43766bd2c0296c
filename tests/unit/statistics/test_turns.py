"""Effects of position and predecessor on launches that measure in turns."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest
from fakes.core import make_row

from rankbench.analysis.statistics.turns import estimate_effects

NAMES = ["a", "b", "c"]
CASES, VISITS, BLOCKS = 6, 5, 12
CONCURRENT_LAUNCHES = {3 * block + place: NAMES for block in range(BLOCKS) for place in range(len(NAMES))}


def draw_values(positions: dict[int, float], after: dict[str, float], lost: float = 0.0) -> pl.DataFrame:
    """Return values of launches in turns with these effects on their logs, and those of launch, round and noise."""
    draw = np.random.default_rng(5)
    rows = []
    for block in range(BLOCKS):
        level = draw.normal(0, 0.3, (CASES, len(NAMES)))
        before = make_row(len(NAMES), 0)[-1]
        visits: dict[tuple[int, int], list[tuple[int, float, float, int, int]]] = {}
        for number in range(CASES * VISITS):
            case, visit, machine = number % CASES, number // CASES, draw.normal(0, 0.2)
            for position, place in enumerate(make_row(len(NAMES), visit + case)):
                log = level[case, place] + machine + positions.get(position, 0.0) + after.get(NAMES[before], 0.0)
                if draw.random() >= lost:
                    time_ns = 1000 * math.exp(log + draw.normal(0, 0.02))
                    visits.setdefault((case, place), []).append((visit, time_ns, 0.0, position, before))
                before = place
        for (case, place), columns in visits.items():
            visited, time, hop, places, behind = map(list, zip(*columns, strict=True))
            rows.append(
                {"case": str(case), "candidate": NAMES[place], "block": block, "launch": 3 * block + place,
                 "figure_ns": float(np.median(time)), "visit": visited, "visit_ns": time, "visit_hop_ns": hop,
                 "visit_position": places, "visit_after": behind}
            )  # fmt: skip
    lists = {"visit_position": pl.List(pl.Int8), "visit_after": pl.List(pl.Int8)}
    return pl.DataFrame(rows, schema_overrides={"launch": pl.Int32, **lists})


@pytest.mark.parametrize("lost", [0.0, 0.1])
def test_planted_effects_are_estimated(lost: float) -> None:
    effects = {
        turn_effect.level: turn_effect
        for turn_effect in estimate_effects(draw_values({0: 0.06}, {"b": 0.09}, lost), CONCURRENT_LAUNCHES)
    }
    truth = {"1": 0.04, "2": -0.02, "3": -0.02, "a": -0.03, "b": 0.06, "c": -0.03}
    assert effects.keys() == truth.keys()
    assert all(abs(effects[level].log - log) < effects[level].half for level, log in truth.items())
    assert {level for level, effect in effects.items() if effect.exceeds(0.03)} == {"1", "b"}


def test_without_effects_none_exceeds_the_threshold() -> None:
    effects = estimate_effects(draw_values({}, {}), CONCURRENT_LAUNCHES)
    assert len(effects) == 6
    assert not any(effect.exceeds(0.0) for effect in effects)
    assert all(effect.half < 0.02 for effect in effects)


def test_unknown_positions_have_no_effect() -> None:
    assert estimate_effects(draw_values({}, {}), {}) == []
    assert estimate_effects(draw_values({}, {}).drop("visit_after"), CONCURRENT_LAUNCHES) == []
    assert estimate_effects(draw_values({}, {}).filter(pl.col("block") < 4), CONCURRENT_LAUNCHES) == []
