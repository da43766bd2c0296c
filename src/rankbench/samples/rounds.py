"""Rounds in which nodes and links are measured: the file that asks for them, and what the core streams.

`core/study/rounds.c` reads the file and writes the records.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal, NamedTuple

import msgspec

from rankbench import files, samples
from rankbench.model import Stream
from rankbench.samples import records

Kind = Literal["nodes", "pairs", "groups"]
Positive = Annotated[float, msgspec.Meta(gt=0, le=1e18)]


class Round(NamedTuple):
    """Nodes, by number, that measure at the same time; of pairs and groups, those of each stand together."""

    kind: Kind
    nodes: list[int]
    size: int
    """Nodes of a group: 1, 2 or more."""


class RoundLine(records.Line, frozen=True, kw_only=True, tag="round"):
    """One quantity of a round: of each rank in a round of nodes, otherwise of each node; None: unknown."""

    round: records.Number
    quantity: str
    values: list[Positive | None]


class RoundStudy(msgspec.Struct, frozen=True, kw_only=True):
    """All that a launch measured. `stream` shows about the launch and has no cases."""

    stream: Stream
    rounds: list[RoundLine]


_decoder: msgspec.json.Decoder[records.Line] = msgspec.json.Decoder(records.Head | RoundLine)


def write_rounds(path: Path, rounds: Sequence[Round]) -> None:
    """Write the file that asks the core for these rounds, in their order."""
    sizes = ([round_.size] if round_.kind == "groups" else [] for round_ in rounds)  # Other rounds have none.
    lines = [" ".join(map(str, [of.kind, *size, *of.nodes])) for of, size in zip(rounds, sizes, strict=True)]
    files.write(path, "".join(f"{line}\n" for line in ["rankbench-rounds 1", *lines]))


def read(path: Path) -> RoundStudy:
    """Read what a launch measured. It ends at a line that is no record of one, which its stream's `damage` names."""
    lines, damage = samples.decode(path, _decoder)
    return RoundStudy(
        stream=samples.stream(path, lines, damage, []), rounds=[line for line in lines if isinstance(line, RoundLine)]
    )
