"""Where ranks run: the placements of a plan, by name, and which of them do not fit on a machine.

`socket`            a rank on each core of one socket; `socket:2` so many ranks
`node`              a rank on each core of a node, core after core; `node:2` so many ranks
`sockets`           a rank on each socket; `sockets:4` so many ranks, dealt out over the sockets one by one
`nodes`             a rank on each of the plan's hosts
`2x4`               so many nodes with so many ranks each, which fill core after core
`core-pairs`        a placement of two ranks for each kind of pair of CPUs that the machine has, nearest first
`same-core` ...     one of these kinds: `same-l2`, `same-l3`, `same-numa`, `same-socket`, `two-sockets`
`{ name = "far", cpus = [0, 12] }`   rank 0 on CPU 0, rank 1 on CPU 12; `cores` counts cores, from 0, as `lstopo` does
`{ nodes = [1, 2, 4], ranks_per_node = [1, 2] }`   all of 1x1, 1x2, 2x1, 2x2, 4x1 and 4x2; numbers or lists of them

Placements of one node are on the first of the plan's hosts, or, where it names none, on the machine that rankbench runs
on; other nodes are taken to be made like it.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import combinations, groupby, product
from typing import NamedTuple, TypeVar

import msgspec

from rankbench.language import join_words
from rankbench.model import Cpu, Launcher, Machine, Placement
from rankbench.plan.document import Value
from rankbench.units import find_nearest, suggestion

HELP = 'placements such as ["socket"] or ["1x2"]'
ONE_HELP = (
    'a placement such as "socket" or "1x2", or a table with name and cpus or cores, or with nodes and ranks_per_node'
)
MATRIX = ("nodes", "ranks_per_node")
NUMBERS_HELP = "a whole number from 1, or a list of them such as [1, 2, 4], each once"
HOSTS_HELP = 'names of hosts such as ["n1", "n2"], each once'
HOST = re.compile(r"\w[\w.@-]*")
NAME = re.compile(r"\w[\w-]*")
BINDINGS = ("core", "none")
NO_HOSTS: tuple[str, ...] = ()
FARTHEST = "two-sockets"
PAIRS = ("same-core", "same-l2", "same-l3", "same-l4", "same-numa", "same-socket", FARTHEST)

SHAPE_EXAMPLE = "sockets = 2, cores_per_socket = 24"
STATE_SHAPE = (
    f"state them in [job] (`rankbench submit --probe` prints them): {SHAPE_EXAMPLE}; or write nodes x ranks such as "
    "1x64"
)
TAKEN_NAMES = {
    "node": "a placement",
    "nodes": "a placement",
    "socket": "a placement",
    "sockets": "a placement",
    "core-pairs": "a placement",
    **dict.fromkeys(PAIRS, "a kind of core pair"),
}
"""What each name of a placement means, which no table can have."""

T = TypeVar("T")
Core = list["Cpu"]
"""The CPUs that are hardware threads of one core."""


class Resources(NamedTuple):
    """The resources that placements can use."""

    machine: Machine
    hosts: Sequence[str] = NO_HOSTS
    remote_shell: str = ""
    launcher: Launcher = "mpiexec"
    bound: bool = True
    most_per_core: int = 0
    """Most ranks per core of a node; 0: any number."""
    one_machine: bool = False
    """Whether the hosts are emulated on the machine."""
    scheduled: bool = False
    """Whether nodes are those of a job, whose cores are not yet known."""
    stated: bool = False
    """Whether the plan states the shape of these nodes; `machine` then has it."""

    @property
    def cores(self) -> list[Core]:
        """Return the machine's cores in hwloc's order."""
        ordered = sorted(self.machine.cpus, key=lambda cpu: (cpu.core_ordinal, cpu.ordinal))
        return [list(threads) for _, threads in groupby(ordered, lambda cpu: cpu.core)]

    @property
    def sockets(self) -> list[list[Core]]:
        """Return the cores by socket."""
        sockets: defaultdict[int, list[Core]] = defaultdict(list)
        for core in self.cores:
            sockets[core[0].socket].append(core)
        return list(sockets.values())


class NoRoomError(Exception):
    """A placement does not fit on the machine; the message says why."""


def parse_placements(value: Value, room: Resources) -> tuple[list[Placement], list[str]]:
    """Return the placements of a plan, each once, and notes on those that do not fit."""
    placements: dict[str, Placement] = {}
    left_out: list[str] = []
    for item in value.read_items(HELP):
        fitting, reasons = expand_matrix(item, room) if is_matrix(item) else try_entry(item, room)
        left_out += reasons
        for placement in fitting:
            if placements.setdefault(placement.name, placement) != placement:
                raise item.make_error(f'placement "{placement.name}" is there already; give one another name')
    if not placements:
        raise value.make_error(f"nothing is left of {' and '.join(left_out)}")
    return list(placements.values()), [f"{line}; left out" for line in left_out]


def try_entry(value: Value, room: Resources) -> tuple[list[Placement], list[str]]:
    """Return the placements of an entry, or why they do not fit."""
    try:
        return list(check_crowding(parse_entry(value, room), room)), []
    except NoRoomError as error:
        return [], [f"{format_name(value)}: {error}"]


def parse_hosts(value: Value) -> list[str]:
    """Return the names of the nodes for launchers."""
    names = [item.read_text("the name of a host") for item in value.read_items(HOSTS_HELP)]
    if len(set(names)) < len(names) or not all(HOST.fullmatch(name) for name in names):
        raise value.reject(HOSTS_HELP)
    return names


def format_name(value: Value) -> str:
    """Return a placement's name."""
    return str(value.raw["name"] if isinstance(value.raw, dict) else value.raw)


def parse_entry(value: Value, room: Resources) -> list[Placement]:
    """Return the placements of one entry of a plan. Raises NoRoomError if they do not fit."""
    if isinstance(value.raw, dict):
        require_known_nodes(value, room)
        return [place_listed(value, room)]
    name = value.read_text(ONE_HELP)
    kind, _, count = name.partition(":")
    if match := re.fullmatch(r"(\d+)x(\d+)", name):
        return [place_nodes_by_ranks(value, int(match[1]), int(match[2]), room)]
    if kind in COUNTED_PLACEMENTS or kind in ("core-pairs", *PAIRS):
        require_known_nodes(value, room)
    if count and (kind not in COUNTED_PLACEMENTS or not re.fullmatch(r"[1-9]\d*", count)):
        if kind != "nodes" and (near := find_nearest(kind, COUNTED_PLACEMENTS)):
            raise value.make_error(f'found "{name}"; did you mean {near}:{count}?')
        raise value.make_error(
            f'found "{name}"; a number of ranks follows {join_words([*COUNTED_PLACEMENTS], "and")} only: "sockets:2"'
        )
    if kind in COUNTED_PLACEMENTS:
        return [COUNTED_PLACEMENTS[kind](name, int(count or 0), room)]
    if kind in ("core-pairs", *PAIRS):
        return place_pairs(kind, room)
    if kind != "nodes":
        allowed = [*COUNTED_PLACEMENTS, "nodes", "core-pairs", *PAIRS]
        raise value.make_error(f'found "{name}"{suggestion(name, allowed)}, or nodes x ranks per node such as "1x2"')
    if len(room.hosts) < 2:
        raise NoRoomError(f"takes two hosts or more, {count_hosts(room)}")
    return [fill_cores(name, len(room.hosts), 1, room)]


def require_known_nodes(value: Value, room: Resources) -> None:
    """Refuse a placement on chosen cores of a job's nodes, unless the plan states which they have.

    The host where a job is submitted often has others.
    """
    if room.scheduled and not room.stated:
        raise value.make_error(f'"{format_name(value)}" needs the cores of the job\'s nodes: {STATE_SHAPE}')


def count_hosts(room: Resources) -> str:
    """Return the number of hosts, and where to name them if there are none."""
    return f"found {len(room.hosts)}" if room.hosts else "none are named (hosts in the plan, or --hosts)"


def check_crowding(placements: Iterable[Placement], room: Resources) -> Iterator[Placement]:
    """Yield placements unless they have more ranks than the plan lets share a core."""
    for placement in placements:
        if too_close(placement.ranks_per_node, room):
            raise NoRoomError(explain_crowding(f"{placement.ranks_per_node}", room))
        yield assign_hosts(placement, room)


def too_close(ranks: int, room: Resources) -> bool:
    """Return whether a node's ranks are more than the plan lets share a core, as far as its cores are known."""
    return (room.stated or not room.scheduled) and 0 < room.most_per_core * room.machine.cores < ranks


def explain_crowding(ranks: str, room: Resources) -> str:
    """Return why this number of ranks does not fit on a node."""
    return f"{ranks} ranks on {room.machine.cores} cores are more than oversubscribe = {room.most_per_core} lets"


# --- by number --------------------------------------------------------------------------------------------------------


def place_nodes_by_ranks(value: Value, nodes: int, ranks: int, room: Resources) -> Placement:
    """Return a placement with a number of ranks on each of a number of nodes."""
    if not nodes or not ranks:
        raise value.make_error(
            f'found "{value.raw}", which has no rank; both numbers of nodes x ranks per node are 1 or more'
        )
    if nodes > max(1, len(room.hosts)):
        raise NoRoomError(f"takes {nodes} hosts, {count_hosts(room)}")
    return fill_cores(value.raw, nodes, ranks, room)


def is_matrix(value: Value) -> bool:
    """Return whether an entry gives the numbers of nodes and of ranks per node."""
    return isinstance(value.raw, dict) and not value.raw.keys().isdisjoint(MATRIX)


def expand_matrix(value: Value, room: Resources) -> tuple[list[Placement], list[str]]:
    """Return the placements of all numbers of nodes and ranks per node that fit, and the numbers that do not."""
    nodes, ranks = read_axes(value)
    most = max(1, len(room.hosts))
    many, close = [node for node in nodes if node > most], [rank for rank in ranks if too_close(rank, room)]
    pairs = product((node for node in nodes if node not in many), (rank for rank in ranks if rank not in close))
    reasons = []
    if many:
        hosts = "as many hosts each" if len(many) > 1 else "as many hosts"
        reasons.append(
            f"nodes = {_format_numbers(many)}: {'take' if len(many) > 1 else 'takes'} {hosts}, {count_hosts(room)}"
        )
    if close:
        reasons.append(
            f"ranks_per_node = {_format_numbers(close)}: {explain_crowding(' or '.join(map(str, close)), room)}"
        )
    return [assign_hosts(fill_cores(f"{node}x{rank}", node, rank, room), room) for node, rank in pairs], reasons


def read_axes(value: Value) -> list[list[int]]:
    """Return the numbers of nodes and the numbers of ranks per node of a table."""
    fields = value.read_table(MATRIX)
    for key in MATRIX:
        if key not in fields:
            raise value.make_child(key, None).make_error(
                "missing; a table of placements has both nodes and ranks_per_node"
            )
    axes = [[value.read_integer(1) for value in fields[key].read_each(NUMBERS_HELP)] for key in MATRIX]
    for key, numbers in zip(MATRIX, axes, strict=True):
        if len(set(numbers)) < len(numbers):
            raise fields[key].reject(NUMBERS_HELP)
    return axes


def _format_numbers(numbers: Sequence[int]) -> str:
    return str(numbers[0]) if len(numbers) == 1 else str(list(numbers))


def fill_cores(name: str, nodes: int, ranks: int, room: Resources) -> Placement:
    """Return ranks that fill core after core. More ranks than cores share them, so they are bound to none.

    On the nodes of a job each launcher finds the cores: those of this machine may be others.
    """
    if room.scheduled:
        return bind_ranks(make_unbound(name, ranks, nodes), []) if room.bound else make_unbound(name, ranks, nodes)
    if not room.bound or room.machine.short_of_cores(ranks * (nodes if room.one_machine else 1)):
        return make_unbound(name, ranks, nodes)
    return bind_ranks(make_unbound(name, ranks, nodes), room.cores[:ranks])


def fill_socket(name: str, ranks: int, room: Resources) -> Placement:
    """Return ranks that fill the socket with the most cores."""
    machine = room.machine
    ranks = ranks or max(1, machine.cores // machine.sockets)
    cores = max(room.sockets, key=len, default=[])
    if room.bound and ranks > (len(cores) or machine.cores):
        raise NoRoomError(f"a socket has {len(cores) or machine.cores} cores")
    if not room.bound and machine.sockets > 1:
        raise NoRoomError(f"ranks that are not bound may be on any of {machine.sockets} sockets")
    return bind_ranks(make_unbound(name, ranks), cores[:ranks]) if room.bound else make_unbound(name, ranks)


def fill_node(name: str, ranks: int, room: Resources) -> Placement:
    """Return ranks that fill a node."""
    cores = room.machine.cores
    ranks = ranks or cores
    if ranks > cores:
        raise NoRoomError(f"a node has {cores} cores")
    return bind_ranks(make_unbound(name, ranks), room.cores[:ranks]) if room.bound else make_unbound(name, ranks)


def alternate_sockets(name: str, ranks: int, room: Resources) -> Placement:
    """Return ranks that alternate between sockets."""
    require_known_cores(room)
    sockets = room.sockets
    if len(sockets) < 2:
        raise NoRoomError("takes two sockets, the machine has one")
    ranks = ranks or len(sockets)
    if ranks < 2:
        raise NoRoomError("takes two ranks or more")
    turns = [(rank % len(sockets), rank // len(sockets)) for rank in range(ranks)]
    if any(place >= len(sockets[socket]) for socket, place in turns):
        raise NoRoomError(f"a socket has {min(map(len, sockets))} cores")
    return bind_ranks(make_unbound(name, ranks), [sockets[socket][place] for socket, place in turns])


def require_known_cores(room: Resources) -> None:
    """Make sure that ranks can be bound to chosen cores."""
    if not room.bound:
        raise NoRoomError("places ranks on cores, which binding none does not")
    if not room.machine.cpus:
        raise NoRoomError("the machine does not report where its cores are")


COUNTED_PLACEMENTS: dict[str, Callable[[str, int, Resources], Placement]] = {
    "socket": fill_socket,
    "node": fill_node,
    "sockets": alternate_sockets,
}


def bind_ranks(free: Placement, cores: Sequence[Core]) -> Placement:
    """Return the placement with a rank on each core; where these are not known, launchers find them."""
    return msgspec.structs.replace(
        free,
        binding="core",
        cpus=[[cpu.number for cpu in core] for core in cores],
        ordinals=[core[0].core_ordinal for core in cores],
    )


def make_unbound(name: str, ranks: int, nodes: int = 1) -> Placement:
    """Return unbound ranks, which may run anywhere on their nodes."""
    return Placement(name=name, nodes=nodes, ranks_per_node=ranks, binding="none")


def assign_hosts(placement: Placement, room: Resources) -> Placement:
    """Return a placement on the first of the plan's hosts, if it names any."""
    hosts = list(room.hosts[: placement.nodes])
    shell = room.remote_shell if hosts else ""
    return msgspec.structs.replace(
        placement,
        hosts=hosts,
        remote_shell=shell,
        launcher=room.launcher,
        one_machine=room.one_machine and placement.nodes > 1,
    )


# --- by what two CPUs share -------------------------------------------------------------------------------------------


def place_pairs(name: str, room: Resources) -> list[Placement]:
    """Return a placement of two ranks for each kind of pair that an entry means."""
    require_known_cores(room)
    placements = find_pair_kinds(room)
    if name == "core-pairs" and not placements:
        raise NoRoomError("takes two CPUs, the machine has one")
    if name != "core-pairs" and name not in placements:
        raise NoRoomError(f"no two CPUs are a pair of this kind ({', '.join(placements) or 'there is one'})")
    return list(placements.values()) if name == "core-pairs" else [placements[name]]


def find_pair_kinds(room: Resources) -> dict[str, Placement]:
    """Return the first pair of each kind, beginning with the kind that the fewest CPUs share."""
    cpus = room.machine.cpus
    widths = Counter((kind, part) for cpu in cpus for kind, part in list_parts(cpu).items())
    placements: dict[str, tuple[int, Placement]] = {}
    for core in room.cores:
        if len(core) > 1 and PAIRS[0] not in placements:
            placements[PAIRS[0]] = 0, place_threads(PAIRS[0], core[:2])
    for pair in combinations(room.cores, 2):
        kind, width = classify_pair(pair[0][0], pair[1][0], widths)
        if kind not in placements:
            placements[kind] = width, bind_ranks(make_unbound(kind, len(pair)), pair)
    return {kind: placement for kind, (_, placement) in sorted(placements.items(), key=lambda item: item[1][0])}


def classify_pair(first: Cpu, second: Cpu, widths: Counter[tuple[str, int]]) -> tuple[str, int]:
    """Return the kind of a pair of cores: the narrowest thing that they share, and how many CPUs share it."""
    own_parts, its = list_parts(first), list_parts(second)
    if own_parts["socket"] != its["socket"]:
        return FARTHEST, widths.total()
    common = [kind for kind in own_parts if own_parts[kind] == its.get(kind)]
    nearest = min(common, key=lambda kind: widths[kind, own_parts[kind]])
    return f"same-{nearest}", widths[nearest, own_parts[nearest]]


def list_parts(cpu: Cpu) -> dict[str, int]:
    """Return the things that a CPU is part of; of two with the same CPUs, the first names a pair."""
    caches = {level.lower(): first for level, first in sorted(cpu.caches.items())}
    return {**caches, "numa": cpu.numa, "socket": cpu.socket}


def place_threads(name: str, cpus: Sequence[Cpu]) -> Placement:
    """Return a rank on each hardware thread."""
    return msgspec.structs.replace(
        make_unbound(name, len(cpus)),
        binding="thread",
        cpus=[[cpu.number] for cpu in cpus],
        ordinals=[cpu.ordinal for cpu in cpus],
    )


# --- by list ----------------------------------------------------------------------------------------------------------


def place_listed(value: Value, room: Resources) -> Placement:
    """Return the placement of a table that lists the CPU, or the core, of each rank."""
    fields = value.read_table(("name", "cpus", "cores"))
    name = fields["name"].read_text() if "name" in fields else ""
    if meaning := TAKEN_NAMES.get(name) or ("nodes x ranks per node" if re.fullmatch(r"\d+x\d+", name) else ""):
        raise value.make_error(f'the name "{name}" is taken: it is {meaning}; choose another')
    if not NAME.fullmatch(name):
        raise value.make_error(f'found the name "{name}", expected one of letters, digits, - and _')
    chosen = [key for key in ("cpus", "cores") if key in fields]
    if len(chosen) != 1:
        raise value.make_error(
            f"found {' and '.join(chosen) or 'neither cpus nor cores'}, expected one of cpus and cores"
        )
    numbers = read_distinct(fields[chosen[0]])
    require_known_cores(room)
    if chosen == ["cores"]:
        by_ordinal = {core[0].core_ordinal: core for core in room.cores}
        return bind_ranks(make_unbound(name, len(numbers)), pick_by_number(by_ordinal, numbers, "core"))
    cpus = pick_by_number({cpu.number: cpu for cpu in room.machine.cpus}, numbers, "CPU")
    alone = {core[0].number: core for core in room.cores if len(core) == 1}
    if all(cpu.number in alone for cpu in cpus):
        return bind_ranks(make_unbound(name, len(cpus)), [alone[cpu.number] for cpu in cpus])
    return place_threads(name, cpus)


def read_distinct(value: Value) -> list[int]:
    """Return the whole numbers of a list without duplicates."""
    numbers = [item.read_integer(0) for item in value.read_items("a list of whole numbers such as [0, 12]")]
    if len(set(numbers)) < len(numbers):
        raise value.reject("a list without duplicates")
    return numbers


def pick_by_number(available: dict[int, T], numbers: Iterable[int], what: str) -> list[T]:
    """Return the items with these numbers."""
    missing = [number for number in numbers if number not in available]
    if missing:
        raise NoRoomError(f"{what} {missing[0]} is not among those that can be used ({format_ranges(available)})")
    return [available[number] for number in numbers]


def format_ranges(numbers: Iterable[int]) -> str:
    """Return numbers as the kernel lists them: `0-3,8`."""
    runs = groupby(enumerate(sorted(numbers)), lambda pair: pair[1] - pair[0])
    ends = ([number for _, number in run] for _, run in runs)
    return ",".join(f"{run[0]}-{run[-1]}" if len(run) > 1 else str(run[0]) for run in ends)
