"""What ranks waited for others that were later, from the moments that the recorder kept.

In a collective a rank waits from its arrival until the last one that it needs has arrived. A receive waits until its
message is sent; a send that is not finished when its receive is posted waits until then. Nobody waits longer than the
call takes.

What counts of that is the time in which the later rank computed, or waited itself for one that computed: no library
changes it. While it transferred, as the partner in a ping-pong does, the library made it late.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankbench.campaign.rank_files import NS_PER_S, ROOT, SENT, RankFile

WAIT_FOR_ROOT = {"MPI_Bcast", "MPI_Scatter", "MPI_Scatterv"}
ROOT_WAITS = {"MPI_Reduce", "MPI_Gather", "MPI_Gatherv"}
UNKNOWN = {f"MPI_{name}" for name in ("Scan", "Exscan")}
"""They wait for ranks below them in the communicator, which need not be those below them in MPI_COMM_WORLD."""
NEIGHBOURS = "MPI_Neighbor"
"""Such calls wait for neighbours, which are not known."""
RECEIVING = {"MPI_Recv", "MPI_Sendrecv", "MPI_Sendrecv_replace"}
"""Calls for which probes before them waited, too."""
PROBING = {"MPI_Probe", "MPI_Iprobe"}
QUANTILES = (0.1, 0.5, 0.9)
MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
MOST_PASSES = 20
CLOSE = 0.001
"""The waiting that is passed on is known when a pass changes the sum by no more than this share."""

Times = NDArray[np.float64]
Places = NDArray[np.int64]


class Waiting(NamedTuple):
    """Of one rank, by kind of call."""

    matched: Times
    """Collectives that are known at all ranks, or messages that are known at both ends."""
    seconds: Times
    """Estimated for all calls from those."""


class Events(NamedTuple):
    """Arrivals at collectives, of all ranks."""

    first: Places
    """Where each rank's begin, and behind them where all end."""
    kind: Places
    name: NDArray[np.str_]
    is_root: NDArray[np.bool_]
    begin_ns: Times
    end_ns: Times
    group: Places
    """The number of the collective."""
    complete: NDArray[np.bool_]
    """Whether all ranks of the collective are known."""


class Ends(NamedTuple):
    """Ends of messages, of all ranks, and of each the place of the other end; -1: not known."""

    first: Places
    rows: NDArray[Any]
    name: NDArray[np.str_]
    posted_ns: Times
    begin_ns: Times
    end_ns: Times
    partner: Places
    weight: float
    """How many ends each of them stands for."""


class Windows(NamedTuple):
    """Times in which a rank waited until another one came."""

    owner: Places
    begin_ns: Times
    until_ns: Times
    other: Places
    """The rank that came."""
    call: Places
    """Windows of one call have one number."""
    weight: Times


class Timeline(NamedTuple):
    """How long a rank was outside MPI until some moments, ascending."""

    moments_ns: Times
    outside_ns: Times


def find_waiting(ranks: Sequence[RankFile]) -> list[Waiting]:
    """Return what each rank waited for others."""
    base = find_base(ranks)
    events, ends = arrange_events(ranks, base), arrange_ends(ranks, base)
    of_events, known_events = open_collectives(ranks, events)
    of_ends, known_ends = open_messages(ends)
    both = join_windows(of_events, of_ends)
    waited_ns = find_unavoidable(both, [make_timeline(entry, base) for entry in ranks])
    by_event, by_end = np.zeros(len(events.kind)), np.zeros(len(ends.rows))
    by_event[known_events] = waited_ns[: len(known_events)]
    by_end[known_ends] = waited_ns[len(known_events) :]
    collectives = sum_collectives(ranks, events, by_event)
    messages = sum_messages(ranks, ends, by_end)
    return [
        Waiting(collective.matched + message.matched, collective.seconds + message.seconds)
        for collective, message in zip(collectives, messages, strict=True)
    ]


def find_base(ranks: Sequence[RankFile]) -> int:
    """Return the moment from which times of all ranks are counted, in ns."""
    return min(entry.origin_ns for entry in ranks)


def find_begins(parts: Iterable[NDArray[Any]]) -> Places:
    """Return where each of several parts begins if they are put behind each other, and where the last one ends."""
    return np.concatenate([[0], np.cumsum([len(part) for part in parts], dtype=np.int64)])


def list_owners(first: Places) -> Places:
    """Return the rank of each event."""
    return np.repeat(np.arange(len(first) - 1), np.diff(first))


def make_timeline(entry: RankFile, base: int) -> Timeline:
    """Return how long a rank was outside MPI, at the begin and the end of each call that it kept."""
    shift, rows, arrivals = entry.origin_ns - base, entry.messages, entry.arrivals
    posted, _, ended = entry.moments_ns
    moments = np.concatenate([[0.0], posted, ended, entry.begin_ns, entry.end_ns]) + shift
    ticks = [rows["outside_posted"], rows["outside_ended"], arrivals["outside"], arrivals["outside"]]
    outside = np.concatenate([[0.0], *ticks]) / entry.ticks_per_ns
    known = ~np.isnan(moments)
    order = np.argsort(moments[known], kind="stable")
    return Timeline(moments[known][order], np.maximum.accumulate(outside[known][order]))


# --- windows ----------------------------------------------------------------------------------------------------------


def arrange_events(ranks: Sequence[RankFile], base: int) -> Events:
    """Return the arrivals at collectives.

    Args:
        ranks: of one run.
        base: the moment from which times are counted, in ns.
    """
    events = np.concatenate([entry.arrivals for entry in ranks])
    kinds = [(entry.arrivals["kind"] & ~ROOT).astype(int) for entry in ranks]
    keys = np.stack([events["communicator"], events["sequence"].astype(np.uint64)], axis=1)
    _, group, members = np.unique(keys, axis=0, return_inverse=True, return_counts=True)
    group = group.reshape(-1)
    size = np.concatenate([entry.kinds["ranks"][kind] for entry, kind in zip(ranks, kinds, strict=True)])
    return Events(
        first=find_begins(entry.arrivals for entry in ranks),
        kind=np.concatenate(kinds),
        name=name_kinds(ranks, kinds),
        is_root=(events["kind"] & ROOT) != 0,
        begin_ns=np.concatenate([entry.begin_ns + (entry.origin_ns - base) for entry in ranks]),
        end_ns=np.concatenate([entry.end_ns + (entry.origin_ns - base) for entry in ranks]),
        group=group,
        complete=members[group] == size,
    )


def name_kinds(ranks: Sequence[RankFile], kinds: Sequence[Places]) -> NDArray[np.str_]:
    """Return the call of each event."""
    return np.concatenate([entry.kinds["name"][kind] for entry, kind in zip(ranks, kinds, strict=True)]).astype(str)


def open_collectives(ranks: Sequence[RankFile], events: Events) -> tuple[Windows, Places]:
    """Return how long each rank waited in collectives until the last one that it needs came, and in which events."""
    owner = list_owners(events.first)
    count = int(events.group.max(initial=-1)) + 1
    last, root = np.full(count, -1), np.full(count, -1)
    order = np.argsort(events.begin_ns, kind="stable")
    last[events.group[order]] = order  # Of events of one group the latest is written last.
    root[events.group[events.is_root]] = np.flatnonzero(events.is_root)
    waits_for = np.where(np.isin(events.name, list(WAIT_FOR_ROOT)), root[events.group], last[events.group])
    nobody = (np.isin(events.name, list(ROOT_WAITS)) & ~events.is_root) | (waits_for < 0)
    waits_for = np.where(nobody, np.arange(len(owner)), waits_for)
    chosen = np.flatnonzero(is_known(events))
    levels = np.array([2.0**entry.level for entry in ranks])
    windows = Windows(
        owner=owner[chosen],
        begin_ns=events.begin_ns[chosen],
        until_ns=np.clip(events.begin_ns[waits_for], events.begin_ns, events.end_ns)[chosen],
        other=owner[waits_for][chosen],
        call=np.arange(len(chosen)),
        weight=levels[owner[chosen]],
    )
    return windows, chosen


def is_known(events: Events) -> NDArray[np.bool_]:
    """Return of which events it is known for whom they waited."""
    return events.complete & ~np.isin(events.name, list(UNKNOWN)) & ~np.char.startswith(events.name, NEIGHBOURS)


def arrange_ends(ranks: Sequence[RankFile], base: int) -> Ends:
    """Return those ends of messages that all ranks keep."""
    level = max(entry.message_level for entry in ranks)
    bound = 2 * max(entry.bound_ns for entry in ranks)
    chosen = [is_sampled(entry.messages["sequence"], level) for entry in ranks]
    rows = [entry.messages[sampled] for entry, sampled in zip(ranks, chosen, strict=True)]
    moments = np.concatenate(
        [entry.moments_ns[:, sampled] + (entry.origin_ns - base) for entry, sampled in zip(ranks, chosen, strict=True)],
        axis=1,
    )
    names = name_kinds(ranks, [(of_rank["kind"] & ~SENT).astype(int) for of_rank in rows])
    posted, begin, end = moments
    begin = np.where(np.isin(names, list(RECEIVING)), begin, np.maximum(begin, posted))
    joined = np.concatenate(rows)
    return Ends(find_begins(rows), joined, names, posted, begin, end, match_ends(joined, moments, bound), 2.0**level)


def open_messages(ends: Ends) -> tuple[Windows, Places]:
    """Return how long each rank waited for partners in messages, and for which ends."""
    owner = list_owners(ends.first)
    is_sent = (ends.rows["kind"] & SENT) != 0
    chosen = np.flatnonzero((ends.partner >= 0) & ~np.isnan(ends.end_ns))
    partner = ends.partner[chosen]
    begin, end, other = ends.begin_ns[chosen], ends.end_ns[chosen], ends.posted_ns[partner]
    until = np.where(is_sent[chosen] & (end <= other), begin, np.clip(other, begin, np.maximum(begin, end)))
    windows = Windows(
        owner=owner[chosen],
        begin_ns=begin,
        until_ns=until,
        other=owner[partner],
        call=number_calls(owner[chosen], begin, end),
        weight=np.full(len(chosen), ends.weight),
    )
    return windows, chosen


def number_calls(owner: Places, begin_ns: Times, end_ns: Times) -> Places:
    """Return the number of the call that completed each message: several can have one."""
    keys = np.stack([owner.astype(float), begin_ns, end_ns], axis=1)
    _, call = np.unique(keys, axis=0, return_inverse=True)
    return np.asarray(call.reshape(-1))


def join_windows(events: Windows, ends: Windows) -> Windows:
    """Return the windows of both."""
    behind = int(events.call.max(initial=-1)) + 1
    ends = ends._replace(call=ends.call + behind)
    return Windows(*(np.concatenate(pair) for pair in zip(events, ends, strict=True)))


# --- what no library changes ------------------------------------------------------------------------------------------


def find_unavoidable(windows: Windows, timelines: Sequence[Timeline]) -> Times:
    """Return, for each window, how long its other rank was outside MPI in it, or waited for such a rank, in ns.

    What a rank waited, and passes on to those that wait for it, is first taken as all its windows, and then as what
    they turn out to be.
    """
    waited = windows.until_ns - windows.begin_ns
    order = np.argsort(windows.other, kind="stable")
    places = np.searchsorted(windows.other[order], np.arange(len(timelines) + 1))
    of_other = [order[begin:end] for begin, end in pairwise(places)]
    for _ in range(MOST_PASSES):
        passed_on = list_passed_on(windows, waited, len(timelines))
        less = waited.copy()
        for timeline, (begins, lengths, weights), chosen in zip(timelines, passed_on, of_other, strict=True):
            ends = (windows.begin_ns[chosen], windows.until_ns[chosen])
            outside = [np.interp(moments, *timeline) for moments in ends]
            waiting = [sum_until(moments, begins, lengths, weights) for moments in ends]
            late = outside[1] - outside[0] + waiting[1] - waiting[0]
            less[chosen] = np.clip(late, 0.0, waited[chosen])
        change, waited = waited.sum() - less.sum(), less
        if change <= CLOSE * waited.sum():
            break
    return waited


def list_passed_on(windows: Windows, waited: Times, ranks: int) -> list[tuple[Times, Times, Times]]:
    """Return begin, length and weight of the waiting of each rank, once for each call, by begin."""
    order = np.lexsort((-waited, windows.call))
    _, first = np.unique(windows.call[order], return_index=True)
    longest = order[first]
    longest = longest[waited[longest] > 0]
    longest = longest[np.lexsort((windows.begin_ns[longest], windows.owner[longest]))]
    places = np.searchsorted(windows.owner[longest], np.arange(ranks + 1))
    parts = (longest[begin:end] for begin, end in pairwise(places))
    return [(windows.begin_ns[part], waited[part], windows.weight[part]) for part in parts]


def sum_until(moments: Times, begins: Times, lengths: Times, weights: Times) -> Times:
    """Return how much of some spans of time is over at each moment.

    Args:
        moments: in any order.
        begins: of the spans, ascending.
        lengths: of the spans.
        weights: by which they are multiplied.
    """
    total = np.zeros(len(moments))
    ends = begins + lengths
    order = np.argsort(ends, kind="stable")
    for edges, factors, sign in ((begins, weights, 1.0), (ends[order], weights[order], -1.0)):
        over = np.searchsorted(edges, moments)
        number = np.concatenate([[0.0], np.cumsum(factors)])[over]
        total += sign * (number * moments - np.concatenate([[0.0], np.cumsum(factors * edges)])[over])
    return total


# --- by kind of call --------------------------------------------------------------------------------------------------


def sum_collectives(ranks: Sequence[RankFile], events: Events, waited_ns: Times) -> list[Waiting]:
    """Return what each rank waited in collectives."""
    known = is_known(events)
    answers = []
    for entry, (begins, ends) in zip(ranks, pairwise(events.first), strict=True):
        of_rank = slice(begins, ends)
        kind, chosen = events.kind[of_rank], known[of_rank]
        matched = count_kinds(kind[chosen], entry)
        sums_ns = count_kinds(kind[chosen], entry, waited_ns[of_rank][chosen])
        each_s = np.divide(sums_ns, matched * NS_PER_S, out=np.zeros_like(matched), where=matched > 0)
        answers.append(Waiting(matched, each_s * entry.kinds["calls"]))
    return answers


def sum_messages(ranks: Sequence[RankFile], ends: Ends, waited_ns: Times) -> list[Waiting]:
    """Return what each rank waited in messages.

    Several messages that one call completes wait for the latest partner; each has an equal share of that.
    """
    owner = list_owners(ends.first)
    completed = np.flatnonzero(~np.isnan(ends.end_ns))
    call = number_calls(owner[completed], ends.begin_ns[completed], ends.end_ns[completed])
    together = np.bincount(call)
    longest = np.zeros(len(together))
    np.maximum.at(longest, call, waited_ns[completed])
    share = np.zeros(len(ends.rows))
    share[completed] = longest[call] / together[call]
    before = np.nan_to_num(np.clip(ends.posted_ns - ends.begin_ns, 0.0, None))
    kind = (ends.rows["kind"] & ~SENT).astype(int)
    answers = []
    for entry, (begins, behind) in zip(ranks, pairwise(ends.first), strict=True):
        of_rank = slice(begins, behind)
        known = ends.partner[of_rank] >= 0
        in_probes = np.minimum(share, before)[of_rank]
        waited = count_kinds(kind[of_rank], entry, share[of_rank] - in_probes)
        matched = count_kinds(kind[of_rank][known], entry)
        probes, probed = divide_probes(entry, float(in_probes.sum()), int((known & (before[of_rank] > 0)).sum()))
        answers.append(Waiting(matched + probed, (waited + probes) * ends.weight / NS_PER_S))
    return answers


def divide_probes(entry: RankFile, waited_ns: float, matched: int) -> tuple[Times, Times]:
    """Return waiting and number of probes that receives came behind, divided among a rank's kinds of probes by time."""
    ticks = np.where(np.isin(entry.kinds["name"].astype(str), list(PROBING)), entry.kinds["ticks"], 0.0)
    shares = ticks / (ticks.sum() or 1.0)
    return shares * waited_ns, shares * matched


def find_lateness(ranks: Sequence[RankFile]) -> list[dict[int, list[float]]]:
    """Return, for each rank and kind of collective, how long after the first rank it arrived: QUANTILES, in ns."""
    events = arrange_events(ranks, find_base(ranks))
    earliest = np.full(int(events.group.max(initial=-1)) + 1, np.inf)
    np.minimum.at(earliest, events.group, events.begin_ns)
    late_ns = events.begin_ns - earliest[events.group]
    answers = []
    for begins, ends in pairwise(events.first):
        of_rank = slice(begins, ends)
        late, kind = late_ns[of_rank][events.complete[of_rank]], events.kind[of_rank][events.complete[of_rank]]
        quantiles = {int(number): np.quantile(late[kind == number], QUANTILES) for number in np.unique(kind)}
        answers.append({kind: [float(value) for value in values] for kind, values in quantiles.items()})
    return answers


def count_kinds(kinds: Places, entry: RankFile, weights: Times | None = None) -> Times:
    """Return the number of events, or the sum of their weights, for each kind of a rank."""
    return np.bincount(kinds, weights=weights, minlength=len(entry.kinds)).astype(float)


def is_sampled(sequence: NDArray[np.uint32], level: int) -> NDArray[np.bool_]:
    """Return which messages are kept at a level, as `is_sampled` in `recorder/recorder.h`."""
    if level == 0:
        return np.ones(len(sequence), dtype=bool)
    mixed = sequence.astype(np.uint64) * MULTIPLIER
    mixed ^= mixed >> np.uint64(29)
    return np.asarray(mixed >> np.uint64(64 - level) == 0)


def match_ends(ends: NDArray[Any], moments: Times, bound: float) -> Places:
    """Return, for each end of a message, the place of the other one; -1: not known.

    A channel with a message that was received before it was sent is not what it seems: none of its messages is matched.

    Args:
        ends: of all ranks.
        moments: of each end: posted, begin and end of its completion, in ns.
        bound: how far clocks may differ, in ns.
    """
    partner = np.full(len(ends), -1)
    if len(ends) < 2:
        return partner
    is_sent = (ends["kind"] & SENT) != 0
    order = np.lexsort((is_sent, ends["sequence"], ends["channel"]))
    channel, sequence, sent = ends["channel"][order], ends["sequence"][order], is_sent[order]
    same = (channel[1:] == channel[:-1]) & (sequence[1:] == sequence[:-1])
    alone = ~np.concatenate([same[1:], [False]]) & ~np.concatenate([[False], same[:-1]])
    first = np.flatnonzero(same & alone & ~sent[:-1] & sent[1:])
    received, posted = order[first], order[first + 1]
    with np.errstate(invalid="ignore"):
        impossible = moments[2][received] < moments[0][posted] - bound
    sound = ~np.isin(ends["channel"][received], ends["channel"][received][impossible])
    partner[received[sound]] = posted[sound]
    partner[posted[sound]] = received[sound]
    return partner
