"""Properties and load of this machine, read from the kernel; `launch/topology.py` reads its CPUs."""

from __future__ import annotations

import os
import platform
import re
from pathlib import Path

from rankbench.launch import topology
from rankbench.launch.topology import read_text
from rankbench.model import LINKS_VARIABLE, Machine

STEAL_COLUMN = 8
"""Fields of the first line of /proc/stat; proc(5)."""


def machine(root: Path = Path("/")) -> Machine:
    """Return the machine as the kernel describes it; `root` is the folder with /proc, /sys and /etc."""
    cpus = topology.cpus(root)
    information = read_text(root / "proc/cpuinfo")
    return Machine(
        host=platform.node(),
        cpu=field(information, "model name") or platform.machine(),
        sockets=max(1, len({cpu.socket for cpu in cpus})),
        cores=max(1, min(len({cpu.core for cpu in cpus}), read_quota(root))),
        memory_bytes=memory_bytes(root),
        kernel=platform.release(),
        distribution=distribution(root),
        virtual=virtual(root, information),
        cpus=cpus,
        links=os.environ.get(LINKS_VARIABLE, ""),
    )


def explain_one_core(machine: Machine, online: int) -> str:
    """Return why two ranks find no room on a machine with this number of CPUs; empty: they do."""
    if machine.cores != 1:
        return ""
    allowed = "this machine has 1 CPU"
    if online > 1:
        allowed = f"this process may use 1 of {online} CPUs (taskset, cgroup, container or srun -c 1)"
    return f"{allowed}: two ranks need two; to share one: --placements 1x2"


def field(table: str, name: str) -> str:
    """Return the value of the first `name : value` line."""
    match = re.search(rf"^{re.escape(name)}\s*:\s*(.+)$", table, re.MULTILINE)
    return match[1].strip() if match else ""


def read_quota(root: Path) -> int:
    """Return the number of CPUs that this container's limit allows; without a limit, a number above any machine's."""
    most, _, period = read_text(root / "sys/fs/cgroup/cpu.max").partition(" ")
    return int(most) // int(period) if most.isdigit() else 1 << 20


def memory_bytes(root: Path) -> int:
    """Return the usable memory: the machine's, or the container's limit if that is smaller."""
    total = int((field(read_text(root / "proc/meminfo"), "MemTotal") or "0 kB").split()[0]) * 1024
    limit = read_text(root / "sys/fs/cgroup/memory.max").strip()
    return min(total, int(limit)) if limit.isdigit() else total


def distribution(root: Path) -> str:
    """Return the name of the operating system."""
    match = re.search(r'^PRETTY_NAME="?([^"\n]+)', read_text(root / "etc/os-release"), re.MULTILINE)
    return match[1] if match else platform.system()


def virtual(root: Path, information: str) -> str:
    """Return the name of the hypervisor; empty on bare metal."""
    if "hypervisor" not in field(information, "flags").split():
        return ""
    names = (read_text(root / f"sys/class/dmi/id/{name}").strip() for name in ("sys_vendor", "product_name"))
    return " ".join(name for name in names if name) or read_text(root / "sys/hypervisor/type").strip() or "hypervisor"


def load() -> float:
    """Return the load average over the last minute."""
    return os.getloadavg()[0]


def stolen_s(root: Path = Path("/")) -> float:
    """Return the CPU time that the hypervisor took away since boot, summed over CPUs."""
    columns = read_text(root / "proc/stat").partition("\n")[0].split()
    return int(columns[STEAL_COLUMN]) / os.sysconf("SC_CLK_TCK") if len(columns) > STEAL_COLUMN else 0.0
