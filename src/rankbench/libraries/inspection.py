"""Makes the `Library` record of an installation from the output of its wrapper and launcher. No MPI program is run."""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from rankbench import processes
from rankbench.libraries import families, wrappers
from rankbench.libraries.sources import Installation
from rankbench.model import Library

PATIENCE_S = 30
PROGRAM = "#include <mpi.h>\nint main(int argc, char **argv) { return MPI_Init(&argc, &argv); }\n"


def describe(installation: Installation) -> Library:
    """Return the library of an installation; its name may not be unique."""
    identity = identify(installation)
    family, version = identity or (None, "")
    variables = family.make_environment(installation.prefix) if family else {}
    environment = variables | installation.environment
    wrapper, wrap = str(installation.wrapper), installation.wrap
    return Library(
        name=f"{family.name}-{version}" if family else "unknown",
        family=family.name if family else "unknown",
        version=version,
        source=installation.source,
        prefix=str(installation.prefix),
        wrapper=wrapper,
        launcher=str(installation.launcher or ""),
        environment=environment,
        abi=find_linked_soname(wrapper, environment, wrap),
        compiler=read_version_line([*wrap, wrapper], environment),
        wrap=list(wrap),
        origin=installation.origin,
    )


def identify(installation: Installation) -> tuple[families.Family, str] | None:
    """Return the family and version of an installation, None if no family recognises it."""
    environment = installation.environment
    launcher = ask([str(installation.launcher), "--version"], environment) if installation.launcher else ""
    described = judge(read_self_description(installation), launcher)
    return described or families.recognise(read_header_macros(installation))


def judge(wrapper: str, launcher: str) -> tuple[families.Family, str] | None:
    """Return family and version. The wrapper decides; the launcher, which may be another's, only refines."""
    identity = families.recognise(wrapper) or families.recognise(launcher)
    if not identity:
        return None
    family, version = identity
    refined = family.recognise(launcher) or version
    return family, refined if refined.startswith(f"{version}.") else version


def read_self_description(installation: Installation) -> str:
    """Return the output of the wrapper, and of `mpichversion` unless other libraries may share the folder."""
    wrapper, environment = installation.wrapper, installation.environment
    alone = not installation.wrap and not any(wrapper.parent.glob("mpicc.*"))
    tools = [[str(wrapper.with_name("mpichversion"))]] if alone else []
    command = [*installation.wrap, str(wrapper)]
    return "\n".join(ask(words, environment) for words in (*tools, [*command, "--showme:version"], [*command, "-v"]))


def read_header_macros(installation: Installation) -> str:
    """Return the macros that define the version of MPI, and of its library, in its header."""
    options = ["-x", "c", "-include", "mpi.h", "-E", "-dM", os.devnull]
    text = ask([*installation.wrap, str(installation.wrapper), *options], installation.environment, success=True)
    return "\n".join(re.findall(r"^#define \w*VERSION .*", text, re.MULTILINE))


def read_version_line(command: list[str], environment: Mapping[str, str]) -> str:
    """Return the first line of the version of a compiler, or of a wrapper's compiler; empty: there is none."""
    version = ask([*command, "--version"], environment, success=True)
    return wrappers.drop_banner(version, ask([*command, "-show"], environment)).partition("\n")[0]


def find_linked_soname(wrapper: str, environment: Mapping[str, str], wrap: Sequence[str] = ()) -> str:
    """Return the soname of the MPI library that the wrapper links; empty: it is static, or there is none."""
    return find_linked(wrapper, environment, wrap)[0]


def find_linked(wrapper: str, environment: Mapping[str, str], wrap: Sequence[str] = ()) -> tuple[str, str]:
    """Return the soname and the file of the MPI library that the wrapper links. `wrap` precedes all commands."""
    with tempfile.TemporaryDirectory(prefix="rankbench-") as folder:
        source, program = Path(folder, "program.c"), Path(folder, "program")
        source.write_text(PROGRAM, encoding="utf-8")
        ask([*wrap, wrapper, str(source), "-o", str(program)], environment)
        return find_loaded(program, environment, wrap)


def find_loaded(program: Path, environment: Mapping[str, str], wrap: Sequence[str] = ()) -> tuple[str, str]:
    """Return the MPI library that the dynamic linker would load for a program, which is not started."""
    switch = "LD_TRACE_LOADED_OBJECTS"
    if wrap:
        text = ask([*wrap, "env", f"{switch}=1", str(program)], environment)
    else:
        text = ask([str(program)], {**environment, switch: "1"})
    match = re.search(r"^\s*(libmpi(?:ch|_abi)?\.so\S*) => (/\S+|not found)", text, re.MULTILINE)
    return (match[1], match[2].removeprefix("not found")) if match else ("", "")


def ask(command: list[str], environment: Mapping[str, str] | None = None, *, success: bool = False) -> str:
    """Return the output of a command; empty: it cannot be run or, if success is required, fails."""
    try:
        around = {**os.environ, **(environment or {})}
        answer = processes.run(command, around, limit_s=PATIENCE_S, joins_errors=True)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return answer.stdout if answer.returncode == 0 or not success else ""
