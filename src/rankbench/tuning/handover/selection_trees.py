"""MPICH's trees of algorithms by message size: reads them from the library, changes them, writes tuning files.

Two trees decide. The tree of the device (CH4) chooses how a call is composed of calls within and between nodes; one
composition leaves it to the layer above the device, whose tree chooses the algorithm. The library contains both as
JSON, so that those of this very version can be changed. A file replaces a whole tree, so it must be complete.

The library checks little of a file: a node without a last branch ends the program, and an algorithm is called even if
it cannot serve the call. So every algorithm is guarded by what it needs. Format: src/mpi/coll/src/csel.c of MPICH 5.0.
"""

from __future__ import annotations

import functools
import itertools
import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from rankbench.model import Variable

Tree = dict[str, "Tree"]
Range = tuple[int, int, Tree]
"""First and last bytes, inclusive, and the part of the tree for them."""
BUILT_IN = re.compile(rb'\{\s*"collective=[\t\n\r\x20-\x7e]+')
NETWORK_ONLY = re.compile(r"\b(\d+)\s+NM only")
COMPOSITIONS = ("alpha", "beta", "gamma", "delta")
SIZE_KEYS = {
    **dict.fromkeys(("allreduce", "bcast", "reduce", "alltoall"), "avg_msg_size"),
    **dict.fromkeys(("allgather", "allgatherv", "reduce_scatter", "reduce_scatter_block"), "total_msg_size"),
}
"""How the tree asks for the size of a call. The total is of all ranks, where a message size is of one. Others are left
out: the library has no size for them, or one that differs between the ranks of a call."""
COMMUTATIVE = {"allreduce", "reduce", "reduce_scatter", "reduce_scatter_block"}
BUILT_IN_OPERATION = {"allreduce", "reduce"}
ENOUGH_ELEMENTS = re.compile("reduce_scatter_(all)?gather")
"""Algorithms that need at least one element per rank."""
POWER_OF_TWO = re.compile("^allgatherv?_recursive_doubling$|recursive_doubling_allgather|noncommutative")
REGULAR_BLOCKS = "reduce_scatter_noncommutative"
IN_PLACE = "is_sendbuf_inplace"


class Trees(NamedTuple):
    """The trees of a library."""

    device: Tree
    above: Tree
    algorithms: frozenset[str]
    """The names that a file can use, such as `MPIR_Allreduce_intra_ring`."""


@functools.cache
def read_trees(libmpi: Path) -> Trees | None:
    """Return the trees that are compiled into a library; None: before MPICH 4, or another library."""
    data = libmpi.read_bytes()
    trees = [json.loads(match[0]) for match in BUILT_IN.finditer(data)]
    device = [tree for tree in trees if "composition=" in json.dumps(tree)]
    above = [tree for tree in trees if "collective=ibcast" in tree]
    names = re.findall(rb"algorithm=(MPIR_\w+)", data)
    return Trees(device[0], above[0], frozenset(map(bytes.decode, names))) if device and above else None


def find_algorithm(trees: Trees, operation: str, value: str) -> str:
    """Return the name in files of an algorithm whose value in a variable is `value`; empty: there is none."""
    names = (f"MPIR_{operation.capitalize()}_{scope}_{value}" for scope in ("intra", "allcomm"))
    return next((name for name in names if name in trees.algorithms), "")


def make_algorithm(trees: Trees, operation: str, value: str, parameters: Mapping[str, str]) -> Tree:
    """Return the part of a tree that calls an algorithm, or the library's own choice if that is not applicable."""
    default = trees.above[f"collective={operation}"]["comm_type=intra"]
    if not value:
        return default
    name = find_algorithm(trees, operation, value)
    tree: Tree = {f"algorithm={name}": {f"{key}={text}": {} for key, text in parameters.items()}}
    if value == "smp":
        tree = {"comm_hierarchy=parent": tree, "comm_hierarchy=any": default}
    if f"{operation}_{value}" == REGULAR_BLOCKS:
        tree = {"is_block_regular=yes": tree, "is_block_regular=no": default}
    if POWER_OF_TWO.search(f"{operation}_{value}"):
        tree = {"comm_size=pow2": tree, "comm_size=any": default}
    if ENOUGH_ELEMENTS.search(value):
        tree = {"count<pow2": default, "count=any": tree}
    if operation in BUILT_IN_OPERATION:
        tree = {"is_op_built_in=yes": tree, "is_op_built_in=no": default}
    if operation in COMMUTATIVE and value != "noncommutative":
        tree = {"is_commutative=yes": tree, "is_commutative=no": default}
    if f"{IN_PLACE}=yes" in default:
        tree = {f"{IN_PLACE}=yes": default[f"{IN_PLACE}=yes"], f"{IN_PLACE}=no": tree}
    return tree


def find_composition(trees: Trees, operation: str, variables: Mapping[str, Variable]) -> str:
    """Return the composition that leaves an operation to the layer above the device; empty: none is known."""
    variable = variables.get(f"MPIR_CVAR_{operation.upper()}_COMPOSITION")
    match = NETWORK_ONLY.search(variable.description) if variable else None
    letter = COMPOSITIONS[int(match[1]) - 1 if match else 0]
    name = f"composition=MPIDI_{operation.capitalize()}_intra_composition_{letter}"
    # Where a library lists no compositions of an operation, it has one.
    return (
        name if match or json.dumps(trees.device.get(f"collective={operation}", {})).count("composition=") == 1 else ""
    )


def limit_sizes(key: str, ranges: Iterable[Range], default: Tree) -> Tree:
    """Return a tree with each range of sizes, in rising order, and the library's own choice for all other sizes."""
    tree: Tree = {}
    end = 0
    for first, last, part in ranges:
        if first > end:
            tree[f"{key}<={first - 1}"] = default
        tree[f"{key}<={last}"] = part
        end = last + 1
    return {**tree, f"{key}=any": default}


def limit_ranks(parts: Mapping[int, Tree], default: Tree) -> Tree:
    """Return a tree with a part for each number of ranks, and the library's own choice for all other numbers."""
    tree: Tree = {}
    for ranks, previous in zip(sorted(parts), itertools.chain([0], sorted(parts)), strict=False):
        if ranks - 1 > previous:
            tree[f"comm_size<={ranks - 1}"] = default
        tree[f"comm_size<={ranks}"] = parts[ranks]
    return {**tree, "comm_size=any": default}


def replace_operations(tree: Tree, parts: Mapping[str, Tree]) -> str:
    """Return the text of a tree with these parts for some operations within one group of ranks."""
    changed = {
        f"collective={name}": {**tree[f"collective={name}"], "comm_type=intra": part} for name, part in parts.items()
    }
    return json.dumps({**tree, **changed}, indent=1) + "\n"
