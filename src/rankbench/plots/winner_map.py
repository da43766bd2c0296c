"""The winner map: who is fastest for each operation and message size, and by how much."""

from __future__ import annotations

import json
import math
import textwrap
from typing import TYPE_CHECKING

import altair as alt

from rankbench import plots
from rankbench.language import format_text
from rankbench.plots import Chart
from rankbench.quantities import format_ratio
from rankbench.verdict import naming

if TYPE_CHECKING:
    from rankbench.model import CaseVerdict
    from rankbench.plots import Row
    from rankbench.verdict.view import CampaignView

TITLE = "Winner map"
HELP = (
    "Letter and colour: the fastest candidate, or the one that needs least memory. Number and strength of colour: how "
    "many times the next one needs. Grey: several candidates, = equivalent, ~ not distinguishable; A/B: A while cores "
    "are near, B while they are far. !: no value counts."
)
SCOPE = "placement"
SHARED = "tied"
LABEL = 30
"""Letters in a line of a row's label."""
WIDTH_OF_LETTER = 6.2


def chart(view: CampaignView) -> Chart | None:
    """Draw one placement: operations downwards, message sizes to the right."""
    verdicts = shown(view)
    if not verdicts:
        return None
    letters = plots.initials(view.candidates)
    rows = [cell(verdict, letters, view) for verdict in verdicts]
    sizes = list(dict.fromkeys(row["size"] for row in sorted(rows, key=lambda row: row["size_bytes"])))
    lines = list(dict.fromkeys(row["line"] for row in rows))
    height, width = label_room(lines)
    form = plots.form(layers(view, letters, lines, sizes), height * len(lines), width + 42 * len(sizes))
    return Chart(form, *headings(view, verdicts), {"cells": rows})


def shown(view: CampaignView) -> list[CaseVerdict]:
    """Return the verdicts that have a cell: not those between pairs of ranks, nor those with an unusual start."""
    return [verdict for verdict in view.without_pairs().shown_verdicts() if view.has_usual_start(verdict.case)]


def headings(view: CampaignView, verdicts: list[CaseVerdict]) -> tuple[str, str]:
    """Return title and subtitle of a map."""
    memory = any(verdict.case.quantity == "memory" for verdict in verdicts)
    fastest = format_text("Fastest candidate by operation and message size")
    title = format_text("Best candidate by operation and message size") if memory else fastest
    return title, plots.circumstances(view.showing([verdict.case for verdict in verdicts]))


def folded(line: str) -> str:
    """Return a row's label on as many lines as it needs, divided where a reader would."""
    return "\n".join(textwrap.wrap(line, LABEL, break_on_hyphens=False))


def label_room(lines: list[str]) -> tuple[int, int]:
    """Return how high a row must be for the labels of all rows, and how wide they are, in pixels."""
    parts = [line.split("\n") for line in lines]
    widest = max(len(part) for each in parts for part in each)
    return max(36, 10 + 13 * max(map(len, parts))), max(140, round(WIDTH_OF_LETTER * widest))


def layers(view: CampaignView, letters: dict[str, str], lines: list[str], sizes: list[str]) -> list[alt.Chart]:
    """Return white ground, tint and words: the tint is the same on a light and on a dark page."""
    bare = alt.Axis(labelAngle=0, grid=False, domain=False, ticks=False)
    parts = "split(datum.label, '\\n')"
    middle = {
        "condition": [{"test": f"length({parts}) === {lines}", "value": -6.5 * (lines - 1)} for lines in (2, 3, 4)],
        "value": 0,
    }
    labels = alt.Axis(labelExpr=parts, labelLimit=0, labelOffset=middle, grid=False, domain=False, ticks=False)
    gaps = alt.Scale(paddingInner=0.05)
    base = alt.Chart(plots.data("cells")).encode(
        x=alt.X("size:N", sort=sizes, title=format_text("message size"), scale=gaps, axis=bare),
        y=alt.Y("line:N", sort=lines, title=None, scale=gaps, axis=labels),
        tooltip=plots.tooltips("case", "winner", "margin"),
    )
    ground = base.mark_rect(fill="#ffffff", aria=False)
    tint = base.mark_rect(cursor="pointer").encode(
        color=fill(view, letters),
        opacity=alt.Opacity("strength:Q", scale=alt.Scale(domain=[0, 1], range=[0.22, 0.78]), legend=None),
        description=alt.Description("said:N"),
    )
    return [ground, tint, *words(base)]


def words(base: alt.Chart) -> list[alt.Chart]:
    """Return the letter alone in the middle of a cell, or above the margin where there is one."""

    def text(field: str, where: str, dy: int, size: int) -> alt.Chart:
        source = base.transform_filter(where).encode(text=f"{field}:N")
        mark: alt.Chart = source.mark_text(dy=dy, fontSize=size, color="#111111", cursor="pointer", aria=False)
        return mark

    return [text("mark", "!datum.told", 0, 12), text("mark", "datum.told", -7, 12), text("margin", "datum.told", 8, 11)]


def fill(view: CampaignView, letters: dict[str, str]) -> alt.Color:
    """Return the candidates' colour with a grey for ties, and a legend that explains the letters."""
    fills = [*view.candidates, SHARED]
    labels = {name: f"{letters[name]}  {name}" for name in view.candidates}
    labels[SHARED] = format_text("=  equivalent, ~  not distinguishable, A/B  near/far")
    words = f"{json.dumps(labels)}[datum.value]"
    legend = alt.Legend(orient="top", labelExpr=words, symbolOpacity=1, columns=plots.columns(labels.values()))
    scale = alt.Scale(domain=fills, range=[*plots.cycle(plots.COLOURS, len(fills) - 1), "#b8b8b8"])
    return alt.Color("fill:N", title=None, scale=scale, legend=legend)


def cell(verdict: CaseVerdict, letters: dict[str, str], view: CampaignView) -> Row:
    """Return one cell: where it stands, what fills it, and its label in one or two lines."""
    case, winners = verdict.case, verdict.winners
    single = len(winners) == 1
    told = verdict.margin > 1 and not verdict.differs
    mark = by_level(verdict, letters) if verdict.differs else letters_of(winners, verdict.sign, letters, whole=not told)
    joined = naming.by_level(verdict) if verdict.differs else f" {verdict.sign} ".join(winners)
    winner = joined or format_text("none: no candidate has a figure that counts")
    operation = view.operation(case)
    name = view.case_name(case)
    margin = format_ratio(verdict.margin) if told else verdict.sign if len(winners) > 1 and not verdict.differs else ""
    return {
        "key": case.key,
        "case": name,
        "line": folded(naming.line(case, operation)),
        "size": naming.size(case, operation),
        "size_bytes": case.size_bytes if operation.sized else -1,
        "fill": winners[0] if single else SHARED,
        "strength": strength(verdict.margin) if single else 1,
        "mark": mark,
        "told": told,
        "winner": winner,
        "margin": margin,
        "said": f"{name}: {winner} {margin}".rstrip(),
    }


def letters_of(winners: list[str], sign: str, letters: dict[str, str], *, whole: bool) -> str:
    """Return `O~I`; the sign alone where these are several winners and `whole` says that they are all candidates."""
    return sign if whole and len(winners) > 1 else sign.join(letters[name] for name in winners) or "!"


def by_level(verdict: CaseVerdict, letters: dict[str, str]) -> str:
    """Return `O/I`: the winners while cores are near, and while they are far."""
    ranked = len(verdict.ranking)
    signs = {level: "=" if outcome == "equivalent" else "~" for level, outcome in verdict.outcome_by_level.items()}
    return "/".join(
        letters_of(names, signs[level], letters, whole=len(names) == ranked)
        for level, names in verdict.winners_by_level.items()
    )


def strength(margin: float) -> float:
    """Return 0 for no margin up to 1 for twice as fast and more."""
    return round(math.sqrt(min(max(margin - 1, 0), 1)), 3)
