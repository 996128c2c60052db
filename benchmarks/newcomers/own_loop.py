"""A network of one's own, trained by a loop of one's own: scored from Python with its weights before and after."""

from __future__ import annotations

import copy
import time
from collections.abc import Iterator

import torch
from sklearn.datasets import load_digits
from torch import nn

import uniqueinfo as ui
from benchmarks.newcomers.story import Setting, Story, Told, flips, judged


def own_loop(setting: Setting) -> Iterator[Told]:
    """A network of one hidden layer on digits, of which five in a hundred have wrong labels."""
    count = 200 if setting.small else 600
    found = load_digits()
    X = torch.tensor(found.data[: count + 300] / 16, dtype=torch.float32)
    turned, wrong = flips(found.target[:count], count // 20)
    y, y_val = torch.tensor(turned), torch.tensor(found.target[count : count + 300])
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))
    before = copy.deepcopy(model)
    _train(model, X[:count], y)
    started = time.perf_counter()
    scores = ui.score(before, (X[:count], y), (X[count:], y_val), trained=model, progress=False)
    answer = ui.mislabeled(scores)
    seconds = time.perf_counter() - started
    seen, accused = judged(answer, wrong)
    yield Told(
        f"own training loop: {count} digits, {len(wrong)} labels wrong",
        2,
        seconds,
        len(wrong),
        seen,
        accused,
        withheld=answer.withheld,
        figures=answer.health.sentence,
        missed=("suspects are withheld",) if answer.withheld else (),
    )


def _train(model: nn.Module, X: torch.Tensor, y: torch.Tensor) -> None:
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    targets = nn.functional.one_hot(y, 10).float()
    generator = torch.Generator().manual_seed(0)
    for _ in range(20):
        for batch in torch.split(torch.randperm(len(X), generator=generator), 50):
            optimizer.zero_grad()
            ((model(X[batch]) - targets[batch]).square().sum(dim=1).mean() / 2).backward()
            optimizer.step()


STORY = Story("own-loop", own_loop)
