"""srun, Slurm's launcher, within a job: one launch line for all families, which differ in the PMI."""

from __future__ import annotations

from collections.abc import Mapping

from rankbench.model import CommandLine, Library, Placement, RankbenchError

BINDINGS = {"core": "cores", "thread": "threads", "none": "none"}


def make_launch_line(
    library: Library, placement: Placement, pmi: str, environment: Mapping[str, str], program: list[str]
) -> CommandLine:
    """Return a command line of srun; ranks fill node after node. Raises RankbenchError outside of a job."""
    require_hosts(placement)
    if not placement.hosts:
        raise RankbenchError(
            f"{library.name} on {placement.name}: srun launches within a job only; name hosts, or rankbench submit"
        )
    hosts = ["--nodelist", ",".join(placement.hosts), "--nodes", str(placement.nodes)]
    count = ["--ntasks", str(placement.ranks), "--ntasks-per-node", str(placement.ranks_per_node)]
    # Without --overlap, a step waits for the resources of the batch script where memory is allocated with CPUs.
    binding = ["--distribution=block", f"--cpu-bind={make_binding(placement)}", "--overlap"]
    shared = ["--overcommit"] if placement.binding == "none" else []
    return CommandLine(
        arguments=["srun", f"--mpi={pmi}", *hosts, *count, *binding, *shared, "--kill-on-bad-exit=1", *program],
        environment=dict(environment),
    )


def make_binding(placement: Placement) -> str:
    """Return the binding of a node's ranks: masks of CPUs, or a kind of object."""
    if placement.binding == "none" or not placement.cpus:
        return BINDINGS[placement.binding]
    return "mask_cpu:" + ",".join(hex(sum(1 << cpu for cpu in cpus)) for cpus in placement.cpus)


def require_hosts(placement: Placement) -> None:
    """Raise RankbenchError unless there is a host for each node of the placement."""
    if placement.nodes != max(1, len(placement.hosts)):
        raise RankbenchError(
            f"placement {placement.name}: {placement.nodes} nodes asked for; "
            f"found {len(placement.hosts)} hosts, expected as many"
        )
