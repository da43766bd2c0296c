"""From the core's sources and a library to a binary with its receipt, kept by content below `<home>/builds`.

A library's prefix is only read. Nothing is compiled twice: the name of a build is a hash over all that it is made of.
"""

from __future__ import annotations

import hashlib
import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from rankbench import staging
from rankbench.build import missing
from rankbench.model import Description, Library, RankbenchError, Receipt, Record

if TYPE_CHECKING:
    from collections.abc import Iterable

BINARY = "rankbench-core"
FLAGS = ("-std=c11", "-O2", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-pthread")
LIBRARIES = ("-lm",)


class Build(Record, frozen=True):
    """A binary of the core and what it was made of."""

    binary: Path
    receipt: Receipt
    environment: dict[str, str]
    """What the library's programs need set."""


class Recipe(Record, frozen=True):
    """All that decides what a build will be, found out before anything is compiled."""

    core: Path
    sources: dict[str, str]
    """Texts of the core's sources and headers by their path within the core."""
    wrapper: str
    environment: dict[str, str]
    linked: str
    compiler: str
    header: str
    """The library's `mpi.h`, preprocessed, with its macros: in it shows a library that was replaced in place."""

    @property
    def lacking(self) -> list[str]:
        """Return the MPI calls that the core makes and the library does not declare."""
        return sorted(missing.used(self.sources.values()) - missing.declared(self.header))

    @property
    def key(self) -> str:
        """Return the hash that names the build."""
        stand_ins = missing.header(self.lacking)
        made_of = [self.sources, stand_ins, FLAGS, LIBRARIES, self.wrapper, self.linked, self.compiler, self.header]
        return hashlib.sha256(msgspec.json.encode(made_of)).hexdigest()


def build(library: Library, home: Path, core: Path | None = None) -> Build:
    """Return the core built with a library's own wrapper, compiled only if it was not yet."""
    recipe = prepare(library, core or core_folder())
    place = home / "builds" / recipe.key[:16]
    receipt = stored(place)
    if not receipt:
        shutil.rmtree(place, ignore_errors=True)
        compile_into(place, recipe, library)
        receipt = msgspec.json.decode((place / "receipt.json").read_bytes(), type=Receipt)
    # The same library may be known by another name than when it was built.
    receipt = msgspec.structs.replace(receipt, library=library.name)
    return Build(binary=place / BINARY, receipt=receipt, environment=library.environment)


def stored(place: Path) -> Receipt | None:
    """Return the receipt of a build, or nothing where there is none or a power cut left half of one."""
    try:
        receipt = msgspec.json.decode((place / "receipt.json").read_bytes(), type=Receipt)
        return receipt if (place / BINARY).stat().st_size else None
    except (OSError, msgspec.MsgspecError):
        return None


def describe(build: Build) -> Description:
    """Return what the core says of itself; MPI is not started for it."""
    command = [str(build.binary), "--describe"]
    try:
        answer = run(command, build.environment)
    except OSError as error:
        raise RankbenchError(
            f"{build.receipt.library}: {build.binary} cannot be run ({error.strerror}); "
            "if its file system is mounted noexec, choose another home by RANKBENCH_HOME"
        ) from None
    try:
        return msgspec.json.decode(answer.stdout, type=Description)
    except msgspec.DecodeError as error:
        said = next(iter(answer.stderr.splitlines()), str(error))
        raise RankbenchError(
            f"{build.receipt.library}: {build.binary} --describe gives no description: {said}"
        ) from None


def core_folder() -> Path:
    """Return where the core's sources are: inside the installed package, or in the checkout that it runs from."""
    package = Path(__file__).parents[1]
    places = (package / "core", package.parents[1] / "core")
    return next((place for place in places if (place / "op.h").exists()), places[0])


def prepare(library: Library, core: Path) -> Recipe:
    """Ask the wrapper for all that decides the build."""
    sources = {str(file.relative_to(core)): file.read_text("utf-8") for file in sorted(core.rglob("*.[ch]"))}
    if not sources:
        raise RankbenchError(f"{core}: no sources of the core here; install rankbench again")
    linked = wrapper_says(library, "-show")
    require_compiler(library, linked)
    return Recipe(
        core=core,
        sources=sources,
        wrapper=library.wrapper,
        environment=library.environment,
        linked=linked.strip(),
        compiler=wrapper_says(library, "--version").partition("\n")[0],
        header=wrapper_says(library, "-E", "-dD", "-", text="#include <mpi.h>\n"),
    )


def require_compiler(library: Library, linked: str) -> None:
    """Make sure that the compiler which a wrapper calls exists."""
    name = (shlex.split(linked) or ["cc"])[0]
    if not shutil.which(name):
        raise RankbenchError(
            f"{library.name}: no C compiler behind {library.wrapper}: {name}: not found; "
            "install gcc (Debian: apt-get install gcc libc6-dev)"
        )


def wrapper_says(library: Library, *arguments: str, text: str = "") -> str:
    """Return what the wrapper prints; `-x c` lets it read C from standard input."""
    if not library.wrapper:
        raise RankbenchError(f"{library.name}: no mpicc in {library.prefix}; install the library's development files")
    language = ["-x", "c"] if text else []
    try:
        answer = run([library.wrapper, *language, *arguments], library.environment, text)
    except OSError as error:
        raise RankbenchError(f"{library.name}: {library.wrapper} cannot be run: {error.strerror}") from None
    if answer.returncode:
        raise RankbenchError(
            f"{library.name}: {library.wrapper} {' '.join(arguments)} failed: {first_error(answer.stderr)}"
        )
    return answer.stdout


def compile_into(place: Path, recipe: Recipe, library: Library) -> None:
    """Compile the core beside its place and rename the folder; a failure leaves a log in its stead."""
    with staging.beside(place.parent) as folder:
        (folder / "missing.h").write_text(missing.header(recipe.lacking), encoding="utf-8")
        files = [str(recipe.core / name) for name in recipe.sources if name.endswith(".c")]
        include = [f"-I{recipe.core}", f"-I{folder}"]
        command = [recipe.wrapper, *FLAGS, *include, *files, "-o", str(folder / BINARY), *LIBRARIES]
        answer = run(command, recipe.environment)
        if answer.returncode:
            log = place.with_suffix(".log")
            log.write_text(f"{shlex.join(command)}\n{answer.stderr}", encoding="utf-8")
            raise RankbenchError(f"{library.name}: the core does not compile: {first_error(answer.stderr)}; log: {log}")
        receipt = receipt_of(recipe, library, folder / BINARY)
        (folder / "receipt.json").write_bytes(msgspec.json.format(msgspec.json.encode(receipt)))
        staging.sync(folder)
        staging.put(folder, place)


def receipt_of(recipe: Recipe, library: Library, binary: Path) -> Receipt:
    """Return the receipt of a fresh binary."""
    return Receipt(
        library=library.name,
        wrapper=recipe.wrapper,
        compiler=recipe.compiler,
        flags=[*FLAGS, *LIBRARIES],
        linked=recipe.linked,
        missing=recipe.lacking,
        core_sha256=hashlib.sha256(msgspec.json.encode(recipe.sources)).hexdigest(),
        binary_sha256=hashlib.sha256(binary.read_bytes()).hexdigest(),
    )


def run(command: list[str], environment: dict[str, str], text: str = "") -> subprocess.CompletedProcess[str]:
    """Run a compiler, or what it made, with its messages in English and kept apart from its output."""
    return subprocess.run(
        command,
        env={**os.environ, **environment, "LC_ALL": "C"},
        input=text,
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        check=False,
    )


def first_error(messages: str) -> str:
    """Return the line of a compiler's or linker's messages that names the first error."""
    lines: Iterable[str] = [line for line in messages.splitlines() if line.strip(" -")]
    telling = (line for line in lines if re.search(r"error:|undefined reference|cannot find|not found", line))
    return next(telling, next(iter(lines), "it said nothing"))
