"""The answer on one page and on one slide: question, answer, bars, winner map, validity, date, the campaign's checksum.

Both are composed as SVG of the charts that `--figures` writes, so that neither needs a browser.
"""

from __future__ import annotations

import hashlib
import math
import re
import textwrap
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import jinja2
import msgspec

from rankbench import files, plots, units
from rankbench.analysis.claims.conclusion import claim_scope
from rankbench.analysis.questions.view import CampaignView
from rankbench.language import render, say
from rankbench.plots.forms import PAPER
from rankbench.report.evidence import describe_period

DIGITS = 12
"""Of the checksum that are shown."""
SHOWN = ("overall", "winner_map")
MOST_MAPS = 4
"""Of more placements the first ones are drawn."""
BARS = 400
"""Width of the bars, narrower than elsewhere: the room that they have enlarges them."""
LETTER = 0.52
"""Mean width of a letter over its size; lines are wrapped by it."""


class Sheet(NamedTuple):
    """A page or a slide, in pixels: its size, its margin and its sizes of letters."""

    width: float
    height: float
    margin: float
    question: float
    answer: float
    small: float
    beside: bool
    """The map stands beside the bars, not below them."""


PAGE = Sheet(595, 842, 42, 20, 12.5, 8.5, beside=False)
"""A4, in points."""
SLIDE = Sheet(1600, 900, 60, 44, 25, 16, beside=True)


SCALE = 1.2
"""Of the slide's pixels over its own unit."""


class Picture(NamedTuple):
    """A chart as SVG, at its place."""

    svg: str
    x: float
    y: float
    width: float
    height: float


class Line(NamedTuple):
    """A line of words, at its base."""

    text: str
    y: float
    size: float
    bold: bool
    colour: str


def digest(view: CampaignView) -> str:
    """Return the beginning of the checksum of what a campaign is and of its launches: it names what was evaluated."""
    launches = [msgspec.structs.replace(launch, ranks=[]) if launch.rank_table else launch for launch in view.launches]
    content = msgspec.json.encode([view.campaign, launches], order="sorted")
    return hashlib.sha256(content).hexdigest()[:DIGITS]


def describe_scope(view: CampaignView) -> str:
    """Return for what the answer is valid; nothing where there are no values."""
    return render(claim_scope(view).text) if any(summary.launches for summary in view.summaries) else ""


def write_page(path: Path, view: CampaignView) -> None:
    """Write the answer as one A4 page, a PDF."""
    import vl_convert

    files.write(path, bytes(vl_convert.svg_to_pdf(compose(view, PAGE))))


def write_slide(path: Path, view: CampaignView) -> None:
    """Write the answer as one picture of 16:9, 1920 by 1080 pixels, a PNG."""
    import vl_convert

    files.write(path, bytes(vl_convert.svg_to_png(compose(view, SLIDE), scale=SCALE)))


def draw_charts(view: CampaignView) -> Iterator[tuple[str, str]]:
    """Yield kind and SVG of the bars, if there are any, and of the first maps."""
    import vl_convert

    unwanted = [name for name in units.modules(plots.kinds) if name not in SHOWN]
    maps = 0
    for name, _, chart in plots.charts(view, set(), set(), less=unwanted):
        maps += name == "winner_map"
        narrow = {"width": BARS} if name == "overall" else {}
        if maps <= MOST_MAPS:
            yield name, str(vl_convert.vegalite_to_svg(chart.spec(PAPER) | narrow))


def compose(view: CampaignView, sheet: Sheet) -> str:
    """Return a sheet as SVG: words above, charts in the middle, validity and date below."""
    conclusion = view.verdict.conclusion
    answer = render(conclusion[0].text) if conclusion else ""
    warnings = [(render(claim.text), sheet.small) for claim in conclusion if claim.warns]
    below = [
        describe_scope(view),
        render(
            say(
                "{host}{period}, rankbench {version}, campaign {name} {digest}",
                host=f"{view.campaign.machine.host}, " if view.campaign.machine.host else "",
                period=describe_period(view),
                version=view.campaign.rankbench,
                name=view.campaign.name,
                digest=digest(view),
            )
        ),
    ]
    top, lines = place_lines(sheet, [(view.campaign.plan.question, sheet.question), (answer, sheet.answer), *warnings])
    depth, _ = place_lines(sheet, [(text, sheet.small) for text in below], muted=True)
    foot = sheet.height - sheet.margin - (depth - sheet.margin)
    _, last = place_lines(sheet, [(text, sheet.small) for text in below], muted=True, start=foot)
    room = (sheet.margin, top + sheet.small, sheet.width - 2 * sheet.margin, foot - top - 2 * sheet.small)
    pictures = place_pictures(sheet, list(draw_charts(view)), room)
    return str(template().render(sheet=sheet, lines=[*lines, *last], pictures=pictures))


def place_lines(
    sheet: Sheet, texts: Sequence[tuple[str, float]], *, muted: bool = False, start: float = 0
) -> tuple[float, list[Line]]:
    """Return texts as lines below each other, the first of several bold, and where they end."""
    y, lines = start or sheet.margin, []
    for number, (text, size) in enumerate(texts):
        for line in textwrap.wrap(text, int((sheet.width - 2 * sheet.margin) / (LETTER * size))):
            y += 1.25 * size
            bold = not muted and number == 0
            lines.append(Line(line, y, size, bold, "#555555" if muted else "#111111"))
        y += 0.4 * size
    return y, lines


def place_pictures(
    sheet: Sheet, drawn: Sequence[tuple[str, str]], room: tuple[float, float, float, float]
) -> list[Picture]:
    """Return the bars above or left of the maps, each as large as its room allows."""
    x, y, width, height = room
    bars = [svg for name, svg in drawn if name == "overall"]
    maps = [svg for name, svg in drawn if name != "overall"]
    if not bars or not maps:
        return list(_fill_grid(bars or maps, room))
    if sheet.beside:
        share = 0.42 * width
        return [
            *_fill_grid(bars, (x, y, share - sheet.margin / 2, height)),
            *_fill_grid(maps, (x + share + sheet.margin / 2, y, width - share - sheet.margin / 2, height)),
        ]
    used = min(0.42 * height, width * _find_shape(bars[0]))
    return [
        *_fill_grid(bars, (x, y, width, used)),
        *_fill_grid(maps, (x, y + used + sheet.margin / 2, width, height - used - sheet.margin / 2)),
    ]


def _fill_grid(svgs: Sequence[str], room: tuple[float, float, float, float]) -> Iterator[Picture]:
    """Yield pictures in rows and columns that let them be largest."""
    x, y, width, height = room
    if not svgs:
        return

    def measure(columns: int) -> float:
        rows = math.ceil(len(svgs) / columns)
        return min(min(width / columns, height / rows / _find_shape(svg)) for svg in svgs)

    columns = max(range(1, len(svgs) + 1), key=measure)
    across, down = width / columns, height / math.ceil(len(svgs) / columns)
    for number, svg in enumerate(svgs):
        row, column = divmod(number, columns)
        wide = min(0.97 * across, down / _find_shape(svg))
        yield Picture(_strip(svg), x + column * across, y + row * down, wide, wide * _find_shape(svg))


def _find_size(svg: str) -> tuple[float, float]:
    size = re.search(r'width="([\d.]+)" height="([\d.]+)"', svg)
    if not size:
        raise ValueError("a picture without a size")
    return float(size[1]), float(size[2])


def _find_shape(svg: str) -> float:
    width, height = _find_size(svg)
    return height / width


def _strip(svg: str) -> str:
    """Return a picture without its size, which its place determines."""
    width, height = _find_size(svg)
    return svg.replace(f'width="{width:g}" height="{height:g}"', "", 1)


def template() -> Any:
    """Return the sheet's template."""
    environment = jinja2.Environment(loader=jinja2.PackageLoader("rankbench.report", "."), autoescape=True)
    return environment.get_template("summary.svg")
