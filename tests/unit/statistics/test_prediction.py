"""Predictions: the interval of one new value, and how often it errs over many series."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy

from rankbench.analysis.statistics.prediction import predict


def test_the_interval_is_that_of_one_new_value() -> None:
    """With fewer series than moderation needs it is Student's interval."""
    past = np.array([0.0, 0.02, -0.02, 0.01, -0.01, 0.03, -0.03, 0.0])
    (prediction,) = predict([past], np.array([0.1]), 0.05)
    half = scipy.stats.t.isf(0.025, 7) * past.std(ddof=1) * math.sqrt(1 + 1 / 8)
    assert prediction.past == 8
    assert prediction.ratio == pytest.approx(math.exp(0.1))
    assert (prediction.low, prediction.high) == pytest.approx((math.exp(0.1 - half), math.exp(0.1 + half)))
    error = past.std(ddof=1) * math.sqrt(1 + 1 / 8)
    assert prediction.p_adjusted == pytest.approx(scipy.stats.t.sf((0.1 - math.log(1.05)) / error, 7))


def test_without_series_there_are_no_predictions() -> None:
    assert predict([], np.array([]), 0.05) == []


@pytest.mark.thorough
def test_unchanged_nights_rarely_fail_and_large_changes_are_found() -> None:
    """43 series that scatter by 2% a day; one is 20% slower in the new night."""
    random = np.random.default_rng(3)
    alarms = hits = 0
    for _ in range(200):
        days = random.normal(0, 0.02, (15, 43))
        days[-1, 0] += math.log(1.2)
        results = predict(list(days[:-1].T), days[-1], 0.03)
        alarms += any(prediction.p_adjusted <= 0.05 for prediction in results[1:])
        hits += results[0].p_adjusted <= 0.05
    assert alarms <= 20
    assert hits >= 190


def test_p_values_are_adjusted_over_series() -> None:
    past = [np.linspace(-0.02, 0.02, 8)] * 5
    alone = predict(past[:1], np.array([0.12]), 0.05)[0]
    among = predict(past, np.array([0.12, 0, 0, 0, 0]), 0.05)[0]
    assert among.p_adjusted == pytest.approx(5 * alone.p_adjusted)
