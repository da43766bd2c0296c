"""The CPUs of this machine and what they share, from hwloc, or else from the kernel.

hwloc is asked by `lstopo`, whose XML is read in the forms of its versions 1 and 2: the former nests cores in NUMA
nodes, the latter hangs NUMA nodes beside them. Only CPUs that programs may use are reported.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import subprocess
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

from rankbench import processes
from rankbench.model import Cpu

PROGRAMS = ("lstopo-no-graphics", "lstopo")
OPTIONS = ("--of", "xml", "--no-io")
LONGEST_S = 20.0
WORD_BITS = 32
"""Bits of a word of a CPU set, which hwloc writes as `0x00000003,0xffffffff`."""
EVERY_HIGHER = "0xf...f"
"""First word of a set that contains all higher CPUs."""
KINDS = {"Package": "socket", "Socket": "socket", "NUMANode": "numa", "Core": "core"}
OF_DATA = ("Data", "Unified")
FIRST_SHARED_LEVEL = 2
"""Caches of level 1 belong to a single core."""


class Share(NamedTuple):
    """CPUs that share something, including those that programs may not use."""

    kind: str
    """`socket`, `numa`, `core`, or a cache such as `L3`."""
    number: int
    """The system's number of a socket or NUMA node."""
    cpus: frozenset[int]


class Reading(NamedTuple):
    """The topology of a machine as read."""

    shares: list[Share]
    allowed: frozenset[int]
    """CPUs that hwloc numbers: those of this container, or all that are online."""


def cpus(root: Path = Path("/")) -> list[Cpu]:
    """Return the CPUs that this process may use, by number; another `root` has the /sys of another machine."""
    usable = os.sched_getaffinity(0)
    sentence = ask_lstopo() if root == Path("/") else ""
    with contextlib.suppress(ValueError):
        if cpu_list := assemble(parse_xml(sentence), usable):
            return cpu_list
    return assemble(read_system(root, usable), usable)


def ask_lstopo() -> str:
    """Return the output of lstopo for this machine; empty: there is none, or it fails."""
    program = next(filter(None, map(shutil.which, PROGRAMS)), None)
    if not program:
        return ""
    # These variables make hwloc read the description of another machine.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("HWLOC_")}
    with contextlib.suppress(OSError, subprocess.SubprocessError):
        answer = processes.run([program, *OPTIONS], environment, limit_s=LONGEST_S)
        return answer.stdout if answer.returncode == 0 else ""
    return ""


# --- hwloc ------------------------------------------------------------------------------------------------------------


def parse_xml(text: str) -> Reading:
    """Return the topology in lstopo's XML. Raises ValueError for anything else."""
    try:
        topology = ElementTree.fromstring(text)  # noqa: S314 - what lstopo prints here
    except ElementTree.ParseError as error:
        raise ValueError(str(error)) from None
    objects = list(topology.iter("object"))
    threads = {int(element.get("os_index", "")) for element in objects if element.get("type") == "PU"}
    allowed = parse_cpuset(next((element.get("allowed_cpuset", "") for element in objects), ""), threads)
    return Reading([part for each in objects for part in yield_shares(each, threads)], allowed or frozenset(threads))


def yield_shares(element: ElementTree.Element, threads: Collection[int]) -> Iterator[Share]:
    """Yield what the CPUs below an hwloc object share by it; nothing for most kinds."""
    level = re.fullmatch(r"L(\d)Cache", element.get("type", "")) or re.fullmatch(r"(\d)", cache_of_1(element))
    kind = f"L{level[1]}" if level and int(level[1]) >= FIRST_SHARED_LEVEL else KINDS.get(element.get("type", ""))
    if kind:
        cpuset = element.get("complete_cpuset", "") or element.get("cpuset", "")
        yield Share(kind, int(element.get("os_index", "0")), parse_cpuset(cpuset, threads))


def cache_of_1(element: ElementTree.Element) -> str:
    """Return the level of a cache as hwloc 1 writes it; empty for instruction caches."""
    instructions = "2"
    holds_data = element.get("type") == "Cache" and element.get("cache_type") != instructions
    return element.get("depth", "") if holds_data else ""


def parse_cpuset(cpuset: str, threads: Collection[int]) -> frozenset[int]:
    """Return which of the CPUs are in a set of hwloc."""
    endless, _, rest = cpuset.partition(",") if cpuset.startswith(EVERY_HIGHER) else ("", "", cpuset)
    words = [int(word or "0", 16) for word in rest.split(",")] if rest else []
    bits = sum(word << (WORD_BITS * place) for place, word in enumerate(reversed(words)))
    higher = WORD_BITS * len(words)
    return frozenset(cpu for cpu in threads if (endless and cpu >= higher) or bits >> cpu & 1)


# --- the kernel -------------------------------------------------------------------------------------------------------


def read_system(root: Path, usable: Collection[int]) -> Reading:
    """Return the topology in /sys; if that is hidden, the CPUs share nothing."""
    folder = root / "sys/devices/system/cpu"
    known = sorted(int(path.name[3:]) for path in folder.glob("cpu[0-9]*") if (path / "topology").exists())
    groups: defaultdict[tuple[str, str], set[int]] = defaultdict(set)
    for cpu in known:
        for kind, name in read_parts(folder / f"cpu{cpu}"):
            groups[kind, name].add(cpu)
    allowed = parse_list(read_text(root / "sys/fs/cgroup/cpuset.cpus.effective").strip()) & set(known)
    shares = [
        Share(kind, int(name) if name.isdigit() else 0, frozenset(group)) for (kind, name), group in groups.items()
    ]
    return Reading(shares, frozenset(allowed or known or usable))


def read_parts(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield kind and name of each thing that a CPU is part of; CPUs that share it have the same name."""
    package, core = read_text(folder / "topology/physical_package_id"), read_text(folder / "topology/core_id")
    yield "socket", package.strip()
    yield "core", read_text(folder / "topology/thread_siblings_list").strip() or f"{package} {core or folder.name}"
    for node in folder.glob("node[0-9]*"):
        yield "numa", node.name.removeprefix("node")
    for cache in folder.glob("cache/index[0-9]*"):
        level, kind = read_text(cache / "level").strip(), read_text(cache / "type").strip()
        if kind in OF_DATA and level.isdigit() and int(level) >= FIRST_SHARED_LEVEL:
            yield f"L{level}", read_text(cache / "shared_cpu_list").strip()


def read_text(path: Path) -> str:
    """Return the text of a file; empty: it cannot be read."""
    with contextlib.suppress(OSError):
        return path.read_text(encoding="utf-8", errors="replace")
    return ""


def parse_list(kernel_list: str) -> set[int]:
    """Return the numbers of a kernel list such as `0-3,8`."""
    ranges = [part.partition("-") for part in kernel_list.split(",") if part]
    return {number for first, _, last in ranges for number in range(int(first), int(last or first) + 1)}


# --- result -----------------------------------------------------------------------------------------------------------


def assemble(reading: Reading, usable: Collection[int]) -> list[Cpu]:
    """Return the usable CPUs. Of several shares of a kind, such as NUMA nodes, the smallest counts."""
    shares_of: defaultdict[int, dict[str, Share]] = defaultdict(dict)
    for part in sorted(reading.shares, key=lambda part: (-len(part.cpus), -part.number)):
        for cpu in part.cpus:
            shares_of[cpu][part.kind] = part
    order = order_cpus(reading.shares, reading.allowed, shares_of)
    core_of = {cpu: find_first(shares_of[cpu].get("core"), reading.allowed, cpu) for cpu in order}
    ordinals = {cpu: ordinal for ordinal, cpu in enumerate(order)}
    core_ordinals = {core: ordinal for ordinal, core in enumerate(dict.fromkeys(core_of.values()))}
    wanted = reading.allowed & set(usable)

    def describe_cpu(cpu: int) -> Cpu:
        parts = shares_of[cpu]
        return Cpu(
            number=cpu,
            core=find_first(parts.get("core"), wanted, cpu),
            socket=parts["socket"].number if "socket" in parts else 0,
            numa=parts["numa"].number if "numa" in parts else 0,
            caches={kind: find_first(part, wanted, cpu) for kind, part in sorted(parts.items()) if kind[0] == "L"},
            ordinal=ordinals[cpu],
            core_ordinal=core_ordinals[core_of[cpu]],
        )

    return [describe_cpu(cpu) for cpu in sorted(wanted)]


def order_cpus(shares: Iterable[Share], allowed: Iterable[int], shares_of: dict[int, dict[str, Share]]) -> list[int]:
    """Return the CPUs in hwloc's order: CPUs that share something are neighbours."""
    widest: dict[str, int] = {}
    for part in shares:
        widest[part.kind] = max(widest.get(part.kind, 0), len(part.cpus))
    kinds = sorted(widest, key=lambda kind: -widest[kind])

    def place(cpu: int) -> tuple[int, ...]:
        return (*(min(shares_of[cpu][kind].cpus) if kind in shares_of[cpu] else cpu for kind in kinds), cpu)

    return sorted(allowed, key=place)


def find_first(part: Share | None, among: Collection[int], cpu: int) -> int:
    """Return the first CPU that shares this thing with a CPU, which may be the CPU itself."""
    return min(part.cpus.intersection(among)) if part else cpu
