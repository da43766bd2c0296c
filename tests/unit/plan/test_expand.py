from __future__ import annotations

import fakes
import msgspec
import pytest
from wording import WORDING, refuses

from rankbench import plan
from rankbench.model import FORMS, Amount, Calls, Case, Datatype, Description, Memory, Option, RankbenchError, Recorded
from rankbench.plan.expand import count_buffer_bytes
from rankbench.plan.reading import parse_plan


def expand(text: str, cores: int = 2, memory_bytes: int = 8 << 30) -> tuple[list[Case], list[str]]:
    machine = fakes.make_machine(cores, memory_bytes=memory_bytes)
    loaded = parse_plan(f'candidates = ["mpich"]\n{text}\n', "plan.toml", machine)
    return plan.expand_plan(loaded, DESCRIPTION, machine)


def make_choice_option(name: str, *values: str) -> Option:
    """Return an option that is one of some values, the first of which is usual."""
    return Option(name=name, help="", usual=values[0], values=list(values))


def make_number_option(name: str, least: int, most: int, usual: int) -> Option:
    return Option(name=name, help="", usual=str(usual), least=least, most=most)


WINDOW = make_number_option("window", 1, 4096, 64)
QUANTITY = make_choice_option("quantity", "time", "overlap", "memory")
LEVEL = make_choice_option("thread_level", "single", "multiple")
ARRIVAL = [
    make_choice_option("arrival", "together", "staggered", "random"),
    make_number_option("spread_us", 1, 1000, 100),
]
OVERLAP = [QUANTITY, make_number_option("tests", 0, 1000, 0), make_number_option("compute_us", 0, 1000, 0)]
ENDS = [make_number_option("from", 0, 1000, 0), make_number_option("to", 0, 1000, 1)]
EACH, NOTHING = Amount(base=1, each=0, per_message=True), Amount(base=0, each=0)
CHANGES: dict[str, dict[str, object]] = {
    "allreduce": {"datatypes": ["int", "float", "double"], "options": [*ARRIVAL, *OVERLAP]},
    "bcast": {"datatypes": ["byte", "double", "vector"], "options": ARRIVAL},
    "alltoall": {"options": [], "forms": ["blocking", "nonblocking"]},
    "pingpong": {
        "forms": ["blocking"],
        "options": [make_choice_option("receive", "source", "any-source", "probe"), *ENDS],
        "between_two": True,
    },
    "bandwidth": {
        "forms": ["nonblocking"],
        "options": [WINDOW, make_choice_option("receive", "source", "any-source"), QUANTITY, *ENDS],
        "between_two": True,
        "send": NOTHING,
        "receive": EACH,
        "root_send": EACH,
        "root_receive": NOTHING,
        "messages": 0,
    },
}
"""A description of some operations, independent of the core."""
VARIANTS: dict[str, tuple[str, dict[str, object]]] = {
    "swap": ("allreduce", {"kind": "self-test", "in_pairs": True, "options": [], "datatypes": ["float"]}),
    "torus": ("alltoall", {"kind": "self-test", "ranks_least": 3,
                           "options": [make_number_option("dimensions", 1, 3, 2)],
                           "messages": 0, "send": EACH, "receive": EACH, "root_send": EACH, "root_receive": EACH}),
    "scatter-all": ("alltoall", {"kind": "self-test", "messages": 0, "send": EACH, "root_send": EACH}),
    "birth": ("barrier", {"kind": "self-test", "once": True, "start": "none", "options": [QUANTITY]}),
    "woven": ("bcast", {"kind": "self-test", "options": [make_number_option("threads", 1, 64, 1), QUANTITY]}),
    "levels": ("bcast", {"kind": "self-test", "options": [make_number_option("threads", 1, 64, 1), QUANTITY, LEVEL]}),
    "restless": ("bcast", {"kind": "self-test", "forms": ["nonblocking", "persistent"], "form": "nonblocking"}),
    "binding": ("bcast", {"kind": "self-test", "keeps_buffers": True}),
    "passive": ("bcast", {"kind": "self-test", "options": [make_choice_option("target", "waiting", "computing"),
                                                      make_number_option("busy_us", 1, 1000, 100)]}),
}  # fmt: skip
"""Operations that differ from another one by some changes."""


def make_description() -> Description:
    """Return the description of a core with derived datatypes, and some options of some operations."""
    description = fakes.read_description()
    named = {
        operation.name: msgspec.structs.replace(operation, **CHANGES.get(operation.name, {}))
        for operation in description.operations
    }
    more = [msgspec.structs.replace(named[like], name=name, **changes) for name, (like, changes) in VARIANTS.items()]
    operations = [*named.values(), *more]
    datatypes = {datatype.name: datatype for datatype in description.datatypes} | {
        "vector": Datatype(name="vector", help="", size_bytes=8)
    }
    return msgspec.structs.replace(description, operations=operations, datatypes=list(datatypes.values()))


DESCRIPTION = make_description()


def list_keys(text: str) -> list[str]:
    """Return the cases of a plan in which nothing is left out."""
    cases, notes = expand(text)
    assert notes == []
    return [case.key for case in cases]


def read_refusal(text: str, **machine: int) -> str:
    with pytest.raises(RankbenchError) as error:
        expand(text, **machine)
    return fakes.drop_line(str(error.value))


def read_suggestion(text: str) -> tuple[str, str]:
    """Return a refusal, and the values that it allows."""
    message, _, allowed = read_refusal(text).partition(" (allowed: ")
    return message, allowed.removesuffix(")")


def test_datatype_and_start_of_a_case_are_those_of_its_operation() -> None:
    assert list_keys('operations = ["allreduce", "pingpong"]\nsizes = 8') == [
        "allreduce.blocking.8.float.socket.window",
        "pingpong.blocking.8.byte.socket.none",
    ]


def test_a_start_can_be_named() -> None:
    assert list_keys('operations = ["allreduce"]\nsizes = 8\nstart = "barrier"') == [
        "allreduce.blocking.8.float.socket.barrier"
    ]


def test_a_family_is_all_its_operations_and_each_case_occurs_once() -> None:
    named = list_keys('operations = ["collective", "allreduce"]\nsizes = 8')
    assert len(named) == len(set(named))
    assert {key.partition(".")[0] for key in named} == {
        operation.name for operation in DESCRIPTION.operations if operation.kind == "collective"
    }


def test_all_names_every_operation() -> None:
    everything = {key.partition(".")[0] for key in list_keys('operations = ["all"]\nsizes = 8')}
    assert everything == {operation.name for operation in DESCRIPTION.operations if operation.kind != "self-test"}


def test_a_form_can_follow_the_name() -> None:
    assert list_keys('operations = ["allreduce.persistent"]\nsizes = 8') == [
        "allreduce.persistent.8.float.socket.window"
    ]


def test_forms_apply_to_all_operations_that_have_them() -> None:
    cases, notes = expand(
        'operations = ["bcast", "alltoall", "pingpong"]\nforms = ["blocking", "persistent"]\nsizes = 8'
    )
    assert [(case.operation, case.form) for case in cases] == [
        ("bcast", "blocking"),
        ("bcast", "persistent"),
        ("alltoall", "blocking"),
        ("pingpong", "blocking"),
    ]
    assert notes == WORDING


def test_all_forms_are_those_of_each_operation() -> None:
    named = list_keys('operations = ["bcast", "alltoall", "pingpong"]\nforms = "all"\nsizes = 8')
    assert [tuple(key.split(".")[:2]) for key in named] == [
        *(("bcast", form) for form in FORMS),
        *(("alltoall", form) for form in FORMS[:2]),
        ("pingpong", "blocking"),
    ]


def test_an_operation_with_one_form_is_measured_in_it() -> None:
    assert [key.split(".")[1] for key in list_keys('operations = ["bandwidth"]\nsizes = 8')] == ["nonblocking"]


def test_an_operation_is_measured_in_its_usual_form_by_default() -> None:
    assert [key.split(".")[1] for key in list_keys('operations = ["restless"]\nsizes = 8')] == ["nonblocking"]
    cases, notes = expand('operations = ["restless"]\nsizes = 8\nforms = ["blocking", "persistent"]')
    assert [case.form for case in cases] == ["persistent"]
    assert notes == WORDING


def test_an_operation_without_sizes_is_one_case() -> None:
    assert list_keys('operations = ["barrier"]') == ["barrier.blocking.0.byte.socket.window"]


def test_sizes_that_do_not_fit_the_datatype_are_left_out_with_a_note() -> None:
    cases, notes = expand('operations = ["allreduce", "bcast"]\nsizes = "1,2,4"')
    assert [(case.operation, case.size_bytes) for case in cases] == [
        ("allreduce", 4),
        ("bcast", 1),
        ("bcast", 2),
        ("bcast", 4),
    ]
    assert notes == WORDING


def test_an_empty_message_has_no_bandwidth() -> None:
    cases, notes = expand('operations = ["bandwidth"]\nsizes = "0,8"')
    assert [case.size_bytes for case in cases] == [8]
    assert notes == WORDING


def test_each_case_is_measured_with_each_datatype_of_its_operation() -> None:
    cases, notes = expand(
        'operations = ["bcast", "allreduce"]\nsizes = "8,12"\ndatatypes = ["vector", "float", "auto"]'
    )
    assert [(case.operation, case.datatype, case.size_bytes) for case in cases] == [
        ("bcast", "vector", 8),
        ("bcast", "byte", 8),
        ("bcast", "byte", 12),
        ("allreduce", "float", 8),
        ("allreduce", "float", 12),
    ]
    assert notes == WORDING


def test_an_empty_message_is_measured_with_one_datatype() -> None:
    assert list_keys('operations = ["barrier"]\ndatatypes = ["vector", "double"]') == [
        "barrier.blocking.0.byte.socket.window"
    ]


def test_more_ranks_than_cores_are_noted() -> None:
    cases, notes = expand('operations = ["bcast"]\nsizes = 8\nplacements = ["1x4"]')
    assert [case.ranks for case in cases] == [4]
    assert notes == WORDING


def test_more_threads_than_cores_are_noted() -> None:
    text = 'operations = ["woven"]\nsizes = 8\nplacements = ["1x2"]\n[options]\nthreads = [1, 2, 4]'
    cases, notes = expand(text, cores=4)
    assert [case.launch_group for case in cases] == ["", "threads", "threads"]
    assert notes == WORDING


def test_an_operation_that_needs_more_ranks_is_left_out() -> None:
    cases, notes = expand('operations = ["bcast", "pingpong"]\nsizes = 8\nplacements = ["1x1"]')
    assert [case.operation for case in cases] == ["bcast"]
    assert notes == WORDING


def test_an_operation_for_pairs_or_many_ranks_is_left_out_of_fewer() -> None:
    cases, notes = expand('operations = ["bcast", "swap", "torus"]\nsizes = 8\nplacements = ["1x1"]')
    assert [case.operation for case in cases] == ["bcast"]
    assert notes == WORDING
    _, notes = expand('operations = ["swap"]\nsizes = 8\nplacements = ["1x1", "1x2"]')
    assert notes == WORDING


def test_a_note_names_the_first_three_operations() -> None:
    many = ["swap", "torus", "pingpong", "bandwidth", "put"]
    _, notes = expand(f'operations = {["bcast", *many]}\nsizes = 8\nplacements = ["1x1"]')
    assert notes == WORDING


def test_an_operation_between_two_ranks_is_not_repeated_with_idle_ranks() -> None:
    matrix = 'sizes = 8\nhosts = ["n1", "n2", "n3"]\nplacements = [{ nodes = [1, 2, 3], ranks_per_node = [1, 4, 2] }]'
    cases, notes = expand(f'operations = ["bcast", "pingpong"]\n{matrix}')
    assert [case.placement for case in cases if case.operation == "pingpong"] == ["1x2", "2x1"]
    assert len(cases) == 11
    assert notes == WORDING
    cases, _ = expand(f'operations = ["pingpong"]\npairs = "all"\n{matrix}')
    assert {case.placement for case in cases} == {"1x2", "1x4", "2x1", "2x2", "2x4", "3x1", "3x2", "3x4"}
    cases, _ = expand(f'operations = ["pingpong"]\n{matrix}\noptions = {{ to = 3 }}')
    assert {case.placement for case in cases} == {"1x4", "2x2", "2x4", "3x2", "3x4"}


def test_the_odd_rank_of_pairs_does_not_take_part() -> None:
    cases, notes = expand('operations = ["swap"]\nsizes = 8\nplacements = ["1x2", "1x3"]', cores=4)
    assert [case.placement for case in cases] == ["1x2", "1x3"]
    assert notes == WORDING


def test_an_operation_measured_once_per_launch_has_no_start() -> None:
    cases, notes = expand(
        'operations = ["birth"]\nstart = ["auto", "window"]\n[options]\nquantity = ["time", "memory"]'
    )
    assert [case.key for case in cases] == ["birth.blocking.0.byte.socket.none"]
    assert notes == WORDING


def test_each_case_is_measured_once_with_each_start() -> None:
    assert list_keys('operations = ["allreduce"]\nsizes = 8\nstart = ["barrier", "auto", "window"]') == [
        "allreduce.blocking.8.float.socket.barrier",
        "allreduce.blocking.8.float.socket.window",
    ]


def test_an_operation_timed_by_one_rank_has_no_start() -> None:
    cases, notes = expand('operations = ["pingpong", "bcast"]\nsizes = 8\nstart = ["barrier", "none", "window"]')
    assert [(case.operation, case.start) for case in cases] == [
        ("pingpong", "none"),
        ("bcast", "barrier"),
        ("bcast", "none"),
        ("bcast", "window"),
    ]
    assert notes == WORDING


def list_memories(
    operation: str, text: str, sizes: str = "8", placement: str = "1x2"
) -> tuple[list[Memory], list[str]]:
    """Return the states of memory in which an operation is measured, and the notes."""
    cases, notes = expand(
        f'operations = ["{operation}"]\nsizes = "{sizes}"\nplacements = ["{placement}"]\n[memory]\n{text}'
    )
    assert len({case.key for case in cases}) == len(cases)
    return [case.memory for case in cases], notes


def test_every_combination_of_memory_states_is_a_case() -> None:
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
    assert list_memories("bcast", 'buffers = ["separate", "in-place"]') == ([Memory()], WORDING)


def test_an_operation_without_root_is_measured_once_whatever_the_root() -> None:
    assert list_memories("allreduce", 'root = [1, "rotating"]\ncache = "cold"') == ([Memory(cache="cold")], WORDING)


def test_a_persistent_request_keeps_its_buffers_and_its_root() -> None:
    assert list_memories("reduce.persistent", 'cache = ["warm", "cold"]\nroot = [1, "rotating"]', sizes="0,8") == (
        [Memory(root=1), Memory(root=1)],
        WORDING,
    )


def test_buffers_bound_once_cannot_be_cold() -> None:
    assert list_memories("binding", 'cache = ["warm", "cold"]') == ([Memory()], WORDING)


def test_a_root_beyond_the_last_rank_is_left_out() -> None:
    assert list_memories("bcast", "root = [1, 2]") == ([Memory(root=1)], WORDING)


def test_an_empty_message_has_one_memory_state() -> None:
    text = 'cache = ["warm", "cold"]\npages = ["touched", "huge"]\nalignment = [0, 64]'
    assert list_memories("barrier", text) == ([Memory()], WORDING)
    assert list_memories("reduce", 'cache = "cold"\nbuffers = "in-place"\nroot = 1', sizes="0,8") == (
        [Memory(buffers="in-place", root=1), Memory(cache="cold", buffers="in-place", root=1)],
        WORDING,
    )


def test_a_plan_without_cases_is_an_error() -> None:
    assert read_refusal('operations = ["pingpong"]\nplacements = ["1x1"]') == WORDING


OPERATIONS = DESCRIPTION.operations
STARTS = ", ".join(["auto", *(start.name for start in fakes.read_description().starts)])


def test_a_misspelt_operation_is_refused_in_one_line() -> None:
    assert read_refusal('operations = ["bcast", "alreduce"]') == WORDING


def test_an_unknown_form_is_refused_in_one_line() -> None:
    assert read_refusal('operations = ["bandwidth.persistent"]') == WORDING


def test_a_misspelt_start_is_refused_in_one_line() -> None:
    assert read_suggestion('operations = ["bcast"]\nstart = "windw"') == (WORDING, STARTS)


def test_a_misspelt_start_among_others_is_named_by_its_index() -> None:
    assert read_suggestion('operations = ["bcast"]\nstart = ["window", "barier"]') == (WORDING, STARTS)


def test_a_misspelt_datatype_is_refused_in_one_line() -> None:
    allowed = ", ".join(["auto", *(datatype.name for datatype in DESCRIPTION.datatypes)])
    assert read_suggestion('operations = ["bcast"]\ndatatypes = ["byte", "vecto"]') == (WORDING, allowed)


def test_a_misspelt_clock_is_refused_in_one_line() -> None:
    allowed = ", ".join(["auto", *(source.name for source in fakes.read_description().sources)])
    assert read_suggestion('operations = ["bcast"]\nclock = "tcs"') == (WORDING, allowed)


def test_a_misspelt_synchronisation_is_refused_in_one_line() -> None:
    assert read_refusal('operations = ["bcast"]\nsynchronisation = "tee"') == WORDING


def test_a_size_beyond_the_memory_is_refused_in_one_line() -> None:
    assert read_refusal('operations = ["alltoall"]\nsizes = "8,1G"', memory_bytes=4 << 30) == WORDING


def test_buffers_of_all_ranks_of_a_node_count() -> None:
    operations = {operation.name: operation for operation in DESCRIPTION.operations}
    text = 'candidates = ["x"]\noperations = ["x"]\nplacements = ["1x4"]'
    placement = parse_plan(text, "plan.toml", fakes.make_machine()).placements[0]
    assert count_buffer_bytes(operations["alltoall"], 100, placement) == 4 * (400 + 400)
    assert count_buffer_bytes(operations["bcast"], 100, placement) == 4 * 100
    assert count_buffer_bytes(operations["bandwidth"], 100, placement, messages=8) == 2 * 800


def test_windows_and_neighbours_count_in_buffers() -> None:
    assert read_refusal('operations = ["bandwidth"]\nsizes = "64M"\n[options]\nwindow = [1, 64]') == WORDING
    assert read_refusal('operations = ["torus"]\nsizes = "512M"\nplacements = ["1x3"]', cores=4) == WORDING
    assert read_refusal('operations = ["scatter-all"]\nsizes = "512M"\nplacements = ["1x3"]', cores=4) == WORDING


def expand_options(text: str, options: str) -> tuple[list[tuple[str, dict[str, str]]], list[str]]:
    """Return operations and options of the cases of a plan, and the notes."""
    cases, notes = expand(f"sizes = 8\n{text}\n[options]\n{options}")
    assert len({case.key for case in cases}) == len(cases)
    assert all(list(case.options) == sorted(case.options) for case in cases)
    return [(case.operation, case.options) for case in cases], notes


def test_every_combination_of_options_is_a_case_of_operations_with_these_options() -> None:
    options = 'window = [1, 64]\nreceive = ["any-source", "source"]'
    assert expand_options('operations = ["bandwidth", "pingpong", "bcast"]', options) == (
        [
            ("bandwidth", {"receive": "any-source", "window": "1"}),
            ("bandwidth", {"window": "1"}),
            ("bandwidth", {"receive": "any-source"}),
            ("bandwidth", {}),
            ("pingpong", {"receive": "any-source"}),
            ("pingpong", {}),
            ("bcast", {}),
        ],
        [],
    )


def test_options_are_part_of_the_key_of_a_case() -> None:
    assert list_keys('operations = ["bandwidth"]\nsizes = 8\n[options]\nwindow = 2\nreceive = "any-source"') == [
        "bandwidth.nonblocking.8.byte.socket.none.receive=any-source.window=2"
    ]


def test_an_option_of_one_operation_applies_to_it_alone() -> None:
    options = 'receive = "any-source"\n"pingpong.receive" = ["source", "probe"]'
    assert expand_options('operations = ["bandwidth", "pingpong"]', options) == (
        [
            ("bandwidth", {"receive": "any-source"}),
            ("pingpong", {}),
            ("pingpong", {"receive": "probe"}),
        ],
        [],
    )


def test_an_unknown_value_of_an_option_is_left_out() -> None:
    assert expand_options('operations = ["bandwidth", "pingpong"]', 'receive = ["any-source", "probe"]') == (
        [
            ("bandwidth", {"receive": "any-source"}),
            ("pingpong", {"receive": "any-source"}),
            ("pingpong", {"receive": "probe"}),
        ],
        WORDING,
    )


def test_values_without_effect_make_no_separate_cases() -> None:
    options = 'quantity = ["time", "overlap"]\ntests = [0, 8]\narrival = ["together", "random"]\nspread_us = [50, 100]'
    assert expand_options('operations = ["allreduce.nonblocking"]', options) == (
        [
            ("allreduce", {}),
            ("allreduce", {"quantity": "overlap"}),
            ("allreduce", {"quantity": "overlap", "tests": "8"}),
            ("allreduce", {"arrival": "random", "spread_us": "50"}),
            ("allreduce", {"arrival": "random", "quantity": "overlap", "spread_us": "50"}),
            ("allreduce", {"arrival": "random", "quantity": "overlap", "spread_us": "50", "tests": "8"}),
            ("allreduce", {"arrival": "random"}),
            ("allreduce", {"arrival": "random", "quantity": "overlap"}),
            ("allreduce", {"arrival": "random", "quantity": "overlap", "tests": "8"}),
        ],
        [],
    )


def test_an_option_without_effect_in_any_case_is_noted() -> None:
    options = 'tests = [0, 8]\nspread_us = 50\nbusy_us = 7\nquantity = ["time", "memory"]'
    assert expand_options('operations = ["allreduce", "passive"]', options) == (
        [("allreduce", {}), ("allreduce", {"quantity": "memory"}), ("passive", {})],
        WORDING,
    )


def test_an_option_of_operations_that_are_not_measured_is_noted() -> None:
    assert expand_options('operations = ["bcast"]', 'window = 8\n"pingpong.from" = 1') == ([("bcast", {})], WORDING)


def test_arrival_patterns_need_a_start_at_agreed_times() -> None:
    assert expand_options(
        'operations = ["bcast"]\nstart = ["window", "barrier"]', 'arrival = ["together", "random"]'
    ) == ([("bcast", {}), ("bcast", {"arrival": "random"}), ("bcast", {})], WORDING)


def test_calls_that_block_or_wait_themselves_have_no_overlap() -> None:
    text = 'operations = ["allreduce", "bandwidth"]\nforms = ["blocking", "persistent"]'
    assert expand_options(text, 'quantity = ["time", "overlap"]') == (
        [("allreduce", {}), ("allreduce", {}), ("allreduce", {"quantity": "overlap"}), ("bandwidth", {})],
        WORDING,
    )


def test_only_time_is_measured_with_several_threads() -> None:
    options = 'threads = [1, 2]\nquantity = ["time", "memory"]'
    assert expand_options('operations = ["woven"]\nplacements = ["1x1"]', options) == (
        [("woven", {}), ("woven", {"quantity": "memory"}), ("woven", {"threads": "2"})],
        WORDING,
    )


def test_several_threads_have_their_own_level() -> None:
    """They need MPI_THREAD_MULTIPLE; one thread can have it or not, and the launches of both are not shared."""
    options = 'threads = [1, 2]\nthread_level = ["single", "multiple"]\nquantity = ["time", "memory"]'
    cases, notes = expand(f'operations = ["levels"]\nplacements = ["1x1"]\nsizes = 8\n[options]\n{options}')
    assert [(case.options, case.launch_group) for case in cases] == [
        ({}, ""),
        ({"thread_level": "multiple"}, "multiple"),
        ({"quantity": "memory"}, "memory"),
        ({"quantity": "memory", "thread_level": "multiple"}, "memory-multiple"),
        ({"threads": "2"}, "threads"),
    ]
    assert notes == WORDING


def test_the_two_ranks_must_differ_and_exist() -> None:
    assert expand_options('operations = ["pingpong"]', "from = [0, 1]\nto = [0, 1, 5]") == (
        [("pingpong", {}), ("pingpong", {"from": "1", "to": "0"})],
        WORDING,
    )


def test_all_pairs_of_ranks_are_cases() -> None:
    text = 'operations = ["pingpong", "bcast"]\nsizes = 8\npairs = "all"\nplacements = ["1x3"]'
    cases, notes = expand(text, cores=4)
    assert [(case.operation, case.options) for case in cases] == [
        ("pingpong", {}),
        ("pingpong", {"to": "2"}),
        ("pingpong", {"from": "1", "to": "2"}),
        ("bcast", {}),
    ]
    assert notes == []


def list_operations_with(name: str) -> str:
    """Return the names of the operations that have an option."""
    return ", ".join(
        operation.name for operation in OPERATIONS if name in {option.name for option in operation.options}
    )


def read_error(options: str) -> str:
    return read_refusal(f'operations = ["all"]\n[options]\n{options}')


def test_a_misspelt_option_is_refused_in_one_line() -> None:
    assert read_error("windov = 3") == (
        "plan.toml: options.windov: unknown option; did you mean window? (`rankbench operations -v` lists them); "
        f"window is an option of {list_operations_with('window')}"
    )
    assert read_error("qqq = 3") == "plan.toml: options.qqq: unknown option (`rankbench operations -v` lists them)"


def test_a_misspelt_option_of_an_operation_is_refused_in_one_line() -> None:
    assert read_error('"pingpong.fro" = 3') == (
        "plan.toml: options.pingpong.fro: unknown option; did you mean from? (allowed: receive, from, to); "
        f"from is an option of {list_operations_with('from')}"
    )


def test_an_option_of_a_misspelt_operation_is_refused_in_one_line() -> None:
    assert read_error("pingpog.from = 3") == WORDING


def test_an_option_that_the_operation_lacks_is_refused_in_one_line() -> None:
    assert read_error("alltoall.window = 3") == WORDING


def test_an_invalid_value_of_an_option_is_refused_in_one_line() -> None:
    assert read_error('pingpong.receive = ["source", "prob"]') == WORDING
    assert read_error("bandwidth.window = [8, 5000]") == WORDING
    assert read_error('bandwidth.window = "many"') == WORDING
    assert read_error("allreduce.tests = -1") == WORDING


def test_rings_without_enough_ranks_or_dimensions_are_left_out() -> None:
    text = 'grid = ["auto", "2", "2x1", "9x9"]\ndirection = ["right", "up", "1-"]'
    cases, notes = expand_options('operations = ["ring"]', text)
    assert [options for _, options in cases] == [
        {},
        {"grid": "2"},
        {"grid": "2x1"},
        {"direction": "up"},
        {"direction": "up", "grid": "2x1"},
        {"direction": "1-"},
        {"direction": "1-", "grid": "2x1"},
    ]
    assert sorted(notes, reverse=True) == WORDING


def test_rings_can_begin_together() -> None:
    text = 'operations = ["ring"]\nsizes = 8\nstart = ["none", "window"]'
    assert list_keys(text) == ["ring.blocking.8.int.socket.none", "ring.blocking.8.int.socket.window"]


@pytest.mark.parametrize("grid", ["4x", "x4", "0x2", "02x2", "1024", "2x2x2x2x2x2x2", "4 x 4"])
def test_an_invalid_grid_is_refused_in_one_line(grid: str) -> None:
    expected = 'expected "auto", or a grid such as "4x4" of up to 6 extents from 1 to 1023'
    assert read_error(f'grid = "{grid}"') == f'plan.toml: options.grid: found "{grid}", {expected}'


def test_a_misspelt_call_is_refused() -> None:
    with refuses():
        expand('operations = ["allreduce"]\nsizes = 8\n[calls]\n"allredce 8" = 3')


def test_a_call_without_a_measured_case_is_noted() -> None:
    _, notes = expand(
        'operations = ["allreduce"]\nsizes = 8\n[calls]\n"allreduce 8" = 3\n"bcast 8" = 1\n"allreduce 64" = 1'
    )
    assert notes[-2:] == WORDING


def expand_profile(
    *calls: Calls, text: str = 'placements = ["1x2"]', **changes: object
) -> tuple[list[Case], list[str]]:
    machine = fakes.make_machine(4)
    loaded = parse_plan(f'candidates = ["mpich"]\nprofile = "record.json"\n{text}\n', "plan.toml", machine)
    recorded = msgspec.structs.replace(Recorded(file="record.json", ranks=2, seconds=1, mpi_s=1), **changes)
    return plan.expand_plan(msgspec.structs.replace(loaded, calls=list(calls), profile=recorded), DESCRIPTION, machine)


def test_only_the_calls_of_a_profile_are_measured_as_they_were_made() -> None:
    late = {"arrival": "random", "spread_us": "70"}
    cases, notes = expand_profile(
        Calls("allreduce", 10, 5, "blocking", ranks=2, options=late),
        Calls("bcast", 64, 5, "blocking", ranks=2, datatype="vector"),
        Calls("pingpong", 1024, 5, "blocking", ranks=2),
    )
    assert [(case.operation, case.size_bytes, case.options) for case in cases] == [
        ("allreduce", 8, late),  # A multiple of its datatype.
        ("bcast", 64, {}),
        ("pingpong", 1024, {}),
    ]
    assert cases[1].datatype == "vector"
    assert notes == []


def test_calls_that_cannot_be_measured_are_noted() -> None:
    cases, notes = expand_profile(
        Calls("allreduce", 8, 5, "blocking", ranks=2),
        Calls("allreduce", 8, 5, "blocking", ranks=7),
        Calls("file_write", 8, 5, "blocking", ranks=2),
    )
    assert len(cases) == 1
    assert notes == WORDING


def test_calls_of_fewer_ranks_have_a_placement_of_their_own() -> None:
    cases, _ = expand_profile(
        Calls("allreduce", 8, 5, "blocking", ranks=2),
        Calls("allreduce", 8, 5, "blocking", ranks=4),
        text='placements = ["1x4", "1x2"]',
    )
    assert [case.ranks for case in cases] == [2, 4]


@pytest.mark.parametrize("several", [False, True])
def test_costly_calls_are_also_measured_without_threads_that_a_program_does_not_use(*, several: bool) -> None:
    """Threads that call need the level; where one calls, the answer says what the level costs."""
    level = {"thread_level": "multiple"}
    calls = [
        Calls("levels", size, 5, "blocking", ranks=2, options=level, seconds=size, waiting_s=size - 1.0)
        for size in (64, 128, 256)
    ] + [Calls("levels", 8, 5, "blocking", ranks=2, options=level, seconds=2.0)]
    cases, _ = expand_profile(*calls, thread_multiple=True, several_threads=several)
    assert [case.size_bytes for case in cases[:4]] == [64, 128, 256, 8]
    assert all(case.options == level for case in cases[:4])
    assert [case.size_bytes for case in cases[4:]] == ([] if several else [8, 64, 128])
    assert not any(case.options for case in cases[4:])


def test_a_profile_and_calls_contradict_each_other() -> None:
    with refuses():
        expand('profile = "record.json"\ncalls = { "allreduce 8" = 3 }')


def test_without_operations_the_calls_are_measured() -> None:
    text = """placements = ["1x2"]
    [calls]
    "allreduce 8-100" = "60%"
    "bcast.persistent 1K" = "30%"
    barrier = "10%"
    """
    cases, notes = expand(text)
    assert [(case.operation, case.form, case.size_bytes) for case in cases] == [
        ("allreduce", "blocking", 8),
        ("allreduce", "blocking", 32),
        ("allreduce", "blocking", 100),
        ("bcast", "persistent", 1024),
        ("barrier", "blocking", 0),
    ]
    assert notes == []
    doubles, _ = expand(f'datatypes = "double"\n{text}')
    assert [(case.datatype, case.size_bytes) for case in doubles[:3]] == [("double", 8), ("double", 32), ("double", 96)]


def test_calls_without_a_size_are_not_measured() -> None:
    with refuses():
        expand("[calls]\nallreduce = 3")
