from __future__ import annotations

import os
from pathlib import Path

import msgspec
import pytest
from wording import refuses

from rankbench import libraries
from rankbench.libraries import families
from rankbench.model import Binding, Library, Placement, RankbenchError

PROGRAM = ["/b/rankbench-core", "--check"]


def make_library(family: str, version: str = "1.0", launcher: str = "/l/bin/mpiexec") -> Library:
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


def make_placement(binding: Binding, nodes: int = 1) -> Placement:
    return Placement(name="p", nodes=nodes, ranks_per_node=4, binding=binding)


PAIR = Placement(name="p", nodes=1, ranks_per_node=2, binding="core", cpus=[[12], [0]], ordinals=[6, 0])
CORES = msgspec.structs.replace(PAIR, cpus=[[12, 36], [0, 24]])
THREADS = msgspec.structs.replace(PAIR, binding="thread", cpus=[[24], [0]], ordinals=[1, 0])
NODES = msgspec.structs.replace(PAIR, nodes=2, hosts=["n1", "n2"], remote_shell="/rsh")
UNBOUND = Placement(name="p", nodes=2, ranks_per_node=2, binding="none", hosts=["n1", "n2"])


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
    ("mpich", "5.0.2", "thread", [*HYDRA, "hwthread"], {}),
    ("openmpi", "5.0.11", "thread", ["-n", "4", "--bind-to", "hwthread", "--map-by", "hwthread"], {}),
    ("openmpi", "4.1.8", "thread", ["-n", "4", "--bind-to", "hwthread", "--map-by", "hwthread"], {}),
    ("intel-mpi", "2021.18.1", "thread", ["-n", "4"], {"I_MPI_PIN": "1", "I_MPI_PIN_PROCESSOR_LIST": "all"}),
    ("mvapich", "4.0", "core", [*HYDRA, "core"], {}),
    ("mvapich", "2.3.7", "core", [*HYDRA, "core"], {"MV2_ENABLE_AFFINITY": "0"}),
    ("mvapich", "2.3.7", "none", [*HYDRA, "none"], {"MV2_ENABLE_AFFINITY": "0"}),
]


@pytest.mark.parametrize(("family", "version", "binding", "options", "environment"), LINES)
def test_a_launch_line_has_ranks_and_binding(
    family: str, version: str, binding: Binding, options: list[str], environment: dict[str, str]
) -> None:
    of = make_library(family, version)
    command = libraries.find_family(of).make_launch_line(of, make_placement(binding), {}, PROGRAM)
    assert command.arguments == ["/l/bin/mpiexec", *options, *PROGRAM]
    assert command.environment == {"OF_LIBRARY": "1"} | environment


RANKS_2 = ["-n", "2"]
PINNED = {"I_MPI_PIN": "1"}
SWITCHED_OFF = {"MV2_ENABLE_AFFINITY": "0"}
SEATS: list[tuple[str, str, Placement, list[str], dict[str, str]]] = [
    ("mpich", "5.0.2", PAIR, [*RANKS_2, "-bind-to", "user:12,0"], {}),
    ("mpich", "5.0.2", CORES, [*RANKS_2, "-bind-to", "user:12+36,0+24"], {}),
    ("mpich", "4.0.2", THREADS, [*RANKS_2, "-bind-to", "user:24,0"], {}),
    ("mvapich", "4.0", CORES, [*RANKS_2, "-bind-to", "user:12+36,0+24"], {}),
    ("mvapich", "2.3.7", PAIR, [*RANKS_2, "-bind-to", "user:12,0"], SWITCHED_OFF),
    ("openmpi", "5.0.11", CORES, [*RANKS_2, "--bind-to", "core", "--map-by", "pe-list=6,0:ordered"], {}),
    ("openmpi", "5.0.11", THREADS,
     [*RANKS_2, "--bind-to", "hwthread", "--map-by", "pe-list=1,0:ordered:hwtcpus:oversubscribe"], {}),
    ("openmpi", "4.1.8", CORES, [*RANKS_2, "--rankfile", "rankfile.txt"], {}),
    ("openmpi", "4.1.8", THREADS, [*RANKS_2, "--use-hwthread-cpus", "--rankfile", "rankfile.txt"], {}),
    ("intel-mpi", "2021.18.1", PAIR, RANKS_2, PINNED | {"I_MPI_PIN_PROCESSOR_LIST": "12,0"}),
    ("intel-mpi", "2021.18.1", THREADS, RANKS_2, PINNED | {"I_MPI_PIN_PROCESSOR_LIST": "24,0"}),
    ("intel-mpi", "2021.18.1", CORES, RANKS_2, PINNED | {"I_MPI_PIN_DOMAIN": "[0x1000001000,0x1000001]"}),
]  # fmt: skip


@pytest.mark.parametrize(("family", "version", "placed", "options", "environment"), SEATS)
def test_ranks_are_bound_to_the_cpus_of_the_placement(
    family: str, version: str, placed: Placement, options: list[str], environment: dict[str, str]
) -> None:
    of = make_library(family, version)
    command = libraries.find_family(of).make_launch_line(of, placed, {}, PROGRAM)
    assert command.arguments == ["/l/bin/mpiexec", *options, *PROGRAM]
    assert command.environment == {"OF_LIBRARY": "1"} | environment


@pytest.mark.parametrize(("family", "version"), sorted({(family, version) for family, version, *_ in SEATS}))
def test_cpus_of_a_placement_are_ignored_for_unbound_ranks(family: str, version: str) -> None:
    of = make_library(family, version)
    placed = [msgspec.structs.replace(place, binding="none") for place in (CORES, make_placement("core"))]
    listed, free = (msgspec.structs.replace(place, ranks_per_node=2) for place in placed)
    lines = [libraries.find_family(of).make_launch_line(of, place, {}, PROGRAM) for place in (listed, free)]
    assert lines[0] == lines[1]


RANKS_4 = ["-n", "4"]
HYDRA_NODES = ["-launcher", "ssh", "-launcher-exec", "/rsh", "-hosts", "n1,n2", "-ppn", "2"]
INTEL_NODES = ["-bootstrap", "ssh", "-bootstrap-exec", "/rsh", "-hosts", "n1,n2", "-ppn", "2"]
FOUND = {"LD_LIBRARY_PATH": "/l/lib:/else"}
SETTINGS = {"UCX_TLS": "tcp", "coll_x": "1"}
VARIABLES = {"UCX_TLS": "tcp", "OMPI_MCA_coll_x": "1"}
OVER_NODES: list[tuple[str, str, Placement, list[str], dict[str, str]]] = [
    ("mpich", "5.0.2", NODES, [*HYDRA_NODES, *RANKS_4, "-bind-to", "user:12,0"], SETTINGS),
    ("mpich", "5.0.2", UNBOUND, ["-hosts", "n1,n2", "-ppn", "2", *RANKS_4, "-bind-to", "none"], SETTINGS),
    ("mvapich", "4.0", NODES, [*HYDRA_NODES, *RANKS_4, "-bind-to", "user:12,0"], SETTINGS),
    ("openmpi", "5.0.11", NODES,
     ["--prtemca", "plm_ssh_agent", "/rsh", "-H", "n1:2,n2:2", "-x", "UCX_TLS", *RANKS_4, "--bind-to", "core",
      "--map-by", "pe-list=6,0:ordered"], VARIABLES),
    ("openmpi", "5.0.11", UNBOUND,
     ["-H", "n1:2,n2:2", "-x", "UCX_TLS", *RANKS_4, "--bind-to", "none", "--map-by", ":OVERSUBSCRIBE"], VARIABLES),
    ("openmpi", "4.1.8", NODES,
     ["--mca", "plm_rsh_agent", "/rsh", "-H", "n1:2,n2:2", "-x", "UCX_TLS", *RANKS_4, "--rankfile", "rankfile.txt"],
     VARIABLES),
    ("openmpi", "4.1.8", UNBOUND,
     ["-H", "n1:2,n2:2", "-x", "UCX_TLS", *RANKS_4, "--bind-to", "none", "--oversubscribe"], VARIABLES),
    ("intel-mpi", "2021.18.1", NODES, [*INTEL_NODES, *RANKS_4],
     PINNED | {"I_MPI_PIN_PROCESSOR_LIST": "12,0"} | FOUND | SETTINGS),
    ("intel-mpi", "2021.18.1", UNBOUND, ["-hosts", "n1,n2", "-ppn", "2", *RANKS_4],
     {"I_MPI_PIN": "0"} | FOUND | SETTINGS),
]  # fmt: skip


@pytest.mark.parametrize(("family", "version", "placed", "options", "environment"), OVER_NODES)
def test_a_launch_line_over_nodes_has_hosts_and_variables(
    family: str,
    version: str,
    placed: Placement,
    options: list[str],
    environment: dict[str, str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("LD_LIBRARY_PATH", "/else")
    of = make_library(family, version)
    command = libraries.find_family(of).make_launch_line(of, placed, SETTINGS, PROGRAM)
    assert command.arguments == ["/l/bin/mpiexec", *options, *PROGRAM]
    assert command.environment == {"OF_LIBRARY": "1"} | environment


@pytest.mark.parametrize(
    ("placed", "file"),
    [
        (PAIR, "rank 0=localhost slot=6\nrank 1=localhost slot=0\n"),
        (NODES, "rank 0=n1 slot=6\nrank 1=n1 slot=0\nrank 2=n2 slot=6\nrank 3=n2 slot=0\n"),
    ],
)
def test_open_mpi_4_reads_cpus_from_a_rankfile(placed: Placement, file: str) -> None:
    of = make_library("openmpi", "4.1.8")
    assert libraries.find_family(of).make_launch_line(of, placed, {}, PROGRAM).files == {"rankfile.txt": file}
    of = make_library("openmpi", "5.0.11")
    assert libraries.find_family(of).make_launch_line(of, placed, {}, PROGRAM).files == {}


def test_mpirun_rsh_binds_by_the_library_s_own_list() -> None:
    of = make_library("mvapich", "2.3.7", "/l/bin/mpirun_rsh")
    nodes = msgspec.structs.replace(CORES, nodes=2, hosts=["n1", "n2"])
    command = libraries.find_family(of).make_launch_line(of, nodes, {}, PROGRAM)
    texts = ["MV2_ENABLE_AFFINITY=1", "MV2_CPU_MAPPING=12,36:0,24"]
    assert command.arguments == ["/l/bin/mpirun_rsh", "-np", "4", "n1", "n1", "n2", "n2", *texts, *PROGRAM]


def test_another_remote_shell_is_refused_for_mpirun_rsh() -> None:
    of = make_library("mvapich", "2.3.7", "/l/bin/mpirun_rsh")
    with refuses():
        libraries.find_family(of).make_launch_line(of, NODES, {}, PROGRAM)


def test_mpirun_rsh_has_a_host_per_rank_and_passes_variables_on() -> None:
    of = make_library("mvapich", "1", "/l/bin/mpirun_rsh")
    command = libraries.find_family(of).make_launch_line(of, make_placement("core"), {"VIADEV_X": "2"}, PROGRAM)
    hosts = ["localhost"] * 4
    texts = ["VIADEV_USE_AFFINITY=1", "VIADEV_X=2"]
    assert command.arguments == ["/l/bin/mpirun_rsh", "-np", "4", *hosts, *texts, *PROGRAM]


STARTING = [
    name for name, family in families.list_families().items() if not isinstance(family, families.UnknownLauncherFamily)
]
"""Families whose launcher is known."""


@pytest.mark.parametrize("name", STARTING)
def test_settings_override_the_launcher_s_environment(name: str) -> None:
    of = make_library(name)
    settings = {"I_MPI_PIN": "x", "MV2_ENABLE_AFFINITY": "x", "UCX_TLS": "sm"}
    environment = libraries.find_family(of).make_launch_line(of, make_placement("core"), settings, PROGRAM).environment
    assert settings.items() <= environment.items()


def test_open_mpi_parameters_become_variables() -> None:
    assert families.list_families()["openmpi"].encode_settings(
        {"coll_tuned_use_dynamic_rules": "1", "PRTE_MCA_x": "2"}
    ) == {
        "OMPI_MCA_coll_tuned_use_dynamic_rules": "1",
        "PRTE_MCA_x": "2",
    }


@pytest.mark.parametrize("name", STARTING)
def test_nodes_without_hosts_are_refused(name: str) -> None:
    of = make_library(name)
    with pytest.raises(RankbenchError) as error:
        libraries.find_family(of).make_launch_line(of, make_placement("core", nodes=2), {}, PROGRAM)
    assert str(error.value) == "placement p: 2 nodes asked for; found 0 hosts, expected as many"


@pytest.mark.parametrize("name", STARTING)
def test_a_missing_launcher_is_reported(name: str) -> None:
    of = make_library(name, launcher="")
    with pytest.raises(RankbenchError) as error:
        libraries.find_family(of).make_launch_line(of, make_placement("none"), {}, PROGRAM)
    assert str(error.value) == f"{name}-1.0: no mpiexec beside /l/bin/mpicc; its own launcher is needed"


def test_families_derived_from_others_come_first() -> None:
    names = list(families.list_families())
    assert sorted(names[:-2]) == ["cray-mpich", "fujitsu-mpi", "hpe-mpt", "intel-mpi", "mvapich", "spectrum-mpi"]
    assert names[-2:] == ["openmpi", "mpich"]


PUBLISHED = [
    ("MPI VERSION    : CRAY MPICH version 8.1.25.17 (ANL base 3.4a2)\nMPI BUILD INFO : Sun", "cray-mpich", "8.1.25.17"),
    ("MPI VERSION    : CRAY MPICH version 7.7.10 (ANL base 3.2)\n", "cray-mpich", "7.7.10"),
    ('#define MPICH_VERSION "3.4a2"\n#define CRAY_MPICH_VERSION 8.1.25\n', "cray-mpich", "8.1.25"),
    ("HPE MPT 2.23  08/26/20 02:54:49-root", "hpe-mpt", "2.23"),
    ("HPE HMPT 2.23  08/26/20 02:59:48-root", "hpe-mpt", "2.23"),
    ("MPT: libxmpi.so 'HPE MPT 2.18  10/02/18 04:03:22'", "hpe-mpt", "2.18"),
    ("FUJITSU MPI Library 4.0.0 (4.0.1fj4.0.0)", "fujitsu-mpi", "4.0.0"),
    (
        "Open MPI v3.1.0, package: IBM Spectrum MPI, ident: 10.03.01.00rtm0, repo rev: IBM_SPECTRUM_MPI_10.03.01.00",
        "spectrum-mpi",
        "10.03.01.00rtm0",
    ),
    (
        "Open MPI v10.3.1.03rtm0, package: IBM Spectrum MPI, ident: IBM Spectrum MPI, ",
        "spectrum-mpi",
        "10.3.1.03rtm0",
    ),
    ("Open MPI v4.1.1, package: Open MPI conda@8a2bcd3b1b46 Distribution, ident: 4.1.1", "openmpi", "4.1.1"),
]
"""Texts of libraries that are not here, as others have published them."""


@pytest.mark.parametrize(("text", "family", "version"), PUBLISHED)
def test_published_texts_are_recognised(text: str, family: str, version: str) -> None:
    identity = families.recognise(text)
    assert identity
    assert (identity[0].name, identity[1]) == (family, version)


@pytest.mark.parametrize(
    ("placement", "arguments", "hosts"),
    [
        (make_placement("core"), ["-n", "4", "--ppn", "4", "--cpu-bind", "core"], ""),
        (CORES, ["-n", "2", "--ppn", "2", "--cpu-bind", "list:12,36:0,24"], ""),
        (UNBOUND, ["-n", "4", "--ppn", "2", "--hostfile", "hosts.txt", "--cpu-bind", "none"], "n1\nn2\n"),
    ],
)
def test_cray_mpich_is_launched_by_pals(placement: Placement, arguments: list[str], hosts: str) -> None:
    of = make_library("cray-mpich")
    command = libraries.find_family(of).make_launch_line(of, placement, {"X": "1"}, PROGRAM)
    assert command.arguments == ["/l/bin/mpiexec", *arguments, *PROGRAM]
    assert command.files == ({"hosts.txt": hosts} if hosts else {})
    assert command.environment == {"OF_LIBRARY": "1", "X": "1"}


@pytest.mark.parametrize("name", ["hpe-mpt", "fujitsu-mpi", "spectrum-mpi"])
def test_an_unknown_launcher_must_be_stated(name: str) -> None:
    of = make_library(name)
    family = libraries.find_family(of)
    with pytest.raises(RankbenchError) as error:
        family.make_launch_line(of, UNBOUND, {}, PROGRAM)
    assert str(error.value) == (
        f"{name}-1.0 on p: how {family.title} starts ranks is not known here; state it, as in launcher = "
        '"mpiexec -n {ranks} --ppn {per_node} {program}", or launcher = "srun" in a job'
    )
    stated = msgspec.structs.replace(of, launch=["start", "{program}"])
    assert family.make_launch_line(stated, UNBOUND, {}, PROGRAM).arguments == ["start", *PROGRAM]


@pytest.mark.parametrize("name", ["fujitsu-mpi", "spectrum-mpi"])
def test_settings_of_libraries_derived_from_open_mpi_are_its_parameters(name: str) -> None:
    assert families.list_families()[name].encode_settings({"btl": "tcp"}) == {"OMPI_MCA_btl": "tcp"}


def test_an_unknown_family_is_refused() -> None:
    with pytest.raises(RankbenchError) as error:
        libraries.find_family(make_library("unknown"))
    assert str(error.value) == (
        "/l/bin/mpicc: not recognised as an MPI library; known are "
        + ", ".join(family.title for family in families.list_families().values())
    )


def test_opal_prefix_is_set_if_the_library_is_below_the_prefix(tmp_path: Path) -> None:
    family = families.list_families()["openmpi"]
    assert "OPAL_PREFIX" not in family.make_environment(tmp_path)
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "libmpi.so").touch()
    assert family.make_environment(tmp_path)["OPAL_PREFIX"] == str(tmp_path)


@pytest.mark.parametrize(("user", "allowed"), [(0, True), (1000, False)])
def test_running_as_root_is_allowed_for_root_only(user: int, allowed: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: user)
    assert ("OMPI_ALLOW_RUN_AS_ROOT" in families.list_families()["openmpi"].make_environment(Path("/l"))) == allowed


def test_intel_mpi_gets_its_root() -> None:
    assert families.list_families()["intel-mpi"].make_environment(Path("/l")) == {"I_MPI_ROOT": "/l"}
