"""Spack's answers in each format of its specs are read, and give the right wrapper."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from fakes import spack as fake

from rankbench import libraries

HERE = Path(__file__).parent / "spack"
FORMATS = sorted(folder.name for folder in HERE.iterdir() if folder.is_dir())
VERSION_OUTPUT = {
    "mpich": "mpicc for MPICH version {version}",
    "cray-mpich": "mpicc for MPICH version 3.4",
    "mvapich2": "mpicc for MVAPICH2 version {version}",
    "openmpi": "mpicc: Open MPI {version} (Language: C)",
    "intel-oneapi-mpi": "mpigcc for the Intel(R) MPI Library {version} for Linux*",
}
PLACES = {"intel-oneapi-mpi": "mpi/2021.16/bin/mpicc"}


def make_wrapper(root: Path, prefix: str, package: str, version: str) -> None:
    """Make the wrapper of a package in its prefix; in /usr it is one of several."""
    name = f"bin/mpicc.{package}" if prefix == "/usr" else PLACES.get(package, "bin/mpicc")
    wrapper = root / prefix.removeprefix("/") / name
    wrapper.parent.mkdir(parents=True, exist_ok=True)
    text = VERSION_OUTPUT[package].format(version=version)
    wrapper.write_text(f'#!/bin/sh\n[ "$1" = -v ] && echo "{text}"\n', "utf-8")
    wrapper.chmod(0o755)


def make_search(name: str, root: Path) -> libraries.Search:
    """Return the search of a machine with all recorded packages, and with an `mpicc` in /usr."""
    nodes = {node["hash"]: node for node in msgspec.json.decode((HERE / name / "find.json").read_bytes())}
    for line in (HERE / name / "prefixes.txt").read_text("utf-8").splitlines():
        digest, prefix = line.split()
        make_wrapper(root, prefix, nodes[digest]["name"], nodes[digest]["version"])
    fake.make(root / "spack/bin", HERE / name, str(root), old=name == "4")
    return libraries.Search(home=root, system=(), spack_root=root / "spack")


@pytest.mark.parametrize("name", FORMATS)
def test_packages_are_found_with_their_origin(name: str, tmp_path: Path) -> None:
    installed = libraries.find(make_search(name, tmp_path))
    expected = msgspec.json.decode((HERE / name / "expected.json").read_bytes())
    described = [
        {"name": library.name, "wrapper": library.wrapper.removeprefix(str(tmp_path)), "origin": library.origin}
        for library in installed
    ]
    assert described == expected
    assert {library.source for library in installed} == {"spack"}


@pytest.mark.parametrize("name", FORMATS)
def test_nodes_have_the_keys_of_their_format(name: str) -> None:
    nodes = msgspec.json.decode((HERE / name / "find.json").read_bytes())
    formats = {node.get("annotations", {}).get("original_specfile_version", 4) for node in nodes}
    assert max(formats) == int(name)
    assert any("compiler" in node for node in nodes) == (name == "4")
    assert any("provided_virtuals" in node for node in nodes) == (name == "6")
