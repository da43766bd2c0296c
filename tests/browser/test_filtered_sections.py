"""Sections on placements, scaling, rings and starts follow the filters, as map, curves and tables do."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import pytest
from fakes import placement_campaigns, scales, torus
from fakes.chromium import (
    await_drawing,
    find_visible,
    list_visible_texts,
    open_page,
    read_log,
    scroll_into_view,
    wait_until,
)
from selenium.webdriver import Chrome
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import Select

from rankbench.analysis.evaluation import evaluate
from rankbench.model import Case, Placement
from rankbench.report import write_html
from rankbench.store import Store

if TYPE_CHECKING:
    Show: TypeAlias = Callable[[Store], Chrome]

pytestmark = pytest.mark.needs("chromium", "chromedriver")

NOTHING = "Nothing of this rests on a case that passes the filters."


@pytest.fixture
def show(browser: Chrome, tmp_path_factory: pytest.TempPathFactory) -> Show:
    """Return a function that opens the report on a campaign."""

    def open_report(store: Store) -> Chrome:
        path = tmp_path_factory.mktemp("filtered") / "report.html"
        write_html(path, evaluate(store))
        return open_page(browser, path.as_uri())

    return open_report


def choose(page: Chrome, name: str, text: str) -> None:
    Select(page.find_element(By.CSS_SELECTOR, f"#filters [name={name}]")).select_by_visible_text(text)


def enter_text(page: Chrome, text: str) -> None:
    page.find_element(By.CSS_SELECTOR, "#filters [name=text]").send_keys(text)


def clear_filters(page: Chrome) -> None:
    page.find_element(By.CSS_SELECTOR, "#filters button").click()


def list_row_names(page: Chrome, section: str) -> list[str]:
    """Return the names of the rows of all unfolded tables of a section."""
    return list_visible_texts(page, f"#{section} tbody th")


def scroll_to_tables(page: Chrome, section: str) -> None:
    """Scroll to the initially unfolded tables of a section, which are filled when they come into view."""
    for unfolded in page.find_elements(By.CSS_SELECTOR, f"#{section} details[open]"):
        scroll_into_view(page, unfolded)


@pytest.mark.thorough
def test_placements_follow_operation_and_size(show: Show, tmp_path: Path) -> None:
    store = placement_campaigns.make_store(
        tmp_path / "made", lambda *_: 1000.0, operations=("pingpong", "bandwidth"), sizes=(8, 64, 1024), launches=2
    )
    page = show(store)
    tables = ["pingpong, alpha", "bandwidth, alpha"]
    assert list_visible_texts(page, "#places summary") == tables
    assert len(list_visible_texts(page, "#places figure")) == 2
    scroll_to_tables(page, "places")
    wait_until(page, lambda: list_row_names(page, "places") == ["8 B", "64 B", "1 KiB"])
    choose(page, "from", "64 B")
    wait_until(page, lambda: list_row_names(page, "places") == ["64 B", "1 KiB"])
    assert list_visible_texts(page, "#places summary") == tables
    enter_text(page, "bandw")
    wait_until(page, lambda: list_visible_texts(page, "#places summary") == tables[1:])
    (figure,) = find_visible(page, "#places figure")
    assert str(figure.get_attribute("data-key")).startswith("bandwidth.")
    await_drawing(page, figure)
    enter_text(page, "idth of nothing")
    wait_until(page, lambda: list_visible_texts(page, "#places .nothing") == [NOTHING])
    assert list_visible_texts(page, "#places summary, #places figure") == []
    clear_filters(page)
    wait_until(page, lambda: list_visible_texts(page, "#places summary") == tables)
    assert list_visible_texts(page, "#places .nothing") == []
    assert read_log(page, "browser") == []


@pytest.mark.thorough
def test_scaling_follows_operation_placement_and_size(show: Show, tmp_path: Path) -> None:
    store = scales.make_store(
        tmp_path / "made", lambda *_: 1000.0, operations=("barrier", "alltoall"), sizes=(8, 64, 512), launches=1
    )
    page = show(store)
    assert list_visible_texts(page, "#scaling summary") == ["barrier", "alltoall 64 B"]
    sizes = page.find_element(By.CSS_SELECTOR, "#scaling select")
    first = {
        str(element.get_attribute("data-key")) for element in page.find_elements(By.CSS_SELECTOR, "#scaling figure")
    }
    enter_text(page, "alltoall")
    wait_until(page, lambda: list_visible_texts(page, "#scaling summary") == ["alltoall 64 B"])
    assert len(find_visible(page, "#scaling .scale")) == 1
    choose(page, "from", "512 B")
    wait_until(page, lambda: list_visible_texts(page, "#scaling summary") == [])
    assert Select(sizes).first_selected_option.text == "512 B"
    shown = find_visible(page, "#scaling figure")
    assert {str(element.get_attribute("data-key")).split(".")[2] for element in shown} == {"512"}
    assert await_drawing(page, shown[0]).find_element(By.TAG_NAME, "figcaption").text.startswith("alltoall 512 B")
    clear_filters(page)
    wait_until(page, lambda: list_visible_texts(page, "#scaling summary") == ["barrier", "alltoall 64 B"])
    assert Select(sizes).first_selected_option.text == "64 B"
    again = {
        str(element.get_attribute("data-key")) for element in page.find_elements(By.CSS_SELECTOR, "#scaling figure")
    }
    assert again == first
    scroll_to_tables(page, "scaling")
    wait_until(page, lambda: len(list_row_names(page, "scaling")) == 8)
    choose(page, "placement", "4x2")
    wait_until(page, lambda: list_row_names(page, "scaling") == ["4x2"])
    assert read_log(page, "browser") == []


@pytest.mark.thorough
def test_rings_follow_placement(show: Show, tmp_path: Path) -> None:
    page = show(torus.make_store(tmp_path / "made", launches=3, samples=50))
    names = list_visible_texts(page, "#rings summary")
    assert any("what one more hop costs" in name for name in names)
    scroll_to_tables(page, "rings")
    wait_until(
        page,
        lambda: (
            len(list_visible_texts(page, "#rings details[open] table"))
            == len(list_visible_texts(page, "#rings details[open]"))
        ),
    )
    before = len(list_row_names(page, "rings"))
    choose(page, "placement", "1x4")
    wait_until(page, lambda: 0 < len(list_row_names(page, "rings")) < before)
    grids = {
        name.split(" ")[0] for name in list_visible_texts(page, "#rings details[open] th[scope=col]") if "x" in name[:3]
    }
    assert "2x2" in grids  # A table that has other grids beside it stays whole.
    enter_text(page, "no such ring")
    wait_until(page, lambda: list_visible_texts(page, "#rings .nothing") == [NOTHING])
    assert list_visible_texts(page, "#rings summary") == []
    clear_filters(page)
    wait_until(page, lambda: list_visible_texts(page, "#rings summary") == names)
    assert read_log(page, "browser") == []


def test_a_candidate_without_wins_has_no_sections(show: Show, tmp_path: Path) -> None:
    def choose_time_ns(candidate: str, _case: Case, _place: Placement) -> float:
        return {"alpha": 1000.0, "beta": 3000.0}.get(candidate, 2000.0)

    page = show(scales.make_store(tmp_path / "made", choose_time_ns, launches=6))
    choose(page, "candidate", "beta")
    wait_until(page, lambda: list_visible_texts(page, "#scaling .nothing") == [NOTHING])
    assert list_visible_texts(page, "#scaling figure, #scaling summary") == []
    choose(page, "candidate", "not beta")
    wait_until(page, lambda: list_visible_texts(page, "#scaling .nothing") == [])
    assert len(list_visible_texts(page, "#scaling summary")) == 1
