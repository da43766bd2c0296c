"""Which launches had the machine in the same state. Pure, and independent of what the launches measured.

A state is the exchange times between the CPUs of the campaign's ranks, measured without MPI just before and just after
the launch. `docs/evidence/state-probes.md` has the threshold's reason.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from rankbench.model import Launch, State, list_rank_sets

ALIKE = 1.15
"""States whose exchange times differ by less are equal. On the test machine 99 of 100 successive probes differed by
less than 1.05, and its two states by more than 1.3."""

Exchanges = dict[tuple[int, int], float]
"""Exchange times in nanoseconds by pair of CPUs."""


class LaunchState(NamedTuple):
    """The state of the machine around a launch."""

    launch: Launch
    before: Exchanges
    after: Exchanges

    @property
    def level(self) -> Exchanges:
        """Return the exchange times of the launch as a whole: of both probes, or of the only one there is."""
        both = {
            pair: math.sqrt(self.before[pair] * self.after[pair]) for pair in self.before.keys() & self.after.keys()
        }
        return both or self.before or self.after

    @property
    def known(self) -> bool:
        """Return whether there is any exchange time."""
        return bool(self.level)

    @property
    def changing(self) -> bool:
        """Return whether the machine is known to have changed while the launch ran."""
        return measure_distance(self.before, self.after) > math.log(ALIKE)

    @property
    def exchange_ns(self) -> float:
        """Return the geometric mean over the pairs of CPUs; not a number where nothing is known."""
        return average_times(self.level)


def find_states(launches: Iterable[Launch]) -> list[LaunchState]:
    """Return the state at each launch, between the CPUs on which ranks of the campaign ran.

    If no pair of these was measured, as on machines with many CPUs, all pairs are used.
    """
    with_command = [launch for launch in launches if launch.command]
    used = {rank.cpu for ranks in list_rank_sets(with_command) for rank in ranks}
    probed = [(launch, index_exchanges(launch.before), index_exchanges(launch.after)) for launch in with_command]
    inside = {pair for _, before, after in probed for pair in before | after if set(pair) <= used}
    return [
        LaunchState(launch, select_pairs(before, inside), select_pairs(after, inside))
        for launch, before, after in probed
    ]


def index_exchanges(state: State | None) -> Exchanges:
    """Return the exchange times of a state."""
    return {exchange.cpus: exchange.median_ns for exchange in state.exchange if exchange.median_ns > 0} if state else {}


def select_pairs(times: Exchanges, pairs: set[tuple[int, int]]) -> Exchanges:
    """Return the exchange times of some pairs; of all if none is wanted."""
    return {pair: time_ns for pair, time_ns in times.items() if pair in pairs or not pairs}


def measure_distance(first: Exchanges, second: Exchanges) -> float:
    """Return how far apart two states are: the logarithm of the mean ratio over common pairs; 0 if there are none."""
    common = sorted(first.keys() & second.keys())
    return abs(sum(math.log(first[pair]) - math.log(second[pair]) for pair in common)) / max(len(common), 1)


def average_times(times: Exchanges) -> float:
    """Return the geometric mean; NaN without times."""
    return math.exp(sum(map(math.log, times.values())) / len(times)) if times else math.nan


def group_states(states: Sequence[LaunchState]) -> list[list[LaunchState]]:
    """Divide the launches in steady state where their exchange times leave a gap, fastest state first."""
    steady = sorted(
        (state for state in states if state.known and not state.changing), key=lambda state: state.exchange_ns
    )
    divided: list[list[LaunchState]] = []
    for state in steady:
        if not divided or state.exchange_ns > ALIKE * divided[-1][-1].exchange_ns:
            divided.append([])
        divided[-1].append(state)
    return divided
