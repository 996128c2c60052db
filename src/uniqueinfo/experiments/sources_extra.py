"""Two further sources beside MNIST, for whoever has no SVHN: how much a source carries follows how much it varies.

Digits of MNIST over photographs vary as house numbers do; the UCI digits of scikit-learn, 8 × 8 pixels, are as plain as
MNIST's.
"""

from __future__ import annotations

from uniqueinfo.experiments.pretrained import RESNET18
from uniqueinfo.experiments.runner import Request, Result
from uniqueinfo.experiments.sources import Pair, compare

PAIRS = (
    Pair("mnist_on_photos", "MNIST over photographs", RESNET18, None, note="stands in for SVHN"),
    Pair("uci_digits", "UCI digits", RESNET18, None, varied=False, note="as plain as MNIST; beyond the paper"),
)


def run(request: Request) -> Result:
    """Each against MNIST, as `sources` compares SVHN."""
    return compare(PAIRS, request)
