"""Launches the study of sums: whether the bits of reductions are the same wherever they could differ."""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from rankbench.campaign import batch, collect_results, selftest
from rankbench.campaign.preparation import PreparedCampaign
from rankbench.campaign.selftest import Bench
from rankbench.launch import script
from rankbench.model import Candidate, Library, Placement, RankbenchError
from rankbench.model.sum_bits import SumRow
from rankbench.samples import sums
from rankbench.samples.sums import SumBits
from rankbench.store import Store

LAUNCHES = 3
"""As in `functions.sh`."""
FOLDER = "sums"


class Launched(NamedTuple):
    """The sums of one launch."""

    ranks: int
    place: str
    """The placement of its ranks, and how they were bound to CPUs."""
    bits: list[SumBits]


def study_library(
    library: Library, numbers: Sequence[int], home: Path, show: Callable[[str], None]
) -> Iterator[Launched]:
    """Yield all launches of a library: for each number of ranks some in one placement, and one in another.

    Raises RankbenchError where one fails.
    """
    for ranks in numbers:
        with tempfile.TemporaryDirectory(prefix="rankbench-") as folder:
            bench = selftest.prepare_bench(library, ranks, home, Path(folder))
            show(f"{library.name}: sums on {ranks} ranks …")
            for _ in range(LAUNCHES):
                yield launch(bench)
            if bench.placement.binding != "none":
                yield launch(bench._replace(placement=msgspec.structs.replace(bench.placement, binding="none")))


def launch(bench: Bench, settings: Mapping[str, str] | None = None) -> Launched:
    """Launch the study once. Raises RankbenchError if it does not end as it should."""
    placement = bench.placement
    return Launched(placement.ranks, f"{placement.name} {placement.binding}", selftest.sums(bench, settings).sums)


def study_candidates(prepared: PreparedCampaign, home: Path, show: Callable[[str], None]) -> None:
    """Study the sums of each candidate that has none yet, in all its placements of several ranks, if the plan says so.

    A candidate whose launches fail has no rows, and a line that says why.
    """
    campaign = prepared.store.campaign
    if not campaign.plan.sums:
        return
    rows = prepared.store.sum_rows()
    for candidate in campaign.candidates:
        if candidate.control_of or any(row.candidate == candidate.name for row in rows):
            continue
        places = [
            place
            for place in campaign.plan.placements
            if place.ranks > 1 and (candidate.name, place.name) not in prepared.refused
        ]
        show(f"comparing the bits of sums of {candidate.name}")
        try:
            launches = [launched for place in places for launched in study_placement(prepared, candidate, place, home)]
        except RankbenchError as error:
            show(f"note: the sums of {candidate.name} are not compared: {error}")
        else:
            rows += compare(candidate.name, launches)
            prepared.store.keep_sum_rows(rows)


def study_placement(
    prepared: PreparedCampaign, candidate: Candidate, placement: Placement, home: Path
) -> list[Launched]:
    """Return the launches of a candidate in a placement. Raises RankbenchError where one fails."""
    campaign = prepared.store.campaign
    library = campaign.get_library(candidate)
    folder = prepared.store.folder / "work" / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    try:
        bench = selftest.prepare_placement(library, placement, home, folder)
        return [launch(bench, candidate.settings) for _ in range(LAUNCHES)]
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def collect_from_job(store: Store) -> None:
    """Compare the sums of each candidate that has none yet, once all launches of its job script have ended.

    A candidate of which one failed has no rows: the job's log says so.
    """
    campaign, rows = store.campaign, store.sum_rows()
    lines, refused = batch.list_sum_lines(campaign), collect_results.list_refusals(store)
    for candidate in campaign.candidates:
        folders = [
            (campaign.get_placement(where), store.folder / script.FOLDER / FOLDER / line / str(number + 1))
            for (name, where), line in lines.items()
            if name == candidate.name and (name, where) not in refused
            for number in range(LAUNCHES)
        ]
        is_complete = all((folder / collect_results.ENDING).exists() for _, folder in folders)
        if not folders or not is_complete or any(row.candidate == candidate.name for row in rows):
            continue
        library = campaign.get_library(candidate)
        with contextlib.suppress(RankbenchError):
            rows += compare(candidate.name, [read_launch(library, place, folder) for place, folder in folders])
            store.keep_sum_rows(rows)


def read_launch(library: Library, placement: Placement, folder: Path) -> Launched:
    """Return the sums of a launch of a job script. Raises RankbenchError if it did not end as it should."""
    outcome = collect_results.read_ending(folder).outcome
    bits = selftest.read_study(library, outcome, folder, sums.read).sums
    return Launched(placement.ranks, f"{placement.name} {placement.binding}", bits)


def compare(candidate: str, launches: Sequence[Launched]) -> list[SumRow]:
    """Return a row for each sum; numbers of elements are those of the largest message of the core's sizes."""
    by_sum: defaultdict[tuple[str, str, int], list[tuple[Launched, SumBits]]] = defaultdict(list)
    for launched in launches:
        places: defaultdict[tuple[str, str], int] = defaultdict(int)
        for bits in launched.bits:
            place = places[bits.operation, bits.type]
            places[bits.operation, bits.type] += 1
            if not bits.lacking:
                by_sum[bits.operation, bits.type, place].append((launched, bits))
    return [
        SumRow(
            candidate=candidate,
            operation=operation,
            type=name,
            elements=of[0][1].elements,
            on_ranks=list_ranks(launched for launched, bits in of if not bits.on_ranks),
            from_call_to_call=list_ranks(launched for launched, bits in of if not bits.from_call_to_call),
            from_launch_to_launch=list_unlike(of, by_place=True),
            in_another_placement=list_unlike(of, by_place=False),
            in_reverse=list_ranks(launched for launched, bits in of if not bits.in_reverse),
        )
        for (operation, name, _), of in by_sum.items()
    ]


def list_ranks(launches: Iterable[Launched]) -> list[int]:
    """Return the numbers of ranks of launches."""
    return sorted({launched.ranks for launched in launches})


def list_unlike(of: Sequence[tuple[Launched, SumBits]], *, by_place: bool) -> list[int]:
    """Return the numbers of ranks whose launches found unlike bits: those of one place, or of the first of each."""
    digests: defaultdict[tuple[int, str], list[str]] = defaultdict(list)
    for launched, bits in of:
        digests[launched.ranks, launched.place].append(bits.digest)
    if by_place:
        return sorted({ranks for (ranks, _), of_launches in digests.items() if len(set(of_launches)) > 1})
    firsts: defaultdict[int, set[str]] = defaultdict(set)
    for (ranks, _), of_launches in digests.items():
        firsts[ranks].add(of_launches[0])
    return sorted(ranks for ranks, unlike in firsts.items() if len(unlike) > 1)
