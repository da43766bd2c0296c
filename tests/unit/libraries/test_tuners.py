"""Tuners: the variants of what libraries list, and the files and variables that make a library follow rules."""

from __future__ import annotations

import pytest

from rankbench.libraries import tuners
from rankbench.model import Choice, RankbenchError, Rule, Variable, Variant


def listed(name: str, *values: str, description: str = "") -> dict[str, Variable]:
    """Return a variable by name, with values that are numbered from 0."""
    choices = [Choice(name=value, number=number) for number, value in enumerate(values)]
    return {name: Variable(name=name, description=description, type="whole", constant=False, value="0", values=choices)}


def rule(operation: str, first: int, last: int, algorithm: str, **settings: str) -> Rule:
    variant = Variant(name=f"variant-{algorithm}", settings=settings, algorithm=algorithm)
    return Rule(operation=operation, first_bytes=first, last_bytes=last, variant=variant)


def test_every_tuner_names_families_that_there_are() -> None:
    assert sorted(tuners.list_tuners()) == ["intel-mpi", "mpich", "mvapich", "openmpi"]


def test_open_mpi_has_the_algorithms_of_its_component() -> None:
    variables = listed("coll_tuned_allreduce_algorithm", "ignore", "basic_linear", "ring")
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


def test_open_mpi_has_a_file_with_fences() -> None:
    rules = [rule("allreduce", 8, 4095, "3"), rule("allreduce", 4096, 65536, "4"), rule("alltoall", 64, 64, "2")]
    handover = tuners.list_tuners()["openmpi"].make_handover(rules, 4)
    assert handover.settings == {
        "coll_tuned_use_dynamic_rules": "1",
        "coll_tuned_dynamic_rules_filename": "{file}",
    }
    numbers = [line.partition("#")[0].strip() for line in handover.text.splitlines()]
    allreduce = ["2", "3", "1", "1", "0 0 0 0", "4", "4", "0 0 0 0", "8 3 0 0", "4096 4 0 0", "65537 0 0 0"]
    # Rules of alltoall count the bytes of all ranks together.
    alltoall = ["3", "3", "1", "1", "0 0 0 0", "4", "3", "0 0 0 0", "256 2 0 0", "257 0 0 0"]
    fence = ["5", "1", "0 0 0 0"]
    assert numbers == ["2", *allreduce, *fence, *alltoall, *fence]


def test_mpich_switches_the_device_off_for_one_operation() -> None:
    variables = {
        **listed("MPIR_CVAR_BCAST_INTRA_ALGORITHM", "auto", "binomial", "ccl"),
        **listed("MPIR_CVAR_BCAST_POSIX_INTRA_ALGORITHM", "mpir", "release_gather", "auto"),
        **listed("MPIR_CVAR_BCAST_DEVICE_COLLECTIVE"),
    }
    off = {"MPIR_CVAR_DEVICE_COLLECTIVES": "percoll", "MPIR_CVAR_BCAST_DEVICE_COLLECTIVE": "0"}
    assert {
        list_variant.name: list_variant.settings
        for list_variant in tuners.list_tuners()["mpich"].list_variants("bcast", variables)
    } == {
        "ch4-off-auto": off | {"MPIR_CVAR_BCAST_INTRA_ALGORITHM": "auto"},
        "ch4-off-binomial": off | {"MPIR_CVAR_BCAST_INTRA_ALGORITHM": "binomial"},
        "posix-release-gather": {"MPIR_CVAR_BCAST_POSIX_INTRA_ALGORITHM": "release_gather"},
    }


def test_mpich_cannot_set_a_variable_to_two_values() -> None:
    rules = [rule("bcast", 8, 8, "x", A="1"), rule("reduce", 8, 8, "y", A="2")]
    with pytest.raises(RankbenchError, match="reduce: A cannot be 2 and 1"):
        tuners.list_tuners()["mpich"].make_handover(rules, 2)


def test_intel_mpi_has_as_many_presets_as_its_variable_says() -> None:
    text = "Control selection of MPI_Bcast algorithm presets.$ range: 0-3 @Alias:# I_MPI_ADJUST_BCAST @Default:# -1"
    other = "range: 0-9 @Alias:# I_MPI_ADJUST_BCAST_NODE @Default:# -1"
    variables = listed("X", description=other) | listed("MPIR_CVAR_USE_BCAST", description=text)
    variants = [*tuners.list_tuners()["intel-mpi"].list_variants("bcast", variables)]
    assert [(variant.name, variant.settings) for variant in variants] == [
        (f"preset-{number}", {"I_MPI_ADJUST_BCAST": str(number)}) for number in (1, 2, 3)
    ]


def test_intel_mpi_has_ranges_in_its_variables() -> None:
    rules = [
        rule("bcast", 8, 1023, "3", I_MPI_ADJUST_BCAST="3"),
        rule("bcast", 1024, 65536, "5", I_MPI_ADJUST_BCAST="5"),
    ]
    handover = tuners.list_tuners()["intel-mpi"].make_handover(rules, 2)
    assert handover.settings == {"I_MPI_ADJUST_BCAST": "3:8-1023@2-2;5:1024-65536@2-2"}
    assert handover.file == ""
