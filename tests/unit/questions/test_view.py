from __future__ import annotations

import msgspec
from fakes import campaigns
from fakes.verdicts import LINE, make_view

from rankbench.model import Case, CaseVerdict, Memory

COLD = [msgspec.structs.replace(case, memory=Memory(cache="cold")) for case in LINE]
BARRIER = [msgspec.structs.replace(case, start="barrier") for case in LINE]


def list_lines(cases: list[Case]) -> dict[str, list[int]]:
    """Return the sizes of each line by its title."""
    verdicts = [CaseVerdict(case=case, ranking=[], winners=[], margin=1.0) for case in cases]
    view = make_view(campaigns.make_record(cases=cases), verdicts)
    return {title: [verdict.case.size_bytes for verdict in line] for title, line in view.lines()}


def test_cases_that_differ_only_in_size_are_a_line() -> None:
    assert list_lines(LINE) == {"allreduce": [8, 1024, 65536]}


def test_a_line_has_only_the_usual_start_and_names_it_if_there_are_several() -> None:
    assert list_lines([*LINE, *BARRIER]) == {"allreduce with start window": [8, 1024, 65536]}
    assert list_lines([*BARRIER, *LINE]) == {"allreduce with start window": [8, 1024, 65536]}
    assert list_lines(BARRIER) == {"allreduce": [8, 1024, 65536]}


def test_without_the_operation_s_own_start_the_first_measured_one_is_usual() -> None:
    none = [msgspec.structs.replace(case, start="none") for case in LINE]
    assert list_lines([*none, *BARRIER]) == {"allreduce with start none": [8, 1024, 65536]}


def test_another_state_of_memory_is_a_separate_named_line() -> None:
    assert list_lines([*LINE, *COLD]) == {"allreduce": [8, 1024, 65536], "allreduce (cold)": [8, 1024, 65536]}
