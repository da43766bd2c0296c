"""Reads IPM's XML log: an entry for each call, size and partner of each rank."""

from __future__ import annotations

import re

from rankbench.model import RankbenchError
from rankbench.profiles import Profile, convert_counts, parse_count

NAME = "IPM"
BANNER = re.compile(r"^##IPMv?\d", re.MULTILINE)
ENTRY = re.compile(r"<hent\b([^>]*)>")
FIELD = re.compile(r'(\w+)="([^"]*)"')
TASK = re.compile(r"<task\b")


def recognises(text: str) -> bool:
    """Return whether a text is a log of IPM."""
    return "<ipm" in text[:400].lower() or bool(BANNER.search(text) or (TASK.search(text) and ENTRY.search(text)))


def read(text: str, file: str) -> Profile:
    """Return the calls: IPM counts each size exactly. A cut entry at the end of a log is ignored.

    Raises RankbenchError for the banner that IPM prints when a program ends.
    """
    if BANNER.search(text) and not ENTRY.search(text):
        raise RankbenchError(
            f"{file}: this is IPM's banner, which has no message sizes; IPM writes an XML file, too: give that. Run "
            "the application with IPM_REPORT=full and IPM_LOG=full if there is none"
        )
    counts: dict[tuple[str, int], float] = {}
    for entry in ENTRY.finditer(text):
        fields = dict(FIELD.findall(entry[1]))
        call, size, count = fields.get("call", ""), fields.get("bytes", ""), fields.get("count", "")
        if call.startswith("MPI_") and size.isdigit() and count.isdigit():
            where = f"{file}: {call}"
            key = call.removeprefix("MPI_"), parse_count(size, where)
            counts[key] = counts.get(key, 0.0) + parse_count(count, where)
    calls, ignored = convert_counts(counts, max(1, len(TASK.findall(text))))
    return Profile(NAME, calls, ignored)
