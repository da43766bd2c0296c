"""Open MPI: algorithms of its component `tuned`, forced by MCA parameters, and its classic file of rules.

The parameters are read when a communicator is made. A rule holds from its bytes and ranks upwards, so that both ends
need a fence: a rule of the library's own choice (algorithm 0). The file has no header, which versions before 5.0.7
would drop it for.
"""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from rankbench.model import Handover, Variant

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rankbench.libraries.tuners import Target
    from rankbench.model import Rule, Variable

FAMILIES = ("openmpi",)
HAS_OWN_CHOICE = True
SWITCH = "coll_tuned_use_dynamic_rules"
FILE_VARIABLE = "coll_tuned_dynamic_rules_filename"
FILE = "openmpi-rules.conf"
OWN_CHOICE = "ignore"
IDS = {
    name: number
    for number, name in enumerate(
        ("allgather", "allgatherv", "allreduce", "alltoall", "alltoallv", "alltoallw", "barrier", "bcast", "exscan",
         "gather", "gatherv", "reduce", "reduce_scatter", "reduce_scatter_block", "scan", "scatter", "scatterv")
    )
}  # fmt: skip
"""Numbers of operations in the file (COLLTYPE of ompi/mca/coll/base/coll_base_functions.h)."""
OF_ALL_RANKS = {"allgather", "alltoall", "gather", "scatter", "reduce-scatter-block", "allgatherv", "reduce-scatter"}
"""Operations whose rules count the bytes of all ranks together, where a message size is one rank's."""
SEGMENT = "segmentsize"
SEGMENTED = {
    "allreduce": {"segmented_ring"},
    "bcast": {"chain", "pipeline", "split_binary_tree", "binary_tree", "binomial", "knomial"},
    "reduce": {"chain", "pipeline", "binary", "binomial", "in-order_binary"},
}
"""Algorithms that send a message in segments; 0 bytes: as a whole."""
SEGMENTS = ("4096", "32768", "131072")
FAN_OUTS = {"chain": "chain_fanout", "knomial": "knomial_radix"}
"""Algorithms with a fan-out, and the end of its parameter's name."""
FAN_OUT_VALUES = ("2", "3", "8")
EAGER = dict.fromkeys(("btl_sm_eager_limit", "btl_vader_eager_limit", "btl_tcp_eager_limit"), ("16384", "65536"))
"""Parameters that say up to which size a message is sent at once."""


def list_variants(operation: str, variables: Mapping[str, Variable]) -> Iterator[Variant]:
    """Yield the algorithms of `tuned`."""
    name = parameter_name(operation)
    if name in variables and underscore_name(operation) in IDS:
        for value in variables[name].values:
            if value.name != OWN_CHOICE:
                yield Variant(
                    name=value.name.replace("_", "-"),
                    settings={SWITCH: "1", name: value.name},
                    algorithm=str(value.number),
                )


def vary_parameters(
    operation: str, variant: Variant, variables: Mapping[str, Variable], ranks: int
) -> Iterator[Variant]:
    """Yield the variant with other segment sizes and fan-outs, one changed at a time."""
    name = parameter_name(operation)
    algorithm = variant.settings.get(name, "")
    tried = [(SEGMENT, value) for value in SEGMENTS if algorithm in SEGMENTED.get(operation, ())]
    tried += [(FAN_OUTS[algorithm], value) for value in FAN_OUT_VALUES if algorithm in FAN_OUTS and int(value) <= ranks]
    for end, value in tried:
        parameter = f"{name}_{end}"
        if parameter in variables and variables[parameter].value != value:
            yield Variant(
                name=f"{variant.name}-{end.replace('_', '-')}-{value}",
                settings=variant.settings | {parameter: value},
                algorithm=variant.algorithm,
            )


def can_split(operation: str, variant: Variant, target: Target) -> bool:  # noqa: ARG001 - the same for all variants
    """Every operation of the file can have several rules."""
    return underscore_name(operation) in IDS


def make_handover(rules: Sequence[Rule], target: Target) -> Handover:  # noqa: ARG001 - the same for all libraries
    """Return the file of rules: a block for each operation, and in it the rules by ranks and bytes."""
    by_operation = [(name, list(group)) for name, group in groupby(rules, lambda rule: rule.operation)]
    lines = [f"{len(by_operation)} # operations"]
    for name, group in by_operation:
        by_ranks = limit_ranks(group)
        lines += [f"{IDS[underscore_name(name)]} # {name}", f"{len(by_ranks)} # numbers of ranks"]
        for ranks, ranges in by_ranks.items():
            choice = "" if ranges else ": the library's own choice"
            lines += [f"{ranks} # from {ranks} rank{'s'[: ranks > 1]} on{choice}", *limit_sizes(ranges, ranks)]
    text = "".join(f"{line}\n" for line in lines)
    return Handover(settings={SWITCH: "1", FILE_VARIABLE: f"{{folder}}/{FILE}"}, files={FILE: text})


def limit_ranks(rules: Sequence[Rule]) -> dict[int, list[Rule]]:
    """Return the rules by the number of ranks from which they hold, in rising order, with fences: no rules."""
    numbers = sorted({rule.ranks for rule in rules})
    fences = {1, *(number + 1 for number in numbers)}
    return {ranks: [rule for rule in rules if rule.ranks == ranks] for ranks in sorted(fences | set(numbers))}


def limit_sizes(rules: Sequence[Rule], ranks: int) -> list[str]:
    """Return the lines of rules for one number of ranks, with a fence wherever none follows at once."""
    lines, end = [format_rule(0, "0", "own choice")], 0
    for rule in rules:
        factor = ranks if rule.operation in OF_ALL_RANKS else 1
        first, last = rule.first_bytes * factor, rule.last_bytes * factor
        if first in (0, end):
            lines.pop()
        fan_out, segment = (find_parameter(rule, ends) for ends in (tuple(FAN_OUTS.values()), (SEGMENT,)))
        lines += [
            format_rule(first, rule.variant.algorithm, rule.variant.name, fan_out, segment),
            format_rule(last + 1, "0", "own choice"),
        ]
        end = last + 1
    return [f"{len(lines)} # rules by bytes", *lines]


def find_parameter(rule: Rule, ends: tuple[str, ...]) -> str:
    """Return the value of a parameter of the rule's variant whose name ends so, 0 where it has none."""
    return next((value for name, value in rule.variant.settings.items() if name.endswith(ends)), "0")


def format_rule(first_bytes: int, algorithm: str, comment: str, fan_out: str = "0", segment: str = "0") -> str:
    """Return a rule: bytes, algorithm, fan-out and segment size; 0: the library's own choice."""
    return f"{first_bytes} {algorithm} {fan_out} {segment} # {comment}"


def parameter_name(operation: str) -> str:
    """Return the name of the parameter that forces an algorithm of the operation."""
    return f"coll_tuned_{underscore_name(operation)}_algorithm"


def underscore_name(operation: str) -> str:
    """Return an operation's name as the library spells it."""
    return operation.replace("-", "_")
