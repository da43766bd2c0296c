"""The core's study of sums, as `rankbench-core --sums` streams it.

Its lines are the records; `core/study/sums.c` writes them.
"""

from __future__ import annotations

from pathlib import Path

import msgspec

from rankbench import samples
from rankbench.model import Stream
from rankbench.samples import records


class SumBits(records.Line, frozen=True, kw_only=True, tag="sums"):
    """Whether the bits of one sum are the same in all calls of one launch."""

    operation: str
    type: str
    elements: int
    lacking: bool
    """The library has no such call; all else is without meaning then."""
    on_ranks: bool
    from_call_to_call: bool
    in_reverse: bool
    """With the ranks in the reverse order."""
    digest: str
    """Of the bits of the first call, on all ranks."""


class SumStudy(msgspec.Struct, frozen=True, kw_only=True):
    """All that a launch found. `stream` shows about the launch and has no cases."""

    stream: Stream
    sums: list[SumBits]


_decoder: msgspec.json.Decoder[records.Line] = msgspec.json.Decoder(records.Head | SumBits)


def read(path: Path) -> SumStudy:
    """Read a study. It ends at a line that is no record of one, which its stream's `damage` names."""
    lines, damage = samples.decode(path, _decoder)
    return SumStudy(
        stream=samples.stream(path, lines, damage, []), sums=[line for line in lines if isinstance(line, SumBits)]
    )
