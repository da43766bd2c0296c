"""Writes where a user wants it: `-` is standard output, and what is there already stays what it is (`files.put`)."""

from __future__ import annotations

import io
import os
import shutil
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

from rankbench import files
from rankbench.cli.display import console
from rankbench.cli.standard_output import close_if_unread

STANDARD_OUTPUT = Path("-")


def is_stream(place: Path) -> bool:
    """Return whether a path is standard output, a device or a FIFO, which hold one file. Raises OSError."""
    return is_standard_output(place) or files.is_special(place)


def is_standard_output(place: Path) -> bool:
    """Return whether a path is standard output, by whatever name: `-`, /dev/stdout, or the file that it goes to."""
    if place == STANDARD_OUTPUT:
        return True
    try:
        return os.path.samestat(place.stat(), os.fstat(1))
    except OSError:
        return False


def check_output(option: str, place: Path) -> None:
    """Raise RankbenchError where no file can be written to the place that an option names."""
    if is_standard_output(place):
        return
    try:
        files.check_place(place)
    except OSError as error:
        raise refuse(option, place, error) from None


def write_output(option: str, place: Path, text: str, *, quiet: bool = False) -> None:
    """Write a text to the place that an option names, and print its path. Raises RankbenchError."""

    def write(path: Path) -> list[Path]:
        files.write(path, text)
        return [path]

    write_outputs(option, place, write, quiet=quiet)


def write_outputs(
    option: str,
    place: Path,
    write: Callable[[Path], Iterable[Path]],
    *,
    quiet: bool = False,
) -> None:
    """Write files to the place that an option names, those beside the first too, and print the paths.

    `write` writes them to another path and returns theirs. Raises RankbenchError where they cannot be written.
    """
    try:
        if is_standard_output(place):
            with files.make_staging_folder() as staging:
                print_files(write(staging / "output"))
            return
        with files.make_staging_folder(place) as staging:
            for path in list(write(staging / os.path.basename(os.path.abspath(place)))):  # noqa: PTH100, PTH119 - it may be `..`
                target = place.with_name(path.name)
                files.put(path, target)
                if not quiet:
                    console.print(f"wrote {target}", markup=False, soft_wrap=True)
    except OSError as error:
        raise refuse(option, place, error) from None


def print_files(paths: Iterable[Path]) -> None:
    """Write the content of files to standard output, unless its reader has ended."""
    for path in paths:
        if isinstance(sys.stdout, io.StringIO):  # It is redirected, and holds text.
            sys.stdout.write(path.read_text(encoding="utf-8"))
            continue
        with close_if_unread(sys.stdout), path.open("rb") as source:
            sys.stdout.flush()
            shutil.copyfileobj(source, sys.stdout.buffer)
            sys.stdout.flush()


def refuse(option: str, place: Path, error: OSError) -> Exception:
    """Return the error for a place that cannot be written."""
    from rankbench.model import RankbenchError

    return RankbenchError(f"{option} {place}: cannot be written ({error.strerror}); name another file")
