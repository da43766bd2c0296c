"""Options about what a plan measures, and for how long."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Preset = Annotated[str, typer.Option(metavar="NAME", help="A built-in plan; `rankbench plan` lists them.")]
Operations = Annotated[
    str, typer.Option(metavar="NAME,...", help="Operations to measure; `rankbench operations` lists them.")
]
Sizes = Annotated[str, typer.Option(metavar="SIZES", help="Message sizes: 8,1K,64K or 8:64K or 8:64K:x4.")]
Placements = Annotated[str, typer.Option(metavar="NAME,...", help="Where ranks run: socket, 2x4 (nodes x ranks).")]
Program = Annotated[
    str, typer.Option(metavar="COMMAND", help="Your own program as what is measured: './solver -n 200'.")
]
ProfileFile = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE", help="The calls of a program as what is measured: its record, or the report of a profiler."
    ),
]
Ranks = Annotated[int | None, typer.Option(metavar="N", min=1, help="Ranks on this node: the placement 1xN.")]
Forms = Annotated[str, typer.Option(metavar="NAME,...", help="Call types: blocking, nonblocking, persistent, all.")]
Blocks = Annotated[str, typer.Option(metavar="N|MIN:MAX", help="Launches of each candidate.")]
Time = Annotated[
    str, typer.Option(metavar="TIME", help="Measure for so long: 90s, 10m, 2h, 02:00:00; with --until at most.")
]
Until = Annotated[
    str,
    typer.Option(
        metavar="RULE",
        help='When to stop: decided, answered, blocks, "precision 2%", "time 30m", "decided or time 30m".',
    ),
]
Samples = Annotated[int | None, typer.Option(metavar="N", min=1, help="Samples per case and launch.")]
Threshold = Annotated[str, typer.Option(metavar="SHARE", help="Smallest difference that counts as relevant: 3%.")]
