"""Libraries with another compiler, or with the binary of another library, over real libraries of one function each."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec
import pytest
from fakes.shared_libraries import make, make_library, write_wrapper
from wording import WORDING, refuses

from rankbench import libraries
from rankbench.libraries import derived, inspection
from rankbench.model import CandidateSpec, Library, RankbenchError


@pytest.fixture(autouse=True)
def no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("LD_LIBRARY_PATH", "MPICH_CC"):
        monkeypatch.delenv(name, raising=False)


def write_compiler(folder: Path, name: str, line: str) -> str:
    path = folder / name
    path.write_text(f'#!/bin/sh\n[ "$1" = --version ] && echo "{line}" && exit\nexec cc "$@"\n', "utf-8")
    path.chmod(0o755)
    return str(path)


# --- compilers --------------------------------------------------------------------------------------------------------


def test_a_compiler_makes_another_library(tmp_path: Path) -> None:
    library = make(tmp_path / "a", "4.3.2")
    other = write_compiler(tmp_path, "mycc", "\nmycc version 3.1")  # As with nvc, the first line is empty.
    library_of_other = libraries.resolve_library(CandidateSpec(library="mpich", compiler=other), [library])
    assert library_of_other == msgspec.structs.replace(
        library,
        name=f"mpich-4.3.2+{other}",
        build_environment={"MPICH_CC": other},
        compiler="mycc version 3.1",
    )


def test_the_library_s_own_compiler_may_be_named_too(tmp_path: Path) -> None:
    library = make(tmp_path / "a", "4.3.2")
    same = libraries.resolve_library(CandidateSpec(library="mpich", compiler="cc"), [library])
    assert (same.name, same.compiler) == ("mpich-4.3.2+cc", library.compiler)


def test_a_compiler_is_found_on_the_library_s_own_path(tmp_path: Path) -> None:
    library = make(tmp_path / "a", "4.3.2")
    write_compiler(tmp_path, "mycc", "mycc version 3.1")
    inside = msgspec.structs.replace(library, environment={"PATH": f"{tmp_path}:{os.environ['PATH']}"})
    other = libraries.resolve_library(CandidateSpec(library="mpich", compiler="mycc"), [inside])
    assert (other.name, other.compiler) == ("mpich-4.3.2+mycc", "mycc version 3.1")


def test_a_missing_compiler_is_refused(tmp_path: Path) -> None:
    library = make(tmp_path / "a", "4.3.2")
    for name in ("nosuchcc", " "):
        with refuses():
            libraries.resolve_library(CandidateSpec(library="mpich", compiler=name), [library])


def test_a_wrapper_that_ignores_the_variable_is_detected(tmp_path: Path) -> None:
    library = make(tmp_path / "a", "4.3.2")
    deaf = Path(library.wrapper)
    deaf.write_text(deaf.read_text("utf-8").replace("${MPICH_CC:-cc}", "cc"), "utf-8")
    with pytest.raises(RankbenchError) as error:
        libraries.resolve_library(
            CandidateSpec(library="mpich", compiler=write_compiler(tmp_path, "mycc", "mycc 3.1")), [library]
        )
    assert str(error.value) == (
        f'mpich-4.3.2: compiler "{tmp_path}/mycc": {deaf} ignores MPICH_CC and calls {library.compiler}; '
        "leave compiler out, or use a library built by that compiler"
    )


def test_a_compiler_without_a_version_is_refused(tmp_path: Path) -> None:
    library = make(tmp_path / "a", "4.3.2")
    with refuses():
        libraries.resolve_library(CandidateSpec(library="mpich", compiler="false"), [library])


# --- binaries of another library --------------------------------------------------------------------------------------


def test_the_binary_of_another_library_loads_the_candidate_s_library(tmp_path: Path) -> None:
    run, other = make(tmp_path / "a", "4.3.2"), make(tmp_path / "b", "3.4")
    other = msgspec.structs.replace(other, environment={"B_ROOT": "b"}, build_environment={"MPICH_CC": "cc"})
    runner = libraries.resolve_library(CandidateSpec(library="mpich==4.3.2", binary_of="mpich==3.4"), [run, other])
    assert runner == msgspec.structs.replace(
        run,
        name="mpich-4.3.2~mpich-3.4",
        wrapper=other.wrapper,
        environment={"LD_LIBRARY_PATH": f"{tmp_path}/a/lib"},
        compiler=other.compiler,
        build_environment={"B_ROOT": "b", "MPICH_CC": "cc"},
        binary_of="mpich-3.4",
    )
    assert inspection.find_linked(runner.wrapper, runner.environment) == (
        "libmpi.so.12",
        f"{tmp_path}/a/lib/libmpi.so.12",
    )


def test_a_library_found_only_on_the_user_s_search_path_is_loaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, other = make(tmp_path / "a", "4.3.2"), make(tmp_path / "b", "3.4")
    bare = Path(run.wrapper)
    bare.write_text(bare.read_text("utf-8").replace("-rpath,", "-rpath-link,"), "utf-8")
    monkeypatch.setenv("LD_LIBRARY_PATH", f"{tmp_path}/a/lib")
    library = derived.make_runner(run, other)
    assert library.environment == {"LD_LIBRARY_PATH": f"{tmp_path}/a/lib:{tmp_path}/a/lib"}
    assert (
        libraries.explain_wrong_libmpi(msgspec.structs.replace(run, prefix="/else"), f"{tmp_path}/a/lib/libmpi.so.12")
        == ""
    )


def test_other_folders_stay_on_the_search_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run, other = make(tmp_path / "a", "4.3.2"), make(tmp_path / "b", "3.4")
    monkeypatch.setenv("LD_LIBRARY_PATH", "/of/the/user")
    assert derived.make_runner(run, other).environment == {"LD_LIBRARY_PATH": f"{tmp_path}/a/lib:/of/the/user"}
    run = msgspec.structs.replace(run, environment={"LD_LIBRARY_PATH": "/of/its/module"})
    assert derived.make_runner(run, other).environment == {"LD_LIBRARY_PATH": f"{tmp_path}/a/lib:/of/its/module"}


@pytest.mark.parametrize(
    ("abi_here", "theirs"),
    [
        ("libmpi.so.12", "libmpi.so.40"),
        ("libmpi.so.12", "libmpich.so.12"),
        ("libmpi.so.12", "libmpi_abi.so.1"),
        ("libmpi.so.12", ""),
        ("", "libmpi.so.12"),
    ],
)
def test_libraries_of_different_abi_are_refused(abi_here: str, theirs: str, tmp_path: Path) -> None:
    run, other = make(tmp_path / "a", "4.3.2"), make(tmp_path / "b", "3.4")
    run, other = (msgspec.structs.replace(library, abi=abi) for library, abi in ((run, abi_here), (other, theirs)))
    if not abi_here:
        Path(run.wrapper).write_text("#!/bin/sh\nexit 1\n", "utf-8")
    with refuses():
        derived.make_runner(run, other)


def test_the_standard_abi_has_its_own_wrapper(tmp_path: Path) -> None:
    library, run = make(tmp_path / "a", "5.0.2"), make(tmp_path / "b", "2021.18")
    for prefix in (tmp_path / "a", tmp_path / "b"):
        make_library(prefix, "libmpi_abi.so.1")
    write_wrapper(tmp_path / "a", "mpicc_abi", "5.0.2", "mpi_abi", "--enable-new-dtags")
    standard = libraries.choose("abi:mpich==5.0.2", [library])
    assert (standard.name, standard.abi) == ("abi:mpich-5.0.2", "libmpi_abi.so.1")
    assert standard.wrapper == f"{tmp_path}/a/bin/mpicc_abi"
    across = libraries.resolve_library(CandidateSpec(library=run.name, binary_of="abi:mpich-5.0.2"), [library, run])
    assert (across.name, across.abi) == ("mpich-2021.18~abi:mpich-5.0.2", "libmpi_abi.so.1")
    assert inspection.find_linked(across.wrapper, across.environment)[1] == f"{tmp_path}/b/lib/libmpi_abi.so.1"


def test_a_library_without_the_standard_abi_is_refused(tmp_path: Path) -> None:
    library = make(tmp_path / "a", "4.3.2")
    with refuses():
        libraries.choose("abi:mpich", [library])


def test_libraries_named_by_candidates_are_added_to_the_available_ones(tmp_path: Path) -> None:
    first, second = make(tmp_path / "a", "4.3.2"), make(tmp_path / "b", "4.3.2")
    available: list[Library] = []
    specs = [CandidateSpec(library=f"prefix:{prefix}") for prefix in (first.prefix, second.prefix, first.prefix)]
    chosen = libraries.resolve_libraries(specs, available)
    assert [(library.name, library.prefix) for library in available] == [
        ("mpich-4.3.2@a", first.prefix),
        ("mpich-4.3.2@b", second.prefix),
    ]
    assert chosen == [*available, available[0]]


def test_builds_named_by_prefixes_are_named_after_the_part_that_differs(tmp_path: Path) -> None:
    """The names of libraries found before stay, and hold in texts with further words."""
    for name in ("base", "dev"):
        make(tmp_path / name / "install", "4.3.2")
    available = [make(tmp_path / "c", "4.3.2")]
    specs = [
        CandidateSpec(library=f"prefix:{tmp_path}/base/install"),
        CandidateSpec(library=f"prefix:{tmp_path}/dev/install tuned"),
        CandidateSpec(library="mpich-4.3.2"),
    ]
    assert [library.name for library in libraries.resolve_libraries(specs, available)] == [
        "mpich-4.3.2@base",
        "mpich-4.3.2@dev",
        "mpich-4.3.2",
    ]
    assert [library.name for library in available] == ["mpich-4.3.2", "mpich-4.3.2@base", "mpich-4.3.2@dev"]


# --- mapped libraries -------------------------------------------------------------------------------------------------


def test_a_library_below_the_prefix_is_right(tmp_path: Path) -> None:
    library = make(tmp_path / "a", "4.3.2")
    (tmp_path / "link").symlink_to(tmp_path / "a")
    linked = msgspec.structs.replace(library, prefix=str(tmp_path / "link"))
    for checked in (library, linked):
        for file in ("", f"{tmp_path}/a/lib/libmpi.so.12", f"{tmp_path}/link/lib/libmpi.so.12"):
            assert libraries.explain_wrong_libmpi(checked, file) == ""


def test_a_library_elsewhere_is_right_if_the_wrapper_links_to_it(tmp_path: Path) -> None:
    library = make(tmp_path / "a", "4.3.2")
    farm = msgspec.structs.replace(library, prefix=str(tmp_path / "farm"))
    assert libraries.explain_wrong_libmpi(farm, f"{tmp_path}/a/lib/libmpi.so.12") == ""


def test_another_build_of_the_same_version_is_wrong(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    library, other = make(tmp_path / "a", "4.3.2"), make(tmp_path / "b", "4.3.2")
    monkeypatch.setenv("LD_LIBRARY_PATH", f"{other.prefix}/lib")
    assert libraries.explain_wrong_libmpi(library, f"{other.prefix}/lib/libmpi.so.12") == WORDING


def test_a_binary_fixed_to_its_own_library_is_wrong(tmp_path: Path) -> None:
    run = make(tmp_path / "a", "4.3.2")
    other = make(tmp_path / "b", "3.4", tags="--disable-new-dtags")
    library = derived.make_runner(run, other)
    _, mapped = inspection.find_linked(library.wrapper, library.environment)
    assert libraries.explain_wrong_libmpi(library, mapped) == WORDING
    assert libraries.explain_wrong_libmpi(library, f"{tmp_path}/a/lib/libmpi.so.12") == ""
