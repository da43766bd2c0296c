"""Foreign programs in a plan: `suite`, `[suites]`, and the cases of their benchmarks."""

from __future__ import annotations

import fakes
import pytest
from wording import WORDING

from rankbench import plan
from rankbench.campaign import foreign
from rankbench.model import Case, Plan, RankbenchError, SuiteSpec
from rankbench.plan.reading import parse_plan

MACHINE = fakes.make_machine(4)


def read(text: str) -> Plan:
    return parse_plan(f'candidates = ["mpich"]\n{text}\n', "plan.toml", MACHINE)


def expand(text: str) -> tuple[list[Case], list[str]]:
    planned = read(text)
    return plan.expand_plan(planned, foreign.add_operations(fakes.read_description(), planned), MACHINE)


def list_keys(text: str) -> list[str]:
    """Return the cases of a plan in which nothing is left out."""
    cases, notes = expand(text)
    assert notes == []
    return [case.key for case in cases]


def read_refusal(text: str) -> str:
    with pytest.raises(RankbenchError) as error:
        expand(text)
    return fakes.drop_line(str(error.value))


# --- keys -------------------------------------------------------------------------------------------------------------


def test_with_suite_names_of_benchmarks_need_no_prefix() -> None:
    text = 'suite = "imb"\noperations = ["mpi1-pingpong", "imb-mpi1-bcast"]'
    assert read(text).operations == ["imb-mpi1-pingpong", "imb-mpi1-bcast"]


@pytest.mark.parametrize("name", ["all", "imb"])
def test_all_in_a_plan_with_suite_is_the_tool(name: str) -> None:
    assert read(f'suite = "imb"\noperations = ["{name}"]').operations == ["imb"]


def test_without_suite_names_are_unchanged() -> None:
    assert read('operations = ["allreduce", "imb-mpi1-allreduce"]').operations == ["allreduce", "imb-mpi1-allreduce"]


def test_the_place_of_programs_is_set_for_each_tool() -> None:
    planned = read(
        'operations = ["imb-mpi1-bcast"]\n[suites.imb]\npath = "/opt/{family}/bin"\narguments = ["-mem", "1"]\n'
        '[suites.osu]\nsource = "~/osu-7.4.tar.gz"'
    )
    assert planned.suites == [
        SuiteSpec(name="imb", path="/opt/{family}/bin", arguments=["-mem", "1"]),
        SuiteSpec(name="osu", source="~/osu-7.4.tar.gz"),
    ]
    by_module = read(
        'operations = ["osu"]\n[suites.osu]\nmodule = "osu/7.4"\n[suites.imb]\nmodule = ["gcc/12 cuda", "imb"]'
    )
    assert [suite.modules for suite in by_module.suites] == [["osu/7.4"], ["gcc/12", "cuda", "imb"]]
    assert read('operations = ["imb"]\n[suites.imb]').suites == [SuiteSpec(name="imb")]


@pytest.mark.parametrize(
    "text",
    [
        "suite = 1",
        'suite = ""',
        "suites = 1",
        "suites = { imb = 1 }",
        '[suites.imb]\npaths = "x"',
        "[suites.imb]\npath = 1",
        "[suites.imb]\nsource = []",
        "[suites.imb]\narguments = [1]",
        "[suites.imb]\narguments = []",
        '[suites.imb]\npath = "a"\nsource = "b"',
        '[suites.imb]\nmodule = ""',
        "[suites.imb]\nmodule = []",
        '[suites.imb]\nmodule = "imb/2021"\nsource = "b"',
    ],
)
def test_mistakes_are_reported_in_one_line_with_a_remedy(text: str) -> None:
    with pytest.raises(RankbenchError) as error:
        read(f'operations = ["imb-mpi1-bcast"]\n{text}')
    assert fakes.drop_line(str(error.value)) == WORDING


def test_a_misspelt_tool_is_refused() -> None:
    assert read_refusal('operations = ["allreduce"]\n[suites.ibm]\npath = "x"') == WORDING


def test_a_tool_that_cannot_be_run_is_refused() -> None:
    assert read_refusal('operations = ["allreduce"]\n[suites.reprompi]\npath = "x"') == WORDING


def test_a_misspelt_benchmark_is_refused() -> None:
    assert read_refusal('suite = "imb"\noperations = ["mpi1-bcst"]') == WORDING


def test_an_unknown_form_of_a_benchmark_is_refused() -> None:
    assert read_refusal('operations = ["imb-mpi1-bcast.nonblocking"]') == WORDING


# --- cases ------------------------------------------------------------------------------------------------------------


def test_a_benchmark_is_a_case_for_each_size() -> None:
    cases, notes = expand('operations = ["imb-mpi1-bcast"]\nsizes = "8,64"')
    assert cases == [
        Case(
            operation="imb-mpi1-bcast",
            form="blocking",
            size_bytes=size,
            datatype="byte",
            placement="socket",
            ranks=4,
            start="library-barrier",
            suite="imb",
        )
        for size in (8, 64)
    ]
    assert notes == []


def test_core_and_tool_can_be_measured_in_one_plan() -> None:
    assert list_keys('operations = ["bcast", "imb-mpi1-bcast", "osu-bcast"]\nsizes = 8\nplacements = ["1x2"]') == [
        "bcast.blocking.8.byte.1x2.window",
        "imb-mpi1-bcast.blocking.8.byte.1x2.library-barrier",
        "osu-bcast.blocking.8.byte.1x2.library-barrier",
    ]


def test_a_benchmark_without_sizes_is_one_case() -> None:
    assert list_keys('operations = ["imb-mpi1-barrier"]\nsizes = "8,64"') == [
        "imb-mpi1-barrier.blocking.0.byte.socket.none"
    ]


def test_an_overlap_benchmark_has_quantity_overlap() -> None:
    assert list_keys('operations = ["imb-nbc-ibcast"]\nsizes = 8') == [
        "imb-nbc-ibcast.nonblocking.8.byte.socket.library-barrier.quantity=overlap"
    ]


def test_each_benchmark_is_a_launch_group() -> None:
    cases, _ = expand('operations = ["bcast", "imb-mpi1-bcast", "imb-mpi1-reduce"]\nsizes = "8,64"')
    assert [case.launch_group for case in cases] == [
        *[""] * 2,
        *["imb-mpi1-bcast blocking"] * 2,
        *["imb-mpi1-reduce blocking"] * 2,
    ]


def test_a_tool_s_name_is_all_its_benchmarks_and_all_is_the_core_s() -> None:
    cases, _ = expand('operations = ["osu"]\nsizes = 8\nforms = "all"')
    assert {case.suite for case in cases} == {"osu"}
    assert len({case.operation for case in cases}) > 50
    cases, _ = expand('operations = ["all"]\nsizes = 8')
    assert {case.suite for case in cases} == {""}


def test_options_of_the_core_do_not_apply_to_tools_and_this_is_noted() -> None:
    text = 'operations = ["bcast", "imb-mpi1-bcast"]\nsizes = 8\n'
    text += 'start = ["auto", "none"]\ndatatypes = ["auto", "double"]\nmemory = { cache = ["warm", "cold"] }'
    cases, notes = expand(text)
    assert notes == WORDING
    assert [case.key for case in cases if case.suite] == ["imb-mpi1-bcast.blocking.8.byte.socket.library-barrier"]
    assert len([case for case in cases if not case.suite]) == 8


def test_the_tool_s_own_start_and_datatype_need_no_note() -> None:
    text = 'operations = ["imb-mpi1-bcast"]\nsizes = 8\nstart = "library-barrier"\ndatatypes = "byte"'
    assert list_keys(text) == ["imb-mpi1-bcast.blocking.8.byte.socket.library-barrier"]


def test_sizes_of_a_tool_need_not_fit_a_datatype() -> None:
    assert list_keys('operations = ["imb-mpi1-bcast"]\nsizes = "3,5"') == [
        f"imb-mpi1-bcast.blocking.{size}.byte.socket.library-barrier" for size in (3, 5)
    ]


def test_too_few_ranks_are_noted_as_for_any_operation() -> None:
    assert read_refusal('operations = ["imb-mpi1-pingpong"]\nplacements = ["1x1"]') == WORDING


def test_the_record_of_a_campaign_has_the_suite_of_a_case() -> None:
    (case,) = expand('operations = ["osu-latency"]\nsizes = 8\nplacements = ["1x2"]')[0]
    assert (case.suite, case.quantity, case.launch_group) == ("osu", "time", "osu-latency blocking")


# --- ranks of programs ------------------------------------------------------------------------------------------------


def list_ranks(cases: list[Case]) -> dict[tuple[str, str], int]:
    """Return the number of ranks of each case, by operation and placement."""
    return {(case.operation, case.placement): case.ranks for case in cases}


def test_a_program_for_two_processes_runs_with_two_beside_one_for_all() -> None:
    cases, notes = expand(
        'operations = ["osu-bcast", "osu-bw", "osu-put_latency"]\nsizes = "8"\nplacements = ["3x1"]\n'
        'hosts = ["n1", "n2", "n3"]'
    )
    assert list_ranks(cases) == {("osu-bcast", "3x1"): 3, ("osu-bw", "3x1"): 2, ("osu-put_latency", "3x1"): 2}
    assert notes == WORDING


def test_programs_for_two_processes_are_measured_once_on_a_node_and_once_between_two() -> None:
    cases, notes = expand(
        'operations = ["osu-bcast", "osu-bw"]\nsizes = "8"\nplacements = ["1x2", "1x3", "2x1", "3x1"]\n'
        'hosts = ["n1", "n2", "n3"]'
    )
    assert {place: ranks for (name, place), ranks in list_ranks(cases).items() if name == "osu-bw"} == {
        "1x2": 2,
        "2x1": 2,
    }
    assert {place for name, place in list_ranks(cases) if name == "osu-bcast"} == {"1x2", "1x3", "2x1", "3x1"}
    assert notes == WORDING


def test_ranks_that_the_plan_names_are_those_of_the_core_only() -> None:
    cases, _ = expand(
        'operations = ["pingpong", "osu-bw"]\nsizes = "8"\nplacements = ["1x2", "1x3"]\n[options]\nto = "1"'
    )
    assert {case.placement for case in cases if case.operation == "osu-bw"} == {"1x2"}


def test_ranks_of_programs_that_work_in_pairs_are_noted() -> None:
    _, notes = expand('operations = ["osu-mbw_mr"]\nsizes = "8"\nplacements = ["1x3"]')
    assert notes == WORDING


def test_a_program_of_one_size_is_one_case() -> None:
    cases, notes = expand('operations = ["osu-cas_latency", "osu-fop_latency"]\nsizes = "8:64"\nplacements = ["1x2"]')
    assert ([(case.operation, case.size_bytes) for case in cases], notes) == (
        [("osu-cas_latency", 0), ("osu-fop_latency", 0)],
        [],
    )
