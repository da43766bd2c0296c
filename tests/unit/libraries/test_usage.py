"""Reports of libraries on what they use. The texts are parts of their output in November 2026."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import msgspec
import pytest
from wording import WORDING

from rankbench.libraries import derived, families
from rankbench.libraries.families import intel_mpi, mpich, openmpi
from rankbench.model import Library

LIBRARY = Library(
    name="openmpi-5.0.11", family="openmpi", version="5.0.11", source="", prefix="", wrapper="", launcher=""
)

OPEN_MPI = """\
[vm:2] coll:base:comm_select: new communicator: MPI_COMM_WORLD (cid 0)
[vm:1] coll:base:comm_select: new communicator: MPI_COMM_WORLD (cid 0)
[vm:1] check:select: checking my pml ob1 against process [[33138,1],0] pml ob1
[vm:2] coll:base:comm_select: selecting       adapt, priority   0, Disabled
[vm:1] coll:base:comm_select: selecting       basic, priority  10, Enabled
[vm:2] coll:base:comm_select: selecting       basic, priority  10, Enabled
[vm:2] coll:base:comm_select: selecting       tuned, priority  30, Enabled
[vm:2] coll:base:comm_select: new communicator: MPI_COMM_SELF (cid 1)
[vm:2] coll:base:comm_select: selecting        self, priority  75, Enabled
[vm:1] mca: bml: Using self btl for send to [[49639,1],0] on node vm
[vm:1] mca: bml: Using sm btl for send to [[49639,1],1] on node vm
"""
NO_DEVICE = """\
[vm:1] select: initializing btl component ofi
[vm:1] select: init of component ofi returned failure
[vm:2] select: init of component ofi returned failure
[vm:1] select: init of component sm returned success
"""
HAN_SELECTED = "[vm:2] coll:base:comm_select: selecting         han, priority  35, Enabled"
MPICH = """\
==== UCX netmod Capability ====
MPIDI_UCX_CONTEXT_ID_BITS: 16
==== collective selection ====
MPIR_CVAR_DEVICE_COLLECTIVES: percoll
MPIR: /t/algorithms.json
MPID: MPIDI_coll_generic_json
MPID/shm: MPIDI_POSIX_coll_generic_json
[17.0] [vm:17:0] ucp_worker.c:1912 UCX  INFO    ucp_context_0 self cfg#0 tag(self/memory cma/memory)  rma(self/memory)
[17.1] [vm:17:0] ucp_worker.c:1912 UCX  INFO    ucp_context_0 intra-node cfg#1 tag(sysv/memory cma/memory)  rma(x)
"""
INTEL_MPI = """\
[0] MPI startup(): libfabric version: 2.4.0-impi
[0] MPI startup(): libfabric provider: tcp
[0] MPI startup(): Incorrect adjust value: BCAST=abc;0-, will be ignored
[0] MPI startup(): Load tuning file: "/opt/mpi/etc/tuning_generic_shm-ofi.dat"
[0] MPI startup(): ===== NIC pinning on vm =====
[0] MPI startup(): Rank    Thread id  Pin nic
[0] MPI startup(): 0       0          eth0
[0] MPI startup(): 1       0          eth0
[0] MPI startup(): 0       13503    vm         {0}
[0] MPI startup(): I_MPI_ADJUST_ALLREDUCE=3:0-1024;1:1025-2147483647
"""


FUNCTIONS = [
    *("ompi_coll_tuned_allgather_intra_dec_fixed", "mca_coll_han_allreduce_intra_dynamic"),
    *("mca_coll_basic_alltoallw_intra", "mca_coll_sm_barrier_intra", "ompi_coll_tuned_reduce_scatter_intra_dec_fixed"),
    *("ompi_coll_libnbc_iallgather", "ompi_coll_libnbc_ineighbor_alltoall", "ompi_coll_libnbc_allgather_init"),
    *("mca_coll_basic_neighbor_allgather", "mca_coll_base_reduce_local", "ompi_coll_base_agree_noft"),
    # From another table, which follows in memory.
    *("mca_coll_basic_allreduce_intra", "mca_coll_basic_scan_intra"),
]


def test_the_component_of_each_call_is_read_from_the_table_of_functions() -> None:
    family = families.list_families()["openmpi"]
    assert family.read_functions(FUNCTIONS) == {"component of each call": WORDING}
    assert family.read_functions([]) == {}
    assert families.list_families()["mpich"].read_functions(FUNCTIONS) == {}


def test_transports_without_a_device_are_named_once() -> None:
    family = families.list_families()["openmpi"]
    uses = family.read_usage(OPEN_MPI + NO_DEVICE)
    assert uses["unusable transports"] == "ofi"
    assert '"^ofi"' in family.explain_slow_start(uses)
    assert family.explain_slow_start(family.read_usage(OPEN_MPI)) == ""


def test_calls_are_named_singly_if_components_share_their_kind() -> None:
    functions = ["ompi_coll_libnbc_ibarrier", "ompi_coll_adapt_ibcast", "ompi_coll_libnbc_barrier_init"]
    family = families.list_families()["openmpi"]
    assert family.read_functions(functions) == {"component of each call": "libnbc: ibarrier, persistent; adapt: ibcast"}


@pytest.mark.parametrize(
    ("family", "text", "usage"),
    [
        ("openmpi", OPEN_MPI, {"messages": "ob1", "transports": "sm", "collectives": "tuned, basic"}),
        (
            "mpich",
            MPICH,
            {
                "network layer": "UCX",
                "transports": "intra-node sysv/memory cma/memory",
                "MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE": "/t/algorithms.json",
                "algorithms of the device": "built in",
                "algorithms within a node": "built in",
            },
        ),
        (
            "intel-mpi",
            INTEL_MPI,
            {
                "provider": "tcp",
                "network devices": "eth0",
                "tuning file": "tuning_generic_shm-ofi.dat",
                "I_MPI_ADJUST_ALLREDUCE": "3:0-1024;1:1025-2147483647",
            },
        ),
    ],
)
def test_components_and_devices_of_libraries_are_read(family: str, text: str, usage: dict[str, str]) -> None:
    read = families.list_families()[family].read_usage
    assert read(text) == usage
    assert read("") == {}


def test_unknown_variables_of_mpich_are_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "libmpi.so.12"
    file.write_bytes(b"\x7fELF\0MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM\0MPIR_CVAR_NOLOCAL\0")
    monkeypatch.setattr(derived, "find_libmpi", lambda _: str(file))
    settings = {"MPIR_CVAR_ALLREDUCE_INTRA_ALGORTHM": "ring", "MPIR_CVAR_NOLOCAL": "1", "FI_PROVIDER": "tcp"}
    settings |= {"MPICH_NOLOCAL": "1", "nolocal": "1", "OMPI_MCA_btl": "tcp,self", "I_MPI_FABRICS": "shm"}
    assert mpich.Family().list_ignored(LIBRARY, settings, "") == WORDING
    assert mpich.Family().list_ignored(LIBRARY, {"MPIR_CVAR_QQQQQQQQQQQQQQQQQQQQQQQQQQQQ": "1"}, "") == WORDING
    for absent in ("", str(tmp_path / "none")):
        monkeypatch.setattr(derived, "find_libmpi", lambda _, absent=absent: absent)
        assert mpich.Family().list_ignored(LIBRARY, settings, "") == []


def test_unknown_variables_of_intel_mpi_are_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file, launcher = tmp_path / "libmpi.so.12", tmp_path / "mpiexec.hydra"
    file.write_bytes(b"\x7fELF\0I_MPI_FABRICS\0MPIR_CVAR_NOLOCAL\0")
    launcher.write_bytes(b"I_MPI_PERHOST\0")
    library = msgspec.structs.replace(LIBRARY, wrapper=str(tmp_path / "mpicc"))
    settings = {"I_MPI_FABRIC": "shm", "I_MPI_PERHOST": "2", "FABRICS": "shm", "MPIR_CVAR_NOLOCAL": "1"}
    monkeypatch.setattr(derived, "find_libmpi", lambda _: str(file))
    assert intel_mpi.Family().list_ignored(library, settings, "") == WORDING
    monkeypatch.setattr(derived, "find_libmpi", lambda _: "")
    assert intel_mpi.Family().list_ignored(library, settings, "") == []


@pytest.mark.parametrize(
    ("family", "text"),
    [
        (intel_mpi, "[0] MPI startup(): Incorrect algorithm: ALLREDUCE=999, will be ignored\n"),
        (intel_mpi, "[0] MPI startup(): tcp fabric is unknown or has been removed from the product, please use ofi\n"),
        (
            mpich,
            "[17.8] [vm:7591 :0]  parser.c:2355 UCX  WARN  unused environment variable: UCX_TSL (maybe: UCX_TLS?)\n",
        ),
        (
            openmpi,
            "[17.8] [vm:7611 :0]  ucp_context.c:1381 UCX  WARN  transport 'tpc' is not available, please use one or\n",
        ),
        (
            openmpi,
            (
                "An invalid value was supplied for an enum variable.\n\n  Variable     : coll_tuned_bcast_algorithm\n"
                "  Value        : 99\n  Valid values : 0|ignore, 1|basic_linear\n---\n"
            ),
        ),
    ],
)
def test_reports_on_settings_are_clauses(family: ModuleType, text: str) -> None:
    """Once, although each rank reports it."""
    assert family.Family().list_ignored(LIBRARY, {}, text * 2) == [WORDING]


def test_unknown_parameters_of_open_mpi_are_reported(tmp_path: Path) -> None:
    """However they are written. Of frameworks of its launcher, which it does not list, nothing is known."""
    program = tmp_path / "ompi_info"
    listed = ["coll:tuned:param:coll_tuned_bcast_algorithm", "btl:base:param:btl", "btl:tcp:param:btl_tcp_links"]
    listed += ["coll:base:param:coll", "hwloc:base:param:hwloc_base_use_hwthreads_as_cpus"]
    program.write_text("#!/bin/sh\n" + "".join(f"echo 'mca:{line}:value:0'\n" for line in listed))
    program.chmod(0o755)
    library = msgspec.structs.replace(LIBRARY, wrapper=str(tmp_path / "mpicc"))
    right = {"btl": "self,sm", "rmaps_base_mapping_policy": "core", "UCX_TLS": "self", "OMPI_MCA_btl_tcp_links": "2"}
    right |= {"btl_tcp_links_eth0": "1", "hwloc_base_binding_policy": "core"}
    wrong = {"coll_tuned_bcast_algoritm": "1", "OMPI_MCA_coll_tuned_bcast_algoritm": "1", "bttl": "tcp"}
    wrong |= {"coll_tunned_bcast_algorithm": "1", "MPIR_CVAR_NOLOCAL": "1"}
    assert openmpi.Family().list_ignored(library, right | wrong, "") == WORDING
    program.unlink()
    assert openmpi.Family().list_ignored(library, wrong, "") == []


@pytest.mark.parametrize(
    "change",
    [
        ("", ""),
        ("tuned, priority  30, Enabled", "tuned, priority  30, Disabled"),
        ("tuned, priority  30, Enabled", f"tuned, priority  30, Enabled\n{HAN_SELECTED}"),
    ],
)
def test_ignored_parameters_of_a_component_of_lower_priority_are_found(change: tuple[str, str]) -> None:
    """The component with the highest priority is named last."""
    family = families.list_families()["openmpi"]
    text = OPEN_MPI.replace(*change) if change[0] else OPEN_MPI
    assert family.list_ignored(LIBRARY, {"coll_tuned_bcast_algorithm": "ring"}, text) == WORDING
    assert family.list_ignored(LIBRARY, {"coll_tuned_bcast_algorithm": "ring"}, "") == []
    assert family.list_ignored(LIBRARY, {}, text) == []
