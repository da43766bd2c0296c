"""MPICH, launched by Hydra; settings are its MPIR_CVAR_* environment variables, unchanged."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType

from rankbench.libraries import derived, families, hydra, ucx
from rankbench.model import CommandLine, Library, Placement


class Family(families.Family):
    """MPICH from 3.x on. Recognised last: libraries derived from it contain its name, too."""

    name = "mpich"
    title = "MPICH"
    packages = ("mpich",)
    precedence = 90
    colour = "#0072B2"
    compiler_variable = "MPICH_CC"
    versions = (
        r"^MPICH Version:\s+(\S+)",
        r"^mpicc for MPICH version (\S+)",
        r"^HYDRA build details:\s+Version:\s+(\S+)",
        r'^#define MPICH_VERSION "(\S+)"',
    )
    variables = ("MPIR_", "MPICH_", "MPL_")
    files = ("{etc}/mpich.conf", *hydra.FILES, *ucx.FILES)
    network_settings = MappingProxyType(
        {
            "InfiniBand": {"MPIR_CVAR_CH4_NETMOD": "ucx"},
            "RoCE": {"MPIR_CVAR_CH4_NETMOD": "ucx"},
            "Omni-Path": {"MPIR_CVAR_CH4_NETMOD": "ofi", "FI_PROVIDER": "opx"},
            "EFA": {"MPIR_CVAR_CH4_NETMOD": "ofi", "FI_PROVIDER": "efa"},
            "Slingshot": {"MPIR_CVAR_CH4_NETMOD": "ofi", "FI_PROVIDER": "cxi"},
        }
    )
    report_settings = MappingProxyType({"MPIR_CVAR_DEBUG_SUMMARY": "1", **ucx.SETTINGS})

    def read_usage(self, output: str) -> dict[str, str]:
        """Read the summary of rank 0, which names the files with its trees of algorithms."""
        return read_summary(output)

    def list_ignored(self, library: Library, settings: Mapping[str, str], output: str) -> list[str]:
        """Look for the names of variables in the library, which drops unknown ones silently."""
        known = read_variables(library) if settings else set()
        unknown = families.list_unknown(settings, known, PREFIX) if known else []
        return [*unknown, *super().list_ignored(library, settings, output)]

    def make_mpiexec_line(
        self, library: Library, placement: Placement, settings: Mapping[str, str], program: list[str]
    ) -> CommandLine:
        """Ranks are bound by Hydra."""
        return hydra.make_launch_line(library, placement, self.encode_settings(settings), program)


PREFIX = "MPIR_CVAR_"


def read_variables(library: Library) -> set[str]:
    """Return the names of variables in the file of a library; none: it is not found, or is linked statically.

    Each has two older names.
    """
    names = derived.find_strings([derived.find_libmpi(library)], rb"MPIR_CVAR_\w+")
    return {f"{prefix}{name.removeprefix(PREFIX)}" for name in names for prefix in (PREFIX, "MPIR_PARAM_", "MPICH_")}


TREES = {
    "MPIR": ("algorithms", "MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE"),
    "MPID": ("algorithms of the device", "MPIR_CVAR_CH4_COLL_SELECTION_TUNING_JSON_FILE"),
    "MPID/shm": ("algorithms within a node", "MPIR_CVAR_CH4_POSIX_COLL_SELECTION_TUNING_JSON_FILE"),
}
"""Parts of the library that choose algorithms, by name in the summary; their meaning, and the variable of a file."""


def read_summary(output: str) -> dict[str, str]:
    """Return network layer, transports and trees of algorithms from the output of `MPIR_CVAR_DEBUG_SUMMARY` and UCX."""
    layer = re.search(r"^=+ (\w+) netmod Capability", output, re.MULTILINE)
    provider = re.search(r"libfabric provider: (\S+)", output)
    trees = {}
    for name, (label, variable) in TREES.items():
        if match := re.search(rf"^{re.escape(name)}: (\S+)$", output, re.MULTILINE):
            built_in = match[1].endswith("_json")
            trees[label if built_in else variable] = "built in" if built_in else match[1]
    usage = {
        "network layer": layer[1] if layer else "",
        "provider": provider[1] if provider else "",
        "transports": ucx.read_transports(output),
        **trees,
    }
    return {name: text for name, text in usage.items() if text}
