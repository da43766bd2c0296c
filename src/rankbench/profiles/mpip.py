"""Reads mpiP's report: the section of sent messages, by call and call site, summed over ranks."""

from __future__ import annotations

import re

from rankbench.model import RankbenchError
from rankbench.profiles import LARGEST, Profile, convert_counts, parse_count

NAME = "mpiP"
SECTION = "Aggregate Sent Message Size"
ROW = re.compile(r"\s*(?P<call>[A-Z]\w+)\s+(?P<site>\d+)\s+(?P<count>\d+)\s+(?P<total>\S+)\s+(?P<mean>\S+)\s+\S+\s*$")
MAX_ROWS = 20
"""Largest number of rows in the section."""


def recognises(text: str) -> bool:
    """Return whether a text is a report of mpiP."""
    return text.lstrip().startswith("@ mpiP")


def read(text: str, file: str) -> Profile:
    """Return the calls: mpiP has the mean size of each call site. Raises RankbenchError if the report lacks them."""
    lines = text.splitlines()
    ranks = sum(line.startswith("@ MPI Task Assignment") for line in lines)
    begins = next((number for number, line in enumerate(lines) if line.startswith(f"@--- {SECTION}")), None)
    if begins is None or not ranks:
        what = f"the section {SECTION!r}" if begins is None else "a line 'MPI Task Assignment'"
        raise RankbenchError(f"{file}: an mpiP report without {what}; let mpiP write its full report")
    counts: dict[tuple[str, int], float] = {}
    rows = 0
    for number, line in enumerate(lines[begins + 1 :], begins + 2):
        if line.startswith("@---"):
            break
        if match := ROW.match(line):
            rows += 1
            key = match["call"], parse_mean_size(match["mean"], file, number)
            counts[key] = counts.get(key, 0.0) + parse_count(match["count"], f"{file}:{number}")
    calls, ignored = convert_counts(counts, ranks)
    notes = ["mpiP reports the mean size of each call site, not each size"]
    if rows >= MAX_ROWS:
        notes.append(f"mpiP lists the {MAX_ROWS} call sites that sent most bytes; others are not counted")
    return Profile(NAME, calls, ignored, tuple(notes))


def parse_mean_size(text: str, file: str, number: int) -> int:
    """Return the mean size in bytes, rounded. Raises RankbenchError if it is not one."""
    try:
        mean = float(text)
    except ValueError:
        mean = -1.0
    if 0 <= mean <= LARGEST:
        return round(mean)
    raise RankbenchError(f"{file}:{number}: found {text[:40]!r}, expected a mean size in bytes")
