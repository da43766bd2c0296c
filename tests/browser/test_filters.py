"""Filters and keys, by which readers of a large campaign find the cases that matter to them."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from fakes.chromium import await_drawing, find_visible, list_visible_texts, open_page, read_log, wait_until
from fakes.large import Large
from selenium.webdriver import ActionChains, Chrome, Keys
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.ui import Select

from rankbench.model import CaseVerdict
from rankbench.report import write_html

pytestmark = pytest.mark.needs("chromium", "chromedriver")

CAMPAIGN = Large(lines=12, sizes=13, blocks=3, samples=4)


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("filters") / "report.html"
    write_html(path, CAMPAIGN.make_evaluation())
    return path.as_uri()


@pytest.fixture
def page(browser: Chrome, address: str) -> Chrome:
    return open_page(browser, address)


def choose(page: Chrome, name: str, text: str) -> None:
    Select(page.find_element(By.CSS_SELECTOR, f"#filters [name={name}]")).select_by_visible_text(text)


def read_count(page: Chrome) -> str:
    return page.find_element(By.ID, "count").text


def read_choice(page: Chrome) -> str:
    return page.find_element(By.CSS_SELECTOR, ".chosen").text


def list_verdicts(test: Callable[[CaseVerdict], bool]) -> list[CaseVerdict]:
    return [verdict for verdict in CAMPAIGN.make_verdicts() if test(verdict)]


def set_filters(page: Chrome) -> list[CaseVerdict]:
    """Set four filters, and return the verdicts that should remain."""
    choose(page, "placement", "spread")
    choose(page, "kind", "collective")
    page.find_element(By.NAME, "text").send_keys("Gather non")
    choose(page, "from", "32 B")
    choose(page, "to", "256 B")
    verdicts = list_verdicts(
        lambda verdict: (
            verdict.case.placement == "spread"
            and "gather" in verdict.case.operation
            and verdict.case.form == "nonblocking"
            and 32 <= verdict.case.size_bytes <= 256
        )
    )
    lines = len({verdict.case.operation for verdict in verdicts})
    wait_until(page, lambda: read_count(page).startswith(f"{len(verdicts)} of 471 cases, {lines} of 39 operations"))
    return verdicts


def test_filters_apply_to_map_curves_and_tables(page: Chrome) -> None:
    verdicts = set_filters(page)
    wait_until(page, lambda: len(find_visible(page, "#map td[data-case]")) == len(verdicts))
    assert [element.get_attribute("data-map") for element in find_visible(page, "#map figure")] == ["spread"]
    lines = {f"{verdict.case.operation}.nonblocking" for verdict in verdicts}
    keys = [str(element.get_attribute("data-key")) for element in find_visible(page, "#curves figure")]
    assert {".".join(key.split(".")[:2]) for key in keys} == lines
    assert len(keys) == len(lines)
    tables = find_visible(page, "details[data-table=results]")
    assert len(tables) == len(lines)
    tables[0].find_element(By.TAG_NAME, "summary").click()
    wait_until(page, lambda: len(find_visible(page, "details[data-table=results] tbody tr")) == 4)
    assert read_log(page, "browser") == []


def test_findings_and_groups_are_shown_if_one_of_their_cases_passes(page: Chrome) -> None:
    findings = CAMPAIGN.make_findings()
    for summary in find_visible(page, ".alike > summary"):
        summary.click()
    assert len(find_visible(page, ".findings > li")) == len(findings)
    choose(page, "placement", "nodes")
    nodes = [finding for finding in findings if ".nodes." in finding.cases[0]]
    wait_until(page, lambda: len(find_visible(page, ".findings > li")) == len(nodes))
    is_shown = WebElement.is_displayed
    shown = filter(is_shown, page.find_elements(By.CSS_SELECTOR, ".alike"))
    assert all(any(map(is_shown, each.find_elements(By.CSS_SELECTOR, ".findings > li"))) for each in shown)
    groups = [
        group
        for group in CAMPAIGN.make_groups()
        if len(group.lines) > 1 and any(".nodes." in line for line in group.lines)
    ]
    assert len(find_visible(page, ".group")) == len(groups) > 0
    members = {str(element.get_attribute("data-member")) for element in find_visible(page, "[data-member]")}
    assert members
    assert all(".nodes." in line for line in members)
    assert read_count(page).endswith(f", {len(nodes)} of {len(findings)} findings")


@pytest.mark.parametrize(("choice", "wins"), [("alpha", True), ("not alpha", False)])
def test_a_candidate_is_filtered_by_winning_or_losing(page: Chrome, choice: str, wins: bool) -> None:
    choose(page, "candidate", choice)
    verdicts = list_verdicts(lambda verdict: ("alpha" in verdict.winners) == wins)
    wait_until(page, lambda: read_count(page).startswith(f"{len(verdicts)} of 471 cases"))
    assert 0 < len(verdicts) < 471


def test_cases_without_differences_can_be_hidden(page: Chrome) -> None:
    page.find_element(By.NAME, "differ").click()
    verdicts = list_verdicts(lambda verdict: len(verdict.winners) < len(verdict.ranking))
    wait_until(page, lambda: read_count(page).startswith(f"{len(verdicts)} of 471 cases"))
    assert 0 < len(verdicts) < 471
    page.find_element(By.CSS_SELECTOR, "#filters button").click()
    wait_until(page, lambda: read_count(page).startswith("471 of 471 cases"))


def test_sections_without_cases_say_so(page: Chrome) -> None:
    page.find_element(By.NAME, "text").send_keys("no such call")
    wait_until(page, lambda: read_count(page).startswith("0 of 471 cases"))
    assert list_visible_texts(page, ".nothing") == [
        "No case passes the filters.",
        "No table has a case that passes the filters.",
        "No finding rests on a case that passes the filters.",
        "No curve passes the filters.",
        *["Nothing of this rests on a case that passes the filters."] * 2,
    ]
    assert [
        element.get_attribute("id") for element in page.find_elements(By.CSS_SELECTOR, "section:has(.nothing)")
    ] == [
        *("map", "tables", "findings", "curves", "candidates", "places", "ranks"),
    ]


def test_the_address_restores_filters_and_case(page: Chrome, browser: Chrome) -> None:
    verdicts = set_filters(page)
    wait_until(page, lambda: len(find_visible(page, "#map td[data-case]")) == len(verdicts))
    find_visible(page, "#map td[data-case]")[1].click()
    wait_until(page, lambda: "case=" in page.current_url and " at spread" in read_choice(page))
    address, sentence, case = page.current_url, read_count(page), read_choice(page)
    again = open_page(browser, address)
    assert read_count(again) == sentence
    assert read_choice(again) == case
    assert again.find_element(By.NAME, "text").get_property("value") == "Gather non"
    assert Select(again.find_element(By.NAME, "placement")).first_selected_option.text == "spread"
    link = find_visible(again, "nav a")[0]
    link.click()
    assert read_count(again) == sentence


def read_focus(page: Chrome) -> str:
    return page.switch_to.active_element.get_attribute("aria-label") or ""


def press(page: Chrome, *keys: str) -> None:
    ActionChains(page).send_keys(*keys).perform()


def test_the_map_is_navigated_by_keys(page: Chrome) -> None:
    grid = page.find_element(By.CSS_SELECTOR, "#map [role=grid]")
    stops = [element for element in grid.find_elements(By.TAG_NAME, "td") if element.get_attribute("tabindex") == "0"]
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
    wait_until(
        page,
        lambda: page.find_element(By.CSS_SELECTOR, ".chosen").text.startswith("accumulate nonblocking 8 B at socket: "),
    )
    for plot in ("distribution", "curves"):
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


def test_a_printed_page_names_its_filters(page: Chrome) -> None:
    choose(page, "placement", "spread")
    wait_until(page, lambda: read_count(page).startswith("157 of 471 cases"))
    page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    assert [element.text for element in find_visible(page, "#sifted")] == [
        "Only a part of the campaign (placement: spread): 157 of 471 cases."
    ]
