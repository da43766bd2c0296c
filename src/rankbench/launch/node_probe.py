"""A job that asks each of its nodes for its processors and memory, before a plan names placements on them."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from rankbench.launch.script import FOLDER, FUNCTIONS, Script, directives, render_head
from rankbench.model import RankbenchError
from rankbench.quantities import spell_count

if TYPE_CHECKING:
    from rankbench.launch.schedulers import Scheduler
    from rankbench.model import Job

LIMIT_S = 300.0
"""Most time of the job."""
ANSWERS, ENDED = "nodes", "probed"
"""Subfolder of the job's with the answer of each node; written when all were asked, with their names."""
QUESTION = "LC_ALL=C lscpu && grep MemTotal /proc/meminfo"
BODY = f"""
job=$campaign/{FOLDER}
mkdir -p "$job/{ANSWERS}"
write_remote_shell
on_node() {{
    {{on_node}}
}}
ask() {{ on_node "$1" '{QUESTION}' >"$job/{ANSWERS}/$1" 2>"$job/{ANSWERS}/$1.err" </dev/null; }}
asked=0
for host in "${{node[@]}}"; do
    ask "$host" &
    asked=$((asked + 1))
    [ "$asked" -le 32 ] || wait -n
done
wait
printf '%s\\n' "${{node[@]}}" >"$job/{ENDED}"
"""
FIELDS = {
    "sockets": r"^Socket\(s\):\s+(\d+)",
    "cores_per_socket": r"^Core\(s\) per socket:\s+(\d+)",
    "threads_per_core": r"^Thread\(s\) per core:\s+(\d+)",
    "numa_nodes": r"^NUMA node\(s\):\s+(\d+)",
    "memory_kib": r"^MemTotal:\s+(\d+)",
}
MODEL = r"^Model name:\s+(.+)"
GIB_IN_KIB = 1 << 20


class NodeShape(NamedTuple):
    """The processors and the memory of a node."""

    sockets: int
    cores_per_socket: int
    threads_per_core: int
    numa_nodes: int
    memory_gib: int
    cpu: str


def render_probe(folder: Path, job: Job, remote_shell: str, scheduler: Scheduler) -> str:
    """Return the script of a job that asks its nodes; it writes below a folder that they share."""
    short = msgspec.structs.replace(job, time_s=min(job.time_s or LIMIT_S, LIMIT_S))
    script = Script(
        campaign=folder.absolute(),
        question="Which nodes does a job get?",
        job=short,
        lines=[],
        blocks=[],
        remote_shell=remote_shell,
        silence_s=LIMIT_S,
        threshold=0,
        mpi_variables=[],
    )
    on_node = '"$job/rsh" "$1" "$2"' if scheduler.remote_start else scheduler.on_node
    head = ["#!/bin/bash", *directives(script, scheduler), *render_head(script, scheduler), ""]
    functions = FUNCTIONS.read_text(encoding="utf-8")
    return "\n".join([*head, functions, BODY.replace("{on_node}", on_node).lstrip()])


def read_shapes(folder: Path) -> dict[NodeShape, list[str]]:
    """Return the nodes of a job that has ended, by shape.

    Raises RankbenchError if it did not ask its nodes, or one did not answer.
    """
    job = folder / FOLDER
    if not (job / ENDED).exists():
        raise RankbenchError(f"the job ended before its nodes were asked; see {job}")
    nodes: defaultdict[NodeShape, list[str]] = defaultdict(list)
    for name in (job / ENDED).read_text(encoding="utf-8").split():
        nodes[read_shape(job / ANSWERS / name)].append(name)
    return dict(nodes)


def read_shape(path: Path) -> NodeShape:
    """Return the shape of a node from its answer. Raises RankbenchError if it did not say all."""
    text = path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""
    matches = {name: re.search(pattern, text, re.MULTILINE) for name, pattern in FIELDS.items()}
    values = {name: int(match[1]) for name, match in matches.items() if match}
    if lacking := [name for name in FIELDS if name not in values]:
        wrong = path.with_name(f"{path.name}.err")
        words = wrong.read_text(encoding="utf-8", errors="replace").strip() if wrong.exists() else ""
        raise RankbenchError(f"{path.name} does not say its {lacking[0].replace('_', ' ')}: {words or 'no answer'}")
    model = re.search(MODEL, text, re.MULTILINE)
    memory_gib = round(values.pop("memory_kib") / GIB_IN_KIB)
    return NodeShape(**values, memory_gib=memory_gib, cpu=model[1].strip() if model else "")


def describe_shapes(nodes: Mapping[NodeShape, list[str]]) -> Iterator[str]:
    """Yield a line for each shape of nodes."""
    for shape, names in nodes.items():
        parts = (
            f"{spell_count(shape.sockets, 'socket')} of {spell_count(shape.cores_per_socket, 'core')}",
            f"{spell_count(shape.threads_per_core, 'thread')} per core",
            spell_count(shape.numa_nodes, "NUMA node"),
            f"{shape.memory_gib} GiB",
            shape.cpu,
        )
        yield f"{', '.join(names)}: {', '.join(filter(None, parts))}"
