"""Whether a candidate works on a placement: one short launch that measures nothing and is looked at from inside.

Only what ranks say from within the launch counts: a launcher of another library starts as many worlds as there are
ranks, and a search path can swap the library, both without a word and with exit code 0.
"""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING

from rankbench import launch, libraries, samples
from rankbench.campaign.launching import WRONG_DATA_EXIT, exit_text
from rankbench.model import LaunchFacts, Library, Outcome, Placement, RankbenchError, RankFact, Record, Step, Stream

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rankbench.build import Build

LIMIT_S = 60.0
CPU_FOLDER = Path("/sys/devices/system/cpu")


class Check(Record, frozen=True):
    """What a check found. `reason` is one line on why it does not work, empty if it does."""

    works: bool
    reason: str
    facts: LaunchFacts | None = None
    ranks: tuple[RankFact, ...] = ()


def check(
    library: Library, build: Build, placement: Placement, folder: Path, settings: Mapping[str, str] | None = None
) -> Check:
    """Launch the core's own check on a placement. The folder takes its stream and output."""
    folder.mkdir(parents=True, exist_ok=True)
    stream_file, output = folder / "stream.jsonl", folder / "output.log"
    stream_file.unlink(missing_ok=True)
    program = [str(build.binary), "--check", "--stream", str(stream_file)]
    try:
        family = libraries.family_of(library)
        command = family.launch_line(library, placement, settings or {}, program)
        outcome = launch.run(Step(command=command, output=output, watch=stream_file, limit_s=LIMIT_S))
        stream = samples.read(stream_file, [])
    except RankbenchError as error:
        return Check(works=False, reason=str(error))
    said = output.read_text(encoding="utf-8", errors="replace")
    reason = (
        wrong_world(library, placement, stream)
        or stream.damage
        or wrong_end(outcome, stream, family.explain(said), said)
        or wrong_library(library, stream)
        or wrong_binding(placement, stream.ranks)
    )
    return Check(works=not reason, reason=reason, facts=stream.facts, ranks=tuple(stream.ranks))


def wrong_world(library: Library, placement: Placement, stream: Stream) -> str:
    """Return why the world is not the one that was asked for."""
    ranks = stream.facts.ranks if stream.facts else placement.ranks
    if ranks == placement.ranks:
        return ""
    return (
        f"{library.launcher} started worlds of {ranks} instead of one world of {placement.ranks} ranks: "
        "it belongs to another library; use the library's own mpiexec"
    )


def wrong_end(outcome: Outcome, stream: Stream, explanation: str | None, said: str) -> str:
    """Return why the launch did not end well: what the family makes of its output, else its first line."""
    if outcome.exit_code == WRONG_DATA_EXIT and stream.facts:
        return "data sent between neighbouring ranks came back wrong"
    if outcome.exit_code == 0 and stream.complete:
        return ""
    how = f"hung for {LIMIT_S:g} s" if outcome.hung else exit_text(outcome.exit_code)
    how += " but no result" * (outcome.exit_code == 0)
    lines = (line.strip() for line in said.splitlines() if line.strip(" -="))
    return f"{how}: {explanation or next(lines, 'it printed nothing')}"


def wrong_library(library: Library, stream: Stream) -> str:
    """Return why the library inside the launch is not the one that was meant; a library without a name passes."""
    inside = stream.facts.library_version if stream.facts else ""
    told = libraries.recognise(inside)
    if not inside or (told and told[0].name == library.family and same_version(told[1], library.version)):
        return ""
    mapped = next((rank.libmpi for rank in stream.ranks if rank.libmpi), "unknown file")
    first_line = inside.partition("\n")[0]
    advice = "unset LD_LIBRARY_PATH or let it lead to this library first"
    return f"inside the launch it is another library: {first_line} ({mapped}); {advice}"


def same_version(one: str, other: str) -> bool:
    """Return whether two versions are equal as far as both are told: 2021.18 and 2021.18.1 are."""
    return all(left == right for left, right in zip(one.split("."), other.split("."), strict=False))


def wrong_binding(placement: Placement, ranks: list[RankFact]) -> str:
    """Return why ranks do not sit as the placement says: each on one core of its own."""
    if placement.binding != "core":
        return ""
    for rank in ranks:
        if len({core(cpu) for cpu in numbers(rank.cpus)}) != 1:
            return f"rank {rank.rank} may run on CPUs {rank.cpus} and is not bound to one core"
    for one, other in combinations(ranks, 2):
        if one.host == other.host and core(min(numbers(one.cpus))) == core(min(numbers(other.cpus))):
            return f"ranks {one.rank} and {other.rank} are bound to the same core (CPUs {one.cpus} and {other.cpus})"
    return ""


def core(cpu: int) -> int:
    """Return a core's name: the first of the CPUs that are its hardware threads."""
    siblings = CPU_FOLDER / f"cpu{cpu}" / "topology" / "thread_siblings_list"
    return min(numbers(siblings.read_text(encoding="ascii"))) if siblings.exists() else cpu


def numbers(kernel_list: str) -> set[int]:
    """Return the numbers of a kernel list such as `0-3,8`."""
    ranges = [part.partition("-") for part in kernel_list.split(",") if part]
    return {number for first, _, last in ranges for number in range(int(first), int(last or first) + 1)}
