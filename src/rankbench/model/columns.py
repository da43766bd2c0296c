"""A record's field as a column: its stored type, meaning and history, written at the field and nowhere else.

The stream's reader, the store and `docs/reference/columns.md` use these names, types and texts.
"""

from __future__ import annotations

import enum
import typing
from typing import Any, NamedTuple

if typing.TYPE_CHECKING:
    from collections.abc import Mapping

    import msgspec

POLARS_TYPES = {int: "Int64", float: "Float64", str: "String"}
"""The stored type of a field whose column has none. Other types, such as lists, are stored as text."""


class Passes(enum.Enum):
    """How the values of several visits become one value of the case's row."""

    FIRST = "first"
    """The value of the first visit that counts."""
    OPENING = "opening"
    """The value of the very first visit, even if its rounds do not count."""
    SUM = "sum"
    LEAST = "least"
    MEAN = "mean"
    LARGEST = "largest"
    """The value farthest from 0."""
    OTHER = "other"
    """The reader of the stream has its own rule."""


class Column(NamedTuple):
    """The declaration of a column at its field."""

    help: str
    """Its description in `docs/reference/columns.md`."""
    polars_type: str = ""
    """Name of the Polars type; empty: by the field's own type (STORED)."""
    passes: Passes = Passes.FIRST
    streamed: bool = True
    """Whether the core's record of a case has it."""
    stream_name: str = ""
    """Its name in that record, if different from the field's."""
    former_name: str = ""
    """Its name in the store, if different from the field's."""


class RecordColumn(NamedTuple):
    """A column and its field."""

    field: str
    kind: Any
    """The field's type, as a decoder takes it."""
    column: Column

    @property
    def name(self) -> str:
        """Return the name in the store."""
        return self.column.former_name or self.field

    @property
    def polars_type(self) -> str:
        """Return the name of the Polars type."""
        return self.column.polars_type or POLARS_TYPES.get(self.kind, "String")


def list_columns(record: type[msgspec.Struct]) -> Mapping[str, RecordColumn]:
    """Return the columns of a record by field, in order; fields without a Column are skipped."""
    hints = typing.get_type_hints(record, include_extras=True)
    described = {}
    for field in record.__struct_fields__:
        metadata = getattr(hints[field], "__metadata__", ())
        column = next((entry for entry in metadata if isinstance(entry, Column)), None)
        if column:
            described[field] = RecordColumn(field, typing.get_args(hints[field])[0], column)
    return described
