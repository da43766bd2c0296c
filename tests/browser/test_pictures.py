"""Pictures as a browser shows them, whose fonts are others than those with which they were laid out."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from fakes import campaign_views, campaigns

from rankbench.report import write_figures

if TYPE_CHECKING:
    from selenium.webdriver import Chrome

pytestmark = pytest.mark.needs("chromium", "chromedriver")

NAMES = ("intel-mpi-2021.18.1 with settings of its own", "openmpi-5.0.11-that-was-built-here")
CASES = campaigns.make_cases(lines=[("allreduce", "blocking"), ("barrier", "blocking")])


def test_no_word_of_a_picture_is_cut_off_at_the_left(browser: Chrome, tmp_path: Path) -> None:
    view = campaign_views.make_view(campaign_views.find_equal_time, cases=CASES, candidates=NAMES)
    *drawn, _ = write_figures(tmp_path, view, ["svg"], ["bars", "winner_map", "curves"])
    assert len({path.name.partition("-")[0] for path in drawn}) == 3
    for path in drawn:
        browser.get(path.as_uri())
        least = browser.execute_script(
            "return Math.min(...[...document.querySelectorAll('text')].map((one) => one.getBoundingClientRect().left))"
        )
        assert float(least) >= 0, path.name
        assert "…" not in path.read_text(), path.name
