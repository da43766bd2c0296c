"""Names of cases contain everything that distinguishes two of them."""

from __future__ import annotations

import msgspec
import pytest
from fakes import kinds
from fakes.verdicts import make_view
from wording import WORDING

from rankbench.analysis.questions import case_labels
from rankbench.model import Case, CaseVerdict, Memory

PUT = kinds.make_case("put", 8)
FENCED = kinds.make_case("put", 8, allocation="create", epoch="fence")


def name_case(case: Case) -> str:
    return case_labels.name_case(case, kinds.BY_NAME[case.operation])


@pytest.mark.parametrize(
    "case",
    [
        PUT,
        FENCED,
        kinds.make_case("put", 8, datatype="vector", epoch="fence"),
        msgspec.structs.replace(FENCED, memory=Memory(cache="cold")),
        kinds.make_case("allreduce", 65536, "nonblocking", quantity="overlap"),
        kinds.make_case("pingpong", 8),
        kinds.make_case("pingpong", 8, from_="2")
    ]
)  # fmt: skip
def test_the_name_of_a_case_has_all_its_unusual_parts(case: Case) -> None:
    assert name_case(case) == WORDING


def test_names_and_keys_of_cases_are_unique() -> None:
    assert len({name_case(case) for case in kinds.CASES}) == len(kinds.CASES)
    assert len({case.key for case in kinds.CASES}) == len(kinds.CASES)


def test_cases_of_a_line_differ_only_in_size() -> None:
    keys = [case_labels.make_line_key(case) for case in kinds.PUTS]
    assert keys == [key for key in dict.fromkeys(keys) for _ in kinds.SIZES]
    assert list(dict.fromkeys(keys)) == [
        "put.blocking.byte.1x4.window",
        "put.blocking.byte.1x4.window.allocation=create.epoch=fence",
        "put.blocking.vector.1x4.window",
    ]


def test_names_with_commas_are_separated_by_semicolons() -> None:
    assert case_labels.join_names(["put 8 B", "get 8 B"]) == WORDING
    assert case_labels.join_names([name_case(FENCED), "get 8 B"]) == WORDING


def test_a_campaign_of_several_pairs_of_ranks_is_detected() -> None:
    assert case_labels.find_pair_cases(kinds.CASES) == {case.key for case in kinds.PAIRS}
    assert case_labels.find_pair_cases([*kinds.PUTS, kinds.make_case("pingpong", 8, to="3")]) == set()
    ends = [case_labels.find_ends(case, kinds.BY_NAME["pingpong"]) for case in kinds.PAIRS]
    assert ends == [(first, second) for first in range(4) for second in range(4) if first != second]


def list_titles(cases: list[Case]) -> dict[str, list[int]]:
    """Return the sizes of the lines of a campaign by their titles in sentences."""
    verdicts = [CaseVerdict(case=case, ranking=[], winners=[], margin=1.0) for case in cases]
    view = make_view(kinds.make_record("made", cases), verdicts)
    return {title: [verdict.case.size_bytes for verdict in line] for title, line in view.lines()}


def test_titles_have_unusual_parts_of_lines_and_join_pairs_of_ranks() -> None:
    assert list_titles(kinds.CASES) == {
        "allreduce nonblocking (overall time)": [8, 65536],
        "message-rate": [8],
        "message-rate (window=1)": [8],
        "pingpong between pairs of ranks": [8] * 12,
        "put": [8, 65536],
        "put (allocation=create, epoch=fence)": [8, 65536],
        "put (vector)": [8, 65536],
    }
