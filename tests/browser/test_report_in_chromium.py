"""The report as a reader meets it: opened from disk in a real browser, clicked, switched, narrowed, printed.

The browser is Debian's Chromium, driven by its own chromedriver; nothing is downloaded.
"""

from __future__ import annotations

import base64
import json
import shutil
from typing import TYPE_CHECKING, Any

import pytest
from fakes import evaluations
from selenium.webdriver import ActionChains, Chrome, ChromeOptions, Keys
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import Select, WebDriverWait

from rankbench.report import write_html

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from selenium.webdriver.remote.webelement import WebElement

SWITCHES = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
ALLREDUCE = "allreduce.blocking.8.float.socket.window"


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chrome]:
    binary, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if not binary or not driver:
        pytest.fail(
            "browser tests need chromium and chromedriver on PATH; "
            "on Debian: apt-get install --no-install-recommends chromium chromium-driver",
            pytrace=False,
        )
    options = ChromeOptions()
    options.binary_location = binary
    for switch in (*SWITCHES, f"--user-data-dir={tmp_path_factory.mktemp('chromium')}"):
        options.add_argument(switch)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    chromium = Chrome(options=options, service=Service(driver))
    yield chromium
    chromium.quit()


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    path: Path = tmp_path_factory.mktemp("page") / "report.html"
    write_html(path, evaluations.evaluation())
    return path.as_uri()


@pytest.fixture
def page(browser: Chrome, address: str) -> Chrome:
    """Return the browser with the report opened anew and all charts drawn."""
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "", "features": colours("light")})
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics(1280))
    browser.get("about:blank")
    for kind in ("browser", "performance"):
        logged(browser, kind)
    browser.get(address)
    until(browser, lambda: browser.execute_script("return document.documentElement.dataset.drawn === 'true'"))
    return browser


def logged(browser: Chrome, kind: str) -> list[dict[str, Any]]:
    """Return what the browser logged since the last call."""
    read: Any = browser.get_log
    return list(read(kind))


def colours(scheme: str) -> list[dict[str, str]]:
    return [{"name": "prefers-color-scheme", "value": scheme}]


def metrics(width: int) -> dict[str, Any]:
    return {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}


def until(browser: Chrome, condition: Any) -> None:
    WebDriverWait(browser, 30, 0.05).until(lambda _: condition())


def figure(page: Chrome, plot: str) -> WebElement:
    """Return a figure of the part that shows one case."""
    return page.find_element(By.CSS_SELECTOR, f"#case figure[data-plot={plot}]")


def caption(page: Chrome, plot: str) -> str:
    return figure(page, plot).find_element(By.TAG_NAME, "figcaption").text.split("\n")[0]


def drawing(page: Chrome, plot: str) -> str:
    return figure(page, plot).find_element(By.CSS_SELECTOR, "svg").get_attribute("outerHTML") or ""


def cell(page: Chrome, label: str) -> WebElement:
    return page.find_element(By.CSS_SELECTOR, f"#map [aria-label='{label}']")


def click(page: Chrome, element: WebElement) -> None:
    """Click where an element is, whatever lies on top of it there, as a reader does."""
    page.execute_script("arguments[0].scrollIntoView({block: 'center', behavior: 'instant'})", element)
    ActionChains(page).click(element).perform()


def ink(page: Chrome) -> tuple[str, str]:
    """Return the colours of the page's ground and of an axis label in a chart."""
    script = "return getComputedStyle(document.querySelector(arguments[0]))[arguments[1]]"
    ground: str = page.execute_script(script, "body", "backgroundColor")
    label: str = page.execute_script(script, "#case .role-axis-label text", "fill")
    return ground, label


def test_it_opens_without_a_complaint_and_without_a_request(page: Chrome) -> None:
    assert logged(page, "browser") == []
    assert page.execute_script("return performance.getEntriesByType('resource').length") == 0
    messages = [json.loads(entry["message"])["message"] for entry in logged(page, "performance")]
    asked = [one["params"]["request"]["url"] for one in messages if one["method"] == "Network.requestWillBeSent"]
    assert [url for url in asked if not url.startswith("data:")] == [page.current_url]


def test_every_chart_is_drawn_and_named_for_those_who_cannot_see_it(page: Chrome) -> None:
    figures = [one for one in page.find_elements(By.TAG_NAME, "figure") if one.is_displayed()]
    assert len(figures) == 1 + 4 + 5 + 2
    for each in figures:
        graphic = each.find_element(By.CSS_SELECTOR, "svg")
        assert graphic.size["height"] > 50
        title = each.find_element(By.TAG_NAME, "figcaption").text.split("\n")[0]
        assert title in (
            each.find_element(By.CSS_SELECTOR, "[role=graphics-document]").get_attribute("aria-label") or ""
        )


def test_the_verdict_is_what_a_reader_sees_first(page: Chrome) -> None:
    text = page.find_element(By.TAG_NAME, "main").text
    assert text.startswith(evaluations.QUESTION)
    assert text.index("Take alpha: it is fastest with small messages.") < 300
    assert page.find_element(By.CSS_SELECTOR, ".conclusion li").location["y"] < 500


def test_a_click_on_a_cell_of_the_map_shows_that_case(page: Chrome) -> None:
    click(page, cell(page, "allreduce 8 B: alpha 2.00×"))
    until(page, lambda: caption(page, "distribution").startswith("allreduce 8 B: all 392 samples"))
    assert caption(page, "curves") == "allreduce: time per call"
    assert page.current_url.endswith(f"#case={ALLREDUCE}")
    assert Select(page.find_element(By.ID, "pick-size")).first_selected_option.text == "8 B"
    until(page, lambda: figure_in_view(page))


def figure_in_view(page: Chrome) -> bool:
    top = page.execute_script("return document.getElementById('case').getBoundingClientRect().top")
    return -5 < float(top) < 100


def test_choosing_another_case_changes_its_charts(page: Chrome) -> None:
    before = drawing(page, "distribution")
    Select(page.find_element(By.ID, "pick-size")).select_by_visible_text("64 KiB")
    until(page, lambda: caption(page, "distribution").startswith("pingpong 64 KiB"))
    until(page, lambda: drawing(page, "distribution") != before)
    Select(page.find_element(By.ID, "pick-line")).select_by_visible_text("allreduce nonblocking")
    until(page, lambda: caption(page, "distribution").startswith("allreduce nonblocking 64 KiB"))
    assert caption(page, "curves") == "allreduce nonblocking: time per call"
    assert logged(page, "browser") == []


def test_an_operation_without_sizes_can_be_chosen_too(page: Chrome) -> None:
    Select(page.find_element(By.ID, "pick-line")).select_by_visible_text("barrier")
    until(page, lambda: caption(page, "distribution").startswith("barrier"))
    assert caption(page, "ratios") == "barrier: time relative to alpha"


def test_evidence_leads_to_its_case_and_back_again_by_keyboard(page: Chrome) -> None:
    page.find_element(By.LINK_TEXT, "bandwidth 8 B").send_keys(Keys.ENTER)
    until(page, lambda: caption(page, "distribution").startswith("bandwidth 8 B"))
    page.find_element(By.LINK_TEXT, "pingpong 64 KiB").send_keys(Keys.ENTER)
    until(page, lambda: caption(page, "distribution").startswith("pingpong 64 KiB"))
    page.back()
    until(page, lambda: caption(page, "distribution").startswith("bandwidth 8 B"))


def test_the_theme_follows_the_system_and_the_switch(page: Chrome) -> None:
    light = ink(page)
    page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "", "features": colours("dark")})
    dark = ink(page)
    assert dark[0] != light[0]
    assert dark[1] != light[1]
    switch = page.find_element(By.ID, "theme")
    until(page, lambda: switch.text == "Light theme")
    switch.click()
    assert ink(page) == light
    assert switch.text == "Dark theme"


@pytest.mark.parametrize("width", [320, 390, 768])
def test_a_narrow_screen_needs_no_scrolling_sideways(page: Chrome, width: int) -> None:
    page.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics(width))
    page.refresh()
    until(page, lambda: page.execute_script("return document.documentElement.dataset.drawn === 'true'"))
    for opened in page.find_elements(By.TAG_NAME, "details"):
        page.execute_script("arguments[0].open = true", opened)
    assert page.execute_script("const page = document.documentElement; return page.scrollWidth - page.clientWidth") == 0


def test_paper_is_white_and_shows_what_was_folded(page: Chrome) -> None:
    light = ink(page)
    page.find_element(By.ID, "theme").click()
    assert ink(page) != light
    page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    assert ink(page) == light
    assert not page.find_element(By.ID, "theme").is_displayed()
    page.execute_script("window.dispatchEvent(new Event('beforeprint'))")
    assert page.find_elements(By.CSS_SELECTOR, "details:not([open])") == []
    paper = base64.b64decode(page.execute_cdp_cmd("Page.printToPDF", {})["data"])
    assert paper.startswith(b"%PDF")
    page.execute_script("window.dispatchEvent(new Event('afterprint'))")
    assert page.find_elements(By.CSS_SELECTOR, "details:not([open])") != []


def test_single_ranks_are_shown_for_what_all_ranks_measure(page: Chrome) -> None:
    assert not figure(page, "ranks").is_displayed()
    click(page, cell(page, "allreduce 8 B: alpha 2.00×"))
    until(page, lambda: caption(page, "distribution").startswith("allreduce 8 B"))
    until(page, lambda: figure(page, "ranks").is_displayed())
    assert caption(page, "ranks") == "allreduce 8 B: from beginning to end of each rank"
