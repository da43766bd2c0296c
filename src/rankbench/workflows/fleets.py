"""Sweeps over a fleet: the nodes found, the core built and checked on them, rounds measured, the sweep recorded."""

from __future__ import annotations

import datetime
import tempfile
import time
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

import msgspec
import numpy as np

from rankbench import files, launch, plan
from rankbench.campaign import selftest
from rankbench.fleet import round_launches, sweep
from rankbench.fleet.outliers import Measured
from rankbench.fleet.sweep import Limits
from rankbench.fleet.sweep_records import FORMAT, Sweep
from rankbench.launch import allocation
from rankbench.model import Library, Placement, RankbenchError
from rankbench.samples.rounds import Round
from rankbench.workflows.locations import home

EVERY_ROUND = -1
"""A number of rounds in which each node meets every other one."""


class FleetRequest(NamedTuple):
    """What is measured, and where."""

    library: Library
    hosts: Sequence[str] = ()
    """Empty: the nodes of the job in which this runs, or this machine."""
    remote_shell: str = ""
    binding: str = ""
    one_machine: bool = False
    ranks_per_node: int = 0
    """0: one for each core of this machine; one where nodes are emulated."""
    rounds: int = 0
    """Rounds of pairs; 0: log2 of the number of nodes; EVERY_ROUND: all."""
    limits: Limits = Limits()
    seed: int = 0


def sweep_fleet(request: FleetRequest, announce: Callable[[str], None] = lambda _: None) -> Sweep:
    """Measure a fleet; return the sweep. `announce` gets a line before each step.

    Raises RankbenchError if the nodes cannot be reached, or a launch does not end as it should.
    """
    began, clock = datetime.datetime.now().astimezone(), time.monotonic()
    job = allocation.JobNodes([]) if request.hosts else allocation.use_job(files.make_folder(home()))
    hosts = request.hosts or job.hosts
    with tempfile.TemporaryDirectory(prefix=".fleet-", dir=Path.cwd() if hosts else None) as name:
        folder = Path(name).absolute()
        placement = place_ranks(request, hosts, job.remote_shell or request.remote_shell)
        announce(f"{request.library.name}: building and checking on {placement.nodes} nodes …")
        bench = selftest.prepare_placement(request.library, placement, home(), folder)
        fleet = round_launches.describe_fleet(bench)
        seed = request.seed or int(np.random.default_rng().integers(1, 2**31))

        def measure(planned: Sequence[Round]) -> list[Measured]:
            announce(f"{request.library.name}: {len(planned)} rounds on {fleet.nodes} nodes …")
            return round_launches.measure(bench, planned)

        rounds = fleet.nodes if request.rounds == EVERY_ROUND else request.rounds
        outcome = sweep.sweep(fleet, measure, np.random.default_rng(seed), request.limits, rounds)
    return Sweep(
        format=FORMAT,
        version=version("rankbench"),
        began=began.isoformat(timespec="seconds"),
        seconds=round(time.monotonic() - clock, 1),
        library=request.library.name,
        library_version=bench.facts.library_version.partition("\n")[0],
        ranks_per_node=placement.ranks_per_node,
        seed=seed,
        rounds=outcome.rounds,
        launches=outcome.launches,
        threshold=request.limits.threshold,
        alarm=request.limits.alarm,
        suspects=len(outcome.doubts.suspects),
        left_out=outcome.doubts.left_out,
        nodes=outcome.nodes,
        links=outcome.links,
        findings=outcome.findings,
    )


def place_ranks(request: FleetRequest, hosts: Sequence[str], shell: str) -> Placement:
    """Return where ranks run: as many on each node."""
    machine = launch.machine()
    each = request.ranks_per_node or (1 if request.one_machine else machine.cores)
    overrides = {
        "hosts": list(hosts),
        "remote_shell": shell,
        # Emulated nodes have the same cores: bound ranks would share some of them, and not all alike.
        "binding": request.binding or ("none" if request.one_machine else ""),
        "one_machine": request.one_machine,
    }
    values = {
        "candidates": [request.library.family],
        "operations": ["barrier"],
        "placements": [f"{max(1, len(hosts))}x{each}"],
    }
    planned = plan.make_plan(values, "fleet", machine, {key: value for key, value in overrides.items() if value})
    launch.refuse_left_over_job(planned.placements)
    return planned.placements[0]


def read_sweep(path: Path) -> Sweep:
    """Read the file of a sweep. Raises RankbenchError if it is none."""
    try:
        decoded = msgspec.json.decode(path.read_bytes(), type=Sweep)
    except OSError as error:
        raise RankbenchError(f"{path}: {error.strerror}") from None
    except msgspec.DecodeError as error:
        raise RankbenchError(f"{path}: no sweep of rankbench fleet --format json: {error}") from None
    if decoded.format != FORMAT:
        raise RankbenchError(f"{path}: a sweep in format {decoded.format}; this version reads format {FORMAT}")
    return decoded
