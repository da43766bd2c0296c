"""The table of what a tuning changed: a library as tuned against the same library by default, where rules apply."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import polars as pl

from rankbench.analysis.questions.view import CampaignView
from rankbench.language import render, say
from rankbench.model import Candidate, Case, Comparison
from rankbench.quantities import format_ratio
from rankbench.report.tables import Cell, Table, outcome_legend

TITLE = "Default against tuned"
SHORT = "Tuned"
HELP = "What a tuning changed: which variant a library uses where, and what that gains."
FLAG = "tuned"
ORDER = 15
UNASKED = "campaign"
ABSENT = (
    'no candidate is a library as tuned beside the same library by default; see candidates = ["mpich", "mpich tuned"]'
)
MEANING = (
    "A ratio is the time as tuned over the time by default, paired within blocks, with its interval. The variant is "
    "the algorithm, with parameters, that the settings select; where there is none, the choice is the library's own."
)


class Pair(NamedTuple):
    """A library by default and as tuned."""

    default: str
    tuned: Candidate


class Change(NamedTuple):
    """A case in which the settings select a variant, or whose time they change all the same."""

    case: Case
    variant: str
    comparison: Comparison


def tables(view: CampaignView) -> list[Table]:
    """Return a table for each pair: a row for each case that a rule is for, or that differs without one."""
    return [pair_table(view, pair) for pair in list_pairs(view)]


def frame(view: CampaignView) -> pl.DataFrame:
    """Return one row per pair and case, with an empty variant where the choice is the library's own."""
    rows = [
        {
            "case": change.case.key,
            "default": pair.default,
            "tuned": pair.tuned.name,
            "variant": change.variant,
            "ratio": change.comparison.ratio,
            "low": change.comparison.low,
            "high": change.comparison.high,
        }
        for pair in list_pairs(view)
        for change in list_cases(view, pair)
    ]
    return pl.DataFrame(rows, infer_schema_length=None)


def list_pairs(view: CampaignView) -> list[Pair]:
    """Return each candidate with rules beside a candidate of the same library without settings."""
    shown = [candidate for candidate in view.campaign.candidates if candidate.name in view.candidates]
    return [
        Pair(default.name, tuned)
        for tuned in shown
        for default in shown
        if tuned.rules and default.library == tuned.library and not default.settings and not default.control_of
    ]


def list_cases(view: CampaignView, pair: Pair) -> Iterator[Change]:
    """Yield each case that both have values of."""
    for case in view.cases:
        if comparison := view.comparisons.find(case.key, pair.default, pair.tuned.name):
            rule = next((rule for rule in pair.tuned.rules if rule.covers(case)), None)
            yield Change(case, rule.variant.name if rule else "", comparison)


def pair_table(view: CampaignView, pair: Pair) -> Table:
    """Return the table of a pair, with counts of all cases in its caption."""
    changes = list(list_cases(view, pair))
    default = "own choice"
    rows = [
        [
            Cell(change.case.operation, case=change.case.key),
            Cell(str(change.case.ranks)),
            Cell(view.size_text(change.case)),
            Cell(change.variant or default),
            Cell(format_ratio(change.comparison.ratio), best=is_faster(change.comparison)),
            Cell(format_interval(change.comparison)),
            Cell(name_outcome(change.comparison)),
        ]
        for change in changes
        if change.variant or change.comparison.different
    ]
    caption = render(
        say(
            "{tuned} against {default}: faster in {faster}, slower in {slower}, equivalent in "
            "{alike} of {n:count case} "
            "({legend})",
            tuned=pair.tuned.name,
            default=pair.default,
            faster=sum(is_faster(change.comparison) for change in changes),
            slower=sum(change.comparison.different and change.comparison.ratio > 1 for change in changes),
            alike=sum(change.comparison.alike for change in changes),
            n=len(changes),
            legend=outcome_legend(view),
        )
    )
    columns = ("operation", "ranks", "size", "variant", "tuned / default", "interval", "as tuned")
    return Table(caption, [render(say(column)) for column in columns], rows)


def format_interval(comparison: Comparison) -> str:
    """Return the interval, which too few blocks leave open."""
    if not math.isfinite(comparison.high):
        return "not known: too few blocks"
    return f"{format_ratio(comparison.low)} to {format_ratio(comparison.high)}"


def is_faster(comparison: Comparison) -> bool:
    """Return whether the tuned library is significantly faster by more than the threshold."""
    return comparison.different and comparison.ratio < 1


def name_outcome(comparison: Comparison) -> str:
    """Return the outcome of a comparison in a word or sign."""
    if comparison.different:
        return "faster" if comparison.ratio < 1 else "slower"
    return "=" if comparison.alike else "~"
