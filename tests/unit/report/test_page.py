from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import msgspec
import polars as pl
import pytest
from fakes import evaluations
from fakes.pages import read_book, read_part
from wording import WORDING, find_lines

from rankbench.language import Text
from rankbench.model import Group
from rankbench.report import write_html
from rankbench.report.page import compare_effort, mark_commands


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> str:
    path: Path = tmp_path_factory.mktemp("report") / "report.html"
    write_html(path, evaluations.make_evaluation())
    return path.read_text(encoding="utf-8")


def remove_scripts(page: str) -> str:
    return re.sub(r"<script.*?</script>", "", page, flags=re.S)


def test_nothing_is_loaded_from_elsewhere(page: str) -> None:
    html = remove_scripts(page)
    assert re.findall(r'(?:src|href)="(?!#|data:)[^"]*"', html) == []
    assert "url(" not in html
    assert "default-src 'none'" in html


def test_the_page_is_small(page: str) -> None:
    assert len(page.encode()) < 2_000_000


def test_texts_of_libraries_and_plans_are_escaped(page: str) -> None:
    assert find_lines(page, '<h1 id="question">Is alpha &lt;faster&gt') == WORDING
    assert "fault &lt;/script&gt; in rank 1" in page
    assert page.count("</script>") == page.count("<script")


def test_the_verdict_comes_first(page: str) -> None:
    html = remove_scripts(page)
    order = [
        "<h1",
        "Take alpha",
        'data-plot="overall" data-key',
        'id="map"',
        "false alarms of the noise check",
        'id="filters"',
        "</span> beta crashes",
        'id="case"',
        'id="method"',
    ]
    places = [html.index(part) for part in order]
    assert places == sorted(places)


def test_every_link_to_a_case_has_a_target(page: str) -> None:
    known = [verdict.case.key for verdict in evaluations.make_evaluation().verdict.cases]
    assert set(re.findall(r'href="#case=([^"]+)"', page)) < set(known)
    rows = [row for table in read_part(page, "tables")["results"] for row in table[2]]
    numbers = {cell[3] for row in rows for cell in row if isinstance(cell, list)}
    assert numbers - {-1} == set(range(len(known)))


def test_counts_are_those_of_the_campaign(page: str) -> None:
    values = dict(re.findall(r"<div><dt>(.*?)</dt><dd>(.*?)</dd></div>", page))
    assert values == {
        "candidates": "2",
        "cases": "9",
        "launches": "12",
        "samples": "5,096",
        "false alarms of the noise check": "1 of 9",
        "late starts discarded": "104",
        "longer than their window, kept": "26",
    }


def test_the_page_has_the_commands_that_repeat_the_campaign(page: str) -> None:
    html = remove_scripts(page)
    assert "candidates = [&#34;alpha&#34;, &#34;beta&#34;]" in html
    assert "rankbench get alpha==1.0\nrankbench get beta==1.0\nrankbench run plan.toml --seed 7\n" in html


def test_equal_forms_are_stored_once(page: str) -> None:
    values = read_part(page, "distribution")
    assert len({entry[0] for entry in values.values()}) == 1
    assert len(values) == 9
    assert len(read_part(page, "forms")) < 18


def test_values_of_launches_are_stored(page: str) -> None:
    key = "pingpong.blocking.8.byte.socket.none"
    (count, columns) = read_part(page, "distribution")[key][3]["launches"]
    assert (count, len(columns["figure_ns"])) == (8, 8)


def test_packed_data_have_the_winners_of_each_case(page: str) -> None:
    content = read_book(page)
    columns = content["cases"]
    assert {len(values) for values in columns.values()} == {9}
    assert content["candidates"] == ["alpha", "beta"]
    assert columns["winners"][:2] == [[0], [0, 1]]
    assert columns["halves"][:2] == [[["", "", [0], "2.00×", 100]], [["", "~", [0, 1], "", 0]]]
    assert columns["different"][:2] == [1, 0]
    assert [content["lines"]["key"][line] for line in columns["line"][:2]] == ["pingpong.blocking.byte.socket.none"] * 2


def test_answer_map_and_tables_come_before_the_findings(page: str) -> None:
    places = [page.index(f'<section id="{name}"') for name in ("verdict", "map", "tables", "findings", "case")]
    assert places == sorted(places)


def test_a_finding_is_a_line_that_unfolds_to_its_text_and_one_chart(page: str) -> None:
    section = page[page.index('<section id="findings"') : page.index('<section id="case"')]
    number = len(evaluations.make_evaluation().verdict.findings)
    assert section.count("<details>") == section.count('<li class="') == number > 0
    charts = re.findall(r'data-plot="(\w+)" data-key="([^"]*)"', section)
    assert len(charts) == len(set(charts)), "each chart is drawn once"
    finding = section[section.index("beta crashes") :]
    assert 'data-plot="curves" data-key="allreduce.nonblocking.float.socket.window"' in finding


def test_only_commands_become_markup() -> None:
    text = Text("Run `rankbench tune {name}`.", {"name": "a<b"})
    assert mark_commands(text) == "Run <code>rankbench tune a&lt;b</code>."


def test_groups_have_a_section_if_there_are_any(page: str, tmp_path: Path) -> None:
    assert 'id="groups"' not in page
    view = evaluations.make_evaluation()
    lines = ["allreduce.blocking.float.socket.window", "allreduce.nonblocking.float.socket.window"]
    alone = "barrier.blocking.byte.socket.window"
    groups = [
        Group(lines=lines, title=Text("allreduce, and one like it"), text=Text("alpha wins small ones."), cases=[]),
        Group(lines=[alone], title=Text("barrier"), text=Text(""), cases=[]),
    ]
    verdict = msgspec.structs.replace(view.verdict, groups=groups)
    write_html(tmp_path / "report.html", dataclasses.replace(view, verdict=verdict))
    html = remove_scripts((tmp_path / "report.html").read_text(encoding="utf-8"))
    section = html[html.index('<section id="groups"') : html.index('<section id="case"')]
    assert f'data-plot="curves" data-key="{lines[0]}"' in section
    assert re.findall(r'data-member="(.*?)">(.*?)<', section) == [
        (lines[1], "allreduce nonblocking"),
        (alone, "barrier"),
    ]
    assert "<h3>barrier" not in section


def test_starts_and_ranks_have_sections_if_there_are_several(page: str, tmp_path: Path) -> None:
    assert 'id="starts"' not in page
    assert 'id="ranks"' in page
    view = evaluations.make_evaluation(starts=("none",))
    write_html(tmp_path / "report.html", view)
    html = remove_scripts((tmp_path / "report.html").read_text(encoding="utf-8"))
    section = html[html.index('<section id="starts"') : html.index('<section id="ranks"')]
    assert find_lines(section, "With none times are") == WORDING
    assert find_lines(section, "calls in a loop") == WORDING
    assert 'data-key="allreduce.blocking.8.float.socket.window"' in section
    assert 'data-table="starts"' in section
    assert '<a href="#starts">Starts</a>' in html


def test_a_campaign_of_operations_timed_by_one_rank_has_no_section_of_ranks(tmp_path: Path) -> None:
    view = evaluations.make_evaluation()
    alone = view.samples.filter(pl.col("series") == 0)
    write_html(tmp_path / "report.html", dataclasses.replace(view, samples=alone))
    html = remove_scripts((tmp_path / "report.html").read_text(encoding="utf-8"))
    assert 'id="ranks"' not in html
    assert 'data-plot="ranks"' not in html


def test_a_decided_campaign_shows_the_saved_measurements() -> None:
    view = evaluations.make_evaluation()
    rows = pl.DataFrame({"block": [1, 1, 2], "candidate": ["a", "b", "a"], "case": ["x", "x", "x"]})
    campaign_view = dataclasses.replace(view, case_rows=rows)
    most = len(view.campaign.cases) * len(view.campaign.candidates) * 60
    assert compare_effort(campaign_view) == {"less measured than in 60 full blocks": f"{1 - 3 / most:.0%}"}
    stop = msgspec.structs.replace(view.campaign.plan.stop, until="blocks")
    planned = msgspec.structs.replace(view.campaign.plan, stop=stop)
    fixed = msgspec.structs.replace(view.campaign, plan=planned)
    assert compare_effort(dataclasses.replace(view, case_rows=rows, campaign=fixed)) == {}
