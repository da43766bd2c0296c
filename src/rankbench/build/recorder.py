"""The recorder: a library that is preloaded into a user's program, built with the wrapper of each MPI library."""

from __future__ import annotations

import hashlib
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from rankbench import build, staging
from rankbench.model import RankbenchError

if TYPE_CHECKING:
    from rankbench.model import Library

FILE = "librankbench-recorder.so"
FLAGS = ("-std=gnu11", "-O2", "-fPIC", "-pthread", "-Wall", "-Wextra")


def find_recorder_folder() -> Path:
    """Return where the recorder's sources are: inside the installed package, or in the checkout that it runs from."""
    package = Path(build.__file__).parents[1]
    places = (package / "recorder", package.parents[1] / "recorder")
    return next((place for place in places if (place / "startup.c").exists()), places[0])


def build_recorder(library: Library, home: Path) -> Path:
    """Return the recorder for a library, compiled only if it was not yet. It is linked to no library.

    Raises RankbenchError if it does not compile.
    """
    recipe = build.make_recipe(library, find_recorder_folder())
    made_of = [recipe.sources, FLAGS, recipe.wrapper, recipe.linked, recipe.compiler, recipe.header]
    place = home / "builds" / f"recorder-{hashlib.sha256(msgspec.json.encode(made_of)).hexdigest()[:16]}"
    if not (place / FILE).exists():
        with build.lock_build(place):
            if not (place / FILE).exists():
                shutil.rmtree(place, ignore_errors=True)
                compile_recorder(place, recipe, library)
    return place / FILE


def compile_recorder(place: Path, recipe: build.Recipe, library: Library) -> None:
    """Compile beside the place and rename the folder."""
    with staging.make_temporary_folder(place.parent) as folder:
        names = [str(recipe.core.absolute() / name) for name in recipe.sources if name.endswith(".c")]
        objects = folder / "objects"
        objects.mkdir()
        try:
            build.run_checked([recipe.wrapper, *FLAGS, "-c", *names], recipe.environment, objects)
            compiler = shlex.split(recipe.linked)[0]
            files = [str(path) for path in sorted(objects.glob("*.o"))]
            link = [compiler, "-shared", "-pthread", *files, "-o", str(folder / FILE), "-ldl"]
            build.run_checked(link, recipe.environment)
        except subprocess.CalledProcessError as error:
            raise RankbenchError(
                f"{library.name}: the recorder does not compile: {build.find_first_error(error.stderr)}"
            ) from None
        shutil.rmtree(objects)
        staging.sync(folder)
        staging.publish(folder, place)
