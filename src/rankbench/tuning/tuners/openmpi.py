"""Open MPI: algorithms of its component `tuned`, forced by MCA parameters, and its file of rules.

The parameters are read when a communicator is made.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from rankbench.model import Handover, Rule, Variable, Variant
from rankbench.tuning.handover import openmpi_rules
from rankbench.tuning.handover.openmpi_rules import FAN_OUTS, FILE_VARIABLE, IDS, SEGMENT, SWITCH, underscore_name
from rankbench.tuning.tuners import Target

FAMILIES = ("openmpi",)
HAS_OWN_CHOICE = True
OWN_CHOICE = "ignore"
SEGMENTED = {
    "allreduce": {"segmented_ring"},
    "bcast": {"chain", "pipeline", "split_binary_tree", "binary_tree", "binomial", "knomial"},
    "reduce": {"chain", "pipeline", "binary", "binomial", "in-order_binary"},
}
"""Algorithms that send a message in segments; 0 bytes: without segments."""
SEGMENTS = ("4096", "32768", "131072")
FAN_OUT_VALUES = ("2", "3", "8")
EAGER = dict.fromkeys(("btl_sm_eager_limit", "btl_vader_eager_limit", "btl_tcp_eager_limit"), ("16384", "65536"))
"""Parameters of eager limits."""


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


def make_handover(rules: Sequence[Rule], target: Target) -> Handover:
    """Return the file of rules, in JSON if the library reads it."""
    if openmpi_rules.reads_json(target.version):
        file, text = openmpi_rules.JSON_FILE, openmpi_rules.write_json(rules)
    else:
        file, text = openmpi_rules.CLASSIC_FILE, openmpi_rules.write_classic(rules)
    return Handover(settings={SWITCH: "1", FILE_VARIABLE: f"{{folder}}/{file}"}, files={file: text})


def parameter_name(operation: str) -> str:
    """Return the name of the parameter that forces an algorithm of the operation."""
    return f"coll_tuned_{underscore_name(operation)}_algorithm"
