"""The machine and its state."""

from __future__ import annotations

from rankbench.model.base import Record


class Exchange(Record, frozen=True):
    """Half the time to hand a cache line from one CPU to another and back, over many short batches."""

    cpus: tuple[int, int]
    median_ns: float
    min_ns: float


class State(Record, frozen=True):
    """The state of the machine at one moment, measured without MPI by the core's `--state`."""

    cpus: list[int] = []
    """Those measured."""
    exchange: list[Exchange] = []
    """Every pair of few CPUs; of many a ring and some far pairs; of one none."""
    copy_bytes_per_s: float | None = None
    """Bytes read and written by all CPUs together, each in its own memory."""
    stolen_s: float = 0.0
    """CPU time that the hypervisor took from these CPUs since boot."""
    frequency_hz: list[float | None] = []
    """Of each CPU, as the kernel reports it."""
    load: float = 0.0
    """One-minute load average."""
    running: int = 0
    """Runnable processes and threads, without the probe."""


class NetworkDevice(Record, frozen=True):
    """A network device of a node, as its kernel shows it, and what passed through it in some time."""

    name: str
    """Such as `eth0`, `mlx5_0`, `cxi0`; of a further port `mlx5_0:2`."""
    kind: str
    """Ethernet, InfiniBand, IP over InfiniBand, RoCE, Omni-Path, EFA, Slingshot, loopback or other."""
    state: str
    """`active`, or what the system says instead; empty: it does not say."""
    rate: str
    """As the system writes it; empty: it does not say."""
    driver: str
    """Of the kernel; empty: the device is virtual."""
    sent_bytes: int = -1
    received_bytes: int = -1
    """Whoever sent them; -1: not known."""


class NodeNetwork(Record, frozen=True):
    """The network devices of a node, with what passed through them while a launch ran."""

    host: str
    devices: list[NetworkDevice]
    probe_bytes: int = 0
    """What the first rank of the node sent to another node meanwhile, as a check does, and nothing else of the launch.
    0: the devices were counted from the beginning of the launch to its end."""


class Cpu(Record, frozen=True):
    """One hardware thread and its location, by the system's numbers."""

    number: int
    core: int
    """The first CPU of its core."""
    socket: int
    numa: int
    caches: dict[str, int] = {}
    """By level (`L2`, `L3` ...) the first CPU that shares its cache (data or unified)."""
    ordinal: int = -1
    """Its number, from 0, as hwloc and some launchers count hardware threads; -1: unknown."""
    core_ordinal: int = -1
    """The number of its core, counted in the same way."""


class Machine(Record, frozen=True):
    """The machine a campaign ran on."""

    host: str
    cpu: str
    sockets: int
    cores: int
    memory_bytes: int
    kernel: str
    distribution: str
    virtual: str
    """The hypervisor, by `systemd-detect-virt` or the CPU flag; empty on bare metal."""
    cpus: list[Cpu] = []
    """The CPUs that programs may use, in ascending order."""
    links: str = ""
    """Rate and delay of the links between emulated nodes: `1 Gbit/s, 200 µs`."""

    def short_of_cores(self, ranks: int) -> bool:
        """Return whether there are more ranks, or threads of ranks, than known cores."""
        return 0 < self.cores < ranks


LINKS_VARIABLE = "RANKBENCH_LINKS"
"""Where `lab` says what the links between its nodes are."""
UNKNOWN_MACHINE = Machine(host="", cpu="", sockets=0, cores=0, memory_bytes=0, kernel="", distribution="", virtual="")
"""The machine of imported results, and of a job that has no nodes yet."""
