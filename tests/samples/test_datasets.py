"""Map-style data sets."""

from __future__ import annotations

import random

import numpy as np
import pytest
import torch
from torch.utils.data import DataLoader, TensorDataset

from tests.samples.made import Flipping, Inputs, Labels, Listed, Stream, everything
from uniqueinfo.errors import InputError
from uniqueinfo.samples.samples import as_samples


@pytest.mark.parametrize("kind", ["tensors", "list"])
def test_a_map_style_data_set_is_read_in_order(X: Inputs, Y: Labels, pairs: TensorDataset, kind: str) -> None:
    samples = as_samples(pairs if kind == "tensors" else list(zip(X, Y, strict=True)))
    np.testing.assert_array_equal(everything(samples), X)
    np.testing.assert_array_equal(samples.labels, Y)


def test_a_data_set_of_inputs_alone_has_no_labels(X: Inputs) -> None:
    assert as_samples(TensorDataset(torch.from_numpy(X))).labels is None
    assert as_samples(Listed(list(torch.from_numpy(X)))).labels is None


def test_items_with_several_inputs_stay_tuples(X: Inputs, Y: Labels) -> None:
    samples = as_samples(Listed([((x, 2 * x), y) for x, y in zip(X, Y, strict=True)]))
    inputs = samples.inputs([1, 5])
    assert isinstance(inputs, tuple)
    np.testing.assert_array_equal(inputs[1], 2 * X[[1, 5]])


def test_items_that_are_dicts_give_up_their_label(X: Inputs, Y: Labels) -> None:
    samples = as_samples(Listed([{"a": x, "labels": y} for x, y in zip(X, Y, strict=True)]))
    inputs = samples.inputs([1])
    assert isinstance(inputs, dict)
    assert list(inputs) == ["a"]
    np.testing.assert_array_equal(inputs["a"], X[[1]])
    np.testing.assert_array_equal(samples.labels, Y)


def test_float_labels_of_a_data_set_are_regression(X: Inputs, Y: Labels) -> None:
    samples = as_samples(Listed([(x, float(y) / 2) for x, y in zip(X, Y, strict=True)]))
    np.testing.assert_array_equal(samples.targets(1)[:, 0], Y / 2)


def test_an_iterable_data_set_is_refused() -> None:
    with pytest.raises(InputError, match="map-style"):
        as_samples(Stream())


def test_items_of_several_shapes_are_refused_with_advice() -> None:
    ragged = as_samples(Listed([(torch.zeros(n), 0) for n in (2, 3)]))
    with pytest.raises(InputError, match="collate_fn pads"):
        ragged.inputs([0, 1])


def test_items_that_are_not_tensors_are_refused_with_advice() -> None:
    with pytest.raises(InputError, match="return numbers or tensors"):
        as_samples(Listed([(object(), 0)]))


def test_an_item_that_is_not_finite_is_named_when_read() -> None:
    items = [(torch.full((2,), float(n)), 0) for n in range(50)]
    items[33] = (torch.full((2,), np.nan), 0)
    with pytest.raises(InputError, match="input: sample 33 holds NaN or infinity"):
        _ = as_samples(Listed(items)).labels


def test_random_augmentation_is_noticed_and_the_sample_named() -> None:
    torch.manual_seed(0)
    with pytest.raises(InputError, match=r"sample [3-9] is something else the second time.*augmentation off"):
        as_samples(Flipping())


def test_the_users_random_numbers_are_not_drawn_from(pairs: TensorDataset) -> None:
    torch.manual_seed(0)
    random.seed(0)
    expected = torch.rand(()), random.random()
    torch.manual_seed(0)
    random.seed(0)
    loader = DataLoader(pairs, batch_size=4, shuffle=True)
    everything(as_samples(loader))
    assert (torch.rand(()), random.random()) == expected
