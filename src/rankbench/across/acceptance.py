"""Regressions that a gate accepts: who accepts which one, up to what ratio, why, and until when. Pure.

    [[accepted]]
    case = "allreduce * KiB"
    candidate = "dev"
    limit = 1.9
    reason = "the new algorithm needs less memory"
    until = 2027-03-31

A case is a pattern of its title or its key, and a candidate one of its name; `*`, `?` and `[...]` are as in file names.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import date, datetime
from fnmatch import fnmatchcase
from pathlib import PurePath
from typing import NamedTuple

from msgspec.structs import replace

from rankbench.across.gate import Check
from rankbench.language import NOTHING, say
from rankbench.plan.document import Value, parse_document

TABLE = "accepted"
REQUIRED = ("case", "limit", "reason", "until")
KEYS = ("case", "candidate", "limit", "reason", "until")
RENEW = say("The reference is out of date: compare with this result from now on.")
REMOVE = say("Remove the entry.")


class Acceptance(NamedTuple):
    """One entry of a file of accepted regressions."""

    label: str
    """Names it in messages: `accepted.toml, entry 2 (allreduce 8 B, dev)`."""
    case: str
    candidate: str
    limit: float
    """Largest accepted time over that of the reference."""
    reason: str
    until: date
    """The last day on which it accepts."""

    def covers(self, check: Check) -> bool:
        """Return whether a check is of its cases and candidates."""
        named = any(fnmatchcase(name.lower(), self.case.lower()) for name in (check.title, check.case))
        return named and fnmatchcase(check.candidate, self.candidate)

    def accepts(self, check: Check) -> bool:
        """Return whether a check failed for a regression that is not shown to be larger than the limit."""
        return check.outcome == "failed" and check.least is not None and check.least <= self.limit


class AcceptedChecks(NamedTuple):
    """The checks of a gate after its accepted regressions."""

    checks: list[Check]
    remarks: list[str]
    """About entries that expired, are not needed, or match nothing."""
    unneeded: list[Acceptance]
    """Entries whose cases are not slower any more."""


def parse_acceptances(text: str, file: str) -> list[Acceptance]:
    """Return the entries of a file. Raises RankbenchError with its line for anything but these keys and values."""
    values = parse_document(text, file).read_table([TABLE])
    if TABLE not in values:
        return []
    entries = values[TABLE].read_items(f"tables [[{TABLE}]]")
    return [_read_acceptance(entry, number, PurePath(file).name) for number, entry in enumerate(entries, 1)]


def _read_acceptance(entry: Value, number: int, file: str) -> Acceptance:
    values = entry.read_table(KEYS)
    if missing := [key for key in REQUIRED if key not in values]:
        raise entry.make_error(f"{missing[0]} is missing (an entry has {', '.join(REQUIRED)}, and may have candidate)")
    case, reason = values["case"].read_text(), values["reason"].read_text()
    candidate = values["candidate"].read_text() if "candidate" in values else "*"
    limit = values["limit"].parse_with(_parse_limit, "a ratio above 1, such as 1.9")
    until = values["until"].parse_with(_parse_date, "a date such as 2027-03-31, without quotes")
    return Acceptance(f"{file}, entry {number} ({case}, {candidate})", case, candidate, limit, reason, until)


def _parse_limit(raw: object) -> float:
    if isinstance(raw, bool) or not isinstance(raw, int | float) or not 1 < raw < math.inf:
        raise ValueError
    return float(raw)


def _parse_date(raw: object) -> date:
    if not isinstance(raw, date) or isinstance(raw, datetime):
        raise ValueError
    return raw


def accept(checks: Sequence[Check], entries: Sequence[Acceptance], today: date) -> AcceptedChecks:
    """Return the checks with those accepted that an entry accepts today, and what is to say about the entries."""
    current = [entry for entry in entries if entry.until >= today]
    ruled = [_accept_check(check, current) for check in checks]
    remarks, unneeded = [], []
    for entry in entries:
        outcomes = {check.outcome for check in checks if entry.covers(check)}
        if entry.until < today:
            remarks.append(f"{entry.label} expired on {entry.until}: it accepts nothing any more.")
        elif not outcomes:
            remarks.append(f"{entry.label} matches no check; correct its case or candidate.")
        elif outcomes <= {"passed", "improved"}:
            remarks.append(f"{entry.label} is not needed any more: nothing that it matches is slower. Remove it.")
            unneeded.append(entry)
    return AcceptedChecks(ruled, remarks, unneeded)


def _accept_check(check: Check, entries: Sequence[Acceptance]) -> Check:
    """Return a check as accepted if an entry accepts it; one beyond the limit says so."""
    covering = [entry for entry in entries if entry.covers(check)]
    if entry := next((entry for entry in covering if entry.accepts(check)), None):
        text = say(
            "{text}; accepted up to {limit:ratio} until {until}: {reason}",
            text=check.text,
            limit=entry.limit,
            until=entry.until.isoformat(),
            reason=entry.reason,
        )
        return replace(check, outcome="accepted", text=text, advice=NOTHING)
    if covering and check.outcome == "failed" and check.least is not None:
        limit = max(entry.limit for entry in covering)
        return replace(check, text=say("{text}; accepted up to {limit:ratio} only", text=check.text, limit=limit))
    return check


def demand_renewal(accepted: AcceptedChecks) -> list[Check]:
    """Return checks of which improvements fail, and so do entries that are not needed any more.

    Both show that what is compared with is out of date: later regressions back to its level would pass.
    """
    improved = [
        replace(check, outcome="failed", advice=RENEW) if check.outcome == "improved" else check
        for check in accepted.checks
    ]
    unneeded = [
        Check(
            case=entry.case,
            title=entry.case,
            candidate=entry.candidate,
            outcome="failed",
            text=say("{entry} is not needed any more", entry=entry.label),
            advice=REMOVE,
        )
        for entry in accepted.unneeded
    ]
    return [*improved, *unneeded]
