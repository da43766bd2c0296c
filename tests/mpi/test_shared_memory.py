"""What the check of a launch records of /dev/shm is what a real library holds there."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from mpi.test_core import ONE_LIBRARY, Core, core
from rankbench.campaign.sharing import Sharing
from rankbench.launch.resources import SHM

__all__ = ["core"]

TESTS = Path(__file__).parents[1]
PAGES = 64 << 10
"""Bytes of short-lived files that one of two looks can miss."""
SHARE = 0.4
"""Of what a launch holds, that a check with messages as long holds at least: collectives take memory of their own."""
ALONE = f'mount -t tmpfs -o size=4g none /dev/shm && exec "{sys.executable}" -m fakes.shared_memory "$1"'
"""The launch has a /dev/shm of its own: others on this machine use the real one meanwhile."""


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may follow the mappings of a process to their files")
@ONE_LIBRARY
def test_a_check_records_what_ranks_hold_of_shared_memory(core: Core, home: Path) -> None:
    """In the check and in a launch that measures, which may hold more: the need is then corrected by what it took."""
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
