"""A real Chromium, and an explorer for it to look at."""

import base64
import contextlib
import os
import shutil
import threading
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest
import uvicorn
from selenium.webdriver import Chrome, ChromeOptions
from selenium.webdriver.chrome.service import Service as Driver
from selenium.webdriver.support.ui import WebDriverWait

from tpr_rnn.explorer.app import create_app
from tpr_rnn.explorer.server import listen
from tpr_rnn.explorer.service import Service
from tpr_rnn.models.reader import Reader

PATIENCE = 60
"""Seconds; a busy machine may need them."""


def installed() -> bool:
    return bool(shutil.which("chromium") and shutil.which("chromedriver"))


needs_chromium = pytest.mark.skipif(
    not installed(), reason="no Chromium here; `make test-browser` installs one where it may"
)


class Browser(Chrome):
    def save_whole_page(self, path: Path) -> None:
        """A picture of all of the page, not of the window alone."""
        size = self.execute_cdp_cmd("Page.getLayoutMetrics", {})["cssContentSize"]
        clip = {"x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1}
        picture = self.execute_cdp_cmd(
            "Page.captureScreenshot", {"captureBeyondViewport": True, "clip": clip}
        )
        path.write_bytes(base64.b64decode(picture["data"]))


@contextlib.contextmanager
def chromium(width: int, height: int, *, dark: bool = False) -> Iterator[Browser]:
    options = ChromeOptions()
    options.binary_location = shutil.which("chromium") or ""
    for argument in (
        "--headless=new",
        "--disable-gpu",
        "--disable-dev-shm-usage",
        "--hide-scrollbars",
    ):
        options.add_argument(argument)
    if os.getuid() == 0:  # Chromium refuses its sandbox to root, as in a container
        options.add_argument("--no-sandbox")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    browser = Browser(options, Driver(shutil.which("chromedriver")))
    try:
        # A headless window has a least width; a phone is narrower.
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        theme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [theme]})
        yield browser
    finally:
        browser.quit()


@contextlib.contextmanager
def served(reader: Reader, name: str, beside: Mapping[str, Reader] | None = None) -> Iterator[str]:
    """An explorer in a thread; its address."""
    listening = listen("127.0.0.1", 0)
    app = create_app(Service(reader, name, beside or {}))
    server = uvicorn.Server(uvicorn.Config(app, log_level="error"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/"
    finally:
        server.should_exit = True
        thread.join()


def wait_until(browser: Browser, holds: Callable[[], object]) -> None:
    WebDriverWait(browser, PATIENCE, ignored_exceptions=()).until(lambda _: holds())
