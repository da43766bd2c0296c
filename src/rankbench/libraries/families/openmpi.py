"""Open MPI 4 and 5. Settings in lower case are MCA parameters; others (UCX_*, PRTE_MCA_*) are environment variables."""

from __future__ import annotations

import difflib
import os
import re
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from rankbench import processes
from rankbench.libraries import families, mca, ucx
from rankbench.model import CommandLine, Library, Placement
from rankbench.tuning.handover import openmpi_rules

OLD_SHELL, NEW_SHELL = ("--mca", "plm_rsh_agent"), ("--prtemca", "plm_ssh_agent")
IN_HEADER = ("MAJOR", "MINOR", "RELEASE")
"""Parts of the version in its header."""
OBJECTS = {"core": "core", "thread": "hwthread", "none": "none"}
RANKFILE = "rankfile.txt"
UNUSABLE = "unusable transports"
"""Name of the transports that found no device."""
FUNCTION = re.compile(
    r"(?:mca|ompi)_coll_([a-z]+)_(i?(?:neighbor_)?(?:allgatherv?|allreduce|alltoall[vw]?|barrier|bcast|exscan|gatherv?|"
    r"reduce_scatter_block|reduce_scatter|reduce(?!_local)|scan|scatterv?)(?:_init)?)(?:_|$)"
)
"""Pattern of a component's function for a collective."""
KINDS = {"persistent": re.compile(".*_init$"), "nonblocking": re.compile("i"), "neighbourhood": re.compile("neighbor_")}
"""Calls that usually one component implements."""
INVALID = re.compile(
    r"invalid value was supplied for an enum.*\n\n? *Variable *: (\S+)\n *Value *: (.*)\n *Valid values *: (.*)"
)
CLOSE = 0.85
"""How alike two names are of which one is a misspelt other."""
PARAMETER = re.compile(r"^mca:([^:]+):([^:]+):param:([^:]+):", re.MULTILINE)
UNLISTED = ("btl_uct_atomic_flags",)
"""Parameters of listed components that `ompi_info` does not list."""
INFO_S = 30.0
"""Longest time that `ompi_info` may take."""
TUNED = "tuned"
"""The component whose algorithms can be chosen."""


class Family(families.Family):
    """Open MPI, whose launch options changed with 5.0."""

    name = "openmpi"
    title = "Open MPI"
    packages = ("openmpi",)
    precedence = 50
    colour = "#D55E00"
    compiler_variable = "OMPI_CC"
    pmi = "pmix"
    versions = (
        r"^Open MPI v(\d[^\s,]*)",
        r": Open MPI (\d\S*) \(Language: C\)",
        r"^mpi\S* \((?:Open MPI|OpenRTE)\) (\d\S*)",
    )
    variables = mca.VARIABLES
    files = (
        *("{etc}/*.conf", "{etc}/openmpi/*.conf", "{etc}/*hostfile"),
        *("~/.openmpi/*.conf", "~/.prte/*.conf", "~/.pmix/*.conf"),
        *("{prefix}/lib*/openmpi/*.so", "{prefix}/lib*/pmix/*.so", "{prefix}/lib*/prte/*.so"),
        "{prefix}/lib/*/openmpi/lib/openmpi*/*.so",  # Debian's
        *ucx.FILES,
    )
    network_settings = MappingProxyType(
        {
            "InfiniBand": {"pml": "ucx"},
            "RoCE": {"pml": "ucx"},
            "Omni-Path": {"pml": "cm", "mtl": "ofi", "FI_PROVIDER": "opx"},
            "EFA": {"pml": "cm", "mtl": "ofi", "FI_PROVIDER": "efa"},
            "Slingshot": {"pml": "cm", "mtl": "ofi", "FI_PROVIDER": "cxi"},
        }
    )
    report_settings = MappingProxyType(
        {
            "coll_base_verbose": "20",
            "pml_base_verbose": "10",
            "btl_base_verbose": "10",
            **ucx.SETTINGS,
        }
    )

    def recognise(self, text: str) -> str | None:
        """Its header has the parts of the version in macros of their own."""
        parts = dict(re.findall(r"^#define OMPI_(\w+)_VERSION (\d+)", text, re.MULTILINE))
        in_header = ".".join(parts[name] for name in IN_HEADER) if parts.keys() >= set(IN_HEADER) else None
        return super().recognise(text) or in_header

    def read_usage(self, output: str) -> dict[str, str]:
        """Read which components implement messages, and collectives on MPI_COMM_WORLD."""
        return read_components(output)

    def read_functions(self, functions: Sequence[str]) -> dict[str, str]:
        """Read the components of single calls, which the library itself does not report."""
        components = read_components_of_calls(functions)
        return {"component of each call": describe_components(components)} if components else {}

    def explain_slow_start(self, uses: Mapping[str, str]) -> str:
        """Without a device for the component btl/ofi, Open MPI 5 closes it and then sleeps for a second."""
        if "ofi" not in uses.get(UNUSABLE, "").split(", "):
            return ""
        return (
            "Open MPI 5 waits for 1 s in MPI_Init because its transport ofi finds no device here. A candidate with "
            'settings = { btl = "^ofi" } leaves this transport out; elsewhere: mpirun --mca btl ^ofi.'
        )

    def list_ignored(self, library: Library, settings: Mapping[str, str], output: str) -> list[str]:
        """Check the names of parameters, the file of rules as the library does, and the components.

        The library drops unknown parameters and broken files silently, and values that are none with a message.
        """
        parameters = {name.removeprefix(mca.VARIABLE): value for name, value in settings.items()}
        return [
            *list_unknown(library, parameters),
            *list_invalid_values(output),
            *list_ignored_rules(library, parameters),
            *list_ignored_of_tuned(parameters, output),
            *super().list_ignored(library, settings, output),
        ]

    def make_environment(self, prefix: Path) -> dict[str, str]:
        """Set the prefix if the library is below it (Debian's is not), and allow root to run."""
        moved = {"OPAL_PREFIX": str(prefix)} if (prefix / "lib" / "libmpi.so").exists() else {}
        root = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"} if os.geteuid() == 0 else {}
        return moved | root

    def encode_settings(self, settings: Mapping[str, str]) -> dict[str, str]:
        """Spell MCA parameters as environment variables."""
        return mca.encode_settings(settings)

    def make_mpiexec_line(
        self, library: Library, placement: Placement, settings: Mapping[str, str], program: list[str]
    ) -> CommandLine:
        """Bind ranks as requested, or let them share cores; options of 4.x and 5.x differ."""
        old = library.version.startswith(("3.", "4."))
        binding = make_binding_4(placement) if old else make_binding_5(placement)
        environment = self.encode_settings(settings)
        nodes = make_node_options(
            placement, OLD_SHELL if old else NEW_SHELL, {**collect_exports(library), **environment}
        )
        launcher, count = families.require_launcher(library, placement), ["-n", str(placement.ranks)]
        return CommandLine(
            arguments=[launcher, *nodes, *count, *binding, *program],
            environment={**library.environment, **environment},
            files={RANKFILE: render_rankfile(placement)} if RANKFILE in binding else {},
        )


def read_components(output: str) -> dict[str, str]:
    """Return components from verbose output; of those for collectives, the first ones implement what they can."""
    messages = re.search(r"checking my pml (\w+) against", output)
    transports = re.findall(r"bml: Using (\w+) btl for send", output)
    world = re.search(r"\[(\S+)\] coll:base:comm_select: new communicator: MPI_COMM_WORLD", output)
    lines = re.findall(rf"\[{re.escape(world[1])}\] coll:base:comm_select: (.*)", output) if world else []
    components: list[str] = []
    for line in lines[next((at for at, text in enumerate(lines) if "MPI_COMM_WORLD" in text), 0) + 1 :]:
        if line.startswith("new communicator"):
            break
        if match := re.match(r"selecting +(\w+), priority +\d+, Enabled", line):
            components.insert(0, match[1])
    usage = {
        "messages": messages[1] if messages else "",
        "transports": ", ".join(dict.fromkeys(name for name in transports if name != "self"))
        or ucx.read_transports(output),
        "collectives": ", ".join(components),
        UNUSABLE: ", ".join(dict.fromkeys(re.findall(r"select: init of component (\w+) returned failure", output))),
    }
    return {name: text for name, text in usage.items() if text}


def read_components_of_calls(functions: Iterable[str]) -> dict[str, str]:
    """Return the component of each collective by the names of functions in the communicator's table, in its order.

    What follows the table in memory may be part of another, so that a collective that comes again is its end.
    """
    components: dict[str, str] = {}
    for match in filter(None, map(FUNCTION.match, functions)):
        if match[2] in components:
            break
        components[match[2]] = match[1]
    return components


def describe_components(components: Mapping[str, str]) -> str:
    """Return components with their calls; all calls of a kind with the same component are one word."""
    calls: dict[str, list[str]] = {}
    kinds = {name: find_kind(name) for name in components}
    servers = {kind: {components[name] for name in kinds if kinds[name] == kind} for kind in KINDS}
    for name, component in components.items():
        kind = kinds[name]
        word = kind if len(servers.get(kind, ())) == 1 else name
        if word not in calls.setdefault(component, []):
            calls[component].append(word)
    return "; ".join(f"{component}: {', '.join(words)}" for component, words in calls.items())


def find_kind(name: str) -> str:
    """Return the kind of a call; empty: a blocking collective."""
    return next((kind for kind, pattern in KINDS.items() if pattern.match(name)), "")


def list_unknown(library: Library, settings: Mapping[str, str]) -> list[str]:
    """Return a clause on each parameter that the library does not list, and on each variable of another library.

    Of frameworks without components, such as those of the launcher, nothing is known: there a name is only unknown if
    it is nearly one that is known. Names of some go on with that of a device.
    """
    names = [name for name in settings if name not in UNLISTED]
    listed = read_parameters(library) if names else {}
    if not listed:
        return []
    devices = tuple(f"{name}_" for name in listed if "_" in name)
    frameworks = tuple({f"{framework}_" for framework in listed.values() if framework})
    unknown = [
        name
        for name in names
        if name[:1].islower()
        and name not in listed
        and not name.startswith(devices)
        and (name.startswith(frameworks) or difflib.get_close_matches(name, listed, n=1, cutoff=CLOSE))
    ]
    others = [name for name in names if name[:1].isupper() and not name.startswith(Family.variables)]
    return [
        *(families.describe_unknown(name, listed) for name in unknown),
        *families.list_unknown(others, set(), mca.VARIABLE),
    ]


def list_invalid_values(output: str) -> list[str]:
    """Return a clause on each value that is not one of a parameter's, which the library then does not use."""
    return [
        f"{name} is ignored: {value} is not one of its values ({valid})"
        for name, value, valid in dict.fromkeys(INVALID.findall(output))
    ]


def read_parameters(library: Library) -> dict[str, str]:
    """Return the MCA parameters that the library's `ompi_info` lists, each with its framework if that has components.

    None: the program is missing or fails.
    """
    program = Path(library.wrapper).parent / "ompi_info"
    command = [*library.wrap, str(program), "--all", "--internal", "--parsable", "--level", "9"]
    try:
        listed = processes.run(command, {**os.environ, **library.environment}, limit_s=INFO_S).stdout
    except (OSError, subprocess.TimeoutExpired):
        return {}
    parameters = PARAMETER.findall(listed)
    with_components = {framework for framework, component, _ in parameters if component != "base"} | {"mpi"}
    with_components -= {"opal", "mca"}  # Parts of the whole, of which only some are listed.
    return {name: framework if framework in with_components else "" for framework, _, name in parameters}


def list_ignored_rules(library: Library, settings: Mapping[str, str]) -> list[str]:
    """Return why the library drops the file of rules that settings name; empty: it reads the file, or there is none."""
    file = settings.get(openmpi_rules.FILE_VARIABLE, "")
    if not file:
        return []
    if openmpi_rules.is_off(settings):
        return [f"{file} is not read without {openmpi_rules.SWITCH}=1"]
    try:
        text = Path(file).read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        return [f"{file} is ignored: {error.strerror or 'it cannot be read'}"]
    fault = openmpi_rules.find_fault(text, library.version)
    return [f"{file} is ignored: {fault}"] if fault else []


def list_ignored_of_tuned(settings: Mapping[str, str], output: str) -> list[str]:
    """Return why parameters of the component `tuned` do not reach calls, by the components in verbose output."""
    components = read_components(output).get("collectives", "").split(", ")
    if components == [""] or not any(name.startswith("coll_tuned_") for name in settings):
        return []
    if TUNED not in components:
        return ["parameters coll_tuned_* are ignored: the component tuned is not in use"]
    if components[0] != TUNED:
        return [f"parameters coll_tuned_* do not reach the calls that the component {components[0]} serves first"]
    return []


def collect_exports(library: Library) -> dict[str, str]:
    """Return the variables that a library's programs need on other nodes. Each node has its own PATH."""
    return {name: value for name, value in library.environment.items() if name.startswith(("LD_", "UCX_", "PMIX_"))}


def make_binding_4(placement: Placement) -> list[str]:
    """Return the options of 4.x. A list of CPUs would lose its order there; a file of ranks keeps it."""
    kind = OBJECTS[placement.binding]
    if placement.binding == "none":
        return ["--bind-to", kind, "--oversubscribe"]
    if placement.ordinals:
        return [*(["--use-hwthread-cpus"] if placement.binding == "thread" else []), "--rankfile", RANKFILE]
    return ["--bind-to", kind, "--map-by", kind]


def make_binding_5(placement: Placement) -> list[str]:
    """Return the options of 5.x. With hardware threads, a core has room for several ranks, which needs an option."""
    kind = OBJECTS[placement.binding]
    if placement.binding == "none":
        return ["--bind-to", kind, "--map-by", ":OVERSUBSCRIBE"]
    listed = f"pe-list={','.join(map(str, placement.ordinals))}:ordered"
    threads = ":hwtcpus:oversubscribe" if placement.binding == "thread" else ""
    return ["--bind-to", kind, "--map-by", listed + threads if placement.ordinals else kind]


def render_rankfile(placement: Placement) -> str:
    """Return the file that gives each rank its node and its core or thread there."""
    binding = [(host, place) for host in placement.hosts or ["localhost"] for place in placement.ordinals]
    return "".join(f"rank {rank}={host} slot={place}\n" for rank, (host, place) in enumerate(binding))


def make_node_options(placement: Placement, remote_shell: Sequence[str], environment: Iterable[str]) -> list[str]:
    """Return the options with the nodes and with variables; only MCA parameters reach other nodes without options."""
    if not placement.hosts:
        return []
    shell = [*remote_shell, placement.remote_shell] if placement.remote_shell else []
    handed_on = [word for name in environment if not name.startswith("OMPI_MCA_") for word in ("-x", name)]
    return [*shell, "-H", ",".join(f"{host}:{placement.ranks_per_node}" for host in placement.hosts), *handed_on]
