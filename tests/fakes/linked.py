"""Libraries of one real function, which real programs are linked to: what the dynamic linker makes of them is true."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

from rankbench import libraries

if TYPE_CHECKING:
    from pathlib import Path

    from rankbench.model import Library

MPI_C = "int MPI_Init(int *argc, char ***argv) { return *argc + (argv == 0); }\n"
MPI_H = "int MPI_Init(int *argc, char ***argv);\n"
PROGRAM = "#include <mpi.h>\nint main(int argc, char **argv) { return MPI_Init(&argc, &argv); }\n"
WRAPPER = """\
#!/bin/sh
[ "$1" = -v ] && echo "mpicc for MPICH version {version}" && exit
[ "$1" = --version ] && exec ${{MPICH_CC:-cc}} --version
exec ${{MPICH_CC:-cc}} -I{prefix} "$@" -L{prefix}/lib -Wl,-rpath,{prefix}/lib,{tags} -l{name}
"""


def wrapper(prefix: Path, tool: str, version: str, name: str, tags: str) -> None:
    """Make a compiler wrapper of a library's."""
    path = prefix / "bin" / tool
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(WRAPPER.format(version=version, prefix=prefix, name=name, tags=tags), "utf-8")
    path.chmod(0o755)


def make_library(prefix: Path, soname: str) -> None:
    """Make the library itself."""
    (prefix / "lib").mkdir(parents=True, exist_ok=True)
    (prefix / "mpi.h").write_text(MPI_H, "utf-8")
    (prefix / "mpi.c").write_text(MPI_C, "utf-8")
    file = prefix / "lib" / soname
    subprocess.run(["cc", "-shared", "-fPIC", f"-Wl,-soname,{soname}", prefix / "mpi.c", "-o", file], check=True)
    (prefix / "lib" / f"{soname.partition('.so')[0]}.so").symlink_to(soname)


def make(prefix: Path, version: str, soname: str = "libmpi.so.12", tags: str = "--enable-new-dtags") -> Library:
    """Return a library that is found in a prefix; `tags` say whether its binaries heed LD_LIBRARY_PATH."""
    make_library(prefix, soname)
    wrapper(prefix, "mpicc", version, soname.partition(".so")[0].removeprefix("lib"), tags)
    (library,) = libraries.find(libraries.Search(home=prefix, prefixes=(prefix,), system=()))
    assert library.abi == soname
    return library


def program(library: Library, path: Path) -> Path:
    """Return a program that a library's wrapper made."""
    path.parent.mkdir(parents=True, exist_ok=True)
    source = path.parent / "program.c"
    source.write_text(PROGRAM, "utf-8")
    subprocess.run([library.wrapper, source, "-o", path], check=True)
    return path
