"""Sources, names and choice over fake installations: shell scripts that answer as wrappers do."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from wording import refuses

from rankbench import libraries
from rankbench.libraries import Search
from rankbench.model import Library, RankbenchError


def write_script(file: Path, text: str) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
    file.chmod(0o755)
    return file


def make_mpich(folder: Path, version: str, suffix: str = "", launcher: bool = True) -> Path:
    if launcher:
        write_script(folder / f"mpiexec{suffix}", f'printf "HYDRA build details:\\n    Version:    {version}\\n"')
    return write_script(folder / f"mpicc{suffix}", f'[ "$1" = -v ] && echo "mpicc for MPICH version {version}"')


def make_search(tmp_path: Path, prefixes: tuple[Path, ...] = (), path: tuple[Path, ...] = ()) -> Search:
    return Search(home=tmp_path / "home", prefixes=prefixes, path=path, system=(tmp_path / "system",))


def list_names(listed: list[Library]) -> list[str]:
    return [library.name for library in listed]


def test_every_source_finds_its_libraries(tmp_path: Path) -> None:
    make_mpich(tmp_path / "home/libraries/mpich-5.0.2/bin", "5.0.2")
    make_mpich(tmp_path / "own/bin", "4.3.2")
    make_mpich(tmp_path / "system", "4.0.2", ".mpich")
    make_mpich(tmp_path / "on-path", "3.4.3")
    listed = libraries.find(make_search(tmp_path, (tmp_path / "own",), (tmp_path / "on-path", tmp_path / "empty")))
    assert [(library.name, library.source) for library in listed] == [
        ("mpich-5.0.2", "pypi"),
        ("mpich-4.3.2", "prefix"),
        ("mpich-4.0.2", "system"),
        ("mpich-3.4.3", "path"),
    ]
    assert listed[2].launcher == str(tmp_path / "system/mpiexec.mpich")


def test_an_incomplete_installation_is_not_found(tmp_path: Path) -> None:
    make_mpich(tmp_path / "home/libraries/.new-abc/bin", "5.0.2")
    assert libraries.find(make_search(tmp_path)) == []


def test_links_to_one_library_are_listed_once(tmp_path: Path) -> None:
    wrapper = make_mpich(tmp_path / "system", "4.0.2", ".mpich")
    (tmp_path / "alternatives").mkdir()
    (tmp_path / "alternatives/mpicc").symlink_to(wrapper)
    (tmp_path / "system/mpicc").symlink_to(tmp_path / "alternatives/mpicc")
    listed = libraries.find(make_search(tmp_path, path=(tmp_path / "system", tmp_path / "alternatives")))
    assert list_names(listed) == ["mpich-4.0.2"]
    assert listed[0].wrapper == str(wrapper)


def test_libraries_of_equal_version_get_different_names(tmp_path: Path) -> None:
    for folder in ("a", "b", "c"):
        make_mpich(tmp_path / folder / "bin", "4.0.2")
    listed = libraries.find(make_search(tmp_path, tuple(tmp_path / folder for folder in ("a", "b", "c"))))
    assert list_names(listed) == ["mpich-4.0.2@a", "mpich-4.0.2@b", "mpich-4.0.2@c"]


def test_a_wrapper_does_not_run_tools_of_its_neighbour(tmp_path: Path) -> None:
    write_script(tmp_path / "system/mpichversion", 'echo "MPICH Version: 4.0.2"')
    write_script(tmp_path / "system/mpicc.openmpi", 'echo "mpicc.openmpi: Open MPI 4.1.4 (Language: C)"')
    assert list_names(libraries.find(make_search(tmp_path))) == ["openmpi-4.1.4"]


def test_libraries_without_launcher_or_with_unknown_wrapper_are_listed(tmp_path: Path) -> None:
    make_mpich(tmp_path / "a/bin", "4.0.2", launcher=False)
    write_script(tmp_path / "b/bin/mpicc", "echo hello")
    listed = libraries.find(make_search(tmp_path, (tmp_path / "a", tmp_path / "b")))
    assert [(library.name, library.family, library.launcher) for library in listed] == [
        ("mpich-4.0.2", "mpich", ""),
        ("unknown", "unknown", ""),
    ]
    assert libraries.format_title(listed[1]) == "not recognised"


@pytest.mark.parametrize(
    ("macros", "name"),
    [
        (['MPICH_VERSION "4.1"', "MPI_VERSION 4"], "mpich-4.1"),
        (['MPICH_VERSION "3.4a2"', 'I_MPI_VERSION "2021.18.1"'], "intel-mpi-2021.18.1"),
        (['MPICH_VERSION "3.2.1"', 'MVAPICH2_VERSION "2.3.7"'], "mvapich-2.3.7"),
        (["OMPI_MAJOR_VERSION 5", "OMPI_MINOR_VERSION 0", "OMPI_RELEASE_VERSION 11"], "openmpi-5.0.11"),
        (["MPI_VERSION 4"], "unknown"),
    ],
)
def test_a_library_that_only_its_header_names_is_recognised(macros: list[str], name: str, tmp_path: Path) -> None:
    """A wrapper of any name, such as Cray's `cc`."""
    header = "; ".join(f"echo '#define {macro}'" for macro in macros)
    wrapper = write_script(tmp_path / "craype/bin/cc", f'case " $* " in *" -dM "*) {header};; *) exit 1;; esac')
    (library,) = libraries.find(make_search(tmp_path, (wrapper,)))
    assert (library.name, library.wrapper) == (name, str(wrapper))


def test_a_banner_is_not_the_compiler(tmp_path: Path) -> None:
    cases = "-show) echo gcc -I/x -lmpi;; --version) echo gcc 12.2.0;; -v) echo mpicc for MPICH version 4.1;;"
    write_script(tmp_path / "a/bin/mpicc", f'echo "replacing gcc/12 with gcc/12.2"; case $1 in {cases} esac')
    (library,) = libraries.find(make_search(tmp_path, (tmp_path / "a",)))
    assert library.compiler == "gcc 12.2.0"


def test_a_wrapper_that_cannot_run_is_unknown(tmp_path: Path) -> None:
    wrapper = write_script(tmp_path / "a/bin/mpicc", "")
    wrapper.write_text("#!/no/such/shell\n", encoding="utf-8")
    assert list_names(libraries.find(make_search(tmp_path, (tmp_path / "a",)))) == ["unknown"]


def test_an_unreadable_folder_of_path_is_skipped(tmp_path: Path) -> None:
    unreadable = Path("/" + "x" * 5000)
    assert libraries.find(make_search(tmp_path, path=(unreadable,))) == []


def test_a_prefix_without_a_library_is_refused(tmp_path: Path) -> None:
    with refuses():
        libraries.find(make_search(tmp_path, (tmp_path / "nowhere",)))


def make_library(name: str, source: str = "pypi") -> Library:
    family, _, version = name.partition("@")[0].rpartition("-")
    return Library(name=name, family=family, version=version, source=source, prefix="", wrapper="", launcher="")


FOUND = [
    make_library("mpich-4.3.2"),
    make_library("mpich-10.0"),
    make_library("openmpi-5.0.11"),
    make_library("mpich-10.0@system", "system"),
]


@pytest.mark.parametrize(
    ("wanted", "name"),
    [
        ("mpich", "mpich-10.0"),
        ("mpich==4.3.2", "mpich-4.3.2"),
        ("mpich==10.0", "mpich-10.0"),
        ("mpich-10.0@system", "mpich-10.0@system"),
        ("openmpi", "openmpi-5.0.11"),
    ],
)
def test_a_library_is_chosen_by_family_version_or_name(wanted: str, name: str) -> None:
    assert libraries.choose(wanted, FOUND).name == name


def test_a_library_can_be_named_by_the_version_of_its_wheel() -> None:
    """That of the library in the wheel may be shorter, and is its name."""
    reissued = msgspec.structs.replace(make_library("mpich-4.3.2"), prefix="/home/libraries/mpich-4.3.2.post1")
    for wanted in ("mpich==4.3.2.post1", "mpich==4.3.2", "mpich-4.3.2"):
        assert libraries.choose(wanted, [reissued]) == reissued
    with refuses():
        libraries.choose("mpich==4.3.2.post2", [reissued])
    elsewhere = msgspec.structs.replace(reissued, source="prefix")
    with pytest.raises(RankbenchError, match="no such library here"):
        libraries.choose("mpich==4.3.2.post1", [elsewhere])


@pytest.mark.parametrize(
    ("wanted", "available"),
    [
        ("mpich", []),
        ("openmpi==4.1.8", FOUND[:1]),
        ("mvapich", FOUND),
        ("mvapich2", FOUND),
        ("mpich-4.3.1", FOUND[:3]),
        ("mpitch", []),
    ],
)
def test_an_unknown_library_is_refused(wanted: str, available: list[Library]) -> None:
    with refuses():
        libraries.choose(wanted, available)
