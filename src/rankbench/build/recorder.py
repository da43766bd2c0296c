"""The recorder: a library that is preloaded into a user's program, built with the wrapper of each MPI library."""

from __future__ import annotations

import hashlib
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import msgspec

from rankbench import build, staging
from rankbench.build import missing, recorded_calls
from rankbench.model import Library, RankbenchError

FILE = "librankbench-recorder.so"
"""Only says when MPI was initialised and finalised."""
CALLS_FILE = "librankbench-calls.so"
"""Records every call, too."""
STARTUP = "startup.c"
FLAGS = ("-std=gnu11", "-O2", "-fPIC", "-pthread", "-Wall", "-Wextra")


def build_recorder(library: Library, home: Path, *, calls: bool = False) -> Path:
    """Return the recorder for a library, compiled only if it was not yet. It is linked to no library.

    Args:
        library: whose wrapper and header are used.
        home: where builds are kept.
        calls: whether it records every call, or only when MPI was initialised and finalised.

    Raises RankbenchError if it does not compile, or cannot be preloaded from there.
    """
    if re.search(r"[\s:]", str(home)):
        raise RankbenchError(
            f"RANKBENCH_HOME {home}: nothing can be preloaded from a path with blanks or colons; use another folder"
        )
    recipe = build.make_recipe(library, build.find_sources("recorder", STARTUP))
    wrappers = recorded_calls.render_wrappers(
        missing.find_declared(recipe.header), every_fortran="#define OPEN_MPI " in recipe.header
    )
    made_of = [recipe.sources, wrappers, FLAGS, recipe.wrapper, recipe.linked, recipe.compiler, recipe.header]
    place = home / "builds" / f"recorder-{hashlib.sha256(msgspec.json.encode(made_of)).hexdigest()[:16]}"
    if not (place / CALLS_FILE).exists():
        with build.lock_build(place):
            if not (place / CALLS_FILE).exists():
                shutil.rmtree(place, ignore_errors=True)
                compile_recorder(place, recipe, wrappers, library)
    return place / (CALLS_FILE if calls else FILE)


def compile_recorder(place: Path, recipe: build.Recipe, wrappers: str, library: Library) -> None:
    """Compile beside the place and rename the folder. Raises RankbenchError if it does not compile."""
    with staging.make_temporary_folder(place.parent) as folder:
        names = [str(recipe.core.absolute() / name) for name in recipe.sources if name.endswith(".c")]
        objects = folder / "objects"
        objects.mkdir()
        source = objects / "wrappers.c"
        source.write_text(wrappers, encoding="utf-8")
        try:
            command = [recipe.wrapper, *FLAGS, "-I", str(recipe.core.absolute()), "-c", *names, str(source)]
            build.run_checked(command, recipe.environment, objects)
            # Linked without the wrapper, which would add the library. Those of Cray do not say what they call.
            compiler = next(iter(shlex.split(recipe.linked)), "cc")
            for file, parts in ((FILE, Path(STARTUP).stem), (CALLS_FILE, "*")):
                files = [str(path) for path in sorted(objects.glob(f"{parts}.o"))]
                link = [compiler, "-shared", "-pthread", *files, "-o", str(folder / file), "-ldl"]
                build.run_checked(link, recipe.environment)
        except subprocess.CalledProcessError as error:
            raise RankbenchError(
                f"{library.name}: the recorder does not compile: {build.find_first_error(error.stderr)}"
            ) from None
        shutil.rmtree(objects)
        staging.sync(folder)
        staging.publish(folder, place)
