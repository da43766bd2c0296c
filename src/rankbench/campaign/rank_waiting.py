"""What ranks waited for others that were later, from the moments that the recorder kept.

In a collective a rank waits from its arrival until the last one that it needs has arrived. A receive waits until its
message is sent; a send that is not finished when its receive is posted waits until then. Nobody waits longer than the
call takes.
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
QUANTILES = (0.1, 0.5, 0.9)
MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)


class Waiting(NamedTuple):
    """Of one rank, by kind of call."""

    matched: NDArray[np.float64]
    """Collectives that are known at all ranks, or messages that are known at both ends."""
    seconds: NDArray[np.float64]
    """Estimated for all calls from those."""


class Events(NamedTuple):
    """Arrivals at collectives, of all ranks."""

    first: NDArray[np.int64]
    """Where each rank's begin, and behind them where all end."""
    kind: NDArray[np.int64]
    name: NDArray[np.str_]
    is_root: NDArray[np.bool_]
    begin_ns: NDArray[np.float64]
    end_ns: NDArray[np.float64]
    group: NDArray[np.int64]
    """The number of the collective."""
    complete: NDArray[np.bool_]
    """Whether all ranks of the collective are known."""


def find_waiting(ranks: Sequence[RankFile]) -> list[Waiting]:
    """Return what each rank waited for others."""
    base = find_base(ranks)
    pairs = zip(
        find_collective_waiting(ranks, arrange_events(ranks, base)), find_message_waiting(ranks, base), strict=True
    )
    return [
        Waiting(collective.matched + message.matched, collective.seconds + message.seconds)
        for collective, message in pairs
    ]


def find_base(ranks: Sequence[RankFile]) -> int:
    """Return the moment from which times of all ranks are counted, in ns."""
    return min(entry.origin_ns for entry in ranks)


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
        name=np.concatenate([entry.kinds["name"][kind] for entry, kind in zip(ranks, kinds, strict=True)]).astype(str),
        is_root=(events["kind"] & ROOT) != 0,
        begin_ns=np.concatenate([entry.begin_ns + (entry.origin_ns - base) for entry in ranks]),
        end_ns=np.concatenate([entry.end_ns + (entry.origin_ns - base) for entry in ranks]),
        group=group,
        complete=members[group] == size,
    )


def find_collective_waiting(ranks: Sequence[RankFile], events: Events) -> list[Waiting]:
    """Return what each rank waited in collectives."""
    first, kind, names, is_root, begin, end, group, complete = events
    chosen = complete & ~np.isin(names, list(UNKNOWN)) & ~np.char.startswith(names, NEIGHBOURS)
    last = np.full(len(np.unique(group)), -np.inf)
    root = last.copy()
    np.maximum.at(last, group, begin)
    np.maximum.at(root, group[is_root], begin[is_root])
    release = np.where(np.isin(names, list(WAIT_FOR_ROOT)), root[group], last[group])
    release = np.where(np.isin(names, list(ROOT_WAITS)) & ~is_root, begin, release)
    waiting = np.clip(release - begin, 0.0, end - begin)
    answers = []
    for entry, (begins, ends) in zip(ranks, pairwise(first), strict=True):
        of_rank = slice(begins, ends)
        matched = count_kinds(kind[of_rank][chosen[of_rank]], entry)
        waited_ns = count_kinds(kind[of_rank][chosen[of_rank]], entry, waiting[of_rank][chosen[of_rank]])
        each_s = np.divide(waited_ns, matched * NS_PER_S, out=np.zeros_like(matched), where=matched > 0)
        answers.append(Waiting(matched, each_s * entry.kinds["calls"]))
    return answers


def find_lateness(ranks: Sequence[RankFile]) -> list[dict[int, list[float]]]:
    """Return, for each rank and kind of collective, how long after the first rank it arrived: QUANTILES, in ns."""
    events = arrange_events(ranks, find_base(ranks))
    earliest = np.full(len(np.unique(events.group)), np.inf)
    np.minimum.at(earliest, events.group, events.begin_ns)
    late_ns = events.begin_ns - earliest[events.group]
    answers = []
    for begins, ends in pairwise(events.first):
        of_rank = slice(begins, ends)
        late, kind = late_ns[of_rank][events.complete[of_rank]], events.kind[of_rank][events.complete[of_rank]]
        quantiles = {int(number): np.quantile(late[kind == number], QUANTILES) for number in np.unique(kind)}
        answers.append({kind: [float(value) for value in values] for kind, values in quantiles.items()})
    return answers


def find_message_waiting(ranks: Sequence[RankFile], base: int) -> list[Waiting]:
    """Return what each rank waited in messages.

    Several messages that one call completes wait for the latest partner; each has an equal share of that.
    """
    level = max(entry.message_level for entry in ranks)
    bound = 2 * max(entry.bound_ns for entry in ranks)
    chosen = [is_sampled(entry.messages["sequence"], level) for entry in ranks]
    first = find_begins(sampled[sampled] for sampled in chosen)
    owner = np.repeat(np.arange(len(ranks)), np.diff(first))
    ends = np.concatenate([entry.messages[sampled] for entry, sampled in zip(ranks, chosen, strict=True)])
    moments = np.concatenate(
        [entry.moments_ns[:, sampled] + (entry.origin_ns - base) for entry, sampled in zip(ranks, chosen, strict=True)],
        axis=1,
    )
    partner = match_ends(ends, moments, bound)
    known = partner >= 0
    posted, begin, end = moments
    other = np.where(known, posted[partner], np.nan)
    is_sent = (ends["kind"] & SENT) != 0
    with np.errstate(invalid="ignore"):
        waiting = np.nan_to_num(np.clip(other - begin, 0.0, end - begin))
        waiting[is_sent & ~(end > other)] = 0.0
    completed = np.flatnonzero(~np.isnan(end))
    keys = np.stack([owner[completed].astype(float), begin[completed], end[completed]], axis=1)
    _, call, together = np.unique(keys, axis=0, return_inverse=True, return_counts=True)
    call = call.reshape(-1)
    longest = np.zeros(len(together))
    np.maximum.at(longest, call, waiting[completed])
    share = np.zeros(len(ends))
    share[completed] = longest[call] / together[call]
    kind = (ends["kind"] & ~SENT).astype(int)
    answers = []
    for entry, (begins, behind) in zip(ranks, pairwise(first), strict=True):
        of_rank = slice(begins, behind)
        waited_s = count_kinds(kind[of_rank], entry, share[of_rank]) * 2.0**level / NS_PER_S
        answers.append(Waiting(count_kinds(kind[of_rank][known[of_rank]], entry), waited_s))
    return answers


def find_begins(parts: Iterable[NDArray[Any]]) -> NDArray[np.int64]:
    """Return where each of several parts begins if they are put behind each other, and where the last one ends."""
    return np.concatenate([[0], np.cumsum([len(part) for part in parts], dtype=np.int64)])


def count_kinds(
    kinds: NDArray[np.int64], entry: RankFile, weights: NDArray[np.float64] | None = None
) -> NDArray[np.float64]:
    """Return the number of events, or the sum of their weights, for each kind of a rank."""
    return np.bincount(kinds, weights=weights, minlength=len(entry.kinds)).astype(float)


def is_sampled(sequence: NDArray[np.uint32], level: int) -> NDArray[np.bool_]:
    """Return which messages are kept at a level, as `is_sampled` in `recorder/recorder.h`."""
    if level == 0:
        return np.ones(len(sequence), dtype=bool)
    mixed = sequence.astype(np.uint64) * MULTIPLIER
    mixed ^= mixed >> np.uint64(29)
    return np.asarray(mixed >> np.uint64(64 - level) == 0)


def match_ends(ends: NDArray[Any], moments: NDArray[np.float64], bound: float) -> NDArray[np.int64]:
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
