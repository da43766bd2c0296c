"""Sweeps of `rankbench fleet` over emulated nodes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import msgspec

from rankbench.fleet.sweep_records import Sweep

RANKBENCH = str(Path(sys.executable).with_name("rankbench"))
RATE_MBIT = 200
SWEEP = (
    "$RANKBENCH fleet {library} --threshold {threshold}% --alarm {alarm}% --seed {seed} --rounds {rounds} "
    "--picture fleet.svg --format json --output s.json"
)


def slow_node(host: str, rate_mbit: int) -> str:
    """Return the command that limits what a node sends."""
    return f'ssh {host} "tc qdisc replace dev eth0 root tbf rate {rate_mbit}mbit burst 8k latency 50ms"'


def slow_link(host: str, to: str, rate_mbit: int) -> str:
    """Return the commands that limit what a node sends to another one, beside the rate to all."""
    address = f"$(getent hosts {to} | cut -d' ' -f1)"
    commands = (
        "tc qdisc replace dev eth0 root handle 1: htb default 1",
        f"tc class add dev eth0 parent 1: classid 1:1 htb rate {RATE_MBIT}mbit burst 8k",
        f"tc class add dev eth0 parent 1: classid 1:2 htb rate {rate_mbit}mbit burst 8k",
        f"tc filter add dev eth0 parent 1: protocol ip u32 match ip dst {address} flowid 1:2",
    )
    return "\n".join(f'ssh {host} "{command}"' for command in commands)


def busy_node(host: str, share: float) -> str:
    """Return the commands that leave what runs on a node a share of one CPU, in periods of 10 ms.

    As beside another process; it needs the first version of control groups.
    """
    group = "/sys/fs/cgroup/cpu/rankbench-$$"
    return rf"""
mkdir {group} && echo 10000 >{group}/cpu.cfs_period_us || exit 9
echo {round(10000 * share)} >{group}/cpu.cfs_quota_us
cat >busy-shell <<END
#!/bin/sh
case " \$* " in *" {host} "*) echo \$\$ >{group}/cgroup.procs ;; esac
exec $RANKBENCH_REMOTE_SHELL "\$@"
END
chmod +x busy-shell
export RANKBENCH_REMOTE_SHELL=$PWD/busy-shell
trap 'sleep 1; rmdir {group}' EXIT
"""


def sweep_nodes(
    folder: Path,
    home: Path,
    library: str,
    before: str = "",
    *,
    nodes: int = 4,
    threshold: int = 30,
    alarm: int = 10,
    seed: int = 1,
    rounds: str = "2",
) -> tuple[int, Sweep]:
    """Return the exit code of a sweep over emulated nodes, and the sweep."""
    folder.mkdir(parents=True, exist_ok=True)
    sweep = SWEEP.format(library=library, threshold=threshold, alarm=alarm, seed=seed, rounds=rounds)
    process = subprocess.run(
        [
            RANKBENCH,
            "lab",
            "--nodes",
            f"{nodes}",
            "--rate",
            f"{RATE_MBIT}mbit",
            "--",
            "bash",
            "-c",
            f"{before}\n{sweep}",
        ],
        cwd=folder,
        env={**os.environ, "RANKBENCH_HOME": str(home), "RANKBENCH": RANKBENCH},
        capture_output=True,
        text=True,
        check=False,
    )
    assert process.returncode in {0, 1}, process.stdout + process.stderr
    return process.returncode, msgspec.json.decode((folder / "s.json").read_bytes(), type=Sweep)
