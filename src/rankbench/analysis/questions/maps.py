"""The map of one candidate: the time of each pair of ranks, what pairs share, and which are similar, in sentences.

Only what launches show is claimed: without rank places there are no levels, with few launches there are no groups.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Collection, Iterable, Iterator, Sequence

import polars as pl

from rankbench.analysis.questions import case_labels, pairs
from rankbench.analysis.questions.measures import Measure
from rankbench.analysis.questions.pairs import Fit, LevelTime, Misfit, Pair, Table
from rankbench.analysis.questions.places import Places, find_places
from rankbench.language import NOTHING, Text, capital, clauses, end_sentence, list_parts, say
from rankbench.model import Campaign, Case, Launch, Machine, Operation

NAMED = 4
"""Ranks or pairs named in a sentence; of more, how many more there are."""


@dataclasses.dataclass(frozen=True)
class Map:
    """One operation of one candidate at one size, between all pairs of ranks."""

    case: Case
    """Without its ends."""
    candidate: str
    cases: dict[Pair, Case]
    places: Places
    table: Table
    threshold: float

    @functools.cached_property
    def levels(self) -> list[LevelTime]:
        """Times by what pairs share, the nearest first; none where that is not known."""
        return pairs.level_times(self.table, self.places.level, self.threshold) if self.known else []

    @functools.cached_property
    def groups(self) -> list[list[Pair]]:
        """The groups of similar pairs, the fastest first."""
        return pairs.group_pairs(self.table, self.threshold)

    @functools.cached_property
    def group(self) -> dict[Pair, int]:
        """The number of the group in which a pair is, from 1."""
        return {pair: number for number, group in enumerate(self.groups, 1) for pair in group}

    @functools.cached_property
    def fit(self) -> Fit:
        """How groups agree with levels; where levels are not known, all pairs are one level."""
        return pairs.check_fit(self.table, self.groups, self.level)

    @functools.cached_property
    def known(self) -> bool:
        """Return whether it is known what each pair of ranks shares."""
        ranks = {rank for pair in self.cases for rank in pair}
        return not self.places.disputed and ranks <= self.places.locations.keys()

    def level(self, first: int, second: int) -> int:
        """Return the level of a pair, 0 where none is known."""
        return self.places.level(first, second) if self.known else 0

    def between(self, pair: Pair) -> Text:
        """Return what a pair of ranks has in common, or nothing where that is not known."""
        return self.places.name(self.places.level(*pair)) if self.known else NOTHING

    @functools.cached_property
    def odd(self) -> dict[Pair, Misfit]:
        """The pairs that do not fit their level."""
        return {pair: misfit for misfit in self.fit.misfits for pair in misfit.pairs}


def make_maps(
    campaign: Campaign, launches: Iterable[Launch], launch_values: pl.DataFrame, operations: dict[str, Operation]
) -> list[Map]:
    """Return the maps of a campaign, those of one operation and size after each other."""
    matrices: dict[str, dict[Pair, Case]] = {}
    texts = case_labels.find_pair_cases(campaign.cases)
    for case in (case for case in campaign.cases if case.key in texts):
        ends = case_labels.find_ends(case, operations[case.operation])
        matrices.setdefault(case_labels.drop_ends(case).key, {})[ends] = case
    names = [candidate.name for candidate in campaign.candidates if not candidate.control_of]
    locations = {
        (name, placement.name): find_places(
            (launch for launch in launches if (launch.candidate, launch.placement) == (name, placement.name)),
            campaign.machine,
        )
        for name in (names if matrices else ())
        for placement in campaign.plan.placements
    }
    return [
        make_map(
            cases, name, locations[name, next(iter(cases.values())).placement], launch_values, campaign.plan.threshold
        )
        for cases in matrices.values()
        for name in names
    ]


def make_map(
    cases: dict[Pair, Case], candidate: str, locations: Places, launch_values: pl.DataFrame, threshold: float
) -> Map:
    """Return the map of one candidate."""
    table = pairs.tabulate_pairs(
        launch_values.filter(candidate=candidate), {pair: case.key for pair, case in cases.items()}
    )
    return Map(case_labels.drop_ends(next(iter(cases.values()))), candidate, cases, locations, table, threshold)


def order_ranks(ranks: Collection[int], launches: Iterable[Launch], machine: Machine) -> tuple[list[int], Places]:
    """Return ranks in the order in which a map shows them: by place where all are known, else by number."""
    known = find_places(launches, machine)
    ordered = [rank for rank in known.locations if rank in ranks]
    if len(ordered) == len(ranks):
        return ordered, known
    return sorted(ranks), dataclasses.replace(known, levels=[])


def add_way_back(cases: dict[Pair, Case], operation: Operation) -> dict[Pair, Case]:
    """Return the cases with those of the way back, where a value is of both: a latency is half of a round trip."""
    back = {(second, first): case for (first, second), case in cases.items()} if operation.metric == "latency" else {}
    return back | cases


# --- in sentences -----------------------------------------------------------------------------------------------------


def describe_map(map_: Map, measure: Measure) -> Iterator[Text]:
    """Yield doubts about where ranks ran, then levels, groups, and pairs that do not fit."""
    if not map_.table.blocks:
        return
    yield from explain_doubt(map_)
    if len(map_.levels) > 1:
        yield end_sentence(capital(describe_levels(map_, measure)))
    yield describe_groups(map_, measure)
    yield from (end_sentence(capital(describe_misfit(map_, odd, measure))) for odd in map_.fit.misfits)


def explain_doubt(map_: Map) -> Iterator[Text]:
    """Yield why it is not known what pairs share."""
    if map_.places.disputed:
        yield say(
            "Launches placed {ranks} differently, so it is not known what pairs share.",
            ranks=name_ranks(map_.places.disputed),
        )
    elif not map_.known:
        yield say("It is not known where ranks ran, and so not what pairs share.")


def describe_levels(map_: Map, measure: Measure) -> Text:
    """Return times by what pairs share: `within one L3: 200 ns; across sockets: 600 ns (3.00×)`."""
    return clauses(
        say(
            "{level}: {time} ({remarks:,})",
            level=map_.places.name(level.level),
            time=measure.format(level.typical_ns),
            remarks=[*describe_level_ratio(level, measure), say("{n:count pair}", n=level.pairs)],
        )
        for level in map_.levels
    )


def describe_level_ratio(level: LevelTime, measure: Measure) -> Iterator[Text]:
    """Yield how a level compares with the first, as a ratio of times."""
    if level.ratio:
        text = say("{ratio:ratio} the time" if measure.per_second else "{ratio:ratio}", ratio=level.ratio.ratio)
        yield text if level.ratio.different else say("{ratio} ~", ratio=text)


def describe_groups(map_: Map, measure: Measure) -> Text:
    """Return which groups of similar pairs there are, and whether they match the levels."""
    if len(map_.table.blocks) < pairs.FEWEST_LAUNCHES:
        return say(
            "Grouping pairs needs {fewest} launches or more that measured all pairs; there {n:of is|are} {n}.",
            fewest=pairs.FEWEST_LAUNCHES,
            n=len(map_.table.blocks),
        )
    if len(map_.groups) == 1:
        return say("No pair differs from the others by more than the scatter between launches.")
    times = [
        say("{n} at {time}", n=len(group), time=measure.format(pairs.typical_ns(map_.table, group)))
        for group in map_.groups
    ]
    return end_sentence(
        describe_agreement(map_, say("The pairs fall into {n} groups: {times:and}", n=len(map_.groups), times=times))
    )


def describe_agreement(map_: Map, groups: Text) -> Text:
    """Return the groups with how they agree with the levels."""
    if not map_.known or len(map_.levels) < 2:
        return groups
    if map_.fit.divided:
        return say(
            "{groups}; pairs {levels:and} are in several groups, which the known topology does not explain",
            groups=groups,
            levels=[map_.places.name(level) for level in map_.fit.divided],
        )
    if map_.fit.misfits:
        return say(
            "{groups}; except for {n:count pair}, pairs that share the same are in one group",
            groups=groups,
            n=len(map_.odd),
        )
    return say(
        "{groups}, which match what the pairs share"
        if len(map_.groups) == len(map_.levels)
        else "{groups}; pairs that share the same are in one group",
        groups=groups,
    )


def describe_misfit(map_: Map, odd: Misfit, measure: Measure) -> Text:
    """Return pairs that do not fit: `between ranks 2 and 5 (within one L3): 280 ns, 1.40× the time of ...`."""
    return say(
        "{pairs} ({kind}): {time}, {factor:ratio} the time of other pairs of this kind"
        if map_.known
        else "{pairs}: {time}, {factor:ratio} the time of other pairs",
        pairs=name_pairs(map_, odd.pairs),
        kind=map_.places.name(odd.level) if map_.known else "",
        factor=odd.factor,
        time=measure.format(pairs.typical_ns(map_.table, odd.pairs)),
    )


def name_pairs(map_: Map, odd: Sequence[Pair]) -> Text:
    """Return the names of pairs; where one rank is in all of several, that rank with the others."""
    joint = list(dict.fromkeys((min(pair), max(pair)) for pair in odd))
    common = set.intersection(*map(set, joint))
    if len(joint) > 2 and len(common) == 1:
        (rank,) = common
        others = sorted({other for pair in joint for other in pair} - common)
        return say("between rank {rank} and {others}", rank=rank, others=name_ranks(others))
    texts = [name_pair(map_, pair, odd) for pair in joint]
    more = [say("{n} more pairs", n=len(texts) - NAMED)] if len(texts) > NAMED else []
    return list_parts([*texts[:NAMED], *more])


def name_pair(map_: Map, pair: Pair, odd: Sequence[Pair]) -> Text:
    """Return a pair's name, with its direction where only that direction is unusual."""
    first, second = pair
    if all(way in odd or way not in map_.cases for way in (pair, (second, first))):
        return say("between ranks {first} and {second}", first=first, second=second)
    start, end = pair if pair in odd else (second, first)
    return say("from rank {start} to rank {end}", start=start, end=end)


def name_ranks(ranks: Sequence[int]) -> Text:
    """Return `rank 3`, `ranks 1, 2 and 5`, `ranks 1, 2, 3, 4 and 12 more`."""
    names = [str(rank) for rank in ranks[:NAMED]]
    more = [say("{n} more", n=len(ranks) - NAMED)] if len(ranks) > NAMED else []
    return say("{n:of rank|ranks} {ranks:and}", n=len(ranks), ranks=[*names, *more])
