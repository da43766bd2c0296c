"""Libraries behind a wrapping command, which is a script that has another PATH, over libraries of one function each."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from fakes.shared_libraries import make
from wording import refuses

from rankbench import libraries
from rankbench.libraries import ambient, derived
from rankbench.model import CandidateSpec, Library, Placement, RankbenchError

HERE = Placement(name="1x2", nodes=1, ranks_per_node=2, binding="none")


def write_container(folder: Path, inside: Library | None) -> str:
    """Write the command of a container whose PATH has the mpicc of a library, which calls it by its full path."""
    bin_folder = folder / "container" / "bin"
    bin_folder.mkdir(parents=True)
    if inside:
        (bin_folder / "mpicc").symlink_to(inside.wrapper)
    command = folder / "enter"
    command.write_text(
        f'#!/bin/sh\n[ "$1" = image.sif ] && shift\nPATH={bin_folder}:$PATH exec "$@"\n', encoding="utf-8"
    )
    command.chmod(0o755)
    return str(command)


def resolve(library: Library, *wrap: str, launcher: tuple[str, ...] = ()) -> Library:
    spec = CandidateSpec(library=library.name, wrap=list(wrap), launcher=list(launcher))
    return libraries.resolve_library(spec, [library])


def make_outside(folder: Path) -> Library:
    """Return a library that exists outside of the container only, with variables of its own."""
    library = make(folder, "5.0.2")
    Path(library.wrapper).unlink()
    return msgspec.structs.replace(
        library, launcher="/l/mpiexec", environment={"OF_OUTSIDE": "1", "PATH": "/bin:/usr/bin"}
    )


def test_the_library_of_a_container_is_started_by_the_launcher_outside(tmp_path: Path) -> None:
    outside, inside = make_outside(tmp_path / "a"), make(tmp_path / "b", "4.3.2")
    enter = write_container(tmp_path, inside)
    library = resolve(outside, enter, "image.sif")
    bin_folder = tmp_path / "container"
    assert library == msgspec.structs.replace(
        outside,
        name="mpich-4.3.2+enter",
        version="4.3.2",
        source="wrap",
        prefix=str(bin_folder),
        wrapper=str(bin_folder / "bin" / "mpicc"),
        launcher_version="5.0.2",
        wrap=[enter, "image.sif", "env", "-u", "OF_OUTSIDE"],
        abi=inside.abi,
        compiler=inside.compiler,
    )
    line = libraries.find_family(library).make_launch_line(library, HERE, {"X": "1"}, ["/b/core", "--check"])
    assert line.arguments[:3] == ["/l/mpiexec", "-n", "2"]
    assert line.arguments[-7:] == [*library.wrap, "/b/core", "--check"]
    assert line.environment == {**outside.environment, "X": "1"}


def test_a_command_that_shows_the_library_itself_only_stands_before_it(tmp_path: Path) -> None:
    library = make(tmp_path / "a", "4.3.2")
    same = resolve(library, "nice", "-n", "0")
    assert same == msgspec.structs.replace(library, name="mpich-4.3.2+nice", wrap=["nice", "-n", "0"])


def test_options_are_those_of_the_launcher_outside(tmp_path: Path) -> None:
    library = msgspec.structs.replace(
        make(tmp_path / "a", "4.3.2"),
        family="openmpi",
        version="4.1.4",
        launcher="/l/mpiexec",
        launcher_version="5.0.11",
    )
    line = libraries.find_family(library).make_launch_line(library, HERE, {}, ["/b/core"])
    assert "--oversubscribe" not in line.arguments


def test_files_inside_are_not_those_outside(tmp_path: Path) -> None:
    outside, inside = make_outside(tmp_path / "a"), make(tmp_path / "b", "4.3.2")
    library = resolve(outside, write_container(tmp_path, inside))
    (tmp_path / "container" / "etc").mkdir()
    (tmp_path / "container" / "etc" / "mpich.conf").write_text("MPIR_X = 1\n", encoding="utf-8")
    assert ambient.list_ambient(library, {}) == []
    assert ambient.list_ambient(msgspec.structs.replace(library, wrap=[]), {}) != []
    assert derived.find_libmpi(library) == ""
    assert derived.explain_wrong_libmpi(library, "/usr/lib/libmpi.so.12") == ""


def test_a_container_without_mpicc_is_refused(tmp_path: Path) -> None:
    outside = make_outside(tmp_path / "a")
    enter = write_container(tmp_path, None)
    outside = msgspec.structs.replace(outside, environment={"PATH": "/nowhere"})
    with pytest.raises(RankbenchError) as error:
        resolve(outside, "/nowhere/enter")
    assert str(error.value) == "mpich-5.0.2: wrap /nowhere/enter: no mpicc in it; it needs one on its PATH"
    with pytest.raises(RankbenchError, match=r"wrap .*: no mpicc in it \(.*sh: .*not found\); it needs one"):
        resolve(outside, enter)


def test_a_library_of_another_family_needs_a_launcher_of_its_own(tmp_path: Path) -> None:
    outside, inside = make_outside(tmp_path / "a"), make(tmp_path / "b", "4.3.2")
    outside = msgspec.structs.replace(outside, family="openmpi")
    enter = write_container(tmp_path, inside)
    with refuses():
        resolve(outside, enter)
    stated = resolve(outside, enter, launcher=("srun", "{program}"))
    assert (stated.family, stated.launch) == ("mpich", ["srun", "{program}"])
