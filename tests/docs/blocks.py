"""Code blocks of Markdown pages, and what a page takes as given."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
PAGES = ("README.md", *sorted(str(path.relative_to(ROOT)) for path in (ROOT / "docs").rglob("*.md")))
_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True)
class Block:
    """One of them."""

    language: str
    text: str
    line: int

    @property
    def is_included(self) -> bool:
        """Whether it shows a file of examples/, which has a test of its own."""
        return self.text.startswith("--8<--")


def blocks(page: str) -> list[Block]:
    """All of a page."""
    text = (ROOT / page).read_text(encoding="utf-8")
    return [
        Block(found[1], found[2], text[: found.start()].count("\n") + 2)
        for found in _BLOCK.finditer(text)
        if found[1] != "math"
    ]


def given() -> dict[str, Any]:
    """What readers of a page are taken to have: a network and its data, features, a training of their own."""
    import numpy as np
    import torch
    from torch import Tensor, nn
    from torch.utils.data import DataLoader, TensorDataset

    import uniqueinfo as ui

    torch.manual_seed(0)
    inputs = torch.randn(60, 4)
    classes = (inputs[:, 0] > 0).long()
    train, val = (inputs[:40], classes[:40]), (inputs[40:], classes[40:])
    X, y, X_val, y_val = (each.numpy() for each in (*train, *val))
    for name, array in {"X": X, "y": y, "X_val": X_val, "y_val": y_val}.items():
        np.save(f"{name}.npy", array)

    def network() -> nn.Module:
        torch.manual_seed(0)
        return nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 2))

    def my_training(positions: Any, seed: int) -> nn.Module:
        made = network()
        optimizer = torch.optim.SGD(made.parameters(), lr=0.1)
        chosen = torch.as_tensor(positions)
        for _ in range(5):
            optimizer.zero_grad()
            torch.autograd.backward(nn.functional.cross_entropy(made(train[0][chosen]), train[1][chosen]))
            optimizer.step()
        return made

    def my_margin(outputs: Tensor, targets: Tensor) -> Tensor:
        right = outputs.gather(1, targets[:, None])
        return right - outputs.gather(1, 1 - targets[:, None])

    model, trained = network(), my_training(range(40), 0)
    return {
        "ui": ui,
        "np": np,
        "torch": torch,
        "train": train,
        "val": val,
        "X": X,
        "y": y,
        "X_val": X_val,
        "y_val": y_val,
        "X_new": X_val[:3],
        "labels": y,
        "candidates": X_val,
        "model": model,
        "optimizer": torch.optim.SGD(model.parameters(), lr=0.1),
        "loader": DataLoader(TensorDataset(torch.arange(40), *train), batch_size=8, shuffle=True),
        "training": ui.GradientDescent(lr=0.1, steps=20),
        "scores": ui.score_features(X, y, X_val, y_val),
        "my_training": my_training,
        "model_before": network(),
        "model_after": trained,
        "before": network().state_dict(),
        "after": trained.state_dict(),
        "my_margin": my_margin,
    }


def language() -> dict[str, Any]:
    """Beside these, networks that write, and several inputs or labels of a sample."""
    import torch
    from torch import nn
    from transformers import GPT2Config, GPT2LMHeadModel

    torch.manual_seed(0)
    config = GPT2Config(
        vocab_size=12, n_positions=6, n_embd=8, n_layer=1, n_head=2, bos_token_id=None, eos_token_id=None
    )
    tokens = torch.randint(0, 12, (12, 6))
    several = (torch.randn(12, 4), torch.randint(0, 2, (12, 3)).float())
    return {
        "model": nn.Linear(4, 3),
        "train": several,
        "val": several,
        "language_model": GPT2LMHeadModel(config).train(False),  # type: ignore[no-untyped-call]
        "tokenized": {"input_ids": tokens[:9]},
        "tokenized_val": {"input_ids": tokens[9:]},
        "my_network": nn.Sequential(nn.Embedding(12, 6), nn.Linear(6, 12)),
        "tokens": tokens[:9],
        "val_tokens": tokens[9:],
    }


def datalab() -> dict[str, Any]:
    """cleanlab's audit of the features."""
    from cleanlab import Datalab

    made = given()
    return {"lab": Datalab({"label": made["y"]}, label_name="label")}


BESIDE = {"docs/language-models.md": language, "docs/howto/mislabeled.md": datalab}
"""What single pages take as given beside all that."""
