"""The German page in a real browser: its script speaks German, and charts have decimal commas."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from fakes import evaluations
from fakes.chromium import click, draw_everything, logged, opened, until
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import Select

from rankbench.language import spoken
from rankbench.report import write_html

if TYPE_CHECKING:
    from pathlib import Path

    from selenium.webdriver import Chrome

pytestmark = pytest.mark.needs("chromium", "chromedriver")


@pytest.fixture
def page(browser: Chrome, tmp_path: Path) -> Chrome:
    with spoken("de"):
        write_html(tmp_path / "report.html", evaluations.evaluation())
    return opened(browser, (tmp_path / "report.html").as_uri())


def text(page: Chrome, selector: str) -> str:
    return page.find_element(By.CSS_SELECTOR, selector).text


def test_it_is_drawn_without_a_complaint_and_with_decimal_commas(page: Chrome) -> None:
    draw_everything(page)
    assert logged(page, "browser") == []
    drawn = page.execute_script(
        "return [...document.querySelectorAll('figure svg text')].map((one) => one.textContent)"
    )
    assert "0,9×" in drawn
    assert [one for one in drawn if re.search(r"\.\d{1,2}(\D|$)", one)] == []
    assert "Nachrichtengröße" in drawn


def test_its_script_speaks_german(page: Chrome) -> None:
    assert text(page, "#theme") == "Dunkle Ansicht"
    click(page, page.find_element(By.ID, "theme"))
    assert text(page, "#theme") == "Helle Ansicht"
    assert text(page, "#count") == "9 von 9 Fällen, 5 von 5 Operationen, 1 von 1 Befunden"
    assert text(page, ".chosen") == "Gezeigt: pingpong 8 B"
    kind = Select(page.find_element(By.NAME, "kind"))
    kind.select_by_visible_text("kollektiv")
    until(page, lambda: text(page, "#count") == "5 von 9 Fällen, 3 von 5 Operationen, 1 von 1 Befunden")
    assert page.execute_script("return document.getElementById('sifted').textContent") == (
        "Nur ein Teil der Kampagne (Art: kollektiv): 5 von 9 Fällen."
    )
    label = page.find_element(By.CSS_SELECTOR, "#map [role=grid]").get_attribute("aria-label")
    assert label == "Schnellster Kandidat nach Operation und Nachrichtengröße, socket"
