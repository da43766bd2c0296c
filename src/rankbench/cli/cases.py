"""Cases in the terminal: their selection, and how their values are shown."""

from __future__ import annotations

from rich.text import Text

from rankbench.analysis.questions.view import CampaignView
from rankbench.model import Case, CaseVerdict, RankbenchError, Summary
from rankbench.model.verdicts import LEAST_COVERAGE, is_informative
from rankbench.plan import notation
from rankbench.quantities import format_size
from rankbench.report import tables
from rankbench.units import suggestion
from rankbench.workflows.option_values import parse_option

WIDE = 0.5
"""Relative width above which an interval is shown by both ends."""


def choose_cases(cases: list[Case], operations: str = "", forms: str = "", sizes: str = "") -> list[Case]:
    """Return the selected cases; texts have commas, and no text selects all.

    Raises RankbenchError for names that are not in the campaign.
    """
    names, types = divide(operations), divide(forms)
    sizes_bytes = parse_option("sizes", sizes, notation.parse_sizes, notation.SIZES_HELP)
    named = list(map(format_size, sizes_bytes or ()))
    check_measured("operations", names, [case.operation for case in cases])
    check_measured("forms", types, [case.form for case in cases])
    check_measured("sizes", named, [format_size(case.size_bytes) for case in cases])
    selection = [case for case in cases if case.operation in (names or [case.operation])]
    selection = [case for case in selection if case.form in (types or [case.form])]
    if cases and not selection:
        raise RankbenchError(f"{', '.join(names)} was not measured in the form {', '.join(types)}")
    selection = [case for case in selection if not named or format_size(case.size_bytes) in named]
    if cases and not selection:
        raise RankbenchError(f"{', '.join([*names, *types])} was not measured in the size {', '.join(named)}")
    return selection


def check_measured(what: str, wanted: list[str], measured: list[str]) -> None:
    """Raise RankbenchError for a wanted name that is not among the measured ones."""
    for name in set(wanted) - set(measured):
        similar = suggestion("" if what == "sizes" else name, dict.fromkeys(measured))  # Similar digits mean nothing.
        raise RankbenchError(f"--{what} {name}: not measured{similar}")


def divide(text: str) -> list[str]:
    """Return the names in a text with commas."""
    return [name.strip() for name in text.split(",") if name.strip()]


def describe_missing(view: CampaignView, verdict: CaseVerdict, summary: Summary | None) -> Text:
    """Return how a case without a value ended; a value that is not compared has a question mark."""
    if summary and summary.doubt:
        return Text(f"{view.measure(verdict.case).text(summary.typical_ns)} {tables.DOUBT}", "yellow")
    return Text((tables.describe_end(summary) if summary else "") or "not run", "red")


def format_half_width(summary: Summary, estimator: str, *, per_second: bool = False) -> str:
    """Return the interval relative to the typical value, ` ±1.2%`; empty: too few launches for one.

    An interval beyond 50% on either side is shown by its ends, ` -40/+230%`: half its width could exceed the value.
    """
    low, high = tables.interval(summary, estimator)
    typical_ns = summary.typical_ns
    if not typical_ns or (summary.coverage < LEAST_COVERAGE and (low, high) == (summary.low_ns, summary.high_ns)):
        return ""
    ends = (high, low) if per_second and low > 0 else (low, high)
    below, above = (typical_ns / end if per_second and low > 0 else end / typical_ns for end in ends)
    return format_spread(below, above, 50 * (high - low) / typical_ns)


def format_spread(below: float, above: float, percent: float) -> str:
    """Return half the width of an interval in percent, or its ends relative to the value; empty: it is too wide."""
    if below <= 0 or not is_informative(below, above):
        return ""
    if max(1 - below, above - 1) > WIDE:
        return f" -{max(0.0, 100 * (1 - below)):.0f}/+{100 * (above - 1):.0f}%"
    return f" ±{percent:.1f}%" if percent < 9.95 else f" ±{percent:3.0f}%"
