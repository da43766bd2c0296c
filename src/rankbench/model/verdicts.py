"""Results of an evaluation: summaries, comparisons, findings, the verdict."""

from __future__ import annotations

import math
from typing import Literal

import msgspec

from rankbench.language import NOTHING, Text
from rankbench.model.base import Record
from rankbench.model.launches import CaseStatus
from rankbench.model.plans import Case

LEAST_COVERAGE = 0.9
"""Intervals that cover with less, which are those of few launches, say nothing and are not shown."""
WIDEST = 10.0
"""Nor do those whose ends are farther apart than by this factor."""


def is_informative(low: float, high: float, coverage: float = 1.0) -> bool:
    """Return whether an interval says something, so that it is shown."""
    return coverage >= LEAST_COVERAGE and high <= WIDEST * low


class LevelValue(Record, frozen=True, omit_defaults=True):
    """The value of one candidate in one case at one level of the reference; fields are as in `Summary`."""

    name: str
    """`near` or `far`."""
    launches: int
    """Launches with visits at this level."""
    typical_ns: float
    low_ns: float
    high_ns: float
    coverage: float


class Summary(Record, frozen=True, omit_defaults=True):
    """A case of one candidate, over all its launches.

    `typical_ns` is the median over launches of the plan's estimator, by default the median of each launch, moved by the
    least amount with which it agrees with the comparisons (`statistics.values`). `low_ns`..`high_ns` is its interval
    with the stated `coverage`: the plan's confidence or more, unless a warning says that there were too few launches.
    Times are NaN if no launch has a value; JSON omits them.

    With `levels` the value is their mean on a logarithmic scale, by their shares of the visits.
    """

    case: str
    candidate: str
    launches: int
    """Launches that count. With `doubt` there are none: values are those of the others, and are not compared."""
    samples: int
    late: int
    overrun: int
    discarded: int = 0
    """Discarded samples: late ones, and those that exceed their window if the start discards them."""
    typical_ns: float = math.nan
    low_ns: float = math.nan
    high_ns: float = math.nan
    coverage: float = 0.0
    levels: list[LevelValue] = []
    """Values by level, if the time to hand on a cache line has two levels and the comparisons are of each."""
    launches_mean_ns: float = math.nan
    launches_min_ns: float = math.nan
    launches_max_ns: float = math.nan
    """Mean, smallest and largest value over launches; of bandwidths and rates the time at their mean."""
    launches_rse: float = math.nan
    """Relative standard error of that mean: the launches' standard deviation over the root of their number and the
    mean; of bandwidths and rates that of their mean. NaN for a lone launch."""
    min_ns: float = math.nan
    mean_ns: float = math.nan
    trimmed_mean_ns: float = math.nan
    """Mean of the samples without a quarter at each end, as in MPIPerf."""
    trimmed_low_ns: float = math.nan
    trimmed_high_ns: float = math.nan
    """Student's interval of it, as in MPIPerf: of a single launch only; it says nothing about the next one."""
    trimmed_samples: int = 0
    """Samples after trimming."""
    trimmed_error_ns: float = math.nan
    """Standard error of that mean, if samples were independent."""
    trimmed_half_ns: float = math.nan
    """Half of Student's interval over the trimmed samples of all launches: MPIPerf's absolute error."""
    trimmed_min_ns: float = math.nan
    trimmed_max_ns: float = math.nan
    """Fastest and slowest trimmed sample."""
    p10_ns: float = math.nan
    p90_ns: float = math.nan
    p99_ns: float = math.nan
    max_ns: float = math.nan
    skew_ns: float = math.nan
    """How far apart ranks began, as measured: median over launches of each launch's median."""
    skew_p90_ns: float = math.nan
    """The median over launches of each launch's 90th percentile."""
    bound_ns: float = 0.0
    """Upper bound of the error of the clocks: median over launches of each launch's median."""
    error_ns: float = 0.0
    """Estimated error of the clocks (95%), in the same way."""
    uncertain: int = 0
    """Launches that do not count: the estimated error of the clocks is too large a share of the time."""
    few: int = 0
    """Launches that do not count: too few of their rounds do, or their ranks waited for a CPU."""
    dropped: int = 0
    """Launches that do not count and whose times, as the core estimated them, differ from those that do; 0: none."""
    dropped_ratio: float = 1.0
    """The median of these estimates over that of the others."""
    all_late: int = 0
    """Launches without values, because no round began in time on all ranks; `failures` has them as `refused`."""
    doubt: Text = NOTHING
    """Why the candidate is not compared in this case, although it has values."""
    moved_bytes: int = 0
    moved_messages: int = 0
    """Payload and messages of one sample, sums over ranks; 0: unknown."""
    printed_bytes: int = 0
    """Bytes that a rank printed while calls were timed, maximum over launches."""
    fallback: str = ""
    """The library's message about an algorithm that it was set to use and did not use."""
    rounding: float = 0.0
    """How far the value's logarithm may be from the truth since a tool printed it rounded; it is in the interval."""
    pure_ns: float = math.nan
    compute_ns: float = math.nan
    overlap: float = math.nan
    """Of quantity `overlap`: the share of the communication that the computation hides; medians over launches."""
    growth_bytes: float = 0.0
    """Of quantity `memory`, where times are bytes: growth by the first use, median over launches."""
    failures: dict[str, int] = {}
    """Number of launches in which the case failed, by status."""
    elsewhere: str = ""
    """Where ranks ran in the first launch with the wrong placement."""
    why_failed: str = ""
    """Why the case failed in the first launch in which it did."""
    warnings: list[Text] = []

    @property
    def reasons(self) -> dict[str, str]:
        """Return what a status alone does not say, by status."""
        reasons = {CaseStatus.NOT_AS_ASKED: self.elsewhere, CaseStatus.FAILED: self.why_failed}
        return {status: reason for status, reason in reasons.items() if reason}

    @property
    def left_out(self) -> int:
        """Launches that have values and do not count."""
        return self.uncertain + self.few

    @property
    def has_interval(self) -> bool:
        """The interval of the typical value says something and is shown."""
        return is_informative(self.low_ns, self.high_ns, self.coverage)

    def at(self, name: str) -> Summary | None:
        """Return the summary with the value of one level: itself for no level, None if it has no value at this one."""
        if not name:
            return self
        level = next((level for level in self.levels if level.name == name), None)
        if level is None:
            return None
        values = {field: getattr(level, field) for field in VALUE_FIELDS}
        return msgspec.structs.replace(self, **values, levels=[level])

    def list_levels(self) -> list[Summary]:
        """Return the summary at each level, as tables show them; itself where there are none."""
        return [at for level in self.levels if (at := self.at(level.name))] or [self]


VALUE_FIELDS = ("launches", "typical_ns", "low_ns", "high_ns", "coverage")
"""Fields that a summary at one level takes from the level."""


class Level(Record, frozen=True, kw_only=True, omit_defaults=True):
    """Two candidates in one case at one level of the reference, `near` or `far`.

    Fields are as in `Comparison`; `blocks` are those with visits at this level.
    """

    name: str
    """`near` or `far`."""
    blocks: int
    share: float
    """Its share of the visits at both levels."""
    ratio: float
    low: float
    high: float = math.inf
    p_value: float
    p_adjusted: float
    error: float = 0.0
    degrees: float = 1.0
    rounding: float = 0.0
    enough: bool = False
    """There are enough blocks to compare."""
    different: bool = False
    alike: bool = False


class Comparison(Record, frozen=True, kw_only=True, omit_defaults=True):
    """Two candidates in one case, by the ratio of their times paired within blocks (above 1: `other` is slower).

    With one block there is no upper bound: `high` is infinite, and JSON omits it.

    With `levels` the ratio is their mean, weighted by their shares of the visits; levels with fewer than three blocks
    count only if no level has more. The p-values are the largest of the levels.
    """

    case: str
    base: str
    other: str
    blocks: int
    ratio: float
    low: float
    high: float = math.inf
    p_value: float
    p_adjusted: float
    """Adjusted over all comparisons of the campaign (Benjamini and Hochberg, 1995)."""
    error: float = 0.0
    """Standard error of the ratio's logarithm."""
    degrees: float = 1.0
    """Degrees of freedom of that error."""
    rounding: float = 0.0
    """How far the ratio's logarithm may be from the truth besides, since tools printed the values rounded."""
    different: bool
    """The two differ significantly, by more than the practical threshold."""
    alike: bool = False
    """The two are equivalent within the threshold. Neither `different` nor `alike`: undecided, shown as `~`."""
    levels: list[Level] = []
    """Results by level, if the time to hand on a cache line has two levels. `different` and `alike` hold at all levels
    with three blocks or more, `different` in the same direction."""

    def at(self, name: str) -> Comparison | None:
        """Return the comparison at one level: itself if it has no levels, None if it lacks this one.

        It keeps the number of blocks of the case; `levels` has this level only.
        """
        level = next((level for level in self.levels if level.name == name), None)
        if level is None:
            return None if self.levels else self
        values = {field: getattr(level, field) for field in LEVEL_FIELDS}
        return msgspec.structs.replace(self, **values, levels=[level])

    @property
    def is_rounded(self) -> bool:
        """It is undecided, and most of its interval comes from the rounding of printed values."""
        resolved = self.different or self.alike
        return self.rounding > 0 and not resolved and self.ratio * math.exp(2 * self.rounding) > self.high

    @property
    def shown_levels(self) -> list[Level]:
        """The levels, where each has blocks enough to be judged by itself; else none."""
        return self.levels if sum(level.enough for level in self.levels) > 1 else []

    @property
    def reverses(self) -> bool:
        """One is significantly faster at one level, the other at the other level."""
        return len({level.ratio > 1 for level in self.levels if level.different}) > 1


LEVEL_FIELDS = ("ratio", "low", "high", "p_value", "p_adjusted", "error", "degrees", "rounding", "different", "alike")
"""Fields that a comparison at one level takes from the level."""

Outcome = Literal["faster", "equivalent", "undecided", "depends", "only"]


class CaseVerdict(Record, frozen=True):
    """Which candidates are fastest in one case: those that no other one is significantly faster than.

    The `outcome` is `faster` for one winner, `equivalent` for several within the practical threshold, and `undecided`
    if one of several may be slower. It is `depends` if the winners at the two levels of the reference significantly
    differ; `winners` are then those of either level. It is `only` if a single candidate has a value.
    """

    case: Case
    ranking: list[str]
    """Candidates with values, fastest typical value first."""
    winners: list[str]
    outcome: Outcome = "undecided"
    winners_by_level: dict[str, list[str]] = {}
    """Winners at the near and at the far level; only one level if the other has too few visits; empty without
    levels."""
    outcome_by_level: dict[str, Outcome] = {}
    """The outcome at each of these levels."""
    margins_by_level: dict[str, tuple[float, float, float]] = {}
    """The `margin` at each of these levels, `margin_low` and `margin_high`."""
    margin: float = 1.0
    """Time of the nearest candidate that is no winner over the fastest, paired within blocks; 1.0 if there is none."""
    margin_low: float | None = None
    margin_high: float | None = None
    """Interval of the smallest true ratio of a losing candidate to the fastest; none where nothing was estimated."""
    failures: dict[str, Text] = {}
    """Why a candidate has no value, by candidate."""

    @property
    def decided(self) -> bool:
        """There is one winner, or several equivalent ones, the same at all levels."""
        return self.outcome in {"faster", "equivalent", "only"}

    @property
    def decided_at(self) -> list[str]:
        """Levels of the reference at which there is one winner, or several equivalent ones."""
        return [level for level, outcome in self.outcome_by_level.items() if outcome != "undecided"]

    @property
    def answered(self) -> bool:
        """The winners are known, the same at all levels or different ones at each."""
        return self.decided or 0 < len(self.outcome_by_level) == len(self.decided_at)

    @property
    def differs(self) -> bool:
        """The levels have different winners, or different outcomes."""
        return self.outcome == "depends" or (self.outcome == "undecided" and bool(self.decided_at))

    @property
    def sign(self) -> str:
        """The sign between winners: `=` if they are equivalent, `~` if undecided."""
        return "=" if self.decided else "~"

    def at(self, name: str) -> CaseVerdict:
        """Return the verdict at one level, itself for no level; a level with too few visits has no winners."""
        if not name:
            return self
        margin, low, high = self.margins_by_level.get(name, (1.0, None, None))
        return msgspec.structs.replace(
            self,
            winners=self.winners_by_level.get(name, []),
            outcome=self.outcome_by_level.get(name, "undecided"),
            winners_by_level={},
            outcome_by_level={},
            margins_by_level={},
            margin=margin,
            margin_low=low,
            margin_high=high,
        )


class Span(Record, frozen=True, omit_defaults=True):
    """Neighbouring cases, along the sizes or the nodes, in which the same candidates win."""

    candidates: list[str]
    """Winners of every case; a single one is the only winner of the cases that are not in `undecided`."""
    cases: list[str]
    """Keys, in ascending order of size or nodes."""
    undecided: list[str] = []
    """Keys of those cases in which others may be as fast."""


GRAVEST_FIRST = ("failure", "warning", "note")
"""Severities of findings."""


class Finding(Record, frozen=True):
    """A finding. `kind` is its file name; `cases` are the keys of its evidence."""

    kind: str
    title: Text
    text: Text
    advice: Text
    cases: list[str]
    severity: Literal["note", "warning", "failure"]
    plot: str = "curves"
    """File name of the plot that shows it best, for the first case or its line."""
    spans: list[Span] = []
    """The winners by size or nodes that the text states."""
    cells: list[list[Text]] = []
    """What the text states, as rows of cells with the heads first."""


class Group(Record, frozen=True):
    """Lines (cases that differ in size only) of which the same can be stated."""

    lines: list[str]
    """Keys as `case_labels.make_line_key` returns them, with the placement; the representative first."""
    title: Text
    """Names the representative and the number of similar lines."""
    text: Text
    """What they have in common: winners by size, and the shape of the curves."""
    cases: list[str]
    """Keys of the cases of the representative."""
    spans: list[Span] = []
    """The winners by size that the text states, of the representative."""
    kind: Literal["alike", "single", "noisy"] = "alike"
    """`alike`: their curves have the same winners and the same shape; `single`: they have one or two sizes, and no
    curve; `noisy`: launches scatter so much that their curves cannot be compared."""


class Claim(Record, frozen=True):
    """One or more sentences of the conclusion, with the keys of the cases that are their evidence."""

    text: Text
    cases: list[str]
    brief: bool = False
    """It belongs to the short answer in the terminal."""
    outcome: Outcome | None = None
    """The outcome that all its cases share, if the claim is about it."""
    warns: bool = False
    """It warns of the candidate in the claim before, and stands wherever that does."""


class AloneComparison(Record, frozen=True, kw_only=True):
    """Two candidates in one case whose ratio differs between launches alone and launches in turns."""

    case: str
    base: str
    other: str
    alone: float
    """Time of `other` over time of `base`, each launched alone."""
    in_turns: float
    """The same while the other candidates' processes wait."""
    change: float
    """The first over the second, with its interval."""
    low: float
    high: float

    def agrees(self, threshold: float) -> bool:
        """Return whether the same candidate is slower both ways, by more than the threshold; alone by all of its
        interval.
        """
        slower = min(self.in_turns, self.in_turns * self.low) > 1 + threshold
        return slower or max(self.in_turns, self.in_turns * self.high) < 1 / (1 + threshold)


class Verdict(Record, frozen=True):
    """The answer to a campaign's question."""

    conclusion: list[Claim]
    cases: list[CaseVerdict]
    summaries: list[Summary]
    comparisons: list[Comparison]
    control: list[Comparison]
    """The A/A comparisons: base and its twin; every `different` among them is a false alarm."""
    findings: list[Finding]
    blocks: int
    alone: list[AloneComparison] = []
    """Pairs and cases that are not decided, since they compare differently alone."""
    groups: list[Group] = []
    """Largest first; a line without similar ones is a group of its own."""
