"""Networks that write texts, by name: whole texts, or what is to come after each."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from tests.cli.calling import Caller
from uniqueinfo.scores.folder import load_table as load

WORDS = ["the", "film", "is", "dull", "bright", "slow", "warm", "cat"]
SMALL = {"vocab_size": len(WORDS) + 2, "pad_token_id": 0}


@pytest.fixture(scope="module")
def transformers() -> Any:
    return pytest.importorskip("transformers")


def with_tokenizer(model: Any, folder: Path, transformers: Any) -> Path:
    from tokenizers import Tokenizer, models, pre_tokenizers

    words = {word: number for number, word in enumerate(["<pad>", "<unk>", *WORDS])}
    tokenizer = Tokenizer(models.WordLevel(words, unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, unk_token="<unk>").save_pretrained(folder)
    model.save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def llama(transformers: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A very small causal network, random as it is."""
    config = transformers.LlamaConfig(
        **SMALL, hidden_size=8, intermediate_size=8, num_hidden_layers=1, num_attention_heads=2, num_key_value_heads=1
    )
    return with_tokenizer(transformers.LlamaForCausalLM(config), tmp_path_factory.mktemp("llama"), transformers)


@pytest.fixture(scope="module")
def t5(transformers: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    config = transformers.T5Config(
        **SMALL, d_model=8, d_kv=4, d_ff=8, num_layers=1, num_heads=2, decoder_start_token_id=0
    )
    return with_tokenizer(transformers.T5ForConditionalGeneration(config), tmp_path_factory.mktemp("t5"), transformers)


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    rows = [
        (" ".join(rng.choice(WORDS, 3 + i % 3)), " ".join(rng.choice(WORDS, 2)), f"vendor {i % 2}") for i in range(15)
    ]
    pd.DataFrame(rows, columns=["text", "answer", "vendor"]).to_csv(tmp_path / "texts.csv", index=False)
    return tmp_path / "texts.csv"


def test_whole_texts_need_no_label(tmp_path: Path, uniqueinfo: Caller, llama: Path, texts: Path) -> None:
    command = ("score", texts, "--text", "text", "--task", "generation", "--model", f"transformers:{llama}")
    answer = uniqueinfo(*command, "--out", tmp_path / "run")
    assert answer.code == 0, answer.err
    scores = load(tmp_path / "run")
    assert len(scores) == 12
    assert scores.settings["output_function"] == "sequence_margin"
    assert scores.settings["training"]["loss"] == "logistic"
    assert "vendor" in scores.frame()
    asked = uniqueinfo("attribute", tmp_path / "run", "--val-index", 0)
    assert asked.code == 0, asked.err


@pytest.mark.parametrize("network", ["llama", "t5"])
def test_a_text_after_another_is_learnt(
    network: str, tmp_path: Path, uniqueinfo: Caller, texts: Path, request: pytest.FixtureRequest
) -> None:
    place = request.getfixturevalue(network)
    command = ("score", texts, "--text", "text", "--label", "answer", "--task", "generation")
    answer = uniqueinfo(*command, "--model", f"transformers:{place}", "--out", tmp_path / "run")
    assert answer.code == 0, answer.err
    assert load(tmp_path / "run").settings["outputs"] == 1


def test_what_writes_one_text_from_another_needs_both(
    tmp_path: Path, uniqueinfo: Caller, t5: Path, texts: Path
) -> None:
    command = ("score", texts, "--text", "text", "--task", "generation", "--model", f"transformers:{t5}")
    answer = uniqueinfo(*command, "--out", tmp_path / "run")
    assert answer.code == 2
    assert "name the column of what it writes" in answer.err
    assert not (tmp_path / "run").exists()


def test_a_network_that_writes_no_texts_is_refused(tmp_path: Path, uniqueinfo: Caller, texts: Path) -> None:
    answer = uniqueinfo("score", texts, "--text", "text", "--task", "generation", "--out", tmp_path / "run")
    assert answer.code == 2
    assert "writes no texts" in answer.err
