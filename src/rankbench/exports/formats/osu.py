"""Text in OSU's shape, for scripts that read OSU: a file per candidate and operation, in a folder.

The numbers are rankbench's, and the second line of each file says what they are; the line `Meaning` says it to our own
reader of OSU. The first is the heading of OSU's program for the same call; where OSU has none, it is of the same shape.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import msgspec

from rankbench.exports.writing import file_name, write_text
from rankbench.foreign.comparing import describe_core_value
from rankbench.model import RankbenchError
from rankbench.plots import captions

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from rankbench.exports import EvaluatedCampaign
    from rankbench.model import Case, Meaning, Operation, Summary
    from rankbench.verdict.view import CampaignView

TITLE = "text in OSU's shape, for scripts that read OSU: a folder of files"
SUFFIX = "-osu"
PLACE = "folder"
SUITE = "osu"
"""Campaigns that were measured by OSU itself have its benchmarks as their operations."""
VERSION = "7.4"
"""Of OSU, whose shape this is."""
SIZE_WIDTH = 10
MEGABYTE = 10**6


class Shape(NamedTuple):
    """The columns of a table, and the word by which OSU calls what they show."""

    titles: tuple[str, ...]
    widths: tuple[int, ...]
    word: str


LATENCY = Shape(("Avg Latency(us)", "Min Latency(us)", "Max Latency(us)", "Iterations"), (18, 18, 18, 12), "Latency")
OVERLAP = Shape(("Overall(us)", "Compute(us)", "Pure Comm.(us)", "Overlap(%)"), (18, 18, 18, 18), "Latency")
BANDWIDTH = Shape(("Bandwidth (MB/s)",), (18,), "Bandwidth")
RATE = Shape(("MB/s", "Messages/s"), (18, 18), "Message Rate")
COLLECTIVES = {
    "allgather": "Allgather",
    "allgatherv": "Allgatherv",
    "allreduce": "Allreduce",
    "alltoall": "All-to-All Personalized Exchange",
    "alltoallv": "All-to-Allv Personalized Exchange",
    "alltoallw": "All-to-Allw Personalized Exchange",
    "barrier": "Barrier",
    "bcast": "Broadcast",
    "gather": "Gather",
    "gatherv": "Gatherv",
    "reduce": "Reduce",
    "reduce_scatter": "Reduce_scatter",
    "reduce_scatter_block": "Reduce_scatter_block",
    "scatter": "Scatter",
    "scatterv": "Scatterv",
}
"""How OSU calls them in its headings."""
OTHERS = {
    "pingpong blocking": "MPI Latency",
    "pingpong persistent": "MPI Latency Persistent",
    "pingpong-pairs blocking": "MPI Multi Latency",
    "bandwidth nonblocking": "MPI Bandwidth",
    "bandwidth persistent": "MPI Bandwidth Persistent",
    "bandwidth-bidirectional nonblocking": "MPI Bi-Directional Bandwidth",
    "bandwidth-bidirectional persistent": "MPI Bi-Directional Bandwidth Persistent",
    "message-rate nonblocking": "MPI Multiple Bandwidth / Message Rate",
    "put blocking": "MPI_Put Latency",
    "put-bandwidth blocking": "MPI_Put Bandwidth",
    "put-bidirectional blocking": "MPI_Put Bi-directional Bandwidth",
    "get blocking": "MPI_Get latency",
    "get-bandwidth blocking": "MPI_Get Bandwidth",
    "accumulate blocking": "MPI_Accumulate latency",
    "get_accumulate blocking": "MPI_Get_accumulate latency",
}
"""The same of operations in a form, where OSU's program has a row for each size as rankbench has."""
BESIDE = "; Min and Max are the least and the greatest launch, Iterations the samples of all launches"
"""What stands beside a time."""
WHOLE_VECTOR = ("reduce_scatter", "reduce_scatter_block")
"""Operations whose size OSU counts over all ranks, and rankbench as each rank's part."""


def write(source: EvaluatedCampaign, path: Path) -> Iterator[Path]:
    """Write the files of a folder. Memory is nothing that OSU's text could hold."""
    texts = dict(files(source.view))
    if not texts:
        raise RankbenchError(f"{source.store.folder}: no case has a time that OSU's text could hold")
    path.mkdir(exist_ok=True)
    for name, text in texts.items():
        yield write_text(path / name, text)


def files(view: CampaignView) -> Iterator[tuple[str, str]]:
    """Yield the name and the text of each file that has rows."""
    for line, part in view.parts("line"):
        for candidate in view.candidates:
            summaries = {
                case: summary for case, summary in part.list_shown_summaries() if summary.candidate == candidate
            }
            if summaries and part.cases[0].quantity != "memory":
                yield f"{file_name(f'{line}.{candidate}')}.txt", render_file(part, candidate, summaries)


def render_file(part: CampaignView, candidate: str, summaries: dict[Case, Summary]) -> str:
    """Return the text of one file."""
    shape, first = find_shape(part), part.cases[0]
    sized = part.operation(first).sized
    lines = [
        f"# OSU {heading(first, part.operation(first), shape)} Test v{VERSION}",
        *(f"# {line}" for line in comment_lines(part, candidate, shape)),
        f"# Meaning: {msgspec.json.encode(describe_meaning(part, shape)).decode()}",
    ]
    lines += [f"# Datatype: MPI_{first.datatype.upper()}."] if sized else []
    lines += [pad_line("# Size" if sized else "#", shape.titles, shape, sized=sized)]
    for case in sorted(summaries, key=lambda case: case.size_bytes):
        numbers = cells(part, case, summaries[case])
        size = case.size_bytes * (case.ranks if case.operation in WHOLE_VECTOR else 1)
        lines.append(pad_line(str(size) if sized else "", numbers, shape, sized=sized))
    return "\n".join([*lines, ""])


def find_shape(part: CampaignView) -> Shape:
    """Return the shape of the table of a line's cases."""
    kinds = {"bandwidth": BANDWIDTH, "rate": RATE}
    return OVERLAP if part.cases[0].quantity == "overlap" else kinds.get(part.measure(part.cases[0]).kind, LATENCY)


def heading(case: Case, operation: Operation, shape: Shape) -> str:
    """Return OSU's heading of a case's program; of what OSU has no program for, one of the same shape."""
    foreign = operation.foreign
    name = foreign.counterpart if foreign and foreign.suite == SUITE and foreign.counterpart else case.operation
    of_collective = {"blocking": "MPI {} Latency", "persistent": "MPI {} Persistent Latency"}
    if shape == OVERLAP:
        of_collective = {"nonblocking": "MPI Non-blocking {} Latency"}
    if name in COLLECTIVES and case.form in of_collective:
        return of_collective[case.form].format(COLLECTIVES[name])
    return OTHERS.get(f"{name} {case.form}", f"MPI {name} {case.form} {shape.word}")


def comment_lines(part: CampaignView, candidate: str, shape: Shape) -> list[str]:
    """Return whose numbers these are and what they mean, as lines of `name: text` after OSU's way."""
    campaign, foreign = part.campaign, part.operation(part.cases[0]).foreign
    source = f"Measured by: rankbench {campaign.rankbench}, not OSU"
    if foreign:
        source = f"Measured by: {foreign.suite} ({foreign.benchmark}), handed over by rankbench {campaign.rankbench}"
    typical = f"the median over launches of each launch's {campaign.plan.estimator}"
    numbers = {
        LATENCY: f"Avg is {typical}, Min and Max the least and the greatest of these",
        OVERLAP: f"each number is {typical}",
    }.get(shape, f"each number follows from {typical} time")
    return [
        f"{source}; {numbers}",
        f"Campaign: {campaign.name}, candidate {candidate}",
        f"Case: {part.line_name()}, {captions.describe_conditions(part)}",
    ]


def describe_meaning(part: CampaignView, shape: Shape) -> Meaning:
    """Return what the numbers are, in the words by which benchmarks are compared."""
    case, estimator = part.cases[0], part.campaign.plan.estimator
    operation = part.operation(case)
    if operation.foreign:
        definition = operation.foreign.meaning
        text = (
            f"median over launches of each launch's {estimator} of what {operation.foreign.suite} reported: "
            f"{definition.text}"
        )
    else:
        definition = describe_core_value(operation, case.start, estimator)
        text = f"{definition.text}; by rankbench"
    if shape == LATENCY:
        text += BESIDE
    return msgspec.structs.replace(definition, text=text, megabyte=0 if shape in (LATENCY, OVERLAP) else MEGABYTE)


def cells(part: CampaignView, case: Case, summary: Summary) -> list[str]:
    """Return the numbers of a row, in OSU's units."""
    measure = part.measure(case)
    if case.quantity == "overlap":
        times = [summary.typical_ns / 1e3, summary.compute_ns / 1e3, summary.pure_ns / 1e3, 100 * summary.overlap]
        return [f"{number:.4f}" for number in times]
    if measure.kind == "bandwidth":
        return [f"{measure.value(summary.typical_ns):.4f}"]
    if measure.kind == "rate":
        rate = measure.value(summary.typical_ns)
        return [f"{rate * case.size_bytes / 1e6:.4f}", f"{rate:.2f}"]
    times = [summary.typical_ns, summary.launches_min_ns, summary.launches_max_ns]
    return [*(f"{time_ns / 1e3:.4f}" for time_ns in times), str(summary.samples)]


def pad_line(first: str, texts: Sequence[str], shape: Shape, *, sized: bool) -> str:
    """Return a line of columns as wide as OSU's. Without sizes the mark of a heading is part of the first column."""
    cells = "".join(text.rjust(width) for text, width in zip(texts, shape.widths, strict=True))
    return first.ljust(SIZE_WIDTH) + cells if sized else first + cells[len(first) + 1 :]
