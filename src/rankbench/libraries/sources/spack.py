"""Spack: the packages that provide MPI, by `spack find`. Spec formats 4 to 6 (Spack 0.21 to 1.3) are read by key.

`spack find --json` reports how a package was built but not where it is, if Spack built it; `--format` does.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from rankbench import processes
from rankbench.libraries import families, modulefiles, sources
from rankbench.model import RankbenchError

TITLE = "Spack's packages that provide MPI"
PRECEDENCE = 25
SCHEMES = ("spack",)
PATIENCE_S = 120
OTHER_PROVIDERS = (
    *("mvapich2", "mvapich-plus", "intel-oneapi-mpi", "hpcx-mpi", "cray-mpich", "parastationmpi", "spectrum-mpi"),
    *("fujitsu-mpi", "mpt"),
)
"""Packages that provide MPI, besides those with the names of families."""
PLAIN_WRAPPER = "bin/mpicc"
WRAPPERS = (
    "bin/mpicc.{package}",
    "lib*/{package}/bin/mpicc",
    PLAIN_WRAPPER,
    "mpi/[0-9]*/bin/mpicc",
    "compilers_and_libraries_*/linux/mpi/intel64/bin/mpicc",
)
"""Paths of wrappers in a prefix; for an external package in /usr, that of the package itself."""
HIDDEN_PARAMETERS = {"build_system", "patches"}
"""Parameters that are neither variants nor flags of the user."""
NONE_MATCHES = re.compile(r"No package matches|matches no installed|no installed package", re.IGNORECASE)
SHORT_HASH = 7


class Package(NamedTuple):
    """An installed package: its node as Spack reports it, its prefix, and its compiler."""

    node: Mapping[str, Any]
    prefix: str
    compiler: str

    @property
    def label(self) -> str:
        """Return a spec that names it: `mpich@4.3.2 /h572izf`."""
        return f"{self.node['name']}@{self.node['version']} /{self.node['hash'][:SHORT_HASH]}"


def list_providers() -> list[str]:
    """Return the names of packages that provide MPI."""
    return [*families.list_families(), *OTHER_PROVIDERS]


def find_command(folders: Iterable[Path], root: Path | None) -> str:
    """Return the command `spack` in these folders, else that of Spack's folder; empty: there is none."""
    places = (*folders, *([root / "bin"] if root else []))
    return shutil.which("spack", path=":".join(map(str, places))) or "" if places else ""


def find(search: sources.Search) -> Iterable[sources.Installation]:
    """Yield the packages with a wrapper; one that needs modules must be named by the user.

    A Spack that does not answer is no reason to find nothing elsewhere.
    """
    spack = find_command(search.path, search.spack_root)
    try:
        packages = list_installed(spack, list_providers()) if spack else []
    except RankbenchError:
        return []
    return [
        make_package_installation(package)
        for package in packages
        if find_wrapper(package) and not list_modules(package)
    ]


def find_named(text: str) -> sources.Installation:
    """Return the only package that a spec matches, such as `mpich@4.3.2 device=ch4` or `/h572izf`.

    Raises RankbenchError if none or several match.
    """
    root = os.environ.get("SPACK_ROOT")
    spack = find_command(map(Path, os.get_exec_path()), Path(root) if root else None)
    if not spack:
        raise RankbenchError(
            f"spack:{text}: no spack on PATH, and SPACK_ROOT leads to none; set up Spack's shell first"
        )
    packages = list_installed(spack, text.split())
    if not packages:
        there = ", ".join(package.label for package in list_installed(spack, list_providers())) or "no MPI library"
        raise RankbenchError(f"spack:{text}: no installed package matches; installed: {there}")
    if len(packages) > 1:
        labels = ", ".join(package.label for package in packages)
        raise RankbenchError(f"spack:{text}: {len(packages)} packages match: {labels}; name one by its hash")
    if not (find_wrapper(packages[0]) or list_modules(packages[0])):
        raise RankbenchError(f"spack:{text}: no mpicc in {packages[0].prefix}; name a package that is an MPI library")
    return make_package_installation(packages[0])


def list_installed(spack: str, spec: Iterable[str]) -> list[Package]:
    """Return the installed packages that a spec matches, or any of several names.

    Raises RankbenchError if the answer is not what Spack prints.
    """
    places = dict(line.split(maxsplit=1) for line in run_find(spack, "--format", "{hash} {prefix}", *spec).splitlines())
    if not places:
        return []
    try:
        answer = run_find(spack, "--json", "--deps", *spec)
        nodes = msgspec.json.decode(answer, type=list[dict[str, Any]])
    except msgspec.MsgspecError as error:
        raise RankbenchError(f"{spack} find --json: its answer cannot be read: {error}") from None
    known = {node["hash"]: node for node in nodes}
    return [Package(known[hash_], prefix, find_compiler(known[hash_], known)) for hash_, prefix in places.items()]


def run_find(spack: str, *arguments: str) -> str:
    """Return the output of `spack find`; empty: no package matches. Raises RankbenchError if it fails."""
    try:
        process = processes.run([spack, "--color", "never", "find", *arguments], limit_s=PATIENCE_S)
    except OSError as error:
        raise RankbenchError(f"{spack} find: {error.strerror}") from None
    except subprocess.TimeoutExpired:
        raise RankbenchError(f"{spack} find: no answer within {PATIENCE_S} s") from None
    text = process.stdout + process.stderr
    if NONE_MATCHES.search(text):
        return ""
    if process.returncode:
        raise RankbenchError(f"{spack} find failed: {find_first_error(text)}")
    return process.stdout


def find_first_error(output: str) -> str:
    """Return Spack's own error, which follows an arrow, else its first line."""
    match = re.search(r"^==> Error: (.*)", output, re.MULTILINE)
    return match[1] if match else next(iter(output.strip().splitlines()), "it said nothing")


def find_compiler(node: Mapping[str, Any], known: Mapping[str, Mapping[str, Any]]) -> str:
    """Return the compiler of a package: up to format 4 its own key, later the dependency that provides C."""
    if key := node.get("compiler"):
        return f"{key['name']}@{key['version']}"
    for edge in node.get("dependencies", []):
        if "c" in edge.get("parameters", {}).get("virtuals", []):
            version = known.get(edge["hash"], {}).get("version", "")
            return f"{edge['name']}@{version}" if version else str(edge["name"])
    return str(node.get("annotations", {}).get("compiler", "")).replace("@=", "@")


def list_modules(package: Package) -> list[str]:
    """Return the modules that a package from outside Spack needs."""
    return (package.node.get("external") or {}).get("module") or []


def find_wrapper(package: Package) -> Path | None:
    """Return the wrapper of a package. If several wrappers are in a folder, the plain one may be another package's."""
    prefix = Path(package.prefix)
    if not prefix.is_absolute():
        return None
    shared = any(prefix.glob("bin/mpicc.*"))
    patterns = [
        pattern.format(package=package.node["name"])
        for pattern in WRAPPERS
        if not (shared and pattern == PLAIN_WRAPPER)
    ]
    paths = (file for pattern in patterns for file in sorted(prefix.glob(pattern)))
    return next(filter(sources.is_executable, paths), None)


def make_package_installation(package: Package) -> sources.Installation:
    """Return the library of a package; for an external one that needs modules, the library of these modules."""
    origin = {"spec": format_spec(package.node), "compiler": package.compiler, "hash": package.node["hash"]}
    origin = {key: value for key, value in origin.items() if value}
    file, needed = find_wrapper(package), list_modules(package)
    if file and not needed:
        return sources.make_installation(file, "spack", origin)
    return msgspec.structs.replace(modulefiles.find_installation(needed, origin), source="spack")


def format_spec(node: Mapping[str, Any]) -> str:
    """Return version and variants as Spack writes them: `mpich@4.3.2 ~cuda device=ch4 +hydra`."""
    texts = (
        format_variant(name, value)
        for name, value in node.get("parameters", {}).items()
        if name not in HIDDEN_PARAMETERS
    )
    return " ".join([f"{node['name']}@{node['version']}", *filter(None, texts)])


def format_variant(name: str, value: object) -> str:
    """Return one variant, or flags of the compiler, as Spack writes them; empty: none."""
    if isinstance(value, bool):
        return f"{'+' if value else '~'}{name}"
    values = value if isinstance(value, list) else [value]
    joined = ",".join(map(str, values))
    return f"{name}={joined}" if joined else ""
