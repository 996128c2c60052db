"""The site builds without a warning, its links lead somewhere, it asks nothing of any host, and its search finds."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.browsing import needs_browser, size
from tests.docs.blocks import ROOT
from website.check import problems

pytest.importorskip("material", reason="the site is built with mkdocs-material: pip install 'uniqueinfo[docs]'")

LOOKED_AT = (
    "index.html",
    "start/index.html",
    "understand/mathematics.html",
    "howto/mislabeled.html",
    "reference/scoring.html",
    "benchmarks.html",
)


def build(root: Path, folder: Path) -> subprocess.CompletedProcess[str]:
    """As `make docs` does; without --quiet, which would keep warnings from being counted."""
    return subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)],
        cwd=root,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1", "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'src'}"},
        capture_output=True,
        text=True,
        timeout=300,
    )


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """As `make docs` builds it."""
    folder = tmp_path_factory.mktemp("site")
    built = build(ROOT, folder)
    assert built.returncode == 0, built.stdout + built.stderr
    return folder


def test_nothing_is_wrong_with_it(site: Path) -> None:
    assert list(problems(site)) == []


def test_formulas_are_drawn(site: Path) -> None:
    page = (site / "understand" / "mathematics.html").read_text(encoding="utf-8")
    assert page.count("<math") > 40
    assert "formula-mark" not in page
    assert "$`" not in page


def test_pages_show_examples_and_what_they_print(site: Path) -> None:
    page = (site / "howto" / "mislabeled.html").read_text(encoding="utf-8")
    assert "--8&lt;--" not in page
    assert "labels look wrong" in page


@pytest.mark.parametrize(
    ("html", "sentence"),
    [
        ('<a href="none.html">', "none.html leads nowhere"),
        ('<a href="#none">', "leads to no such place"),
        ('<img src="https://example.org/x.png">', "asks for https://example.org/x.png"),
        ('<link rel="stylesheet" href="//example.org/x.css">', "asks for //example.org/x.css"),
        ("<p style=\"background: url('https://example.org/x.png')\">", "asks for https://example.org/x.png"),
    ],
)
def test_what_is_wrong_is_seen(html: str, sentence: str, tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text(html, encoding="utf-8")
    [found] = problems(tmp_path)
    assert sentence in found


def test_what_is_right_is_let_be(tmp_path: Path) -> None:
    html = '<h1 id="top"></h1><a href="#top"></a><a href="https://example.org"></a><a href="index.html#top"></a>'
    (tmp_path / "index.html").write_text(html, encoding="utf-8")
    assert list(problems(tmp_path)) == []


def asked(driver: Any) -> Iterator[str]:
    """Addresses that pages have asked for since this was last called."""
    for entry in driver.get_log("performance"):
        message = json.loads(entry["message"])["message"]
        if message["method"] == "Network.requestWillBeSent":
            yield message["params"]["request"]["url"]


@needs_browser
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_pages_fit_and_ask_nothing_of_any_host(site: Path, driver: Any, width: int, scheme: str) -> None:
    driver.get("about:blank")
    list(asked(driver))
    size(driver, width)
    feature = {"name": "prefers-color-scheme", "value": scheme}
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})
    for name in LOOKED_AT:
        driver.get((site / name).as_uri())
        wide = driver.execute_script("return document.documentElement.scrollWidth - window.innerWidth")
        assert wide <= 0, f"{name} is {wide} pixels too wide at {width}"
        drawn = driver.execute_script("return document.body.getAttribute('data-md-color-scheme')")
        assert drawn == {"light": "default", "dark": "slate"}[scheme]
    assert [url for url in asked(driver) if not url.startswith(("file:", "data:", "blob:", "about:"))] == []
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


@needs_browser
@pytest.mark.parametrize(("words", "target"), [("mislabeled", "mislabeled"), ("momentum", "training.html")])
def test_the_search_finds_from_a_file(site: Path, driver: Any, words: str, target: str) -> None:
    from selenium.webdriver.common.by import By
    from selenium.webdriver.support.ui import WebDriverWait

    size(driver, 1280)
    driver.get((site / "index.html").as_uri())
    field = driver.find_element(By.CSS_SELECTOR, "input.md-search__input")
    driver.execute_script("arguments[0].focus()", field)
    field.send_keys(words)
    WebDriverWait(driver, 20).until(lambda found: found.find_elements(By.CSS_SELECTOR, "a.md-search-result__link"))
    links = [each.get_attribute("href") for each in driver.find_elements(By.CSS_SELECTOR, "a.md-search-result__link")]
    assert any(target in link for link in links)
    assert all(link.startswith("file:") for link in links)


def test_a_warning_ends_the_build(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "index.md").write_text("[nowhere](nowhere.md)", encoding="utf-8")
    (tmp_path / "mkdocs.yml").write_text("site_name: x\nvalidation: {links: {not_found: warn}}\n", encoding="utf-8")
    assert build(tmp_path, tmp_path / "site").returncode != 0
