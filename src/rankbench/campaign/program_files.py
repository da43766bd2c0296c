"""Notices that the user's program was changed since earlier launches of a campaign.

Launches of both programs must never be values of one campaign, as those of a rebuilt library (`rebuilds`).
"""

from __future__ import annotations

import hashlib
import stat
from collections.abc import Iterable, Mapping
from pathlib import Path

import msgspec

from rankbench import files
from rankbench.campaign import rebuilds, user_program
from rankbench.campaign.foreign import Programs
from rankbench.model import ProgramSpec, RankbenchError

FILE = "program.json"
"""In the campaign's folder."""
MOST_NAMED = 3


class ProgramFiles(msgspec.Struct, frozen=True):
    """What a campaign's program was when it began."""

    contents: dict[str, str]
    """By file: the hash of the program for each library, and of each file that the command names."""
    sources: dict[str, str]
    """Size and time of each file in the program's folder, where it was built; then the program follows from these."""


def describe(spec: ProgramSpec, programs: Programs) -> ProgramFiles:
    """Return what the program is now. Raises RankbenchError if a file cannot be read."""
    paths = {
        f"{spec.paths.get(library, spec.run[0])} of {library}": program.path
        for (library, _), program in programs.items()
        if program.script
    }
    paths |= {word: path for word in spec.run[1:] if (path := Path(spec.folder) / word).is_file()}
    try:
        contents = {name: hashlib.sha256(path.read_bytes()).hexdigest() for name, path in paths.items()}
    except OSError as error:
        raise RankbenchError(f"program.run: {error.filename}: cannot be read ({error.strerror})") from None
    return ProgramFiles(contents, list_sources(spec) if spec.build else {})


def list_sources(spec: ProgramSpec) -> dict[str, str]:
    """Return size and time of each file in the program's folder."""
    folder = Path(spec.folder)
    facts = files.find_facts(user_program.list_entries(folder))
    return {
        str(path.relative_to(folder)): f"{fact.st_size} {fact.st_mtime_ns}"
        for path, fact in facts.items()
        if stat.S_ISREG(fact.st_mode)
    }


def keep(folder: Path, now: ProgramFiles) -> None:
    """Store what a campaign's program was when it began."""
    files.write(folder / FILE, msgspec.json.encode(now))


def require_same(folder: Path, now: ProgramFiles) -> None:
    """Refuse to continue a campaign with another program. Raises RankbenchError if it is another one."""
    changed = list_changed(read(folder).contents, now.contents)
    if changed:
        raise RankbenchError(
            f"{folder}: the program was changed since this campaign began ({name_few(changed)}). "
            f"{rebuilds.advise(folder)}"
        )


def find_changed(folder: Path, spec: ProgramSpec, plan_file: str) -> str:
    """Return which files of the program were changed since a campaign began, without building it; empty: none."""
    then = read(folder)
    try:
        if then.sources:
            changed = list_changed(then.sources, list_sources(spec))
        else:
            words = {word: Path(spec.folder) / word for word in then.contents}
            words |= {name: Path(spec.folder) / name.rpartition(" of ")[0] for name in then.contents if " of " in name}
            now = {
                name: hashlib.sha256(path.read_bytes()).hexdigest() for name, path in words.items() if path.is_file()
            }
            changed = list_changed({name: value for name, value in then.contents.items() if name in now}, now)
    except (OSError, RankbenchError):
        return ""
    plan_name = Path(plan_file).name
    return name_few([name for name in changed if name != plan_name])


def read(folder: Path) -> ProgramFiles:
    """Return what the program of a campaign was; nothing is known of a campaign from before this was stored.

    Raises RankbenchError if the file is damaged.
    """
    try:
        return msgspec.json.decode((folder / FILE).read_bytes(), type=ProgramFiles)
    except FileNotFoundError:
        return ProgramFiles({}, {})
    except (OSError, msgspec.MsgspecError) as error:
        raise RankbenchError(f"{folder / FILE}: cannot be read ({error})") from None


def list_changed(then: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    """Return the names of what is not as it was; where nothing is known, nothing has changed."""
    return [name for name in dict.fromkeys([*then, *now]) if then and then.get(name) != now.get(name)]


def name_few(names: Iterable[str]) -> str:
    """Return the first names."""
    listed = list(names)
    more = [f"and {len(listed) - MOST_NAMED} more"] if len(listed) > MOST_NAMED else []
    return ", ".join([*listed[:MOST_NAMED], *more])
