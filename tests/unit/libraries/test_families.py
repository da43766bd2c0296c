from __future__ import annotations

import os
from pathlib import Path

import pytest

from rankbench import libraries
from rankbench.libraries import families
from rankbench.model import Library, Placement, RankbenchError

PROGRAM = ["/b/rankbench-core", "--check"]


def library(family: str, version: str = "1.0", launcher: str = "/l/bin/mpiexec") -> Library:
    return Library(
        name=f"{family}-{version}",
        family=family,
        version=version,
        source="prefix",
        prefix="/l",
        wrapper="/l/bin/mpicc",
        launcher=launcher,
        environment={"OF_LIBRARY": "1"},
    )


def placement(binding: str, nodes: int = 1) -> Placement:
    return Placement(name="p", nodes=nodes, ranks_per_node=4, binding="core" if binding == "core" else "none")


HYDRA = ["-n", "4", "-bind-to"]
LINES = [
    ("mpich", "5.0.2", "core", [*HYDRA, "core"], {}),
    ("mpich", "5.0.2", "none", [*HYDRA, "none"], {}),
    ("openmpi", "5.0.11", "core", ["-n", "4", "--bind-to", "core", "--map-by", "core"], {}),
    ("openmpi", "5.0.11", "none", ["-n", "4", "--bind-to", "none", "--map-by", ":OVERSUBSCRIBE"], {}),
    ("openmpi", "4.1.8", "core", ["-n", "4", "--bind-to", "core", "--map-by", "core"], {}),
    ("openmpi", "4.1.8", "none", ["-n", "4", "--bind-to", "none", "--oversubscribe"], {}),
    (
        "intel-mpi",
        "2021.18.1",
        "core",
        ["-n", "4"],
        {"I_MPI_PIN": "1", "I_MPI_PIN_DOMAIN": "core", "I_MPI_PIN_ORDER": "compact"},
    ),
    ("intel-mpi", "2021.18.1", "none", ["-n", "4"], {"I_MPI_PIN": "0"}),
    ("mvapich", "4.0", "core", [*HYDRA, "core"], {}),
    ("mvapich", "2.3.7", "core", [*HYDRA, "core"], {"MV2_ENABLE_AFFINITY": "0"}),
    ("mvapich", "2.3.7", "none", [*HYDRA, "none"], {"MV2_ENABLE_AFFINITY": "0"}),
]


@pytest.mark.parametrize(("family", "version", "binding", "options", "environment"), LINES)
def test_launch_line(family: str, version: str, binding: str, options: list[str], environment: dict[str, str]) -> None:
    of = library(family, version)
    command = libraries.family_of(of).launch_line(of, placement(binding), {}, PROGRAM)
    assert command.arguments == ["/l/bin/mpiexec", *options, *PROGRAM]
    assert command.environment == {"OF_LIBRARY": "1"} | environment


def test_mpirun_rsh_names_a_host_per_rank_and_hands_variables_on() -> None:
    of = library("mvapich", "1", "/l/bin/mpirun_rsh")
    command = libraries.family_of(of).launch_line(of, placement("core"), {"VIADEV_X": "2"}, PROGRAM)
    hosts = ["localhost"] * 4
    told = ["VIADEV_USE_AFFINITY=1", "VIADEV_X=2"]
    assert command.arguments == ["/l/bin/mpirun_rsh", "-np", "4", *hosts, *told, *PROGRAM]


@pytest.mark.parametrize("name", families.known())
def test_settings_reach_the_environment_and_win(name: str) -> None:
    of = library(name)
    settings = {"I_MPI_PIN": "x", "MV2_ENABLE_AFFINITY": "x", "UCX_TLS": "sm"}
    environment = libraries.family_of(of).launch_line(of, placement("core"), settings, PROGRAM).environment
    assert settings.items() <= environment.items()


def test_open_mpi_parameters_become_variables() -> None:
    assert families.known()["openmpi"].settings({"coll_tuned_use_dynamic_rules": "1", "PRTE_MCA_x": "2"}) == {
        "OMPI_MCA_coll_tuned_use_dynamic_rules": "1",
        "PRTE_MCA_x": "2",
    }


@pytest.mark.parametrize("name", families.known())
def test_more_than_one_node_is_refused(name: str) -> None:
    of = library(name)
    with pytest.raises(RankbenchError) as error:
        libraries.family_of(of).launch_line(of, placement("core", nodes=2), {}, PROGRAM)
    assert str(error.value) == "placement p: 2 nodes asked for; this version launches on one node only"


@pytest.mark.parametrize("name", families.known())
def test_missing_launcher_is_said(name: str) -> None:
    of = library(name, launcher="")
    with pytest.raises(RankbenchError) as error:
        libraries.family_of(of).launch_line(of, placement("none"), {}, PROGRAM)
    assert str(error.value) == f"{name}-1.0: no mpiexec beside /l/bin/mpicc; its own launcher is needed"


def test_families_made_from_others_are_asked_first() -> None:
    assert list(families.known()) == ["intel-mpi", "mvapich", "openmpi", "mpich"]


def test_unknown_family_is_said() -> None:
    with pytest.raises(RankbenchError) as error:
        libraries.family_of(library("unknown"))
    assert str(error.value) == (
        "/l/bin/mpicc: not recognised as an MPI library; known are Intel MPI, MVAPICH, Open MPI, MPICH"
    )


def test_open_mpi_prefix_is_named_where_the_library_lies_in_it(tmp_path: Path) -> None:
    family = families.known()["openmpi"]
    assert "OPAL_PREFIX" not in family.environment(tmp_path)
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "libmpi.so").touch()
    assert family.environment(tmp_path)["OPAL_PREFIX"] == str(tmp_path)


@pytest.mark.parametrize(("user", "allowed"), [(0, True), (1000, False)])
def test_only_root_lets_root_run(user: int, allowed: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: user)
    assert ("OMPI_ALLOW_RUN_AS_ROOT" in families.known()["openmpi"].environment(Path("/l"))) == allowed


def test_intel_is_told_its_root() -> None:
    assert families.known()["intel-mpi"].environment(Path("/l")) == {"I_MPI_ROOT": "/l"}
