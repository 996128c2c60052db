"""The review in a real browser, its server a process of its own that can be killed."""

from __future__ import annotations

import json
import re
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from tests.browsing import needs_browser, size
from tests.review.runs_to_review import digit_table, scored
from uniqueinfo.review.decisions import read
from uniqueinfo.review.opening import opened

By = pytest.importorskip("selenium.webdriver.common.by").By
Wait = pytest.importorskip("selenium.webdriver.support.ui").WebDriverWait

pytestmark = [pytest.mark.slow, needs_browser]
SCRIPT = "<script>alert(1)</script>"


@contextmanager
def serving(run: Path, *, opinions: int = 1) -> Iterator[str]:
    """The review of a run, served by a thread: where it is."""
    with opened(run, opinions=opinions) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server.address
        finally:
            server.shutdown()
            thread.join()


@contextmanager
def started(run: Path, *options: str) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """The same as a user starts it: a process of its own."""
    command = [sys.executable, "-m", "uniqueinfo.cli", "review", str(run), "--no-open", *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        found = re.search(r"http://127\.0\.0\.1:\d+/\S+/", process.stdout.readline())
        try:
            assert found is not None
            yield found[0], process
        finally:
            process.kill()


@pytest.fixture
def run(folder_run: Path, tmp_path: Path) -> Path:
    """A copy, so that decisions of one test are not those of the next."""
    return Path(shutil.copytree(folder_run, tmp_path / "run"))


@pytest.fixture
def address(run: Path) -> Iterator[str]:
    with serving(run) as found:
        yield found


def visit(driver: Any, address: str, by: str = "Ann") -> None:
    size(driver, 1280)
    driver.get(f"{address}?by={by}")
    Wait(driver, 20).until(lambda page: page.find_elements(By.CSS_SELECTOR, "#decide .stage h2"))


def shown(driver: Any) -> str:
    """In one step: the page may be drawn anew in between."""
    return str(driver.execute_script("return document.querySelector('#decide .name').textContent")).split(" · ")[0]


def press(driver: Any, key: str) -> None:
    """A key, and wait until the page has answered."""
    before = driver.find_element(By.ID, "decide").get_attribute("data-turn")
    driver.execute_script(
        "const root = document.getElementById('decide'); root.addEventListener('turned', () =>"
        " { root.dataset.turn = String(Number(root.dataset.turn ?? 0) + 1); }, { once: true });"
    )
    driver.switch_to.active_element.send_keys(key)
    Wait(driver, 20).until(
        lambda page: (
            page.find_element(By.ID, "decide").get_attribute("data-turn") != before
            or page.find_element(By.CSS_SELECTOR, ".alarm").is_displayed()
        )
    )


def test_a_whole_review_by_keys(driver: Any, address: str, run: Path) -> None:
    driver.get("about:blank")
    driver.get_log("browser"), driver.get_log("performance")
    visit(driver, address)
    seen = []
    for key in "akdu":
        seen.append(shown(driver))
        press(driver, key)
    made = read(run / "decisions.jsonl")
    assert [one.sample for one in made] == seen
    assert [one.decision for one in made] == ["relabel", "keep", "drop", "unsure"]
    assert {one.by for one in made} == {"Ann"}
    fifth = shown(driver)
    press(driver, "2")  # the second of the classes that the network names
    driver.find_element(By.TAG_NAME, "body").send_keys("z")
    Wait(driver, 20).until(lambda page: shown(page) == fifth)
    driver.find_element(By.TAG_NAME, "body").send_keys("l")
    letter = "z" if fifth.startswith("two") else "t"  # zero and two are the only classes with these letters
    driver.switch_to.active_element.send_keys(letter)
    options = driver.find_elements(By.CSS_SELECTOR, ".chooser option")
    assert all(letter in option.text for option in options)
    driver.switch_to.active_element.send_keys("\n")
    Wait(driver, 20).until(lambda page: shown(page) != fifth)
    assert read(run / "decisions.jsonl")[-1].sample == fifth
    assert read(run / "decisions.jsonl")[-1].decision == "relabel"
    assert driver.switch_to.active_element.tag_name == "h2"  # a screen reader reads what is next
    assert fifth in driver.find_element(By.CSS_SELECTOR, "[aria-live]").text
    assert driver.get_log("browser") == []
    messages = [json.loads(entry["message"])["message"] for entry in driver.get_log("performance")]
    asked = [found["params"]["request"]["url"] for found in messages if found["method"] == "Network.requestWillBeSent"]
    assert all(address.startswith((address, "data:")) for address in asked)


def test_two_people_at_once_and_a_kill_in_between(driver: Any, run: Path) -> None:
    first = driver.current_window_handle
    try:
        with started(run, "--opinions", "2") as (address, process):
            visit(driver, address, "Ann")
            name = shown(driver)
            driver.switch_to.new_window("window")
            visit(driver, address, "Ben")
            assert shown(driver) == name
            press(driver, "d")
            driver.switch_to.window(first)
            press(driver, "k")
            assert "on 0 of them (0 %) they agree" in driver.find_element(By.ID, "people").text
            process.send_signal(signal.SIGKILL)
            process.wait()
            press(driver, "a")
            assert "what you decided is kept" in driver.find_element(By.CSS_SELECTOR, ".alarm").text
        with serving(run, opinions=2) as address:
            visit(driver, address, "Ann")
            assert shown(driver) != name
            assert driver.find_element(By.ID, "count").text.startswith("1 decided")
        made = {(one.sample, one.by, one.decision) for one in read(run / "decisions.jsonl")}
        assert made == {(name, "Ann", "keep"), (name, "Ben", "drop")}
    finally:
        for window in set(driver.window_handles) - {first}:
            driver.switch_to.window(window)
            driver.close()
        driver.switch_to.window(first)
        driver.get_log("browser")


def test_a_wrong_token_and_another_origin_get_nothing(driver: Any, address: str, run: Path, tmp_path: Path) -> None:
    driver.get(re.sub(r"/[^/]+/$", "/guess/", address))
    assert "there is no such page" in driver.page_source
    page = tmp_path / "evil.html"
    page.write_text("<p>evil</p>")
    driver.get(page.as_uri())
    send = (
        "const done = arguments[1]; const body = JSON.stringify({by: 'Ann'});"
        "fetch(arguments[0] + 'undo', {method: 'POST', mode: 'no-cors', body})"
        ".then(() => fetch(arguments[0] + 'next')).then(() => done('read'), () => done('refused'))"
    )
    assert driver.execute_async_script(send, address) == "refused"
    assert not (run / "decisions.jsonl").exists()


def test_nothing_sticks_out_and_every_control_has_a_name(driver: Any, address: str) -> None:
    visit(driver, address)
    for width in (1280, 390):
        size(driver, width)
        assert driver.execute_script("return document.documentElement.scrollWidth") <= width
    nameless = driver.execute_script(
        "return [...document.querySelectorAll('button, input, select, img, [role=progressbar]')].filter(e =>"
        " !(e.textContent.trim() || e.getAttribute('aria-label') || e.labels?.length || e.getAttribute('alt')))"
        ".map(e => e.outerHTML.slice(0, 80))"
    )
    assert nameless == []


def test_labels_and_texts_that_are_markup_stay_text(driver: Any, tmp_path: Path) -> None:
    names = (SCRIPT, "</script><img src=x onerror=alert(2)>", "a & b")
    table = digit_table(names)
    table["id"] = [f"{SCRIPT}{row}" for row in range(len(table))]
    table.to_json(tmp_path / "digits.jsonl", orient="records", lines=True)
    run = scored(tmp_path / "digits.jsonl", tmp_path / "run")
    driver.get("about:blank")
    driver.get_log("browser")
    with serving(run) as address:
        visit(driver, address, SCRIPT)
        assert shown(driver).startswith(SCRIPT)
        assert driver.execute_script("return document.querySelectorAll('[onerror], main script').length") == 0
        press(driver, "a")
        assert driver.get_log("browser") == []
    (made,) = read(run / "decisions.jsonl")
    assert made.label in names
    assert made.by == SCRIPT


def test_the_report_hands_out_the_same_decisions_as_a_file(
    driver: Any, table_run: Path, tmp_path: Path, uniqueinfo: Any
) -> None:
    run = Path(shutil.copytree(table_run, tmp_path / "run"))
    assert uniqueinfo("report", run).code == 0
    size(driver, 1280)
    driver.get((run / "report.html").as_uri())
    driver.execute_cdp_cmd("Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(tmp_path / "down")})
    driver.execute_script("document.querySelector('[data-decide]').click()")
    Wait(driver, 20).until(lambda page: page.find_elements(By.CSS_SELECTOR, "#decide .stage h2"))
    seen = []
    for key in "adkz":
        seen.append(shown(driver))
        press(driver, key)
    driver.execute_script("document.getElementById('decisions').click()")
    file = tmp_path / "down" / "decisions.jsonl"
    Wait(driver, 20).until(lambda _: file.exists() and file.stat().st_size)
    assert [(one.sample, one.decision) for one in read(file)] == [(seen[0], "relabel"), (seen[1], "drop")]
    assert driver.get_log("browser") == []
    assert uniqueinfo("clean", run, "--decisions", file, "--out", tmp_path / "clean.csv").code == 0
    assert len(pd.read_csv(tmp_path / "clean.csv")) == 89
