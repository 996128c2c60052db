"""The story model of the benchmark: network and tokenizer are the published ones, and its page says what ran."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from benchmarks.real_training.peers import Attributed
from benchmarks.stories.network import continued
from benchmarks.stories.page import Results, write_page
from benchmarks.stories.task import Task
from tests.realdata import path

PUBLISHED = "Once upon a time, there was a little girl named Lily. She loved to play outside in the park."


@pytest.fixture(scope="module")
def task() -> Task:
    path("stories260k.npz")
    return Task.of(path("imdb_4000.jsonl").parent, passages=12, held_out=3)


def test_the_network_tells_the_published_story(task: Task) -> None:
    tokens = continued(task.start, [task.tokens.START], 32, temperature=1e-4)  # the likeliest of all
    assert task.tokens.decode(tokens) == PUBLISHED


def test_texts_come_back_from_their_tokens(task: Task) -> None:
    assert task.tokens.decode(task.tokens.encode("Lily’s café is 20% bigger")) == "Lily’s café is 20% bigger"


def test_prompt_and_padding_do_not_count(task: Task) -> None:
    inputs, targets = task.asked([*task.prompt, 5, 6])
    assert targets[0][targets[0] != -100].tolist() == [5, 6]
    assert inputs.shape == targets.shape == (4, 64)


def test_the_page_says_what_leaving_out_really_did(task: Task, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    changes, losses = 0.1 * rng.normal(size=(12, 4)), np.full(4, 2.0)
    names = ("for", "against", *(f"random-{number:02}" for number in range(4)))
    groups = {name: rng.choice(12, 3, replace=False) for name in names}
    again = {name: losses - 0.01 * (number + 1) for number, name in enumerate(names)}
    one = np.array(1.0)
    base = {"sentence": np.array([1, 403]), "seconds": one, "before": losses + 1, "losses": losses}
    ours = {"changes": changes, "seconds": one, "weights": np.array(10), "error": one}
    others = {"trak": changes, "products": changes, "seconds": one}
    packages = {
        "ekfac": Attributed(effects=changes, seconds=7.0),
        "tracin": Attributed(error="over 600 s"),
    }
    write_page(task, Results(base, ours, ours, others, packages, again, groups, tokens=10), tmp_path / "page.md")
    said = (tmp_path / "page.md").read_text(encoding="utf-8")
    assert "| those that did most for it | +0.10 |" in said  # 0.01 a token, 10 tokens
    assert "EK-FAC (kronfluence), the closest of the other packages" in " ".join(said.split())
    assert "| EK-FAC (kronfluence) |" in said
    assert "| TracIn (captum) | over 600 s | | | |" in said
    assert (tmp_path / "page" / "sentence.png").stat().st_size > 5_000
