from __future__ import annotations

import msgspec
from fakes import campaigns
from fakes.verdicts import LINE, view_of

from rankbench.model import Case, CaseVerdict, Memory

COLD = [msgspec.structs.replace(case, memory=Memory(cache="cold")) for case in LINE]
BARRIER = [msgspec.structs.replace(case, start="barrier") for case in LINE]


def lines(cases: list[Case]) -> dict[str, list[int]]:
    """Return the sizes of each line by its title."""
    verdicts = [CaseVerdict(case=case, ranking=[], winners=[], margin=1.0) for case in cases]
    view = view_of(campaigns.campaign(cases=cases), verdicts)
    return {title: [verdict.case.size_bytes for verdict in line] for title, line in view.lines()}


def test_cases_that_differ_in_size_only_are_a_line() -> None:
    assert lines(LINE) == {"allreduce": [8, 1024, 65536]}


def test_a_line_has_the_usual_start_only_and_names_it_where_there_are_several() -> None:
    assert lines([*LINE, *BARRIER]) == {"allreduce with start window": [8, 1024, 65536]}
    assert lines([*BARRIER, *LINE]) == {"allreduce with start window": [8, 1024, 65536]}
    assert lines(BARRIER) == {"allreduce": [8, 1024, 65536]}


def test_without_the_operations_own_start_the_first_one_measured_is_the_usual() -> None:
    none = [msgspec.structs.replace(case, start="none") for case in LINE]
    assert lines([*none, *BARRIER]) == {"allreduce with start none": [8, 1024, 65536]}


def test_another_state_of_memory_is_another_line_and_named() -> None:
    assert lines([*LINE, *COLD]) == {"allreduce": [8, 1024, 65536], "allreduce (cold)": [8, 1024, 65536]}
