"""A large evaluated campaign of known truth, made without measuring: lines x sizes x candidates x placements.

Times follow a line per operation; the fastest candidate changes with the size, and the last candidate is slow in
every third line. Samples are drawn at once, and summaries and comparisons are the truth, so that a hundred lines take
seconds.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import msgspec
import numpy as np
import polars as pl

import fakes
from fakes import campaigns
from rankbench.analysis import statistics
from rankbench.analysis.questions import case_labels
from rankbench.analysis.questions.view import CampaignView
from rankbench.language import Text
from rankbench.model import (
    ALL_RANKS,
    Case,
    CaseVerdict,
    Claim,
    Comparison,
    Finding,
    Form,
    Group,
    Launch,
    Summary,
    Verdict,
)
from rankbench.model.verdicts import Outcome

CANDIDATES = ("alpha", "beta", "gamma", "delta")
PLACEMENTS = ("socket", "spread", "nodes")
LEAST_RATIO = 1.03


def list_lines(count: int) -> list[tuple[str, Form]]:
    """Return so many operations in one form each, which all take a size and measure all ranks."""
    known = [
        operation
        for operation in fakes.read_description().operations
        if operation.sized and not operation.rings and not operation.once
    ]
    lines = [(operation.name, form) for operation in known for form in operation.forms]
    return lines[:count]


def make_cases(lines: int, sizes: int, placements: tuple[str, ...], ranks: int = 16) -> list[Case]:
    """Return the cases, placement by placement; sizes are powers of two from 8 B on."""
    bytes_ = [8 << number for number in range(sizes)]
    cases = (case for place in placements for case in campaigns.make_cases(place, list_lines(lines), bytes_))
    single = (campaigns.make_cases(place, [("barrier", "blocking")])[0] for place in placements)
    return [msgspec.structs.replace(case, ranks=ranks) for case in (*cases, *single)]


@dataclass
class Large:
    """The campaign before its evaluation."""

    lines: int = 100
    sizes: int = 24
    candidates: tuple[str, ...] = CANDIDATES
    placements: tuple[str, ...] = PLACEMENTS
    blocks: int = 6
    samples: int = 10

    @cached_property
    def cases(self) -> list[Case]:
        """All cases."""
        return make_cases(self.lines, self.sizes, self.placements)

    @cached_property
    def true_ns(self) -> np.ndarray:
        """The true time of each candidate (columns) in each case (rows)."""
        numbers = {
            name: number for number, name in enumerate(dict.fromkeys(map(case_labels.make_line_key, self.cases)))
        }
        line = np.array([numbers[case_labels.make_line_key(case)] for case in self.cases])[:, None]
        size = np.array([float(case.size_bytes) for case in self.cases])[:, None]
        candidate = np.arange(len(self.candidates))[None, :]
        latency = (400 + 37 * (line % 50)) * (1 + 0.2 * candidate)
        rate = 4 / (1 + 0.1 * (line % 7)) * (1 + 0.12 * candidate * (line % 5 > 0))
        slow = np.where((candidate == len(self.candidates) - 1) & (line % 3 == 0) & (size > 4096), 3.0, 1.0)
        return np.asarray((latency + size / rate) * slow)

    def draw(self) -> pl.DataFrame:
        """Return the samples of every launch: a gamma tail above 97% of the true time of the launch."""
        random = np.random.default_rng(1)
        shape = (len(self.cases), len(self.candidates), self.blocks, self.samples)
        launch = self.true_ns[:, :, None, None] * random.lognormal(0, 0.01, (*shape[:3], 1))
        time_ns = launch * (0.97 + random.gamma(2, 0.02, shape))
        case, candidate, block, _ = (axis.ravel() for axis in np.indices(shape, dtype=np.uint16))
        place = {name: number for number, name in enumerate(self.placements)}
        placed = np.array([place[case.placement] for case in self.cases], dtype=np.uint32)
        turn = (block.astype(np.uint32) * len(self.placements) + placed[case]) * len(self.candidates) + candidate
        return pl.DataFrame(
            {
                "launch": turn + 1,
                "block": block + 1,
                "case": pl.Series([case.key for case in self.cases]).gather(case),
                "candidate": pl.Series(self.candidates).gather(candidate),
                "time_ns": time_ns.ravel().round(1),
                "last_rank": random.integers(0, 16, time_ns.size, dtype=np.int32),
            }
        ).with_columns(
            discarded=pl.lit(False),
            series=pl.lit(ALL_RANKS, pl.Int32),
            ranks=pl.lit(16, pl.Int32),
            skew_ns=pl.lit(20.0),
            bound_ns=pl.lit(0.0),
            error_ns=pl.lit(0.0),
            visit=pl.lit(0, pl.Int16),
            visit_hop_ns=pl.lit(0.0, pl.Float32),
            visit_position=pl.lit(-1, pl.Int8),
            visit_after=pl.lit(-1, pl.Int8),
        )

    def make_launches(self) -> list[Launch]:
        """Return the launches: a block has one of each candidate at each placement."""
        turns = (
            (block, position, candidate, placement)
            for block in range(1, self.blocks + 1)
            for placement in self.placements
            for position, candidate in enumerate(self.candidates)
        )
        return [campaigns.make_launch(number, *turn) for number, turn in enumerate(turns, 1)]

    def make_summaries(self) -> Iterator[Summary]:
        """Yield the true summary of each candidate in each case."""
        for case, times in zip(self.cases, self.true_ns, strict=True):
            for name, true in zip(self.candidates, map(float, times), strict=True):
                yield Summary(
                    case=case.key,
                    candidate=name,
                    launches=self.blocks,
                    samples=self.blocks * self.samples,
                    late=0,
                    overrun=0,
                    typical_ns=true,
                    low_ns=true * 0.985,
                    high_ns=true * 1.02,
                    coverage=0.969,
                    launches_mean_ns=true,
                    launches_min_ns=true * 0.97,
                    launches_max_ns=true * 1.03,
                    min_ns=true * 0.95,
                    mean_ns=true * 1.01,
                    p10_ns=true * 0.97,
                    p90_ns=true * 1.05,
                    p99_ns=true * 1.12,
                    max_ns=true * 1.3,
                    moved_bytes=case.size_bytes,
                    moved_messages=1,
                )

    def make_comparisons(self) -> Iterator[Comparison]:
        """Yield the comparison of every two candidates in each case."""
        for case, times in zip(self.cases, self.true_ns, strict=True):
            for first in range(len(self.candidates)):
                for second in range(first + 1, len(self.candidates)):
                    ratio = float(times[second] / times[first])
                    different = not 1 / LEAST_RATIO <= ratio <= LEAST_RATIO
                    yield Comparison(
                        case=case.key,
                        base=self.candidates[first],
                        other=self.candidates[second],
                        blocks=self.blocks,
                        ratio=ratio,
                        low=ratio * 0.98,
                        high=ratio * 1.02,
                        p_value=0.001,
                        p_adjusted=0.002,
                        different=different,
                    )

    def make_verdicts(self) -> Iterator[CaseVerdict]:
        """Yield the verdict of each case."""
        for case, times in zip(self.cases, self.true_ns, strict=True):
            order = np.argsort(times)
            ranking = [self.candidates[number] for number in order]
            ratios = times[order] / times[order[0]]
            winners = [name for name, ratio in zip(ranking, ratios, strict=True) if ratio <= LEAST_RATIO]
            margin = float(ratios[len(winners)]) if len(winners) < len(ranking) else 1.0
            outcome: Outcome = "faster" if len(winners) == 1 else "undecided"
            yield CaseVerdict(case=case, ranking=ranking, winners=winners, outcome=outcome, margin=margin)

    def make_findings(self) -> list[Finding]:
        """Return one finding for every fifth line, of its middle case."""
        return [
            Finding(
                kind="slow",
                title=Text(f"{case.operation} is slow with {self.candidates[-1]}"),
                text=Text("It takes three times as long as the others from 8 KiB on."),
                advice=Text("Take another library for it."),
                cases=[case.key],
                severity="warning",
            )
            for case in self.cases[self.sizes // 2 :: 5 * self.sizes]
            if case.size_bytes
        ]

    def make_groups(self) -> list[Group]:
        """Return the lines in groups of seven, and the last ones alone."""
        lines: dict[str, list[str]] = {}
        for case in self.cases:
            lines.setdefault(case_labels.make_line_key(case), []).append(case.key)
        keys = list(lines)
        parts = [keys[first : first + 7] for first in range(0, len(keys) - 10, 7)]
        parts += [[key] for key in keys[sum(map(len, parts)) :]]
        return [
            Group(
                lines=part,
                title=Text(f"{part[0].split('.')[0]} and {len(part) - 1} like it" if len(part) > 1 else part[0]),
                text=Text("alpha is fastest with small messages, the others with large ones."),
                cases=lines[part[0]],
            )
            for part in parts
        ]

    def make_evaluation(self) -> CampaignView:
        """Return the evaluated campaign as if it had been measured."""
        samples = self.draw().lazy()
        record = campaigns.make_record("large", self.cases, self.candidates, self.placements, control=False)
        planned = msgspec.structs.replace(record.plan, question="Which library for this cluster?")
        keys = [case.key for case in self.cases]
        verdict = Verdict(
            conclusion=[
                Claim(text=Text("Take alpha: it is fastest with small messages."), cases=keys),
                Claim(text=Text("With large messages the others catch up."), cases=keys[-5:]),
            ],
            cases=list(self.make_verdicts()),
            summaries=list(self.make_summaries()),
            comparisons=list(self.make_comparisons()),
            control=[],
            findings=self.make_findings(),
            blocks=self.blocks,
            groups=self.make_groups(),
        )
        launch_values = statistics.compute_launch_values(samples)
        record = msgspec.structs.replace(record, plan=planned)
        return CampaignView(
            campaign=record,
            launches=self.make_launches(),
            verdict=verdict,
            samples=samples,
            rank_samples=samples.clear(),
            launch_values=launch_values,
        )
