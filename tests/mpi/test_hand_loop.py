"""The core's ping-pong against a loop written by hand, on the same library and clock, launches alternated.

`pytest -s` shows the figures. Exchanges of some libraries take two times in turn, 200 and 500 ns for instance, as
messages share cache lines or do not. The median of such samples lies anywhere between; means are compared, without the
tails.
"""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from scipy import stats

from mpi.conftest import WHEELS
from rankbench import build, launch, libraries
from rankbench.model import Library, Placement, Step
from rankbench.statistics import median_interval

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.proof

LOOP = Path(__file__).parents[1] / "fakes" / "pingpong.c"
PAIR = Placement(name="pair", nodes=1, ranks_per_node=2, binding="core")
PAIRS = 15


def _run(library: Library, program: list[str], output: Path) -> str:
    line = libraries.family_of(library).launch_line(library, PAIR, {}, program)
    outcome = launch.run(Step(command=line, output=output, watch=output, limit_s=120))
    assert outcome.exit_code == 0, output.read_text()
    return output.read_text()


def typical(times_ns: list[float]) -> float:
    """Return the mean without the 5 % at each end, which are interruptions."""
    return float(stats.trim_mean(times_ns, 0.05))


@pytest.mark.parametrize("family", WHEELS)
def test_the_core_measures_what_a_hand_written_loop_does(
    family: str, home: Path, reach: list[Library], tmp_path: Path
) -> None:
    """The median ratio of the launches' means lies within 0.97..1.03, as far as its 95 % interval can tell."""
    library = libraries.choose(family, [one for one in reach if one.source == "pypi"])
    hand = tmp_path / "hand"
    compiler = [library.wrapper, "-O2", "-o", str(hand), str(LOOP)]
    subprocess.run(compiler, check=True, env={**os.environ, **library.environment})
    core, stream = build.build(library, home).binary, tmp_path / "stream"

    def by_hand() -> float:
        return typical([float(line) for line in _run(library, [str(hand)], tmp_path / "h").split()])

    def by_core() -> float:
        asked = ["--op", "pingpong", "--sizes", "8", "--samples", "20000", "--clock", "clock_gettime"]
        _run(library, [str(core), *asked, "--quiet", "--stream", str(stream)], tmp_path / "c")
        (record,) = (one for one in map(json.loads, stream.read_text().splitlines()) if one["record"] == "case")
        return typical(record["series"][0]["time_ns"])

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
