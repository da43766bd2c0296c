"""Recorded machines as described by lstopo, and the CPUs read from the descriptions.

lstopo made the files from descriptions that they contain; those named hwloc1 are in the format of hwloc 1.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from xml.etree import ElementTree

import pytest

from rankbench.launch import topology
from rankbench.model import Cpu

HERE = Path(__file__).parent / "topologies"
FILES = sorted(HERE.glob("*.xml"))
EVERY = range(4096)


def read_cpus(name: str, usable: range | set[int] = EVERY) -> dict[int, Cpu]:
    """Return the CPUs of a recorded machine by number."""
    return {
        cpu.number: cpu for cpu in topology.assemble(topology.parse_xml((HERE / f"{name}.xml").read_text()), usable)
    }


def make_cpu(number: int, core: int, socket: int, numa: int, place: tuple[int, int], **caches: int) -> Cpu:
    return Cpu(
        number=number, core=core, socket=socket, numa=numa, caches=caches, ordinal=place[0], core_ordinal=place[1]
    )


EXPECTED = [
    # Two sockets of 12 cores of two threads: the second thread of core n is CPU n + 24, counted after the first.
    ("xeon-2x12-smt2", make_cpu(0, 0, 0, 0, (0, 0), L2=0, L3=0)),
    ("xeon-2x12-smt2", make_cpu(24, 0, 0, 0, (1, 0), L2=0, L3=0)),
    ("xeon-2x12-smt2", make_cpu(12, 12, 1, 1, (24, 12), L2=12, L3=12)),
    ("xeon-2x12-smt2", make_cpu(47, 23, 1, 1, (47, 23), L2=23, L3=12)),
    ("xeon-2x12-hwloc1", make_cpu(24, 0, 0, 0, (1, 0), L2=0, L3=0)),
    ("xeon-2x12-hwloc1", make_cpu(47, 23, 1, 1, (47, 23), L2=23, L3=12)),
    # Even CPUs on one socket, odd ones on the other.
    ("xeon-2x12-interleaved", make_cpu(1, 1, 1, 1, (12, 12), L2=1, L3=1)),
    ("xeon-2x12-interleaved", make_cpu(22, 22, 0, 0, (11, 11), L2=22, L3=0)),
    ("small-2x2-interleaved", make_cpu(1, 1, 1, 0, (2, 2))),
    # Four NUMA nodes a socket, two L3 a node, two cores an L3.
    ("epyc-2x16-nps4", make_cpu(3, 3, 0, 0, (6, 3), L2=3, L3=2)),
    ("epyc-2x16-nps4", make_cpu(4, 4, 0, 1, (8, 4), L2=4, L3=4)),
    ("epyc-2x16-nps4", make_cpu(48, 16, 1, 4, (33, 16), L2=16, L3=16)),
    ("epyc-2x16-hwloc1", make_cpu(4, 4, 0, 1, (8, 4), L2=4, L3=4)),
    ("epyc-2x16-hwloc1", make_cpu(48, 16, 1, 4, (33, 16), L2=16, L3=16)),
    # Pairs of cores with four threads each share L2 and L3.
    ("power9-2x8-smt4", make_cpu(7, 4, 0, 0, (7, 1), L2=0, L3=0)),
    ("power9-2x8-smt4", make_cpu(32, 32, 1, 1, (32, 8), L2=32, L3=32)),
    # Two memories are equally near to all cores: the first, of ordinary memory, counts.
    ("knl-16-smt4", make_cpu(17, 1, 0, 0, (5, 1), L2=0)),
    ("knl-16-smt4", make_cpu(63, 15, 0, 0, (63, 15), L2=14)),
    # CPUs 2, 3 and 12 to 15 are allowed: the others are reported as disallowed, or not at all.
    ("xeon-2x12-allowed", make_cpu(3, 3, 0, 0, (1, 1), L2=3, L3=2)),
    ("xeon-2x12-allowed", make_cpu(12, 12, 1, 1, (2, 2), L2=12, L3=12)),
    ("xeon-2x12-restricted", make_cpu(3, 3, 0, 0, (1, 1), L2=3, L3=2)),
    ("xeon-2x12-restricted", make_cpu(12, 12, 1, 1, (2, 2), L2=12, L3=12)),
]


@pytest.mark.parametrize(("name", "wanted"), EXPECTED, ids=lambda value: getattr(value, "number", value))
def test_a_cpu_has_its_core_socket_numa_node_and_caches(name: str, wanted: Cpu) -> None:
    assert read_cpus(name)[wanted.number] == wanted


SHAPES = {
    "xeon-2x12-smt2": (48, 24, 2, 2),
    "xeon-2x12-hwloc1": (48, 24, 2, 2),
    "xeon-2x12-interleaved": (24, 24, 2, 2),
    "small-2x2-interleaved": (4, 4, 2, 1),
    "epyc-2x16-nps4": (64, 32, 2, 8),
    "epyc-2x16-hwloc1": (64, 32, 2, 8),
    "power9-2x8-smt4": (64, 16, 2, 2),
    "knl-16-smt4": (64, 16, 1, 1),
    "xeon-2x12-allowed": (6, 6, 2, 2),
    "xeon-2x12-restricted": (6, 6, 2, 2),
}
"""Numbers of CPUs, cores, sockets and NUMA nodes with CPUs."""


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_all_cpus_cores_sockets_and_numa_nodes_are_found(path: Path) -> None:
    cpus = read_cpus(path.stem).values()
    counts = [len({getattr(entry, part) for entry in cpus}) for part in ("number", "core", "socket", "numa")]
    assert tuple(counts) == SHAPES[path.stem]
    assert len(set(Counter(entry.core for entry in cpus).values())) == 1


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_cpus_and_cores_are_counted_as_by_hwloc(path: Path) -> None:
    objects = ElementTree.parse(path).iter("object")
    written = [int(entry.attrib["os_index"]) for entry in objects if entry.get("type") == "PU"]
    cpus = read_cpus(path.stem)
    in_order = [number for number in written if number in cpus]
    assert [cpus[number].ordinal for number in in_order] == list(range(len(cpus)))
    cores = [cpus[number].core_ordinal for number in in_order]
    assert cores == sorted(cores)
    assert {entry.core: entry.core_ordinal for entry in cpus.values()} == {
        core: place for place, core in enumerate(dict.fromkeys(cpus[number].core for number in in_order))
    }


def test_cpus_that_this_process_may_not_use_keep_the_numbers_of_others() -> None:
    assert read_cpus("xeon-2x12-smt2", {12, 36, 40}) == {
        12: make_cpu(12, 12, 1, 1, (24, 12), L2=12, L3=12),
        36: make_cpu(36, 12, 1, 1, (25, 12), L2=12, L3=12),
        40: make_cpu(40, 40, 1, 1, (33, 16), L2=40, L3=12),
    }
