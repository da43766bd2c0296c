"""Whether figures of two benchmarks can stand side by side, and what must be said beside them then.

Benchmarks are held against each other by what their numbers mean. Options, sizes and numbers of ranks are those of
cases: the caller matches them. Pure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple, cast

import msgspec

from rankbench.model import Meaning
from rankbench.plan import estimators

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankbench.model import Operation

PIPELINED = {"bcast", "bcast-large", "reduce", "gather", "gatherv", "scatter", "scatterv"}
"""Calls that some ranks leave before others have come: made one after the other, they overlap."""
SYNCHRONISED = {"barrier", "library-barrier", "window", "roundtime"}
STARTS = {"window-mpiperf": "window"}
"""Starts of the core that a meaning does not distinguish from others."""
WAYS = {"half": 1.0, "round": 2.0}
"""Ways of a message in what is timed."""
TIMES = {"time", "latency"}

DESCRIPTIONS: dict[str, dict[Any, str]] = {
    "over_calls": {
        "mean": "is the mean over calls",
        "median": "is the median over calls",
        "minimum": "is the fastest call",
        "trimmed mean": "is the mean over calls without the fastest and the slowest",
        "single": "is a single call",
    },
    "over_ranks": {
        "mean": "is the mean over ranks",
        "maximum": "is that of the slowest rank",
        "minimum": "is that of the fastest rank",
        "one": "is that of one rank",
        "span": "lasts from a common start until the last rank has ended",
    },
    "start": {
        "none": "makes one call after the other",
        "barrier": "begins calls after a barrier of its own",
        "library-barrier": "begins calls after MPI_Barrier",
        "window": "begins calls at times agreed on before",
        "roundtime": "begins each call at a time agreed on just before",
        "not reported": "does not show how calls begin",
    },
    "data": {
        "not checked": "does not look at what was received",
        "checked": "looks at what was received",
    },
}
METRICS = {
    "time": "is a time",
    "latency": "is a time",
    "bandwidth": "is bytes per second",
    "rate": "is messages per second",
}
TRIPS = {
    "call": "is the time of a call",
    "half": "is half of a round trip",
    "round": "is a whole round trip",
    "gap": "is the time from one send to the next, which no answer ends",
}
COUNT_WORDS = {1.0: "once", 2.0: "twice", 4.0: "four times"}
MEGABYTES = {10**6: "10^6", 1 << 20: "2^20"}


class Comparable(NamedTuple):
    """What comes of holding the first benchmark's figures against the second's."""

    differences: list[str]
    """Sentences, to be reported wherever both are shown."""
    factor: float = 1.0
    """By what values of the first (in nanoseconds, bytes or messages per second) are multiplied to count as the
    second's do."""
    printed_factor: float = 1.0
    """The same for what is printed in megabytes per second, which need not be the same megabytes."""
    reason: str = ""
    """Why they must not be compared; empty where they can be."""


class Side(NamedTuple):
    """One of the two, as it is spoken of."""

    name: str
    call: str
    operation: Operation
    meaning: Meaning

    @property
    def whole_vector(self) -> bool:
        """Return whether a size is that of a vector of which each rank gets its share."""
        return self.operation.foreign is not None and self.operation.foreign.whole_vector

    @property
    def timed(self) -> bool:
        """Return whether its figures are times, and not something per second."""
        return self.operation.metric in TIMES


def compare_benchmarks(operation: Operation, other: Operation, start: str = "") -> Comparable:
    """Return what differs between two benchmarks.

    `start` is how calls of the core's operations begin, where not as they usually do. An operation that can be measured
    in several forms is compared in one that the other has too.
    """
    first, second = make_sides(operation, other, start)
    texts = list(list_differences(first, second))
    reason = next(list_obstacles(first, second), "")
    if reason:
        return Comparable(texts, reason=reason)
    factor = compute_factor(first, second)
    return Comparable(texts, factor, factor * compute_megabyte_factor(first, second))


def make_sides(operation: Operation, other: Operation, start: str) -> tuple[Side, Side]:
    """Return both, with names that distinguish them."""
    names = format_name(operation), format_name(other)
    if names[0] == names[1]:
        names = f"the first {names[0]}", f"the second {names[1]}"
    return make_side(names[0], operation, start), make_side(names[1], other, start)


def make_side(name: str, operation: Operation, start: str) -> Side:
    """Return one of the two by its name."""
    foreign = operation.foreign
    meaning = foreign.meaning if foreign else describe_core_value(operation, start or operation.start)
    return Side(name, find_counterpart(operation), operation, meaning)


def format_name(operation: Operation) -> str:
    """Return a benchmark's name with whose it is, such as `Allreduce (imb)`."""
    foreign = operation.foreign
    return f"{foreign.benchmark} ({foreign.suite})" if foreign else f"{operation.name} (rankbench)"


def find_counterpart(operation: Operation) -> str:
    """Return the core's operation that measures the same, or the benchmark's own name where none does."""
    return (operation.foreign.counterpart or format_name(operation)) if operation.foreign else operation.name


# --- the core's own -------------------------------------------------------------------------------------------------

PER_SECOND = {"bandwidth": "; bytes of all ranks over that time", "rate": "; messages of all ranks over that time"}
OverCalls = Literal["mean", "median", "minimum", "trimmed mean", "single"]
OverRanks = Literal["maximum", "one", "span"]


def describe_core_value(operation: Operation, start: str, estimator: str = "median") -> Meaning:
    """Return what the figure of a case of the core is, whose calls begin by a start, by an estimator of launches."""
    over_calls, over_ranks, sample = describe_core_sample(operation, start)
    latency, row = operation.metric == "latency", operation.rounds > 1
    half = "; half of it, since a message goes there and comes back" if latency else ""
    each = f"; divided by {operation.rounds}, since as many messages follow each other in it" if row else ""
    if over_calls == "median":
        over_calls = cast("OverCalls", estimators.find_estimator(estimator).OVER_CALLS)
    text = (
        f"median over launches of each launch's {estimator}; {sample}{half}{each}{PER_SECOND.get(operation.metric, '')}"
    )
    fields = {
        "over_calls": over_calls,
        "over_ranks": over_ranks,
        "start": STARTS.get(start, start),
        "text": text,
        "trip": "half" if latency else "gap" if row else "call",
        "counted": 2.0 if operation.name.endswith("-bidirectional") else 1.0,
        "data": "checked",
    }
    return msgspec.convert(fields, Meaning)


def describe_core_sample(operation: Operation, start: str) -> tuple[OverCalls, OverRanks, str]:
    """Return what a sample of the core is over calls and over ranks, and both in words.

    Operations whose usual start is none are measured by one rank, however they begin.
    """
    if operation.once:
        return "single", "maximum", "the call is made once in a launch; the time of the rank that it took longest"
    if operation.start == "none":
        return "median", "one", "a sample is the time of one call on one rank"
    if start == "none":
        return "mean", "maximum", "a sample is the mean of a loop of calls, on the rank that it took longest"
    if start in {"barrier", "library-barrier"}:
        return "median", "maximum", "a sample is the time of one call after a barrier, on the rank that it took longest"
    return "median", "span", "a sample is the time from the common start of one call until the last rank has ended"


# --- why not --------------------------------------------------------------------------------------------------------


def list_obstacles(first: Side, second: Side) -> Iterator[str]:
    """Yield why two benchmarks cannot be compared."""
    if first.call != second.call:
        yield format_contrast(first, describe_call(first), second, describe_call(second))
    if not set(first.operation.forms) & set(second.operation.forms):
        yield format_contrast(first, describe_forms(first), second, describe_forms(second))
    if first.timed != second.timed:
        yield format_contrast(first, METRICS[first.operation.metric], second, METRICS[second.operation.metric])
    trips = {first.meaning.trip, second.meaning.trip}
    if first.timed and len(trips) > 1 and not trips <= set(WAYS):
        yield format_contrast(first, TRIPS[first.meaning.trip], second, TRIPS[second.meaning.trip])
    starts = {first.meaning.start, second.meaning.start}
    if first.call in PIPELINED and "none" in starts and starts & SYNCHRONISED:
        loop, single = (first, second) if first.meaning.start == "none" else (second, first)
        yield (
            f"{loop.name} makes one call after the other, and a rank can be in the next {loop.call} before others have "
            f"ended the last; {single.name} begins calls together"
        )


def describe_call(side: Side) -> str:
    """Report what a benchmark measures."""
    return (
        f"measures {'what no operation of rankbench does' if side.call == format_name(side.operation) else side.call}"
    )


def describe_forms(side: Side) -> str:
    """Report the forms of a benchmark."""
    return f"is {' or '.join(side.operation.forms)}"


# --- what differs ---------------------------------------------------------------------------------------------------


def format_contrast(first: Side, first_text: str, second: Side, second_text: str) -> str:
    """Return the sentence that shows what is so of one benchmark and what of the other."""
    return f"{first.name} {first_text}, {second.name} {second_text}"


def list_differences(first: Side, second: Side) -> Iterator[str]:
    """Yield a sentence for everything that differs."""
    for attribute, words in DESCRIPTIONS.items():
        one, other = getattr(first.meaning, attribute), getattr(second.meaning, attribute)
        if one != other:
            yield format_contrast(first, words[one], second, words[other])
    if first.timed and second.timed and first.meaning.trip != second.meaning.trip:
        yield format_contrast(first, TRIPS[first.meaning.trip], second, TRIPS[second.meaning.trip])
    if not first.timed and not second.timed:
        yield from list_rate_differences(first, second)
    if first.call == second.call and first.whole_vector != second.whole_vector:
        yield format_contrast(first, describe_size(first), second, describe_size(second))


def list_rate_differences(first: Side, second: Side) -> Iterator[str]:
    """Yield a sentence for everything in which amounts per second differ."""
    one, other = first.meaning, second.meaning
    if first.operation.metric != second.operation.metric:
        text = format_contrast(first, METRICS[first.operation.metric], second, METRICS[second.operation.metric])
        yield f"{text}: bytes are messages times their size"
    if one.counted != other.counted:
        yield format_contrast(first, describe_count(one), second, describe_count(other))
    if one.megabyte and other.megabyte and one.megabyte != other.megabyte:
        yield format_contrast(first, describe_megabyte(one), second, describe_megabyte(other))


def describe_size(side: Side) -> str:
    """Report what the size of a benchmark is of."""
    return f"gives the size of {'the whole vector' if side.whole_vector else 'a block'}"


def describe_count(meaning: Meaning) -> str:
    """Report how often the bytes of a message count."""
    return f"counts the bytes of a message {COUNT_WORDS.get(meaning.counted, f'{meaning.counted:g} times')}"


def describe_megabyte(meaning: Meaning) -> str:
    """Report what megabytes are printed."""
    return f"prints megabytes of {MEGABYTES.get(meaning.megabyte, str(meaning.megabyte))} bytes"


def compare_datatypes(one: Operation, other: Operation, datatypes: tuple[str, str]) -> list[str]:
    """Return a sentence where two benchmarks calculate with numbers of different datatypes; data that are only moved
    have none.
    """
    first, second = make_sides(one, other, "")
    if datatypes[0] == datatypes[1] or all(operation.datatype == "byte" for operation in (one, other)):
        return []
    texts = [f"calculates with {'bytes' if name == 'byte' else f'numbers of type {name}'}" for name in datatypes]
    return [format_contrast(first, texts[0], second, texts[1])]


# --- what converts --------------------------------------------------------------------------------------------------


def compute_factor(first: Side, second: Side) -> float:
    """Return by what values of the first are multiplied to count ways, or bytes, as the second's do."""
    one, other = first.meaning, second.meaning
    if first.timed:
        return WAYS.get(other.trip, 1.0) / WAYS.get(one.trip, 1.0)
    return other.counted / one.counted


def compute_megabyte_factor(first: Side, second: Side) -> float:
    """Return by what printed megabytes of the first are multiplied to be megabytes of the second."""
    one, other = first.meaning.megabyte, second.meaning.megabyte
    return 1.0 if first.timed or not one or not other else one / other
