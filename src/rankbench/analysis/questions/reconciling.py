"""Why a foreign tool and the core report different numbers for the same call: the ratio, divided into its parts. Pure.

Both were measured in the same blocks with the same library. The core's samples show how much two differences
contribute: how calls begin, since the core can begin them as the tool does, and that the tool reports a mean, since
the mean of the core's samples is known too. The rest is the tool's: its warm-up, its buffers, its loop, its ranks.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import polars as pl

from rankbench.analysis import statistics
from rankbench.analysis.statistics.contrasts import Contrast, decide_contrasts
from rankbench.foreign.comparing import Comparable, compare_benchmarks, compare_datatypes
from rankbench.model import Campaign, Case, Memory, Operation
from rankbench.store import Store

WHOLE, BEGUN, MEAN, REST = "whole", "begun", "mean", "rest"
PARTS = (WHOLE, BEGUN, MEAN, REST)
"""The tool over the core as it usually measures; the core begun as the tool's calls are over that; the mean over the
median of these samples; and the tool over that mean."""

SHARED = {"send_buffers"}
"""Options of the core that benchmarks of tools have too."""

UNITS = {"bandwidth": "moved_bytes", "rate": "moved_messages"}
"""By what of its samples values are divided where a tool shows bytes or messages per second, so that they are of as
much: a sample of the core's is of a whole window."""


class Pair(NamedTuple):
    """A case of a tool and the same call by the core."""

    theirs: Case
    core: Case
    """As the core usually measures."""
    core_same_start: Case
    """As it measures when calls begin as the tool's do."""


class Moved(NamedTuple):
    """What one sample moves; 0 where it is not known."""

    bytes: int
    messages: int


class Reconciled(NamedTuple):
    """The parts of the ratio of a pair, with one candidate."""

    pair: Pair
    candidate: str
    theirs_ns: float
    """Median over launches, in time per call or per what is moved, counted as the core counts."""
    core_ns: float
    moved: tuple[Moved, Moved]
    """By one sample of the tool, and of the core."""
    parts: dict[str, Contrast]
    """By PARTS; `begun` is there where the two cases of the core are not one."""
    comparable: Comparable
    """The tool against the core as it usually measures."""
    comparable_same_start: Comparable

    @property
    def other_numbers(self) -> bool:
        """Return whether the two calculate with numbers of different datatypes."""
        return self.pair.theirs.datatype != self.pair.core.datatype != "byte"


def find_counterparts(campaign: Campaign) -> Iterator[tuple[Operation, Operation]]:
    """Yield the benchmarks of tools with the core's operation that measures the same."""
    known = {operation.name: operation for operation in campaign.operations}
    for operation in campaign.operations:
        foreign = operation.foreign
        if foreign and foreign.counterpart in known and not foreign.whole_vector:
            yield operation, known[foreign.counterpart]


def describe_buffers(case: Case) -> tuple[str, ...]:
    """Return from which buffers messages leave, if not each from one of its own."""
    return tuple(case.options[name] for name in SHARED & case.options.keys())


def find_pairs(campaign: Campaign) -> list[Pair]:
    """Return the cases of tools that the core measured too, at the same place and size, by the time of plain calls.

    Where all messages of the tool leave from one buffer, those of the core do.
    """
    plain = [
        case for case in campaign.cases if case.memory == Memory() and (case.suite or case.options.keys() <= SHARED)
    ]
    cases = {
        (
            *describe_buffers(case),
            case.operation,
            case.form,
            case.size_bytes,
            case.placement,
            case.start,
            case.datatype,
        ): case
        for case in plain
    }
    pairs = []
    for theirs, core in find_counterparts(campaign):
        for case in plain:
            if case.operation == theirs.name and case.quantity == "time":
                where = (*describe_buffers(case), core.name, case.form, case.size_bytes, case.placement)
                kinds = [case.datatype, core.datatype]
                usual = next((case_ for kind in kinds if (case_ := cases.get((*where, core.start, kind)))), None)
                if usual:
                    pairs.append(Pair(case, usual, cases.get((*where, case.start, usual.datatype), usual)))
    return pairs


def reconcile(store: Store) -> list[Reconciled]:
    """Return the ratio of each tool to the core, and its parts, for each case that both measured."""
    campaign = store.campaign
    pairs = find_pairs(campaign)
    by_ranks = [case.key for case in campaign.cases if not campaign.scheduled(case)]
    made_of = {column: count_moved(store, column) for column in UNITS.values()}
    medians, means = (
        list_logs(statistics.compute_launch_values(store.samples(), estimator, by_ranks))
        for estimator in ("median", "mean")
    )
    operations = {operation.name: operation for operation in campaign.operations}
    logs: dict[tuple[int, str, str], list[float]] = {}
    for number, pair in enumerate(pairs):
        comparable = compare_benchmarks(operations[pair.theirs.operation], operations[pair.core.operation])
        column = UNITS.get(operations[pair.theirs.operation].metric, "")
        three = (pair.theirs, pair.core, pair.core_same_start)
        unit = [math.log(made_of[column].get(case.key, 1)) if column else 0.0 for case in three]
        sign = -1 if operations[pair.core.operation].metric in {"bandwidth", "rate"} else 1
        shift = sign * math.log(comparable.factor)
        for candidate in [candidate.name for candidate in campaign.candidates if not candidate.control_of]:
            for block in range(1, 1 + max((median[2] for median in medians), default=0)):
                keys = [(case.key, candidate, block) for case in three]
                if not medians.keys() >= {*keys}:
                    continue
                theirs, core, same_start = (medians[key] - value for key, value in zip(keys, unit, strict=True))
                steps = divide_log(theirs + shift, core, same_start, means[keys[2]] - unit[2])
                for part, log in steps.items():
                    logs.setdefault((number, candidate, part), []).append(log)
    return [
        _make_reconciled(store, pairs[number], candidate, parts, operations)
        for (number, candidate), parts in contrast_parts(logs, campaign.plan.confidence).items()
    ]


def divide_log(theirs: float, core: float, same_start: float, mean: float) -> dict[str, float]:
    """Return the parts of the log ratio of a tool's time to the core's.

    Args:
        theirs: log time of the tool.
        core: of the core's median.
        same_start: of the core's median with the tool's start.
        mean: of the core's mean with the tool's start.
    """
    return {WHOLE: theirs - core, BEGUN: same_start - core, MEAN: mean - same_start, REST: theirs - mean}


def list_logs(frame: pl.DataFrame) -> dict[tuple[str, str, int], float]:
    """Return the logarithm of a value by case, candidate and block."""
    rows = frame.filter(pl.col("figure_ns") > 0).select("case", "candidate", "block", pl.col("figure_ns").log()).rows()
    return {(case, candidate, block): log for case, candidate, block, log in rows}


def count_moved(store: Store, column: str) -> dict[str, int]:
    """Return what one sample of each case moves."""
    frame = store.cases().filter(pl.col(column) > 0).group_by("case").agg(pl.col(column).max())
    return dict(frame.rows())


def _find_moved(store: Store, case: Case) -> Moved:
    return Moved(*(count_moved(store, column).get(case.key, 0) for column in UNITS.values()))


def contrast_parts(
    logs: Mapping[tuple[int, str, str], Sequence[float]], confidence: float
) -> dict[tuple[int, str], dict[str, Contrast]]:
    """Return the ratios with their intervals by pair and candidate."""
    keys = list(logs)
    values = [np.asarray(logs[key]) for key in keys]
    spread = [float(value.std(ddof=1)) if len(value) > 1 else 0.0 for value in values]
    ratios = decide_contrasts(
        keys,
        [len(value) for value in values],
        [float(value.mean()) for value in values],
        spread,
        [0.0] * len(keys),
        confidence,
    )
    parts: dict[tuple[int, str], dict[str, Contrast]] = {}
    for ratio in ratios:
        number, candidate, part = ratio.key
        parts.setdefault((number, candidate), {})[part] = ratio
    return parts


def _make_reconciled(
    store: Store, pair: Pair, candidate: str, parts: dict[str, Contrast], operations: Mapping[str, Operation]
) -> Reconciled:
    theirs, core = operations[pair.theirs.operation], operations[pair.core.operation]
    shown_parts = {name: part for name, part in parts.items() if name != BEGUN or pair.core_same_start is not pair.core}
    typical = (
        store.samples()
        .filter(
            pl.col("candidate") == candidate,
            pl.col("case").is_in([pair.theirs.key, pair.core.key]),
            ~pl.col("discarded"),
        )
        .group_by("case", "launch")
        .agg(pl.col("time_ns").median())
        .group_by("case")
        .agg(pl.col("time_ns").median())
        .collect()
    )
    by_case: dict[str, float] = dict(typical.rows())
    return Reconciled(
        pair,
        candidate,
        by_case.get(pair.theirs.key, math.nan),
        by_case.get(pair.core.key, math.nan),
        (_find_moved(store, pair.theirs), _find_moved(store, pair.core)),
        shown_parts,
        compare_pair(pair, theirs, core),
        compare_pair(pair, theirs, core, pair.core_same_start.start),
    )


def compare_pair(pair: Pair, theirs: Operation, operation: Operation, start: str = "") -> Comparable:
    """Return what differs between the two of a pair, with the datatypes of their cases."""
    comparable = compare_benchmarks(theirs, operation, start)
    numbers = compare_datatypes(theirs, operation, (pair.theirs.datatype, pair.core.datatype))
    return comparable._replace(differences=[*numbers, *comparable.differences])
