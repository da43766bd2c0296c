"""Real libraries on a machine whose /dev/shm is too small for all of them at once."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

from mpi.test_campaign import RANKBENCH
from mpi.test_libraries import PAIR, wheel
from rankbench import build, store
from rankbench.campaign.preflight import examine
from rankbench.launch.resources import SHM
from rankbench.model import Candidate

if TYPE_CHECKING:
    from pathlib import Path

    from rankbench.model import Library

PLAN = """
candidates = ["mpich", "openmpi"]
operations = ["allreduce", "bcast"]
sizes = "8,1K"
placements = ["1x2"]
binding = "none"
samples = 5
case_limit = "60s"
[stop]
blocks = 1
"""


def measure_use(names: list[str], home: Path, reach: list[Library], folder: Path) -> dict[str, int]:
    """Return how much of /dev/shm a launch of each library takes."""
    found = {name: wheel(name, reach) for name in names}
    builds = {name: build.build(library, home) for name, library in found.items()}
    uses: dict[str, int] = {}
    for name in names:  # One by one.
        refused, used = examine([Candidate(name=name, library=name)], [PAIR], found, builds, folder / name)
        assert not refused
        uses[name] = used[name, PAIR.name][SHM]
    return uses


def run_with_shared_memory(folder: Path, home: Path, size_bytes: int) -> str:
    """Run the plan in a mount namespace with a /dev/shm of that size, and return what was printed."""
    (folder / "plan.toml").write_text(PLAN)
    namespace = ["unshare", "--mount"] if os.geteuid() == 0 else ["unshare", "--user", "--map-root-user", "--mount"]
    mount = f'mount -t tmpfs -o size={size_bytes} tmpfs /dev/shm && exec "$0" "$@"'
    done = subprocess.run(
        [*namespace, "sh", "-c", mount, RANKBENCH, "run", "plan.toml"],
        cwd=folder,
        env=os.environ | {"RANKBENCH_HOME": str(home)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def test_launches_take_turns_in_groups_for_which_shared_memory_suffices(
    tmp_path: Path, home: Path, reach: list[Library]
) -> None:
    """With the control, MPICH is there twice. All fit into what is free but for the tenth that must be left."""
    uses = measure_use(["mpich", "openmpi"], home, reach, tmp_path)
    assert min(uses.values()) > 0, uses
    printed = run_with_shared_memory(tmp_path, home, 2 * uses["mpich"] + uses["openmpi"])
    results = store.open(tmp_path / "results/plan")
    launches = results.launches()
    assert set(results.cases()["status"]) == {"ok"}
    assert max(launch.together for launch in launches) < 3, printed
    assert all(launch.alone.startswith("3 launches need ") for launch in launches), [one.alone for one in launches]
    assert "launches do not all take turns with each other" in printed
