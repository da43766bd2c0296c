"""The job that a plan requests: its table `[job]`, and its nodes, whose names are unknown until the job begins."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import get_args

import msgspec

from rankbench.model import SITE_MEMORY, UNKNOWN_MACHINE, Cpu, Job, Launcher, Machine, Placement
from rankbench.plan import keys, launchers, notation
from rankbench.plan.document import Value
from rankbench.plan.placing import Resources

NODE = re.compile(r"__NODE_(\d+)__")
"""Placeholder for the name of a node of the job, numbered from 1."""
MOST_NODES = 4096
"""Number of nodes assumed for placements if the plan does not say it."""
LINES_HELP = 'lines such as ["module load gcc"]'
MEMORY_HELP = 'the memory of a node such as "64G", "0" for all of it, or "site" for the site\'s default'
LAUNCHER_HELP = f"mpiexec, srun, or {launchers.LAUNCHER_HELP}"
OPTIONS_HELP = 'options of the scheduler such as ["--reservation=bench"]'


def make_text_reader(what: str, *, lines: bool = False) -> Callable[[Value], list[str]]:
    """Return the reader of a list of texts, of one or of several lines each."""
    return lambda value: [item.read_text(what, lines=lines) for item in value.read_items(what)]


READERS: dict[str, Callable[[Value], object]] = {
    "scheduler": lambda value: value.read_text('a scheduler such as "slurm"'),
    "nodes": lambda value: value.read_integer(1, MOST_NODES),
    "tasks_per_node": lambda value: value.read_integer(1),
    "tasks_per_socket": lambda value: value.read_integer(1),
    "sockets": lambda value: value.read_integer(1),
    "cores_per_socket": lambda value: value.read_integer(1),
    "threads_per_core": lambda value: value.read_integer(1),
    "time": lambda value: value.parse_with(notation.parse_job_seconds, notation.JOB_TIME_HELP),
    "partition": lambda value: value.read_text("the name of a partition or queue"),
    "account": lambda value: value.read_text("the name of an account"),
    "nodelist": lambda value: value.read_text("names of nodes such as n[1-4]"),
    "exclusive": lambda value: value.read_switch(),
    "contiguous": lambda value: value.read_switch(),
    "memory": lambda value: parse_memory(value),
    "launcher": lambda value: parse_launcher(value)[0],
    "options": make_text_reader(OPTIONS_HELP),
    "setup": make_text_reader(LINES_HELP, lines=True),
}
FIELDS = {"time": "time_s"}
SHAPE = ("sockets", "cores_per_socket", "threads_per_core")
"""Keys for the shape of the job's nodes; the last has a default."""


def parse_memory(value: Value) -> str:
    """Return the memory of a node in the notation of the plan."""
    text = value.read_text(MEMORY_HELP)
    if text != SITE_MEMORY and not re.fullmatch(r"0|[1-9]\d*[KMGT]", text):
        raise value.reject(MEMORY_HELP)
    return text


def parse_launcher(value: Value) -> tuple[Launcher, list[str]]:
    """Return the kind of a launcher and, of a command line, its words with their placeholders."""
    if value.raw in get_args(Launcher):
        return value.raw, []
    return "mpiexec", launchers.parse_launcher(value, LAUNCHER_HELP)


def parse_job(table: Value, overrides: dict[str, Value]) -> Job:
    """Return the requested job; options of the command line override the plan's table."""
    fields = table.read_table(keys.JOB) | overrides
    shape = [key for key in SHAPE if key in fields]
    if lacking := [key for key in SHAPE[:2] if shape and key not in fields]:
        raise fields[shape[0]].make_error(f"needs {lacking[0]}, too; both make the shape of a node")
    return msgspec.convert({FIELDS.get(key, key): READERS[key](value) for key, value in fields.items()}, Job)


def set_hosts(hosts: Sequence[str], job: Job) -> Job:
    """Return the job on the plan's hosts, unless it names other nodes."""
    if not hosts or job.nodelist:
        return job
    return msgspec.structs.replace(job, nodelist=",".join(hosts), nodes=job.nodes or len(hosts))


def make_job_resources(room: Resources, job: Job, placements: Value) -> Resources:
    """Return the resources of a job that has not begun, with placeholders for the names of nodes."""
    if "nodes" in (placements.raw if isinstance(placements.raw, list) else [placements.raw]) and not job.nodes:
        raise placements.make_error(
            '"nodes" is a rank on each node of the job; say how many: nodes = 4 in [job], or --nodes'
        )
    hosts = [f"__NODE_{number}__" for number in range(1, (job.nodes or MOST_NODES) + 1)]
    room = room._replace(hosts=hosts, launcher=job.launcher, scheduled=True)
    return room._replace(machine=make_machine(job), stated=True) if job.sockets else room


def make_machine(job: Job) -> Machine:
    """Return a node of the shape that the plan states, with the CPU numbers of most systems.

    Cores are numbered socket by socket; second threads of cores follow after all first ones. Caches are
    unknown, and NUMA domains are as if no two cores shared one, so that the nearest pair is one of a socket.
    """
    cores = [(socket, core) for socket in range(job.sockets) for core in range(job.cores_per_socket)]
    cpus = [
        Cpu(
            number=place + thread * len(cores),
            core=place,
            socket=socket,
            numa=place,
            ordinal=place * job.threads_per_core + thread,
            core_ordinal=place,
        )
        for thread in range(job.threads_per_core)
        for place, (socket, _) in enumerate(cores)
    ]
    return msgspec.structs.replace(UNKNOWN_MACHINE, sockets=job.sockets, cores=len(cores), cpus=cpus)


def fit_job(job: Job, placements: Sequence[Placement]) -> Job:
    """Return the job with the nodes and tasks that the placements need, unless it says them."""
    nodes = job.nodes or max(placement.nodes for placement in placements)
    tasks = job.tasks_per_node or max(placement.ranks_per_node for placement in placements)
    return msgspec.structs.replace(job, nodes=nodes, tasks_per_node=tasks)
