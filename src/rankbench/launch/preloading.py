"""Puts words in front of a program within the command line of its launcher, so that only its ranks get them."""

from __future__ import annotations

import itertools
import re
import shutil
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path

from rankbench.libraries.derived import is_static
from rankbench.model import RankbenchError

LAUNCHER = re.compile(r"(mpiexec|mpirun|orterun|prterun|prun|srun|aprun|ibrun|jsrun|mpirun_rsh)([.-].*)?")
ONE = frozenset(
    f"-{name}"
    for text in (
        "n np N c f H host hosts hostfile machinefile machine ppn perhost rmk bootstrap launcher iface wdir wd path",
        "bootstrap-exec launcher-exec",
        "bind-to map-by rank-by envlist genvlist outfile-pattern errfile-pattern prepend-pattern usize pmi-port",
        "npernode npersocket cpu-set cpu-list tune am prefix tmpdir timeout stdin report-uri output-filename x dvm-uri",
        "nodes ntasks ntasks-per-node cpus-per-task partition p A account t time w nodelist J job-name o output e",
        "error i input m distribution mpi cpu-bind mem mem-bind mem-per-cpu G gpus gpus-per-node",
        "C constraint qos r relative exclude threads-per-core D chdir export sockets-per-node",
    )
    for name in text.split()
)
"""Options with a value, with one hyphen even where they have two."""
FLAGS = frozenset(
    f"-{name}"
    for text in (
        "l v verbose q quiet oversubscribe nooversubscribe allow-run-as-root tag-output timestamp-output bind-to-core",
        "report-bindings envall envnone genvall genvnone prepend-rank overcommit exclusive label use-hwthread-cpus",
    )
    for name in text.split()
)
"""Options without one."""
TWO = {"-mca", "-gmca", "-omca", "-prtemca", "-pmixmca", "-genv", "-env", "-tune-value"}
"""Options with two values."""
VARIABLES = {"-env", "-genv"}
"""Those whose values may be one word."""
FOLDERS = {"-wdir", "-wd", "-D", "-chdir"}
"""Options with the folder that a program runs in."""
PART = ":"
"""Separates the programs of a command line that starts several."""


def is_launcher(word: str) -> bool:
    """Return whether a word is the name or path of a launcher."""
    return bool(LAUNCHER.fullmatch(Path(word).name))


def insert_words(command: Sequence[str], before: Sequence[str], program: str = "") -> list[str]:
    """Return a launcher's command line with words in front of each of its programs.

    Args:
        command: the launcher and its words; or a program alone, as one rank.
        before: what is put in front.
        program: the word that is the program, where the line does not show it.

    Raises RankbenchError where it is not clear which word is the program.
    """
    words = list(command)
    for place in reversed(find_programs(words, program)):
        words[place:place] = before
    return words


def find_programs(command: Sequence[str], program: str = "") -> list[int]:
    """Return the places of the programs in a launcher's command line. Raises RankbenchError if one is not there."""
    if program:
        if program not in command:
            raise RankbenchError(f"--program {program}: no such word in the command; write it as it stands there")
        return [place for place, word in enumerate(command) if word == program]
    if not is_launcher(command[0]):
        return [0]
    return [find_program(command, begin) for begin in list_parts(command)]


def list_parts(command: Sequence[str]) -> Iterator[int]:
    """Yield where the options of each program begin."""
    yield 1
    yield from (place + 1 for place, word in enumerate(command) if word == PART)


def find_program(command: Sequence[str], begin: int) -> int:
    """Return the place of the first word that is neither an option nor the value of one.

    Raises RankbenchError if there is none, or it is unclear.
    """
    place = begin
    while place < len(command):
        word = command[place]
        if not word.startswith("-"):
            return place
        plain = f"-{word.lstrip('-')}"
        if plain == "-":
            return place + 1
        place += 1
        if "=" in word:
            continue
        if plain in ONE or plain in TWO:
            joined = place < len(command) and "=" in command[place]  # Hydra takes `-env NAME=VALUE`, too.
            place += 2 if plain in TWO and not (plain in VARIABLES and joined) else 1
        elif plain in FLAGS:
            continue
        elif other := find_other_program(command, place):
            raise RankbenchError(
                f"{word} is not known: is {command[place]} its value or the program? "
                f"Write --program {other}, or the program that it is"
            )
        elif place < len(command) and not command[place].startswith("-") and not find_executable(command[place]):
            place += 1
    raise RankbenchError(
        f"{' '.join(command)}: no program in this command; expected one, such as mpiexec -n 2 ./solver"
    )


def find_other_program(command: Sequence[str], place: int) -> str:
    """Return what can be the program as well as the word at a place, which is behind an unknown option.

    That is an executable directly behind it, or the path of one later in its part of the line; empty: there is none.
    """
    if place >= len(command) or command[place].startswith("-") or not find_executable(command[place]):
        return ""
    later = command[place + 1 :]
    later = later[: later.index(PART)] if PART in later else later
    others = [*later[:1], *(word for word in later[1:] if "/" in word)]
    return next((word for word in others if not word.startswith("-") and find_executable(word)), "")


def find_executable(word: str) -> Path | None:
    """Return the file that a word starts; none if there is none."""
    path = shutil.which(word)
    return Path(path) if path else None


def list_folders(command: Sequence[str]) -> list[Path]:
    """Return the folders in which a launcher's command line runs programs."""
    split = [part for word in command for part in (word.split("=", 1) if word.startswith("--") else [word])]
    return [
        Path(folder)
        for option, folder in itertools.pairwise(split)
        if option.startswith("-") and f"-{option.lstrip('-')}" in FOLDERS
    ]


def require_preloadable(word: str, folders: Sequence[Path] = ()) -> Path:
    """Return a program's file. Raises RankbenchError if there is none, or a library cannot be preloaded into it.

    Args:
        word: the program as its command line has it.
        folders: what a path may be relative to, before the current folder.
    """
    below = (find_executable(str(folder / word)) for folder in folders if "/" in word)
    path = next(filter(None, below), None) or find_executable(word)
    if path is None:
        why = "it cannot be executed; chmod +x?" if Path(word).is_file() else "no such program"
        raise RankbenchError(f"{word}: {why}")
    status = path.stat()
    if status.st_mode & (stat.S_ISUID | stat.S_ISGID):
        raise RankbenchError(f"{word}: is set-uid or set-gid, so that no library can be preloaded")
    if is_static(path):
        raise RankbenchError(f"{word}: is linked statically, so that no library can be preloaded; link it dynamically")
    return path
