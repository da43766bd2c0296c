"""Placements of ranks, on machines of the tests and on recorded ones."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path

import fakes
import msgspec
import pytest
from wording import WORDING, refuses

from rankbench import plan
from rankbench.launch import topology
from rankbench.model import Cpu, Machine, Placement, Plan, RankbenchError
from rankbench.plan import placing
from rankbench.plan.placing import format_ranges
from rankbench.plan.reading import parse_plan

TOPOLOGIES = Path(__file__).parents[2] / "recorded" / "topologies"
SMALLEST_PLAN = 'candidates = ["mpich"]\noperations = ["allreduce"]\n'
HOSTS = 'hosts = ["n1", "n2", "n3"]\n'
NO_OPTIONS: Mapping[str, object] = {}


def load_machine(name: str, usable: Collection[int] = range(4096)) -> Machine:
    """Return a recorded machine."""
    reading = topology.parse_xml((TOPOLOGIES / f"{name}.xml").read_text())
    return make_machine(topology.assemble(reading, usable))


def make_machine(cpus: list[Cpu]) -> Machine:
    counts = {part: len({getattr(cpu, part) for cpu in cpus}) for part in ("socket", "core")}
    return msgspec.structs.replace(fakes.make_machine(), cpus=cpus, sockets=counts["socket"], cores=counts["core"])


XEON = load_machine("xeon-2x12-smt2")
NO_HOSTS = "none are named (hosts in the plan, or --hosts)"
"""The reason for placements over hosts in a plan without hosts."""
PAIR = fakes.make_machine()


def read(text: str, machine: Machine = PAIR, over: Mapping[str, object] = NO_OPTIONS) -> Plan:
    return parse_plan(SMALLEST_PLAN + text, "plan.toml", machine, over)


def read_cpus(text: str, machine: Machine = PAIR) -> dict[str, list[list[int]]]:
    """Return the CPUs of each placement's ranks."""
    return {placement.name: placement.cpus for placement in read(f"placements = {text}", machine).placements}


def read_refusal(text: str, machine: Machine = PAIR) -> str:
    with pytest.raises(RankbenchError) as error:
        read(text, machine)
    return fakes.drop_line(str(error.value))


# --- one node ---------------------------------------------------------------------------------------------------------


def test_a_socket_has_a_rank_on_each_of_its_cores() -> None:
    assert read_cpus('["socket"]', XEON) == {"socket": [[core, core + 24] for core in range(12)]}
    assert read_cpus('["socket:2"]', XEON) == {"socket:2": [[0, 24], [1, 25]]}


def test_a_node_has_a_rank_on_each_of_its_cores() -> None:
    assert read_cpus('["node", "node:13"]', XEON) == {
        "node": [[core, core + 24] for core in range(24)],
        "node:13": [[core, core + 24] for core in range(13)],
    }
    assert read_refusal('placements = ["node:25"]', XEON) == WORDING


def test_a_socket_is_found_with_any_numbering_of_cpus() -> None:
    interleaved = load_machine("xeon-2x12-interleaved")
    assert read_cpus('["socket:3"]', interleaved) == {"socket:3": [[0], [2], [4]]}
    (placement,) = read('placements = ["1x13"]', interleaved).placements
    assert placement.cpus == [[2 * core] for core in range(12)] + [[1]]
    assert placement.ordinals == list(range(13))


def test_the_socket_with_most_cores_is_used() -> None:
    assert read_cpus('["socket"]', load_machine("xeon-2x12-restricted")) == {"socket": [[12], [13], [14]]}


def test_ranks_of_sockets_alternate_between_sockets() -> None:
    assert read_cpus('["sockets", "sockets:2", "sockets:5"]', XEON) == {
        "sockets": [[0, 24], [12, 36]],
        "sockets:2": [[0, 24], [12, 36]],
        "sockets:5": [[0, 24], [12, 36], [1, 25], [13, 37], [2, 26]],
    }


def test_nodes_by_ranks_fill_core_after_core() -> None:
    (placement,) = read('placements = ["1x2"]', XEON).placements
    assert placement == Placement(
        name="1x2", nodes=1, ranks_per_node=2, binding="core", cpus=[[0, 24], [1, 25]], ordinals=[0, 1]
    )


def test_more_ranks_than_cores_are_not_bound() -> None:
    (placement,) = read('placements = ["1x25"]', XEON).placements
    assert placement == Placement(name="1x25", nodes=1, ranks_per_node=25, binding="none")


def test_the_limit_of_a_container_counts_as_fewer_cores() -> None:
    limited = msgspec.structs.replace(XEON, cores=4)
    assert read_cpus('["socket", "1x5"]', limited) == {"socket": [[0, 24], [1, 25]], "1x5": []}


def test_launchers_choose_the_cores_if_the_machine_hides_them() -> None:
    hidden = msgspec.structs.replace(XEON, cpus=[])
    assert [
        (placement.ranks, placement.binding, placement.cpus)
        for placement in read('placements = ["socket"]', hidden).placements
    ] == [(12, "core", [])]


# --- pairs ------------------------------------------------------------------------------------------------------------

KINDS = {
    "xeon-2x12-smt2": {
        "same-core": [[0], [24]],
        "same-l3": [[0, 24], [1, 25]],
        "two-sockets": [[0, 24], [12, 36]],
    },
    "epyc-2x16-nps4": {
        "same-core": [[0], [32]],
        "same-l3": [[0, 32], [1, 33]],
        "same-numa": [[0, 32], [2, 34]],
        "same-socket": [[0, 32], [4, 36]],
        "two-sockets": [[0, 32], [16, 48]],
    },
    "power9-2x8-smt4": {
        "same-core": [[0], [1]],
        "same-l2": [[0, 1, 2, 3], [4, 5, 6, 7]],
        "same-numa": [[0, 1, 2, 3], [8, 9, 10, 11]],
        "two-sockets": [[0, 1, 2, 3], [32, 33, 34, 35]],
    },
    "knl-16-smt4": {
        "same-core": [[0], [16]],
        "same-l2": [[0, 16, 32, 48], [1, 17, 33, 49]],
        "same-numa": [[0, 16, 32, 48], [2, 18, 34, 50]],
    },
    "xeon-2x12-restricted": {"same-l3": [[12], [13]], "two-sockets": [[2], [12]]},
}


@pytest.mark.parametrize("name", KINDS)
def test_core_pairs_are_all_kinds_of_pairs_the_nearest_first(name: str) -> None:
    pairs = read_cpus('["core-pairs"]', load_machine(name))
    assert list(pairs) == list(KINDS[name])
    if name != "xeon-2x12-restricted":
        assert pairs == KINDS[name]


def test_threads_of_one_core_are_bound_singly() -> None:
    (placement,) = read('placements = ["same-core"]', XEON).placements
    assert placement == Placement(
        name="same-core", nodes=1, ranks_per_node=2, binding="thread", cpus=[[0], [24]], ordinals=[0, 1]
    )


def test_a_kind_of_pair_can_be_named_and_occurs_once() -> None:
    assert list(read_cpus('["two-sockets", "core-pairs"]', XEON)) == ["two-sockets", "same-core", "same-l3"]


def test_an_l3_of_several_numa_nodes_is_wider_than_a_numa_node() -> None:
    cpus = [
        Cpu(number=cpu, core=cpu, socket=0, numa=cpu // 2, caches={"L3": 0}, ordinal=cpu, core_ordinal=cpu)
        for cpu in range(4)
    ]
    assert read_cpus('["core-pairs"]', make_machine(cpus)) == {"same-numa": [[0], [1]], "same-l3": [[0], [2]]}


def test_a_numa_node_of_two_sockets_does_not_join_them() -> None:
    cpus = [Cpu(number=cpu, core=cpu, socket=cpu // 2, numa=0, ordinal=cpu, core_ordinal=cpu) for cpu in range(4)]
    assert read_cpus('["core-pairs"]', make_machine(cpus)) == {"same-socket": [[0], [1]], "two-sockets": [[0], [2]]}


# --- lists ------------------------------------------------------------------------------------------------------------


def test_cpus_can_be_listed_rank_by_rank() -> None:
    (placement,) = read('placements = [{ name = "far", cpus = [36, 0] }]', XEON).placements
    assert placement == Placement(
        name="far", nodes=1, ranks_per_node=2, binding="thread", cpus=[[36], [0]], ordinals=[25, 0]
    )


def test_a_cpu_that_is_a_whole_core_is_bound_as_a_core() -> None:
    (placement,) = read('placements = [{ name = "back", cpus = [1, 0] }]').placements
    assert placement == Placement(
        name="back", nodes=1, ranks_per_node=2, binding="core", cpus=[[1], [0]], ordinals=[1, 0]
    )


def test_cores_can_be_listed_with_hwloc_s_numbers() -> None:
    interleaved = load_machine("xeon-2x12-interleaved")
    (placement,) = read('placements = [{ name = "far", cores = [12, 1] }]', interleaved).placements
    assert placement == Placement(
        name="far", nodes=1, ranks_per_node=2, binding="core", cpus=[[1], [2]], ordinals=[12, 1]
    )


# --- several nodes ----------------------------------------------------------------------------------------------------


def test_nodes_have_a_rank_on_each_host() -> None:
    (placement,) = read(HOSTS + 'remote_shell = "/rsh"\nplacements = ["nodes"]').placements
    assert placement == Placement(
        name="nodes", nodes=3, ranks_per_node=1, binding="core", cpus=[[0]], ordinals=[0],
        hosts=["n1", "n2", "n3"], remote_shell="/rsh",
    )  # fmt: skip


def test_nodes_by_ranks_take_the_first_hosts() -> None:
    placements = read(HOSTS + 'remote_shell = "/rsh"\nplacements = ["2x2", "1x2"]').placements
    assert [(placement.hosts, placement.remote_shell, placement.cpus) for placement in placements] == [
        (["n1", "n2"], "/rsh", [[0], [1]]),
        (["n1"], "/rsh", [[0], [1]]),
    ]


def test_ranks_are_not_bound_with_binding_none() -> None:
    placements = read(HOSTS + 'binding = "none"\nplacements = ["2x2", "nodes", "socket"]').placements
    assert [(placement.name, placement.binding, placement.cpus, placement.ordinals) for placement in placements] == [
        ("2x2", "none", [], []),
        ("nodes", "none", [], []),
        ("socket", "none", [], []),
    ]


def test_options_of_the_command_line_replace_keys_of_the_plan() -> None:
    over = {"hosts": ["m1", "m2"], "remote_shell": "/other", "binding": "none"}
    (placement,) = read(HOSTS + 'remote_shell = "/rsh"\nplacements = ["nodes"]', over=over).placements
    assert (placement.hosts, placement.remote_shell, placement.binding) == (["m1", "m2"], "/other", "none")
    with refuses():
        read(HOSTS, over={"hosts": ["n1", "n1"]})


# --- so many nodes with so many ranks ---------------------------------------------------------------------------------


def test_a_table_is_every_number_of_nodes_with_every_number_of_ranks() -> None:
    planned = read(HOSTS + "placements = [{ nodes = [1, 2, 3], ranks_per_node = [1, 2] }]")
    assert [placement.name for placement in planned.placements] == ["1x1", "1x2", "2x1", "2x2", "3x1", "3x2"]
    assert planned.placements == read(HOSTS + 'placements = ["1x1", "1x2", "2x1", "2x2", "3x1", "3x2"]').placements
    assert planned.notes == []


def test_a_number_in_a_table_is_a_list_with_one_value() -> None:
    planned = read(HOSTS + 'placements = ["socket", { nodes = 2, ranks_per_node = [1, 2] }, "2x1"]')
    assert [placement.name for placement in planned.placements] == ["socket", "2x1", "2x2"]


def test_entries_of_a_table_that_do_not_fit_are_noted_in_one_line() -> None:
    matrix = "placements = [{ nodes = [1, 2, 3, 4, 6, 8, 12], ranks_per_node = [1, 2, 4] }]"
    planned = read(matrix)
    assert [placement.name for placement in planned.placements] == ["1x1", "1x2", "1x4"]
    assert planned.notes == WORDING
    planned = read(HOSTS + "oversubscribe = 1\n" + matrix)
    assert [placement.name for placement in planned.placements] == ["1x1", "1x2", "2x1", "2x2", "3x1", "3x2"]
    assert planned.notes == WORDING
    assert read_refusal("oversubscribe = 1\nplacements = [{ nodes = [4], ranks_per_node = [4, 8] }]") == WORDING


def test_a_table_for_a_scheduler_has_the_nodes_of_the_job() -> None:
    text = "placements = [{ nodes = [1, 2, 3, 4, 6, 8, 12], ranks_per_node = [1, 2, 4] }]"
    planned = parse_plan(SMALLEST_PLAN + text, "plan.toml", PAIR, job={})
    assert len(planned.placements) == 21
    assert planned.notes == []
    assert (planned.job.nodes, planned.job.tasks_per_node) == (12, 4)
    assert planned.placements[-1].hosts == [f"__NODE_{number}__" for number in range(1, 13)]
    planned = parse_plan(SMALLEST_PLAN + text, "plan.toml", PAIR, job={"nodes": 4})
    assert [placement.name for placement in planned.placements[-3:]] == ["4x1", "4x2", "4x4"]
    assert planned.notes == WORDING


def test_one_plan_for_a_scheduler_covers_one_node_and_several() -> None:
    planned = parse_plan(
        SMALLEST_PLAN + f'placements = ["socket", "nodes"]\njob = {{ nodes = 2, {SHAPE} }}', "plan.toml", PAIR, job={}
    )
    assert [
        (placement.name, placement.nodes, placement.ranks_per_node, placement.hosts) for placement in planned.placements
    ] == [
        ("socket", 1, 6, ["__NODE_1__"]),
        ("nodes", 2, 1, ["__NODE_1__", "__NODE_2__"]),
    ]


@pytest.mark.parametrize(
    "table",
    [
        "nodes = 2",
        "ranks_per_node = 2",
        "nodes = 2, ranks = 1",
        "nodes = 0, ranks_per_node = 1",
        "nodes = [1, true], ranks_per_node = 1",
        "nodes = [2, 2], ranks_per_node = 1",
        "nodes = [], ranks_per_node = 1",
    ],
)
def test_a_wrong_table_is_refused_in_one_line(table: str) -> None:
    assert read_refusal(f"placements = [{{ {table} }}]") == WORDING


PAIR_PLACEMENT = 'placements = [{{ name = "{}", cpus = [0, 1] }}]'


@pytest.mark.parametrize("name", placing.PAIRS)
def test_the_name_of_a_kind_of_core_pair_is_taken(name: str) -> None:
    assert read_refusal(PAIR_PLACEMENT.format(name)) == WORDING


# --- nodes of a job that the plan describes ---------------------------------------------------------------------------

SHAPE = "sockets = 2, cores_per_socket = 6"
NAMED = '["socket", "sockets", "sockets:4", "two-sockets", { name = "far", cpus = [0, 11] }]'


def read_job(placements: str, shape: str) -> Plan:
    """Return a plan for a scheduler, read on a host of two cores."""
    text = f"{SMALLEST_PLAN}placements = {placements}\njob = {{ nodes = 2{shape and ', '}{shape} }}\n"
    return plan.parse_plan(text, "plan.toml", PAIR, job={})


def test_placements_of_a_job_are_on_nodes_of_the_stated_shape() -> None:
    planned = read_job(NAMED, SHAPE)
    assert planned.notes == []
    assert {placement.name: placement.cpus for placement in planned.placements} == {
        "socket": [[0], [1], [2], [3], [4], [5]],
        "sockets": [[0], [6]],
        "sockets:4": [[0], [6], [1], [7]],
        "two-sockets": [[0], [6]],
        "far": [[0], [11]],
    }
    assert {placement.name: placement.ordinals for placement in planned.placements}["sockets"] == [0, 6]
    assert [place.name for place in read_job('["core-pairs"]', SHAPE).placements] == ["same-socket", "two-sockets"]


def test_a_core_of_the_stated_shape_has_all_its_threads() -> None:
    planned = read_job('["sockets", "same-core"]', f"{SHAPE}, threads_per_core = 2")
    assert [placement.cpus for placement in planned.placements] == [[[0, 12], [6, 18]], [[0], [12]]]
    assert [placement.ordinals for placement in planned.placements] == [[0, 6], [0, 1]]


@pytest.mark.parametrize(
    ("entry", "name"),
    [(f'"{name}"', name) for name in ("socket", "sockets", "sockets:4", "core-pairs", "two-sockets")]
    + [('{ name = "far", cpus = [0, 1] }', "far")],
)
def test_cores_of_a_job_are_never_those_of_the_submitting_host(entry: str, name: str) -> None:
    with pytest.raises(RankbenchError) as error:
        read_job(f'[{entry}, "2x1"]', "")
    assert f'"{name}" needs the cores' in str(error.value)
    assert str(error.value) == WORDING


def test_placements_that_do_not_fit_the_stated_shape_are_left_out() -> None:
    assert read_job('["sockets:26", "2x1"]', SHAPE).notes == WORDING


def test_nodes_of_a_job_are_as_crowded_as_the_plan_lets() -> None:
    planned = read_job('["2x12", "2x13"]\noversubscribe = 1', SHAPE)
    assert [place.name for place in planned.placements] == ["2x12"]
    assert planned.notes == [WORDING]
    assert [place.ranks_per_node for place in read_job('["node"]', SHAPE).placements] == [12]


@pytest.mark.parametrize("shape", ["sockets = 2", "threads_per_core = 2", "sockets = 0, cores_per_socket = 1"])
def test_half_a_shape_is_refused(shape: str) -> None:
    with pytest.raises(RankbenchError) as error:
        read_job('["socket"]', shape)
    assert str(error.value) == WORDING


# --- placements that do not fit ---------------------------------------------------------------------------------------

ONE_CORE = fakes.make_machine(1)
LEFT_OUT = [
    ('"sockets"', PAIR, "sockets: takes two sockets, the machine has one"),
    ('"sockets:1"', XEON, "sockets:1: takes two ranks or more"),
    ('"sockets:26"', XEON, "sockets:26: a socket has 12 cores"),
    ('"socket:13"', XEON, "socket:13: a socket has 12 cores"),
    ('"nodes"', PAIR, f"nodes: takes two hosts or more, {NO_HOSTS}"),
    ('"4x2"', PAIR, f"4x2: takes 4 hosts, {NO_HOSTS}"),
    ('"core-pairs"', ONE_CORE, "core-pairs: takes two CPUs, the machine has one"),
    ('"same-core"', PAIR, "same-core: no two CPUs are a pair of this kind (same-l3)"),
    ('"two-sockets"', ONE_CORE, "two-sockets: no two CPUs are a pair of this kind (there is one)"),
    ('{ name = "far", cpus = [0, 12] }', PAIR, "far: CPU 12 is not among those that can be used (0-1)"),
    ('{ name = "far", cores = [0, 24] }', XEON, "far: core 24 is not among those that can be used (0-23)"),
]


@pytest.mark.parametrize(("text", "machine", "reason"), LEFT_OUT)
def test_placements_that_do_not_fit_the_machine_are_left_out_with_a_note(
    text: str, machine: Machine, reason: str
) -> None:
    planned = read(f'placements = [{text}, "1x1"]', machine)
    assert [placement.name for placement in planned.placements] == ["1x1"]
    assert planned.notes == [f"{reason}; left out"]
    cases, notes = plan.expand_plan(planned, fakes.read_description(), machine)
    assert cases
    assert notes[0] == f"{reason}; left out"


@pytest.mark.parametrize(("text", "machine", "reason"), LEFT_OUT)
def test_a_plan_without_any_placement_is_an_error(text: str, machine: Machine, reason: str) -> None:
    assert read_refusal(f"placements = [{text}]", machine) == WORDING


def test_an_error_lists_all_omitted_placements() -> None:
    assert read_refusal('placements = ["sockets", "nodes"]') == WORDING


@pytest.mark.parametrize(
    ("text", "name"),
    [('"sockets"', "sockets"), ('"core-pairs"', "core-pairs"), ('{ name = "far", cpus = [0, 12] }', "far")],
)
def test_placements_on_cpus_contradict_binding_none(text: str, name: str) -> None:
    assert read(f'binding = "none"\nplacements = [{text}, "1x1"]', XEON).notes == WORDING


def test_unbound_ranks_are_on_no_certain_socket() -> None:
    assert read('binding = "none"\nplacements = ["socket", "1x1"]', XEON).notes == WORDING


def test_no_cpus_are_invented_if_the_machine_hides_its_cores() -> None:
    hidden = msgspec.structs.replace(PAIR, cpus=[])
    assert read('placements = ["core-pairs", "1x1"]', hidden).notes == WORDING


def test_more_ranks_per_core_than_allowed_are_left_out() -> None:
    planned = read('oversubscribe = 2\nplacements = ["1x2", "1x4", "1x5"]')
    assert [placement.name for placement in planned.placements] == ["1x2", "1x4"]
    assert planned.notes == WORDING
    assert read('placements = ["1x5"]').notes == []


@pytest.mark.parametrize(
    "text",
    [
        'placements = ["sokcet"]',
        'placements = ["nodes:2"]',
        'placements = ["socket:0"]',
        "placements = [3]",
        "placements = []",
        "placements = [{ cpus = [0] }]",
        'placements = [{ name = "a b", cpus = [0] }]',
        'placements = [{ name = "1x2", cpus = [0] }]',
        'placements = [{ name = "socket", cpus = [0] }]',
        'placements = [{ name = "far" }]',
        'placements = [{ name = "far", cpus = [0], cores = [0] }]',
        'placements = [{ name = "far", cpu = [0] }]',
        'placements = [{ name = "far", cpus = [0, -1] }]',
        'placements = [{ name = "far", cpus = [1, 1] }]',
        'placements = [{ name = "far", cpus = 1 }]',
        'placements = [{ name = "a", cpus = [0] }, { name = "a", cpus = [1] }]',
        'hosts = "n1"',
        'hosts = ["n1", "-x"]',
        'hosts = ["n1", 2]',
        "remote_shell = 1",
        'binding = "nome"',
        "oversubscribe = 0",
    ],
)
def test_a_wrong_placement_is_refused_in_one_line(text: str) -> None:
    assert read_refusal(text) == WORDING


@pytest.mark.parametrize(("numbers", "text"), [([], ""), ([3], "3"), ([8, 0, 1, 2], "0-2,8"), ([1, 3], "1,3")])
def test_cpu_lists_are_formatted_as_in_the_kernel(numbers: list[int], text: str) -> None:
    assert format_ranges(numbers) == text


def test_the_torus_preset_has_a_rank_on_each_of_1_4_9_and_16_nodes() -> None:
    over = {"hosts": [f"n{number}" for number in range(16)]}
    placements = plan.load_plan(plan.find_preset("torus"), PAIR, over).placements
    assert [place.nodes for place in placements if place.ranks_per_node == 1] == [1, 4, 9, 16]
