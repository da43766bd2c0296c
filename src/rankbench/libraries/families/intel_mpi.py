"""Intel MPI: Hydra's command line, with pinning by I_MPI_* variables; settings are these variables, unchanged."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from rankbench.libraries import derived, families, hydra
from rankbench.model import CommandLine, Library, Placement, RankbenchError

LIBRARY_FOLDERS = ("/usr/lib64", "/usr/lib64/slurm", "/usr/lib/x86_64-linux-gnu", "/usr/lib", "/opt/slurm/lib64")
PMI2 = ("libpmi2.so", "libpmi2.so.0")
STARTUP = re.compile(r"MPI startup\(\): (libfabric provider|Load tuning file): (.*\S)")
IGNORED = re.compile(r"Incorrect (?:adjust value|algorithm): (\w+)=(.*), will be ignored")
REMOVED = re.compile(r"MPI startup\(\): (\S+) fabric is unknown or has been removed")
VARIABLE = rb"(?:I_MPI|MPIR_CVAR|MPICH)_\w+"
LAUNCHER_FILES = ("mpiexec.hydra", "hydra_bstrap_proxy", "hydra_pmi_proxy", "mpirun")
PINNING = {
    # The default order spreads ranks over sockets; compact fills core after core, as in the other families.
    "core": {"I_MPI_PIN": "1", "I_MPI_PIN_DOMAIN": "core", "I_MPI_PIN_ORDER": "compact"},
    "thread": {"I_MPI_PIN": "1", "I_MPI_PIN_PROCESSOR_LIST": "all"},
    "none": {"I_MPI_PIN": "0"},
}


class Family(families.Family):
    """Intel MPI of oneAPI and of PyPI. Recognised first: its header says MPICH."""

    name = "intel-mpi"
    title = "Intel MPI"
    packages = ("impi-rt", "impi-devel")
    precedence = 10
    colour = "#009E73"
    compiler_variable = "I_MPI_CC"
    versions = (
        r"^Intel\(R\) MPI Library (\d[\d.]*) for",
        r"^Intel\(R\) MPI Library for Linux\* OS, Version (\d[\d.]*)",
        r"for the Intel\(R\) MPI Library (\d[\d.]*) for",
        r'^#define I_MPI_VERSION "(\S+)"',
    )
    variables = ("I_MPI_",)
    files = (
        *("{etc}/mpiexec.conf", "~/.mpiexec.conf", "{prefix}/intel64/etc/mpiexec.conf"),
        *("{etc}/tuning_*.dat", "{prefix}/opt/mpi/etc/tuning_*.dat", "{prefix}/intel64/etc/tuning_*.dat"),
        *hydra.FILES,
    )
    network_settings = MappingProxyType(
        {
            "InfiniBand": {"I_MPI_OFI_PROVIDER": "mlx"},
            "RoCE": {"I_MPI_OFI_PROVIDER": "mlx"},
            "Omni-Path": {"I_MPI_OFI_PROVIDER": "psm2"},
            "EFA": {"I_MPI_OFI_PROVIDER": "efa"},
            "Slingshot": {"I_MPI_OFI_PROVIDER": "cxi", "I_MPI_OFI_LIBRARY_INTERNAL": "0"},
        }
    )
    report_settings = MappingProxyType({"I_MPI_DEBUG": "6"})

    def read_usage(self, output: str) -> dict[str, str]:
        """Read the lines of rank 0."""
        startup = dict(STARTUP.findall(output))
        devices = dict.fromkeys(re.findall(r"MPI startup\(\): \d+ +\d+ +([a-z]\w*)$", output, re.MULTILINE))
        file = Path(startup.get("Load tuning file", "").strip('"')).name
        usage = {
            "provider": startup.get("libfabric provider", ""),
            "network devices": ", ".join(devices),
            "tuning file": file,
        }
        adjusted = re.findall(r"MPI startup\(\): (I_MPI_ADJUST_\w+)=(.*)$", output, re.MULTILINE)
        return {name: text for name, text in usage.items() if text} | dict(adjusted)

    def list_ignored(self, library: Library, settings: Mapping[str, str], output: str) -> list[str]:
        """Read its reports of invalid values, and look for names in the library and its launcher."""
        known = read_variables(library) if settings else set()
        return [
            *(families.list_unknown(settings, known, "I_MPI_") if known else []),
            *(f"I_MPI_ADJUST_{name}: {value} is ignored" for name, value in dict.fromkeys(IGNORED.findall(output))),
            *(
                f"I_MPI_FABRICS: the library has no {name} and uses others"
                for name in dict.fromkeys(REMOVED.findall(output))
            ),
            *super().list_ignored(library, settings, output),
        ]

    def make_environment(self, prefix: Path) -> dict[str, str]:
        """Wrapper and libraries look for everything below I_MPI_ROOT."""
        return {"I_MPI_ROOT": str(prefix)}

    def make_mpiexec_line(
        self, library: Library, placement: Placement, settings: Mapping[str, str], program: list[str]
    ) -> CommandLine:
        """Ranks are pinned by variables; this launcher ignores Hydra's own option."""
        launcher, nodes = (
            families.require_launcher(library, placement),
            hydra.make_node_options(placement, "-bootstrap"),
        )
        on_nodes = make_library_path(library) if placement.hosts else {}
        environment = library.environment | make_pinning(placement) | on_nodes
        return CommandLine(
            arguments=[launcher, *nodes, "-n", str(placement.ranks), *program],
            environment={**environment, **self.encode_settings(settings)},
        )

    def make_srun_environment(self, library: Library) -> dict[str, str]:
        """Intel's library loads Slurm's PMI library, and needs its path. Raises RankbenchError if it is not found."""
        paths = (Path(folder, name) for folder in LIBRARY_FOLDERS for name in PMI2)
        pmi = next((str(path) for path in paths if path.exists()), None)
        if not pmi:
            raise RankbenchError(
                f"{library.name}: srun starts it by {PMI2[0]}, which is in none of {', '.join(LIBRARY_FOLDERS)}; "
                'install it (Debian: libpmi2-0), or let its own mpiexec launch: launcher = "mpiexec"'
            )
        return {"I_MPI_PMI_LIBRARY": pmi, **make_library_path(library), "I_MPI_PIN": "0"}


def read_variables(library: Library) -> set[str]:
    """Return the names of variables in the files of the library and its launcher; none: the library is not found."""
    file = derived.find_libmpi(library)
    launcher = [str(Path(library.wrapper).with_name(name)) for name in LAUNCHER_FILES]
    return derived.find_strings([file, *launcher], VARIABLE) if file else set()


def make_pinning(placement: Placement) -> dict[str, str]:
    """Return the variables that bind ranks; the CPUs of a rank are the bits of a mask."""
    if placement.binding == "none" or not placement.cpus:
        return PINNING[placement.binding]
    if all(len(cpus) == 1 for cpus in placement.cpus):
        return {"I_MPI_PIN": "1", "I_MPI_PIN_PROCESSOR_LIST": ",".join(str(cpu) for (cpu,) in placement.cpus)}
    masks = (sum(1 << cpu for cpu in cpus) for cpus in placement.cpus)
    return {"I_MPI_PIN": "1", "I_MPI_PIN_DOMAIN": f"[{','.join(map(hex, masks))}]"}


def make_library_path(library: Library) -> dict[str, str]:
    """Return the variable with which processes find the library, on other nodes or if it is not their launcher's."""
    return derived.precede_library_path(Path(library.prefix, "lib"), library.environment)
