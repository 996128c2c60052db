"""Do the samples that `attribute` names move a prediction as it says, when they are really removed?

MNIST 4 against 9 and the paper's MLP (a narrower one at the small scale). For each of 30 validation digits the 20
training samples with the strongest effect on its output are named. Then the network itself is trained again without
each of them, and without all 20 together, and the output of the digit is looked at. The network takes the same steps as
its linearization: 100 of rate .002 with a momentum of .9, which follow the paper's 2000 of rate .001 (rate × steps over
1 − momentum is the same).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import torch
from matplotlib.figure import Figure
from numpy.typing import NDArray

from uniqueinfo.applications.attribute import attribute
from uniqueinfo.baselines.retraining import retrain
from uniqueinfo.experiments import drawing, networks, paper
from uniqueinfo.experiments.data import MNIST, Dataset, load
from uniqueinfo.experiments.kept import place
from uniqueinfo.experiments.runner import Claim, Request, Result
from uniqueinfo.scoring.network import score
from uniqueinfo.statistics.bootstrap import bootstrap
from uniqueinfo.statistics.correlation import pearson
from uniqueinfo.statistics.interval import Interval
from uniqueinfo.training import GradientDescent
from uniqueinfo.types import Floats

_TOP = 20
_TRAINING = GradientDescent(lr=0.002, steps=100, momentum=0.9)
_SIZES: dict[str, dict[str, int]] = {
    "small": {"samples": 300, "hidden": 256, "looked_at": 30},
    "paper": {"samples": 1000, "hidden": 1024, "looked_at": 30},
}


@dataclass(frozen=True, eq=False)
class _Moved:
    """Changes of outputs as said and as they were: by each named sample, (digits, 20), and by all 20, (digits,)."""

    named: NDArray[np.intp]
    said: Floats
    real: Floats
    said_together: Floats
    real_together: Floats

    @property
    def signs(self) -> Interval:
        """The share of named samples whose removal moves the output in the direction said."""
        return bootstrap((np.sign(self.said) == np.sign(self.real)).mean(axis=1), lambda drawn: drawn.mean(axis=-1))

    @property
    def correlation(self) -> Interval:
        """Of changes said and real, over all digits and the samples named for them; digits are redrawn whole."""
        return pearson(self.said, self.real)

    @property
    def signs_together(self) -> Interval:
        """The share of digits whose output moves in the direction said when all 20 are removed."""
        agree = np.sign(self.said_together) == np.sign(self.real_together)
        return bootstrap(agree, lambda drawn: drawn.mean(axis=-1))

    @property
    def correlation_together(self) -> Interval:
        """Of changes said and real when all 20 are removed, over digits."""
        return pearson(self.said_together, self.real_together)


def run(request: Request) -> Result:
    """Name, remove, train again, compare."""
    sizes = _SIZES[request.scale]
    data: Dataset[Any] = load("mnist_4v9", request.data)
    train, val = paper.halves(data, sizes["samples"])
    val = val.draw(sizes["looked_at"], request.seed)
    torch.manual_seed(request.seed)
    network = networks.mlp(hidden=sizes["hidden"])
    known, looked_at = ((MNIST.all(part.inputs), torch.from_numpy(part.labels)) for part in (train, val))
    moved = _moved(network, known, looked_at, request)
    return Result(
        table=_table(moved),
        figures={"attribution": _figure(moved)},
        claims=_claims(moved),
        settings={**sizes, "named": _TOP, "lr": _TRAINING.lr, "steps": _TRAINING.steps, "momentum": _TRAINING.momentum},
        data={"mnist_4v9": data.fingerprint},
        captions={
            "attribution": "Change of a validation digit's output when a named sample is removed (left) and when all "
            "20 named for it are (right): as the linearization says and as retraining the network gives."
        },
    )


def _moved(network: torch.nn.Module, known: Any, looked_at: Any, request: Request) -> _Moved:
    scores = score(network, known, looked_at, training=_TRAINING, projection=None)
    answers = [attribute(scores, digit, output=1, top=_TOP) for digit in range(len(looked_at[1]))]
    named = np.stack([answer.samples[:_TOP] for answer in answers])
    digits = np.arange(len(named))
    probe = scores.origin.probe
    assert probe is not None
    said_together = np.empty(len(named))
    for numbers, moved in scores.origin.run.leave_out(groups=named).output_changes(probe):
        said_together[numbers] = moved[np.arange(len(numbers)), numbers, 0]
    alone, number = np.unique(named, return_inverse=True)
    groups = [[int(i)] for i in alone] + named.tolist()
    folder = place(request.work, f"attribution-{request.scale}-{request.seed}")
    found = retrain(network, known, looked_at, training=_TRAINING, groups=groups, folder=folder)
    assert found.outputs is not None
    assert found.outputs_without is not None
    change = (found.outputs - found.outputs_without)[..., 0]  # (groups, digits)
    return _Moved(
        named=named,
        said=np.stack([answer.change[own] for answer, own in zip(answers, named, strict=True)]),
        real=change[number.reshape(named.shape), digits[:, None]],
        said_together=said_together,
        real_together=change[len(alone) + digits, digits],
    )


def _table(moved: _Moved) -> pd.DataFrame:
    digits, count = moved.named.shape
    alone = pd.DataFrame(
        {
            "validation": np.repeat(np.arange(digits), count),
            "removed": [str(i) for i in moved.named.ravel()],
            "said": moved.said.ravel(),
            "real": moved.real.ravel(),
        }
    )
    together = pd.DataFrame(
        {
            "validation": np.arange(digits),
            "removed": f"all {count}",
            "said": moved.said_together,
            "real": moved.real_together,
        }
    )
    return pd.concat([alone, together], ignore_index=True)


def _claims(moved: _Moved) -> list[Claim]:
    digits, count = moved.said.shape
    each, both = f"{digits} digits × {count} named samples, each removed alone", f"{digits} digits, all {count} removed"
    named = {
        f"share of output changes with the sign said; {each}": (moved.signs, 0.5),
        f"correlation of changes said and real; {each}": (moved.correlation, 0.0),
        f"share of output changes with the sign said; {both}": (moved.signs_together, 0.5),
        f"correlation of changes said and real; {both}": (moved.correlation_together, 0.0),
    }
    return [
        Claim.of(what, found, holds=found.low > chance, note="holds if above chance")
        for what, (found, chance) in named.items()
    ]


def _figure(moved: _Moved) -> Figure:
    figure = Figure(figsize=(9, 4.2), layout="constrained")
    titles = ("each named sample removed alone", f"all {moved.said.shape[1]} named samples removed")
    pairs = ((moved.said, moved.real), (moved.said_together, moved.real_together))
    for ax, title, (said, real) in zip(figure.subplots(1, 2), titles, pairs, strict=True):
        reach = 1.05 * max(np.abs(said).max(), np.abs(real).max())
        ax.plot([-reach, reach], [-reach, reach], color="grey", linewidth=0.8)
        ax.axhline(0, color="grey", linewidth=0.5)
        ax.axvline(0, color="grey", linewidth=0.5)
        ax.plot(said.ravel(), real.ravel(), ".", color=drawing.COLOURS[0], alpha=0.6)
        ax.set(xlabel="change of the output, as said", ylabel="when the network is retrained", title=title)
        ax.spines[["top", "right"]].set_visible(False)
    return figure
