"""The modes of a distribution of times: how many humps it has that are no accident, where, and how heavy each is.

What is claimed is claimed with a level that holds for every shape. Between two samples of the ordered ones lie others;
if the density falls there, or is level, they lie at least as far to the left as uniform ones would. Where many lie in
the right part of such an interval, the density rises within it. All intervals of a multiscale set are tried, in both
directions, and the least weighted p-value is compared with its distribution in a uniform sample, which bounds all false
claims at once, whatever the density (Dümbgen and Walther, "Multiscale inference about a density", Annals of Statistics
36, 2008; the set of intervals follows Rufibach and Walther, J. Comp. Graph. Stat. 19, 2010). A fall followed by a rise
is a valley, and a valley makes two modes: of 100 one-humped samples at most 5 are called two-humped.

Readings of a clock with steps are spread by a normal distribution of three quarters of a step, which turns the humps of
single steps into one. Samples that resemble their neighbours in time are thinned until they hardly do. Beyond what is
certain, a mode must matter: hold a share of the samples, and be divided from its neighbour by a valley that is deep.
"""

from __future__ import annotations

import bisect
import functools
import itertools
import math
from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np
import polars as pl
import scipy
from numpy.typing import NDArray

from rankbench.analysis.statistics import distributions
from rankbench.analysis.statistics.parts import divide_by_launch
from rankbench.language import Text, say

Values = NDArray[np.float64]

FEWEST = 60
"""Minimum of samples (after thinning) for further modes."""
MOST = 12_000
"""Maximum of samples for the test; more are thinned evenly. Shares and locations use all."""
STRETCH = 20_000
LEAST_SHARE = 0.005
DEEPEST = 0.75
"""Density in the valley over that of the lower of its two peaks, at most."""
NEAREST = 1.04
"""Ratio of two neighbouring modes, at least."""
FEW = 150
SHORTEST = 6
"""Spacings of the shortest intervals tried."""
PARTS = (0.5, 0.4, 0.3, 0.2, 0.1)
"""The end parts of an interval in which more than their share may lie."""
SPREAD_OF_STEP = 0.75
SAME_STEP_NS = 2.0
ENOUGH = 300
"""Samples that are looked at where hardly any are independent."""
MOST_OF_IT = 0.8
LEAST_DEPENDENCE = 0.1
ORDINALS = ("second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth")


class Mode(NamedTuple):
    """One hump."""

    name: Text
    """For people: `main`, or `second at 2.0×, 3.0% of samples`."""
    location_ns: float
    share: float
    ratio: float
    """Its place over the main mode's."""
    low_ns: float
    high_ns: float
    """The samples that belong to it: from the valley (or the first sample) to the next (or the last)."""
    depth: float
    """Density in the valley towards the main mode over that of the lower of both peaks; the main one has none (nan)."""


class Pattern(NamedTuple):
    """How the samples of a mode follow each other in time."""

    kind: Literal["even", "bursts", "scattered", "few", "whole", "stays"]
    """At even distances, in bursts, scattered, too few to show; or whole launches, or long stretches of them."""
    number: float = math.nan
    """Of even ones the distance, of bursts their mean length, in samples."""

    @property
    def text(self) -> Text:
        """Return it in words: `every 64th sample`, `in bursts of 14.0`, `scattered`."""
        if self.kind == "even":
            return say("every {n:ordinal} sample", n=int(self.number))
        return {
            "bursts": say("in bursts of {n:.1f}", n=self.number),
            "scattered": say("scattered"),
            "few": say("too few to show how they follow each other"),
            "whole": say("as whole launches"),
            "stays": say("in long stretches"),
        }[self.kind]


class Repeated(NamedTuple):
    """A mode of samples of several launches: whether it comes again, and how its samples follow each other."""

    mode: Mode
    launches: int
    """Launches looked at."""
    appearances: int
    """Those in which it holds at least a quarter of its usual share."""
    pattern: Pattern

    @property
    def repeats(self) -> bool:
        """Return whether it comes among others in several launches, and in half of them or more."""
        return (
            self.appearances >= 2
            and 2 * self.appearances >= self.launches
            and self.pattern.kind not in {"whole", "stays"}
        )

    @property
    def text(self) -> Text:
        """Return it in words: `second at 2.0×, 3% of samples, in 5 of 5 launches, scattered`."""
        texts = (
            [say("in {seen} of {n:count launch}", seen=self.appearances, n=self.launches)] if self.launches > 1 else []
        )
        return say("{parts:,}", parts=[self.mode.name, *texts, self.pattern.text])


def find_launch_modes(launches: Sequence[Values]) -> list[Repeated]:
    """Return the modes of the samples of several launches, in the order of measurement; the main one first.

    Launches differ in level, and a mode may be no more than some of them: `pattern` says so. Where levels blur what is
    within launches, so that one hump alone is left, each launch is scaled to the median that is usual of them. Humps
    between which samples change so seldom that no certain mode is left are reported as long stretches.
    """
    series = [times for times in launches if len(times) and np.median(times) > 0]
    if not series:
        return []
    step, random = find_clock_step(np.concatenate(series)), np.random.default_rng(0)
    blurred = [times + _blur(times, step, random) for times in series]
    middles = np.array([np.median(times) for times in series])
    scaled = [times * (np.median(middles) / middle) for times, middle in zip(blurred, middles, strict=True)]
    level = np.concatenate(scaled)
    stride = estimate_dependence(level)
    pooled = np.concatenate(blurred)
    for times, parts in ((pooled, blurred), (level, scaled)):
        if len(modes := _find(times, stride)) > 1:
            return [_describe_repetition(mode, parts) for mode in modes]
    seldom = max(1.0, len(pooled) / ENOUGH)
    if seldom < stride and len(modes := _find(pooled, seldom)) > 1:
        return [_describe_repetition(mode, blurred)._replace(pattern=Pattern("stays")) for mode in modes]
    return [_describe_repetition(mode, blurred) for mode in modes]


def find_group_modes(samples: pl.LazyFrame, key: Sequence[str]) -> dict[tuple[str, ...], list[Repeated]]:
    """Return the modes of each group of a store's samples that count, by the values of its key columns.

    Of each launch the first samples show, STRETCH of them at most: they follow each other, as bursts need it.
    """
    counted = samples.filter(~pl.col("discarded"))
    first = pl.col("time_ns").head(STRETCH)
    stretches = [part.group_by(*key, "launch").agg(first).collect() for part in divide_by_launch(counted)]
    launches = pl.concat(stretches).sort(*key, "launch")
    return {
        tuple(map(str, name)): find_launch_modes([times.to_numpy() for times in part["time_ns"]])
        for name, part in launches.partition_by(list(key), as_dict=True, maintain_order=True).items()
    }


def find_modes(times_ns: Values) -> list[Mode]:
    """Return the modes of samples in the order of measurement, the main one first, the others by their share."""
    if not len(times_ns):
        return []
    return _find(
        times_ns + _blur(times_ns, find_clock_step(times_ns), np.random.default_rng(0)), estimate_dependence(times_ns)
    )


# --- readings and their dependence ----------------------------------------------------------------------------------


def find_clock_step(times_ns: Values) -> float:
    """Return the step of the clock as seen in the bulk of its readings; where readings are fine, next to nothing."""
    low, high = np.quantile(times_ns, (0.05, 0.75))
    inside = np.unique(times_ns[(times_ns >= low) & (times_ns <= high)])
    gaps = np.diff(inside)
    if len(gaps) < 4:
        gaps = np.diff(np.unique(times_ns))
        wide = gaps[gaps > SAME_STEP_NS]
        return float(wide.min() if len(wide) else gaps.min()) if len(gaps) else 0.0
    return float(np.quantile(gaps, 0.8, method="lower"))


def _blur(times_ns: Values, step: float, random: np.random.Generator) -> Values:
    return random.normal(0, SPREAD_OF_STEP * step, len(times_ns))


def estimate_dependence(times: Values) -> float:
    """Return the integrated autocorrelation time of samples, 1 if no correlation is significant.

    The largest of three: of the ranks, and of being among the slowest tenth and the slowest thirtieth, since slow
    samples may come in bursts where the others do not.
    """
    if len(times) < FEWEST:
        return 1.0
    part = times[: 1 << 16]
    ranks = distributions.ranks(part)
    indicators = [ranks, *((ranks > share * len(part)).astype(float) for share in (0.9, 0.97))]
    return max(_integrate(values) for values in indicators)


def _integrate(values: Values) -> float:
    """Return 1 + 2 times the sum of autocorrelations up to five times itself (Sokal's window), if that is proved."""
    count = len(values)
    centred = values - values.mean()
    # Zeros behind the samples keep lags of up to half of them from wrapping around; a power of two is fast.
    power = np.abs(np.fft.rfft(centred, 1 << math.ceil(math.log2(1.5 * count)))) ** 2
    covariance = np.fft.irfft(power)[: count // 2]
    if covariance[0] <= 0:
        return 1.0
    sums = 2 * np.cumsum(covariance / covariance[0]) - 1
    window = int(np.argmax(np.arange(len(sums)) >= 5 * sums)) or len(sums) - 1
    time = float(sums[window])
    return time if time > 1 + max(LEAST_DEPENDENCE, 3 * math.sqrt(2 * (2 * window + 1) / count)) else 1.0


def _thin(times: Values, spacing: float) -> Values:
    """Return, in ascending order, samples that hardly depend on each other, and not too many."""
    stride = max(math.ceil(spacing - 0.5), math.ceil(len(times) / MOST))
    return np.sort(times[::stride])


# --- where the density rises and falls ------------------------------------------------------------------------------


class _Family(NamedTuple):
    """Intervals that are tried, as places of their ends among the ordered samples, and what of them is too much."""

    low: NDArray[np.int64]
    high: NDArray[np.int64]
    weight: Values
    """The logarithm of what p-values are multiplied by: how many intervals there are of the length."""


@functools.lru_cache
def _families(count: int) -> tuple[_Family, _Family]:
    """Return the intervals everywhere, the longer the farther apart; and those that end near the largest sample."""
    shortest = max(SHORTEST, int(LEAST_SHARE * count / 2))
    everywhere = []
    for power in range(2 * int(math.log2(count / shortest)) + 1):
        length = int(shortest * math.sqrt(2) ** power)
        low = np.arange(0, count - length, max(1, length // 6))
        everywhere.append(_Family(low, low + length, np.full(len(low), math.log(max(len(low), 1)))))
    depths = np.unique(np.geomspace(SHORTEST, count / 5, int(6 * math.log(count))).astype(np.int64))
    left_out = np.unique(np.append(np.geomspace(1, count / 25 + 1, int(math.log(count))), 0).astype(np.int64))
    pairs = np.array(
        [(count - 1 - depth, count - 1 - out) for depth in depths for out in left_out if depth - out >= SHORTEST]
    )
    joined = _Family(*(np.concatenate(parts) for parts in zip(*everywhere, strict=True)))
    return joined, _Family(pairs[:, 0], pairs[:, 1], np.zeros(len(pairs)))


class Trend(NamedTuple):
    """An interval of ordered samples in which the density rises (or falls); `inner` bounds its dense part."""

    low: int
    inner: int
    high: int


def _log_p(ordered: Values, family: _Family) -> tuple[Values, NDArray[np.int64]]:
    """Return of each interval the logarithm of the p-value of too many samples on its right, and where these begin."""
    low, high = ordered[family.low], ordered[family.high]
    inside = family.high - family.low - 1
    logs, inner = np.zeros(len(low)), family.low.copy()
    for part in PARTS:
        first = np.searchsorted(ordered, high - part * (high - low), side="right")
        values = family.high - first
        # An exact p-value is computed for unusual values only.
        odd = np.flatnonzero(values - part * inside > 2 * np.sqrt(part * (1 - part) * inside))
        with np.errstate(divide="ignore"):
            exact = np.log(scipy.special.bdtrc(values[odd] - 1, inside[odd], part)) + family.weight[odd]
        better = exact < logs[odd]
        logs[odd[better]], inner[odd[better]] = exact[better], first[odd[better]]
    return logs, inner


def find_rises(ordered: Values) -> list[Trend]:
    """Return the intervals in which the density rises for certain."""
    families, limits = _families(len(ordered)), critical_log_p(len(ordered))
    return [trend for family, limit in zip(families, limits, strict=True) for trend in _certain(ordered, family, limit)]


def find_falls(ordered: Values) -> list[Trend]:
    """Return the intervals in which the density falls for certain."""
    last = len(ordered) - 1
    risen = _certain(-ordered[::-1], _families(len(ordered))[0], critical_log_p(len(ordered))[0])
    return [Trend(last - trend.high, last - trend.inner, last - trend.low) for trend in risen]


def _certain(ordered: Values, family: _Family, limit: float) -> list[Trend]:
    values, inner = _log_p(ordered, family)
    sure = values <= limit
    return list(map(Trend, family.low[sure].tolist(), inner[sure].tolist(), family.high[sure].tolist()))


CRITICAL = {
    60: (-5.61, -5.90),
    100: (-6.30, -6.65),
    200: (-6.51, -7.40),
    400: (-6.89, -7.74),
    1000: (-6.99, -8.34),
    3000: (-7.41, -8.53),
    12_000: (-7.60, -9.10),
}
"""By number of samples: of both families, what a uniform sample falls below in 2 and in 3 of 100 draws."""


def least_log_p(ordered: Values) -> tuple[float, float]:
    """Return of both families the least weighted p-value, as a logarithm: what CRITICAL has quantiles of."""
    everywhere, ending = (float(_log_p(ordered, family)[0].min()) for family in _families(len(ordered)))
    return everywhere, ending


def critical_log_p(count: int) -> tuple[float, float]:
    """Return the critical values for so many samples, interpolated between those that were drawn."""
    known = np.log(list(CRITICAL))
    everywhere, ending = (
        float(np.interp(math.log(count), known, values)) for values in zip(*CRITICAL.values(), strict=True)
    )
    return everywhere, ending


def find_valleys(ordered: Values) -> list[tuple[Trend, Trend]]:
    """Return each fall of the density that is followed by a rise, as many after one another as there are.

    The two may share what is between them, but neither may reach into the dense part of the other. Then one of them
    must be wrong in a one-humped distribution, wherever its hump is: if between them, the one on its lower side.
    """
    down, up = (
        sorted(find_falls(ordered), key=lambda fall: fall.high),
        sorted(find_rises(ordered), key=lambda rise: rise.inner),
    )
    pairs: list[tuple[Trend, Trend]] = []
    while pair := _first_valley(down, up):
        pairs.append(pair)
        down = [trend for trend in down if trend.low >= pair[1].inner]
    return pairs


def _innermost(best: Trend, other: Trend) -> Trend:
    return min(best, other, key=lambda trend: trend.inner)


def _first_valley(down: list[Trend], up: list[Trend]) -> tuple[Trend, Trend] | None:
    highs = [trend.high for trend in down]
    nearest: list[Trend] = list(itertools.accumulate(down, _innermost))
    for rise in up:
        before = bisect.bisect_right(highs, rise.inner)
        if before and nearest[before - 1].inner <= rise.low:
            return nearest[before - 1], rise
    return None


# --- modes ----------------------------------------------------------------------------------------------------------


def _find(times: Values, stride: float) -> list[Mode]:
    thinned = _thin(times, stride)
    ordered = np.sort(times)
    pairs = find_valleys(thinned) if len(thinned) >= FEWEST else []
    return _modes(ordered, [_bottom(ordered, thinned, *pair) for pair in pairs])


def _bottom(ordered: Values, thinned: Values, fall: Trend, rise: Trend) -> float:
    """Return where, between the densest places of a fall and of a rise, the fewest samples lie."""
    low_end, high_end = (
        _densest(thinned[fall.low : fall.inner + 1])[0],
        _densest(thinned[rise.inner : rise.high + 1])[0],
    )
    width = (high_end - low_end) / 8
    centres = np.linspace(low_end + width / 2, high_end - width / 2, 57)
    counts = _within(ordered, centres - width / 2, centres + width / 2)
    # Where nothing lies anywhere near, the middle of that is the bottom.
    least = np.flatnonzero(counts == counts.min())
    runs = np.split(least, np.flatnonzero(np.diff(least) > 1) + 1)
    return float(np.mean(centres[max(runs, key=len)]))


def _densest(ordered: Values) -> tuple[float, float]:
    """Return the middle sample of the densest interval with a fifth of them, and what half would take at that density.

    Of few samples it holds half of them, so that it does not rest on two or three.
    """
    half = max(len(ordered) // 5, min(len(ordered) // 2, FEW), 1)
    scale = len(ordered) / 2 / half
    widths = ordered[half:] - ordered[: len(ordered) - half]
    at = int(np.argmin(widths)) if len(widths) else 0
    return float(np.median(ordered[at : at + half + 1])), scale * float(widths[at]) if len(widths) else 0.0


def _within(ordered: Values, low: Values, high: Values) -> NDArray[np.int64]:
    return np.searchsorted(ordered, high, side="right") - np.searchsorted(ordered, low, side="left")


class _Hump(NamedTuple):
    """The samples between two valleys."""

    low: float
    high: float
    size: int
    location: float
    density: float


def _modes(ordered: Values, bottoms: list[float]) -> list[Mode]:
    """Return the modes between valleys, without valleys beside a mode that is too light, too near or too similar."""
    cuts = list(bottoms)
    while True:
        humps = _humps(ordered, cuts)
        depths = [_depth(ordered, cut, *humps[at : at + 2]) for at, cut in enumerate(cuts)]
        poor = [at for at, depth in enumerate(depths) if not _matters(depth, humps[at], humps[at + 1], len(ordered))]
        if not poor:
            return _name_modes(humps, depths, len(ordered))
        del cuts[max(poor, key=lambda at: depths[at])]


def _humps(ordered: Values, cuts: list[float]) -> list[_Hump]:
    places = [0, *np.searchsorted(ordered, cuts).tolist(), len(ordered)]
    ends = [float(ordered[0]), *cuts, float(ordered[-1])]
    humps = []
    for at in range(len(cuts) + 1):
        values = ordered[places[at] : places[at + 1]]
        if not len(values):
            humps.append(_Hump(ends[at], ends[at + 1], 0, ends[at], 0.0))
            continue
        location, width = _densest(values)
        humps.append(_Hump(ends[at], ends[at + 1], len(values), location, len(values) / 2 / max(width, 1e-9)))
    return humps


def _depth(ordered: Values, cut: float, lower_hump: _Hump, upper_hump: _Hump) -> float:
    """Return the density around a valley's bottom over that of the lower of its two peaks."""
    width = (upper_hump.location - lower_hump.location) / 8
    inside = float(_within(ordered, np.array([cut - width / 2]), np.array([cut + width / 2]))[0])
    lower = min(lower_hump.density, upper_hump.density)
    return inside / max(width, 1e-9) / lower if lower else math.inf


def _matters(depth: float, lower_hump: _Hump, upper_hump: _Hump, count: int) -> bool:
    heavy = min(lower_hump.size, upper_hump.size) >= LEAST_SHARE * count
    return heavy and depth <= DEEPEST and upper_hump.location >= NEAREST * lower_hump.location


def _name_modes(humps: list[_Hump], depths: list[float], count: int) -> list[Mode]:
    by_share = sorted(range(len(humps)), key=lambda at: -humps[at].size)
    main = by_share[0]
    modes = []
    for order, at in enumerate(by_share):
        hump = humps[at]
        share, ratio = hump.size / count, hump.location / (humps[main].location or 1.0)
        name = say("main") if at == main else _further(order, ratio, share)
        depth = math.nan if at == main else depths[at if at < main else at - 1]
        modes.append(Mode(name, hump.location, share, ratio, hump.low, hump.high, depth))
    return modes


def _further(order: int, ratio: float, share: float) -> Text:
    """Return the name of a mode that is not the main one."""
    which = ORDINALS[min(order, len(ORDINALS)) - 1]
    digits, of_share = 2 if 0.5 < ratio < 1.5 else 1 if ratio < 9.95 else 0, 0 if share >= 0.0995 else 1
    return say(
        f"{{which}} at {{ratio:.{digits}f}}×, {{percent:.{of_share}f}}% of samples",
        which=which,
        ratio=ratio,
        percent=100 * share,
    )


# --- over launches --------------------------------------------------------------------------------------------------


def _describe_repetition(mode: Mode, launches: list[Values]) -> Repeated:
    members = [(times >= mode.low_ns) & (times <= mode.high_ns) for times in launches]
    shares = np.array([member.mean() for member in members])
    appearances = int(np.count_nonzero((shares >= mode.share / 4) & (shares > 0)))
    gathered = sum(int(member.sum()) for member, share in zip(members, shares, strict=True) if share >= MOST_OF_IT)
    makes_launches = len(launches) > 1 and gathered >= MOST_OF_IT * sum(int(member.sum()) for member in members)
    return Repeated(mode, len(launches), appearances, Pattern("whole") if makes_launches else classify_pattern(members))


def classify_pattern(members: Sequence[NDArray[np.bool_]]) -> Pattern:
    """Return how the samples of a mode follow each other in time: at even distances, in bursts, or scattered.

    Even: half or more of the gaps between them are one and the same. Bursts: the numbers in stretches in which four are
    expected vary more than by chance (index of dispersion, Cox and Lewis, 1966).
    """
    places = [np.flatnonzero(member) for member in members]
    gaps = np.concatenate([np.diff(place) for place in places]) if places else np.array([], dtype=np.int64)
    if len(gaps) < 4:
        return Pattern("few")
    values, counts = np.unique(gaps, return_counts=True)
    if counts.max() >= len(gaps) / 2 and values[counts.argmax()] > 1:
        return Pattern("even", int(values[counts.argmax()]))
    if _dispersed(members):
        runs = sum(int(np.count_nonzero(np.diff(np.concatenate([[0], member])) == 1)) for member in members)
        return Pattern("bursts", sum(map(len, places)) / max(runs, 1))
    return Pattern("scattered")


def _dispersed(members: Sequence[NDArray[np.bool_]]) -> bool:
    """Return whether numbers in stretches vary more than those of a binomial distribution, within their launches."""
    squares, degrees = 0.0, 0
    for member in members:
        share = float(member.mean())
        length = math.ceil(4 / share) if share else len(member) + 1
        stretches = len(member) // length
        if stretches >= 2 and share < 1:
            counts = member[: stretches * length].reshape(stretches, length).sum(axis=1)
            squares += float(((counts - counts.mean()) ** 2).sum() / (length * share * (1 - share)))
            degrees += stretches - 1
    return degrees > 0 and squares > 1.5 * degrees and bool(distributions.chi2_sf(squares, degrees) < 0.001)
