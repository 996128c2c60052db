"""Table 1's ResNet-50 column, done as `table1` does ResNet-18's: few photographs, the end of the network trained.

It is as large as that column: 60 + 60 photographs of 64 pixels, of which 20 are left out in turn, behind a front that
stays as it is; the last convolution and the last layer are trained. This was chosen before any result. Times are
`table1`'s to tell.
"""

from __future__ import annotations

from uniqueinfo.experiments.runner import Request, Result
from uniqueinfo.experiments.table1 import tabled
from uniqueinfo.experiments.table1_cells import compute
from uniqueinfo.experiments.table1_problems import RESNET50


def run(request: Request) -> Result:
    """Without weight decay, and with it."""
    return tabled([compute(RESNET50, decay, request) for decay in (False, True)], request, timed=False)
