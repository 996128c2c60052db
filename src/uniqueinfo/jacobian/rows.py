"""Batch in, Jacobian rows out."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor, nn

from uniqueinfo.jacobian.forward import batch_size
from uniqueinfo.jacobian.gradients import Gradient
from uniqueinfo.jacobian.network import Network
from uniqueinfo.jacobian.outputs import Outputs
from uniqueinfo.jacobian.projections import Projection, layout
from uniqueinfo.samples.datasets import Inputs


class RowEngine:
    """Rows of the Jacobian of a network's outputs by its trainable parameters, projected on the way.

    `example` is a batch like those to come; a few of its samples are run to see how the network works.

    >>> model = torch.nn.Linear(2, 1)
    >>> engine = RowEngine(model, torch.zeros(1, 2))
    >>> rows, outputs = engine(torch.tensor([[3.0, 4.0]]))
    >>> rows  # d f / d (weight, bias)
    tensor([[[3., 4., 1.]]])
    >>> dict(engine.paths)
    {'weight': 'linear', 'bias': 'linear'}
    """

    def __init__(
        self,
        model: nn.Module,
        example: Inputs,
        projection: Projection | None = None,
        *,
        outputs: Outputs | None = None,
    ) -> None:
        self._network = Network(model, example, outputs)
        self._columns = layout(projection, self._network.shapes, self._network.device)
        self._each = max(columns.stop for columns in self._columns.values())
        self.width = self._each * (self._network.outputs if self._network.alike else 1)

    @property
    def outputs(self) -> int:
        """Rows per sample: one where all outputs share it, with what is made of each mixture side by side."""
        return 1 if self._network.alike else self._network.outputs

    @property
    def classes(self) -> int:
        """How many outputs the network itself has, before any mixing."""
        return self._network.classes

    @property
    def dtype(self) -> torch.dtype:
        """Of the rows: the parameters' own, at least float32."""
        return self._network.dtype

    @property
    def paths(self) -> Mapping[str, str]:
        """Which way each trainable parameter takes: a layer rule's name, "generic" or "unused"."""
        return self._network.paths

    def __call__(self, inputs: Inputs) -> tuple[Tensor, Tensor]:
        """Rows (b, k, width), or (b, 1, width) where outputs share them, and outputs (b, k) of a batch."""
        shape = batch_size(inputs), self._network.outputs, self._each
        rows = torch.zeros(shape, dtype=self.dtype, device=self._network.device)

        def add(output: int, part: slice, name: str, gradient: Gradient) -> None:
            columns = self._columns[name]
            rows[part, output, columns.start : columns.stop] += columns.form(gradient)

        outputs = self._network.run(inputs, add)
        return rows.reshape(len(rows), self.outputs, self.width), outputs
