"""Where ranks ran: a Parquet file for each set of facts, which all launches name that had it.

A launch of a large job has a hundred thousand facts, mostly those of the launch before. They are read when they are
used, and few files at a time are kept in memory.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

from rankbench import files, store, units
from rankbench.model import DamagedFileError, RankFact

if TYPE_CHECKING:
    from rankbench.store import tables
else:
    tables = units.load_lazily("rankbench.store.tables")  # It loads Polars, which not every reader of launches needs.

FOLDER = "ranks"
KEPT = 16
"""Files in memory: launches usually have the facts of few placements and candidates."""
DIGITS = 20
"""Of a content's digest, as the name of its file."""


class RankTable(Sequence[RankFact]):
    """The facts of a launch's ranks, in a file that is read when they are used. Raises DamagedFileError then."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @overload
    def __getitem__(self, place: int) -> RankFact: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[RankFact]: ...
    def __getitem__(self, place: int | slice) -> RankFact | Sequence[RankFact]:
        """Return the facts of a rank, or of some."""
        return read_facts(self.path)[place]

    def __bool__(self) -> bool:
        """Return true: what is stored is that of a rank or more."""
        return True

    def __len__(self) -> int:
        """Return the number of ranks."""
        return len(read_facts(self.path))

    def __iter__(self) -> Iterator[RankFact]:
        """Yield the facts of each rank."""
        return iter(read_facts(self.path))

    def __eq__(self, other: object) -> bool:
        """Compare with other facts, in a file or not."""
        if isinstance(other, RankTable) and self.path.name == other.path.name:
            return True
        return isinstance(other, Sequence) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]


def encode_facts(facts: Sequence[RankFact]) -> tuple[str, bytes]:
    """Return the name and the content of the file of a launch's facts."""
    content = tables.encode_frame(tables.rank_rows(facts))
    return f"{compute_name(content)}.parquet", content


def compute_name(content: bytes) -> str:
    """Return the name of a file with this content, without its suffix."""
    return hashlib.sha256(content).hexdigest()[:DIGITS]


@functools.lru_cache(KEPT)
def read_facts(path: Path) -> tuple[RankFact, ...]:
    """Return the facts of a file. Raises DamagedFileError."""
    try:
        content = files.read_regular(path)
    except OSError as error:
        raise DamagedFileError(f"{path}: cannot be read ({error.strerror}); {store.RESTORE}") from None
    if compute_name(content) != path.stem:
        raise DamagedFileError(f"{path}: damaged (it is not as it was written); {store.RESTORE}")
    known: dict[Any, Any] = {}  # Each text once: hosts, clocks and files are those of many ranks.
    rows = tables.read([path], tables.RANK_COLUMNS).iter_rows()
    return tuple(RankFact(*(known.setdefault(value, value) for value in row)) for row in rows)
