"""The use of /dev/shm recorded by the check of a launch is that of the real library, and nothing of it stays."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from mpi.test_core import Core, core
from rankbench import launch, libraries
from rankbench.campaign.sharing import Sharing
from rankbench.launch.resources import SHM
from rankbench.model import Placement, Step

__all__ = ["core"]

TESTS = Path(__file__).parents[1]
PAGES = 64 << 10
"""Bytes of short-lived files that one of two measurements can miss."""
SHARE = 0.2
"""Share of a launch's use that a check with messages as long has at least: collectives need memory of their own."""
ALONE = f'mount -t tmpfs -o size=4g none /dev/shm && exec "{sys.executable}" -m fakes.shared_memory "$1"'
"""The launch has its own /dev/shm, since other processes use the real one meanwhile."""


@pytest.mark.thorough
@pytest.mark.skipif(os.geteuid() != 0, reason="only root may follow the mappings of a process to their files")
def test_a_check_records_the_shared_memory_of_ranks(core: Core, home: Path) -> None:
    """In the check and in a launch, which may use more: the estimate is then corrected by the measured use."""
    process = subprocess.run(
        ["unshare", "--mount", "bash", "-c", ALONE, "bash", core.library.name],
        env=os.environ | {"RANKBENCH_HOME": str(home), "PYTHONPATH": str(TESTS)},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert process.returncode == 0, process.stderr[-2000:]
    used = json.loads(process.stdout.splitlines()[-1])
    assert used["check_held"] > PAGES, used
    assert abs(used["check_recorded"] - used["check_held"]) <= PAGES, used
    assert abs(used["launch_recorded"] - used["launch_held"]) <= PAGES, used
    assert used["check_recorded"] >= SHARE * used["launch_held"], used
    sharing = Sharing({(core.library.name, "here"): {SHM: used["check_recorded"]}})
    sharing.learn("here", [core.library.name], {SHM: used["launch_recorded"]})
    assert sharing.add_needs("here", [core.library.name])[SHM] >= used["launch_held"] - PAGES, used


def test_nothing_stays_of_a_launch_whose_rank_dies(core: Core, tmp_path: Path) -> None:
    program = tmp_path / "dies"
    command = [core.library.wrapper, "-o", str(program), str(TESTS / "fakes" / "dies.c")]
    subprocess.run(command, check=True, env={**os.environ, **core.library.environment})
    family, here = libraries.find_family(core.library), Placement(name="2", nodes=1, ranks_per_node=2, binding="none")
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    for _ in range(3):
        line = family.make_launch_line(core.library, here, {}, [str(program), str(tmp_path)])
        line.environment["TMPDIR"] = str(temporary)
        outcome = launch.run(Step(command=line, output=tmp_path / "out", watch=tmp_path / "out", limit_s=120))
        assert outcome.exit_code, (tmp_path / "out").read_text()
        used = {path for rank in "01" for path in (tmp_path / rank).read_text().splitlines()}
        assert used or core.library.family != "mpich"
        assert [path for path in used if Path(path).exists()] == []
    assert list(temporary.iterdir()) == []
