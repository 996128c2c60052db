"""Do scores from one network serve another? Samples chosen for one hidden layer, accuracy of a network with two.

As `summarize`, but the network that is really trained has two hidden layers of 1024 ReLU units; it plays no part in the
choice.
"""

from __future__ import annotations

from torch import nn

from uniqueinfo.experiments import paper
from uniqueinfo.experiments.runner import Claim, Request, Result
from uniqueinfo.experiments.summaries import Study, above, result
from uniqueinfo.linearization.selection import Strategy
from uniqueinfo.training import GradientDescent

_PAPERS: tuple[Strategy, ...] = ("iterative", "bottom", "top", "random")
_STUDIES = {
    "small": Study(_PAPERS, (0.3, 0.5, 0.7, 0.9), seeds=5, training=GradientDescent(0.002, 100, momentum=0.9)),
    "paper": Study(_PAPERS, tuple(share / 10 for share in range(1, 10)), seeds=5, training=paper.training(0.001, 2000)),
}
_CLAIMED = (0.3, 0.5, 0.7)


def two_hidden() -> nn.Sequential:
    """784 – 1024 – 1024 – 1."""
    hidden = (nn.Linear(784, 1024), nn.ReLU(), nn.Linear(1024, 1024), nn.ReLU())
    return nn.Sequential(nn.Flatten(), *hidden, nn.Linear(1024, 1))


def run(request: Request) -> Result:
    """The paper's strategies."""
    study = _STUDIES[request.scale]
    table = study.run(request, two_hidden, "mlp 1024 1024")
    claims = []
    for removed in _CLAIMED:
        gain = above(table, "iterative", "random", removed)
        what = f"{removed:.0%} removed: accuracy of bottom iterative minus random, two hidden layers"
        claims.append(Claim.of(what, gain, paper="as with one", holds=gain.low > 0, note="paired by seed"))
    caption = "Accuracy of a network of two hidden layers trained on samples chosen for one: mean over seeds, 95 %."
    return result(table, study, claims, request, "MNIST 4 against 9, chosen by one hidden layer, trained two", caption)
