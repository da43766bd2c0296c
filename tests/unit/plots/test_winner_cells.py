"""Cells of the winner map: halves for near and far cores, signs, colours, words and totals."""

from __future__ import annotations

import dataclasses
from typing import Any

import msgspec
import pytest
from fakes import campaigns, evaluations
from wording import WORDING

from rankbench.model import CaseVerdict
from rankbench.plots import winner_cells
from rankbench.plots.kinds import winner_map

LETTERS = {"alpha": "A", "beta": "B", "gamma": "G"}
CASE = campaigns.make_cases()[0]


def make_verdict(winners: list[str], outcome: str = "faster", **levels: tuple[list[str], str, float]) -> CaseVerdict:
    """Return a verdict; `levels` have winners, outcome and ratio each."""
    return msgspec.convert(
        {
            "case": msgspec.to_builtins(CASE),
            "ranking": list(LETTERS),
            "winners": winners,
            "outcome": outcome,
            "margin": 1.5 if outcome == "faster" else 1.0,
            "winners_by_level": {name: names for name, (names, _, _) in levels.items()},
            "outcome_by_level": {name: of_level for name, (_, of_level, _) in levels.items()},
            "margins_by_level": {name: [ratio, 1.0, 2.0] for name, (_, _, ratio) in levels.items()},
        },
        CaseVerdict,
    )


@pytest.mark.parametrize(
    ("verdict", "marks"),
    [
        (make_verdict(["alpha"]), ["A"]),
        (make_verdict(["alpha", "beta"], "equivalent"), ["A=B"]),
        (make_verdict(["beta", "alpha"], "undecided"), ["B~A"]),
        (make_verdict(list(LETTERS), "undecided"), ["~"]),
        (make_verdict([], "undecided"), ["!"]),
        (
            make_verdict(
                ["beta", "alpha"], "depends", near=(["beta"], "faster", 1.2), far=(["alpha", "beta"], "undecided", 1)
            ),
            ["B", "A~B"],
        ),
        (make_verdict(["alpha"], near=(["alpha"], "faster", 1.5)), ["A"]),
        (make_verdict(["alpha"], near=(["alpha"], "faster", 1.2), far=(["alpha"], "faster", 2)), ["A"]),
    ],
)
def test_a_cell_is_divided_where_near_and_far_differ(verdict: CaseVerdict, marks: list[str]) -> None:
    halves = winner_cells.list_halves(verdict)
    assert [half.write(LETTERS) for half in halves] == marks
    assert winner_cells.describe_cell(verdict) == WORDING


def test_totals_count_cases_that_one_candidate_wins_at_all_levels() -> None:
    split = make_verdict(["beta", "alpha"], "depends", near=(["beta"], "faster", 2), far=(["alpha"], "faster", 2))
    verdicts = [make_verdict(["alpha"]), make_verdict(["beta"]), make_verdict(["beta"]), split]
    assert winner_cells.count_wins([*verdicts, make_verdict(["alpha", "beta"], "equivalent")], LETTERS) == "B 2, A 1"


def test_each_half_has_its_own_colour_and_only_undecided_ones_are_grey() -> None:
    far = (["alpha", "beta"], "undecided", 1)
    sets = draw_map([
        make_verdict(["beta", "alpha"], "depends", near=(["beta"], "faster", 1.2), far=far),
        make_verdict(["alpha", "beta"], "equivalent"),
    ])  # fmt: skip
    fills = {row["part"].rpartition(" ")[2]: row["fill"] for row in sets["fills"]}
    assert fills == {"0": "beta", "1": "~"}
    assert len(sets["hatches"]) == 4


def draw_map(verdicts: list[CaseVerdict]) -> dict[str, Any]:
    """Return the data sets of a map of these verdicts, each of a size of its own."""
    view = evaluations.make_evaluation()
    cases = view.campaign.cases[: len(verdicts)]
    placed = [msgspec.structs.replace(verdict, case=case) for verdict, case in zip(verdicts, cases, strict=True)]
    judged = msgspec.structs.replace(view.verdict, cases=placed)
    shown = view.with_verdict(judged)
    shown._lookups.clear()
    chart = winner_map.chart(shown.showing(cases))
    assert chart is not None
    return chart.datasets


@pytest.mark.parametrize(
    ("nodes", "titles"),
    [
        ({"socket": 1}, [""]),
        ({"socket": 1, "nodes": 2}, ["Within a node", "Across nodes"]),
        ({"socket": 1, "1x4": 1, "nodes": 2}, ["Within a node (socket)", "Within a node (1x4)", "Across nodes"]),
        ({"socket": 1, "1x4": 1}, ["At socket", "At 1x4"]),
    ],
)
def test_the_title_of_one_of_several_maps_begins_with_its_placement(nodes: dict[str, int], titles: list[str]) -> None:
    view = evaluations.make_evaluation(tuple(nodes))
    placements = [msgspec.structs.replace(place, nodes=nodes[place.name]) for place in view.campaign.plan.placements]
    planned = msgspec.structs.replace(view.campaign.plan, placements=placements)
    placed = dataclasses.replace(view, campaign=msgspec.structs.replace(view.campaign, plan=planned))
    parts = [part for _, part in placed.parts("placement")]
    headings = [winner_cells.headings(part, winner_cells.list_shown(part))[0] for part in parts]
    subject = "fastest candidate by operation and message size"
    assert headings == [f"{title}: {subject}" if title else subject.capitalize() for title in titles]
