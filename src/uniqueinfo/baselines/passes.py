"""Passes over samples through a network as it is: outputs, Jacobian rows, gradients of the samples' losses."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from uniqueinfo.errors import InputError
from uniqueinfo.jacobian.forward import call, outputs_of
from uniqueinfo.jacobian.guard import prepared
from uniqueinfo.jacobian.rows import RowEngine
from uniqueinfo.samples.datasets import Inputs
from uniqueinfo.samples.samples import Samples, as_samples
from uniqueinfo.types import Floats, Indices

_OUTPUTS_BATCH = 256
_ROWS_BATCH = 32


@dataclass(frozen=True, eq=False)
class Passes:
    """A network in evaluation mode and samples to run through it; made by `passes`."""

    model: nn.Module
    samples: Samples
    memory: int
    """Bytes a batch of Jacobian rows may take."""

    @cached_property
    def engine(self) -> RowEngine:
        """Samples → Jacobian rows by every trainable parameter, in the model's order."""
        return RowEngine(self.model, self.samples.inputs([0, min(1, len(self.samples) - 1)]))

    @cached_property
    def outputs(self) -> Floats:
        """Outputs of every sample, (n, k)."""
        found = []
        for batch in self.samples.batches(self._lists(np.arange(len(self.samples)), _OUTPUTS_BATCH)):
            with torch.no_grad():
                found.append(outputs_of(call(self.model, batch.inputs)).double().cpu())
        outputs: Floats = torch.cat(found).reshape(len(self.samples), -1).numpy()
        return outputs

    @cached_property
    def misfit(self) -> Floats:
        """Outputs − targets of every sample, (n, k)."""
        found: Floats = self.outputs - self.samples.targets(self.outputs.shape[1])
        return found

    def rows(self, chosen: Indices | None = None) -> Iterator[tuple[Indices, Tensor]]:
        """Jacobian rows (b, k, D) of the chosen samples (or all), a few at a time, with their positions."""
        everyone = np.arange(len(self.samples)) if chosen is None else chosen
        size = max(1, self.memory // (self.engine.outputs * self.engine.width * self.engine.dtype.itemsize))
        lists = self._lists(everyone, size)
        for part, batch in zip(lists, self.samples.batches(lists), strict=True):
            yield np.asarray(part), self.engine(batch.inputs)[0]

    def gradients(self, chosen: Indices | None = None) -> Iterator[Tensor]:
        """∇½‖f(xᵢ) − yᵢ‖² = J_iᵀ(f(xᵢ) − yᵢ) of the chosen samples, (b, D) at a time."""
        for part, rows in self.rows(chosen):
            yield torch.einsum("bkd,bk->bd", rows, torch.from_numpy(self.misfit[part]).to(rows))

    def batches(self) -> list[Inputs]:
        """The inputs of all samples, batch by batch."""
        lists = self._lists(np.arange(len(self.samples)), _ROWS_BATCH)
        return [batch.inputs for batch in self.samples.batches(lists)]

    @staticmethod
    def _lists(chosen: Indices, size: int) -> list[list[int]]:
        return [chosen[start : start + size].tolist() for start in range(0, len(chosen), size)]


@contextmanager
def passes(model: nn.Module, *data: Any, memory: int = 256 << 20) -> Iterator[list[Passes]]:
    """The network prepared for passes over each of several data sets; afterwards it is as it was.

    >>> model = nn.Linear(1, 1, bias=False)
    >>> _ = nn.init.ones_(model.weight)
    >>> with passes(model, (torch.tensor([[1.0], [3.0]]), torch.tensor([0.0, 1.0]))) as (found,):
    ...     print(found.misfit[:, 0], torch.cat(list(found.gradients()))[:, 0])
    [1. 2.] tensor([1., 6.])
    """
    parameter = next((p for p in model.parameters() if p.requires_grad), None)
    if parameter is None:
        raise InputError(f"model: {type(model).__name__} has no trainable parameter; set requires_grad on some")
    given = [as_samples(each, device=parameter.device, dtype=parameter.dtype) for each in data]
    with prepared(model):
        yield [Passes(model, samples, memory) for samples in given]
