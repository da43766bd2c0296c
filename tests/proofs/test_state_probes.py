"""Probes of the machine's state, made without MPI, scatter less than the states that they distinguish."""

from __future__ import annotations

import math

from mpi.test_state import CPUS, pairs_of, probe, run_probe

from proofs.judging import check_median, check_repeatedly
from rankbench.statistics import states

__all__ = ["probe"]


def test_two_cpus_exchange_a_line_in_more_than_no_time(probe: list[str]) -> None:
    def attempt() -> None:
        state = run_probe(probe, "--cpus", ",".join(map(str, CPUS[:4])))
        assert len(state.exchange) == pairs_of(CPUS[:4])
        assert all(0 < pair.min_ns <= pair.median_ns < 100 * pair.min_ns for pair in state.exchange), state.exchange

    check_repeatedly(attempt)


def test_all_cpus_copy_at_least_as_much_as_half_of_one(probe: list[str]) -> None:
    """More CPUs move more bytes; the half is for a machine whose other CPUs are at other work."""

    def attempt() -> None:
        state, every = run_probe(probe, "--cpus", str(CPUS[0])), run_probe(probe)
        rates = (state.copy_bytes_per_s, every.copy_bytes_per_s)
        assert rates[0], rates
        assert rates[1] and rates[1] > rates[0] / 2, rates

    check_repeatedly(attempt)


def test_probes_made_one_after_the_other_agree(probe: list[str]) -> None:
    """Half of them within the square root of what counts as another state: a probe scatters less than states differ."""

    def apart() -> float:
        return states.measure_distance(
            states.index_exchanges(run_probe(probe)), states.index_exchanges(run_probe(probe))
        )

    check_median(apart, 0, math.log(states.ALIKE) / 2)
