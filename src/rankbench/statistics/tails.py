"""The right tail of a distribution of times: whether it is Pareto's, how heavy, and its effect on other statistics.

The method is that of Clauset, Shalizi and Newman ("Power-law distributions in empirical data", SIAM Review 51, 2009):
the tail begins where the Kolmogorov-Smirnov distance between samples and fit is least; its exponent is the maximum
likelihood one (Hill, Annals of Statistics 3, 1975), with the exact interval that its chi-squared distribution gives; it
is believed if of samples drawn from the fit, and fitted in the same way, a tenth or more are farther from theirs; if it
describes them better than an exponential tail (Vuong, Econometrica 57, 1989); and if a lognormal one, of which Pareto's
is the limit, describes them no better than chance allows (del Castillo and Puig, J. Am. Stat. Assoc. 94, 1999).

`alpha` is the exponent of the probability of more than x, x**-alpha: the mean exists above 1, the variance above 2.
"""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import scipy

from rankbench.language import NOTHING, Text, say
from rankbench.statistics import distributions
from rankbench.statistics.modes import estimate_dependence, find_clock_step

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Values = NDArray[np.float64]
    Fitted = Callable[[Values], Values]

FEWEST = 50
"""Samples of a tail, at least; of many, a fiftieth."""
MOST = 5000
"""Samples that are fitted; more are thinned evenly."""
ENOUGH = 1000
"""Samples that are kept however much they resemble their neighbours: the tail is then that of these launches."""
BEGINNINGS = 25
"""Places tried for the tail's beginning, from half of the samples to the fewest."""
DRAWS = 100
LEAST_P = 0.1
BETTER = 1.2815515655446004
"""Standard deviations by which it must be better than an exponential tail (one-sided, 10%)."""
CURVED = 2.70554345409542
"""Twice the gain in likelihood by which a lognormal tail is better: of true tails half gain nothing, 5% as much."""
LEAST_REACH = 2.0
"""The largest sample over the first of the tail, at least: over less every tail is a straight line."""
CHOSEN = 0.7
"""Since the samples choose where their tail begins, they report alpha as much as so large a part of them would."""
FINITE_VARIANCE = 2.0
NARROWEST = 15.0
"""Of lognormal tails the logarithm of the width, at most, above or below 0."""


class Tail(NamedTuple):
    """A Pareto tail as fitted, believed or not."""

    begins_ns: float
    alpha: float
    low: float
    high: float
    """The 95% interval of alpha."""
    samples: int
    """Of those that were fitted, how many the tail has."""
    share: float
    p_value: float
    """Share of draws from the fit that are farther from theirs than the samples are."""
    over_exponential: float
    over_lognormal: float
    """How much better than another tail it describes the samples, in standard deviations; below 0: worse."""
    reason: Text
    """Why it is not believed; empty where it fits."""

    @property
    def fits(self) -> bool:
        """Return whether the tail is believed to be Pareto's."""
        return not self.reason

    @property
    def text(self) -> Text:
        """Return it in words."""
        if not self.fits:
            return say("no Pareto tail: {reason}", reason=self.reason)
        return say(
            "Pareto tail, alpha {alpha:.2f} ({low:.2f} to {high:.2f}), {share:.2g}% of samples, p {p:.2f}",
            alpha=self.alpha,
            low=self.low,
            high=self.high,
            share=100 * self.share,
            p=self.p_value,
        )


class Spread(NamedTuple):
    """A standard deviation, or why there is none."""

    value_ns: float | None
    reason: Text = NOTHING


def fit_tail(times_ns: Values, seed: int = 0, draws: int = DRAWS) -> Tail | None:
    """Fit the tail of samples in the order of measurement; None where there are too few to say anything.

    Samples that resemble their neighbours in time are thinned first; readings of a clock are spread over its steps.
    """
    random = np.random.default_rng(seed)
    ordered = _prepare(times_ns, random)
    if len(ordered) < 2 * FEWEST or ordered[0] <= 0:
        return None
    count, alpha, distance = _best(ordered)
    tail = ordered[-count:]
    gains = [_pareto(tail, alpha) - other(tail) for other in (_exponential, _lognormal)]
    over = [_vuong(gain) for gain in gains]
    reason = _shape_reason(tail, over[0], -2 * float(gains[1].sum()))
    p_value = math.nan if reason else _goodness(ordered, count, alpha, distance, random, draws)
    if not reason and p_value < LEAST_P:
        reason = say("it does not describe the samples (p {p:.2f})", p=p_value)
    low, high = compute_interval(alpha, CHOSEN * count)
    return Tail(
        begins_ns=float(tail[0]),
        alpha=alpha,
        low=low,
        high=high,
        samples=count,
        share=count / len(ordered),
        p_value=p_value,
        over_exponential=over[0],
        over_lognormal=over[1],
        reason=reason,
    )


def compute_interval(alpha: float, count: float) -> tuple[float, float]:
    """Return the 95% interval of alpha, exact for a tail whose beginning is known: count / estimate is a gamma's."""
    low, high = distributions.chi2_ppf((0.025, 0.975), 2 * (count - 1)) / (2 * (count - 1))
    return alpha * float(low), alpha * float(high)


def standard_deviation(times_ns: Values, tail: Tail | None) -> Spread:
    """Return the standard deviation of samples, or none with the reason where their tail leaves it without meaning."""
    if tail and tail.fits and tail.low <= FINITE_VARIANCE:
        if tail.alpha <= FINITE_VARIANCE:
            why = say("none: with a Pareto tail of alpha {alpha:.2f} the variance does not exist", alpha=tail.alpha)
            return Spread(None, why)
        why = say("none: alpha may be as little as {low:.2f}, and below 2 the variance does not exist", low=tail.low)
        return Spread(None, why)
    if len(times_ns) < 2:
        return Spread(None, say("none: it takes two samples"))
    return Spread(float(np.std(times_ns, ddof=1)))


def _prepare(times_ns: Values, random: np.random.Generator) -> Values:
    if len(times_ns) < 2 * FEWEST:
        return times_ns
    spacing = min(estimate_dependence(times_ns), len(times_ns) / ENOUGH)
    stride = max(math.ceil(spacing - 0.5), math.ceil(len(times_ns) / MOST), 1)
    step = find_clock_step(times_ns)
    return np.sort((times_ns + random.uniform(-step / 2, step / 2, len(times_ns)))[::stride])


def fit_from(tail: Values) -> tuple[float, float]:
    """Return the distance and alpha of a tail in ascending order that begins with its first sample."""
    logs = np.log(tail[::-1])
    return _fit(logs, float(logs.sum()))


def _best(ordered: Values) -> tuple[int, float, float]:
    """Return the number of samples of the tail nearest to its fit, its alpha and its distance."""
    logs = np.log(ordered[::-1])
    sums = np.cumsum(logs)
    fits = [(*_fit(logs[:count], float(sums[count - 1])), count) for count in _beginnings(len(ordered))]
    distance, alpha, count = min(fits)
    return count, alpha, distance


def _is_farther(ordered: Values, distance: float, count: int) -> bool:
    """Return whether the nearest tail is so far from its fit, trying those of about `count` samples first."""
    logs = np.log(ordered[::-1])
    sums = np.cumsum(logs)
    tried = sorted(_beginnings(len(ordered)), key=lambda number: abs(number - count))
    return all(_fit(logs[:number], float(sums[number - 1]))[0] >= distance for number in tried)


@functools.lru_cache
def _beginnings(samples: int) -> list[int]:
    """Return the numbers of samples that a tail of so many is tried with."""
    fewest = max(FEWEST, samples // 50)
    return list(np.unique(np.geomspace(fewest, samples // 2, BEGINNINGS).astype(int)).tolist())


@functools.lru_cache(maxsize=2 * BEGINNINGS)
def _shares(count: int) -> Values:
    """Return the shares of samples above each of so many, and above none."""
    return np.arange(count + 1) / count


def _fit(logs: Values, total: float) -> tuple[float, float]:
    """Return the distance and alpha of a tail, of which the logarithms are given from the largest down."""
    count = len(logs)
    alpha = (count - 1) / max(total - count * logs[-1], 1e-12)
    beyond = logs - logs[-1]
    beyond *= -alpha
    np.exp(beyond, out=beyond)
    above = _shares(count)
    distance = max(np.maximum.reduce(above[1:] - beyond), np.maximum.reduce(beyond - above[:-1]))
    return float(distance), float(alpha)


def _goodness(
    ordered: Values, count: int, alpha: float, distance: float, random: np.random.Generator, draws: int
) -> float:
    """Return the share of draws from the fit, and of the samples below it, that are farther from their own fits."""
    body, begins = ordered[:-count], ordered[-count]
    farther = 0
    for _ in range(draws):
        drawn = int(random.binomial(len(ordered), count / len(ordered)))
        tail = begins * random.random(drawn) ** (-1 / alpha)
        below = random.choice(body, len(ordered) - drawn)
        farther += _is_farther(np.sort(np.concatenate([below, tail])), distance, count)
    return farther / draws


# --- against other tails --------------------------------------------------------------------------------------------


def _shape_reason(tail: Values, over_exponential: float, curve: float) -> Text:
    reach = float(tail[-1] / tail[0])
    if reach < LEAST_REACH:
        return say("it reaches only {reach:.1f} times as far as where it begins", reach=reach)
    if over_exponential < BETTER:
        return say("an exponential tail does as well")
    if curve > CURVED:
        return say("a lognormal tail does better")
    return NOTHING


def _vuong(gain: Values) -> float:
    """Return by how many standard deviations one likelihood is above another, given the difference of each sample."""
    spread = float(gain.std())
    return float(gain.sum() / (math.sqrt(len(gain)) * spread)) if spread > 0 else 0.0


def _pareto(tail: Values, alpha: float) -> Values:
    """Return the logarithm of each sample's density by Pareto's tail."""
    return np.asarray(math.log(alpha) - math.log(tail[0]) - (alpha + 1) * np.log(tail / tail[0]))


def _exponential(tail: Values) -> Values:
    """Return the logarithm of each sample's density by the likeliest exponential tail."""
    mean = max(float(np.mean(tail - tail[0])), 1e-12)
    return np.asarray(-math.log(mean) - (tail - tail[0]) / mean)


def _lognormal(tail: Values) -> Values:
    """Return the same by the likeliest lognormal distribution cut off at the first sample."""
    logs = np.log(tail) - math.log(tail[0])
    count, mean, variance = len(logs), float(logs.mean()), float(logs.var())

    def clip(width: float) -> float:
        return min(max(width, -NARROWEST), NARROWEST)

    def unlikely(of: Values) -> float:
        """Return less the sum of the logarithms of densities, of which mean and variance of `logs` show all."""
        middle, width = float(of[0]), clip(float(of[1]))
        apart = 0.5 * (variance + (mean - middle) ** 2) * math.exp(-2 * width)
        return count * (apart + width + float(distributions.normal_log_sf(-middle * math.exp(-width))))

    start = np.array([0.0, math.log(max(math.sqrt(variance + mean**2), 1e-9))])
    fit = scipy.optimize.minimize(unlikely, start, method="Nelder-Mead", options={"maxiter": 200})
    middle, width = float(fit.x[0]), clip(float(fit.x[1]))
    apart, beyond = (logs - middle) * math.exp(-width), distributions.normal_log_sf(-middle * math.exp(-width))
    density = -0.5 * apart**2 - width - 0.5 * math.log(2 * math.pi) - beyond
    return np.asarray(density - np.log(tail))
