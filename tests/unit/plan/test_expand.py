from __future__ import annotations

import fakes
import pytest

from rankbench import plan
from rankbench.model import Case, Memory, RankbenchError
from rankbench.plan.expand import buffer_bytes
from rankbench.plan.reading import parse


def expand(text: str, cores: int = 2, memory_bytes: int = 8 << 30) -> tuple[list[Case], list[str]]:
    machine = fakes.machine(cores, memory_bytes=memory_bytes)
    loaded = parse(f'candidates = ["mpich"]\n{text}\n', "plan.toml", machine)
    return plan.cases(loaded, fakes.description(), machine)


def keys(text: str) -> list[str]:
    """Return the cases of a plan that leaves nothing out."""
    cases, notes = expand(text)
    assert notes == []
    return [case.key for case in cases]


def refusal(text: str, **machine: int) -> str:
    with pytest.raises(RankbenchError) as error:
        expand(text, **machine)
    return str(error.value)


def test_a_case_takes_datatype_and_start_from_its_operation() -> None:
    assert keys('operations = ["allreduce", "pingpong"]\nsizes = 8') == [
        "allreduce.blocking.8.float.socket.window",
        "pingpong.blocking.8.byte.socket.none",
    ]


def test_a_start_can_be_asked_for() -> None:
    assert keys('operations = ["allreduce"]\nsizes = 8\nstart = "barrier"') == [
        "allreduce.blocking.8.float.socket.barrier"
    ]


def test_a_family_is_all_its_operations_and_no_case_stands_twice() -> None:
    named = keys('operations = ["collective", "allreduce"]\nsizes = 8')
    assert len(named) == len(set(named))
    assert {key.partition(".")[0] for key in named} == {
        operation.name for operation in fakes.description().operations if operation.kind == "collective"
    }


def test_all_is_every_operation() -> None:
    everything = {key.partition(".")[0] for key in keys('operations = ["all"]\nsizes = 8')}
    assert everything == {one.name for one in fakes.description().operations if one.kind != "self-test"}


def test_a_form_can_follow_the_name() -> None:
    assert keys('operations = ["allreduce.persistent"]\nsizes = 8') == ["allreduce.persistent.8.float.socket.window"]


def test_forms_hold_for_all_operations_that_have_them() -> None:
    cases, notes = expand('operations = ["bcast", "pingpong"]\nforms = ["blocking", "persistent"]\nsizes = 8')
    forms = {(case.operation, case.form) for case in cases}
    of_pingpong = next(one for one in fakes.description().operations if one.name == "pingpong").forms
    assert {("bcast", "blocking"), ("bcast", "persistent"), ("pingpong", "blocking")} <= forms
    assert ("pingpong", "persistent") not in forms or "persistent" in of_pingpong
    assert notes == [] or "persistent" not in of_pingpong


def test_an_operation_of_one_form_is_meant_in_it() -> None:
    assert [key.split(".")[1] for key in keys('operations = ["bandwidth"]\nsizes = 8')] == ["nonblocking"]


def test_an_operation_without_size_is_one_case() -> None:
    assert keys('operations = ["barrier"]') == ["barrier.blocking.0.byte.socket.window"]


def test_sizes_that_do_not_fit_the_datatype_are_left_out_with_a_note() -> None:
    cases, notes = expand('operations = ["allreduce", "bcast"]\nsizes = "1,2,4"')
    assert [(case.operation, case.size_bytes) for case in cases] == [
        ("allreduce", 4),
        ("bcast", 1),
        ("bcast", 2),
        ("bcast", 4),
    ]
    assert notes == ["allreduce: 1 B, 2 B left out; a size here is a multiple of 4 B, the size of float"]


def test_there_is_no_bandwidth_of_nothing() -> None:
    cases, notes = expand('operations = ["bandwidth"]\nsizes = "0,8"')
    assert [case.size_bytes for case in cases] == [8]
    assert notes == ["bandwidth: 0 B left out; a size here is 1 B or more"]


def test_more_ranks_than_cores_is_a_note() -> None:
    cases, notes = expand('operations = ["bcast"]\nsizes = 8\nplacements = ["1x4"]')
    assert [case.ranks for case in cases] == [4]
    assert notes == [
        "1x4: oversubscribed, 4 ranks share 2 cores: figures show how ranks wait for each other more than how they "
        "communicate; ranks are not bound"
    ]


def test_an_operation_that_needs_more_ranks_is_left_out() -> None:
    cases, notes = expand('operations = ["bcast", "pingpong"]\nsizes = 8\nplacements = ["1x1"]')
    assert [case.operation for case in cases] == ["bcast"]
    assert notes == ["pingpong: takes 2 ranks; left out of 1x1"]


def test_each_case_is_made_with_each_start_once() -> None:
    assert keys('operations = ["allreduce"]\nsizes = 8\nstart = ["barrier", "auto", "window"]') == [
        "allreduce.blocking.8.float.socket.barrier",
        "allreduce.blocking.8.float.socket.window",
    ]


def test_what_rank_0_alone_times_has_no_start() -> None:
    cases, notes = expand('operations = ["pingpong", "bcast"]\nsizes = 8\nstart = ["barrier", "none", "window"]')
    assert [(case.operation, case.start) for case in cases] == [
        ("pingpong", "none"),
        ("bcast", "barrier"),
        ("bcast", "none"),
        ("bcast", "window"),
    ]
    assert notes == ["pingpong: rank 0 alone times it, so it is measured with start none, not barrier, window"]


def memories(operation: str, said: str, sizes: str = "8", placement: str = "1x2") -> tuple[list[Memory], list[str]]:
    """Return the states of memory in which an operation is measured, and the notes."""
    cases, notes = expand(
        f'operations = ["{operation}"]\nsizes = "{sizes}"\nplacements = ["{placement}"]\n[memory]\n{said}'
    )
    assert len({case.key for case in cases}) == len(cases)
    return [case.memory for case in cases], notes


def test_every_combination_of_what_is_said_of_memory_is_a_case() -> None:
    cases, notes = expand(
        'operations = ["reduce"]\nsizes = 8\n'
        '[memory]\ncache = ["warm", "cold"]\nbuffers = ["separate", "in-place"]\nroot = [0, 1, "rotating"]'
    )
    assert notes == []
    usual = "reduce.blocking.8.float.socket.window"
    assert [case.key.removeprefix(usual) for case in cases] == [
        *("", ".root1", ".rotating", ".in-place", ".in-place.root1", ".in-place.rotating"),
        *(
            ".cold",
            ".cold.root1",
            ".cold.rotating",
            ".cold.in-place",
            ".cold.in-place.root1",
            ".cold.in-place.rotating",
        ),
    ]
    assert cases[-1].memory.label == "cold, in-place, rotating root"


def test_an_operation_without_in_place_form_is_measured_with_separate_buffers_only() -> None:
    assert memories("bcast", 'buffers = ["separate", "in-place"]') == (
        [Memory()],
        ["bcast: there is no in-place form; left out"],
    )


def test_an_operation_without_root_is_measured_once_whatever_the_root() -> None:
    assert memories("allreduce", 'root = [1, "rotating"]\ncache = "cold"') == (
        [Memory(cache="cold")],
        ["allreduce: has no root; measured once, whatever the root"],
    )


def test_a_persistent_request_keeps_its_buffers_and_its_root() -> None:
    assert memories("reduce.persistent", 'cache = ["warm", "cold"]\nroot = [1, "rotating"]', sizes="0,8") == (
        [Memory(root=1), Memory(root=1)],
        [
            "reduce: a persistent request keeps its root, so it cannot rotate; left out",
            "reduce of 0 B: has no data; measured once, whatever cache, pages and alignment",
            "reduce: a persistent request keeps its buffers, so they cannot be cold; left out",
        ],
    )


def test_a_root_that_is_not_there_is_left_out() -> None:
    assert memories("bcast", "root = [1, 2]") == (
        [Memory(root=1)],
        ["bcast: root 2 is none of the 2 ranks of 1x2; left out"],
    )


def test_without_data_the_state_of_memory_makes_no_difference() -> None:
    said = 'cache = ["warm", "cold"]\npages = ["touched", "huge"]\nalignment = [0, 64]'
    assert memories("barrier", said) == (
        [Memory()],
        ["barrier: has no data; measured once, whatever cache, pages and alignment"],
    )
    assert memories("reduce", 'cache = "cold"\nbuffers = "in-place"\nroot = 1', sizes="0,8") == (
        [Memory(buffers="in-place", root=1), Memory(cache="cold", buffers="in-place", root=1)],
        ["reduce of 0 B: has no data; measured once, whatever cache, pages and alignment"],
    )


def test_nothing_left_is_an_error() -> None:
    assert refusal('operations = ["pingpong"]\nplacements = ["1x1"]') == (
        "plan.toml: no case is left: pingpong: takes 2 ranks; left out of 1x1"
    )


OPERATIONS = fakes.description().operations
NAMES = {"all", *(operation.kind for operation in OPERATIONS), *(operation.name for operation in OPERATIONS)}
STARTS = ", ".join(["auto", *(start.name for start in fakes.description().starts)])


def test_a_misspelt_operation_is_one_line() -> None:
    answer = refusal('operations = ["bcast", "alreduce"]')
    hint, _, allowed = answer.partition(" (allowed: ")
    assert hint == 'plan.toml: operations[1]: found "alreduce"; did you mean allreduce?'
    assert set(allowed.rstrip(")").split(", ")) == NAMES


def test_a_form_that_is_not_there_is_one_line() -> None:
    assert refusal('operations = ["bandwidth.persistent"]') == (
        'plan.toml: operations[0]: found "bandwidth.persistent"; (allowed: nonblocking)'
    )


def test_a_misspelt_start_is_one_line() -> None:
    assert refusal('operations = ["bcast"]\nstart = "windw"') == (
        f'plan.toml: start: found "windw"; did you mean window? (allowed: {STARTS})'
    )


def test_a_misspelt_start_among_others_is_named_by_its_place() -> None:
    assert refusal('operations = ["bcast"]\nstart = ["window", "barier"]') == (
        f'plan.toml: start[1]: found "barier"; did you mean barrier? (allowed: {STARTS})'
    )


def test_a_misspelt_clock_is_one_line() -> None:
    allowed = ", ".join(["auto", *(source.name for source in fakes.description().sources)])
    assert refusal('operations = ["bcast"]\nclock = "tcs"') == (
        f'plan.toml: clock: found "tcs"; did you mean tsc? (allowed: {allowed})'
    )


def test_a_misspelt_synchronisation_is_one_line() -> None:
    assert refusal('operations = ["bcast"]\nsynchronisation = "tee"') == (
        'plan.toml: synchronisation: found "tee"; did you mean tree? (allowed: linear, ring, tree)'
    )


def test_a_size_that_does_not_fit_in_memory_is_one_line() -> None:
    assert refusal('operations = ["alltoall"]\nsizes = "8,1G"', memory_bytes=4 << 30) == (
        "plan.toml: sizes: alltoall of 1 GiB on socket needs 8 GiB of buffers on a node, and 3.2 GiB (80% of its "
        "memory) may be used; sizes up to 409.6 MiB fit"
    )


def test_buffers_of_all_ranks_of_a_node_count() -> None:
    operations = {operation.name: operation for operation in fakes.description().operations}
    text = 'candidates = ["x"]\noperations = ["x"]\nplacements = ["1x4"]'
    placement = parse(text, "plan.toml", fakes.machine()).placements[0]
    assert buffer_bytes(operations["alltoall"], 100, placement) == 4 * (400 + 400)
    assert buffer_bytes(operations["bcast"], 100, placement) == 4 * 100
