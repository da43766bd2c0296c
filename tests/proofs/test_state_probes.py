"""Probes of the machine's state, made without MPI, scatter less than the differences between states."""

from __future__ import annotations

import math

from mpi.test_state import CPUS, count_pairs, probe, run_probe

from proofs.judging import check_median, check_repeatedly
from rankbench.analysis.statistics import states

__all__ = ["probe"]


def test_the_exchange_between_two_cpus_takes_a_positive_time(probe: list[str]) -> None:
    def exchange_line() -> None:
        state = run_probe(probe, "--cpus", ",".join(map(str, CPUS[:4])))
        assert len(state.exchange) == count_pairs(CPUS[:4])
        assert all(0 < pair.min_ns <= pair.median_ns < 100 * pair.min_ns for pair in state.exchange), state.exchange

    check_repeatedly(exchange_line)


def test_all_cpus_copy_at_least_half_as_much_as_one(probe: list[str]) -> None:
    """More CPUs move more bytes; half is for a machine whose other CPUs are busy."""

    def copy_memory() -> None:
        state, every = run_probe(probe, "--cpus", str(CPUS[0])), run_probe(probe)
        rates = (state.copy_bytes_per_s, every.copy_bytes_per_s)
        assert rates[0], rates
        assert rates[1] and rates[1] > rates[0] / 2, rates

    check_repeatedly(copy_memory)


def test_successive_probes_agree(probe: list[str]) -> None:
    """Half of them within the square root of the ratio that is another state: probes scatter less than states."""

    def measure_distance() -> float:
        return states.measure_distance(
            states.index_exchanges(run_probe(probe)), states.index_exchanges(run_probe(probe))
        )

    check_median(measure_distance, 0, math.log(states.ALIKE) / 2)
