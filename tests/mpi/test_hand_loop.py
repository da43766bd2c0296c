"""The core's ping-pong against a loop written by hand, on the same library, launches alternated.

`pytest -s` shows the figures.
"""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from mpi.conftest import WHEELS
from rankbench import build, launch, libraries
from rankbench.model import Library, Placement, Step
from rankbench.statistics import median_interval
from rankbench.statistics.medians import grouped_median

if TYPE_CHECKING:
    from collections.abc import Callable

LOOP = Path(__file__).parents[1] / "fakes" / "pingpong.c"
PAIR = Placement(name="pair", nodes=1, ranks_per_node=2, binding="core")
PAIRS = 15


def _run(library: Library, program: list[str], output: Path) -> str:
    line = libraries.family_of(library).launch_line(library, PAIR, {}, program)
    outcome = launch.run(Step(command=line, output=output, watch=output, limit_s=120))
    assert outcome.exit_code == 0, output.read_text()
    return output.read_text()


@pytest.mark.parametrize("family", WHEELS)
def test_the_core_measures_what_a_hand_written_loop_does(
    family: str, home: Path, reach: list[Library], tmp_path: Path
) -> None:
    """The median ratio of the launches' medians lies within 0.97..1.03, as far as its 95 % interval can tell."""
    library = libraries.choose(family, [one for one in reach if one.source == "pypi"])
    hand = tmp_path / "hand"
    compiler = [library.wrapper, "-O2", "-o", str(hand), str(LOOP)]
    subprocess.run(compiler, check=True, env={**os.environ, **library.environment})
    core, stream = build.build(library, home).binary, tmp_path / "stream"

    def by_hand() -> float:
        return grouped_median(np.array([float(line) for line in _run(library, [str(hand)], tmp_path / "h").split()]))

    def by_core() -> float:
        asked = ["--op", "pingpong", "--sizes", "8", "--samples", "20000", "--quiet", "--stream", str(stream)]
        _run(library, [str(core), *asked], tmp_path / "c")
        (record,) = (one for one in map(json.loads, stream.read_text().splitlines()) if one["record"] == "case")
        return grouped_median(np.array(record["series"][0]["time_ns"]))

    turns: list[list[Callable[[], float]]] = [[by_hand, by_core], [by_core, by_hand]]
    ratios = []
    for number in range(PAIRS):
        figures = {measure: measure() for measure in turns[number % 2]}
        ratios.append(figures[by_core] / figures[by_hand])
    low, high, coverage = median_interval(np.array(ratios))
    print(
        f"\n{library.name}: core / hand-written {np.median(ratios):.3f}, {coverage:.0%} interval {low:.3f}..{high:.3f}"
    )
    assert low <= 1.03
    assert high >= 0.97
