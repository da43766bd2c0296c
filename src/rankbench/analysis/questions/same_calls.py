"""Which cases of several tools are of one call: those of the core's operation and of its counterparts.

The tools measure different things, so their values are shown side by side, each with its meaning, and are not compared.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from rankbench.foreign.comparing import describe_core_value, find_counterpart

if TYPE_CHECKING:
    from rankbench.analysis.questions.view import CampaignView
    from rankbench.model import Case, Meaning, Operation, Summary


class Series(NamedTuple):
    """The values of one benchmark with one candidate, over sizes."""

    name: str
    """The benchmark and the candidate."""
    operation: Operation
    start: str
    values: list[tuple[Case, Summary]]
    """By size."""


def make_call_key(case: Case, operation: Operation, *, imported: bool) -> str:
    """Return what cases of one call on the same ranks have in common.

    Few tools print where their ranks were, so of imported results only the number of ranks is known.
    """
    ranks = 2 if operation.between_two else case.ranks
    where = [] if imported else [case.placement]
    return ".".join([find_counterpart(operation), case.form, str(ranks), *where])


def list_series(view: CampaignView) -> list[Series]:
    """Return the series of a view of one call; none if fewer than two tools have values."""
    by_line: dict[tuple[str, str], list[tuple[Case, Summary]]] = {}
    parts = dict(view.parts("line"))
    for key, part in parts.items():
        for case, summary in part.list_shown_summaries():
            by_line.setdefault((key, summary.candidate), []).append((case, summary))
    if len({case.suite for values in by_line.values() for case, _ in values}) < 2:
        return []
    names = {key: part.line_name() for key, part in parts.items()}
    several = {name for name in names.values() if list(names.values()).count(name) > 1}
    return [
        Series(
            f"{name_line(names[key], values[0][0], several)}, {candidate}",
            view.operation(values[0][0]),
            values[0][0].start,
            sorted(values, key=lambda value: value[0].size_bytes),
        )
        for (key, candidate), values in by_line.items()
    ]


def name_line(name: str, case: Case, several: set[str]) -> str:
    """Return the name of a line, with its placement if others have the same name."""
    return f"{name} at {case.placement}" if name in several else name


def list_meanings(series: list[Series], estimator: str) -> Iterator[tuple[Operation, Meaning]]:
    """Yield each benchmark once, with the meaning of its values."""
    known: set[tuple[str, str]] = set()
    for line in series:
        operation = line.operation
        if (operation.name, line.start) not in known:
            known.add((operation.name, line.start))
            foreign = operation.foreign
            yield operation, foreign.meaning if foreign else describe_core_value(operation, line.start, estimator)
