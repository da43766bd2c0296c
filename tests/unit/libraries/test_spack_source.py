"""Libraries named by Spack's specs, and Spacks that fail; the formats are tested in `test_recorded_spack.py`."""

from __future__ import annotations

from pathlib import Path

import pytest
from fakes import library as fake_library
from fakes import modules
from fakes import spack as fake
from wording import refuses

from rankbench import libraries
from rankbench.libraries.sources import spack

RECORDED = Path(__file__).parents[2] / "recorded" / "spack"
STORE = "opt/spack/opt/spack/linux-zen3"
CH4, CH3 = "ghecjo3dzurj5dfy6bbpzu5k3p5co2zw", "nobl4cguarq2yikxjbrvs2okm2ttpw65"


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of the packages of format 5, whose `spack` is on PATH; two of the packages exist."""
    for digest in (CH4, CH3):
        fake_library.make(tmp_path / STORE / f"mpich-4.3.2-{digest}", "4.3.2")
    tools = fake.make(tmp_path / "bin", RECORDED / "5", str(tmp_path)).parent
    monkeypatch.setenv("PATH", f"{tools}:/usr/bin:/bin")
    monkeypatch.delenv("SPACK_ROOT", raising=False)
    return tmp_path


@pytest.mark.parametrize(
    ("wanted", "digest"),
    [
        (f"spack:/{CH4[:5]}", CH4),
        ("spack:mpich device=ch3", CH3),
        ("spack:mpich@4.3 device=ch4 netmod=ofi +romio ~cuda", CH4),
    ],
)
def test_a_package_is_named_by_spec_or_hash(wanted: str, digest: str, root: Path) -> None:
    library = libraries.choose(wanted, [])
    assert (library.name, library.source, library.origin["hash"]) == ("mpich-4.3.2", "spack", digest)
    assert library.wrapper == f"{root}/{STORE}/mpich-4.3.2-{digest}/bin/mpicc"


def test_a_found_package_is_chosen_by_its_spec(root: Path) -> None:
    listed = libraries.find(libraries.Search(home=root, path=(root / "bin",), system=()))
    assert [library.name for library in listed] == ["mpich-4.3.2", "mpich-4.3.2@nobl4cg"]
    assert libraries.choose("spack:mpich device=ch3", listed) == listed[1]


def test_a_package_that_needs_modules_has_their_wrapper(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    prefix = fake_library.make(root / "cray", "3.4")
    files = {"PrgEnv-gnu": "", "cray-mpich/8.1.29": f'export PATH="{prefix}/bin:$PATH"\n'}
    modules.use(monkeypatch, root / "modules", files)
    library = libraries.choose("spack:cray-mpich", [])
    assert (library.wrapper, library.source) == (f"{prefix}/bin/mpicc", "spack")
    assert library.origin == {
        "spec": "cray-mpich@8.1.29 +wrappers",
        "hash": "yu43k5ey4aj7ad4upm44j4q4jlxu7rc3",
        "modules": "PrgEnv-gnu cray-mpich/8.1.29",
    }


@pytest.mark.parametrize("wanted", ["spack:mpich@9.9", "spack:mpich@4.3.2", "spack:openmpi"])
def test_a_spec_without_exactly_one_library_is_refused(wanted: str, root: Path) -> None:
    with refuses():
        libraries.choose(wanted, [])


def test_a_machine_without_spack_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("SPACK_ROOT", str(tmp_path))
    with refuses():
        libraries.choose("spack:mpich", [])


@pytest.mark.parametrize(
    "script",
    [
        "echo '==> Warning: old' >&2; echo '==> Error: no python' >&2; exit 1",
        "echo oops; exit 2",
        "exit 1",
        '[ "$4" = --json ] && echo "[{" || echo "abc /opt"',
    ],
)
def test_a_failure_of_spack_is_reported_only_if_the_plan_names_a_spec(script: str, root: Path) -> None:
    command = root / "bin/spack"
    command.write_text(f"#!/bin/sh\n{script}\n", "utf-8")
    with refuses():
        libraries.choose("spack:mpich", [])
    assert libraries.find(libraries.Search(home=root, path=(root / "bin",), system=())) == []


def test_a_spack_that_cannot_run_is_reported(root: Path) -> None:
    command = root / "bin/spack"
    command.write_text("#!/no/such/shell\n", "utf-8")
    with refuses():
        libraries.choose("spack:mpich", [])


def test_a_spack_that_never_answers_is_reported(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spack, "PATIENCE_S", 0.2)
    command = root / "bin/spack"
    command.write_text("#!/bin/sh\nexec sleep 5\n", "utf-8")
    with refuses():
        libraries.choose("spack:mpich", [])


def test_an_older_spack_without_matches_is_understood(root: Path) -> None:
    command = fake.make(root / "old", RECORDED / "4", old=True)
    assert spack.list_installed(str(command), ["mpich@9.9"]) == []
