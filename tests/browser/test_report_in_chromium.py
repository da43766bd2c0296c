"""The report in a real browser: opened from disk, clicked, switched, narrowed, printed.

The browser is Debian's Chromium with its own chromedriver; nothing is downloaded.
"""

from __future__ import annotations

import base64
import json
from pathlib import Path

import pytest
from fakes import evaluations, kinds, mark_thorough, scales
from fakes.chromium import (
    await_drawing,
    click,
    draw_everything,
    find_visible,
    open_page,
    read_log,
    set_colours,
    set_width,
    wait_until,
)
from selenium.webdriver import Chrome, Keys
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.ui import Select

from rankbench.analysis.evaluation import evaluate
from rankbench.report import write_html

pytestmark = pytest.mark.needs("chromium", "chromedriver")

ALLREDUCE = "allreduce.blocking.8.float.socket.window"


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    path: Path = tmp_path_factory.mktemp("page") / "report.html"
    write_html(path, evaluations.make_evaluation())
    return path.as_uri()


@pytest.fixture(scope="module")
def kinds_address(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("kinds")
    write_html(folder / "report.html", evaluate(kinds.make_store(folder / "made")))
    return (folder / "report.html").as_uri()


@pytest.fixture
def page(browser: Chrome, address: str) -> Chrome:
    """Return the browser with the report reopened and all charts drawn."""
    return open_page(browser, address)


@pytest.fixture
def page_of_kinds(browser: Chrome, kinds_address: str) -> Chrome:
    """Return the browser with the report on a campaign of every kind of case."""
    return open_page(browser, kinds_address)


def find_figure(page: Chrome, plot: str) -> WebElement:
    """Return a figure, drawn, of the section that shows one case."""
    return await_drawing(page, page.find_element(By.CSS_SELECTOR, f"#case figure[data-plot={plot}]"))


def read_caption(page: Chrome, plot: str) -> str:
    return find_figure(page, plot).find_element(By.TAG_NAME, "figcaption").text.split("\n")[0]


def find_drawing(page: Chrome, plot: str) -> str:
    return find_figure(page, plot).find_element(By.CSS_SELECTOR, "svg").get_attribute("outerHTML") or ""


def find_cell(page: Chrome, label: str) -> WebElement:
    return page.find_element(By.CSS_SELECTOR, f"#map [aria-label='{label}']")


def read_colours(page: Chrome) -> tuple[str, str]:
    """Return the colours of the page's background and of an axis label in a chart."""
    script = "return getComputedStyle(document.querySelector(arguments[0]))[arguments[1]]"
    find_figure(page, "distribution")
    ground: str = page.execute_script(script, "body", "backgroundColor")
    label: str = page.execute_script(script, "#case .role-axis-label text", "fill")
    return ground, label


def test_the_page_opens_without_errors_and_requests(page: Chrome) -> None:
    assert read_log(page, "browser") == []
    assert page.execute_script("return performance.getEntriesByType('resource').length") == 0
    messages = [json.loads(entry["message"])["message"] for entry in read_log(page, "performance")]
    urls = [
        message["params"]["request"]["url"] for message in messages if message["method"] == "Network.requestWillBeSent"
    ]
    assert [url for url in urls if not url.startswith("data:")] == [page.current_url]


def test_every_chart_is_drawn_and_has_a_label_for_screen_readers(page: Chrome) -> None:
    draw_everything(page)
    figures = find_visible(page, "figure[data-plot]")
    assert len(figures) == 1 + 1 + 5 + 5
    for each in figures:
        graphic = each.find_element(By.CSS_SELECTOR, "svg")
        assert graphic.size["height"] > 50
        title = each.find_element(By.TAG_NAME, "figcaption").text.split("\n")[0]
        assert title in (
            each.find_element(By.CSS_SELECTOR, "[role=graphics-document]").get_attribute("aria-label") or ""
        )


def test_the_verdict_is_visible_first(page: Chrome) -> None:
    text = page.find_element(By.TAG_NAME, "main").text
    assert text.startswith(evaluations.QUESTION)
    assert text.index("Take alpha: it is fastest with small messages.") < 300
    assert page.find_element(By.CSS_SELECTOR, ".answer").location["y"] < 250


def test_a_click_on_a_cell_of_the_map_shows_its_case(page: Chrome) -> None:
    click(page, find_cell(page, "allreduce 8 B: alpha 2.00×"))
    wait_until(page, lambda: page.current_url.endswith(f"#case={ALLREDUCE}") and is_figure_in_view(page))
    wait_until(page, lambda: read_caption(page, "distribution").startswith("allreduce 8 B: all 392 samples"))
    assert read_caption(page, "curves") == "allreduce: time per call"
    assert Select(page.find_element(By.ID, "pick-size")).first_selected_option.text == "8 B"


def test_the_first_screen_has_question_answer_bars_map_validity_and_date(page: Chrome) -> None:
    page.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", set_width(1400))
    await_drawing(page, page.find_element(By.CSS_SELECTOR, "figure[data-plot=overall]"))
    page.execute_script("window.scrollTo(0, 0)")
    parts = ("#question", ".answer", "[data-plot=overall] svg", "#map td[data-case]", "#map tfoot", "#verdict .about")
    for part in parts:
        for element in find_visible(page, part):
            assert element.location["y"] + element.size["height"] < 900, part
            assert element.location["x"] + element.size["width"] <= 1400, part
    text = page.find_element(By.ID, "verdict").text
    for words in ("Valid on", "UTC", "campaign "):
        assert words in text


def test_one_case_begins_with_its_verdict_and_values_and_leads_on(page: Chrome) -> None:
    click(page, find_cell(page, "allreduce 8 B: alpha 2.00×"))
    chosen = page.find_element(By.CSS_SELECTOR, "#case .chosen")
    wait_until(page, lambda: chosen.text == "allreduce 8 B: alpha 2.00×.")
    wait_until(page, lambda: len(find_visible(page, "#case-values tbody tr")) == 1)
    assert page.find_element(By.CSS_SELECTOR, "#case-values tbody td.best").text.startswith("502 ns")
    page.find_element(By.ID, "next-case").click()
    wait_until(page, lambda: chosen.text == "allreduce 64 KiB: alpha ~ beta.")
    page.find_element(By.ID, "previous-case").click()
    wait_until(page, lambda: chosen.text == "allreduce 8 B: alpha 2.00×.")
    page.find_element(By.LINK_TEXT, "Back to the map").click()
    wait_until(page, lambda: find_visible(page, "#map")[0].location["y"] < 300)
    assert read_log(page, "browser") == []


def is_figure_in_view(page: Chrome) -> bool:
    top = page.execute_script("return document.getElementById('case').getBoundingClientRect().top")
    return 0 <= float(top) < 150


def test_choosing_another_case_changes_its_charts(page: Chrome) -> None:
    before = find_drawing(page, "distribution")
    Select(page.find_element(By.ID, "pick-size")).select_by_visible_text("64 KiB")
    wait_until(page, lambda: read_caption(page, "distribution").startswith("pingpong 64 KiB"))
    wait_until(page, lambda: find_drawing(page, "distribution") != before)
    Select(page.find_element(By.ID, "pick-line")).select_by_visible_text("allreduce nonblocking")
    wait_until(page, lambda: read_caption(page, "distribution").startswith("allreduce nonblocking 64 KiB"))
    assert read_caption(page, "curves") == "allreduce nonblocking: time per call"
    assert read_log(page, "browser") == []


@pytest.mark.thorough
def test_an_operation_without_sizes_can_be_chosen(page: Chrome) -> None:
    Select(page.find_element(By.ID, "pick-line")).select_by_visible_text("barrier")
    wait_until(page, lambda: read_caption(page, "distribution").startswith("barrier"))
    assert read_caption(page, "ratios") == "barrier: time relative to alpha"


def test_links_to_evidence_and_back_work_by_keyboard(page: Chrome) -> None:
    page.find_element(By.LINK_TEXT, "bandwidth 8 B").send_keys(Keys.ENTER)
    wait_until(page, lambda: read_caption(page, "distribution").startswith("bandwidth 8 B"))
    page.find_element(By.LINK_TEXT, "pingpong 64 KiB").send_keys(Keys.ENTER)
    wait_until(page, lambda: read_caption(page, "distribution").startswith("pingpong 64 KiB"))
    page.back()
    wait_until(page, lambda: read_caption(page, "distribution").startswith("bandwidth 8 B"))


def test_the_theme_follows_the_system_and_the_switch(page: Chrome) -> None:
    light = read_colours(page)
    page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "", "features": set_colours("dark")})
    dark = read_colours(page)
    assert dark[0] != light[0]
    assert dark[1] != light[1]
    switch = page.find_element(By.ID, "theme")
    wait_until(page, lambda: switch.text == "Light theme")
    switch.click()
    assert read_colours(page) == light
    assert switch.text == "Dark theme"


@pytest.mark.parametrize("width", [320, mark_thorough(390), mark_thorough(768)])
@pytest.mark.parametrize("fixture", ["page", "page_of_kinds"])
def test_a_narrow_screen_needs_no_horizontal_scrolling(
    request: pytest.FixtureRequest, fixture: str, width: int
) -> None:
    page: Chrome = request.getfixturevalue(fixture)
    page.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", set_width(width))
    page.refresh()
    wait_until(page, lambda: page.execute_script("return document.documentElement.dataset.ready === 'true'"))
    draw_everything(page)
    assert page.execute_script("const page = document.documentElement; return page.scrollWidth - page.clientWidth") == 0


def test_a_printed_page_is_white_and_unfolded(page: Chrome) -> None:
    light = read_colours(page)
    page.find_element(By.ID, "theme").click()
    assert read_colours(page) != light
    page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    assert read_colours(page) == light
    assert not page.find_element(By.ID, "theme").is_displayed()
    page.execute_script("window.dispatchEvent(new Event('beforeprint'))")
    assert page.find_elements(By.CSS_SELECTOR, "details:not([open])") == []
    paper = base64.b64decode(page.execute_cdp_cmd("Page.printToPDF", {})["data"])
    assert paper.startswith(b"%PDF")
    page.execute_script("window.dispatchEvent(new Event('afterprint'))")
    assert page.find_elements(By.CSS_SELECTOR, "details:not([open])") != []


@pytest.mark.thorough
def test_single_ranks_are_shown_for_operations_timed_by_all_ranks(page: Chrome) -> None:
    assert not find_figure(page, "ranks").is_displayed()
    click(page, find_cell(page, "allreduce 8 B: alpha 2.00×"))
    wait_until(page, lambda: read_caption(page, "distribution").startswith("allreduce 8 B"))
    wait_until(page, lambda: find_figure(page, "ranks").is_displayed())
    assert read_caption(page, "ranks") == "allreduce 8 B: from beginning to end of each rank"


def test_a_click_between_two_ranks_shows_their_pair(page_of_kinds: Chrome) -> None:
    page = page_of_kinds
    await_drawing(page, page.find_element(By.CSS_SELECTOR, "#pairs figure"))
    click(page, page.find_element(By.CSS_SELECTOR, "#pairs [aria-label*='from 3 to 0']"))
    wait_until(
        page, lambda: read_caption(page, "distribution").startswith("pingpong 8 B, from=3, to=0: all 240 samples")
    )
    assert read_caption(page, "bars") == "pingpong 8 B, from=3, to=0: latency (half a round trip)"
    assert read_log(page, "browser") == []


@pytest.mark.thorough
def test_options_can_be_chosen_by_name(page_of_kinds: Chrome) -> None:
    page = page_of_kinds
    Select(page.find_element(By.ID, "pick-line")).select_by_visible_text("put, allocation=create, epoch=fence")
    wait_until(
        page, lambda: read_caption(page, "distribution").startswith("put 8 B, allocation=create, epoch=fence: all ")
    )
    assert read_caption(page, "ratios") == "put, allocation=create, epoch=fence: time relative to alpha"
    Select(page.find_element(By.ID, "pick-line")).select_by_visible_text("allreduce, quantity=memory")
    wait_until(page, lambda: read_caption(page, "ratios") == "allreduce, quantity=memory: memory relative to alpha")


def test_a_size_is_chosen_for_all_charts_of_scaling_of_an_operation(browser: Chrome, tmp_path: Path) -> None:
    operations, sizes = ("barrier", "alltoall"), (8, 64, 512)
    store = scales.make_store(tmp_path / "made", lambda *_: 1000.0, operations=operations, sizes=sizes, launches=1)
    write_html(tmp_path / "report.html", evaluate(store))
    page = open_page(browser, (tmp_path / "report.html").as_uri())
    barrier, alltoall = page.find_elements(By.CSS_SELECTOR, "#scaling .scale")
    assert barrier.find_elements(By.TAG_NAME, "select") == []

    def list_captions(scale: WebElement) -> list[str]:
        for element in scale.find_elements(By.CSS_SELECTOR, "figure:not([hidden])"):
            await_drawing(page, element)
        shown = scale.find_elements(By.CSS_SELECTOR, "figure:not([hidden]) figcaption")
        return [web_element.text.partition(":")[0] for web_element in shown]

    assert (list_captions(barrier), list_captions(alltoall)) == (["barrier"] * 2, ["alltoall 64 B"] * 3)
    Select(alltoall.find_element(By.TAG_NAME, "select")).select_by_visible_text("512 B")
    wait_until(page, lambda: list_captions(alltoall) == ["alltoall 512 B"] * 3)
    assert list_captions(barrier) == ["barrier"] * 2
    assert read_log(page, "browser") == []
