"""Finds the settings that a library takes from the shell and from files, beside those that its candidate gives it.

A library with such settings is not at its defaults. Variables with which rankbench, a wrapper or a job script only
start ranks are no such settings.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, MutableMapping
from pathlib import Path

from rankbench.language import join_words
from rankbench.libraries import content, families
from rankbench.model import AmbientSetting, Library

HARMLESS = re.compile(
    r"OMPI_ALLOW_RUN_AS_ROOT|\w+_(CC|CXX|FC|F77|F90|CFLAGS|CXXFLAGS|FCFLAGS|LDFLAGS|LIBS|CPPFLAGS)$|OPAL_PREFIX$|I_MPI_ROOT$"
    r"|(OMPI|PRTE|PMIX)_MCA_(plm|ras|ess|oob|orte|prte|rtc|odls|mca_base_param_files)|PMIX_(?!MCA_)"
    r"|I_MPI_HYDRA_|I_MPI_DEBUG|HYDRA_|\w*LOG_LEVEL$|\w+_(HOME|DIR|VERSION)$"
)
"""Variables that only compile, start or report, or say where a library is."""
SECRET = re.compile(
    r"TOKEN|SECRET|PASSW|CREDENTIAL|(?:^|_)(?:PASS|AUTH|JWT)(?:_|$)|(?:^|_|API|AUTH|ACCESS|PRIVATE)KEYS?(?:_|$)",
    re.IGNORECASE,
)
"""Names of variables that may hold secrets, which are stored nowhere; `functions.sh` has the same."""
CONFIGURATION = re.compile(r"(mca-params|ucx|mpich|mvapich\w*)\.conf$")
"""Files with a setting on each line."""
LINE = re.compile(r"^\s*([A-Za-z][\w.]*)\s*=\s*(.*?)\s*$", re.MULTILINE)
SHELL = "this shell"
PERSONAL = (SHELL, "~")


def list_ambient(library: Library, variables: Mapping[str, str]) -> list[AmbientSetting]:
    """Return the settings that a library takes from the shell and from files where this runs.

    Args:
        library: the library.
        variables: of the shell, without those of the launch line.
    """
    return [*list_shell(library, variables), *list_configured(library)]


def list_shell(library: Library, variables: Mapping[str, str]) -> list[AmbientSetting]:
    """Return the settings that a library takes from the variables of a shell, without those of the launch line."""
    family = families.list_families().get(library.family)
    return [
        AmbientSetting(name, value, SHELL)
        for name, value in sorted(variables.items())
        if name.startswith((*content.COMMON, *(family.variables if family else ())))
        and not HARMLESS.match(name)
        and not SECRET.search(name)
        and library.environment.get(name) != value
    ]


def list_configured(library: Library) -> Iterator[AmbientSetting]:
    """Yield the settings in the configuration files that a library reads, with their files."""
    for pattern in content.list_patterns(library, {}):
        if library.wrap and not pattern.startswith("~"):
            continue  # It is the container's.
        path = Path(pattern).expanduser()
        for file in sorted(path.parent.glob(path.name)) if path.parent.is_dir() else ():
            if not CONFIGURATION.search(file.name):
                continue
            try:
                text = file.read_text(encoding="utf-8", errors="replace")
            except OSError:
                continue
            home = str(Path.home())
            source = f"~{str(file)[len(home) :]}" if str(file).startswith(f"{home}/") else str(file)
            for name, value in LINE.findall(text):
                yield AmbientSetting(name, value, source)


def clean(environment: MutableMapping[str, str], empty: Path) -> None:
    """Remove from an environment what libraries take as settings, and name an empty folder as the home folder.

    Spack finds the user's configuration all the same.
    """
    prefixes = (
        *content.COMMON,
        *(prefix for family in families.list_families().values() for prefix in family.variables),
    )
    for name in [name for name in environment if name.startswith(prefixes) and not HARMLESS.match(name)]:
        del environment[name]
    environment.setdefault("SPACK_USER_CONFIG_PATH", str(Path.home() / ".spack"))
    environment["HOME"] = str(empty)


def is_personal(setting: AmbientSetting) -> bool:
    """Return whether a setting is the user's, of the shell or the home folder, and did not come with a library."""
    return setting.source.startswith(PERSONAL)


def describe(setting: AmbientSetting) -> str:
    """Return a setting as `OMPI_MCA_btl=tcp,self`."""
    return f"{setting.name}={setting.value}"


def list_notes(known: Iterable[Library], variables: Mapping[str, str]) -> list[str]:
    """Return a line for each source of settings: which they are, and the libraries that are not at their defaults.

    Of files that came with a library, the settings are named without this judgement.
    """
    by_source: dict[tuple[str, str], list[str]] = {}
    for library in known:
        for setting in list_ambient(library, variables):
            by_source.setdefault((setting.source, library.name), []).append(describe(setting))
    merged: dict[tuple[str, str], list[str]] = {}
    for (source, name), texts in by_source.items():
        merged.setdefault((source, ", ".join(texts)), []).append(name)
    lines = []
    for (source, text), names in merged.items():
        who = join_words(names, "and")
        are = "is" if len(names) == 1 else "are"
        lines.append(
            f"{text} set in {source}: {who} {are} not at default settings; `rankbench run --clean` leaves it out"
            if source.startswith(PERSONAL)
            else f"{text} set in {source}, which came with {who}"
        )
    return lines
