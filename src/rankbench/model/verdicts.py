"""What the numbers say: summaries, comparisons, findings, the verdict."""

from __future__ import annotations

import math
from typing import Literal

import msgspec

from rankbench.language import NOTHING, Text
from rankbench.model.base import Record
from rankbench.model.plans import Case


class Summary(Record, frozen=True, omit_defaults=True):
    """A case of one candidate over all its launches.

    `typical_ns` is the median over launches of the figure that the plan's estimator makes of each launch, by default
    its median; `low_ns`..`high_ns` its interval, which has the stated `coverage`: the plan's confidence or more, unless
    a warning says that there were too few launches. Where no launch has figures the times are not a number; JSON, which
    has no such thing, leaves them out.
    """

    case: str
    candidate: str
    launches: int
    """Launches that count. With `doubt` there is none: the figures are those of the others, and not judged."""
    samples: int
    late: int
    overrun: int
    discarded: int = 0
    """Samples that were not used: late ones, and those that lasted too long where the start discards them."""
    typical_ns: float = math.nan
    low_ns: float = math.nan
    high_ns: float = math.nan
    coverage: float = 0.0
    launches_mean_ns: float = math.nan
    launches_min_ns: float = math.nan
    launches_max_ns: float = math.nan
    """Mean, least and largest of the launches' figures; of bandwidths and rates the time at their mean."""
    min_ns: float = math.nan
    mean_ns: float = math.nan
    trimmed_mean_ns: float = math.nan
    """Mean of what is left when a quarter of all samples is dropped at each end, as MPIPerf has it."""
    trimmed_low_ns: float = math.nan
    trimmed_high_ns: float = math.nan
    """Student's interval of it as MPIPerf has it: of a lone launch only, and nothing about the next one."""
    trimmed_samples: int = 0
    """Samples that are left."""
    trimmed_error_ns: float = math.nan
    """Standard error of that mean, of samples that are taken as independent."""
    trimmed_half_ns: float = math.nan
    """Half of Student's interval over the samples that are left, of all launches: MPIPerf's absolute error."""
    trimmed_min_ns: float = math.nan
    trimmed_max_ns: float = math.nan
    """Fastest and slowest sample that is left."""
    p10_ns: float = math.nan
    p90_ns: float = math.nan
    p99_ns: float = math.nan
    max_ns: float = math.nan
    skew_ns: float = math.nan
    """How far apart ranks began, as measured: median over launches of each launch's median."""
    skew_p90_ns: float = math.nan
    """The same of each launch's 90th percentile."""
    bound_ns: float = 0.0
    """How far two ranks' clocks may have differed at most: median over launches of each launch's median."""
    error_ns: float = 0.0
    """The same of how far they likely differed."""
    uncertain: int = 0
    """Launches that do not count, since clocks likely differed by too large a share of the time."""
    few: int = 0
    """Launches that do not count, since too few of their rounds do."""
    all_late: int = 0
    """Launches without figures since no round began in time on all ranks; `failures` has them as `refused`."""
    doubt: Text = NOTHING
    """Why the case is not judged for this candidate, though it has figures."""
    moved_bytes: int = 0
    moved_messages: int = 0
    """Payload and messages of one sample, of all ranks together; 0 where the core did not say it."""
    printed_bytes: int = 0
    """What a rank printed while calls were timed, in the launch in which it was most."""
    fallback: str = ""
    """What the library reported of an algorithm that it was set to use and did not."""
    pure_ns: float = math.nan
    compute_ns: float = math.nan
    overlap: float = math.nan
    """Of quantity `overlap`: the share of the communication alone that computation hid; medians over launches."""
    growth_bytes: float = 0.0
    """Of quantity `memory`, whose bytes stand in the place of times: what the first use added, median over launches."""
    failures: dict[str, int] = {}
    """Launches in which the case ended otherwise, by status."""
    elsewhere: str = ""
    """Where ranks sat that were asked to sit elsewhere, in the first launch that was not as asked."""
    warnings: list[Text] = []

    @property
    def left_out(self) -> int:
        """Launches that have figures and do not count."""
        return self.uncertain + self.few


class Level(Record, frozen=True, kw_only=True, omit_defaults=True):
    """Two candidates in one case, by their visits at one level of the reference: while cores were near, or far.

    Fields are those of `Comparison`; `blocks` are the blocks with such visits.
    """

    name: str
    """`near` or `far`."""
    blocks: int
    share: float
    """Of the visits at both levels."""
    ratio: float
    low: float
    high: float = math.inf
    p_value: float
    p_adjusted: float
    error: float = 0.0
    degrees: float = 1.0
    enough: bool = False
    """There are blocks enough to judge it."""
    different: bool = False
    alike: bool = False


class Comparison(Record, frozen=True, kw_only=True, omit_defaults=True):
    """Two candidates in one case, by the ratio of their times paired within blocks (above 1: `other` is slower).

    One block alone bounds nothing: `high` is infinite then, and JSON leaves it out.

    With `levels` the ratio is the mean over these, weighted by their shares of the visits; levels with fewer than three
    blocks count only where no level has more. The p-values are the larger ones of the levels.
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
    different: bool
    """One surely takes longer than the other, by more than the practical threshold."""
    alike: bool = False
    """The two surely differ by no more than the threshold. Neither: it is not known, shown as `~`."""
    levels: list[Level] = []
    """Results by level where the time to hand on a cache line has two levels. `different` and `alike` hold at all of
    these with three blocks or more, and `different` in the same direction."""

    def at(self, name: str) -> Comparison | None:
        """Return the comparison at one level: itself where it has no levels, nothing where it lacks this one.

        It keeps the number of blocks of the whole case, and has that level alone in `levels`.
        """
        level = next((level for level in self.levels if level.name == name), None)
        if level is None:
            return None if self.levels else self
        values = {field: getattr(level, field) for field in LEVEL_FIELDS}
        return msgspec.structs.replace(self, **values, levels=[level])

    @property
    def reverses(self) -> bool:
        """One of the two is surely faster at one level, and the other one at the other level."""
        return len({level.ratio > 1 for level in self.levels if level.different}) > 1


LEVEL_FIELDS = ("ratio", "low", "high", "p_value", "p_adjusted", "error", "degrees", "different", "alike")
"""Fields that a level and a comparison share, and that are of the level."""

Outcome = Literal["faster", "equivalent", "undecided", "depends"]


class CaseVerdict(Record, frozen=True):
    """Who is fastest in one case: all that nobody is surely faster than.

    The `outcome` is `faster` for one winner, `equivalent` for several that surely differ by no more than the practical
    threshold, and `undecided` where one of several may be slower. It is `depends` where the winners at the levels of
    the reference surely are not the same; `winners` are then those of either level.
    """

    case: Case
    ranking: list[str]
    """Candidates with figures, fastest typical value first."""
    winners: list[str]
    outcome: Outcome = "undecided"
    winners_by_level: dict[str, list[str]] = {}
    """Winners while cores were near and while they were far; one level only where the other was not met often enough,
    and empty where there are no levels."""
    outcome_by_level: dict[str, Outcome] = {}
    """What is known at each of these levels: `faster`, `equivalent` or `undecided`."""
    margins_by_level: dict[str, tuple[float, float, float]] = {}
    """The `margin` at each of these levels, `margin_low` and `margin_high`."""
    margin: float = 1.0
    """Time of the nearest candidate that is no winner over the fastest, paired within blocks; 1.0 if there is none."""
    margin_low: float = 0.0
    margin_high: float = 0.0
    """Interval of the smallest true ratio of a candidate that is no winner to the fastest, whichever it is; both 0
    where there is none."""
    failures: dict[str, Text] = {}
    """Why a candidate has no figure, by candidate."""

    @property
    def decided(self) -> bool:
        """There is one winner, or several that are equivalent: the same ones at all levels."""
        return self.outcome in {"faster", "equivalent"}

    @property
    def decided_at(self) -> list[str]:
        """Levels of the reference at which there is one winner, or several that are equivalent."""
        return [level for level, outcome in self.outcome_by_level.items() if outcome != "undecided"]

    @property
    def answered(self) -> bool:
        """The winners are known: the same ones at all levels, or at each level its own."""
        return self.decided or 0 < len(self.outcome_by_level) == len(self.decided_at)

    @property
    def differs(self) -> bool:
        """At one level something else is known than at the other: other winners, or more."""
        return self.outcome == "depends" or (self.outcome == "undecided" and bool(self.decided_at))

    @property
    def sign(self) -> str:
        """The sign between winners: `=` where they are equivalent, `~` where it is not known who is fastest."""
        return "=" if self.decided else "~"


class Span(Record, frozen=True, omit_defaults=True):
    """Neighbouring cases, along the sizes or the nodes, in which the same candidates win."""

    candidates: list[str]
    """These are among the winners of every case; a single one is the only winner of the cases not in `undecided`."""
    cases: list[str]
    """Keys, in ascending order of what grows."""
    undecided: list[str] = []
    """Keys of those of them in which others may be as fast."""


class Finding(Record, frozen=True):
    """Something worth showing. `kind` is the finding's file name; `cases` are keys of the cases it rests on."""

    kind: str
    title: Text
    text: Text
    advice: Text
    cases: list[str]
    severity: Literal["note", "warning", "failure"]
    plot: str = "curves"
    """File name of the plot that shows it best, of the first of the cases or of the line that this one is in."""
    spans: list[Span] = []
    """What the text says about who is fastest where."""


class Group(Record, frozen=True):
    """Lines (cases that differ in size only) whose curves have the same winners and the same shape."""

    lines: list[str]
    """Keys as `case_labels.make_line_key` returns them, with the placement; the representative first."""
    title: Text
    """Names the representative and how many are like it."""
    text: Text
    """What they have in common: who wins where, and how curves run."""
    cases: list[str]
    """Keys of the cases of the representative."""
    spans: list[Span] = []
    """What the text says about who is fastest where, of the representative."""


class Claim(Record, frozen=True):
    """One sentence or more of the conclusion with the keys of the cases that are its evidence."""

    text: Text
    cases: list[str]
    brief: bool = False
    """It belongs to the short answer that the terminal shows."""
    outcome: Outcome | None = None
    """The outcome that all its cases share, where the claim is about that."""


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
    groups: list[Group] = []
    """Largest first; lines that are like no other are groups of one."""
