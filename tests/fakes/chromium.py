"""Actions of a reader in a browser: open, look, click, and wait for the effect."""

from __future__ import annotations

from typing import Any

from selenium.common.exceptions import StaleElementReferenceException
from selenium.webdriver import ActionChains, Chrome
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.ui import WebDriverWait


def open_page(browser: Chrome, address: str) -> Chrome:
    """Open a report and wait until everything in it can be shown."""
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "", "features": set_colours("light")})
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", set_width(1280))
    browser.get("about:blank")
    for kind in ("browser", "performance"):
        read_log(browser, kind)
    browser.get(address)
    wait_until(browser, lambda: browser.execute_script("return document.documentElement.dataset.ready === 'true'"))
    return browser


def read_log(browser: Chrome, kind: str) -> list[dict[str, Any]]:
    """Return what the browser logged since the last call."""
    read: Any = browser.get_log
    return list(read(kind))


def set_colours(scheme: str) -> list[dict[str, str]]:
    return [{"name": "prefers-color-scheme", "value": scheme}]


def set_width(width: int) -> dict[str, Any]:
    return {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}


def wait_until(browser: Chrome, condition: Any) -> None:
    """Wait until a condition is true. The page may replace an element while the condition looks at it."""
    wait = WebDriverWait(browser, 120, 0.05, ignored_exceptions=[StaleElementReferenceException])
    wait.until(lambda _: condition())


def find_visible(page: Chrome, css: str) -> list[WebElement]:
    """Return the elements that a reader sees, all as of one moment."""
    script = "return [...document.querySelectorAll(arguments[0])].filter((element) => element.checkVisibility())"
    return list(page.execute_script(script, css))


def list_visible_texts(page: Chrome, css: str) -> list[str]:
    """Return the texts of the elements that a reader sees, all as of one moment."""
    script = (
        "return [...document.querySelectorAll(arguments[0])].filter((element) => element.checkVisibility())"
        ".map((element) => element.innerText.trim())"
    )
    return list(page.execute_script(script, css))


def scroll_into_view(page: Chrome, element: WebElement) -> None:
    """Scroll to an element."""
    page.execute_script("arguments[0].scrollIntoView({block: 'center', behavior: 'instant'})", element)


def click(page: Chrome, element: WebElement) -> None:
    """Click where an element is, whatever covers it there, as a reader does."""
    scroll_into_view(page, element)
    ActionChains(page).click(element).perform()


def await_drawing(page: Chrome, figure: WebElement) -> WebElement:
    """Scroll to a figure and wait until it is drawn."""
    scroll_into_view(page, figure)
    script = "const {key, drawn} = arguments[0].dataset; return key === drawn"
    wait_until(page, lambda: page.execute_script(script, figure))
    return figure


def draw_everything(page: Chrome) -> None:
    """Draw everything that would be printed."""
    page.execute_script("window.dispatchEvent(new Event('beforeprint'))")
    script = (
        "return [...document.querySelectorAll('figure[data-plot]:not([hidden])')]"
        ".every(({dataset}) => dataset.drawn === dataset.key)"
    )
    wait_until(page, lambda: page.execute_script(script))
