"""What a field of a record is as a column: its stored type, meaning and history, written at the field and nowhere else.

The stream's reader, the store and the test of `docs/reference/formats.md` take names, types and words from here.
"""

from __future__ import annotations

import enum
import typing
from typing import Any, NamedTuple

if typing.TYPE_CHECKING:
    from collections.abc import Mapping

    import msgspec

POLARS_TYPES = {int: "Int64", float: "Float64", str: "String"}
"""How a value is stored where its column does not say it. What else there is, such as a list, is stored as text."""


class Passes(enum.Enum):
    """What a case's row holds of a value that each of its visits measured."""

    FIRST = "first"
    """That of the first visit that counts."""
    OPENING = "opening"
    """That of the very first visit, even where its rounds do not count."""
    SUM = "sum"
    MEAN = "mean"
    LARGEST = "largest"
    """The one farthest from 0."""
    OTHER = "other"
    """The reader of the stream joins it by a rule of its own."""


class Column(NamedTuple):
    """What is declared with a field."""

    help: str
    """The words of `docs/reference/formats.md`."""
    polars_type: str = ""
    """Name of the Polars type; empty: by the field's own type (STORED)."""
    passes: Passes = Passes.FIRST
    streamed: bool = True
    """Whether the core writes it into its record of a case."""
    stream_name: str = ""
    """Its name in that record, where it is not the field's."""
    former_name: str = ""
    """Its name in the store, where that is not the field's."""


class RecordColumn(NamedTuple):
    """A column together with the field that it describes."""

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
    """Return the columns of a record by their fields, in the order of the fields; those without a Column are none."""
    hints = typing.get_type_hints(record, include_extras=True)
    described = {}
    for field in record.__struct_fields__:
        metadata = getattr(hints[field], "__metadata__", ())
        column = next((entry for entry in metadata if isinstance(entry, Column)), None)
        if column:
            described[field] = RecordColumn(field, typing.get_args(hints[field])[0], column)
    return described
