"""Launches of a sweep: rounds written, measured by the core over all nodes, and read back."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from rankbench.campaign import selftest
from rankbench.campaign.selftest import Bench
from rankbench.fleet.outliers import Measured
from rankbench.fleet.sweep import Fleet
from rankbench.model import RankbenchError
from rankbench.samples import rounds as round_files
from rankbench.samples.rounds import Round, RoundLine

LIMIT_S = 60.0
"""After this time without a round, a launch counts as hung."""


def describe_fleet(bench: Bench) -> Fleet:
    """Return the nodes of a bench as its ranks reported them. Raises RankbenchError if they are not as planned."""
    reported = [rank.host for rank in bench.ranks]
    first = [rank for rank, host in enumerate(reported) if rank == 0 or host != reported[rank - 1]]
    hosts = [reported[rank] for rank in first]
    if len(hosts) != bench.placement.nodes or len(set(hosts)) < len(hosts):
        raise RankbenchError(
            f"{bench.library.name}: {bench.placement.nodes} nodes are asked for; ranks report {', '.join(hosts)}"
        )
    named = bench.placement.hosts or hosts
    cpus = [rank.cpu for rank in bench.ranks]
    return Fleet(named, [*first, len(reported)], cpus, bench.placement.one_machine)


def measure(bench: Bench, planned: Sequence[Round]) -> list[Measured]:
    """Measure rounds in one launch. Raises RankbenchError if it does not end as it should."""
    path = bench.folder / "rounds"
    round_files.write_rounds(path, planned)
    study = selftest.study_launch(bench, ["--rounds", str(path)], LIMIT_S, round_files.read)
    by_round: list[dict[str, np.ndarray[tuple[int], np.dtype[np.float64]]]] = [{} for _ in planned]
    for line in study.rounds:
        check_line(line, bench, planned)
        by_round[line.round][line.quantity] = np.array([math.nan if value is None else value for value in line.values])
    if missing := [number for number, values in enumerate(by_round) if not values]:
        raise RankbenchError(f"{bench.library.name}: round {missing[0]} of {len(planned)} has no values")
    return [Measured(round_, values) for round_, values in zip(planned, by_round, strict=True)]


def check_line(line: RoundLine, bench: Bench, planned: Sequence[Round]) -> None:
    """Raise RankbenchError if a record is of no round, or has not one value for each rank or node."""
    of_ranks = 0 <= line.round < len(planned) and planned[line.round].kind == "nodes"
    expected = bench.placement.ranks if of_ranks else bench.placement.nodes
    if not 0 <= line.round < len(planned) or len(line.values) != expected:
        raise RankbenchError(
            f"{bench.library.name}: round {line.round} has {len(line.values)} values of {line.quantity}; "
            f"{len(planned)} rounds are asked for, with {expected} values each"
        )
