"""Table 1's pretrained CNN on as many digits as the paper has, without weight decay: what `table1_cnn` does with it."""

from __future__ import annotations

from uniqueinfo.experiments.runner import Request, Result
from uniqueinfo.experiments.table1_cnn import one


def run(request: Request) -> Result:
    """Without weight decay."""
    return one(False, request)
