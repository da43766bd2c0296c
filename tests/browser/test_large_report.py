"""A campaign of 100 operations x 24 sizes x 4 libraries x 3 placements: its page is small and opens quickly.

Times are printed and compared with those of an empty page in the same browser, since machines are shared. Causes of
slowness are counted: elements, and charts drawn before they are in view.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from fakes.chromium import await_drawing, open_page, read_log, scroll_into_view, wait_until
from fakes.large import Large
from selenium.webdriver import Chrome
from selenium.webdriver.common.by import By

from rankbench.report import write_html

pytestmark = [pytest.mark.needs("chromium", "chromedriver"), pytest.mark.thorough]

CASES = 3 * (100 * 24 + 1)
EMPTY = """<!doctype html><title>empty</title><script>
requestAnimationFrame(() => setTimeout(() => {
  performance.mark("opened");
  document.documentElement.dataset.opened = "true";
}));
</script>"""


@pytest.fixture(scope="module")
def report_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path: Path = tmp_path_factory.mktemp("large") / "report.html"
    write_html(path, Large(blocks=3, samples=4).make_evaluation())
    return path


def measure_opening_ms(browser: Chrome, path: Path) -> float:
    """Return the time until a page has drawn verdict and map."""
    browser.get("about:blank")
    browser.get(path.as_uri())
    wait_until(browser, lambda: browser.execute_script("return document.documentElement.dataset.opened === 'true'"))
    return float(browser.execute_script("return performance.getEntriesByName('opened')[0].startTime"))


def test_the_file_is_below_ten_megabytes(report_path: Path) -> None:
    assert report_path.stat().st_size < 10_000_000


def test_the_page_opens_with_its_first_screen_only(browser: Chrome, report_path: Path, tmp_path: Path) -> None:
    (tmp_path / "empty.html").write_text(EMPTY)
    empty_ms = min(measure_opening_ms(browser, tmp_path / "empty.html") for _ in range(3))
    own_ms = min(measure_opening_ms(browser, report_path) for _ in range(3))
    size = f"{report_path.stat().st_size / 1e6:.1f} MB"
    print(f"opened after {own_ms:.0f} ms, an empty page after {empty_ms:.0f} ms, {size}")
    assert own_ms < 100 * empty_ms
    # Maps stand side by side, and those that are in view are drawn; the only chart there is that of overall times.
    assert len(browser.find_elements(By.CSS_SELECTOR, "#map td[data-case]")) >= CASES / 3
    assert browser.execute_script("return document.querySelectorAll('svg').length") <= 1
    assert browser.execute_script("return document.querySelectorAll('*').length") < 4 * CASES


def test_only_requested_charts_are_drawn(browser: Chrome, report_path: Path) -> None:
    key = "allgather.blocking.1048576.byte.nodes.window"
    page = open_page(browser, f"{report_path.as_uri()}#case={key}&placement=nodes&text=allgather")
    assert page.find_element(By.CSS_SELECTOR, ".chosen").text.startswith("allgather 1 MiB at nodes: ")
    figure = await_drawing(page, page.find_element(By.CSS_SELECTOR, "#case figure[data-plot=distribution]"))
    assert figure.find_element(By.TAG_NAME, "figcaption").text.startswith("allgather 1 MiB: all 48 samples")
    first = await_drawing(page, page.find_element(By.CSS_SELECTOR, "#curves figure:not([hidden])"))
    assert first.find_element(By.TAG_NAME, "figcaption").text.startswith("allgather: time per call")
    assert int(page.execute_script("return document.documentElement.dataset.charts")) < 40
    table = page.find_element(By.CSS_SELECTOR, "details[data-table=results]:not([hidden])")
    scroll_into_view(page, table)
    table.find_element(By.TAG_NAME, "summary").click()
    wait_until(page, lambda: len(table.find_elements(By.CSS_SELECTOR, "tbody tr")) == 24)
    assert read_log(page, "browser") == []
    assert page.execute_script("return performance.getEntriesByType('resource').length") == 0
