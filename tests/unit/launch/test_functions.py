"""Functions of the job script that end launches, run by bash with real processes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from rankbench.launch.script import FUNCTIONS

HOLD = """
import mmap, signal, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
with open(sys.argv[1], "w+b") as file:
    file.truncate(4096)
    memory = mmap.mmap(file.fileno(), 4096)
open(sys.argv[2], "w").close()
time.sleep(1000)
"""
"""A stand-in for a rank that shares memory, and that only SIGKILL ends."""


def test_a_launch_that_is_ended_leaves_no_shared_memory(tmp_path: Path) -> None:
    """Its launcher gets SIGTERM first: it writes that down, and its rank ignores it."""
    shared, other = (Path(f"/dev/shm/rankbench-test-{os.getpid()}-{name}") for name in ("launch", "other"))
    other.write_bytes(b"not of this launch")
    launcher = tmp_path / "launcher"
    launcher.write_text(
        f"#!/bin/bash\n{sys.executable} -c '{HOLD}' {shared} {tmp_path}/up &\ntrap 'echo TERM >>{tmp_path}/log' TERM\n"
        "wait; wait\n"
    )
    launcher.chmod(0o755)
    script = f"""
        campaign={tmp_path}
        . {FUNCTIONS}
        line() {{ {launcher}; }}
        set -m
        line &
        set +m
        while [ ! -e {tmp_path}/up ]; do sleep 0.05; done
        end_launcher $!
        wait
    """
    subprocess.run(["bash", "-c", script], check=False, capture_output=True, timeout=60)
    found = [path.exists() for path in (shared, other)]
    for path in (shared, other):
        path.unlink(missing_ok=True)
    assert found == [False, True]
    assert (tmp_path / "log").read_text().startswith("TERM\n")
