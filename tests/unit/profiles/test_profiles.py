"""Calls of applications, from the reports of profilers and from tables."""

from __future__ import annotations

from pathlib import Path

import pytest
from wording import WORDING, refuses

from rankbench import profiles
from rankbench.model import Calls, RankbenchError

MPIP = """\
@ mpiP
@ Command : ./application
@ Version                  : 3.5.0
@ MPI Task Assignment      : 0 node1
@ MPI Task Assignment      : 1 node2

---------------------------------------------------------------------------
@--- Aggregate Time (top twenty, descending, milliseconds) ----------------
---------------------------------------------------------------------------
Call                 Site       Time    App%    MPI%      Count    COV
Waitall                 4       12.3    1.20   60.00        200   0.10
---------------------------------------------------------------------------
@--- Aggregate Sent Message Size (top twenty, descending, bytes) ----------
---------------------------------------------------------------------------
Call                 Site      Count      Total       Avrg  Sent%
Isend                   3       2000   1.28e+08    6.4e+04  99.00
Isend                   5          2   1.28e+05    6.4e+04   0.50
Iallreduce              1        200       1600          8   0.40
Comm_dup                2          2          8          4   0.10
---------------------------------------------------------------------------
@--- Callsite Time statistics (all, milliseconds): 20 ---------------------
Bcast                1       0          10          8          8          8
"""
IPM = """\
<?xml version="1.0" encoding="iso-8859-1"?>
<ipm_job_profile>
<task ipm_version="2.0.6" mpi_rank="0" mpi_size="2">
<hash nlog="1" nkey="2" >
<hent key="1" call="MPI_Bcast" bytes="1024" orank="0" region="0" count="10" >1.0e-4 1.0e-6 2.0e-5</hent>
<hent key="2" call="MPI_Wait" bytes="0" orank="0" region="0" count="7" >1.0e-4 1.0e-6 2.0e-5</hent>
<hent key="3" call="MPI_File_open" bytes="0" orank="0" region="0" count="1" >1.0e-4 1.0e-6 2.0e-5</hent>
</task>
<task ipm_version="2.0.6" mpi_rank="1" mpi_size="2">
<hent key="1" call="MPI_Bcast" bytes="1024" orank="0" region="0" count="10" >1.0e-4 1.0e-6 2.0e-5</hent>
<hent key="4" call="MPI_Send" bytes="64" orank="0" count="3" >1.0e-4 1.0e-6 2.0e-5</hent>
<hent key="5" call="MPI_Gather" bytes="8" orank="0" cou
"""
TABLE = """\
# my application, a step
allreduce 8: 1000

bcast.nonblocking 64 KiB = 2.5   # of parameters
barrier, 1
"""


def read_text(folder: Path, text: str) -> profiles.Profile:
    (folder / "profile").write_text(text)
    return profiles.read(folder / "profile")


def test_mpip_has_mean_sizes_summed_over_ranks(tmp_path: Path) -> None:
    assert read_text(tmp_path, MPIP) == profiles.Profile(
        "mpiP",
        [
            Calls(operation="pingpong", size_bytes=64000, calls=1001.0),
            Calls(operation="allreduce", size_bytes=8, calls=100.0),
        ],
        ["MPI_Comm_dup"],
        (WORDING,),
    )


def test_ipm_has_each_size_and_may_be_truncated(tmp_path: Path) -> None:
    assert read_text(tmp_path, IPM) == profiles.Profile(
        "IPM",
        [
            Calls(operation="bcast", size_bytes=1024, calls=10.0),
            Calls(operation="pingpong", size_bytes=64, calls=1.5),
        ],
        ["MPI_File_open"],
    )


def test_a_table_has_operations_forms_and_sizes(tmp_path: Path) -> None:
    assert read_text(tmp_path, TABLE).calls == [
        Calls(operation="allreduce", size_bytes=8, calls=1000.0),
        Calls(operation="bcast", form="nonblocking", size_bytes=65536, calls=2.5),
        Calls(operation="barrier", size_bytes=0, calls=1.0),
    ]


@pytest.mark.parametrize(
    ("name", "operation"),
    [
        ("Ssend", "pingpong"),
        ("Irsend", "pingpong"),
        ("Send_init", "pingpong"),
        ("Sendrecv_replace", "sendrecv"),
        ("Iallreduce", "allreduce"),
        ("Allreduce_init", "allreduce"),
        ("Ineighbor_alltoallw", "neighbor_alltoallw"),
        ("Win_fence", "win_fence"),
        ("Init", ""),
        ("Irecv", ""),
        ("Waitall", ""),
        ("Comm_split", ""),
    ],
)
def test_calls_are_converted_to_operations(name: str, operation: str) -> None:
    assert profiles.find_operation(name) == operation


NO_CALLS = IPM.replace("MPI_Bcast", "MPI_Wait").replace("MPI_Send", "MPI_Wait")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\0\1\2",
        "allreduce 8: 1\nbcast: -3\n",
        "allreduce 8: 1\nwhat is this\n",
        "@ mpiP\n@ MPI Task Assignment : 0 a\n",
        MPIP.replace("@ MPI Task Assignment", "@"),
        MPIP.replace("6.4e+04  99", "many     99"),
        NO_CALLS,
    ],
)
def test_a_text_that_is_not_a_profile_is_refused_in_one_line(text: str, tmp_path: Path) -> None:
    with refuses():
        read_text(tmp_path, text)


def test_a_missing_file_is_refused_in_one_line(tmp_path: Path) -> None:
    with refuses():
        profiles.read(tmp_path / "nowhere")


MANY = "9" * 5000


@pytest.mark.parametrize(
    "text",
    [
        IPM.replace('count="10"', f'count="{MANY}"'),
        IPM.replace('bytes="1024"', f'bytes="{MANY}"'),
        IPM.replace('bytes="1024"', f'bytes="{1 << 63}"'),
        MPIP.replace(" 2000 ", f" {MANY} "),
        MPIP.replace("6.4e+04  99", "1e300    99"),
    ],
)
def test_numbers_beyond_all_sizes_are_refused_in_one_line(text: str, tmp_path: Path) -> None:
    with pytest.raises(RankbenchError) as error:
        read_text(tmp_path, text)
    assert str(error.value) == WORDING


IPM_BANNER = """\
##IPMv2.0.6########################################################
#
# command   : app
# mpi_tasks : 64 on 1 nodes              %comm     : 27.07
#
#                             [time]        [count]        <%wall>
# MPI_Waitall                  87.18         328419           8.86
###################################################################
"""


def test_the_banner_of_ipm_is_refused_with_the_way_out(tmp_path: Path) -> None:
    path = tmp_path / "app.ipm.txt"
    path.write_text(IPM_BANNER)
    with refuses():
        profiles.read(path)
