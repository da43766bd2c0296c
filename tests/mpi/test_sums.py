"""The study of sums under real libraries, and under libraries whose sums change."""

from __future__ import annotations

from pathlib import Path

import pytest
from fakes import mark_thorough

from mpi.conftest import run_rankbench
from mpi.test_core import Core, core
from mpi.test_unusual import unusual
from rankbench.samples import sums
from rankbench.samples.sums import SumBits

__all__ = ["core", "unusual"]

SOME = pytest.mark.parametrize("core", ["intel-mpi", *map(mark_thorough, ["mpich", "openmpi"])], indirect=True)
"""MPICH's ranks take turns of milliseconds where they share CPUs."""


def study(core: Core, tmp_path: Path, ranks: int, *before: str) -> tuple[int, list[SumBits]]:
    """Return the exit code of a study, and its records."""
    stream = tmp_path / "stream"
    ended = core.run(ranks, "--sums", "--quiet", "--stream", str(stream), before=before, watch=stream)
    every = sums.read(stream)
    assert not every.stream.damage
    return ended.exit_code, every.sums


@SOME
@pytest.mark.parametrize("ranks", [mark_thorough(2), 3])
def test_all_ranks_get_the_same_bits(core: Core, ranks: int, tmp_path: Path) -> None:
    code, every = study(core, tmp_path, ranks)
    assert code == 0
    assert {bits.type for bits in every} == {"float", "double", "float complex", "long double"}
    assert {bits.operation for bits in every} == {"allreduce", "reduce", "reduce_scatter_block", "scan"}
    assert not [bits for bits in every if bits.lacking or not bits.on_ranks]
    assert len({bits.digest for bits in every}) == len(every)


@pytest.mark.parametrize("core", ["intel-mpi", mark_thorough("openmpi")], indirect=True)
def test_a_call_in_a_hundred_in_another_order_is_found(core: Core, unusual: Path, tmp_path: Path) -> None:
    """Not with MPICH: where its ranks share CPUs there are too few calls in the time of a sum."""
    _, every = study(core, tmp_path, 3, "env", f"LD_PRELOAD={unusual}", "UNUSUAL=reorder")
    changed = {bits.operation for bits in every if not bits.from_call_to_call}
    assert "allreduce" in changed


def test_another_last_bit_on_one_rank_is_wrong(core: Core, unusual: Path, tmp_path: Path) -> None:
    code, every = study(core, tmp_path, 2, "env", f"LD_PRELOAD={unusual}", "UNUSUAL=bit")
    assert code == 3
    assert {bits.operation for bits in every if not bits.on_ranks} == {"allreduce"}


PLAN = """
candidates = ["intel-mpi"]
operations = ["allreduce"]
sizes = "8"
samples = 10
placements = ["1x2"]
control = false
sums = true
stop = { blocks = 1 }
"""


def test_a_campaign_compares_the_bits_of_sums_once(home: Path, tmp_path: Path) -> None:
    (tmp_path / "plan.toml").write_text(PLAN)
    run = ("run", str(tmp_path / "plan.toml"), "--results", str(tmp_path))
    first = run_rankbench(*run, home=home)
    assert first.returncode == 0, first.stderr
    assert "comparing the bits of sums of intel-mpi" in first.stdout + first.stderr
    shown = run_rankbench("show", str(tmp_path / "plan"), "--table", "sums", home=home).stdout
    rows = [line.split() for line in shown.splitlines() if line.startswith("intel-mpi")]
    assert {row[1] for row in rows} == {"allreduce", "reduce", "reduce_scatter_block", "scan"}
    again = run_rankbench(*run, home=home)
    assert "comparing the bits" not in again.stdout + again.stderr
