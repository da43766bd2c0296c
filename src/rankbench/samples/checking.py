"""Checks a stream once, behind the decoder: whether its lines fit each other and the job.

A core may have a bug, a disk may lose a line, and a library under test can write into any memory. A stream ends at the
first line that does not fit, as at one that is no record. `records` has the ranges of single numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from rankbench.model import ALL_RANKS, Case, CaseStatus, Series
from rankbench.samples import records

COUNTS = ("sample_count", "valid", "late", "overrun")


class Complaint(NamedTuple):
    """The first line that does not fit."""

    line: int
    """Its number, from 1."""
    reason: str
    case: int | None
    """Its place in the job, if it is the result of a case."""


def find_misfit(lines: Sequence[records.Line], cases: Sequence[Case]) -> Complaint | None:
    """Return the first line that does not fit the others, or a job that asks for these cases in this order."""
    checker = _Checker(cases)
    for number, line in enumerate(lines, start=1):
        if reason := next(checker.check(line), ""):
            is_result = isinstance(line, records.CaseLine) and line.case in range(len(cases))
            return Complaint(number, reason, line.case if is_result else None)  # type: ignore[attr-defined]
    return None


class _Checker:
    """The state of a stream between two of its lines."""

    def __init__(self, cases: Sequence[Case]) -> None:
        self._cases = cases
        self._launch: records.Launch | None = None
        self._ranks = self._begun = self._ended = 0
        self._complete = False
        self._series_of: dict[str, list[int]] = {}

    def check(self, line: records.Line) -> Iterator[str]:
        """Yield what is wrong with the next line."""
        if self._complete:
            yield "it follows the last line"
        if isinstance(line, records.Launch) == bool(self._launch):
            yield "a second launch" if self._launch else "it precedes the line of the launch"
        if isinstance(line, records.Launch):
            self._launch = line
        elif isinstance(line, records.Rank):
            yield from self._check_rank(line)
        elif isinstance(line, records.Begin):
            yield from self._check_begin(line)
        elif isinstance(line, records.CaseLine):
            yield from self._check_case(line)
        elif isinstance(line, records.EvidenceLine):
            yield from self._check_evidence(line)
        elif isinstance(line, records.End):
            yield from self._check_end()

    def _check_rank(self, line: records.Rank) -> Iterator[str]:
        ranks = self._launch.ranks if self._launch else 0
        if line.rank != self._ranks or line.rank >= ranks:
            yield f"rank {line.rank} in the place of rank {self._ranks}, of {ranks} ranks"
        self._ranks += 1

    def _check_begin(self, line: records.Begin) -> Iterator[str]:
        if line.case not in range(len(self._cases)):
            yield f"case {line.case} begins, but the job has only {len(self._cases)} cases"
        if self._begun != self._ended:
            yield f"case {line.case} begins before case {self._ended} ended"
        if line.case != self._begun:
            yield f"case {line.case} begins in the place of case {self._begun}"
        self._begun += 1

    def _check_case(self, line: records.CaseLine) -> Iterator[str]:
        if line.case not in range(len(self._cases)):
            yield f"has a case {line.case}, but the job has only {len(self._cases)} cases"
        elif line.case != self._ended or self._begun == self._ended:
            yield f"case {line.case} ended without a beginning"
        else:
            yield from check_counts(line)
            for series in line.series:
                yield from check_series(series)
            yield from self._check_visits(line)
        self._ended += 1

    def _check_evidence(self, line: records.EvidenceLine) -> Iterator[str]:
        if line.case != self._ended or self._begun == self._ended:
            yield f"evidence of case {line.case}, which is not being measured"

    def _check_visits(self, line: records.CaseLine) -> Iterator[str]:
        """Yield whether another visit of the case had the series of other ranks."""
        if line.status != CaseStatus.OK:  # type: ignore[attr-defined]
            return
        ranks = [series.rank for series in line.series]
        if len(set(ranks)) != len(ranks):
            yield "two series of one rank"
        if ranks != self._series_of.setdefault(self._cases[line.case].key, ranks):
            yield "its series are of other ranks than in the visit before"

    def _check_end(self) -> Iterator[str]:
        if self._ended != len(self._cases):
            yield f"the end after {self._ended} of {len(self._cases)} cases"
        self._complete = True


def check_counts(line: records.CaseLine) -> Iterator[str]:
    """Yield counts of samples that cannot be."""
    counts = {name: getattr(line, name) for name in COUNTS}
    sample_count = counts["sample_count"]
    for name, count in counts.items():
        if not 0 <= count <= sample_count:
            yield f"{count} samples as '{name}', of {sample_count} taken"
    for series in line.series:
        if len(series.time_ns) != sample_count:
            yield f"{len(series.time_ns)} times of {sample_count} samples"


def check_series(series: Series) -> Iterator[str]:
    """Yield lists of other lengths, marks of samples that are not there, and times below 0."""
    samples = len(series.time_ns)
    for name in records.PER_SAMPLE:
        length = len(getattr(series, name))
        if length not in (0, samples):
            yield f"{length} values of {name} for {samples} samples"
    for name in records.MARKS:
        marks = getattr(series, name)
        if marks and not 0 <= min(marks) <= max(marks) < samples:
            yield f"'{name}' marks a sample that is not there, of {samples}"
    if series.rank < ALL_RANKS:
        yield f"a series of rank {series.rank}"
    if series.visits:
        yield "visits, which are not the core's to report"
    if series.rank == ALL_RANKS and min(series.time_ns, default=0.0) < 0:
        yield "a time below 0 ns"
