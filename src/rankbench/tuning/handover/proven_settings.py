"""Settings that a tuning has proven faster, stored below the home by library, for candidates such as `mpich tuned`.

Each has a folder of its own, which is never changed: campaigns name the files in it.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path

import msgspec

from rankbench import files
from rankbench.model import Library, ProvenSettings, RankbenchError

SUFFIX = " tuned"
"""Suffix of a library in a plan: the library with its newest proven settings."""
RECORD = "proof.json"


def split_name(name: str) -> tuple[str, bool]:
    """Return the library of a plan's candidate, and whether the candidate is tuned."""
    return name.removesuffix(SUFFIX).rstrip(), name.endswith(SUFFIX)


def store_proven(proven: ProvenSettings, texts: Mapping[str, str], home: Path) -> ProvenSettings:
    """Write settings and the library's own files; return the settings with the path of their folder."""
    parent = home / "tuned" / proven.library
    parent.mkdir(parents=True, exist_ok=True)
    name = proven.created.replace(":", "").replace("+0000", "Z")
    folder = Path(tempfile.mkdtemp(prefix=f"{name}-", dir=parent)).resolve()
    for file, text in texts.items():
        files.write(folder / file, text)
    placed = msgspec.structs.replace(proven, settings=place_files(proven.settings, folder), folder=str(folder))
    folder.chmod(0o755)
    files.write(folder / RECORD, msgspec.json.format(msgspec.json.encode(placed)).decode() + "\n")
    return placed


def place_files(settings: Mapping[str, str], folder: Path) -> dict[str, str]:
    """Return settings with `{folder}` replaced."""
    return {name: value.replace("{folder}", str(folder)) for name, value in settings.items()}


def find_proven(library: Library, home: Path, host: str) -> ProvenSettings:
    """Return the newest proven settings of a library on a machine. An empty host means any machine.

    Raises RankbenchError where there are none.
    """
    records = []
    for path in (home / "tuned" / library.name).glob(f"*/{RECORD}"):
        try:
            records.append(msgspec.json.decode(path.read_bytes(), type=ProvenSettings))
        except (OSError, msgspec.MsgspecError) as error:
            raise RankbenchError(f"{path}: cannot be read ({error}); remove its folder") from None
    here = [record for record in records if not host or record.host == host]
    if not here:
        elsewhere = sorted({record.host for record in records})
        where = f" (there are some of {', '.join(elsewhere)})" if elsewhere else ""
        raise RankbenchError(
            f"{library.name}: no proven settings for this machine{where}; create them: rankbench tune {library.name}"
        )
    return max(here, key=lambda record: record.created)
