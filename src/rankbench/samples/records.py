"""The records of the core's stream, one a line, with the ranges of their numbers. `checking` has what lines share."""

from __future__ import annotations

from typing import Annotated, Any, Union, cast

import msgspec

from rankbench.model import CaseResult, Evidence, NetworkDevice, Series, SourceFact, list_columns

FORMAT = 1
PER_SAMPLE = ("time_ns", "last_rank", "skew_ns", "bound_ns", "error_ns")
"""Fields of a series with a value per sample; all but the first may be empty."""
MARKS = ("late", "overrun")
"""Fields of a series with indexes of samples."""
LONGEST_NS = 1e15
"""Upper limit of a time in the stream: eleven days, which no call takes."""
Whole = Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]
Number = Annotated[int, msgspec.Meta(ge=-(2**31), le=2**31 - 1)]
Turn = Annotated[int, msgspec.Meta(ge=-1, le=127)]
Nanoseconds = Annotated[float, msgspec.Meta(ge=-LONGEST_NS, le=LONGEST_NS)]
"""Also of a single rank's series, whose planned delay is subtracted, so that it may be below 0."""
CpuList = Annotated[str, msgspec.Meta(pattern=r"^(\d{1,6}(-\d{0,6})?(,\d{1,6}(-\d{0,6})?)*,?)?$")]
"""A kernel list such as `0-3,8`; the core cuts long ones."""
COLUMNS = list_columns(CaseResult)
KINDS: dict[tuple[object, str], Any] = {
    (int, "Int64"): Whole,
    (int, "Int32"): Number,
    (float, "Float64"): Nanoseconds,
    (list[int], "String"): list[Number],
}
"""What a case's column can hold, by its type and how it is stored."""


class Line(msgspec.Struct, frozen=True, kw_only=True, tag_field="record"):
    """Base of the stream's records; `record` distinguishes them."""


class Launch(Line, frozen=True, kw_only=True, tag="launch"):
    """The first line: the library and the core."""

    format: Whole
    ranks: Number
    library_version: str
    mpi_version: str
    core: str
    source: str
    resolution_ns: Nanoseconds
    cost_ns: Nanoseconds
    # Another format may lack these; it is refused by its number, not as damaged.
    source_reason: str = ""
    synchronisation: str = ""
    last_level_cache_bytes: Whole = 0
    float_mode: str = ""
    sources: list[SourceFact] = []


class Rank(Line, frozen=True, kw_only=True, tag="rank"):
    """Where one rank runs; one line per rank, in their order."""

    rank: Number
    host: str
    cpu: Number
    cpus: CpuList
    clock: str
    libmpi: str
    core: Number
    socket: Number
    numa: Number


class File(Line, frozen=True, kw_only=True, tag="file"):
    """A file of the library, by its content; one line per file."""

    path: str
    bytes: Whole
    modified_ns: Whole
    inode: Whole
    listed: bool
    sha256: str


class Node(Line, frozen=True, kw_only=True, tag="node"):
    """What passed through the network devices of a node."""

    host: str
    devices: list[NetworkDevice]
    probe_bytes: Whole


class Functions(Line, frozen=True, kw_only=True, tag="functions"):
    """In a check, the library's functions for collectives."""

    names: list[str]


class Begin(Line, frozen=True, kw_only=True, tag="begin"):
    """A case begins; its result follows, unless the launch ends in it."""

    case: Number
    hop_ns: Nanoseconds = 0.0
    position: Turn = -1
    after: Turn = -1


class SeriesLine(Series, frozen=True, kw_only=True):
    """A series as the core writes it, in ranges that the store can hold. Visits are none of the core's."""

    rank: Number
    time_ns: list[Nanoseconds]
    last_rank: list[Number]
    late: list[Number]
    overrun: list[Number]
    skew_ns: list[Nanoseconds]
    bound_ns: list[Nanoseconds]
    error_ns: list[Nanoseconds]


class CaseLine(Line, frozen=True, kw_only=True):
    """What the reader itself looks at of a case's record; further columns are added by `_make_case_line`."""

    case: Number
    series: list[SeriesLine]


def _make_case_line() -> type[CaseLine]:
    """Return the record of a case with all that the core writes into it: the columns of `CaseResult`, and the series.

    All are required: a stream of another format is refused by its number.
    """
    fields = [
        (field, KINDS.get((column.kind, column.polars_type), column.kind))
        for field, column in COLUMNS.items()
        if column.column.streamed
    ]
    names = {field: column.column.stream_name for field, column in COLUMNS.items() if column.column.stream_name}
    record_type = msgspec.defstruct(
        "_CaseRecord", fields, bases=(CaseLine,), tag="case", frozen=True, kw_only=True, rename=names
    )
    return cast("type[CaseLine]", record_type)


class EvidenceLine(Line, Evidence, frozen=True, kw_only=True, tag="evidence"):
    """What was received where data are wrong; it follows the beginning of its case, before the result."""

    case: Number


class End(Line, frozen=True, kw_only=True, tag="end"):
    """The last line."""

    cases: Number
    hop_ns: Nanoseconds = 0.0
    waited_s: float = 0.0
    busy_s: float = 0.0
    spent_s: dict[str, float] = {}


Head = Launch | Rank | File | Functions | Node | End
"""The records of every stream, whatever it reports."""
decoder: msgspec.json.Decoder[Line] = msgspec.json.Decoder(Union[Head, Begin, EvidenceLine, _make_case_line()])  # noqa: UP007 - a class made here is no type to mypy
