"""Whether values of two benchmarks are comparable, and what differs between them.

Benchmarks are compared by the meaning of their numbers. Options, sizes and numbers of ranks belong to cases: the caller
matches them. Pure.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal, NamedTuple, cast

import msgspec

from rankbench.model import Meaning, Operation
from rankbench.plan import estimators

PIPELINED = {"bcast", "bcast-large", "reduce", "gather", "gatherv", "scatter", "scatterv"}
"""Calls that some ranks leave before others have entered: in a loop they overlap."""
SYNCHRONISED = {"barrier", "library-barrier", "window", "roundtime"}
STARTS = {"window-mpiperf": "window"}
"""Starts of the core with the same meaning as another one."""
WAYS = {"half": 1.0, "round": 2.0}
"""One-way trips of a message in the timed part."""
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
        "span": "lasts from a common start until the last rank has finished",
    },
    "start": {
        "none": "makes one call after the other",
        "barrier": "starts calls after its own barrier",
        "library-barrier": "starts calls after MPI_Barrier",
        "window": "starts calls at agreed times",
        "roundtime": "starts each call at a time agreed on just before",
        "not reported": "does not say how calls start",
    },
    "data": {
        "not checked": "does not check the received data",
        "checked": "checks the received data",
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
    "gap": "is the time from one send to the next, without an answer",
}
COUNT_WORDS = {1.0: "once", 2.0: "twice", 4.0: "four times"}
MEGABYTES = {10**6: "10^6", 1 << 20: "2^20"}


class Comparable(NamedTuple):
    """The result of comparing the meanings of two benchmarks."""

    differences: list[str]
    """Sentences, to be shown wherever both are shown."""
    factor: float = 1.0
    """Factor for values of the first (in nanoseconds, bytes or messages per second) that converts them to the second's
    definition."""
    reason: str = ""
    """Why they are not comparable; empty if they are."""


class Side(NamedTuple):
    """One of the two benchmarks, with the name that sentences use."""

    name: str
    call: str
    operation: Operation
    meaning: Meaning

    @property
    def whole_vector(self) -> bool:
        """Whether the size is of a vector of which each rank gets a part."""
        return self.operation.foreign is not None and self.operation.foreign.whole_vector

    @property
    def timed(self) -> bool:
        """Whether its values are times, not rates."""
        return self.operation.metric in TIMES


def compare_benchmarks(operation: Operation, other: Operation, start: str = "") -> Comparable:
    """Return what differs between two benchmarks.

    `start` is the start of the core's operations, if not their default. An operation with several forms is compared in
    a form that the other one has, too.
    """
    first, second = make_sides(operation, other, start)
    texts = list(list_differences(first, second))
    reason = next(list_obstacles(first, second), "")
    if reason:
        return Comparable(texts, reason=reason)
    return Comparable(texts, compute_factor(first, second))


def make_sides(operation: Operation, other: Operation, start: str) -> tuple[Side, Side]:
    """Return both benchmarks, with distinct names."""
    names = format_name(operation), format_name(other)
    if names[0] == names[1]:
        names = f"the first {names[0]}", f"the second {names[1]}"
    return make_side(names[0], operation, start), make_side(names[1], other, start)


def make_side(name: str, operation: Operation, start: str) -> Side:
    """Return a benchmark with its name and meaning."""
    foreign = operation.foreign
    meaning = foreign.meaning if foreign else describe_core_value(operation, start or operation.start)
    return Side(name, find_counterpart(operation), operation, meaning)


def format_name(operation: Operation) -> str:
    """Return a benchmark's name with its tool, such as `Allreduce (imb)`."""
    foreign = operation.foreign
    return f"{foreign.benchmark} ({foreign.suite})" if foreign else f"{operation.name} (rankbench)"


def find_counterpart(operation: Operation) -> str:
    """Return the core's operation that measures the same, or the benchmark's own name if there is none."""
    return (operation.foreign.counterpart or format_name(operation)) if operation.foreign else operation.name


# --- the core's values ------------------------------------------------------------------------------------------------

PER_SECOND = {"bandwidth": "; bytes of all ranks over that time", "rate": "; messages of all ranks over that time"}
OverCalls = Literal["mean", "median", "minimum", "trimmed mean", "single"]
OverRanks = Literal["maximum", "one", "span"]


def describe_core_value(operation: Operation, start: str, estimator: str = "median") -> Meaning:
    """Return the meaning of the core's value of a case, for a start and an estimator."""
    over_calls, over_ranks, sample = describe_core_sample(operation, start)
    latency, row = operation.metric == "latency", operation.rounds > 1
    half = "; half of it, since it is a round trip" if latency else ""
    each = f"; divided by {operation.rounds}, since it has as many messages in a row" if row else ""
    if over_calls == "median":
        over_calls = cast("OverCalls", estimators.find_estimator(estimator).over_calls)
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
    """Return what a sample of the core is over calls and over ranks, and a sentence about it.

    Operations with the default start `none` are measured by one rank, whatever the start.
    """
    if operation.once:
        return "single", "maximum", "one call in a launch; the time of the slowest rank"
    if operation.start == "none":
        return "median", "one", "a sample is the time of one call on one rank"
    if start == "none":
        return "mean", "maximum", "a sample is the mean of a loop of calls, on the slowest rank"
    if start in {"barrier", "library-barrier"}:
        return "median", "maximum", "a sample is the time of one call after a barrier, on the slowest rank"
    return "median", "span", "a sample is the time from the common start of one call until the last rank has finished"


# --- not comparable ---------------------------------------------------------------------------------------------------


def list_obstacles(first: Side, second: Side) -> Iterator[str]:
    """Yield why two benchmarks are not comparable."""
    if first.call != second.call:
        yield format_contrast(first, describe_call(first), second, describe_call(second))
    if not set(first.operation.forms) & set(second.operation.forms):
        yield format_contrast(first, describe_forms(first), second, describe_forms(second))
    if first.timed != second.timed:
        yield format_contrast(first, describe_metric(first), second, describe_metric(second))
    trips = {first.meaning.trip, second.meaning.trip}
    if first.timed and len(trips) > 1 and not trips <= set(WAYS):
        yield format_contrast(first, TRIPS[first.meaning.trip], second, TRIPS[second.meaning.trip])
    starts = {first.meaning.start, second.meaning.start}
    if first.call in PIPELINED and "none" in starts and starts & SYNCHRONISED:
        loop, single = (first, second) if first.meaning.start == "none" else (second, first)
        yield (
            f"{loop.name} makes one call after the other, and a rank can be in the next {loop.call} before others have "
            f"finished the last; {single.name} starts calls together"
        )


def describe_metric(side: Side) -> str:
    """Return what kind of number a benchmark has, as a part of a sentence."""
    rounds = side.operation.metric == "rate" and side.meaning.trip == "round"
    return "is round trips per second" if rounds else METRICS[side.operation.metric]


def describe_call(side: Side) -> str:
    """Return what a benchmark measures, as a part of a sentence."""
    is_known = side.call != format_name(side.operation)
    return f"measures {side.call if is_known else 'something that no operation of rankbench measures'}"


def describe_forms(side: Side) -> str:
    """Return the forms of a benchmark, as a part of a sentence."""
    return f"is {' or '.join(side.operation.forms)}"


# --- what differs -----------------------------------------------------------------------------------------------------


def format_contrast(first: Side, first_text: str, second: Side, second_text: str) -> str:
    """Return a sentence with one statement about each benchmark."""
    return f"{first.name} {first_text}, {second.name} {second_text}"


def list_differences(first: Side, second: Side) -> Iterator[str]:
    """Yield a sentence for each difference in meaning."""
    for attribute, words in DESCRIPTIONS.items():
        value, other = getattr(first.meaning, attribute), getattr(second.meaning, attribute)
        if value != other:
            yield format_contrast(first, words[value], second, words[other])
    if first.timed and second.timed and first.meaning.trip != second.meaning.trip:
        yield format_contrast(first, TRIPS[first.meaning.trip], second, TRIPS[second.meaning.trip])
    if not first.timed and not second.timed:
        yield from list_rate_differences(first, second)
    if first.call == second.call and first.whole_vector != second.whole_vector:
        yield format_contrast(first, describe_size(first), second, describe_size(second))


def list_rate_differences(first: Side, second: Side) -> Iterator[str]:
    """Yield a sentence for each difference between two rates."""
    meaning, other = first.meaning, second.meaning
    if first.operation.metric != second.operation.metric:
        text = format_contrast(first, describe_metric(first), second, describe_metric(second))
        yield f"{text}: bytes are messages times their size"
    if meaning.counted != other.counted:
        yield format_contrast(first, describe_count(meaning), second, describe_count(other))
    if meaning.megabyte and other.megabyte and meaning.megabyte != other.megabyte:
        yield format_contrast(first, describe_megabyte(meaning), second, describe_megabyte(other))


def describe_size(side: Side) -> str:
    """Return what the size of a benchmark means, as a part of a sentence."""
    return f"reports the size of {'the whole vector' if side.whole_vector else 'a block'}"


def describe_count(meaning: Meaning) -> str:
    """Return how often the bytes of a message count, as a part of a sentence."""
    return f"counts the bytes of a message {COUNT_WORDS.get(meaning.counted, f'{meaning.counted:g} times')}"


def describe_megabyte(meaning: Meaning) -> str:
    """Return the size of a printed megabyte, as a part of a sentence."""
    return f"prints megabytes of {MEGABYTES.get(meaning.megabyte, str(meaning.megabyte))} bytes"


def compare_datatypes(operation: Operation, other: Operation, datatypes: tuple[str, str]) -> list[str]:
    """Return a sentence if two benchmarks calculate with different datatypes. Data that are only moved do not count."""
    first, second = make_sides(operation, other, "")
    if datatypes[0] == datatypes[1] or operation.datatype == other.datatype == "byte":
        return []
    texts = [f"calculates with {'bytes' if name == 'byte' else f'numbers of type {name}'}" for name in datatypes]
    return [format_contrast(first, texts[0], second, texts[1])]


# --- conversion -------------------------------------------------------------------------------------------------------


def compute_factor(first: Side, second: Side) -> float:
    """Return the factor that converts values of the first to the trips, or byte counts, of the second."""
    meaning, other = first.meaning, second.meaning
    if first.timed:
        return WAYS.get(other.trip, 1.0) / WAYS.get(meaning.trip, 1.0)
    return other.counted / meaning.counted
