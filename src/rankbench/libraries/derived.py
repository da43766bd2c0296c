"""Libraries derived from others: one whose wrapper calls another compiler, one that runs binaries of another.

Both are libraries of their own to the rest of rankbench, with a build and a name of their own.
"""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path

import msgspec

from rankbench.libraries import inspection, sources
from rankbench.libraries.families import Family
from rankbench.model import Library, RankbenchError

ELF, BITS_64 = b"\x7fELF", b"\x02"
PT_INTERP = 3
ELF_BYTES = 1 << 16
"""Of the beginning of a file: enough for its headers."""
NO_VARIABLES: Mapping[str, str] = {}
WRAP = "wrap"
"""The source of libraries that only a wrapping command shows."""
FIND_WRAPPER = 'for name do command -v "$name" && exit; done; exit 1'
KEPT_VARIABLES = ("PATH",)
"""Variables of a library that are not hidden from another one inside a container."""
STANDARD_ABI = "libmpi_abi.so."
"""Prefix of the files of libraries with the MPI standard's ABI (MPI 5)."""


def replace_compiler(library: Library, family: Family, compiler: str) -> Library:
    """Return a library whose wrapper calls another C compiler, which is verified.

    Raises RankbenchError if it does not call it.
    """
    what = f'{library.name}: compiler "{compiler}"'
    texts = library.build_environment | {family.compiler_variable: compiler}
    environment = library.environment | texts
    words = compiler.split()
    if not words or not shutil.which(words[0], path=environment.get("PATH")):
        raise RankbenchError(f"{what}: not found on PATH; install it, or load its module before the library's")
    wanted = inspection.read_version_line(words, environment)
    called = inspection.read_version_line([library.wrapper], environment)
    if not wanted or called != wanted:
        raise RankbenchError(
            f"{what}: {library.wrapper} ignores {family.compiler_variable} and calls "
            f"{called or 'nothing'}; leave compiler out, or use a library built by that compiler"
        )
    return msgspec.structs.replace(library, name=f"{library.name}+{compiler}", build_environment=texts, compiler=called)


def use_standard_abi(library: Library) -> Library:
    """Return a library with its wrapper for the MPI standard's ABI. Raises RankbenchError if it has none."""
    path = Path(library.wrapper)
    wrapper = path.with_name(path.name.replace("mpicc", "mpicc_abi", 1))
    if not sources.is_executable(wrapper):
        raise RankbenchError(
            f"abi:{library.name}: no {wrapper.name} beside {path}; libraries that offer the ABI of MPI 5 have it, "
            "MPICH from 5.0 on"
        )
    abi = inspection.find_linked_soname(str(wrapper), library.environment)
    return msgspec.structs.replace(library, name=f"abi:{library.name}", wrapper=str(wrapper), abi=abi)


def make_runner(library: Library, other: Library) -> Library:
    """Return a library that runs the binaries of another one with the same ABI.

    Raises RankbenchError if the ABI is another one.
    """
    file = find_libmpi(library)
    folder = Path(file).parent
    is_same_abi = other.abi == library.abi or other.abi.startswith(STANDARD_ABI)
    if not (other.abi and is_same_abi and file and (folder / other.abi).exists()):
        raise RankbenchError(
            f"{library.name} cannot run the binary of {other.name}: that is linked to "
            f"{other.abi or 'no shared MPI library'}, and {folder if file else library.prefix} has "
            f"{library.abi or 'none'}; binary_of takes a library of the same ABI"
        )
    return msgspec.structs.replace(
        library,
        name=f"{library.name}~{other.name}",
        wrapper=other.wrapper,
        environment=library.environment | precede_library_path(folder, library.environment),
        abi=other.abi,
        compiler=other.compiler,
        build_environment=other.environment | other.build_environment,
        binary_of=other.name,
    )


def add_wrap(library: Library, wrap: list[str]) -> Library:
    """Return the library that a command such as `apptainer exec image.sif` shows: at the same path, or on its PATH.

    Its ranks are started by the launcher of the library named, outside. Raises RankbenchError if there is none, or if
    this launcher is of another family.
    """
    what = f"{library.name}: wrap {shlex.join(wrap)}"
    lookup = [*wrap, "sh", "-c", FIND_WRAPPER, "sh", library.wrapper, "mpicc"]
    path = inspection.ask(lookup, library.environment, success=True).strip().rpartition("\n")[2]
    if not path.startswith("/"):
        reason = inspection.ask(lookup, library.environment).strip().partition("\n")[0]
        raise RankbenchError(f"{what}: no mpicc in it{f' ({reason})' if reason else ''}; it needs one on its PATH")
    # What the launcher needs outside would mislead another library inside.
    hidden = [word for name in library.environment if name not in KEPT_VARIABLES for word in ("-u", name)]
    inner = [*wrap, *(["env", *hidden] if hidden else [])]
    place = Path(path)
    inside = inspection.describe(
        sources.Installation(prefix=place.parent.parent, wrapper=place, launcher=None, source=WRAP, wrap=tuple(inner))
    )
    name = f"+{Path(wrap[0]).name}"
    if path == library.wrapper and (inside.family, inside.version) == (library.family, library.version):
        return msgspec.structs.replace(library, name=library.name + name, wrap=wrap)
    if inside.family != library.family and not library.launch:
        raise RankbenchError(
            f"{what}: {path} is of {inside.name}, which the launcher of {library.name} cannot start; name a library of "
            "the same family, or a launcher"
        )
    return msgspec.structs.replace(
        inside,
        name=inside.name + name,
        launcher=library.launcher,
        launcher_version=library.version,
        launch=library.launch,
        environment=library.environment,
    )


def precede_library_path(folder: Path, environment: Mapping[str, str]) -> dict[str, str]:
    """Return the search path of the loader in an environment, with a folder first."""
    before = environment.get("LD_LIBRARY_PATH") or os.environ.get("LD_LIBRARY_PATH")
    return {"LD_LIBRARY_PATH": ":".join(filter(None, [str(folder), before]))}


def make_environment(library: Library, program: Path, extra: Mapping[str, str] = NO_VARIABLES) -> dict[str, str]:
    """Return the variables with which a program loads this library, whichever it was linked to. It is not started.

    `extra` is set for the program alone. Raises RankbenchError where it would load another one whatever is set.
    """
    libmpi, within = find_libmpi(library), {**library.environment, **extra}
    soname, file = inspection.find_loaded(program, within)
    if libmpi and file and is_same_file(file, libmpi):
        return dict(extra)
    texts = precede_library_path(Path(libmpi).parent, within) if libmpi else {}
    _, file = inspection.find_loaded(program, within | texts)
    if libmpi and file and is_same_file(file, libmpi):
        return {**extra, **texts}
    why = f"it is linked to {soname or 'no shared MPI library'}, and {library.name} has {library.abi or 'none'}"
    if file and soname == library.abi:
        why = f"it loads {file}, whatever LD_LIBRARY_PATH says"
    raise RankbenchError(f"{program.name} cannot run with {library.name}: {why}; build it for this library")


def make_environment_of_script(library: Library, program: Path) -> dict[str, str]:
    """Return the variables with which a program, or what a script starts, loads a library. It is not started.

    A program that is linked to no MPI library itself, such as an interpreter, finds this one first. Raises
    RankbenchError where a program would load another one whatever is set, or is linked statically.
    """
    if is_static(program):
        raise RankbenchError(f"{program}: is linked statically, so that no library can be preloaded")
    if is_binary(program) and inspection.find_loaded(program, library.environment)[0]:
        return make_environment(library, program)
    libmpi = find_libmpi(library)
    return precede_library_path(Path(libmpi).parent, library.environment) if libmpi else {}


def is_binary(program: Path) -> bool:
    """Return whether a file is an ELF binary, not a script."""
    with program.open("rb") as file:
        return file.read(len(ELF)) == ELF


def is_static(program: Path) -> bool:
    """Return whether a file is an ELF binary of 64 bits without a dynamic linker (a program header PT_INTERP)."""
    with program.open("rb") as file:
        head = file.read(ELF_BYTES)
    if not head.startswith(ELF + BITS_64):
        return False
    start, size, count = (int.from_bytes(head[at : at + width], "little") for at, width in ((32, 8), (54, 2), (56, 2)))
    headers = (head[start + size * index :] for index in range(count))
    return all(int.from_bytes(header[:4], "little") != PT_INTERP for header in headers)


def explain_wrong_libmpi(library: Library, file: str) -> str:
    """Return why the libmpi mapped by a rank is not this library's; empty: it is, or it is not known."""
    if not file:
        return ""
    if library.binary_of:
        return explain_unswapped_libmpi(library, file)
    prefix = Path(library.prefix).resolve()
    expected = "" if Path(file).resolve().is_relative_to(prefix) else find_libmpi(library)
    if not expected or is_same_file(file, expected):
        return ""
    return (
        f"inside the launch libmpi is {file}, not {expected}; unset LD_LIBRARY_PATH, or name this library first in it"
    )


def explain_unswapped_libmpi(library: Library, file: str) -> str:
    """Return why the binary of another library did not load this one, for example because of a fixed search path."""
    expected = f"{library.environment['LD_LIBRARY_PATH'].partition(':')[0]}/{library.abi}"
    if is_same_file(file, expected):
        return ""
    return (
        f"inside the launch libmpi is {file}, not {expected}: the binary of {library.binary_of} loads its own "
        "library, whatever LD_LIBRARY_PATH says; leave binary_of out"
    )


def is_same_file(first: str, second: str) -> bool:
    """Return whether two paths lead to one file."""
    return Path(first).resolve() == Path(second).resolve()


def find_libmpi(library: Library) -> str:
    """Return the libmpi to which a library's wrapper links, regardless of the user's LD_LIBRARY_PATH.

    Empty: it links to none, or is only known where `wrap` leads.
    """
    if library.wrap:
        return ""
    environment = library.environment | library.build_environment
    within = (environment | alone for alone in ({"LD_LIBRARY_PATH": environment.get("LD_LIBRARY_PATH", "")}, {}))
    return next(filter(None, (inspection.find_linked(library.wrapper, variables)[1] for variables in within)), "")


def find_strings(files: Iterable[str], pattern: bytes) -> set[str]:
    """Return the texts in binary files that a pattern matches; files that cannot be read have none."""
    texts: set[str] = set()
    for file in filter(None, files):
        with contextlib.suppress(OSError):
            texts |= {match.decode() for match in re.findall(pattern, Path(file).read_bytes())}
    return texts
