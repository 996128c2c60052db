"""Networks by name: `linear`, `mlp:1024`, `torchvision:…`, `timm:…`, `transformers:…`, `file.py:function`.

A new source of networks is a new module of this package that says ``SOURCES = (…,)``.
"""

from uniqueinfo.runs.models.choice import ModelChoice, kinds
from uniqueinfo.runs.models.source import ModelSource, TextSource
from uniqueinfo.runs.models.weights import fill, read_weights

__all__ = ["ModelChoice", "ModelSource", "TextSource", "fill", "kinds", "read_weights"]
