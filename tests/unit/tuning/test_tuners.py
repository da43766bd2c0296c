"""Tuners: variants of the algorithms that libraries list, and the files and variables that select them."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest
from wording import refuses

from rankbench.model import Choice, Rule, Variable, Variant
from rankbench.tuning import tuners
from rankbench.tuning.handover.selection_trees import Tree


def make_variables(name: str, *values: str, description: str = "", value: str = "0") -> dict[str, Variable]:
    """Return a variable by name, with values that are numbered from 0."""
    choices = [Choice(name=value, number=number) for number, value in enumerate(values)]
    return {
        name: Variable(name=name, description=description, type="whole", constant=False, value=value, values=choices)
    }


NOTHING_KNOWN = tuners.Target("", {})


def make_rule(operation: str, first: int, last: int, algorithm: str, ranks: int = 4, **settings: str) -> Rule:
    variant = Variant(name=f"variant-{algorithm}", settings=settings, algorithm=algorithm)
    return Rule(operation=operation, first_bytes=first, last_bytes=last, variant=variant, ranks=ranks)


def test_every_tuner_names_known_families() -> None:
    assert sorted(tuners.list_tuners()) == ["intel-mpi", "mpich", "mvapich", "openmpi"]


def test_open_mpi_has_the_algorithms_of_its_component() -> None:
    variables = make_variables("coll_tuned_allreduce_algorithm", "ignore", "basic_linear", "ring")
    assert [*tuners.list_tuners()["openmpi"].list_variants("allreduce", variables)] == [
        Variant(
            name="basic-linear",
            settings={"coll_tuned_use_dynamic_rules": "1", "coll_tuned_allreduce_algorithm": "basic_linear"},
            algorithm="1",
        ),
        Variant(
            name="ring",
            settings={"coll_tuned_use_dynamic_rules": "1", "coll_tuned_allreduce_algorithm": "ring"},
            algorithm="2",
        ),
    ]


def test_open_mpi_s_file_ends_each_range_with_a_default_rule() -> None:
    rules = [
        make_rule("allreduce", 8, 4095, "3"),
        make_rule("allreduce", 4096, 65536, "4"),
        make_rule("alltoall", 64, 64, "2"),
    ]
    handover = tuners.list_tuners()["openmpi"].make_handover(rules, NOTHING_KNOWN)
    assert handover.settings == {
        "coll_tuned_use_dynamic_rules": "1",
        "coll_tuned_dynamic_rules_filename": "{folder}/openmpi-rules.conf",
    }
    numbers = list_numbers(handover.files["openmpi-rules.conf"])
    allreduce = ["2", "3", "1", "1", "0 0 0 0", "4", "4", "0 0 0 0", "8 3 0 0", "4096 4 0 0", "65537 0 0 0"]
    # Rules of alltoall count the bytes of all ranks.
    alltoall = ["3", "3", "1", "1", "0 0 0 0", "4", "3", "0 0 0 0", "256 2 0 0", "257 0 0 0"]
    fence = ["5", "1", "0 0 0 0"]
    assert numbers == ["2", *allreduce, *fence, *alltoall, *fence]


def list_numbers(text: str) -> list[str]:
    """Return the lines of a file without their comments."""
    return [line.partition("#")[0].strip() for line in text.splitlines()]


def test_rules_for_several_numbers_of_ranks_are_separated_by_default_rules() -> None:
    rules = [make_rule("bcast", 0, 8, "3", ranks=ranks) for ranks in (2, 3, 8)]
    (text,) = tuners.list_tuners()["openmpi"].make_handover(rules, NOTHING_KNOWN).files.values()
    fence, ring = ["1", "0 0 0 0"], ["2", "0 3 0 0", "9 0 0 0"]
    ranks = ["1", *fence, "2", *ring, "3", *ring, "4", *fence, "8", *ring, "9", *fence]
    assert list_numbers(text) == ["1", "7", "6", *ranks]


def test_open_mpi_has_variants_with_segments_and_fan_outs() -> None:
    name = "coll_tuned_bcast_algorithm"
    variables = (
        make_variables(name, "ignore", "linear", "chain")
        | make_variables(f"{name}_segmentsize")
        | make_variables(f"{name}_chain_fanout", value="4")
    )
    tuner = tuners.list_tuners()["openmpi"]
    linear, chain = tuner.list_variants("bcast", variables)
    assert [*tuner.vary_parameters("bcast", linear, variables, 8)] == []
    varied = [*tuner.vary_parameters("bcast", chain, variables, 4)]
    assert [variant.name for variant in varied] == [
        "chain-segmentsize-4096", "chain-segmentsize-32768", "chain-segmentsize-131072",
        "chain-chain-fanout-2", "chain-chain-fanout-3",
    ]  # fmt: skip
    rules = [
        Rule(operation="bcast", first_bytes=0, last_bytes=99, variant=varied[0], ranks=4),
        Rule(operation="bcast", first_bytes=100, last_bytes=199, variant=varied[3], ranks=4),
    ]
    (text,) = tuner.make_handover(rules, NOTHING_KNOWN).files.values()
    assert list_numbers(text)[8:11] == ["0 2 0 4096", "100 2 2 0", "200 0 0 0"]


def test_point_to_point_operations_have_eager_limits() -> None:
    variables = make_variables("btl_tcp_eager_limit")
    variants = tuners.list_variants(tuners.list_tuners()["openmpi"], "pingpong", variables)
    assert [(variant.settings, variant.at_start) for variant in variants] == [
        ({"btl_tcp_eager_limit": "16384"}, True),
        ({"btl_tcp_eager_limit": "65536"}, True),
    ]


def test_mpich_disables_the_device_algorithm_of_one_operation() -> None:
    variables = {
        **make_variables("MPIR_CVAR_BCAST_INTRA_ALGORITHM", "auto", "binomial", "ccl"),
        **make_variables("MPIR_CVAR_BCAST_POSIX_INTRA_ALGORITHM", "mpir", "release_gather", "auto"),
        **make_variables("MPIR_CVAR_BCAST_DEVICE_COLLECTIVE"),
    }
    off = {"MPIR_CVAR_DEVICE_COLLECTIVES": "percoll", "MPIR_CVAR_BCAST_DEVICE_COLLECTIVE": "0"}
    assert {
        variant.name: variant.settings for variant in tuners.list_tuners()["mpich"].list_variants("bcast", variables)
    } == {
        "ch4-off-auto": off | {"MPIR_CVAR_BCAST_INTRA_ALGORITHM": "auto"},
        "ch4-off-binomial": off | {"MPIR_CVAR_BCAST_INTRA_ALGORITHM": "binomial"},
        "posix-release-gather": {"MPIR_CVAR_BCAST_POSIX_INTRA_ALGORITHM": "release_gather"},
    }


def test_mpich_cannot_set_a_variable_to_two_values() -> None:
    rules = [
        msgspec.structs.replace(unnamed, all_sizes=True)
        for unnamed in (make_rule("bcast", 8, 8, "x", A="1"), make_rule("reduce", 8, 8, "y", A="2"))
    ]
    with refuses():
        tuners.list_tuners()["mpich"].make_handover(rules, NOTHING_KNOWN)


COMPOSITION = "Select composition for Allreduce 0 Auto selection 1 NM + SHM with reduce + bcast 2 NM only composition"
DEVICE: Tree = {
    "collective=allreduce": {"comm_type=intra": {"composition=MPIDI_Allreduce_intra_composition_alpha": {}}},
    "collective=bcast": {"comm_type=intra": {"composition=MPIDI_Bcast_intra_composition_alpha": {}}},
}
ABOVE: Tree = {
    "collective=ibcast": {"comm_type=intra": {"algorithm=MPIR_Ibcast_intra_sched_auto": {}}},
    "collective=allreduce": {
        "comm_type=intra": {"algorithm=MPIR_Allreduce_intra_recursive_doubling": {}},
        "comm_type=inter": {"algorithm=MPIR_Allreduce_inter_reduce_exchange_bcast": {}},
    },
}
LIBMPI = b"\0".join(
    [json.dumps(DEVICE).encode(), json.dumps(ABOVE).encode(), b"algorithm=MPIR_Allreduce_intra_recexch", b"\x7fELF"]
)


@pytest.fixture
def mpich(tmp_path: Path) -> tuners.Target:
    (tmp_path / "libmpi.so").write_bytes(LIBMPI)
    variables = (
        make_variables("MPIR_CVAR_ALLREDUCE_COMPOSITION", description=COMPOSITION)
        | make_variables("MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM", "auto", "ring", "recexch")
        | make_variables("MPIR_CVAR_ALLREDUCE_RECEXCH_KVAL", value="2")
    )
    return tuners.Target(str(tmp_path / "libmpi.so"), variables)


def test_mpich_divides_sizes_among_algorithms_that_its_trees_can_name(mpich: tuners.Target) -> None:
    tuner = tuners.list_tuners()["mpich"]
    variants = tuner.list_variants("allreduce", mpich.variables)
    assert {variant.name: tuner.can_split("allreduce", variant, mpich) for variant in variants} == {
        "ch4-off-auto": True,
        "ch4-off-ring": False,
        "ch4-off-recexch": True,
    }


def test_mpich_has_two_complete_trees_with_default_ranges(mpich: tuners.Target) -> None:
    tuner = tuners.list_tuners()["mpich"]
    *_, exchange = tuner.list_variants("allreduce", mpich.variables)
    (radix,) = tuner.vary_parameters("allreduce", exchange, mpich.variables, 3)
    handover = tuner.make_handover(
        [
            Rule(operation="allreduce", first_bytes=8, last_bytes=63, variant=exchange, ranks=4),
            Rule(operation="allreduce", first_bytes=64, last_bytes=512, variant=radix, ranks=4),
        ],
        mpich,
    )
    assert handover.settings == {
        "MPIR_CVAR_CH4_COLL_SELECTION_TUNING_JSON_FILE": "{folder}/mpich-device.json",
        "MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE": "{folder}/mpich-algorithms.json",
    }
    device, above = (json.loads(text) for text in handover.files.values())
    assert device["collective=bcast"] == DEVICE["collective=bcast"]
    default = DEVICE["collective=allreduce"]["comm_type=intra"]
    network: Tree = {"composition=MPIDI_Allreduce_intra_composition_beta": {}}
    sizes = {
        "avg_msg_size<=7": default,
        "avg_msg_size<=63": network,
        "avg_msg_size<=512": network,
        "avg_msg_size=any": default,
    }
    ranks = {"comm_size<=3": default, "comm_size<=4": sizes, "comm_size=any": default}
    assert device["collective=allreduce"] == {"comm_type=intra": ranks}
    assert above["collective=allreduce"]["comm_type=inter"] == ABOVE["collective=allreduce"]["comm_type=inter"]
    tree = above["collective=allreduce"]["comm_type=intra"]["comm_size<=4"]["avg_msg_size<=512"]
    algorithm: Tree = {"algorithm=MPIR_Allreduce_intra_recexch": {"k=3": {}, "single_phase_recv=0": {}}}
    default = ABOVE["collective=allreduce"]["comm_type=intra"]
    assert tree == {
        "is_commutative=yes": {"is_op_built_in=yes": algorithm, "is_op_built_in=no": default},
        "is_commutative=no": default,
    }


def test_a_library_without_trees_cannot_choose_by_size(tmp_path: Path) -> None:
    (tmp_path / "libmpi.so").write_bytes(b"\x7fELF")
    target = tuners.Target(str(tmp_path / "libmpi.so"), {})
    with refuses():
        tuners.list_tuners()["mpich"].make_handover([make_rule("bcast", 8, 8, "x")], target)


def test_intel_mpi_has_as_many_presets_as_its_variable_lists() -> None:
    text = "Control selection of MPI_Bcast algorithm presets.$ range: 0-3 @Alias:# I_MPI_ADJUST_BCAST @Default:# -1"
    other = "range: 0-9 @Alias:# I_MPI_ADJUST_BCAST_NODE @Default:# -1"
    variables = make_variables("X", description=other) | make_variables("MPIR_CVAR_USE_BCAST", description=text)
    variants = [*tuners.list_tuners()["intel-mpi"].list_variants("bcast", variables)]
    assert [(variant.name, variant.settings) for variant in variants] == [
        (f"preset-{number}", {"I_MPI_ADJUST_BCAST": str(number)}) for number in (1, 2, 3)
    ]


def make_preset(first: int, last: int, number: str, ranks: int = 2) -> Rule:
    return make_rule("bcast", first, last, number, ranks=ranks, I_MPI_ADJUST_BCAST=number)


def test_intel_mpi_has_a_preset_for_every_size() -> None:
    rules = [make_preset(8, 1023, "3"), make_preset(1024, 65536, "5")]
    handover = tuners.list_tuners()["intel-mpi"].make_handover(rules, NOTHING_KNOWN)
    assert handover.settings == {"I_MPI_ADJUST_BCAST": "3:0-1023;5:1024-2147483647"}
    assert handover.files == {}


def test_intel_mpi_cannot_choose_by_the_number_of_ranks() -> None:
    tuner = tuners.list_tuners()["intel-mpi"]
    same = [make_preset(8, 64, "3", ranks=2), make_preset(8, 64, "3", ranks=4)]
    assert tuner.make_handover(same, NOTHING_KNOWN).settings == {"I_MPI_ADJUST_BCAST": "3"}
    with refuses():
        tuner.make_handover([same[0], make_preset(8, 64, "5", ranks=4)], NOTHING_KNOWN)
