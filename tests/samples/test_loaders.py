"""Loaders: read in the order of their data set, whatever they shuffle."""

from __future__ import annotations

from collections.abc import Iterator
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
    WeightedRandomSampler,
)
from torch.utils.data.distributed import DistributedSampler

from tests.samples.made import PAIRS, Listed, Stream, X, Y, everything
from uniqueinfo.errors import InputError
from uniqueinfo.samples.samples import as_samples


def loaders() -> dict[str, DataLoader[Any]]:
    return {
        "sequential": DataLoader(PAIRS, batch_size=4),
        "shuffling": DataLoader(PAIRS, batch_size=4, shuffle=True),
        "dropping the last": DataLoader(PAIRS, batch_size=4, shuffle=True, drop_last=True),
        "its own batches": DataLoader(
            PAIRS, batch_sampler=BatchSampler(RandomSampler(PAIRS), batch_size=3, drop_last=False)
        ),
        "backwards": DataLoader(PAIRS, sampler=list(range(9, -1, -1))),
        "weighted, each once": DataLoader(PAIRS, sampler=WeightedRandomSampler([1.0] * 10, 10, replacement=False)),
    }


@pytest.mark.parametrize("kind", loaders())
def test_a_loader_is_read_in_the_order_of_its_data_set(kind: str) -> None:
    samples = as_samples(loaders()[kind])
    np.testing.assert_array_equal(everything(samples), X)
    np.testing.assert_array_equal(samples.labels, Y)
    np.testing.assert_array_equal(samples.ids, np.arange(10))


@pytest.mark.parametrize("sampler", [SubsetRandomSampler([8, 2, 5]), [5, 8, 2]])
def test_a_loader_of_a_fixed_subset_keeps_the_indices_of_the_data_set(sampler: Any) -> None:
    samples = as_samples(DataLoader(PAIRS, sampler=sampler))
    assert samples.ids.tolist() == [2, 5, 8]
    np.testing.assert_array_equal(everything(samples), X[[2, 5, 8]])


class Endless:
    def __iter__(self) -> Iterator[int]:
        while True:
            yield from range(10)


@pytest.mark.parametrize(
    "sampler",
    [
        WeightedRandomSampler([1.0] * 10, 10),
        RandomSampler(PAIRS, replacement=True),
        RandomSampler(PAIRS, num_samples=5),
        RandomSampler(PAIRS, num_samples=25),
        DistributedSampler(PAIRS, num_replicas=2, rank=0),
        Endless(),
    ],
)
def test_a_loader_that_repeats_or_changes_its_samples_is_refused(sampler: Any) -> None:
    with pytest.raises(InputError, match="hand over its data set itself"):
        as_samples(DataLoader(PAIRS, sampler=sampler))


def test_a_loader_of_a_stream_is_refused() -> None:
    with pytest.raises(InputError, match="map-style"):
        as_samples(DataLoader(Stream()))


def test_a_loader_of_ready_made_batches_is_refused() -> None:
    with pytest.raises(InputError, match="ready-made batches"):
        as_samples(DataLoader(PAIRS, batch_size=None))


def test_a_loaders_generator_is_left_where_it_was() -> None:
    generator = torch.Generator().manual_seed(3)
    as_samples(DataLoader(PAIRS, shuffle=True, generator=generator))
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
def test_a_loaders_workers_read_ahead_in_the_same_order() -> None:
    loader = DataLoader(PAIRS, batch_size=4, shuffle=True, num_workers=1, multiprocessing_context="spawn")
    batches = list(as_samples(loader).batches([range(4), range(4, 10)]))
    np.testing.assert_array_equal(np.concatenate([batch.inputs for batch in batches]), X)


def test_a_subset_counts_from_zero() -> None:
    samples = as_samples(Subset(PAIRS, [7, 3]))
    assert samples.ids.tolist() == [0, 1]
    np.testing.assert_array_equal(everything(samples), X[[7, 3]])


def test_a_sequential_sampler_over_another_length_keeps_to_what_it_serves() -> None:
    loader = DataLoader(PAIRS, sampler=SequentialSampler(range(4)))
    assert as_samples(loader).ids.tolist() == [0, 1, 2, 3]
