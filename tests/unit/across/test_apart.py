"""Changes of cases that one campaign met near and the other far only."""

from __future__ import annotations

import math
from collections.abc import Sequence

import polars as pl
from wording import WORDING

from rankbench.across import gate
from rankbench.across.two_campaigns import Change, _name_states, list_sentences
from rankbench.analysis.statistics.references import Levels
from rankbench.analysis.statistics.unpaired_levels import compare_at_levels
from rankbench.language import NOTHING, render
from rankbench.model import Comparison, Level
from rankbench.report.then_and_now import describe_change, describe_ratio

AT = Levels(100.0, 300.0, 150.0, 250.0)


def make_values(candidate: str, hop_ns: float, time_ns: Sequence[float]) -> pl.DataFrame:
    """Return launches with one visit each, all at the same distance of cores."""
    rows = [
        {"case": "c", "candidate": candidate, "launch": at, "figure_ns": float(time), "visit_ns": [float(time)],
         "visit_hop_ns": [hop_ns]}
        for at, time in enumerate(time_ns)
    ]  # fmt: skip
    return pl.DataFrame(rows)


def make_change(ratio: float, apart: str) -> Change:
    return Change(
        case="c", title="bcast 8 B", old="dev", new="dev", old_launches=5, new_launches=5, old_ns=503, new_ns=180,
        ratio=ratio, low=0.0, high=math.inf, p_value=1, p_adjusted=1, different=False, apart=apart,
    )  # fmt: skip


def test_campaigns_without_a_common_state_are_known_as_such() -> None:
    far = make_values("dev", 300.0, [503, 500, 505, 501, 502])
    near = make_values("dev", 100.0, [180, 181, 179, 180, 180])
    ((overall, at),) = compare_at_levels(far, near, [("dev", "dev")], 0.03, levels={"c": AT})
    assert at == {}
    assert _name_states(far, near, overall, AT) == "far then, near now"
    assert _name_states(near, far, overall, AT) == "near then, far now"


def test_such_a_case_is_not_comparable_and_in_no_mean() -> None:
    change = make_change(0.35, "far then, near now")
    assert describe_ratio(change) == ("not comparable", "cores far then, near now", "")
    assert describe_change(change, None, None, {}) == WORDING
    assert [render(text) for text in list_sentences([change], 0.03)] == WORDING
    texts = [render(text) for text in list_sentences([change, make_change(1.0, "")], 0.03)]
    assert texts[1] == WORDING


def test_an_undecided_case_of_two_levels_has_the_ratio_of_each() -> None:
    """The mean over both would look decided: what is undecided is whether one is slower at both."""
    levels = [
        Level(name=name, blocks=5, share=0.5, ratio=ratio, low=low, high=high, enough=True, p_value=0.4, p_adjusted=0.4)
        for name, ratio, low, high in (("near", 0.96, 0.9, 1.03), ("far", 1.34, 1.24, 1.45))
    ]
    comparison = Comparison(
        case="c", base="a", other="b", blocks=9, ratio=1.15, low=1.1, high=1.2, p_value=0.4, p_adjusted=0.4,
        different=False, levels=levels,
    )  # fmt: skip
    ruling = gate.rule_as_tables(comparison, gate.Ratio(1.15, 1.1, 1.2, 0.4, enough=True, memory=False), 0.03, NOTHING)
    assert (ruling.outcome, render(ruling.text)) == ("skipped", WORDING)
