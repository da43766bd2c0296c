"""The search of the documentation site, opened from a disk: it answers, loads nothing, and lists tasks first."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from fakes.chromium import read_log, wait_until
from selenium.webdriver import Chrome
from selenium.webdriver.common.by import By

pytestmark = pytest.mark.needs("chromium", "chromedriver")

ROOT = Path(__file__).parents[2]
RESULT = ".md-search-result__item > a.md-search-result__link"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--site-dir", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    return folder


def list_found(browser: Chrome, site: Path) -> list[str]:
    """Return the pages found, best first."""
    links = [str(link.get_attribute("href")) for link in browser.find_elements(By.CSS_SELECTOR, RESULT)]
    return [link.removeprefix(f"{site.as_uri()}/").partition("?")[0].partition("#")[0] for link in links]


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("words", "first"),
    [
        ("slurm", "tutorial/on-a-cluster.html"),
        ("uninstall", "howto/questions.html"),
        ("gpu", "howto/questions.html"),
        ("spack", "howto/modules-spack-prefixes.html"),
        ("regression", "howto/ci-gate.html"),
    ],
)
def test_search_works_from_a_disk_and_lists_tasks_first(browser: Chrome, site: Path, words: str, first: str) -> None:
    read_log(browser, "performance")
    browser.get("about:blank")
    browser.get(f"{(site / 'index.html').as_uri()}?q={words}")
    wait_until(browser, lambda: list_found(browser, site))
    assert list_found(browser, site)[0] == first
    assert [entry for entry in read_log(browser, "performance") if '"url":"http' in str(entry)] == []
