"""What state the machine was in: launches in unlike states, CPU time taken by a hypervisor, states not known."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from rankbench.model import Finding
from rankbench.quantities import format_time
from rankbench.statistics import FEWEST_BLOCKS, states
from rankbench.verdict.evidence import Evidence, counted, listed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rankbench.model import Comparison, Launch
    from rankbench.statistics.states import Met

TITLE = "State of the machine"
STOLEN = 0.02
"""Share of the CPU time of a launch's ranks above which what the hypervisor took is told."""


def find(evidence: Evidence) -> Iterator[Finding]:
    """Yield at most one finding of each kind."""
    met = states.met(evidence.launches)
    yield from _unlike(evidence, met)
    yield from _stolen(evidence)
    yield from _unknown(met)


def _unlike(evidence: Evidence, met: Sequence[Met]) -> Iterator[Finding]:
    groups = states.groups(met)
    changing = sum(one.changing for one in met)
    if len(groups) < 2 and not changing:
        return
    lost = [one for one in [*evidence.comparisons, *evidence.control] if _lost(one)]
    yield Finding(
        kind="state",
        title="The machine was not in one state",
        text=" ".join([_levels(groups, changing), *_left_out(evidence, len(lost))]),
        advice=(
            "Run more blocks, at a quieter hour or on a machine of your own: other guests of the same hardware "
            "change how near two virtual CPUs are."
        ),
        cases=list(dict.fromkeys(one.case for one in lost)),
        severity="warning" if lost else "note",
    )


def _lost(comparison: Comparison) -> bool:
    """Return whether a comparison cannot be judged only because too few launches met like states."""
    return comparison.blocks < FEWEST_BLOCKS <= comparison.blocks + comparison.left_out


def _levels(groups: Sequence[Sequence[Met]], changing: int) -> str:
    levels = [f"{format_time(one[len(one) // 2].exchange_ns)} in {counted(len(one), 'launch')}" for one in groups]
    told = [f"took {listed(levels)}"] if levels else []
    told += [f"changed during {counted(changing, 'launch')}"] if changing else []
    return f"Without MPI, handing a cache line from one CPU to another {' and '.join(told)}."


def _left_out(evidence: Evidence, lost: int) -> Iterator[str]:
    """Say what the comparisons lose by it."""
    comparisons = [*evidence.comparisons, *evidence.control]
    left_out = sum(one.left_out for one in comparisons)
    if left_out:
        share = left_out / sum(one.blocks + one.left_out for one in comparisons)
        yield f"Only launches in like state are compared, which leaves out {share:.0%} of the pairs."
    if lost:
        which = f"{lost} of {counted(len(comparisons), 'comparison')} {'has' if lost == 1 else 'have'}"
        yield f"{which} fewer than {FEWEST_BLOCKS} pairs left and cannot be judged."


def _stolen(evidence: Evidence) -> Iterator[Finding]:
    shares = {launch.number: _share(launch) for launch in evidence.launches}
    robbed = [launch for launch in evidence.launches if shares[launch.number] > STOLEN]
    if not robbed:
        return
    worst = max(robbed, key=lambda launch: shares[launch.number])
    yield Finding(
        kind="state",
        title="The hypervisor took CPU time",
        text=(
            f"In {len(robbed)} of {counted(len(shares), 'launch')} the hypervisor took more than {STOLEN:.0%} "
            f"of the ranks' CPU time, at most {shares[worst.number]:.1%} (launch {worst.number}, {worst.candidate})."
        ),
        advice="Other guests compete for the same CPUs: choose a quieter hour or a machine of your own.",
        cases=[],
        severity="warning",
    )


def _share(launch: Launch) -> float:
    """Return the CPU time stolen over that of the CPUs that ranks ran on."""
    cpus = len({(rank.host, rank.cpu) for rank in launch.ranks})
    return launch.stolen_s / (launch.duration_s * cpus) if launch.duration_s * cpus else 0.0


def _unknown(met: Sequence[Met]) -> Iterator[Finding]:
    unknown = [one.launch for one in met if not one.known and not _alone(one.launch)]
    if not unknown:
        return
    ((reason, _),) = Counter(map(_reason, unknown)).most_common(1)
    yield Finding(
        kind="state",
        title="The state of the machine is not known throughout",
        text=(
            f"Of {len(unknown)} of {counted(len(met), 'launch')} it is not known in what state the machine was: "
            f"{reason}. They are compared as if it had been alike."
        ),
        advice="Run the core with --state by hand, and see what it says.",
        cases=[],
        severity="note",
    )


def _alone(launch: Launch) -> bool:
    """Return whether there was one CPU only, which has no other to exchange anything with."""
    return any(state and len(state.cpus) == 1 for state in (launch.before, launch.after))


def _reason(launch: Launch) -> str:
    measured = launch.before or launch.after
    return launch.state_reason or ("no two CPUs were free at once" if measured else "it was not measured")
