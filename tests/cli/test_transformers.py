"""Texts through models of the transformers library: embedded, or read by the network itself."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tests.cli.calling import Caller
from uniqueinfo.scores.folder import load_table as load

WORDS = {"good": ["bright", "clever", "warm", "film"], "bad": ["dull", "slow", "cold", "film"]}


@pytest.fixture(scope="module")
def bert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A very small model with its tokenizer, random as it is."""
    transformers = pytest.importorskip("transformers")
    folder = tmp_path_factory.mktemp("bert")
    tokens = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *sorted({word for kind in WORDS.values() for word in kind})]
    (folder / "vocab.txt").write_text("\n".join(tokens))
    transformers.BertTokenizerFast(str(folder / "vocab.txt")).save_pretrained(folder)
    config = transformers.BertConfig(
        vocab_size=len(tokens), hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16
    )
    transformers.BertModel(config).save_pretrained(folder)
    return folder


@pytest.fixture
def reviews(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    rows = [(" ".join(rng.choice(WORDS[kind], 6)), kind) for kind in ("good", "bad") * 10]
    pd.DataFrame(rows, columns=["review", "label"]).to_csv(tmp_path / "reviews.csv", index=False)
    return tmp_path / "reviews.csv"


def test_texts_are_embedded(tmp_path: Path, uniqueinfo: Caller, bert: Path, reviews: Path) -> None:
    answer = uniqueinfo("score", reviews, "--text", "review", "--embed", bert, "--out", tmp_path / "run")
    assert answer.code == 0, answer.err
    assert load(tmp_path / "run").settings["width"] == 16 + 1


def test_a_transformer_reads_texts_itself(tmp_path: Path, uniqueinfo: Caller, bert: Path, reviews: Path) -> None:
    command = ("score", reviews, "--text", "review", "--model", f"transformers:{bert}", "--projection", 50)
    answer = uniqueinfo(*command, "--out", tmp_path / "run")
    assert answer.code == 0, answer.err
    assert len(load(tmp_path / "run")) == 16


def test_a_model_for_texts_that_is_not_there_is_named(tmp_path: Path, uniqueinfo: Caller, reviews: Path) -> None:
    pytest.importorskip("transformers")
    answer = uniqueinfo("score", reviews, "--text", "review", "--embed", tmp_path / "no", "--out", tmp_path / "run")
    assert answer.code == 2
    assert "name a folder that holds one" in answer.err
