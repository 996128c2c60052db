"""A Hugging Face data set and a transformer, here a tiny one with random weights."""

from __future__ import annotations

import time
from collections.abc import Iterator
from importlib import import_module

import numpy as np
import torch

import uniqueinfo as ui
from benchmarks.newcomers.story import NotHere, Setting, Story, Told, flips, judged

_WORDS, _LENGTH = 40, 12


def hugging_face(setting: Setting) -> Iterator[Told]:
    """Texts of two kinds, which share half of their words; five in a hundred have the wrong label."""
    try:
        datasets, transformers = import_module("datasets"), import_module("transformers")
    except ImportError as missing:
        raise NotHere(f"{missing.name} is not installed: pip install {missing.name}") from missing
    count = 60 if setting.small else 200
    rng = np.random.default_rng(0)
    right = rng.integers(0, 2, count)
    own = rng.integers(1, _WORDS // 4, (count, _LENGTH)) + (_WORDS // 4) * right[:, None]
    shared = rng.integers(_WORDS // 2, _WORDS, (count, _LENGTH))
    tokens = np.where(rng.random((count, _LENGTH)) < 0.5, own, shared)
    labels, wrong = flips(right, count // 20)
    columns = {"input_ids": tokens.tolist(), "attention_mask": np.ones_like(tokens).tolist(), "label": labels.tolist()}
    torch.manual_seed(0)
    size = {"hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 64}
    config = transformers.BertConfig(vocab_size=_WORDS, num_labels=1, **size)
    model = transformers.BertForSequenceClassification(config)
    started = time.perf_counter()
    answer = ui.mislabeled(ui.score(model, datasets.Dataset.from_dict(columns), progress=False))
    seconds = time.perf_counter() - started
    seen, accused = judged(answer, wrong)
    yield Told(
        f"Hugging Face: {count} texts, {len(wrong)} labels wrong",
        2,
        seconds,
        len(wrong),
        seen,
        accused,
        withheld=answer.withheld,
        figures=answer.health.sentence,
        missed=("suspects are withheld",) if answer.withheld and not setting.small else (),
    )


STORY = Story("hugging-face", hugging_face)
