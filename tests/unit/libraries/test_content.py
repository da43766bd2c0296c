"""Libraries by content: which files identify them, and what counts as a change."""

from __future__ import annotations

from pathlib import Path

import pytest

from rankbench.libraries import content
from rankbench.model import Library, LibraryFile

PREFIX = "/opt/mpi"
MPI = "/opt/mpi/lib/libmpi.so.40.40.7"


def make_file(path: str, sha256: str = "a", *, listed: bool = False, modified_ns: int = 0) -> LibraryFile:
    return LibraryFile(path=path, bytes=1, modified_ns=modified_ns, inode=1, listed=listed, sha256=sha256)


def make_library(prefix: str = PREFIX, family: str = "openmpi") -> Library:
    return Library(name="it", family=family, version="5.0.11", source="prefix", prefix=prefix, wrapper="", launcher="")


def test_the_list_names_configuration_components_files_of_settings_and_known_hashes(tmp_path: Path) -> None:
    known = [make_file(MPI, "a" * 64), make_file("/opt/mpi/lib/unreadable.so", "")]
    variables = {"OMPI_MCA_coll_tuned_dynamic_rules_filename": "/home/me/ru[l]es", "OMPI_MCA_btl": "^ofi"}
    content.write_list(tmp_path / "list", make_library(), variables, known)
    lines = (tmp_path / "list").read_text("utf-8").splitlines()
    assert {
        "file /opt/mpi/etc/*.conf",
        "file ~/.openmpi/*.conf",
        "file /opt/mpi/lib*/openmpi/*.so",
        "file /opt/mpi/etc/ucx/ucx.conf",
        r"file /home/me/ru\[l]es",
        f"known {'a' * 64} 1 0 1 {MPI}",
    } <= set(lines)
    assert not any("unreadable" in line or "^ofi" in line for line in lines)


def test_a_library_of_the_system_has_its_configuration_in_etc() -> None:
    assert "/etc/openmpi/*.conf" in content.list_patterns(make_library("/usr"), {})


def test_a_prefix_with_special_characters_is_no_pattern() -> None:
    assert r"/opt/m\[p]i/etc/mpich.conf" in content.list_patterns(make_library("/opt/m[p]i", "mpich"), {})


def test_an_unknown_family_has_no_files_but_those_of_variables() -> None:
    variables = {"UCX_FILES": "/x:/y", "PROGRAM_STATE": "/z"}
    assert content.list_patterns(make_library(family="unknown"), variables) == ["/x", "/y"]


def test_the_system_s_own_libraries_do_not_identify_a_library(tmp_path: Path) -> None:
    paths = [MPI, "/usr/lib/x86_64-linux-gnu/libc.so.6", "/opt/ucx/lib/libucp.so.0", "/usr/lib/libmpich.so.12"]
    both = [*map(make_file, paths), make_file("/usr/lib/mca_coll_tuned.so", listed=True)]
    names = [file.path for file in content.select_own(make_library(str(tmp_path)), both)]
    assert names == [path for path in [*paths, "/usr/lib/mca_coll_tuned.so"] if "libc" not in path]
    assert len(content.select_own(make_library("/usr"), both)) == len(both)


CONF = "/opt/mpi/etc/openmpi-mca-params.conf"
BEFORE = [make_file(MPI), make_file("/opt/mpi/lib/libopen-pal.so.80"), make_file(CONF, listed=True)]


@pytest.mark.parametrize(
    ("now", "names", "rebuilt"),
    [
        ([make_file(MPI, "b"), *BEFORE[1:]], ["libmpi.so.40.40.7"], True),
        # Another patch level of the file, and another folder behind a link.
        ([make_file("/opt/new/lib/libmpi.so.40.40.8", "b"), *BEFORE[1:]], ["libmpi.so.40.40.8"], True),
        ([BEFORE[0], make_file("/opt/mpi/lib/libopen-pal.so.80", "b"), BEFORE[2]], ["libopen-pal.so.80"], True),
        ([*BEFORE[:2], make_file(CONF, "b", listed=True)], ["openmpi-mca-params.conf"], False),
        (BEFORE[:2], ["openmpi-mca-params.conf"], False),
        ([*BEFORE, make_file("/home/me/.openmpi/mca-params.conf", listed=True)], ["mca-params.conf"], False),
        ([*BEFORE, make_file("/opt/mpi/lib/openmpi/mca_coll_new.so", listed=True)], ["mca_coll_new.so"], True),
        (
            [make_file(MPI, ""), BEFORE[1], make_file(CONF, "b", listed=True)],
            ["libmpi.so.40.40.7", "openmpi-mca-params.conf"],
            True,
        ),
    ],
)
def test_a_changed_file_is_a_change(now: list[LibraryFile], names: list[str], rebuilt: bool) -> None:
    change = content.find_change(BEFORE, now)
    assert change
    assert (change.names, change.rebuilt) == (names, rebuilt)


@pytest.mark.parametrize(
    "now",
    [
        BEFORE,
        [*BEFORE, make_file("/opt/mpi/lib/ucx/libuct_ib.so.0", "b")],  # Mapped only between nodes.
        [BEFORE[0], BEFORE[2]],
        [make_file("/moved/lib/libmpi.so.40.40.7"), *BEFORE[1:]],  # The same content elsewhere.
        [],  # A launch from before files were reported.
    ],
)
def test_files_that_one_placement_maps_are_no_change(now: list[LibraryFile]) -> None:
    assert content.find_change(BEFORE, now) is None


def test_files_of_two_prefixes_are_compared_below_them() -> None:
    base = [make_file("/base/etc/x.conf", listed=True), make_file("/base/lib/libmpi.so.40")]
    dev = [make_file("/dev/etc/x.conf", listed=True), make_file("/dev/lib/libmpi.so.40")]
    assert content.find_change(base, dev, ("/base", "/dev")) is None
    assert content.compute_digest(base, "/base") == content.compute_digest(dev, "/dev")
    changed = [make_file("/dev/etc/x.conf", "b", listed=True), dev[1]]
    assert content.compute_digest(base, "/base") != content.compute_digest(changed, "/dev")
    assert content.find_change(base, changed, ("/base", "/dev")) == content.Change(["x.conf"], rebuilt=False)


def test_many_names_are_cut() -> None:
    change = content.Change([f"{letter}.so" for letter in "abcdef"], rebuilt=True)
    assert change.listed == "a.so, b.so, c.so, d.so and 2 more"


def test_a_build_has_a_hash_and_the_day_of_its_newest_file() -> None:
    day = 86_400 * content.NANO
    files = [make_file(MPI, modified_ns=day), make_file(CONF, listed=True, modified_ns=3 * day)]
    assert content.describe_build(files, PREFIX) == f"{content.compute_digest(files, PREFIX)} of 1970-01-04"
    assert content.describe_build([], PREFIX) == ""
