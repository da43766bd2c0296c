"""What the calls of a recorded program say of the program: its time in MPI and its run time with each candidate. Pure.

The time of the calls is that of `verdict.mix`. What the program computes, and what ranks wait for others, is taken from
the record: no library changes it. So a run takes as long as the recorded one, less the time of its calls with the
library that it was recorded with, and more that with the candidate.

Where the program was measured, too, and recorded with the candidates, both are compared with it. A prediction misses if
the two intervals have nothing in common and the values differ by more than the plan's threshold; of times in MPI, which
a few launches show, by more than FAR_OFF.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import polars as pl

from rankbench.analysis.questions import mix
from rankbench.analysis.questions.case_labels import name_case
from rankbench.analysis.questions.mix import Mix, MixResult
from rankbench.analysis.questions.thread_levels import SERIALIZED, find_costs
from rankbench.analysis.questions.view import CampaignView
from rankbench.language import Text, list_parts, say
from rankbench.model import CaseStatus, Recorded
from rankbench.model.program_records import ONE_THREAD, sum_mpi
from rankbench.plan.programs import OPERATION

FAR_OFF = 0.15
MUCH = 0.25
"""From this share on, a kind of call can be the reason of a miss."""
LARGE_BYTES = 32 << 10
"""Messages of this size leave the caches in a program that computes with other data."""
DECIDING, LEAST_DECIDING = 3, 0.05
"""The most calls that are named as those that decide, and the least share of the difference that each makes."""
PENDING = {"nonblocking", "persistent"}
MOSTLY = 0.5
SMALL = 0.005
SHORT_S = 1.0
"""In a shorter run connecting and first calls matter, which take Open MPI 10 ms (`docs/evidence/gaps.md`)."""
SECOND_NS = 1e9


class Interval(NamedTuple):
    """A ratio or a time, with the ends of its interval; these are equal to it where nothing is known of its error."""

    value: float
    low: float
    high: float

    def overlaps(self, other: Interval) -> bool:
        """Return whether two intervals have something in common."""
        return self.low <= other.high and other.low <= self.high


class Prediction(NamedTuple):
    """What is predicted for a candidate, and what was measured and recorded with it."""

    candidate: str
    mpi_s: Interval
    """Time in MPI of the mean rank, with its waiting for others."""
    recorded: Interval | None
    """The same in runs with this candidate: the median, the least and the most; None: there are none."""
    ratio: Interval | None
    """Run time over that of the candidate whose calls take least; None where ranks share cores, or threads call."""
    measured: Interval | None
    """The same, measured."""

    @property
    def ratio_misses(self) -> bool:
        """Return whether the measured ratio is beyond that which was predicted."""
        return self.measured is not None and self.ratio is not None and not self.ratio.overlaps(self.measured)

    @property
    def time_misses(self) -> bool:
        """Return whether all recorded times in MPI are far from that which was predicted."""
        if self.recorded is None or self.mpi_s.overlaps(self.recorded):
            return False
        return abs(self.mpi_s.value / self.recorded.value - 1) > FAR_OFF


class ProgramAnswer(NamedTuple):
    """The calls of the recorded program, and what follows for each candidate, best first."""

    recorded: Recorded
    calls: Mix
    predictions: list[Prediction]
    crowded: bool
    """Whether ranks share cores: then a call lasts until the system lets its partners run, in a program and here."""


def find_answer(view: CampaignView) -> ProgramAnswer | None:
    """Return what the plan's profile says; None where there is none with times, or nothing of it was measured."""
    recorded = view.campaign.plan.profile
    if recorded is None or not recorded.mpi_s:
        return None
    mixes = [placed for placed in mix.sum_mixes(view, view.campaign.plan.calls) if placed.standings]
    if not mixes:
        return None
    placed = mixes[0]
    within_s = find_recorded_time(view, recorded, placed)
    rest_s = recorded.seconds - within_s
    uncovered_s = recorded.mpi_s * find_uncovered(recorded, placed)
    best = placed.standings[0].candidate
    crowded = share_cores(view, placed)
    besides = {name: uncovered_s + find_waiting(view, recorded, placed, name) for name in view.candidates}
    predictions = [
        Prediction(
            standing.candidate,
            add_interval(view, placed, standing, besides[standing.candidate]),
            find_recorded_mpi(view, recorded, standing.candidate),
            None if crowded or has_threads(recorded) else predict_ratio(view, placed, standing, rest_s),
            find_measured(view, best, standing.candidate),
        )
        for standing in placed.standings
    ]
    return ProgramAnswer(recorded, placed, predictions, crowded)


def has_threads(recorded: Recorded) -> bool:
    """Return whether several threads of a rank called, whose times are added up."""
    return recorded.several_threads or recorded.mpi_s > recorded.seconds


def share_cores(view: CampaignView, placed: Mix) -> bool:
    """Return whether ranks of a placement share cores."""
    places = (place for place in view.campaign.plan.placements if place.name == placed.placement)
    return any(view.campaign.oversubscribed(place.ranks_per_node, place.nodes) for place in places)


def find_recorded_time(view: CampaignView, recorded: Recorded, placed: Mix) -> float:
    """Return the time of the calls in the recorded run without waiting, in seconds: as its library needs it here, else
    as it was recorded.
    """
    name = find_own(view, recorded)
    times_ns = (add_means(view, placed, standing) for standing in placed.standings if standing.candidate == name)
    time_s = next(times_ns, 0.0) / SECOND_NS
    spent_s = sum(part.calls.seconds - part.calls.waiting_s for part in placed.parts)
    return min(time_s or spent_s, recorded.mpi_s - recorded.waiting_s)


def find_waiting(view: CampaignView, recorded: Recorded, placed: Mix, candidate: str) -> float:
    """Return the mean rank's waiting in the measured calls, in the candidate's own run, else in the recorded one, in
    seconds.
    """
    covered_s = sum(part.calls.waiting_s for part in placed.parts)
    if run := view.records.get(candidate):
        waiting_s = sum(sum(kind.waiting_s) for kind in run.kinds) / run.ranks
        return max(0.0, waiting_s - max(0.0, recorded.waiting_s - covered_s))
    return covered_s


def find_own(view: CampaignView, recorded: Recorded) -> str:
    """Return the candidate that is the recorded library as it is; empty: there is none."""
    campaign = view.campaign
    names = {candidate.name for candidate in campaign.candidates if candidate.library == recorded.library}
    plain = {candidate.name for candidate in campaign.candidates if not candidate.settings}
    return next((name for name in view.candidates if name in names & plain), "")


def find_uncovered(recorded: Recorded, placed: Mix) -> float:
    """Return the share of the time in MPI whose calls were not measured."""
    missing_s = sum(call.seconds for call in placed.missing)
    return sum(part.share for part in recorded.uncovered) + missing_s / recorded.mpi_s


def add_interval(view: CampaignView, placed: Mix, standing: MixResult, besides_s: float) -> Interval:
    """Return the time of the mean rank in MPI with a candidate: of its calls, with the errors of all, and of what is
    besides.
    """
    middle = low = high = 0.0
    for place, part in enumerate(placed.parts):
        time_ns = placed.shares[standing.candidate, place] * standing.time_ns
        time_ns *= find_mean(view, part, standing.candidate) * find_rank_share(view, part, standing.candidate)
        summaries = [view.summary_of[case.key, standing.candidate] for case, _ in part.cases]
        down = min(value.low_ns / value.typical_ns if value.low_ns > 0 else 1.0 for value in summaries)
        up = max(value.high_ns / value.typical_ns if math.isfinite(value.high_ns) else 1.0 for value in summaries)
        middle += time_ns
        low += time_ns * down
        high += time_ns * up
    return Interval(*(time_ns / SECOND_NS + besides_s for time_ns in (middle, low, high)))


def find_rank_share(view: CampaignView, part: mix.Part, candidate: str) -> float:
    """Return the time of the mean rank in a call over that of the last rank, which is what is measured; 1: not known.

    Where all ranks have the same part, one that leaves early waits in the next call for those that the library holds
    longer: over a run each is in MPI as long as the last.
    """
    if is_symmetric(view, part):
        return 1.0
    keys = [case.key for case, _ in part.cases]
    rows = view.case_rows.filter(
        pl.col("case").is_in(keys), pl.col("rank_share") > 0, candidate=candidate, status=CaseStatus.OK
    )
    share = rows["rank_share"].median()
    return share if isinstance(share, float) else 1.0


def is_symmetric(view: CampaignView, part: mix.Part) -> bool:
    """Return whether all ranks have the same part in a call."""
    return all(view.operation(case).is_symmetric for case, _ in part.cases)


def add_means(view: CampaignView, placed: Mix, standing: MixResult) -> float:
    """Return the time of the calls with a candidate by their means, in nanoseconds: a run has slow calls, too."""
    return sum(
        placed.shares[standing.candidate, place] * standing.time_ns * find_mean(view, part, standing.candidate)
        for place, part in enumerate(placed.parts)
    )


def find_mean(view: CampaignView, part: mix.Part, candidate: str) -> float:
    """Return the mean of samples over the typical one, of the median launch; 1: not known.

    Slow calls of every launch count; a launch that something disturbed does not, as in the median of recorded runs.
    """
    keys = [case.key for case, _ in part.cases]
    shares = view.once("means of a program's calls", lambda: tabulate_means(view))
    known = shares.filter(pl.col("case").is_in(keys), candidate=candidate)["share"].mean()
    return known if isinstance(known, float) else 1.0


def tabulate_means(view: CampaignView) -> pl.DataFrame:
    """Return the mean of a launch's samples over the typical one, the median of launches, by case and candidate."""
    launch = ["case", "candidate", "launch"]
    typical = view.launch_values.filter(~pl.col("uncertain") & (pl.col("middle_ns") > 0)).select(*launch, "middle_ns")
    means = view.samples.filter(~pl.col("discarded")).group_by(launch).agg(pl.col("time_ns").mean())
    shares = means.join(typical.lazy(), on=launch).with_columns(share=pl.col("time_ns") / pl.col("middle_ns"))
    return shares.group_by("case", "candidate").agg(pl.col("share").median()).collect()


def predict_ratio(view: CampaignView, placed: Mix, standing: MixResult, rest_s: float) -> Interval:
    """Return the run time with a candidate over that with the best one: what is besides the calls is the same."""
    best = placed.standings[0]
    base_s, other_s = (add_means(view, placed, entry) / SECOND_NS for entry in (best, standing))
    ratio = standing.time_ns / best.time_ns
    ends = (other_s / base_s, *(other_s / base_s * end / ratio for end in (standing.low, standing.high)))
    return Interval(*((rest_s + base_s * end) / (rest_s + base_s) for end in ends))


def find_recorded_mpi(view: CampaignView, recorded: Recorded, candidate: str) -> Interval | None:
    """Return the time in MPI of the mean rank in the candidate's own runs; None: it was not recorded."""
    if run := view.records.get(candidate):
        times_s = run.runs_mpi_s or [sum_mpi(run)]
        return Interval(sum_mpi(run), min(times_s), max(times_s))
    return Interval(*[recorded.mpi_s] * 3) if candidate == find_own(view, recorded) else None


def find_measured(view: CampaignView, base: str, other: str) -> Interval | None:
    """Return the measured ratio of run times of the program; None: it was not measured with both."""
    cases = [case for case in view.campaign.cases if case.suite == OPERATION]
    if not cases:
        return None
    case = max(cases, key=lambda case: case.ranks)
    if base == other:
        return Interval(1.0, 1.0, 1.0) if (case.key, base) in view.summary_of else None
    ratio = view.comparisons.interval(case.key, base, other)
    return Interval(*ratio) if ratio else None


# --- in words ---------------------------------------------------------------------------------------------------------


def describe_answer(view: CampaignView, answer: ProgramAnswer) -> Iterator[Text]:
    """Say what the program spends in MPI, what of it no library changes, and what the calls mean for the run."""
    recorded = answer.recorded
    yield from describe_record(view, recorded)
    yield from describe_runs(view, answer)
    yield from describe_coverage(answer)
    if deciding := name_deciding(answer):
        yield say("Candidates differ most in {deciding}.", deciding=deciding)
    best = answer.calls.standings[0].candidate
    library = view.campaign.get_candidate(best).library
    yield say("Settings that may help: rankbench tune {library} --profile {file}.", library=library, file=recorded.file)


def describe_record(view: CampaignView, recorded: Recorded) -> Iterator[Text]:
    """Say what the program spends in MPI, and what of it no library changes."""
    yield say(
        "The program spent {share:.0%} of its time in MPI with {library}; {waiting:.0%} of that was waiting for later "
        "ranks, which no library changes.",
        share=recorded.mpi_s / recorded.seconds if recorded.seconds else 0.0,
        library=recorded.library,
        waiting=recorded.waiting_s / recorded.mpi_s,
    )
    if has_threads(recorded):
        yield say(
            "The times of threads that are in MPI at the same time are added up, so no run time is predicted. Measure "
            "the program itself."
        )
    elif recorded.thread_multiple:
        yield from describe_thread_level(view)
    if recorded.waiting_s > MOSTLY * recorded.mpi_s:
        yield say("Mostly waiting: look at how work is divided among ranks before the library.")
    if recorded.seconds < SHORT_S:
        yield say(
            "The recorded run took only {time:time}, to which connecting and first calls contribute: record one of "
            "{least:.0f} s or more.",
            time=recorded.seconds * SECOND_NS,
            least=SHORT_S,
        )


def describe_thread_level(view: CampaignView) -> Iterator[Text]:
    """Say what MPI_THREAD_MULTIPLE costs the program, which does not use it: in the first call that it makes slower."""
    costs = find_costs(view)
    slower = [cost for cost in costs if cost.ratio.sure]
    if not costs:
        yield say(ONE_THREAD)
        return
    if not slower:
        yield say(
            "One thread of each rank calls, and MPI is initialised with MPI_THREAD_MULTIPLE. That makes none of its "
            "calls significantly slower."
        )
        return
    keys = [case.key for case in view.campaign.cases]
    first = min((cost.case for cost in slower), key=lambda case: keys.index(case.key))
    yield say(
        "One thread of each rank calls, and MPI is initialised with MPI_THREAD_MULTIPLE. With it, {call} takes longer: "
        "{parts:,}.",
        call=name_case(next(cost.usual for cost in slower if cost.case == first), view.operation(first)),
        parts=[
            say("{ratio:ratio} ({low:bare}–{high:ratio}) with {name}", ratio=cost.ratio.ratio, low=cost.ratio.low,
                high=cost.ratio.high, name=cost.candidate)
            for cost in slower if cost.case == first
        ],
    )  # fmt: skip
    yield say(SERIALIZED)


def describe_runs(view: CampaignView, answer: ProgramAnswer) -> Iterator[Text]:
    """Say what follows for the run time of the program with each candidate but the best."""
    others = [(entry.candidate, entry.ratio) for entry in answer.predictions[1:] if entry.ratio]
    if answer.crowded and answer.predictions[1:]:
        yield say(
            "Ranks share cores: a call lasts until the system lets its partners run, so no run time is predicted. "
            "Measure the program itself, or as many ranks as cores."
        )
    if not others or not all(math.isfinite(ratio.high) for _, ratio in others):
        return
    within = view.campaign.plan.threshold
    if all(abs(ratio.high - 1) < within for _, ratio in others):
        yield say("For the whole program that is less than {within:.0%} between any of these.", within=within)
        return
    parts = [
        say("{name} {ratio:ratio} ({low:bare}–{high:ratio})", name=name, ratio=ratio.value, low=ratio.low,
            high=ratio.high)
        for name, ratio in others
    ]  # fmt: skip
    yield say("Predicted run time against {best}: {parts:,}.", best=answer.predictions[0].candidate, parts=parts)


def describe_coverage(answer: ProgramAnswer) -> Iterator[Text]:
    """Say which share of the time in MPI the measured calls stand for, and what the rest is."""
    recorded, placed = answer.recorded, answer.calls
    parts = [say("{what} ({share:.1%})", what=part.what, share=part.share) for part in recorded.uncovered]
    parts += [
        say(
            "{call}, which was not measured ({share:.1%})",
            call=mix.name_call(call),
            share=call.seconds / recorded.mpi_s,
        )
        for call in placed.missing
    ]
    uncovered = find_uncovered(recorded, placed)
    yield say(
        "The measured calls stand for {share:.0%} of the time in MPI; not covered: {parts:and}."
        if parts and uncovered > SMALL
        else "The measured calls stand for {share:.0%} of the time in MPI.",
        share=1 - uncovered,
        parts=parts,
    )


def describe_truth(view: CampaignView, answer: ProgramAnswer) -> Iterator[Text]:
    """Say where predictions agree with what was measured, and where they miss, with the likely reason."""
    measured = [entry for entry in answer.predictions[1:] if entry.measured and entry.ratio]
    missed = [entry for entry in measured if is_missed(view, entry)]
    right = [entry.candidate for entry in measured if entry not in missed]
    if right:
        yield say("The measured run times agree with those that the calls predict, for {names:and}.", names=right)
    for entry in missed:
        assert entry.measured
        assert entry.ratio
        yield say(
            "The prediction misses: {name} was measured with {ratio:ratio} ({low:bare}–{high:ratio}) the run time of "
            "{best}, predicted {predicted:ratio}. Likely: {reasons:or}.",
            name=entry.candidate,
            ratio=entry.measured.value,
            low=entry.measured.low,
            high=entry.measured.high,
            best=answer.predictions[0].candidate,
            predicted=entry.ratio.value,
            reasons=list_reasons(view, answer, too_much=entry.measured.value < entry.ratio.value),
        )
    for entry in answer.predictions:
        if entry.recorded and entry.time_misses:
            several = entry.recorded.low < entry.recorded.high
            yield say(
                "The time in MPI with {name} was recorded as {recorded:time} ({low:time} to {high:time}), predicted "
                "{predicted:time}. Likely: {reasons:or}."
                if several
                else "The time in MPI with {name} was recorded as {recorded:time}, predicted {predicted:time}. Likely: "
                "{reasons:or}.",
                name=entry.candidate,
                recorded=entry.recorded.value * SECOND_NS,
                low=entry.recorded.low * SECOND_NS,
                high=entry.recorded.high * SECOND_NS,
                predicted=entry.mpi_s.value * SECOND_NS,
                reasons=list_reasons(view, answer, too_much=entry.mpi_s.value > entry.recorded.value),
            )


def is_missed(view: CampaignView, entry: Prediction) -> bool:
    """Return whether a prediction misses by more than the plan's threshold."""
    assert entry.measured
    assert entry.ratio
    distance = abs(math.log(entry.measured.value / entry.ratio.value))
    return entry.ratio_misses and distance > math.log1p(view.campaign.plan.threshold)


def list_reasons(view: CampaignView, answer: ProgramAnswer, *, too_much: bool) -> list[Text]:
    """Return why the calls alone need more or less time than within the program, the likeliest first."""
    if answer.crowded:
        return [say("ranks that share cores")]
    short = answer.recorded.seconds < SHORT_S
    reasons = [say("connecting and first calls, in so short a run")] if short else []
    reasons += list_reasons_of_calls(view, answer, too_much=too_much)
    if not reasons and too_much:
        return [say("another state of the machine while the calls were measured")]
    return reasons or [say("ranks that were delayed by others on their cores")]


def list_reasons_of_calls(view: CampaignView, answer: ProgramAnswer, *, too_much: bool) -> list[Text]:
    """Return what in the calls can be the reason of a miss."""
    parts, uncovered = answer.calls.parts, find_uncovered(answer.recorded, answer.calls)
    possible = explain_longer(view, parts) if too_much else explain_shorter(parts)
    reasons = [reason for reason, chosen in possible if share_of(chosen, answer.recorded.mpi_s) > MUCH]
    if uncovered > FAR_OFF / 2:
        reasons.append(say("calls that are not covered ({share:.0%})", share=uncovered))
    return reasons


def explain_longer(view: CampaignView, parts: Sequence[mix.Part]) -> Iterator[tuple[Text, list[mix.Part]]]:
    """Yield why calls can take longer alone than within the program, and which."""
    pending = [part for part in parts if part.calls.form in PENDING]
    yield say("overlap: nonblocking calls proceed while the program computes"), pending
    unequal = [part for part in parts if not is_symmetric(view, part)]
    yield say("ranks that leave a call before the last one does, whose time is measured"), unequal


def explain_shorter(parts: Sequence[mix.Part]) -> Iterator[tuple[Text, list[mix.Part]]]:
    """Yield why calls can take less time alone than within the program, and which."""
    messages = [part for part in parts if part.calls.operation in {"pingpong", "sendrecv", *mix.MESSAGES}]
    if not any(part.calls.waiting_s for part in messages):
        yield say("imbalance: ranks wait for messages of partners that compute longer"), messages
    between = [part for part in parts if "gap_us" in part.calls.options]
    yield say("caches: the program's data take the place of the library's"), between
    pending = [part for part in parts if part.calls.form in PENDING]
    yield say("progress: nonblocking calls that proceed only within calls"), pending
    large = [part for part in parts if part.calls.size_bytes >= LARGE_BYTES]
    yield say("memory traffic: the program's data are not in the caches"), large


def share_of(parts: Sequence[mix.Part], total_s: float) -> float:
    """Return the share of the recorded time in MPI that these parts have."""
    return sum(part.calls.seconds for part in parts) / total_s


def name_deciding(answer: ProgramAnswer) -> Text | None:
    """Return the calls that decide: those in which the candidates differ most; None where one call is all."""
    parts = answer.calls.parts
    names = [standing.candidate for standing in answer.calls.standings]
    times = {standing.candidate: standing.time_ns for standing in answer.calls.standings}

    def spread(place: int) -> float:
        values = [answer.calls.shares[name, place] * times[name] for name in names]
        return max(values) - min(values)

    spreads = {place: spread(place) for place in range(len(parts))}
    order = sorted(spreads, key=lambda place: -spreads[place])[:DECIDING]
    total = sum(spreads.values())
    deciding = [answer.calls.names[place] for place in order if spreads[place] > LEAST_DECIDING * total]
    return list_parts(deciding) if len(parts) > 1 and deciding else None
