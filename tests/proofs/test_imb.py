"""Values of launches scatter like those of the Intel MPI benchmarks, with the same library on the same cores."""

from __future__ import annotations

from importlib.machinery import SourceFileLoader
from pathlib import Path

import numpy as np
import pytest
from mpi.test_core import Core

from proofs.judging import check_median

TOOL = Path(__file__).parents[2] / "tools" / "compare-with-imb"
LAUNCHES = 5


@pytest.mark.parametrize("core", ["intel-mpi"], indirect=True)
@pytest.mark.parametrize("operation", ["allreduce", "barrier"])
def test_launches_scatter_like_those_of_imb(core: Core, operation: str, tmp_path: Path) -> None:
    """The ratio of standard deviations of the logarithm, of a few launches of each in turns."""
    tool = SourceFileLoader("compare_with_imb", str(TOOL)).load_module()

    def measure_ratio() -> float:
        ours, theirs = [], []
        for _ in range(LAUNCHES):
            theirs.append(tool.imb_us(core.library, operation, tmp_path))
            ours.append(tool.rankbench_us(core.library, core.core_build.binary, operation, tmp_path)[0])
        return float(np.std(np.log(ours)) / np.std(np.log(theirs)))

    check_median(measure_ratio, 0.5, 2.0, budget_s=400)
