"""Loads environment modules (Environment Modules or Lmod) in a clean shell, and reads what that changed.

Both are functions of a shell; a shell that is not interactive must read their initialisation file first.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

from rankbench import processes
from rankbench.libraries import sources
from rankbench.model import RankbenchError

PATIENCE_S, HINT_PATIENCE_S = 60, 20
KEPT_VARIABLES = ("HOME", "USER", "LOGNAME", "MODULEPATH", "MODULERCFILE", "LMOD_MODULERCFILE", "LMOD_SYSTEM_NAME")
"""Variables of the user that a clean shell keeps: the identity, and where modules are."""
CLEAN_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
SHELLS = (
    "/etc/profile",
    "/usr/share/modules/init/bash",
    "/usr/share/Modules/init/bash",
    "/usr/share/lmod/lmod/init/bash",
)
"""Files with which sites and distributions define the command `module`."""
BOOKKEEPING = re.compile(
    r"LOADEDMODULES$|_LMFILES_|_ModuleTable|__|LMOD_|MODULES_|MODULEPATH|BASH_FUNC_|SHLVL$|OLDPWD$|PWD$|_$"
)
"""Variables, or prefixes, with the internal state of both systems and of the shell."""
NO_MODULES, MARK = 64, "rankbench: loaded"
KEEP = "+"
"""Before the first name: modules are loaded on top of those that the site loads in every shell, without a purge."""
SCRIPT = f"""\
exec 3>&1 1>&2
IFS=: read -ra shells <<< "$1"; shift
for file in "${{shells[@]}}"; do
    [ "$(type -t module)" = function ] && break
    [ -r "$file" ] && . "$file"
done
[ "$(type -t module)" = function ] || exit {NO_MODULES}
offered() {{ if [ -n "$LMOD_CMD" ]; then module -t spider; else module -t avail; fi; }}
if [ "$1" = {KEEP} ]; then
    shift
    (module purge; command -p env -0 >&3)
else
    module purge
    command -p env -0 >&3
fi
printf '{MARK}\\0' >&3
"$@"
status=$?
command -p env -0 >&3
exit $status
"""
MPI_MODULE = re.compile(r"(?:^|/)(mpich|openmpi|ompi|intel-?mpi|impi|mvapich|mpt|hpcx|psmpi|cray-mpich)", re.IGNORECASE)


class LoadResult(NamedTuple):
    """The effect of loading modules."""

    names: str
    path: str
    """The folders that were added to PATH, in order."""
    environment: dict[str, str]
    """The variables that were set."""


class ShellResult(NamedTuple):
    """The result of a command in a clean shell."""

    status: int
    output: str
    """Standard error, and output that is not one of the environments."""
    before: dict[str, str]
    after: dict[str, str]


def find_shells() -> tuple[Path, ...]:
    """Return the files that may define the command `module`, the one in use here first."""
    here = [f"{os.environ[name]}/init/bash" for name in ("LMOD_PKG", "MODULESHOME") if os.environ.get(name)]
    return tuple(file for file in map(Path, (*here, *SHELLS)) if file.exists())


CRAY = "CRAY_MPICH_DIR"
"""Variable with the prefix of Cray's MPI, whose wrapper is `cc` of another prefix."""


def find_installation(names: Sequence[str], origin: Mapping[str, str] | None = None) -> sources.Installation:
    """Return the MPI library on PATH after the modules are loaded. Raises RankbenchError if there is none."""
    modules = load(names)
    programs = {tool: shutil.which(tool, path=modules.path) for tool in ("mpicc", *sources.LAUNCHERS)}
    if not programs["mpicc"] and CRAY in modules.environment:
        programs["mpicc"] = shutil.which("cc", path=modules.path)
    if not programs["mpicc"]:
        raise RankbenchError(
            f"modules {modules.names}: they put no mpicc on PATH; name the module of an MPI library last"
        )
    wrapper = Path(programs.pop("mpicc") or "")
    launcher = next(filter(None, programs.values()), None)
    return sources.Installation(
        prefix=wrapper.parent.parent if wrapper.name == "mpicc" else Path(modules.environment[CRAY]),
        wrapper=wrapper,
        launcher=Path(launcher) if launcher else None,
        source="modules",
        environment=modules.environment,
        origin={**(origin or {}), "modules": modules.names},
    )


def load(names: Sequence[str]) -> LoadResult:
    """Return the effect of loading modules in order. It is cached, since Lmod takes a second."""
    user = tuple(os.environ.get(name, "") for name in ("PATH", "MODULEPATH"))
    return load_for_user(tuple(names), find_shells(), user)


@cache
def load_for_user(names: tuple[str, ...], files: tuple[Path, ...], _user: tuple[str, ...]) -> LoadResult:
    """Return the effect of loading modules for a user. Raises RankbenchError if they cannot be loaded."""
    together = " ".join(names)
    prefix = [KEEP] if together.startswith(KEEP) else []
    loaded = together.removeprefix(KEEP).split()
    answer = ask(files, [*prefix, *(["module", "load", *loaded] if loaded else ["true"])], PATIENCE_S)
    if answer.status or "Unable to locate a modulefile" in answer.output:
        raise RankbenchError(f"modules {together}: {find_reason(answer)}")
    added = list_added_folders(answer)
    return LoadResult(together, added, extract_environment(answer, added))


def list_added_folders(answer: ShellResult) -> str:
    """Return the folders that were added to PATH, in order."""
    had = answer.before.get("PATH", "").split(":")
    return ":".join(folder for folder in answer.after.get("PATH", "").split(":") if folder not in had)


def extract_environment(answer: ShellResult, added: str) -> dict[str, str]:
    """Return the variables that were set. New folders of PATH precede this process's PATH, which has the schedulers."""
    changed = {
        name: value
        for name, value in answer.after.items()
        if answer.before.get(name) != value and not BOOKKEEPING.match(name)
    }
    return changed | {"PATH": f"{added}:{os.environ.get('PATH', CLEAN_PATH)}"}


def ask(files: Sequence[Path], command: Sequence[str], patience_s: float) -> ShellResult:
    """Run a command in a shell that has the command `module` and no modules loaded."""
    environment = {name: os.environ[name] for name in KEPT_VARIABLES if name in os.environ}
    clean = {"PATH": CLEAN_PATH, "TERM": "dumb", "LC_ALL": "C", **environment}
    program = ["bash", "--noprofile", "--norc", "-c", SCRIPT, "bash", ":".join(map(str, files)), *command]
    try:
        process = processes.run(program, clean, limit_s=patience_s)
    except OSError as error:
        return ShellResult(1, f"ERROR: bash: {error.strerror}", {}, {})
    except subprocess.TimeoutExpired:
        return ShellResult(1, f"ERROR: no answer within {patience_s:g} s", {}, {})
    before, _, after = process.stdout.partition(f"{MARK}\0")
    return ShellResult(process.returncode, process.stderr, parse_environment(before), parse_environment(after))


def parse_environment(text: str) -> dict[str, str]:
    """Return an environment as `env -0` prints it."""
    pairs = (line.partition("=") for line in text.split("\0") if "=" in line)
    return {name: value for name, _, value in pairs}


def find_reason(answer: ShellResult) -> str:
    """Return, in one line, why modules were not loaded: the paragraph from the first error on."""
    if answer.status == NO_MODULES:
        return "no Environment Modules or Lmod here; set MODULESHOME to the folder that holds its init/bash"
    match = re.search(
        r"(?:ERROR|[Ee]rror):\s*(?:\d+:\s*)?(.+?)\s*(?:\n[ \t]*\n|\nLoading |\Z)", answer.output, re.DOTALL
    )
    text = " ".join((match[1] if match else answer.output).split())
    return text.rstrip(".") or f"module load ended with {answer.status} without a message"


def list_likely_modules(files: Sequence[Path]) -> list[str]:
    """Return the available modules with names like an MPI library; Lmod also lists those that need others first."""
    if not files:
        return []
    lines = (line.strip() for line in ask(files, ["offered"], HINT_PATIENCE_S).output.splitlines())
    names = (re.sub(r"\s*(\(\S+\)|<\S+>)$", "", line) for line in lines)
    return [name for name in names if MPI_MODULE.search(name) and not name.endswith((":", "/")) and " " not in name]
