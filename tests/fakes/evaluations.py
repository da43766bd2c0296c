"""A small evaluated campaign of known content, made without measuring or computing: two candidates and an A/A twin.

`alpha` takes half the time of `beta` in 8-byte messages, the two are equal at 64 KiB, and `beta` crashes in the
nonblocking allreduce of that size.
"""

from __future__ import annotations

import msgspec
import polars as pl

from fakes import campaigns
from rankbench.analysis import statistics
from rankbench.analysis.questions.view import CampaignView
from rankbench.language import Text, say
from rankbench.model import (
    ALL_RANKS,
    Case,
    CaseStatus,
    CaseVerdict,
    Claim,
    Comparison,
    Finding,
    Launch,
    Summary,
    Verdict,
)

CANDIDATES = ("alpha", "beta", "alpha (again)")
BLOCKS = 4
SAMPLES = 50
CRASHED = "allreduce.nonblocking.65536.float.socket.window"
QUESTION = "Is alpha <faster> than beta?"


def make_evaluation(
    placements: tuple[str, ...] = ("socket",), starts: tuple[str, ...] = (), *, pairs: bool = False
) -> CampaignView:
    """Return the campaign with its launches, verdict and samples.

    Optionally with other starts of the blocking allreduce, and with a ping-pong from rank 1 to rank 0.
    """
    cases = [case for placement in placements for case in campaigns.make_cases(placement)]
    allreduces = [case for case in cases if (case.operation, case.form) == ("allreduce", "blocking")]
    cases += [msgspec.structs.replace(case, start=start) for start in starts for case in allreduces]
    cases += [msgspec.structs.replace(cases[0], options={"from": "1", "to": "0"})] if pairs else []
    record = campaigns.make_record("fake", cases, placements=placements, seed=7, samples=SAMPLES)
    record = msgspec.structs.replace(record, plan=msgspec.structs.replace(record.plan, question=QUESTION))
    launches = [make_launch(number, placements[0]) for number in range(BLOCKS * len(CANDIDATES))]
    counted = make_samples(cases)
    return CampaignView(
        campaign=record,
        launches=launches,
        verdict=make_verdict(cases),
        samples=counted,
        rank_samples=make_rank_samples(counted),
        launch_values=statistics.compute_launch_values(counted),
    )


def make_launch(number: int, placement: str) -> Launch:
    """Return a launch; those of beta crashed and left a log that could break a page without escaping."""
    candidate = CANDIDATES[number % 3]
    last = CaseStatus.CRASHED if candidate == "beta" else CaseStatus.OK
    record = campaigns.make_launch(number, number // 3, number % 3, candidate, placement, last)
    return msgspec.structs.replace(record, log="Segmentation fault </script> in rank 1" if candidate == "beta" else "")


def find_typical_ns(case: Case, candidate: str) -> float:
    """Return the true time of a case."""
    base = (500 + case.size_bytes / 4) * (0.4 if case.start == "none" and case.operation == "allreduce" else 1)
    return base * 2 if candidate == "beta" and case.size_bytes < 1024 else base


def has_values(case: Case, candidate: str) -> bool:
    """Return whether a candidate finishes a case."""
    return not (case.key == CRASHED and candidate == "beta")


def make_samples(cases: list[Case]) -> pl.LazyFrame:
    """Return samples in a saw-tooth above 0.9 of the true time; the first of each launch started late."""
    rows = [
        (
            number,
            number // 3,
            case.key,
            CANDIDATES[number % 3],
            find_typical_ns(case, CANDIDATES[number % 3]) * (0.9 + index / 250),
            index == 0,
        )
        for case in cases
        for number in range(BLOCKS * len(CANDIDATES))
        if has_values(case, CANDIDATES[number % 3])
        for index in range(SAMPLES)
    ]
    frame = pl.LazyFrame(rows, schema=["launch", "block", "case", "candidate", "time_ns", "discarded"], orient="row")
    alone = pl.col("case").str.contains("pingpong|bandwidth")
    return frame.with_columns(
        series=pl.when(alone).then(0).otherwise(ALL_RANKS),
        ranks=2,
        last_rank=pl.when(alone).then(0).otherwise(pl.int_range(pl.len()) % 4 // 3),
        skew_ns=pl.lit(20.0),
        bound_ns=pl.lit(0.0),
        error_ns=pl.lit(0.0),
        visit=pl.lit(0, pl.Int16),
        visit_hop_ns=pl.lit(0.0, pl.Float32),
        visit_position=pl.lit(-1, pl.Int8),
        visit_after=pl.lit(-1, pl.Int8),
    )


def make_rank_samples(samples: pl.LazyFrame) -> pl.LazyFrame:
    """Return the samples of two ranks: rank 0 needs the whole time, rank 1 begins 5 ns late and ends at half of it."""
    over_all = samples.filter(pl.col("series") == ALL_RANKS)
    parts = ((0, 1.0, 0.0), (1, 0.5, 5.0))
    return pl.concat(
        over_all.with_columns(series=rank, time_ns=pl.col("time_ns") * part, skew_ns=late) for rank, part, late in parts
    )


def make_summary(case: Case, candidate: str) -> Summary:
    """Return a summary around the true time."""
    true = find_typical_ns(case, candidate)
    return Summary(
        case=case.key,
        candidate=candidate,
        launches=BLOCKS,
        samples=BLOCKS * (SAMPLES - 1),
        late=BLOCKS,
        overrun=1,
        discarded=BLOCKS,
        typical_ns=true,
        low_ns=true * 0.98,
        high_ns=true * 1.02,
        coverage=0.95,
        launches_mean_ns=true,
        launches_min_ns=true * 0.97,
        launches_max_ns=true * 1.03,
        min_ns=true * 0.9,
        mean_ns=true,
        p10_ns=true * 0.92,
        p90_ns=true * 1.08,
        p99_ns=true * 1.09,
        max_ns=true * 50,
        skew_ns=20.0,
        skew_p90_ns=40.0,
        moved_bytes=64 * case.size_bytes if case.operation == "bandwidth" else case.size_bytes,
        moved_messages=64 if case.operation == "bandwidth" else 1,
    )


def make_comparison(case: Case, other: str) -> Comparison:
    """Return the comparison of a candidate with alpha."""
    ratio = find_typical_ns(case, other) / find_typical_ns(case, "alpha")
    return Comparison(
        case=case.key,
        base="alpha",
        other=other,
        blocks=BLOCKS,
        ratio=ratio,
        low=ratio * 0.98,
        high=ratio * 1.02,
        p_value=0.01,
        p_adjusted=0.02,
        different=ratio > 1,
    )


def make_case_verdict(case: Case) -> CaseVerdict:
    """Return the verdict of a case."""
    ranking = [name for name in CANDIDATES[:2] if has_values(case, name)]
    tied = len({find_typical_ns(case, name) for name in ranking}) == 1
    return CaseVerdict(
        case=case,
        ranking=ranking,
        winners=ranking if tied else ranking[:1],
        outcome="undecided" if tied else "faster",
        margin=1.0 if tied else 2.0,
        failures={} if len(ranking) == 2 else {"beta": say("crashed in 4 of 4 launches")},
    )


def make_verdict(cases: list[Case]) -> Verdict:
    """Return the verdict over all cases; one A/A comparison is a false alarm."""
    control = [make_comparison(case, "alpha (again)") for case in cases]
    alarm = msgspec.structs.replace(control[0], different=True)
    return Verdict(
        conclusion=[
            Claim(text=Text("Take alpha: it is fastest with small messages."), cases=[cases[0].key, cases[2].key]),
            Claim(text=Text("With 64 KiB the two are not distinguishable."), cases=[cases[1].key]),
        ],
        cases=[make_case_verdict(case) for case in cases],
        summaries=[make_summary(case, name) for case in cases for name in CANDIDATES if has_values(case, name)],
        comparisons=[make_comparison(case, "beta") for case in cases if has_values(case, "beta")],
        control=[alarm, *control[1:]],
        findings=[
            Finding(
                kind="crash",
                title=Text("beta crashes"),
                text=Text("In every launch, at 64 KiB."),
                advice=Text("Read the log below."),
                cases=[CRASHED],
                severity="failure",
            )
        ],
        blocks=BLOCKS,
    )
