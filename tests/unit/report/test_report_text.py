from __future__ import annotations

import dataclasses
from pathlib import Path

import msgspec
from fakes import campaigns, evaluations
from wording import WORDING, find_lines

from rankbench.language import Text
from rankbench.model import Group
from rankbench.report import latex, markdown
from rankbench.report.tables import Cell, Table
from rankbench.report.text import latex_table, markdown_table

TABLE = Table(
    "allreduce: time, 95% or more",
    ["message size", "a_b", "fastest"],
    [
        [Cell("8 B"), Cell("1 µs", "0.9 µs to 1.1 µs", best=True), Cell("a_b ~ c 2.00×")],
        [Cell("1 KiB"), Cell("–"), Cell("~")],
    ],
)


def test_a_table_is_rendered_as_markdown() -> None:
    assert markdown_table(TABLE) == WORDING


def test_a_table_is_rendered_as_latex() -> None:
    assert latex_table(TABLE) == WORDING


def test_the_verdict_comes_before_the_tables() -> None:
    text = markdown(evaluations.make_evaluation())
    order = [
        "# Is alpha",
        "Take alpha: it is fastest",
        "**beta crashes**",
        "**pingpong: latency",
        "**Cases without values",
    ]
    places = [text.index(part) for part in order]
    assert places == sorted(places)


def test_latex_has_a_table_per_line_of_the_campaign() -> None:
    assert latex(evaluations.make_evaluation()).count(r"\toprule") == len(campaigns.LINES)


def test_effects_of_starts_are_reported_in_markdown() -> None:
    text = markdown(evaluations.make_evaluation(starts=("none",)))
    assert find_lines(text, "With none times are") == WORDING
    assert find_lines(text, "**allreduce: time by start") == WORDING
    assert "time by start" not in markdown(evaluations.make_evaluation())


def test_groups_are_reported_in_markdown() -> None:
    view = evaluations.make_evaluation()
    lines = ["allreduce.blocking.float.socket.window", "allreduce.nonblocking.float.socket.window"]
    group = Group(lines=lines, title=Text("allreduce, and one like it."), text=Text("alpha wins small ones."), cases=[])
    verdict = msgspec.structs.replace(view.verdict, groups=[group])
    text = markdown(dataclasses.replace(view, verdict=verdict))
    assert find_lines(text, "### allreduce, and one") == WORDING


def test_pictures_are_in_their_group_and_each_is_shown_or_linked_once() -> None:
    view = evaluations.make_evaluation()
    lines = ["allreduce.blocking.float.socket.window", "allreduce.nonblocking.float.socket.window"]
    group = Group(lines=lines, title=Text("allreduce, and one like it."), text=Text("alpha wins small ones."), cases=[])
    verdict = msgspec.structs.replace(view.verdict, groups=[group])
    names = [f"{plot}-{line}" for plot in ("curves", "extremes", "ratios") for line in lines]
    names += ["extremes-pingpong.blocking.byte.socket.none", "winner_map-socket"]
    pictures = [Path("campaign/figures") / f"{name}.{suffix}" for name in names for suffix in ("svg", "pdf")]
    text = markdown(dataclasses.replace(view, verdict=verdict), [*pictures, Path("campaign/figures/index.html")])
    assert [text.count(f"(figures/{name}.svg)") for name in names] == [1] * len(names)
    assert "index.html" not in text
    places = [text.index(f"extremes-{line}.svg") for line in lines]
    assert text.index("winner_map-socket.svg") < text.index("## Groups") < places[0] < places[1]
    assert places[1] < text.index("## Other figures") < text.index("## Tables")
    assert f"allreduce; also: [curves](figures/curves-{lines[0]}.svg), [ratios](figures/ratios-{lines[0]}.svg)" in text


def test_pictures_as_pdf_are_links() -> None:
    text = markdown(evaluations.make_evaluation(), [Path("figures/winner_map-socket.pdf")])
    assert "[winner_map-socket](figures/winner_map-socket.pdf)" in text
    assert "![" not in text
