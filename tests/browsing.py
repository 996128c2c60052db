"""Chromium for the tests of pages: started once for all of them."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

BROWSER = shutil.which("chromium") or shutil.which("google-chrome")
DRIVER = shutil.which("chromedriver")
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--disable-dev-shm-usage",
    "--force-prefers-reduced-motion",  # clicks do not wait for smooth scrolling
)

needs_browser = pytest.mark.skipif(
    not (BROWSER and DRIVER and find_spec("selenium")),
    reason="no browser to drive here: apt-get install chromium chromium-driver; pip install selenium",
)


@contextmanager
def chromium(profile: Path) -> Iterator[Any]:
    """A browser that keeps a log of what its pages ask for."""
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    for flag in (*FLAGS, f"--user-data-dir={profile}"):
        options.add_argument(flag)
    options.binary_location = BROWSER or ""
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    found = webdriver.Chrome(options, webdriver.ChromeService(DRIVER))
    try:
        yield found
    finally:
        found.quit()


def size(driver: Any, width: int) -> None:
    """As wide as a screen, or as a phone."""
    driver.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600},
    )
