"""Lines in panels that end where candidates fail."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterable, Sequence

from rankbench.analysis.evaluation import scales
from rankbench.analysis.evaluation.scales import SiteResult
from rankbench.analysis.questions.measures import Measure
from rankbench.language import render, say
from rankbench.model import Campaign
from rankbench.plots.chart import Row
from rankbench.plots.forms import WIDTH
from rankbench.plots.marks import ends, format_values, shorten
from rankbench.plots.palette import LETTER
from rankbench.plots.panels import Panels

FOOT = 0.055
"""Height of a row of failures as a share of the values' span."""


@dataclasses.dataclass(frozen=True)
class Sketch:
    """How standings become rows: in which panel each is, where along the axis, and what is shown of it."""

    panels: Panels
    panel: Callable[[SiteResult], int]
    at: Callable[[SiteResult], float]
    measure: Callable[[SiteResult], Measure]
    series: Callable[[SiteResult], str]
    onward: str
    """The words where everything failed from somewhere along the axis on: `{fate} from {first} nodes on`."""

    def points(self, standings: Iterable[SiteResult], campaign: Campaign) -> list[Row]:
        """Return the points of those that have values; after a failure another part of the line begins."""
        parts: dict[tuple[int, str], int] = {}
        rows = []
        for standing in sorted(standings, key=self.at):
            key = self.panel(standing), self.series(standing)
            parts[key] = parts.get(key, 0) + (not standing.counts)
            if standing.counts:
                part = f"{key[0]} {key[1]} {parts[key]}"
                measure = self.measure(standing)
                value_row = {
                    **format_values(standing.summary, measure),
                    **ends(standing.summary, measure),
                    "part": part,
                }
                rows.append({**self.row(standing, campaign), **value_row})
        return rows

    def row(self, standing: SiteResult, campaign: Campaign) -> Row:
        """Return where a candidate is: the same keys whether it failed there or has values."""
        return {
            "key": standing.case.key,
            "x": self.panels.x(self.at(standing), self.panel(standing)),
            "place": scales.place_name(standing.site, campaign),
            "candidate": standing.candidate,
        } | ({} if self.series(standing) == standing.candidate else {"series": self.series(standing)})

    def foot(self, standings: Iterable[SiteResult], points: Sequence[Row], campaign: Campaign) -> list[Row]:
        """Return the marks of all failures below the points, a row for each of the series that has any."""
        failed: dict[str, dict[int, list[SiteResult]]] = {}
        for standing in sorted((standing for standing in standings if standing.fate), key=self.at):
            failed.setdefault(self.series(standing), {}).setdefault(self.panel(standing), []).append(standing)
        low, high = min(row["low"] for row in points), max(row["high"] for row in points)
        step = max(math.log(high / low), math.log(2)) * FOOT
        rows = []
        for depth, in_panels in enumerate(failed.values()):
            for ones in in_panels.values():
                value = {"value": shorten(low * math.exp(-step * (depth + 1.3)))}
                marks = [
                    {**self.row(standing, campaign), **value, "fate": render(standing.fate), "words": "", "side": ""}
                    for standing in ones
                ]
                end, words = self.describe_failures(ones)
                marks[end] |= {"words": words, "side": "right" if end else "left"} if words else {}
                rows += marks
        return rows

    def describe_failures(self, failed: list[SiteResult]) -> tuple[int, str]:
        """Return at which end of some failures there is room for words, 0 or -1, and the words: nothing if at none."""
        first, last = self.at(failed[0]), self.at(failed[-1])
        pixels = (WIDTH - 60) / self.panels.end
        offset = pixels * (self.panels.x(first, 0) - self.panels.x(self.panels.values[0], 0) + self.panels.margin)
        right = pixels * (self.panels.x(self.panels.values[-1], 0) - self.panels.x(last, 0) + self.panels.margin)
        for words in self.wordings(failed):
            for end, room in ((0, offset), (-1, right)):
                if LETTER * len(words) + 12 <= room:
                    return end, words
        return 0, ""

    def wordings(self, failed: list[SiteResult]) -> list[str]:
        """Return the texts for some failures, the fullest first; places that always fail come before the others."""
        always = [standing for standing in failed if not standing.counts]
        named = always or failed
        fate = render(named[0].word) if len({standing.word for standing in named}) == 1 else "failed"
        onward = self.at(failed[-1]) == self.panels.values[-1] and len(always) > 1 and not failed[-1].counts
        words = [fate]
        if onward:
            words.insert(0, render(say(self.onward, fate=fate, first=f"{self.at(always[0]):g}")))
        if len(named) < len(failed):
            words.insert(0, f"{words[0]}, elsewhere at times")
        return words
