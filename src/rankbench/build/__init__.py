"""From the core's sources and a library to a binary with its receipt, kept by content below `<home>/builds`.

A library's prefix is only read. Nothing is compiled twice: the name of a build is a hash over all that it is made of.
"""

from __future__ import annotations

import hashlib
import itertools
import math
import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import msgspec

from rankbench import locking, processes, staging
from rankbench.build import missing
from rankbench.libraries import inspection, wrappers
from rankbench.model import Description, Library, RankbenchError, Receipt, Record

BINARY = "rankbench-core"
OBJECTS = "objects"
CALLS_PER_CPU = 4
"""How many calls of the wrapper each CPU makes: enough that all end at about the same time."""
FLAGS = (
    *("-std=c11", "-O3", "-pthread", "-Wall", "-Wextra", "-Wpedantic"),
    *(f"-Werror={name}" for name in ("implicit-function-declaration", "incompatible-pointer-types", "int-conversion")),
)
"""Other warnings are no errors: a compiler that nobody here has seen may have warnings of its own."""
WARNINGS = "warnings.log"
"""In the folder of a build: what the compiler and the linker printed; absent where they printed nothing."""
LIBRARIES = ("-lm", "-ldl")


class Build(Record, frozen=True):
    """A binary of the core and what it was made of."""

    binary: Path
    receipt: Receipt
    environment: dict[str, str]
    """What the library's programs need set."""
    wrap: Sequence[str] = ()
    """Words before the binary (`Library.wrap`)."""


class Recipe(Record, frozen=True):
    """All that decides what a build will be, found out before anything is compiled."""

    core: Path
    sources: dict[str, str]
    """Texts of the core's sources and headers by their path within the core."""
    wrapper: str
    wrap: list[str]
    environment: dict[str, str]
    linked: str
    compiler: str
    header: str
    """The library's `mpi.h`, preprocessed, with its macros: in it shows a library that was replaced in place."""

    @property
    def missing_calls(self) -> list[str]:
        """Return the MPI calls that the core makes and the library does not declare."""
        return sorted(missing.find_used(self.sources.values()) - missing.find_declared(self.header))

    @property
    def stand_ins(self) -> str:
        """Return the text of `missing.h`."""
        sources = self.sources.values()
        names = missing.find_names(sources) - missing.find_used(sources) - missing.find_names([self.header])
        return missing.render_header(self.missing_calls, names)

    @property
    def key(self) -> str:
        """Return the hash that names the build."""
        made_of = [
            self.sources,
            self.stand_ins,
            FLAGS,
            LIBRARIES,
            *self.wrap,
            self.wrapper,
            self.linked,
            self.compiler,
            self.header,
        ]
        return hashlib.sha256(msgspec.json.encode(made_of)).hexdigest()


def build(library: Library, home: Path, core: Path | None = None, show: Callable[[str], None] | None = None) -> Build:
    """Return the core built with a library's own wrapper, compiled only if it was not yet.

    `show` prints that it is compiled, since that takes long.
    """
    recipe = make_recipe(library, core or find_sources())
    place = home / "builds" / recipe.key[:16]
    receipt = read_receipt(place)
    if not receipt:
        with lock_build(place):
            receipt = read_receipt(place)
            if not receipt:
                if show:
                    show(f"building the core with {library.name}; it is kept for later campaigns")
                receipt = compile_into(place, recipe, library)
    # The same library may be known by another name than when it was built.
    receipt = msgspec.structs.replace(receipt, library=library.name)
    return Build(binary=place / BINARY, receipt=receipt, environment=library.environment, wrap=library.wrap)


@contextmanager
def lock_build(place: Path) -> Iterator[None]:
    """Keep others from making the same build meanwhile: they wait, and find it made."""
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        lock = locking.lock(place.with_name(f".{place.name}.lock"), wait=True)
    except OSError as error:
        raise staging.UnwritableHomeError(place.parent, error) from None
    with lock:
        yield


def read_receipt(place: Path) -> Receipt | None:
    """Return the receipt of a build, or nothing where there is none or a power cut left half of one."""
    try:
        receipt = msgspec.json.decode((place / "receipt.json").read_bytes(), type=Receipt)
        return receipt if (place / BINARY).stat().st_size else None
    except (OSError, msgspec.MsgspecError):
        return None


def describe(build: Build) -> Description:
    """Return what the core says of itself; MPI is not started for it.

    Raises RankbenchError if it cannot be run or says nothing.
    """
    command = [*build.wrap, str(build.binary), "--describe"]
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
        text = next(iter(answer.stderr.splitlines()), str(error))
        raise RankbenchError(
            f"{build.receipt.library}: {build.binary} --describe gives no description: {text}"
        ) from None


def find_sources(name: str = "core", file: str = "main.c") -> Path:
    """Return the folder of sources that has a file: in the installed package, or in the checkout that it runs from."""
    package = Path(__file__).parents[1]
    places = (package / name, package.parents[1] / name)
    return next((place for place in places if (place / file).exists()), places[0])


def make_recipe(library: Library, core: Path) -> Recipe:
    """Ask the wrapper for all that decides the build. Raises RankbenchError if the core's sources are not installed."""
    sources = {str(file.relative_to(core)): file.read_text("utf-8") for file in sorted(core.rglob("*.[ch]"))}
    if not sources:
        raise RankbenchError(f"{core}: no sources of the core here; install rankbench again")
    shown = show_command(library)
    linked = wrappers.find_command(shown)
    if not library.wrap:
        require_compiler(library, linked)
    version = ask_wrapper(library, "--version")
    return Recipe(
        core=core,
        sources=sources,
        wrapper=library.wrapper,
        wrap=library.wrap,
        environment=collect_environment(library),
        linked=linked or " ".join(inspection.find_linked(library.wrapper, collect_environment(library), library.wrap)),
        compiler=wrappers.drop_banner(version, shown).partition("\n")[0],
        header=wrappers.drop_before_source(ask_wrapper(library, "-E", "-dD", "-", text="#include <mpi.h>\n")),
    )


def collect_environment(library: Library) -> dict[str, str]:
    """Return what the wrapper needs set; one that is another library's needs only what that one needs."""
    return library.build_environment if library.binary_of else library.environment | library.build_environment


def require_compiler(library: Library, linked: str) -> None:
    """Make sure that the compiler which a wrapper calls exists, if its command is known.

    Raises RankbenchError if it does not.
    """
    name = next(iter(shlex.split(linked)), "")
    if name and not shutil.which(name, path=collect_environment(library).get("PATH")):
        raise RankbenchError(
            f"{library.name}: no C compiler behind {library.wrapper}: {name}: not found; "
            "load a module that has one, install gcc (Debian: apt-get install gcc libc6-dev), or use a node that has "
            "one: rankbench run --in-job"
        )


def show_command(library: Library) -> str:
    """Return what the wrapper prints if it is asked for its command. Those of Cray cannot show it."""
    try:
        return ask_wrapper(library, "-show")
    except WrapperError as error:
        return error.output


class WrapperError(RankbenchError):
    """A wrapper failed."""

    def __init__(self, message: str, output: str) -> None:
        super().__init__(message)
        self.output = output


def ask_wrapper(library: Library, *arguments: str, text: str = "") -> str:
    """Return what the wrapper prints; `-x c` lets it read C from standard input.

    Raises RankbenchError if it cannot be run.
    """
    if not library.wrapper:
        raise RankbenchError(f"{library.name}: no mpicc in {library.prefix}; install the library's development files")
    language = ["-x", "c"] if text else []
    try:
        answer = run([*library.wrap, library.wrapper, *language, *arguments], collect_environment(library), text)
    except OSError as error:
        raise RankbenchError(f"{library.name}: {library.wrapper} cannot be run: {error.strerror}") from None
    if answer.returncode:
        why = f"{' '.join(arguments)} failed: {find_first_error(answer.stderr)}"
        raise WrapperError(f"{library.name}: {library.wrapper} {why}", answer.stdout)
    return answer.stdout


def compile_into(place: Path, recipe: Recipe, library: Library) -> Receipt:
    """Compile the core beside its place and rename the folder; a failure leaves a log in its stead.

    Raises RankbenchError if it does not compile.
    """
    shutil.rmtree(place, ignore_errors=True)
    with staging.make_temporary_folder(place.parent) as folder:
        (folder / "missing.h").write_text(recipe.stand_ins, encoding="utf-8")
        if recipe.wrap:
            recipe = copy_sources(recipe, folder, library.name)
        try:
            objects, warnings = compile_objects(recipe, folder)
            warnings += link(recipe, folder, objects)
        except subprocess.CalledProcessError as error:
            log = place.with_suffix(".log")
            log.write_text(f"{shlex.join(error.cmd)}\n{error.stderr}", encoding="utf-8")
            raise RankbenchError(
                f"{library.name}: the core does not compile: {find_first_error(error.stderr)}; log: {log}"
            ) from None
        if warnings:
            (folder / WARNINGS).write_text(warnings, encoding="utf-8")
        receipt = make_receipt(recipe, library, folder / BINARY)
        (folder / "receipt.json").write_bytes(msgspec.json.format(msgspec.json.encode(receipt)))
        staging.sync(folder)
        staging.publish(folder, place)
    return receipt


def copy_sources(recipe: Recipe, folder: Path, name: str) -> Recipe:
    """Return a recipe whose sources are within the folder of a build, which the wrapping command must show.

    Raises RankbenchError if it does not.
    """
    core = folder.absolute() / "sources"
    for path, text in recipe.sources.items():
        (core / path).parent.mkdir(parents=True, exist_ok=True)
        (core / path).write_text(text, encoding="utf-8")
    if run([*recipe.wrap, "test", "-d", str(core)], recipe.environment).returncode:
        raise RankbenchError(
            f"{name}: {folder.parent} is not seen behind {shlex.join(recipe.wrap)}; let it show that folder and those "
            "of results, by a bind mount, or set RANKBENCH_HOME to one that it shows"
        )
    return msgspec.structs.replace(recipe, core=core)


def compile_objects(recipe: Recipe, folder: Path) -> tuple[list[Path], str]:
    """Compile every source of the core, as many calls of the wrapper at once as there are CPUs.

    Return the objects and the compiler's warnings.

    A call compiles several sources of one folder, for some wrappers are scripts that take longer than the compiler.
    """
    cpus = os.cpu_count() or 1
    names = [name for name in recipe.sources if name.endswith(".c")]
    at_once = math.ceil(len(names) / (CALLS_PER_CPU * cpus))
    core, place = recipe.core.absolute(), (folder / OBJECTS).absolute()
    include = [f"-I{core}", f"-I{folder.absolute()}"]

    def compile_batch(batch: tuple[str, ...]) -> tuple[list[Path], str]:
        target = place / Path(batch[0]).parent
        sources = [str(core / name) for name in batch]
        words = [recipe.wrapper, *FLAGS, *include, "-c", *sources]
        # Not every container keeps the working directory.
        entered = [*recipe.wrap, "sh", "-c", 'cd "$0" && exec "$@"', str(target)] if recipe.wrap else []
        warnings = run_checked([*entered, *words], recipe.environment, target)
        return [target / f"{Path(name).stem}.o" for name in batch], warnings

    calls = []
    for parent, siblings in itertools.groupby(sorted(names, key=os.path.dirname), key=os.path.dirname):
        (place / parent).mkdir(parents=True, exist_ok=True)
        listed = list(siblings)
        calls += [tuple(listed[begin : begin + at_once]) for begin in range(0, len(listed), at_once)]
    pool = ThreadPoolExecutor(cpus)
    try:
        batches = list(pool.map(compile_batch, calls))
        return [path for objects, _ in batches for path in objects], "".join(warnings for _, warnings in batches)
    finally:
        pool.shutdown(cancel_futures=True)


def link(recipe: Recipe, folder: Path, objects: Iterable[Path]) -> str:
    """Make the binary of its objects, which are then gone; return the linker's warnings."""
    files = [str(path) for path in objects]
    command = [*recipe.wrap, recipe.wrapper, *FLAGS, *files, "-o", str(folder / BINARY), *LIBRARIES]
    warnings = run_checked(command, recipe.environment)
    shutil.rmtree(folder / OBJECTS)
    shutil.rmtree(folder / "sources", ignore_errors=True)
    return warnings


def run_checked(command: list[str], environment: dict[str, str], folder: Path | None = None) -> str:
    """Run a compiler, which must succeed; return its warnings."""
    answer = run(command, environment, folder=folder)
    answer.check_returncode()
    return answer.stderr


def make_receipt(recipe: Recipe, library: Library, binary: Path) -> Receipt:
    """Return the receipt of a fresh binary."""
    return Receipt(
        library=library.name,
        wrapper=recipe.wrapper,
        compiler=recipe.compiler,
        flags=[*FLAGS, *LIBRARIES],
        linked=recipe.linked,
        missing=recipe.missing_calls,
        core_sha256=hashlib.sha256(msgspec.json.encode(recipe.sources)).hexdigest(),
        binary_sha256=hashlib.sha256(binary.read_bytes()).hexdigest(),
    )


def run(
    command: list[str], environment: dict[str, str], text: str = "", folder: Path | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a compiler, or what it made, with its messages in English and kept apart from its output."""
    return processes.run(command, {**os.environ, **environment, "LC_ALL": "C"}, text=text, folder=folder)


def find_first_error(messages: str) -> str:
    """Return the line of a compiler's or linker's messages that names the first error."""
    lines: Iterable[str] = [line for line in messages.splitlines() if line.strip(" -")]
    telling = (
        line
        for line in lines
        if re.search(r"error:|undefined reference|multiple definition|cannot find|not found", line)
    )
    return next(telling, next(iter(lines), "it said nothing"))
