"""Table 1's ResNet-50 with all of its layers trained, as `table1_whole` does ResNet-18's.

40 + 40 photographs of 32 pixels, of which 20 are left out in turn: chosen from the time that a training takes (two
minutes of a processor), before any agreement was seen.
"""

from __future__ import annotations

from uniqueinfo.experiments.runner import Request, Result
from uniqueinfo.experiments.table1_problems import RESNET50, whole_resnet50
from uniqueinfo.experiments.table1_whole import both, whole

PIXELS = 32
COLUMN = whole(RESNET50, "cats/dogs ResNet-50, all layers", PIXELS, whole_resnet50)


def run(request: Request) -> Result:
    """Without weight decay, and with it."""
    return both(COLUMN, request)
