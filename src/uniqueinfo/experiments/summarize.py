"""How many samples can be left out before the network gets worse?

MNIST 4 against 9: the least informative samples leave first, scored once or anew after every twentieth of the samples;
beside them the most informative first, any, and greedy, which counts what has left together. The MLP is then really
trained on what is left and tested on all fours and nines of the test set.

The paper trains by 2000 steps of rate .001. `paper` scale follows the gradient flow of these steps by some 200
gradients, to outputs that differ by 0.4 % from theirs. `small` scale trains by 100 steps of rate .002 with momentum .9
(2 %), and leaves out the shares removed of 10 and 20 %, where nothing happens.
"""

from __future__ import annotations

from uniqueinfo.experiments import networks, paper
from uniqueinfo.experiments.runner import Claim, Request, Result
from uniqueinfo.experiments.summaries import Study, above, means, result
from uniqueinfo.linearization.selection import Strategy
from uniqueinfo.training import GradientDescent

_ALL: tuple[Strategy, ...] = ("iterative", "bottom", "top", "random", "greedy")
_STUDIES = {
    "small": Study(
        _ALL, (0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9), seeds=5, training=GradientDescent(0.002, 100, momentum=0.9)
    ),
    "paper": Study(_ALL, tuple(share / 10 for share in range(1, 10)), seeds=5, training=paper.training(0.001, 2000)),
}
_CLAIMED = (0.3, 0.4, 0.5, 0.6, 0.7)


def run(request: Request) -> Result:
    """All strategies."""
    study = _STUDIES[request.scale]
    table = study.run(request, networks.mlp, "mlp 1024")
    claims = []
    for removed in _CLAIMED:
        gain = above(table, "iterative", "random", removed)
        what = f"{removed:.0%} removed: accuracy of bottom iterative minus random"
        claims.append(Claim.of(what, gain, paper="above 0", holds=gain.low > 0, note="paired by seed"))
    everything = means(table, "bottom")[0.0].value
    for removed in (0.5, 0.8, 0.9):
        at = {name: means(table, name)[removed] for name in study.strategies}
        shown = ", ".join(f"{name} {found}" for name, found in at.items())
        what = f"{removed:.0%} removed: accuracy (all samples: {everything:.3g})"
        if removed == 0.5:
            claims.append(Claim(what, shown, paper="bottom ≈ no loss", holds=at["bottom"].value > everything - 0.01))
        else:
            worse = at["bottom"].value < at["top"].value
            claims.append(Claim(what, shown, paper="bottom worse than top", holds=worse))
    caption = "Accuracy on the test digits of the MLP trained on what is left: mean over seeds and 95 % interval."
    return result(table, study, claims, request, "MNIST 4 against 9, MLP of 1024", caption)
