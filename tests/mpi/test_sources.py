"""Libraries as installed at sites: by Environment Modules and Lmod, with another compiler, with another's binary."""

from __future__ import annotations

import os
import re
from pathlib import Path

import msgspec
import pytest
from fakes import mark_thorough, spack

from mpi.conftest import REPOSITORY, run_rankbench
from rankbench import build, libraries, store
from rankbench.campaign import doctor
from rankbench.campaign.doctor import Check
from rankbench.libraries import modulefiles
from rankbench.model import CandidateSpec, Library, Placement, RankbenchError

pytestmark = pytest.mark.needs("mpicc.mpich", "mpicc.openmpi", "clang")

PAIR = Placement(name="pair", nodes=1, ranks_per_node=2, binding="none")
SYSTEMS = {"environment-modules": "/usr/share/modules", "lmod": "/usr/share/lmod/lmod"}
MODULEFILE = """\
#%Module1.0
conflict mpich openmpi
prepend-path PATH {prefix}/bin
prepend-path LD_LIBRARY_PATH {prefix}/lib
setenv SITE_MPI {prefix}
"""
TOOLS = '#%Module1.0\nputs stderr "welcome to the tools"\nsetenv MPICH_CC clang\n'


def choose_wheel(family: str, reach: list[Library]) -> Library:
    return libraries.choose(family, [library for library in reach if library.source == "pypi"])


def check_core(library: Library, home: Path, folder: Path) -> Check:
    return doctor.check(library, build.build(library, home), PAIR, folder)


def list_mapped(check: Check) -> set[str]:
    return {rank.libmpi for rank in check.ranks}


@pytest.fixture(params=["lmod", mark_thorough("environment-modules")])
def module_system(
    request: pytest.FixtureRequest, reach: list[Library], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> str:
    """Make modulefiles for two wheels and one for tools, and a user of one of the two module systems."""
    for family in ("mpich", "openmpi"):
        file = tmp_path / "modulefiles" / family / "1"
        file.parent.mkdir(parents=True)
        file.write_text(MODULEFILE.format(prefix=choose_wheel(family, reach).prefix), "utf-8")
    (tmp_path / "modulefiles/tools").write_text(TOOLS, "utf-8")
    monkeypatch.delenv("LMOD_PKG", raising=False)
    monkeypatch.setenv("MODULESHOME", SYSTEMS[request.param])
    monkeypatch.setenv("MODULEPATH", str(tmp_path / "modulefiles"))
    name: str = request.param
    return name


# --- modules ----------------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("module_system")
@pytest.mark.parametrize("family", ["mpich", mark_thorough("openmpi")])
def test_a_library_of_a_module_works(family: str, home: Path, reach: list[Library], tmp_path: Path) -> None:
    library, expected = libraries.choose(f"module:{family}/1", reach), choose_wheel(family, reach)
    assert (library.name, library.source) == (f"{expected.name}@{family}/1", "modules")
    assert (library.wrapper, library.launcher) == (expected.wrapper, expected.launcher)
    assert library.environment == {
        **expected.environment,
        "SITE_MPI": expected.prefix,
        "LD_LIBRARY_PATH": f"{expected.prefix}/lib",
        "PATH": f"{expected.prefix}/bin:{os.environ['PATH']}",
    }
    check = check_core(library, home, tmp_path / "check")
    assert (check.works, check.reason, len(check.ranks)) == (True, "", 2)
    assert [libraries.explain_wrong_libmpi(library, file) for file in list_mapped(check)] == [""]


@pytest.mark.usefixtures("module_system")
def test_modules_are_loaded_together(reach: list[Library]) -> None:
    library = libraries.choose("module:tools mpich/1", reach)
    assert library.origin == {"modules": "tools mpich/1"}
    assert library.environment["MPICH_CC"] == "clang"
    assert "clang" in library.compiler
    assert "clang" not in choose_wheel("mpich", reach).compiler


@pytest.mark.usefixtures("module_system")
def test_the_command_finds_modules_and_mentions_others(home: Path, reach: list[Library]) -> None:
    answer = run_rankbench("find", "--no-check", "--modules", "tools mpich/1", home=home)
    lines = answer.stdout.splitlines()
    name = f"{choose_wheel('mpich', reach).name}@tools+mpich/1"
    (place,) = (number for number, line in enumerate(lines) if line.startswith(name) and "/bin/mpicc" in line)
    assert lines[place + 1] == "    modules: tools mpich/1"
    hint = r"modules that may be MPI libraries: openmpi/1; try: (\S+/)?rankbench find --modules openmpi/1"
    assert re.fullmatch(hint, lines[-1])


REFUSALS = {
    ("environment-modules", "nosuch/1"): "Unable to locate a modulefile for 'nosuch/1'",
    ("lmod", "nosuch/1"): 'The following module(s) are unknown: "nosuch/1"',
    ("environment-modules", "mpich/1 openmpi/1"): "Conflicting mpich is loaded",
    ("lmod", "mpich/1 openmpi/1"): 'Cannot load module "openmpi/1" because these module(s) are loaded: mpich',
    **{(name, "tools"): "they put no mpicc on PATH; name the module of an MPI library last" for name in SYSTEMS},
}


@pytest.mark.parametrize("names", ["nosuch/1", "mpich/1 openmpi/1", "tools"])
def test_modules_that_cannot_be_loaded_are_refused_in_one_line(names: str, module_system: str, home: Path) -> None:
    answer = run_rankbench("find", "--no-check", "--modules", names, home=home)
    assert (answer.returncode, answer.stderr) == (2, f"rankbench: modules {names}: {REFUSALS[module_system, names]}\n")


def test_modules_are_found_by_a_login_shell_without_variables(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, reach: list[Library]
) -> None:
    for name in ("MODULESHOME", "LMOD_PKG"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "mpich").write_text(MODULEFILE.format(prefix=choose_wheel("mpich", reach).prefix), "utf-8")
    monkeypatch.setenv("MODULEPATH", str(tmp_path))
    assert modulefiles.list_likely_modules(modulefiles.find_shells()) == ["mpich"]
    assert libraries.choose("module:mpich", reach).origin == {"modules": "mpich"}


def test_modules_hidden_behind_others_are_mentioned_with_lmod(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, reach: list[Library]
) -> None:
    files = {
        "core/gcc": f"#%Module1.0\nprepend-path MODULEPATH {tmp_path}/behind-gcc\n",
        "behind-gcc/mpich/1": MODULEFILE.format(prefix=choose_wheel("mpich", reach).prefix),
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).write_text(text, "utf-8")
    monkeypatch.setenv("MODULESHOME", SYSTEMS["lmod"])
    monkeypatch.setenv("MODULEPATH", str(tmp_path / "core"))
    assert modulefiles.list_likely_modules(modulefiles.find_shells()) == ["mpich/1"]
    with pytest.raises(RankbenchError) as error:
        libraries.choose("module:mpich/1", reach)
    assert str(error.value) == (
        'modules mpich/1: These module(s) or extension(s) exist but cannot be loaded as requested: "mpich/1" '
        'Try: "module spider mpich/1" to see how to load the module(s)'
    )
    assert libraries.choose("module:gcc mpich/1", reach).environment["SITE_MPI"] == choose_wheel("mpich", reach).prefix


# --- Spack ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("family", ["mpich", "openmpi"])
def test_an_external_package_of_spack_is_the_library_of_the_distribution(
    family: str, home: Path, reach: list[Library], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Spack is not installed here; the answers of Spack 0.23 about Debian's libraries, both in /usr, were recorded.
    tools = spack.make(tmp_path / "bin", REPOSITORY / "tests/recorded/spack/4", old=True).parent
    monkeypatch.setenv("PATH", f"{tools}:{os.environ['PATH']}")
    (debian,) = (library for library in reach if library.source == "system" and library.family == family)
    library = libraries.choose(f"spack:{family}@{debian.version}", reach)
    assert (library.source, library.name) == ("spack", f"{debian.name}@{library.origin['hash'][:7]}")
    assert library.wrapper == f"/usr/bin/mpicc.{family}" == debian.wrapper
    assert library.origin["spec"].startswith(f"{family}@{debian.version} ")
    check = check_core(library, home, tmp_path / "check")
    assert (check.works, check.reason) == (True, "")


# --- compilers --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("family", ["mpich", "openmpi", "intel-mpi"])
@pytest.mark.thorough
def test_different_compilers_make_different_binaries(
    family: str, home: Path, reach: list[Library], tmp_path: Path
) -> None:
    base = choose_wheel(family, reach)
    compiled = [
        libraries.resolve_library(CandidateSpec(library=base.name, compiler=compiler), reach)
        for compiler in ("gcc", "clang")
    ]
    assert [library.name for library in compiled] == [f"{base.name}+gcc", f"{base.name}+clang"]
    builds = [build.build(library, home) for library in compiled]
    receipts = [core.receipt for core in builds]
    assert [receipt.compiler.split()[0] for receipt in receipts] == ["gcc", "Debian"]
    assert "clang version" in receipts[1].compiler
    assert [receipt.compiler for receipt in receipts] == [library.compiler for library in compiled]
    assert receipts[0].binary_sha256 != receipts[1].binary_sha256
    checks = [doctor.check(library, binary, PAIR, tmp_path) for library, binary in zip(compiled, builds, strict=True)]
    assert [(check.works, check.reason) for check in checks] == [(True, "")] * 2


def test_wrappers_of_the_distribution_use_the_named_compiler(reach: list[Library]) -> None:
    for library in [library for library in reach if library.source == "system"]:
        compiled = libraries.resolve_library(CandidateSpec(library=library.name, compiler="clang"), reach)
        assert "clang version" in compiled.compiler


def test_a_missing_compiler_is_refused_in_one_line(home: Path, reach: list[Library], tmp_path: Path) -> None:
    plan = tmp_path / "plan.toml"
    plan.write_text('candidates = ["mpich"]\ncompilers = ["nosuchcc"]\noperations = ["barrier"]\n', "utf-8")
    answer = run_rankbench("run", str(plan), "--results", str(tmp_path), home=home)
    name = libraries.choose("mpich", reach).name
    assert (answer.returncode, answer.stderr) == (
        2,
        f'rankbench: {name}: compiler "nosuchcc": not found on PATH; '
        "install it, or load its module before the library's\n",
    )


# --- one binary, several libraries ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("run", "binary_of", "file"),
    [
        ("intel-mpi", "mpich", "libmpi.so.12"),
        ("mpich", "intel-mpi", "libmpi.so.12"),
        mark_thorough("intel-mpi", "abi:mpich", "libmpi_abi.so.1"),
    ],
)
def test_the_binary_of_another_library_runs(
    run: str, binary_of: str, file: str, home: Path, reach: list[Library], tmp_path: Path
) -> None:
    wheels = [library for library in reach if library.source == "pypi"]
    library = libraries.resolve_library(CandidateSpec(library=run, binary_of=binary_of), wheels)
    host, other = choose_wheel(run, reach), libraries.choose(binary_of, wheels)
    core = build.build(library, home)
    assert core.receipt.wrapper == other.wrapper
    check = doctor.check(library, core, PAIR, tmp_path)
    assert (check.works, check.reason, len(check.ranks)) == (True, "", 2)
    assert check.facts
    family = libraries.recognise(check.facts.library_version)
    assert family
    assert family[0].name == host.family
    assert {(Path(path).name, Path(path).is_relative_to(host.prefix)) for path in list_mapped(check)} == {(file, True)}
    assert [libraries.explain_wrong_libmpi(library, path) for path in list_mapped(check)] == [""]


def test_a_library_of_the_standard_abi_is_a_candidate(home: Path, reach: list[Library], tmp_path: Path) -> None:
    library = libraries.choose("abi:mpich", [choose_wheel("mpich", reach)])
    check = check_core(library, home, tmp_path)
    assert (check.works, check.reason) == (True, "")
    assert {Path(path).name for path in list_mapped(check)} == {"libmpi_abi.so.1"}


def test_a_binary_that_loads_its_own_library_instead_is_reported(
    home: Path, reach: list[Library], tmp_path: Path
) -> None:
    host, other = choose_wheel("intel-mpi", reach), choose_wheel("mpich", reach)
    library = libraries.resolve_library(CandidateSpec(library=host.name, binary_of=other.name), reach)
    # As if its search path were fixed: the change of the path is undone.
    fixed = {**library.environment, "LD_LIBRARY_PATH": f"{other.prefix}/lib"}
    core = build.build(library, home)
    check = doctor.check(msgspec.structs.replace(library, environment=fixed), core, PAIR, tmp_path)
    assert not check.works
    (file,) = list_mapped(check) or {f"{other.prefix}/lib/libmpi.so.12"}
    assert libraries.explain_wrong_libmpi(library, file) == (
        f"inside the launch libmpi is {file}, not {host.prefix}/lib/libmpi.so.12: the binary of {other.name} loads "
        "its own library, whatever LD_LIBRARY_PATH says; leave binary_of out"
    )


@pytest.mark.parametrize(
    ("run", "binary_of", "linked", "has"),
    [
        ("mpich", "openmpi", "libmpi.so.40", "libmpi.so.12"),
        ("openmpi", "mpich", "libmpi.so.12", "libmpi.so.40"),
        ("openmpi", "abi:mpich", "libmpi_abi.so.1", "libmpi.so.40"),
    ],
)
def test_a_binary_of_another_abi_is_refused(
    run: str, binary_of: str, linked: str, has: str, reach: list[Library]
) -> None:
    wheels = [library for library in reach if library.source == "pypi"]
    host, other = choose_wheel(run, reach), libraries.choose(binary_of, wheels)
    with pytest.raises(RankbenchError) as error:
        libraries.resolve_library(CandidateSpec(library=run, binary_of=binary_of), wheels)
    assert str(error.value) == (
        f"{host.name} cannot run the binary of {other.name}: that is linked to {linked}, and {host.prefix}/lib "
        f"has {has}; binary_of takes a library of the same ABI"
    )


def test_the_binary_of_debian_s_mpich_is_refused(reach: list[Library]) -> None:
    host = choose_wheel("mpich", reach)
    (debian,) = (library for library in reach if library.wrapper == "/usr/bin/mpicc.mpich")
    with pytest.raises(RankbenchError) as error:
        libraries.resolve_library(CandidateSpec(library=host.name, binary_of=debian.name), reach)
    assert str(error.value) == (
        f"{host.name} cannot run the binary of {debian.name}: that is linked to libmpich.so.12, and {host.prefix}/lib "
        "has libmpi.so.12; binary_of takes a library of the same ABI"
    )


# --- a campaign over all of it ----------------------------------------------------------------------------------------

PLAN = """
question = "What is the library, what the compiler, what the binary?"
candidates = ["module:mpich/1"]
operations = ["allreduce"]
sizes = "8"
samples = 5
control = false
placements = ["1x2"]
[stop]
blocks = 1
[[candidate]]
library = "{mpich}"
compiler = "clang"
[[candidate]]
library = "{intel}"
binary_of = "{mpich}"
[[candidate]]
library = "{intel}"
binary_of = "abi:{mpich}"
name = "intel by the standard ABI"
"""


@pytest.mark.thorough
@pytest.mark.usefixtures("module_system")
def test_a_campaign_combines_modules_compilers_and_binaries(home: Path, reach: list[Library], tmp_path: Path) -> None:
    mpich, intel = choose_wheel("mpich", reach).name, choose_wheel("intel-mpi", reach).name
    (tmp_path / "plan.toml").write_text(PLAN.format(mpich=mpich, intel=intel), "utf-8")
    for _ in range(2):
        answer = run_rankbench("run", str(tmp_path / "plan.toml"), "--results", str(tmp_path / "results"), home=home)
        assert (answer.returncode, answer.stderr) == (0, "")
    results = store.open(tmp_path / "results/plan")
    names = [f"{mpich}@mpich/1", f"{mpich}+clang", f"{intel}~{mpich}", "intel by the standard ABI"]
    assert [candidate.name for candidate in results.campaign.candidates] == names
    assert results.campaign.notes == []
    launches = {launch.candidate: launch for launch in results.launches()}
    assert [launches[name].status for name in names] == ["ok"] * 4
    inside = {name: launch.facts.library_version.split()[0] for name, launch in launches.items() if launch.facts}
    assert inside == dict(zip(names, ["MPICH", "MPICH", "Intel(R)", "Intel(R)"], strict=True))
    receipts = {receipt.library: receipt for receipt in results.campaign.receipts}
    assert receipts[f"{intel}~{mpich}"].binary_sha256 == receipts[f"{mpich}@mpich/1"].binary_sha256
    assert "clang" in receipts[f"{mpich}+clang"].compiler
