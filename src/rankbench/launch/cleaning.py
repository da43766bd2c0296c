"""Removes what killed ranks left in /dev/shm of other nodes, where it holds memory until a node starts again."""

from __future__ import annotations

import shlex
import subprocess
import time
from collections.abc import Sequence

from rankbench.launch.resources import SEGMENTS, SHM

AT_ONCE = 64
"""Nodes that are cleaned at the same time."""
LIMIT_S = 10.0
"""A node that does not answer by then stays as it is."""
CLEAN_NODE = (
    "for wait in 1 1 1 2 0; do mapped=; "
    f'for path in {" ".join(f"{SHM}/{pattern}" for pattern in SEGMENTS)}; do [ -O "$path" ] || continue; '
    'if grep -qsF " $path" /proc/[0-9]*/maps; then mapped=1; else rm -f "$path"; fi; done; '
    '[ -n "$mapped" ] || break; sleep $wait; done'
)
"""What a node does: it removes files of MPI libraries that belong to this user and that no process maps.

A rank that was killed may still map its own for some seconds."""


def clean_hosts(hosts: Sequence[str], remote_shell: str) -> None:
    """Remove what killed ranks of this user left in the shared memory of hosts, as far as these answer.

    Args:
        hosts: as in a placement.
        remote_shell: what starts a command there; empty: ssh.
    """
    words = shlex.split(remote_shell) or ["ssh", "-o", "BatchMode=yes"]
    for first in range(0, len(hosts), AT_ONCE):
        processes = [
            subprocess.Popen(
                [*words, host, CLEAN_NODE],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
            for host in hosts[first : first + AT_ONCE]
        ]
        until_s = time.monotonic() + LIMIT_S
        for process in processes:
            try:
                process.wait(max(0.0, until_s - time.monotonic()))
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
