"""What is computed once and kept for later commands, in a folder of the user's: never in a campaign, which may come
from somebody else. Without a folder, as in a program that imports rankbench, nothing is kept.

What is kept can be removed at any time. Its name must say what it was made of, so that it never is out of date.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
from pathlib import Path

from rankbench import files

MOST = 32
"""Files of one kind; the ones read least lately are removed."""
CHECK_BYTES = 16
"""Before the content of each file stands a hash of it."""
_folders: list[Path] = []


def use(folder: Path) -> None:
    """Keep things in this folder from now on; it is made when it is needed."""
    _folders[:] = [folder]


def is_used() -> bool:
    """Return whether anything is kept."""
    return bool(_folders)


def find(kind: str, name: str) -> bytes | None:
    """Return what was kept under a name, or None, also where that is damaged."""
    for folder in _folders:
        path = folder / kind / name
        with contextlib.suppress(OSError):
            content = path.read_bytes()
            os.utime(path)
            return content[CHECK_BYTES:] if content[:CHECK_BYTES] == _check(content[CHECK_BYTES:]) else None
    return None


def store(kind: str, name: str, content: bytes) -> None:
    """Keep something under a name. Where that cannot be written it is computed again next time."""
    for folder in _folders:
        with contextlib.suppress(OSError):
            (folder / kind).mkdir(parents=True, exist_ok=True)
            files.write(folder / kind / name, _check(content) + content)
            paths = [path for path in (folder / kind).iterdir() if not path.name.endswith(files.PART)]
            for path in sorted(paths, key=lambda path: path.stat().st_mtime)[:-MOST]:
                path.unlink(missing_ok=True)


def _check(content: bytes) -> bytes:
    return hashlib.blake2b(content, digest_size=CHECK_BYTES).digest()
