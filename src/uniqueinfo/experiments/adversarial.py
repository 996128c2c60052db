"""Do adversarial examples carry more information than the samples they are made of?

Cats against dogs with ResNet-18. A copy of the network is fine-tuned on the training photographs (its last block and
its last layer, ten passes), and every training photograph is attacked through it: by the fast gradient sign method
with ε = .01 of the pixels' range, as in the paper, and by ten steps of projected gradient descent with the same ε. In
each of five draws a tenth of the training photographs is replaced by their attacked selves, labels stay right, and the
network as it was before fine-tuning is linearized with some coordinates of each parameter and trained as in the paper.

Besides, `adversarial` ranks attacked photographs among clean ones it has not seen, against a clean reference, with
their right labels and with those that the network predicts.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import torch
from matplotlib.figure import Figure
from torch import nn

from uniqueinfo.applications.adversarial import adversarial
from uniqueinfo.experiments import drawing, paper
from uniqueinfo.experiments.attacked import Attack, Normalized, Photos, attack_all
from uniqueinfo.experiments.attacks import fgsm, pgd
from uniqueinfo.experiments.data import Dataset, Preparation, load
from uniqueinfo.experiments.kept import place
from uniqueinfo.experiments.pretrained import RESNET18
from uniqueinfo.experiments.runner import Claim, Request, Result
from uniqueinfo.experiments.seeds import over_seeds
from uniqueinfo.jacobian import RandomCoordinates
from uniqueinfo.linearization.linearization import Linearization
from uniqueinfo.linearization.network import LinearizedNetwork, linearize
from uniqueinfo.scores.table import Scores
from uniqueinfo.scoring.arrays import score_linearization
from uniqueinfo.spectrum.probe import Probe
from uniqueinfo.statistics.bootstrap import ratio_of_means
from uniqueinfo.statistics.interval import Interval
from uniqueinfo.types import Floats, Indices

_EPSILON, _SHARE, _DRAWS = 0.01, 0.1, 5
_LR, _TIME = 0.001, 1000
_ATTACKS: dict[str, Attack] = {"FGSM": fgsm, "PGD": pgd}


def run(request: Request) -> Result:
    """Attack, linearize once, and score every draw."""
    sizes = paper.SIZES[request.scale]
    data: Dataset[Any] = load("cats_dogs", request.data)
    train, val = paper.halves(data, sizes.samples)
    preparation = RESNET18.preparation(sizes.pixels)
    network = RESNET18.build(request, 1, sizes.pixels)
    photos = attack_all(network, train, val, preparation, _ATTACKS, _EPSILON, request.seed)
    linearization = _linearized(network, photos, preparation, sizes.per_layer, request)
    rng = np.random.default_rng(request.seed)
    n = len(photos.labels)
    chosen = [np.sort(rng.permutation(n)[: round(_SHARE * n)]) for _ in range(_DRAWS)]
    drawn = {
        attack: [_information(linearization, photos, at, number) for at in chosen]
        for number, attack in enumerate(_ATTACKS, start=1)
    }
    against = {
        attack: [_against_clean(linearization, photos, at, number) for at in chosen]
        for number, attack in enumerate(_ATTACKS, start=1)
    }
    table = pd.DataFrame(
        [
            {
                "attack": attack,
                "draw": draw,
                "mean_attacked": found[at].mean(),
                "mean_clean": np.delete(found, at).mean(),
                "auroc": _auroc(found[at], np.delete(found, at)),
                "auroc_reference": against[attack][draw][0],
                "auroc_reference_unlabelled": against[attack][draw][1],
            }
            for attack, informations in drawn.items()
            for draw, (at, found) in enumerate(zip(chosen, informations, strict=True))
        ]
    )
    return Result(
        table=table,
        figures={"adversarial": _figure(drawn, chosen)},
        claims=_claims(table, drawn, chosen, photos),
        settings=sizes.settings() | {"epsilon": _EPSILON, "share": _SHARE, "draws": _DRAWS, "lr": _LR, "time": _TIME},
        data={"cats_dogs": data.fingerprint},
        captions={"adversarial": "Information of attacked and of clean photographs, all draws together."},
    )


def _linearized(
    network: nn.Module, photos: Photos, preparation: Preparation, per_layer: int, request: Request
) -> LinearizedNetwork:
    """Clean photographs first, then those of each attack; their rows are computed once for all draws."""
    normalized = Normalized(preparation)
    inputs = normalized(torch.cat([photos.train, *photos.attacked.values()]))
    labels = np.tile(photos.labels, 1 + len(photos.attacked))
    folder = place(request.work, f"rows-adversarial-{request.scale}-{request.seed}")
    return linearize(
        network,
        (inputs, labels),
        (normalized(photos.val), photos.val_labels),
        projection=RandomCoordinates(per_layer),
        folder=folder,
    )


def _information(linearization: LinearizedNetwork, photos: Photos, attacked: Indices, attack: int) -> Floats:
    """F-SI of every training sample, these of them attacked."""
    n = len(photos.labels)
    at = np.arange(n)
    at[attacked] += attack * n
    scores = _score(linearization, at, np.arange(len(photos.val_labels)))
    assert scores.functional is not None
    return scores.functional


def _score(linearization: LinearizedNetwork, train: Indices, val: Indices) -> Scores:
    """The network trained on some of the rows, and looked at on some of the validation samples."""
    assert linearization.rows is not None
    seen = linearization.validation
    initial, residual = (part[train].flatten(1).numpy() for part in (linearization.initial, linearization.residual))
    part = Linearization.from_jacobian(linearization.rows.source[train], residual, initial)
    assert seen.targets is not None
    probe = part.probe(seen.rows.source[val], seen.targets[val].flatten(1), seen.initial[val].flatten(1))
    targets = linearization.targets[train]
    part, labels = replace(part, wanted=targets), targets.numpy().astype(int).ravel()
    return score_linearization(part, probe, paper.training(_LR, _TIME), labels=labels, progress=False)


def _against_clean(
    linearization: LinearizedNetwork, photos: Photos, attacked: Indices, attack: int
) -> tuple[float, float]:
    """AUROC of attacked photographs among clean ones, none of them in the reference: with labels, and without."""
    assert linearization.rows is not None
    n, seen = len(photos.labels), linearization.validation
    half = np.arange(len(photos.val_labels)) % 2 == 0
    looked_at, fresh = np.flatnonzero(half), np.flatnonzero(~half)
    scores = _score(linearization, np.delete(np.arange(n), attacked), looked_at)
    rows = np.concatenate([linearization.rows.source[attacked + attack * n], seen.rows.source[fresh]])
    initial = torch.cat([linearization.initial[attacked + attack * n], seen.initial[fresh]]).flatten(1)
    labels = np.concatenate([photos.labels[attacked], photos.val_labels[fresh]]).astype(float)
    part = scores.origin.run.linearization
    unlabelled = Probe(part.system, part.probe(rows).rows, initial[..., None])
    found = [adversarial(scores, inputs).information for inputs in (part.probe(rows, labels, initial), unlabelled)]
    first = _auroc(found[0][: len(attacked)], found[0][len(attacked) :])
    return first, _auroc(found[1][: len(attacked)], found[1][len(attacked) :])


def _auroc(attacked: Floats, clean: Floats) -> float:
    """How often an attacked sample carries more than a clean one.

    >>> _auroc(np.array([2.0, 3.0]), np.array([1.0, 2.0]))
    0.875
    """
    wins = (attacked[:, None] > clean) + 0.5 * (attacked[:, None] == clean)
    return float(wins.mean())


def _claims(table: pd.DataFrame, drawn: dict[str, list[Floats]], chosen: list[Indices], photos: Photos) -> list[Claim]:
    claims = []
    for attack, informations in drawn.items():
        ratio = ratio_of_means(*_split(informations, chosen))
        own = table[table["attack"] == attack]
        claims += [
            Claim.of(
                f"{attack}: mean information of attacked photographs over that of clean ones",
                ratio,
                paper="adversarial ≫ normal" if attack == "FGSM" else None,
                holds=ratio.low > 1,
                note=f"the fine-tuned copy is right about {photos.known['clean']:.0%} of the clean photographs and "
                f"{photos.known[attack]:.0%} of those attacked by {attack}",
            ),
            _area(f"{attack}: AUROC of information in the training data", over_seeds(own["auroc"])),
            _area(f"{attack}: AUROC against a clean reference, right labels", over_seeds(own["auroc_reference"])),
            _area(
                f"{attack}: AUROC against a clean reference, predicted labels",
                over_seeds(own["auroc_reference_unlabelled"]),
            ),
        ]
    return claims


def _area(what: str, found: Interval) -> Claim:
    note = "mean over draws, 95 % interval of Student; holds if above one half"
    return Claim.of(what, found, holds=found.low > 0.5, note=note)


def _split(informations: list[Floats], chosen: list[Indices]) -> tuple[Floats, Floats]:
    """Attacked and clean samples of all draws."""
    pairs = list(zip(informations, chosen, strict=True))
    return np.concatenate([found[at] for found, at in pairs]), np.concatenate([np.delete(*pair) for pair in pairs])


def _figure(drawn: dict[str, list[Floats]], chosen: list[Indices]) -> Figure:
    figure = Figure(figsize=(11, 3.8), layout="constrained")
    axes = figure.subplots(1, len(drawn), squeeze=False)[0]
    for ax, (attack, informations) in zip(axes, drawn.items(), strict=True):
        attacked, clean = _split(informations, chosen)
        drawing.histogram(ax, {"clean": clean, "attacked": attacked}, density=True)
        ax.set_title(attack, loc="left", fontsize=11)
    return figure
