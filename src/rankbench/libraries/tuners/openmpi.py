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

    from rankbench.model import Rule, Variable

FAMILIES = ("openmpi",)
IN_LAUNCH = True
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


def list_variants(operation: str, variables: Mapping[str, Variable]) -> Iterator[Variant]:
    """Yield the algorithms of `tuned`."""
    name = f"coll_tuned_{_underscore_name(operation)}_algorithm"
    if name in variables and _underscore_name(operation) in IDS:
        for value in variables[name].values:
            if value.name != OWN_CHOICE:
                yield Variant(
                    name=value.name.replace("_", "-"),
                    settings={SWITCH: "1", name: value.name},
                    algorithm=str(value.number),
                )


def can_split(operation: str) -> bool:
    """Every operation of the file can have several rules."""
    return _underscore_name(operation) in IDS


def make_handover(rules: Sequence[Rule], ranks: int) -> Handover:
    """Return the file of rules: a block for each operation, and in it the rules by ranks and bytes."""
    by_operation = [(name, list(own)) for name, own in groupby(rules, lambda rule: rule.operation)]
    lines = [f"{len(by_operation)} # operations"]
    for name, own in by_operation:
        lines += [
            f"{IDS[_underscore_name(name)]} # {name}",
            "3 # numbers of ranks",
            f"1 # from 1 rank on: the library's own choice\n1\n{_format_rule(0, '0', '')}",
            f"{ranks} # from {ranks} ranks on",
            *_add_fences(own, ranks),
            f"{ranks + 1} # from {ranks + 1} ranks on: the library's own choice\n1\n{_format_rule(0, '0', '')}",
        ]
    text = "".join(f"{line}\n" for line in lines)
    return Handover(settings={SWITCH: "1", FILE_VARIABLE: "{file}"}, file=FILE, text=text)


def _add_fences(rules: Sequence[Rule], ranks: int) -> list[str]:
    """Return the rules of an operation with a fence wherever none follows at once."""
    lines, end = [_format_rule(0, "0", "own choice")], 0
    for rule in rules:
        factor = ranks if rule.operation in OF_ALL_RANKS else 1
        first, last = rule.first_bytes * factor, rule.last_bytes * factor
        if first == end or first == 0:
            lines.pop()
        lines += [
            _format_rule(first, rule.variant.algorithm, rule.variant.name),
            _format_rule(last + 1, "0", "own choice"),
        ]
        end = last + 1
    return [f"{len(lines)} # rules by bytes", *lines]


def _format_rule(first_bytes: int, algorithm: str, what: str) -> str:
    """Return a rule: bytes, algorithm, fan-out and segment size; 0: the library's own choice."""
    return f"{first_bytes} {algorithm} 0 0{f' # {what}' if what else ''}"


def _underscore_name(operation: str) -> str:
    return operation.replace("-", "_")
