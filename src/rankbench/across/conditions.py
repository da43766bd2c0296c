"""Conditions of two campaigns: which candidates match, and what differs between them. Pure."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from statistics import median
from typing import Literal, NamedTuple, TypeAlias

from rankbench.analysis.statistics import states
from rankbench.language import Text, say
from rankbench.libraries import ambient, content
from rankbench.model import FILLED, Campaign, Launch, Library, LibraryFile, RankbenchError, Record
from rankbench.units import suggestion

Side: TypeAlias = "tuple[Campaign, Sequence[Launch], str]"
"""A campaign, its launches, and the name of a candidate."""
UNKNOWN = "unknown"
"""The family of a library that no family recognised."""


LIBRARY = "library"
SAME_MACHINE = ("host", "CPU", "cores", "sockets", "virtualisation")
"""Parts of a machine's description by which it is another one."""
NONE = "none"


class Match(Record, frozen=True):
    """A candidate of the older campaign, its counterpart in the newer one, and why they match."""

    old: str
    new: str
    by: Literal["name", "family", "request"]


class Difference(NamedTuple):
    """A circumstance that has changed."""

    what: str
    then: str
    now: str

    @property
    def text(self) -> Text:
        """Return `kernel 6.1 then, 6.8 now`."""
        return say("{what} {then} then, {now} now", what=self.what, then=self.then or NONE, now=self.now or NONE)

    @property
    def arrow(self) -> Text:
        """Return `kernel 6.1 → 6.8`; of a library `openmpi 5.0.10 → 5.0.11`."""
        if self.what == LIBRARY:
            family, _, version = self.now.partition(" ")
            now = version if self.then.startswith(f"{family} ") else self.now
            return say("{then} → {now}", then=self.then, now=now)
        return say("{what} {then} → {now}", what=self.what, then=self.then or NONE, now=self.now or NONE)


# --- who is matched with whom -----------------------------------------------------------------------------------------


def match_candidates(old: Campaign, new: Campaign, wanted: Mapping[str, str]) -> list[Match]:
    """Return which candidates to compare, in the new campaign's order: as requested, by name, and last by family.

    A family matches where one candidate of it is left on either side, or one with the same settings.
    """
    pairs = [Match(old=resolve(old, before), new=resolve(new, after), by="request") for before, after in wanted.items()]
    then, now = _list_unmatched(old, pairs, "old"), _list_unmatched(new, pairs, "new")
    pairs += [Match(old=name, new=name, by="name") for name in now if name in then]
    for kind in (_family_and_settings, _family):
        then, now = _list_unmatched(old, pairs, "old"), _list_unmatched(new, pairs, "new")
        pairs += match_singles(then, now, partial(kind, old), partial(kind, new))
    places = {name: place for place, name in enumerate(candidates(new))}
    return sorted(pairs, key=lambda match: places[match.new])


def parse_pairs(texts: Iterable[str]) -> dict[str, str]:
    """Return what `OLD=NEW` says, by OLD. Raises RankbenchError for another form."""
    parts = {text: text.partition("=") for text in texts}
    for text, (old, _, new) in parts.items():
        if not old or not new:
            raise RankbenchError(f"--match {text}: expected OLD=NEW, a candidate of either campaign")
    return {old: new for old, _, new in parts.values()}


def resolve(campaign: Campaign, wanted: str) -> str:
    """Return the candidate of that name, or the only one of that library, family or prefix.

    Raises RankbenchError if none or several fit.
    """
    libraries = {library.name: library for library in campaign.libraries}
    names = [candidate.name for candidate in campaign.candidates]
    fitting = [
        candidate.name
        for candidate in campaign.candidates
        if wanted in {candidate.library, libraries[candidate.library].family} and not candidate.control_of
    ]
    fitting = fitting or [name for name in candidates(campaign) if name.partition("@")[2] == wanted]
    if wanted in names or len(fitting) == 1:
        return wanted if wanted in names else fitting[0]
    if fitting:
        raise RankbenchError(f"{wanted} fits several candidates: {', '.join(fitting)}; name one of them")
    near = [name for name in names if wanted and name.startswith(wanted)]
    hint = f"; did you mean {near[0]}?" if near else suggestion(wanted, candidates(campaign))
    raise RankbenchError(f"no candidate {wanted} in campaign {campaign.name}{hint}")


def candidates(campaign: Campaign) -> list[str]:
    """Return the names of a campaign's candidates without the A/A twin."""
    return [candidate.name for candidate in campaign.candidates if not candidate.control_of]


def _list_unmatched(campaign: Campaign, pairs: Iterable[Match], side: str) -> list[str]:
    matched_names = {getattr(match, side) for match in pairs}
    return [name for name in candidates(campaign) if name not in matched_names]


def match_singles(
    then: Sequence[str], now: Sequence[str], of_then: Callable[[str], object], of_now: Callable[[str], object]
) -> Iterator[Match]:
    """Yield matches of candidates that are the only ones of their kind on both sides."""
    for name in now:
        kind = of_now(name)
        here, there = (
            [other for other in now if of_now(other) == kind],
            [other for other in then if of_then(other) == kind],
        )
        if kind and len(here) == len(there) == 1:
            yield Match(old=there[0], new=name, by="family")


def _family(campaign: Campaign, name: str) -> str:
    family = library(campaign, name).family
    return "" if family == UNKNOWN else family


def _family_and_settings(campaign: Campaign, name: str) -> tuple[str, tuple[tuple[str, str], ...]] | None:
    family = _family(campaign, name)
    return (family, tuple(sorted(campaign.get_candidate(name).settings.items()))) if family else None


def library(campaign: Campaign, name: str) -> Library:
    """Return the library of the candidate of that name."""
    return campaign.get_library(campaign.get_candidate(name))


# --- what else differs ------------------------------------------------------------------------------------------------


def describe_machine(campaign: Campaign) -> dict[str, str]:
    """Return a description of the machine."""
    machine = campaign.machine
    return {
        "host": machine.host,
        "CPU": machine.cpu,
        "cores": str(machine.cores),
        "sockets": str(machine.sockets),
        "kernel": machine.kernel,
        "distribution": machine.distribution,
        "virtualisation": machine.virtual,
    }


def describe_rankbench(campaign: Campaign, launches: Iterable[Launch]) -> dict[str, str]:
    """Return the versions of rankbench and its core."""
    cores = dict.fromkeys(launch.facts.core for launch in launches if launch.facts)
    sources = dict.fromkeys(receipt.core_sha256[:12] for receipt in campaign.receipts)
    return {
        "rankbench": campaign.rankbench,
        "version of the core": ", ".join(cores),
        "sources of the core": ", ".join(sources),
    }


def describe_plan(campaign: Campaign, launches: Iterable[Launch]) -> dict[str, str]:
    """Return settings of the measurement that are not part of a case."""
    planned = campaign.plan
    sources = sorted({launch.facts.source for launch in launches if launch.facts})
    good = planned.sampling.good
    least = f"{good} to {FILLED * good}" if planned.sampling.fill_s else f"{good}"
    return {
        "time source": ", ".join(sources) or planned.clock,
        "synchronisation of clocks": planned.synchronisation,
        "limits of a case": f"{least} good samples, {planned.case_limit_s:g} s",
    }


class Unlike(NamedTuple):
    """What makes the times of two campaigns incomparable, whatever their libraries."""

    machine: list[Difference]
    method: list[Difference]
    """The time source included."""


def find_unlike(
    then: Campaign, old_launches: Iterable[Launch], now: Campaign, new_launches: Iterable[Launch]
) -> Unlike:
    """Return what differs between the machines and the methods of two campaigns, as far as both know it.

    A new kernel or distribution is no other machine.
    """
    machines = [{key: describe_machine(campaign)[key] for key in SAME_MACHINE} for campaign in (then, now)]
    methods = [describe_plan(then, old_launches), describe_plan(now, new_launches)]
    return Unlike(*([item for item in differences(*both) if item.then and item.now] for both in (machines, methods)))


def describe_candidate(campaign: Campaign, launches: Iterable[Launch], name: str) -> dict[str, str]:
    """Return library, compiler and settings of a candidate, with the version that the library reports at run time."""
    record = campaign.get_candidate(name)
    build = campaign.get_library(record)
    texts = (launch.facts.library_version for launch in launches if launch.facts and launch.candidate == name)
    compilers = [receipt.compiler for receipt in campaign.receipts if receipt.library == record.library]
    return {
        LIBRARY: f"{build.family} {build.version}",
        "reported version": next(texts, "").strip().split("\n")[0],
        "compiler": ", ".join(compilers),
        "settings": " ".join(f"{key}={value}" for key, value in sorted(record.settings.items())),
        "settings of shell and files": ", ".join(list_around(launches, name)),
    }


def list_around(launches: Iterable[Launch], name: str) -> list[str]:
    """Return what a candidate's library took from the shell and from files in its launches."""
    return list(
        dict.fromkeys(
            ambient.describe(setting) for launch in launches if launch.candidate == name for setting in launch.ambient
        )
    )


def differences(then: Mapping[str, str], now: Mapping[str, str]) -> list[Difference]:
    """Return what has changed."""
    return [Difference(what, then[what], now[what]) for what in then if then[what] != now[what]]


def compare_libraries(then: Mapping[str, str], now: Mapping[str, str]) -> list[Difference]:
    """Return what has changed in a candidate. The text of another version differs anyway and is not reported."""
    all_differences = differences(then, now)
    return [
        difference
        for difference in all_differences
        if difference.what != "reported version" or all(other.what != LIBRARY for other in all_differences)
    ]


def compare_candidates(then: Side, now: Side) -> list[Difference]:
    """Return what differs between a candidate of the older campaign and one of the newer, with their launches."""
    all_differences = compare_libraries(describe_candidate(*then), describe_candidate(*now))
    if any(difference.what == LIBRARY for difference in all_differences):
        return all_differences
    return [*compare_content(then, now), *all_differences]


def compare_content(then: Side, now: Side) -> list[Difference]:
    """Return whether a library of the same version was rebuilt or configured anew; nothing if that is not known."""
    (before, old_prefix), (after, prefix) = map(_find_content, (then, now))
    change = content.find_change(before, after, (old_prefix, prefix))
    if not change:
        return []
    kind = "build" if change.rebuilt else "configuration"
    return [
        Difference(
            f"{kind} ({change.listed})",
            content.describe_build(before, old_prefix),
            content.describe_build(after, prefix),
        )
    ]


def _find_content(side: Side) -> tuple[list[LibraryFile], str]:
    """Return the files of a candidate's library, and its prefix."""
    campaign, launches, name = side
    return content.collect(launches, name), library(campaign, name).prefix


def is_content_known(then: Side, now: Side) -> bool:
    """Return whether both campaigns know the files of a candidate's library."""
    return all(_find_content(side)[0] for side in (then, now))


# --- the state of the machine -----------------------------------------------------------------------------------------


class Probes(Record, frozen=True, omit_defaults=True):
    """What the machine took without MPI, now over then, as ratios of times; nothing where it is not known."""

    exchange: float | None = None
    """Of handing a cache line from one CPU to another."""
    copy: float | None = None
    """Of copying."""

    @property
    def known(self) -> list[float]:
        """Return the ratios that are known."""
        return [value for value in (self.exchange, self.copy) if value]

    def explain(self, ratio: float) -> bool:
        """Return whether a ratio of times is no larger than theirs, in the same direction."""
        return min([1.0, *self.known]) <= ratio <= max([1.0, *self.known])


def compare_probes(then: Iterable[Launch], now: Iterable[Launch]) -> Probes:
    """Return the ratios of the machine probes of two campaigns: medians over their launches."""
    before, after = list(then), list(now)
    copy = [_copy(launches) for launches in (before, after)]
    return Probes(
        exchange=_exchange(before, after),
        copy=copy[0] / copy[1] if copy[0] and copy[1] else None,
    )


def _exchange(then: Iterable[Launch], now: Iterable[Launch]) -> float | None:
    """Return the mean ratio over pairs of CPUs that both measured; of other pairs, that of their means."""
    exchanges, two = level(then), level(now)
    if not exchanges or not two:
        return None
    common = sorted(exchanges.keys() & two.keys())
    if not common:
        return states.average_times(two) / states.average_times(exchanges)
    return math.exp(sum(math.log(two[pair] / exchanges[pair]) for pair in common) / len(common))


def level(launches: Iterable[Launch]) -> states.Exchanges:
    """Return the exchange times of a campaign, by pair of CPUs: medians over launches."""
    times: dict[tuple[int, int], list[float]] = {}
    for state in states.find_states(launches):
        for pair, time_ns in state.level.items():
            times.setdefault(pair, []).append(time_ns)
    return {pair: median(time) for pair, time in times.items()}


def _copy(launches: Iterable[Launch]) -> float:
    """Return the bytes that all CPUs copied in a second, 0 where nobody knows."""
    measured = [state.copy_bytes_per_s for launch in launches for state in (launch.before, launch.after) if state]
    known = [value for value in measured if value]
    return median(known) if known else 0.0
