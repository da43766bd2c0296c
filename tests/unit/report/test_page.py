from __future__ import annotations

import dataclasses
import json
import re
from typing import TYPE_CHECKING

import polars as pl
import pytest
from fakes import evaluations

from rankbench.report import write_html

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> str:
    path: Path = tmp_path_factory.mktemp("report") / "report.html"
    write_html(path, evaluations.evaluation())
    return path.read_text(encoding="utf-8")


def without_scripts(page: str) -> str:
    return re.sub(r"<script.*?</script>", "", page, flags=re.S)


def test_nothing_is_loaded_from_elsewhere(page: str) -> None:
    html = without_scripts(page)
    assert re.findall(r'(?:src|href)="(?!#|data:)[^"]*"', html) == []
    assert "url(" not in html
    assert "default-src 'none'" in html


def test_the_page_stays_small(page: str) -> None:
    assert len(page.encode()) < 2_000_000


def test_what_libraries_and_plans_say_cannot_break_the_page(page: str) -> None:
    assert '<h1 id="question">Is alpha &lt;faster&gt; than beta?</h1>' in page
    assert "Segmentation fault &lt;/script&gt; in rank 1" in page
    assert page.count("</script>") == 3


def test_the_verdict_is_the_first_thing_said(page: str) -> None:
    html = without_scripts(page)
    order = ["<h1", "Take alpha", "A/A false alarms", 'id="map"', ">beta crashes", 'id="case"', 'id="method"']
    places = [html.index(part) for part in order]
    assert places == sorted(places)


def test_every_link_to_a_case_leads_to_one(page: str) -> None:
    known = {case.key for case in evaluations.evaluation().campaign.cases}
    linked = set(re.findall(r'href="#case=([^"]+)"', page))
    assert linked == known


def test_counts_are_those_of_the_campaign(page: str) -> None:
    figures = dict(re.findall(r"<div><dt>(.*?)</dt><dd>(.*?)</dd></div>", page))
    assert figures == {
        "candidates": "2",
        "cases": "9",
        "launches": "12",
        "samples": "5\N{NARROW NO-BREAK SPACE}096",
        "A/A false alarms": "1 of 9",
        "late starts discarded": "104",
        "overran their window, kept": "26",
    }


def test_the_campaign_can_be_repeated_from_the_page(page: str) -> None:
    html = without_scripts(page)
    assert "candidates = [&#34;alpha&#34;, &#34;beta&#34;]" in html
    assert "rankbench get alpha==1.0\nrankbench get beta==1.0\nrankbench run plan.toml --seed 7\n" in html


def test_forms_are_kept_once(page: str) -> None:
    found = re.search(r'<script type="application/json" id="book">(.*?)</script>', page, re.S)
    assert found is not None
    book = json.loads(found[1])
    assert len({entry[0] for entry in book["charts"]["distribution"].values()}) == 1
    assert len(book["charts"]["distribution"]) == 9


def test_starts_and_ranks_have_sections_where_there_is_something_to_tell(page: str, tmp_path: Path) -> None:
    assert 'id="starts"' not in page
    assert 'id="ranks"' in page
    made = evaluations.evaluation(starts=("none",))
    write_html(tmp_path / "report.html", made)
    html = without_scripts((tmp_path / "report.html").read_text(encoding="utf-8"))
    section = html[html.index('<section id="starts"') : html.index('<section id="ranks"')]
    assert "none reads 0.40× of window (median of 4 figures, 0.40× to 0.40×; 4 differ)." in section
    assert "one call after the other" in section
    assert 'data-key="allreduce.blocking.8.float.socket.window"' in section
    assert "allreduce: time by start, as a ratio to that with start window" in section
    assert '<a href="#starts">Starts</a>' in html


def test_a_campaign_of_single_measuring_ranks_has_no_section_of_ranks(tmp_path: Path) -> None:
    made = evaluations.evaluation()
    alone = made.samples.filter(pl.col("series") == 0)
    write_html(tmp_path / "report.html", dataclasses.replace(made, samples=alone))
    html = without_scripts((tmp_path / "report.html").read_text(encoding="utf-8"))
    assert 'id="ranks"' not in html
    assert 'data-plot="ranks"' not in html
