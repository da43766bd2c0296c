"""Causes of failed launches: one TOML file each, found by the messages that real programs printed. Pure.

A file holds `pattern`, a regular expression over the whole log, in which `^` and `$` match at lines; `cause` and
`remedy`, which may use the pattern's groups as fields; and logs as they were recorded, thinned to the lines that
matter, each with the sentence that explains it. `libraries` names the families that print the message, if only they do.
Where one log shows two causes, `precedence` says which one is reported.
"""

from __future__ import annotations

import functools
import importlib.resources
import re

import msgspec

from rankbench.model import Record

TYPICAL = 50
"""The precedence of most causes."""


class RecordedLog(Record, frozen=True, forbid_unknown_fields=True):
    """The output of a failed launch."""

    output: str
    expected: str
    """The sentence that explains it."""
    words: str
    """What the line that is chosen from this output holds, where the cause is unknown (`lines.choose_line`)."""
    library: str = ""
    """The family of the library that was launched. Empty: any."""


class Cause(Record, frozen=True, forbid_unknown_fields=True):
    """What made a launch fail, and what to do."""

    pattern: str
    cause: str
    remedy: str
    log: tuple[RecordedLog, ...]
    libraries: tuple[str, ...] = ()
    """Families that print the message. Empty: all."""
    precedence: int = TYPICAL
    """The cause with the smallest one is reported, if a log shows several: smaller for what leads to the others."""

    def explain(self, log: str) -> str:
        """Return the sentence for a log. Empty: the log does not show this cause."""
        match = re.search(self.pattern, log, re.MULTILINE)
        return fill(f"{self.cause}; {self.remedy}", match.groupdict()) if match else ""


def fill(sentence: str, groups: dict[str, str | None]) -> str:
    """Return a sentence with its fields replaced by the groups of its pattern. Groups that matched nothing are empty.

    A group may extend over lines, as messages are broken where they are printed.
    """
    filled = sentence.format_map({name: " ".join((text or "").split()) for name, text in groups.items()})
    return re.sub(r" +(?=[ ;,])", "", filled)


@functools.cache
def list_causes() -> dict[str, Cause]:
    """Return all causes by the names of their files, in the order in which they are looked for."""
    folder = importlib.resources.files(__name__)
    files = sorted(entry.name for entry in folder.iterdir() if entry.name.endswith(".toml"))
    causes = {
        name.removesuffix(".toml"): msgspec.toml.decode((folder / name).read_bytes(), type=Cause) for name in files
    }
    return dict(sorted(causes.items(), key=lambda item: item[1].precedence))


def explain(log: str, family: str = "") -> str:
    """Return a sentence on why a launch of a library failed, and what to do. Empty: the log shows no known cause.

    A `family` leaves out the causes that only others have. Empty: the library is unknown.
    """
    causes = (
        cause for cause in list_causes().values() if not (family and cause.libraries) or family in cause.libraries
    )
    return next(filter(None, (cause.explain(log) for cause in causes)), "")
