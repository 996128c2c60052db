"""Loaders: read in the order of their data set, whatever they shuffle."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.utils.data import (
    BatchSampler,
    DataLoader,
    RandomSampler,
    SequentialSampler,
    Subset,
    SubsetRandomSampler,
    TensorDataset,
    WeightedRandomSampler,
)
from torch.utils.data.distributed import DistributedSampler

from tests.samples.made import Inputs, Labels, Listed, Stream, everything
from uniqueinfo.errors import InputError
from uniqueinfo.samples.samples import as_samples

LOADERS: dict[str, Callable[[TensorDataset], DataLoader[Any]]] = {
    "sequential": lambda pairs: DataLoader(pairs, batch_size=4),
    "shuffling": lambda pairs: DataLoader(pairs, batch_size=4, shuffle=True),
    "dropping the last": lambda pairs: DataLoader(pairs, batch_size=4, shuffle=True, drop_last=True),
    "its own batches": lambda pairs: DataLoader(
        pairs, batch_sampler=BatchSampler(RandomSampler(pairs), batch_size=3, drop_last=False)
    ),
    "backwards": lambda pairs: DataLoader(pairs, sampler=list(range(9, -1, -1))),
    "weighted, each once": lambda pairs: DataLoader(
        pairs, sampler=WeightedRandomSampler([1.0] * 10, 10, replacement=False)
    ),
}


@pytest.mark.parametrize("kind", LOADERS)
def test_a_loader_is_read_in_the_order_of_its_data_set(X: Inputs, Y: Labels, pairs: TensorDataset, kind: str) -> None:
    samples = as_samples(LOADERS[kind](pairs))
    np.testing.assert_array_equal(everything(samples), X)
    np.testing.assert_array_equal(samples.labels, Y)
    np.testing.assert_array_equal(samples.ids, np.arange(10))


@pytest.mark.parametrize("sampler", [lambda: SubsetRandomSampler([8, 2, 5]), lambda: [5, 8, 2]])
def test_a_loader_of_a_fixed_subset_keeps_the_indices_of_the_data_set(
    X: Inputs, pairs: TensorDataset, sampler: Callable[[], Any]
) -> None:
    samples = as_samples(DataLoader(pairs, sampler=sampler()))
    assert samples.ids.tolist() == [2, 5, 8]
    np.testing.assert_array_equal(everything(samples), X[[2, 5, 8]])


class Endless:
    def __iter__(self) -> Iterator[int]:
        while True:
            yield from range(10)


@pytest.mark.parametrize(
    "sampler",
    [
        lambda pairs: WeightedRandomSampler([1.0] * 10, 10),
        lambda pairs: RandomSampler(pairs, replacement=True),
        lambda pairs: RandomSampler(pairs, num_samples=5),
        lambda pairs: RandomSampler(pairs, num_samples=25),
        lambda pairs: DistributedSampler(pairs, num_replicas=2, rank=0),
        lambda pairs: Endless(),
    ],
)
def test_a_loader_that_repeats_or_changes_its_samples_is_refused(
    pairs: TensorDataset, sampler: Callable[[TensorDataset], Any]
) -> None:
    with pytest.raises(InputError, match="hand over its data set itself"):
        as_samples(DataLoader(pairs, sampler=sampler(pairs)))


def test_a_loader_of_a_stream_is_refused() -> None:
    with pytest.raises(InputError, match="map-style"):
        as_samples(DataLoader(Stream()))


def test_a_loader_of_ready_made_batches_is_refused(pairs: TensorDataset) -> None:
    with pytest.raises(InputError, match="ready-made batches"):
        as_samples(DataLoader(pairs, batch_size=None))


def test_a_loaders_generator_is_left_where_it_was(pairs: TensorDataset) -> None:
    generator = torch.Generator().manual_seed(3)
    as_samples(DataLoader(pairs, shuffle=True, generator=generator))
    assert generator.get_state().equal(torch.Generator().manual_seed(3).get_state())


def padded(items: list[tuple[Tensor, int]]) -> dict[str, Tensor]:
    texts, labels = zip(*items, strict=True)
    ids = torch.nn.utils.rnn.pad_sequence(list(texts), batch_first=True)
    return {"input_ids": ids, "attention_mask": (ids > 0).long(), "labels": torch.tensor(labels)}


def test_a_loaders_collate_function_makes_the_batches() -> None:
    texts = Listed([(torch.arange(1, 2 + n), n % 2) for n in range(5)])
    samples = as_samples(DataLoader(texts, batch_size=2, shuffle=True, collate_fn=padded))
    inputs = samples.inputs([0, 3])
    assert isinstance(inputs, dict)
    assert inputs["attention_mask"].tolist() == [[1, 0, 0, 0], [1, 1, 1, 1]]
    np.testing.assert_array_equal(samples.labels, [0, 1, 0, 1, 0])


@pytest.mark.slow
def test_a_loaders_workers_read_ahead_in_the_same_order(X: Inputs, pairs: TensorDataset) -> None:
    loader = DataLoader(pairs, batch_size=4, shuffle=True, num_workers=1, multiprocessing_context="spawn")
    batches = list(as_samples(loader).batches([range(4), range(4, 10)]))
    np.testing.assert_array_equal(np.concatenate([batch.inputs for batch in batches]), X)


def test_a_subset_counts_from_zero(X: Inputs, pairs: TensorDataset) -> None:
    samples = as_samples(Subset(pairs, [7, 3]))
    assert samples.ids.tolist() == [0, 1]
    np.testing.assert_array_equal(everything(samples), X[[7, 3]])


def test_a_sequential_sampler_over_another_length_keeps_to_what_it_serves(pairs: TensorDataset) -> None:
    loader = DataLoader(pairs, sampler=SequentialSampler(range(4)))
    assert as_samples(loader).ids.tolist() == [0, 1, 2, 3]
