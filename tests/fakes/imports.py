"""Output of benchmarks with known results, and campaigns imported from it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from rankbench import imports
from rankbench.imports import ImportRequest, Source
from rankbench.store import Store

LATENCY = "# OSU MPI Latency Test v7.4\n# Datatype: MPI_CHAR.\n# Size       Avg Latency(us)\n"
BANDWIDTH = "# OSU MPI Bandwidth Test v7.4\n# Datatype: MPI_CHAR.\n# Size      Bandwidth (MB/s)\n"
BARRIER = "# OSU MPI Barrier Latency Test v5.3\n# Avg Latency(us)\n"
OVERLAP = (
    "# OSU MPI Non-Blocking Broadcast Latency Test v5.3\n# Overall = Coll. Init + Compute + MPI_Test + MPI_Wait\n\n"
    "# Size           Overall(us)       Compute(us)    Pure Comm.(us)        Overlap(%)\n"
)


def format_osu(head: str, *rows: Sequence[float]) -> str:
    """Return the output of an OSU program: its head, and a row for each size."""
    return head + "".join(f"{row[0]:<10.0f}{''.join(f'{value:18.2f}' for value in row[1:])}\n" for row in rows)


def format_latencies(*rows: Sequence[float]) -> str:
    """Return the output of osu_latency: size and microseconds of each row."""
    return format_osu(LATENCY, *rows)


def format_turns(rounds: Sequence[Mapping[str, str]], hosts: Sequence[str] = ("n1", "n1"), end: str = "done\n") -> str:
    """Return the output of a script that runs one library after the other in each round, with their names."""
    names = "".join(f"{host}\n" for host in hosts)
    each = ["---\n".join(f"{label}:\n{names}{text}" for label, text in round_texts.items()) for round_texts in rounds]
    return "Test:\n\n" + "===\n".join(each) + end


def import_campaign(folder: Path, outputs: Mapping[str, Sequence[str]], **wish: int) -> Store:
    """Import the output of each library's runs, a file each, into a campaign `made` below the folder."""
    folder.mkdir(exist_ok=True)
    sources = []
    for label, texts in outputs.items():
        for number, text in enumerate(texts, 1):
            path = folder / f"{label}-{number}.txt"
            path.write_text(text, encoding="utf-8")
            sources.append(Source(path, label))
    return imports.import_files(ImportRequest(sources, **wish), folder / "made")  # type: ignore[arg-type]
