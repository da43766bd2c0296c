"""Libraries of one real function, to which real programs are linked: the results of the dynamic linker are real."""

from __future__ import annotations

import subprocess
from pathlib import Path

from rankbench import libraries
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


def write_wrapper(prefix: Path, tool: str, version: str, name: str, tags: str) -> None:
    """Write the compiler wrapper of a library."""
    path = prefix / "bin" / tool
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(WRAPPER.format(version=version, prefix=prefix, name=name, tags=tags), "utf-8")
    path.chmod(0o755)


def make_library(prefix: Path, soname: str) -> None:
    """Compile the library itself."""
    (prefix / "lib").mkdir(parents=True, exist_ok=True)
    (prefix / "mpi.h").write_text(MPI_H, "utf-8")
    (prefix / "mpi.c").write_text(MPI_C, "utf-8")
    file = prefix / "lib" / soname
    subprocess.run(["cc", "-shared", "-fPIC", f"-Wl,-soname,{soname}", prefix / "mpi.c", "-o", file], check=True)
    (prefix / "lib" / f"{soname.partition('.so')[0]}.so").symlink_to(soname)


def make(prefix: Path, version: str, soname: str = "libmpi.so.12", tags: str = "--enable-new-dtags") -> Library:
    """Return a library found in a prefix; with `tags` its binaries heed LD_LIBRARY_PATH or not."""
    make_library(prefix, soname)
    write_wrapper(prefix, "mpicc", version, soname.partition(".so")[0].removeprefix("lib"), tags)
    (library,) = libraries.find(libraries.Search(home=prefix, prefixes=(prefix,), system=()))
    assert library.abi == soname
    return library


def link_program(library: Library, path: Path) -> Path:
    """Return a program linked by a library's wrapper."""
    path.parent.mkdir(parents=True, exist_ok=True)
    source = path.parent / "program.c"
    source.write_text(PROGRAM, "utf-8")
    subprocess.run([library.wrapper, source, "-o", path], check=True)
    return path
