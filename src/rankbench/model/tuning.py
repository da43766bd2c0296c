"""Settings of a library, and rules that say which setting is used for which calls."""

from __future__ import annotations

from rankbench.model.base import Record
from rankbench.model.plans import Case


class Choice(Record, frozen=True):
    """A named value of a variable."""

    name: str
    number: int


class Variable(Record, frozen=True):
    """A control variable of a library (MPI_T), as the library describes it."""

    name: str
    description: str
    type: str
    """`whole`, `real` or `text`."""
    constant: bool
    """Whether it can never be set."""
    value: str
    """Its default value."""
    values: list[Choice] = []
    """Named values; empty: any value of the type."""


class Variant(Record, frozen=True):
    """One algorithm of a library for an operation: its settings, and its name in the library's files."""

    name: str
    """Its name in tables and plans, such as `ring`."""
    settings: dict[str, str]
    """Variables of MPI_T, or of the environment."""
    algorithm: str
    """Its name in the library's own file."""
    at_start: bool = False
    """Whether the library reads the settings at the start of a launch only."""


class Rule(Record, frozen=True):
    """A variant for calls of one operation on `ranks` ranks, from `first_bytes` to `last_bytes`, both included."""

    operation: str
    first_bytes: int
    last_bytes: int
    variant: Variant
    ranks: int
    all_sizes: bool = False
    """Whether all sizes that were measured have this rule, so that it may serve other sizes, too."""

    def covers(self, case: Case) -> bool:
        """Return whether the rule is for a case."""
        within = self.ranks == case.ranks and self.first_bytes <= case.size_bytes <= self.last_bytes
        return self.operation == case.operation and (self.all_sizes or within)


class Handover(Record, frozen=True):
    """What makes a library use rules: variables, and tuning files if it needs some."""

    settings: dict[str, str]
    """Settings of a candidate, as in plans; `{folder}` is the folder of the files."""
    files: dict[str, str] = {}
    """Contents by file name."""


class ProvenSettings(Record, frozen=True):
    """Settings that were measured to be faster than the default."""

    library: str
    created: str
    host: str
    cpu: str
    ranks: list[int]
    """Numbers of ranks that were tuned."""
    ratio: float
    """Tuned time over default time, over all cases."""
    text: str
    """The proof in a sentence."""
    campaigns: str
    """The folder of the measurements."""
    settings: dict[str, str]
    """Of a candidate, as plans have them."""
    folder: str = ""
    """The folder of the library's own files."""
    rules: list[Rule] = []
    """Which variant is used for which calls; empty in records of older versions."""
