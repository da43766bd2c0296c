"""MPICH and MVAPICH 3 and later: algorithms by control variables, of the device or of the layer above it.

The device comes first, so that an algorithm of the layer above needs the device's to be off for this operation. Within
a node the device has algorithms of its own (POSIX). Variables choose one algorithm for all sizes of an operation.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankbench.model import Handover, RankbenchError, Variant

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rankbench.model import Rule, Variable

FAMILIES = ("mpich", "mvapich")
IN_LAUNCH = True
DEVICE = "MPIR_CVAR_DEVICE_COLLECTIVES"
OTHER_HARDWARE = {"ccl"}
"""Values that need a library of another maker."""


def list_variants(operation: str, variables: Mapping[str, Variable]) -> Iterator[Variant]:
    """Yield the algorithms of the layer above the device, its own choice first, then those of the device in a node."""
    name = operation.upper().replace("-", "_")
    above, off = f"MPIR_CVAR_{name}_INTRA_ALGORITHM", f"MPIR_CVAR_{name}_DEVICE_COLLECTIVE"
    inside = f"MPIR_CVAR_{name}_POSIX_INTRA_ALGORITHM"
    device_off = {DEVICE: "percoll", off: "0"} if off in variables else {DEVICE: "none"}
    for value in variables[above].values if above in variables else []:
        if value.name not in OTHER_HARDWARE:
            label = value.name.replace("_", "-")
            yield Variant(name=f"ch4-off-{label}", settings=device_off | {above: value.name}, algorithm=value.name)
    for value in variables[inside].values if inside in variables else []:
        if value.name not in {"auto", "mpir"}:
            yield Variant(
                name=f"posix-{value.name.replace('_', '-')}", settings={inside: value.name}, algorithm=value.name
            )


def can_split(operation: str) -> bool:  # noqa: ARG001 - the same for all
    """A variable holds for all sizes."""
    return False


def make_handover(rules: Sequence[Rule], ranks: int) -> Handover:  # noqa: ARG001 - variables hold for all communicators
    """Return the variables of all rules; no two of them may set one variable to two values."""
    settings: dict[str, str] = {}
    for rule in rules:
        for name, value in rule.variant.settings.items():
            if settings.setdefault(name, value) != value:
                raise RankbenchError(f"{rule.operation}: {name} cannot be {value} and {settings[name]}")
    return Handover(settings=settings)
