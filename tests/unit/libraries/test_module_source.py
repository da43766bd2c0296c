"""Modules are loaded in a clean shell, and their changes are the library's environment; over a stand-in `module`."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from fakes import library as fake
from fakes import modules
from wording import WORDING, refuses

from rankbench import libraries
from rankbench.libraries import modulefiles
from rankbench.libraries.modulefiles import ShellResult

SLOW = 'echo "loading is slow today"; '
"""Modulefiles may print."""


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with two builds of MPICH, and modules for them."""
    for name in ("gcc", "clang"):
        fake.make(tmp_path / name, "4.3.2")
    files = {
        "gcc/12": 'export CC=gcc PATH="/opt/gcc/bin:$PATH"\n',
        "mpich/4.3.2": f'{SLOW}export MPI_HOME={tmp_path}/gcc PATH="{tmp_path}/gcc/bin:$PATH"\n',
        "mpich/4.3.2-clang": f'export PATH="{tmp_path}/clang/bin:$PATH" LD_LIBRARY_PATH={tmp_path}/clang/lib\n',
        "mpi/openmpi-x86_64": "",
        "compiler": "",
        "broken/1": "echo 'ERROR: broken/1 is for' >&2; echo 'other machines.' >&2; echo >&2; return 1\n",
        "mute/1": "return 3\n",
    }
    modules.use(monkeypatch, tmp_path / "modules", files)
    monkeypatch.setenv("PATH", os.defpath)
    monkeypatch.setenv("MPI_HOME", "/of/the/user")
    return tmp_path


def make_search(site: Path, *names: str) -> libraries.Search:
    return libraries.Search(home=site / "home", modules=names, system=(), shells=modulefiles.find_shells())


def test_changes_of_a_module_are_the_library_s_environment(site: Path) -> None:
    (library,) = libraries.find(make_search(site, "gcc/12 mpich/4.3.2"))
    assert (library.name, library.source, library.origin) == (
        "mpich-4.3.2",
        "modules",
        {"modules": "gcc/12 mpich/4.3.2"},
    )
    assert (library.wrapper, library.launcher) == (f"{site}/gcc/bin/mpicc", f"{site}/gcc/bin/mpiexec")
    assert library.environment == {
        "CC": "gcc",
        "MPI_HOME": f"{site}/gcc",
        "PATH": f"{site}/gcc/bin:/opt/gcc/bin:{os.defpath}",
    }


def test_the_wrapper_of_cray_is_cc(site: Path) -> None:
    (site / "craype").mkdir()
    (site / "gcc/bin/mpicc").rename(site / "craype/cc")
    text = f"export CRAY_MPICH_DIR={site}/gcc PATH={site}/craype:$PATH\n"
    (site / "modules/files/cray-mpich").write_text(text)
    (library,) = libraries.find(make_search(site, "cray-mpich"))
    assert (library.wrapper, library.prefix, library.launcher) == (f"{site}/craype/cc", f"{site}/gcc", "")


def test_builds_of_one_version_are_named_by_their_modules(site: Path) -> None:
    listed = libraries.find(make_search(site, "mpich/4.3.2", "gcc/12 mpich/4.3.2-clang", "gcc/12 mpich/4.3.2"))
    assert [library.name for library in listed] == [
        "mpich-4.3.2",
        "mpich-4.3.2@gcc/12+mpich/4.3.2-clang",
        "mpich-4.3.2@gcc/12+mpich/4.3.2",
    ]
    assert listed[1].environment["LD_LIBRARY_PATH"] == f"{site}/clang/lib"


def test_a_wrapper_of_a_module_that_is_also_on_path_is_listed_once(site: Path) -> None:
    listed = libraries.find(
        libraries.Search(home=site, modules=("mpich/4.3.2",), path=(site / "gcc/bin", site / "clang/bin"), system=())
    )
    assert [(library.name, library.source) for library in listed] == [
        ("mpich-4.3.2", "modules"),
        ("mpich-4.3.2@path", "path"),
    ]


def test_the_launcher_may_come_from_another_module(site: Path) -> None:
    (site / "tools/bin").mkdir(parents=True)
    (site / "gcc/bin/mpiexec").rename(site / "tools/bin/mpiexec")
    (site / "modules/files/tools").write_text(f'export PATH="{site}/tools/bin:$PATH"\n', "utf-8")
    (library,) = libraries.find(make_search(site, "mpich/4.3.2 tools"))
    assert library.launcher == f"{site}/tools/bin/mpiexec"


def test_a_plan_names_modules_of_known_and_other_libraries(site: Path) -> None:
    listed = libraries.find(make_search(site, "mpich/4.3.2"))
    assert libraries.choose("module: mpich/4.3.2", listed) == listed[0]
    other = libraries.choose("modules:gcc/12 mpich/4.3.2-clang", listed)
    assert other.name == "mpich-4.3.2@gcc/12+mpich/4.3.2-clang"


@pytest.mark.parametrize("names", ["gcc/12 nosuch/1", "broken/1", "mute/1", "gcc/12", " "])
def test_modules_that_cannot_be_used_are_refused(names: str, site: Path) -> None:
    for attempt in (lambda: libraries.find(make_search(site, names)), lambda: libraries.choose(f"module:{names}", [])):
        with refuses():
            attempt()


def test_a_machine_without_modules_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(modulefiles, "find_shells", lambda: (Path("/etc/hostname"),))
    with refuses():
        libraries.choose("module:mpich", [])


def test_a_shell_that_never_answers_is_killed(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(modulefiles, "PATIENCE_S", 0.2)
    (site / "modules/files/mpich/4.3.2").write_text("sleep 5\n", "utf-8")
    with refuses():
        libraries.choose("module:mpich/4.3.2", [])


def test_a_machine_without_bash_is_refused(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setattr(modulefiles, "CLEAN_PATH", "/nowhere")
    with refuses():
        libraries.choose("module:mpich/4.3.2", [])


def test_the_hint_names_untried_modules_that_look_like_mpi(site: Path) -> None:
    assert libraries.suggest_modules(make_search(site, "gcc/12 mpich/4.3.2")) == WORDING
    for number in range(9):
        (site / f"modules/files/impi-{number}").touch()
    assert libraries.suggest_modules(make_search(site)) == WORDING
    assert libraries.suggest_modules(libraries.Search(home=site)) == ""


CONFLICT = """\
Loading mpich/4.3.2
  ERROR: Module cannot be loaded due to a conflict.
    HINT: Might try "module unload impi" first.
Loading other/1
  ERROR: another
"""
LMOD = """\
Lmod has detected the following error: Cannot load module "mpich/4.3.2"
because these module(s) are loaded:
   impi

While processing the following module(s):
    Module fullname  Module Filename
"""


@pytest.mark.parametrize(
    "text",
    [CONFLICT, LMOD, "ModuleCmd_Load.c(213):ERROR:105: Unable to locate a modulefile for 'x'\n", "something else\n"],
)
def test_the_reason_is_the_first_error_in_one_line(text: str) -> None:
    assert modulefiles.find_reason(ShellResult(1, text, {}, {})) == WORDING


def test_modules_may_be_loaded_on_top_of_those_of_the_site(site: Path) -> None:
    """As at sites whose compiler environment breaks by a purge: what they load in every shell stays."""
    init = site / "modules" / "init" / "bash"
    base = f'export BASE=kept PATH="{site}/base/bin:$PATH"\n'
    purge = f'[ "$1" != purge ] || {{ unset BASE; PATH=${{PATH#{site}/base/bin:}}; return; }}'
    init.write_text(base + init.read_text("utf-8").replace("module() {", f"module() {{\n{purge}", 1), "utf-8")
    (library,) = libraries.find(make_search(site, "mpich/4.3.2"))
    assert ("BASE" in library.environment, f"{site}/base/bin" in library.environment["PATH"]) == (False, False)
    for names in ("+mpich/4.3.2", "+ mpich/4.3.2"):
        (library,) = libraries.find(make_search(site, names))
        assert library.environment["BASE"] == "kept"
        assert library.environment["PATH"] == f"{site}/gcc/bin:{site}/base/bin:{os.defpath}"
        assert library.origin == {"modules": names}
    with refuses():
        libraries.choose("module:+", [])
