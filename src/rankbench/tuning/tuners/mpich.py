"""MPICH and MVAPICH 3 and later: algorithms by control variables, or by trees that choose by message size.

The device comes first, so that an algorithm of the layer above needs the device's to be off for this operation. Within
a node the device has algorithms of its own (POSIX). A variable holds for all sizes and numbers of ranks; where that is
not meant, files replace the two trees of the library (see `selection_trees`), and the device stays on elsewhere.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path

from rankbench.model import Handover, RankbenchError, Rule, Variable, Variant
from rankbench.tuning.handover import selection_trees
from rankbench.tuning.handover.selection_trees import SIZE_KEYS, Range, Tree, Trees, limit_ranks, limit_sizes
from rankbench.tuning.tuners import Target

FAMILIES = ("mpich", "mvapich")
HAS_OWN_CHOICE = True
DEVICE = "MPIR_CVAR_DEVICE_COLLECTIVES"
DEVICE_FILE, FILE = "mpich-device.json", "mpich-algorithms.json"
FILE_VARIABLES = {
    "MPIR_CVAR_CH4_COLL_SELECTION_TUNING_JSON_FILE": DEVICE_FILE,
    "MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE": FILE,
}
NOT_GENERAL = {"ccl", "pairwise_sendrecv_replace"}
"""Algorithms that need another vendor's library, or work in place only."""
ABOVE, INSIDE = "ch4-off", "posix"
TREE = {"tree_type": "TREE_TYPE", "k": "TREE_KVAL"}
TOPOLOGY = {
    f"topo_{name}": f"TOPO_{name.upper()}" for name in ("overhead", "diff_groups", "diff_switches", "same_switches")
}
EXCHANGE = {"k": "RECEXCH_KVAL", "single_phase_recv": "RECEXCH_SINGLE_PHASE_RECV"}
PARAMETERS: Mapping[tuple[str, str], Mapping[str, str]] = {
    ("allreduce", "recursive_multiplying"): {"k": "RECURSIVE_MULTIPLYING_KVAL"},
    ("allreduce", "recexch"): EXCHANGE,
    ("allreduce", "k_reduce_scatter_allgather"): EXCHANGE,
    ("allreduce", "tree"): {
        **TREE, "chunk_size": "TREE_PIPELINE_CHUNK_SIZE", "buffer_per_child": "TREE_BUFFER_PER_CHILD", **TOPOLOGY,
    },
    ("bcast", "tree"): {**TREE, "is_non_blocking": "IS_NON_BLOCKING", **TOPOLOGY},
    ("bcast", "pipelined_tree"): {
        **TREE,
        "is_non_blocking": "IS_NON_BLOCKING",
        "chunk_size": "TREE_PIPELINE_CHUNK_SIZE",
        "recv_pre_posted": "RECV_PRE_POST",
    },
    ("allgather", "k_brucks"): {"k": "BRUCKS_KVAL"},
    ("allgather", "recexch_doubling"): EXCHANGE,
    ("allgather", "recexch_halving"): EXCHANGE,
    ("alltoall", "k_brucks"): {"k": "BRUCKS_KVAL"},
}  # fmt: skip
"""Parameters of algorithms in a file, which has no defaults, and their variables without `MPIR_CVAR_<OPERATION>_`."""
SEARCHED = {
    "k": ("3", "4", "8"),
    "chunk_size": ("4096", "32768", "131072"),
    "single_phase_recv": ("1",),
    "buffer_per_child": ("1",),
}
"""Values that are tried for the parameters of a leading algorithm."""
EAGER = {
    "MPIR_CVAR_CH4_IPC_CMA_P2P_THRESHOLD": ("32768", "131072", "1048576"),
    "MPIR_CVAR_CH4_SHM_POSIX_IQUEUE_CELL_SIZE": ("16384", "65536"),
    "MPIR_CVAR_CH4_OFI_EAGER_THRESHOLD": ("4096", "65536"),
}
"""Variables of the limits of shared-memory copies and of eager messages."""


def list_variants(operation: str, variables: Mapping[str, Variable]) -> Iterator[Variant]:
    """Yield the algorithms of the layer above the device, its own choice first, then those of the device in a node."""
    name = operation.upper().replace("-", "_")
    above, off = f"MPIR_CVAR_{name}_INTRA_ALGORITHM", f"MPIR_CVAR_{name}_DEVICE_COLLECTIVE"
    inside = f"MPIR_CVAR_{name}_POSIX_INTRA_ALGORITHM"
    device_off = {DEVICE: "percoll", off: "0"} if off in variables else {DEVICE: "none"}
    for value in variables[above].values if above in variables else []:
        if value.name not in NOT_GENERAL:
            label = value.name.replace("_", "-")
            yield Variant(name=f"{ABOVE}-{label}", settings=device_off | {above: value.name}, algorithm=value.name)
    for value in variables[inside].values if inside in variables else []:
        if value.name not in {"auto", "mpir"}:
            label = value.name.replace("_", "-")
            yield Variant(name=f"{INSIDE}-{label}", settings={inside: value.name}, algorithm=value.name)


def vary_parameters(
    operation: str, variant: Variant, variables: Mapping[str, Variable], ranks: int
) -> Iterator[Variant]:
    """Yield the variant with other values of its algorithm's parameters, one changed at a time."""
    for key, suffix in parameters_of(operation, variant).items():
        name = variable_name(operation, suffix)
        for value in SEARCHED.get(key, ()):
            if name in variables and variables[name].value != value and (key != "k" or int(value) <= ranks):
                yield Variant(
                    name=f"{variant.name}-{key.replace('_', '-')}-{value}",
                    settings=variant.settings | {name: value},
                    algorithm=variant.algorithm,
                )


def can_split(operation: str, variant: Variant, target: Target) -> bool:
    """A tree can name the variant, if the library has trees."""
    name = operation.replace("-", "_")
    trees = selection_trees.read_trees(Path(target.libmpi)) if target.libmpi else None
    return bool(
        trees
        and name in SIZE_KEYS
        and variant.name.startswith(f"{ABOVE}-")
        and (variant.algorithm == "auto" or selection_trees.find_algorithm(trees, name, variant.algorithm))
        and selection_trees.find_composition(trees, name, target.variables)
    )


def make_handover(rules: Sequence[Rule], target: Target) -> Handover:
    """Return the variables of operations with one variant for all sizes, and trees for the others.

    Raises RankbenchError where two rules set one variable to two values.
    """
    settings: dict[str, str] = {}
    split: dict[str, list[Rule]] = {}
    for operation, group in groupby(rules, lambda rule: rule.operation):
        ranges = list(group)
        if len({rule.variant.name for rule in ranges}) == 1 and all(rule.all_sizes for rule in ranges):
            for name, value in ranges[0].variant.settings.items():
                if settings.setdefault(name, value) != value:
                    raise RankbenchError(f"{operation}: {name} cannot be {value} and {settings[name]}")
        else:
            split[operation.replace("-", "_")] = ranges
    if not split:
        return Handover(settings=settings)
    trees = selection_trees.read_trees(Path(target.libmpi))
    if not trees:
        raise RankbenchError(f"{target.libmpi}: has no trees of algorithms, so that it cannot choose by size")
    files = {variable: f"{{folder}}/{file}" for variable, file in FILE_VARIABLES.items()}
    return Handover(settings=settings | files, files=write_trees(trees, split, target.variables))


def write_trees(trees: Trees, rules: Mapping[str, Sequence[Rule]], variables: Mapping[str, Variable]) -> dict[str, str]:
    """Return the texts of both files: for a rule's sizes, the device passes the call on to the rule's algorithm."""
    device: dict[str, Tree] = {}
    above: dict[str, Tree] = {}
    for operation, ranges in rules.items():
        key = SIZE_KEYS[operation]
        composition: Tree = {selection_trees.find_composition(trees, operation, variables): {}}
        by_ranks: dict[int, tuple[list[Range], list[Range]]] = defaultdict(lambda: ([], []))
        for rule in ranges:
            factor = rule.ranks if key == "total_msg_size" else 1
            first, last = rule.first_bytes * factor, rule.last_bytes * factor
            by_ranks[rule.ranks][0].append((first, last, composition))
            by_ranks[rule.ranks][1].append((first, last, find_tree(trees, operation, rule.variant, variables)))
        for parts, tree, index in ((device, trees.device, 0), (above, trees.above, 1)):
            default = tree[f"collective={operation}"]["comm_type=intra"]
            parts[operation] = limit_ranks(
                {ranks: limit_sizes(key, lists[index], default) for ranks, lists in by_ranks.items()}, default
            )
    return {
        DEVICE_FILE: selection_trees.replace_operations(trees.device, device),
        FILE: selection_trees.replace_operations(trees.above, above),
    }


def find_tree(trees: Trees, operation: str, variant: Variant, variables: Mapping[str, Variable]) -> Tree:
    """Return the part of a tree that calls a variant, with the values of all parameters."""
    parameters = {}
    for key, suffix in parameters_of(operation, variant).items():
        name = variable_name(operation, suffix)
        parameters[key] = variant.settings.get(name) or (variables[name].value if name in variables else "0")
    value = "" if variant.algorithm == "auto" else variant.algorithm
    return selection_trees.make_algorithm(trees, operation, value, parameters)


def parameters_of(operation: str, variant: Variant) -> Mapping[str, str]:
    """Return the variables of a variant's parameters, without their prefix, by their names in files."""
    if not variant.name.startswith(f"{ABOVE}-"):
        return {}
    return PARAMETERS.get((operation.replace("-", "_"), variant.algorithm), {})


def variable_name(operation: str, suffix: str) -> str:
    """Return the full name of an operation's variable."""
    return f"MPIR_CVAR_{operation.upper().replace('-', '_')}_{suffix}"
