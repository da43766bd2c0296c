"""Filters and keys: what a reader with a large campaign does to find the cases that matter."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from fakes.chromium import await_drawing, open_page, read_log, until
from fakes.large import Large
from selenium.webdriver import ActionChains, Keys
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import Select

from rankbench.report import write_html

if TYPE_CHECKING:
    from collections.abc import Callable

    from selenium.webdriver import Chrome
    from selenium.webdriver.remote.webelement import WebElement

    from rankbench.model import CaseVerdict

pytestmark = pytest.mark.needs("chromium", "chromedriver")

MADE = Large(lines=12, sizes=13, blocks=3, samples=4)


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("filters") / "report.html"
    write_html(path, MADE.evaluation())
    return path.as_uri()


@pytest.fixture
def page(browser: Chrome, address: str) -> Chrome:
    return open_page(browser, address)


def choose(page: Chrome, name: str, text: str) -> None:
    Select(page.find_element(By.CSS_SELECTOR, f"#filters [name={name}]")).select_by_visible_text(text)


def count(page: Chrome) -> str:
    return page.find_element(By.ID, "count").text


def read_choice(page: Chrome) -> str:
    return page.find_element(By.CSS_SELECTOR, ".chosen").text


def passing(test: Callable[[CaseVerdict], bool]) -> list[CaseVerdict]:
    return [verdict for verdict in MADE.verdicts() if test(verdict)]


def find_visible(page: Chrome, css: str) -> list[WebElement]:
    return [find_element for find_element in page.find_elements(By.CSS_SELECTOR, css) if find_element.is_displayed()]


def narrow(page: Chrome) -> list[CaseVerdict]:
    """Set four filters, and return the verdicts that should be left."""
    choose(page, "placement", "spread")
    choose(page, "kind", "collective")
    page.find_element(By.NAME, "text").send_keys("Gather non")
    choose(page, "from", "32 B")
    choose(page, "to", "256 B")
    verdicts = passing(
        lambda verdict: (
            verdict.case.placement == "spread"
            and "gather" in verdict.case.operation
            and verdict.case.form == "nonblocking"
            and 32 <= verdict.case.size_bytes <= 256
        )
    )
    lines = len({verdict.case.operation for verdict in verdicts})
    until(page, lambda: count(page).startswith(f"{len(verdicts)} of 471 cases, {lines} of 39 operations"))
    return verdicts


def test_filters_hold_together_for_map_curves_and_tables(page: Chrome) -> None:
    verdicts = narrow(page)
    until(page, lambda: len(find_visible(page, "#map td[data-case]")) == len(verdicts))
    assert [element.get_attribute("data-map") for element in find_visible(page, "#map figure")] == ["spread"]
    lines = {f"{verdict.case.operation}.nonblocking" for verdict in verdicts}
    keys = [str(element.get_attribute("data-key")) for element in find_visible(page, "#curves figure")]
    assert {".".join(key.split(".")[:2]) for key in keys} == lines
    assert len(keys) == len(lines)
    tables = find_visible(page, "details[data-table=results]")
    assert len(tables) == len(lines)
    tables[0].find_element(By.TAG_NAME, "summary").click()
    until(page, lambda: len(find_visible(page, "details[data-table=results] tbody tr")) == 4)
    assert read_log(page, "browser") == []


def test_findings_and_groups_are_shown_where_one_of_their_cases_passes(page: Chrome) -> None:
    findings = MADE.findings()
    assert len(find_visible(page, ".findings > li")) == len(findings)
    choose(page, "placement", "nodes")
    nodes = [finding for finding in findings if ".nodes." in finding.cases[0]]
    until(page, lambda: len(find_visible(page, ".findings > li")) == len(nodes))
    groups = [
        group for group in MADE.groups() if len(group.lines) > 1 and any(".nodes." in line for line in group.lines)
    ]
    assert len(find_visible(page, ".group")) == len(groups) > 0
    members = {str(element.get_attribute("data-member")) for element in find_visible(page, "[data-member]")}
    assert members
    assert all(".nodes." in line for line in members)
    assert count(page).endswith(f", {len(nodes)} of {len(findings)} findings")


@pytest.mark.parametrize(("choice", "wins"), [("alpha", True), ("not alpha", False)])
def test_a_candidate_is_sought_where_it_wins_or_is_beaten(page: Chrome, choice: str, wins: bool) -> None:
    choose(page, "candidate", choice)
    verdicts = passing(lambda verdict: ("alpha" in verdict.winners) == wins)
    until(page, lambda: count(page).startswith(f"{len(verdicts)} of 471 cases"))
    assert 0 < len(verdicts) < 471


def test_only_where_candidates_differ(page: Chrome) -> None:
    page.find_element(By.NAME, "differ").click()
    verdicts = passing(lambda verdict: len(verdict.winners) < len(verdict.ranking))
    until(page, lambda: count(page).startswith(f"{len(verdicts)} of 471 cases"))
    assert 0 < len(verdicts) < 471
    page.find_element(By.CSS_SELECTOR, "#filters button").click()
    until(page, lambda: count(page).startswith("471 of 471 cases"))


def test_what_has_no_case_left_says_so(page: Chrome) -> None:
    page.find_element(By.NAME, "text").send_keys("no such call")
    until(page, lambda: count(page).startswith("0 of 471 cases"))
    texts = [element.text for element in find_visible(page, ".nothing")]
    assert texts == [
        "No case passes the filters.",
        "No table has a case that passes the filters.",
        "No finding rests on a case that passes the filters.",
        "No curve passes the filters.",
        *["Nothing of this rests on a case that passes the filters."] * 2,
    ]
    assert [
        find_element.get_attribute("id")
        for find_element in page.find_elements(By.CSS_SELECTOR, "section:has(.nothing)")
    ] == [
        *("map", "tables", "findings", "curves", "places", "ranks"),
    ]


def test_the_address_leads_back_to_what_is_shown(page: Chrome, browser: Chrome) -> None:
    verdicts = narrow(page)
    until(page, lambda: len(find_visible(page, "#map td[data-case]")) == len(verdicts))
    find_visible(page, "#map td[data-case]")[1].click()
    until(page, lambda: "case=" in page.current_url and " at spread" in read_choice(page))
    address, sentence, case = page.current_url, count(page), read_choice(page)
    again = open_page(browser, address)
    assert count(again) == sentence
    assert read_choice(again) == case
    assert again.find_element(By.NAME, "text").get_property("value") == "Gather non"
    assert Select(again.find_element(By.NAME, "placement")).first_selected_option.text == "spread"
    link = find_visible(again, "nav a")[0]
    link.click()
    assert count(again) == sentence


def read_focus(page: Chrome) -> str:
    return page.switch_to.active_element.get_attribute("aria-label") or ""


def press(page: Chrome, *keys: str) -> None:
    ActionChains(page).send_keys(*keys).perform()


def test_the_map_is_walked_by_keys_and_a_case_is_chosen(page: Chrome) -> None:
    grid = page.find_element(By.CSS_SELECTOR, "#map [role=grid]")
    stops = [
        find_element
        for find_element in grid.find_elements(By.TAG_NAME, "td")
        if find_element.get_attribute("tabindex") == "0"
    ]
    assert len(stops) == 1
    page.execute_script("arguments[0].focus()", stops[0])
    assert read_focus(page).startswith("accumulate 8 B: alpha")
    press(page, Keys.ARROW_RIGHT, Keys.ARROW_RIGHT, Keys.ARROW_DOWN)
    assert read_focus(page).startswith("accumulate nonblocking 32 B: ")
    press(page, Keys.END)
    assert read_focus(page).startswith("accumulate nonblocking 32 KiB: ")
    press(page, Keys.HOME, Keys.ARROW_LEFT, Keys.ARROW_UP, Keys.ARROW_UP)
    assert read_focus(page).startswith("accumulate 8 B: ")
    press(page, Keys.ARROW_DOWN, Keys.ENTER)
    until(
        page,
        lambda: page.find_element(By.CSS_SELECTOR, ".chosen").text == "Shown: accumulate nonblocking 8 B at socket",
    )
    for plot in ("distribution", "curves", "launches"):
        figure = await_drawing(page, page.find_element(By.CSS_SELECTOR, f"#case figure[data-plot={plot}]"))
        assert figure.find_element(By.TAG_NAME, "figcaption").text.startswith("accumulate nonblocking")


def test_every_control_has_a_name_and_is_reached_by_tab(page: Chrome) -> None:
    controls = find_visible(page, "#filters select, #filters input, #filters button")
    assert [control.accessible_name for control in controls] == [
        "Placement",
        "Kind",
        "Operation",
        "Candidate",
        "Size from",
        "Size to",
        "only where candidates differ",
        "Clear",
    ]
    page.execute_script("arguments[0].focus()", controls[0])
    for element in controls[1:]:
        press(page, Keys.TAB)
        assert page.switch_to.active_element == element
    output = page.find_element(By.ID, "count")
    assert output.get_attribute("aria-live") == "polite"


def test_paper_shows_that_it_is_a_part(page: Chrome) -> None:
    choose(page, "placement", "spread")
    until(page, lambda: count(page).startswith("157 of 471 cases"))
    page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    assert [element.text for element in find_visible(page, "#sifted")] == [
        "Only a part of the campaign (placement: spread): 157 of 471 cases."
    ]
