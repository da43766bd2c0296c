"""Settings from the shell and from files are found, named with their source, and left out on request."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from wording import WORDING

from rankbench.campaign import launching
from rankbench.campaign.launching import MPI_VARIABLES
from rankbench.launch import script
from rankbench.libraries import ambient
from rankbench.model import CommandLine, Library


def make_library(family: str, prefix: Path, name: str = "") -> Library:
    return Library(
        name=name or f"{family}-9.1",
        family=family,
        version="9.1",
        source="prefix",
        prefix=str(prefix),
        wrapper="",
        launcher="",
        environment={"I_MPI_ROOT": str(prefix)},
    )


@pytest.fixture
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    """Return a home folder and a prefix, each with a file of parameters of Open MPI."""
    user, prefix = tmp_path / "user", tmp_path / "prefix"
    for file in (user / ".openmpi/mca-params.conf", prefix / "etc/openmpi-mca-params.conf"):
        file.parent.mkdir(parents=True)
    (user / ".openmpi/mca-params.conf").write_text("# pml = cm\n\nbtl = tcp,self\n")
    (prefix / "etc/openmpi-mca-params.conf").write_text("pml=^ucx\n#btl=x\n")
    monkeypatch.setenv("HOME", str(user))
    return user, prefix


@pytest.mark.parametrize(
    ("family", "name"),
    [
        ("openmpi", "OMPI_MCA_btl"),
        ("openmpi", "PMIX_MCA_gds"),
        ("mpich", "MPIR_CVAR_CH4_NETMOD"),
        ("mpich", "MPICH_ASYNC_PROGRESS"),
        ("intel-mpi", "I_MPI_FABRICS"),
        ("mvapich", "MV2_SMP_EAGERSIZE"),
        ("unknown", "UCX_TLS"),
        ("mpich", "FI_PROVIDER"),
        ("openmpi", "LD_PRELOAD"),
    ],
)
def test_a_variable_that_a_library_takes_is_a_setting_of_the_shell(tmp_path: Path, family: str, name: str) -> None:
    (setting,) = ambient.list_ambient(make_library(family, tmp_path), {name: "x", "PATH": "/bin"})
    assert (ambient.describe(setting), setting.source) == (f"{name}=x", "this shell")


@pytest.mark.parametrize(
    "name",
    [
        *(
            "OMPI_ALLOW_RUN_AS_ROOT",
            "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM",
            "OMPI_CC",
            "OMPI_MCA_plm_rsh_agent",
            "OPAL_PREFIX",
        ),
        *("PRTE_MCA_plm_ssh_agent", "PMIX_RANK", "MPICH_CC", "MPICH_FC", "I_MPI_ROOT", "I_MPI_HYDRA_BOOTSTRAP"),
        *("I_MPI_CC", "FI_LOG_LEVEL", "UCX_LOG_LEVEL", "MPICH_DIR", "MPIEXEC_TIMEOUT", "LD_LIBRARY_PATH"),
    ],
)
@pytest.mark.parametrize("family", ["openmpi", "mpich", "intel-mpi"])
def test_variables_that_only_start_compile_or_report_are_none(tmp_path: Path, family: str, name: str) -> None:
    assert ambient.list_ambient(make_library(family, tmp_path), {name: "x"}) == []


def test_files_of_the_user_and_of_the_library_are_read(folders: tuple[Path, Path]) -> None:
    _, prefix = folders
    settings = ambient.list_ambient(make_library("openmpi", prefix), {})
    assert [(ambient.describe(setting), setting.source, ambient.is_personal(setting)) for setting in settings] == [
        ("pml=^ucx", str(prefix / "etc/openmpi-mca-params.conf"), False),
        ("btl=tcp,self", "~/.openmpi/mca-params.conf", True),
    ]
    assert ambient.list_ambient(make_library("mpich", prefix), {}) == []


def test_notes_name_the_libraries_that_are_not_at_default_settings(folders: tuple[Path, Path]) -> None:
    _, prefix = folders
    known = [
        make_library("openmpi", prefix),
        make_library("openmpi", prefix, "openmpi-9.0"),
        make_library("mpich", prefix),
    ]
    assert ambient.list_notes(known, {"OMPI_MCA_mtl": "x", "UCX_TLS": "tcp"})[0] == WORDING
    assert ambient.list_notes(known, {}) == WORDING


def test_a_clean_environment_has_no_settings_of_the_user(
    folders: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    user, prefix = folders
    variables = {"OMPI_MCA_btl": "tcp", "I_MPI_FABRICS": "ofi", "UCX_TLS": "tcp", "OMPI_CC": "gcc", "PATH": "/bin"}
    ambient.clean(variables, tmp_path / "empty")
    assert variables == {
        "OMPI_CC": "gcc",
        "PATH": "/bin",
        "HOME": str(tmp_path / "empty"),
        "SPACK_USER_CONFIG_PATH": str(user / ".spack"),
    }
    monkeypatch.setenv("HOME", variables["HOME"])
    settings = ambient.list_ambient(make_library("openmpi", prefix), variables)
    assert [setting.source for setting in settings] == [str(prefix / "etc/openmpi-mca-params.conf")]


HIDDEN = ("SLURM_JWT", "PBS_AUTH", "FLUX_ACCESSKEY", "UCX_TOKEN", "PMI_KEY", "PALS_PASSWORD", "CXI_MY_SECRET_X")
OPEN = ("UCX_IB_PKEY", "MPICH_BYPASS", "SLURM_JOB_ID", "HCOLL_MAIN_IB", "OMP_WAIT_POLICY", "PMI_AUTHOR", "UCX_KEYED")


def test_variables_that_may_hold_secrets_are_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (*HIDDEN, *OPEN):
        monkeypatch.setenv(name, "PASSWORD=x")
    recorded = launching.list_variables(CommandLine(arguments=["mpiexec"]))
    assert {name for name in (*HIDDEN, *OPEN) if name in recorded} == set(OPEN)
    settings = ambient.list_ambient(make_library("openmpi", tmp_path), dict.fromkeys((*HIDDEN, *OPEN), "x"))
    assert [setting.name for setting in settings] == ["HCOLL_MAIN_IB", "UCX_IB_PKEY", "UCX_KEYED"]


def test_job_scripts_leave_out_the_same_variables(tmp_path: Path) -> None:
    names = (*HIDDEN, *OPEN)
    commands = (
        f'secrets=; eval "$(grep ^secrets= {script.FUNCTIONS})"; env | grep -E "^({"|".join(MPI_VARIABLES)})" | '
        'grep -viE "$secrets"'
    )
    environment = {"PATH": os.environ["PATH"], **dict.fromkeys(names, "PASSWORD=x")}
    printed = subprocess.run(["bash", "-c", commands], env=environment, capture_output=True, text=True, check=True)
    assert {line.partition("=")[0] for line in printed.stdout.splitlines()} == set(OPEN)
