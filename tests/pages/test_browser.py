"""The page in a real browser: it asks for nothing, and its controls do what they say."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.browsing import needs_browser, size
from tests.pages.examples import SCRIPT, digits, hostile, written

By = pytest.importorskip("selenium.webdriver.common.by").By
Keys = pytest.importorskip("selenium.webdriver.common.keys").Keys

pytestmark = [pytest.mark.slow, needs_browser]


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    scores, views = digits()
    return written(scores, tmp_path_factory.mktemp("report") / "report.html", samples=views)


@pytest.fixture
def page(driver: Any, report: Path) -> Any:
    size(driver, 1280)
    driver.get(report.as_uri())
    return driver


def column(page: Any, name: str) -> list[str]:
    """The cells shown in one column."""
    names = [head.get_attribute("data-name") for head in page.find_elements(By.CSS_SELECTOR, "#table thead th")]
    cells = page.find_elements(By.CSS_SELECTOR, f"#table tbody td:nth-child({names.index(name) + 1})")
    return [cell.text for cell in cells]


def sort_by(page: Any, name: str) -> str:
    head = page.find_element(By.CSS_SELECTOR, f"th[data-name='{name}']")
    page.execute_script("arguments[0].click()", head.find_element(By.TAG_NAME, "button"))
    return str(head.get_attribute("aria-sort"))


def choose(page: Any, name: str, choice: str) -> None:
    select = page.find_element(By.NAME, name)
    option = next(found for found in select.find_elements(By.TAG_NAME, "option") if found.text == choice)
    option.click()


def test_the_page_loads_without_errors_or_requests(driver: Any, report: Path) -> None:
    driver.get("about:blank")
    driver.get_log("browser"), driver.get_log("performance")
    driver.get(report.as_uri())
    driver.find_element(By.CSS_SELECTOR, "#most .card").click()
    assert driver.get_log("browser") == []
    messages = [json.loads(entry["message"])["message"] for entry in driver.get_log("performance")]
    asked = [found["params"]["request"]["url"] for found in messages if found["method"] == "Network.requestWillBeSent"]
    assert {address for address in asked if not address.startswith("data:")} <= {report.as_uri()}


def test_the_most_informative_come_first(page: Any) -> None:
    shown = np.array(column(page, "functional"), dtype=float)
    assert (np.diff(shown) <= 0).all()


def test_a_heading_sorts_and_sorts_back(page: Any) -> None:
    assert sort_by(page, "loo_loss") == "descending"
    assert (np.diff(np.array(column(page, "loo_loss"), dtype=float)) <= 0).all()
    assert sort_by(page, "loo_loss") == "ascending"
    assert (np.diff(np.array(column(page, "loo_loss"), dtype=float)) >= 0).all()


def test_ids_sort_as_names(page: Any) -> None:
    sort_by(page, "id")
    assert column(page, "id")[:2] == ["digit-000", "digit-001"]


def test_the_label_filters(page: Any) -> None:
    choose(page, "label", "3")
    assert set(column(page, "label")) == {"3"}


def test_a_column_of_the_user_filters(page: Any) -> None:
    choose(page, "column:source", "paper")
    assert set(column(page, "column:source")) == {"paper"}
    assert page.find_element(By.ID, "count").text.endswith("of 40 samples")


def test_filters_work_together_and_clear(page: Any) -> None:
    choose(page, "column:source", "paper")
    choose(page, "label", "3")
    assert set(column(page, "label")) == {"3"}
    assert set(column(page, "column:source")) == {"paper"}
    page.find_element(By.CSS_SELECTOR, "#filters [type=reset]").click()
    page.execute_async_script("setTimeout(arguments[0], 50)")
    assert page.find_element(By.ID, "count").text.endswith("of 120 samples")


def test_a_search_finds_an_id(page: Any) -> None:
    page.find_element(By.NAME, "search").send_keys("Digit-017")
    assert column(page, "id") == ["digit-017"]


def test_a_search_for_nothing_there_says_so(page: Any) -> None:
    page.find_element(By.NAME, "search").send_keys("zebra")
    assert column(page, "id") == []
    assert "No sample fits" in page.find_element(By.ID, "count").text


def test_suspects_only_shows_suspects(page: Any) -> None:
    page.find_element(By.NAME, "suspects").click()
    assert set(column(page, "suspect")) == {"yes"}


def test_pages_turn(page: Any) -> None:
    first = column(page, "id")
    page.execute_script("document.getElementById('next').click()")
    assert not set(first) & set(column(page, "id"))
    assert page.find_element(By.ID, "page").text == "Page 2 of 5"


def test_a_card_opens_its_sample_with_its_effects(page: Any) -> None:
    scores, _ = digits()
    assert scores.functional is not None
    assert scores.effects is not None
    card = page.find_element(By.CSS_SELECTOR, "#most .card")
    card.click()
    sample = int(scores.functional.argmax())
    assert page.find_element(By.ID, "detail-title").text == f"digit-{sample:03d}"
    felt = page.find_elements(By.CSS_SELECTOR, ".effects li")
    named = zip(felt, scores.effects.validation[sample], strict=True)
    assert all(f"validation {j} ·" in item.text for item, j in named)
    raised = [("raises" in item.text) for item in felt]
    assert raised == (scores.effects.change[sample] >= 0).tolist()
    assert len(page.find_elements(By.CSS_SELECTOR, ".effects img")) == 4


def test_the_keyboard_opens_and_closes_a_sample(page: Any) -> None:
    button = page.find_element(By.CSS_SELECTOR, "#table tbody button.open")
    button.send_keys(Keys.ENTER)
    dialog = page.find_element(By.ID, "detail")
    assert dialog.get_attribute("open")
    page.switch_to.active_element.send_keys(Keys.ESCAPE)
    assert not dialog.get_attribute("open")
    assert page.switch_to.active_element == button


@pytest.mark.parametrize("width", [1280, 390, 320])
def test_nothing_sticks_out_sideways(page: Any, width: int) -> None:
    size(page, width)
    assert page.execute_script("return document.documentElement.scrollWidth") <= width


def test_every_control_and_picture_has_a_name(page: Any) -> None:
    nameless = page.execute_script(
        "return [...document.querySelectorAll('button, input, select, svg, main img, table, section')].filter(e =>"
        " !(e.textContent.trim() || e.getAttribute('aria-label') || e.getAttribute('aria-labelledby') ||"
        " e.labels?.length || e.hasAttribute('alt'))).map(e => e.outerHTML.slice(0, 80))"
    )
    assert nameless == []


def test_markup_of_the_user_stays_text(driver: Any, tmp_path: Path) -> None:
    scores, views = hostile()
    driver.get("about:blank")
    driver.get_log("browser")
    driver.get(written(scores, tmp_path / "report.html", samples=views).as_uri())
    assert SCRIPT in column(driver, "label")
    driver.find_element(By.CSS_SELECTOR, "#most .card").click()
    assert driver.find_element(By.ID, "detail-title").text.startswith(SCRIPT)
    assert SCRIPT in driver.find_element(By.CSS_SELECTOR, ".effects").text
    assert f"validation {SCRIPT} felt " in driver.find_element(By.CSS_SELECTOR, ".effects .name").text
    assert driver.execute_script("return document.querySelectorAll('b b, i:not([class]), [onerror]').length") == 0
    assert driver.get_log("browser") == []


@pytest.mark.parametrize("width", [1100, 390])
def test_the_columns_of_groups_are_all_within_sight(driver: Any, report: Path, width: int) -> None:
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    try:
        driver.get(report.as_uri())
        tables = "[...document.querySelectorAll('.groups .scroll')]"
        cut = f"return {tables}.filter(table => table.scrollWidth > table.clientWidth).length"
        assert driver.execute_script(cut) == 0
    finally:
        driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
