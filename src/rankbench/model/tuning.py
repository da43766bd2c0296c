"""What of a library can be set, and rules that say which setting is used for which calls."""

from __future__ import annotations

from rankbench.model.base import Record


class Choice(Record, frozen=True):
    """A value of a variable that has a name."""

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
    """The one in effect where nothing is set."""
    values: list[Choice] = []
    """Those that have names; empty: any value of the type."""


class Variant(Record, frozen=True):
    """One way of a library to make an operation: what must be set for it, and its name in the library's files."""

    name: str
    """As tables and plans show it, such as `ring`."""
    settings: dict[str, str]
    """Variables of MPI_T, or of the environment where the library takes none while it runs."""
    algorithm: str
    """As the library's own file names it."""


class Rule(Record, frozen=True):
    """A variant for calls of one operation with sizes from `first_bytes` to `last_bytes`, both included."""

    operation: str
    first_bytes: int
    last_bytes: int
    variant: Variant


class Handover(Record, frozen=True):
    """A library's own tuning file, or variables where it needs none, and what makes the library use it."""

    settings: dict[str, str]
    """Of a candidate, as plans have them; `{file}` stands for the path of the file."""
    file: str = ""
    """Its name; empty: variables suffice."""
    text: str = ""
