"""Arrays, alone, in tuples and in dicts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.utils.data import DataLoader, TensorDataset

from tests.samples.made import Inputs, Labels, Listed, everything
from uniqueinfo.errors import InputError
from uniqueinfo.samples.samples import as_samples

Made = Callable[..., Any]  # the samples in one of the ways they may come


@pytest.mark.parametrize(
    "come",
    [
        lambda X, Y: (X, Y),
        lambda X, Y: (torch.from_numpy(X), torch.from_numpy(Y)),
        lambda X, Y: (X, Y.tolist()),
    ],
)
def test_a_pair_of_arrays_is_inputs_and_labels(X: Inputs, Y: Labels, come: Made) -> None:
    samples = as_samples(come(X, Y))
    np.testing.assert_array_equal(everything(samples), X)
    np.testing.assert_array_equal(samples.labels, Y)


@pytest.mark.parametrize("come", [lambda X: X, lambda X: (X, None), lambda X: (X,), lambda X: torch.from_numpy(X)])
def test_inputs_alone_have_no_labels(X: Inputs, come: Made) -> None:
    samples = as_samples(come(X))
    assert samples.labels is None
    with pytest.raises(InputError, match="no labels"):
        samples.targets(3)


def test_indices_choose_and_order_the_samples(X: Inputs, Y: Labels) -> None:
    batch = as_samples((X, Y)).read([7, 2])
    np.testing.assert_array_equal(batch.inputs, X[[7, 2]])
    np.testing.assert_array_equal(batch.labels, Y[[7, 2]])


def test_tuples_of_arrays_stay_tuples(X: Inputs, Y: Labels) -> None:
    inputs = as_samples(((X, X + 1), Y)).inputs([0, 1])
    assert isinstance(inputs, tuple)
    np.testing.assert_array_equal(inputs[1], X[:2] + 1)


@pytest.mark.parametrize("come", [lambda X, Y: ({"a": X, "b": Y}, Y), lambda X, Y: {"a": X, "b": Y, "labels": Y}])
def test_dicts_of_arrays_stay_dicts(X: Inputs, Y: Labels, come: Made) -> None:
    samples = as_samples(come(X, Y))
    inputs = samples.inputs([4])
    assert isinstance(inputs, dict)
    assert list(inputs) == ["a", "b"]
    np.testing.assert_array_equal(inputs["a"], X[[4]])
    np.testing.assert_array_equal(samples.labels, Y)


def test_floating_inputs_take_the_dtype_asked_for(X: Inputs, Y: Labels) -> None:
    inputs = as_samples(({"a": X, "b": Y}, Y), dtype=torch.float64).inputs([0])
    assert isinstance(inputs, dict)
    assert (inputs["a"].dtype, inputs["b"].dtype) == (torch.float64, torch.int64)


def test_inputs_go_to_the_device_asked_for(X: Inputs, Y: Labels) -> None:
    inputs = as_samples((X, Y), device="meta").inputs([0])
    assert isinstance(inputs, Tensor)
    assert inputs.device.type == "meta"


def test_read_only_big_endian_and_strided_arrays_are_read(X: Inputs, Y: Labels) -> None:
    odd = np.repeat(X, 2, axis=0).astype(">f4")[::-2]
    odd.flags.writeable = False
    np.testing.assert_array_equal(everything(as_samples((odd, Y))), X[::-1])


def test_ids_are_kept(X: Inputs, Y: Labels) -> None:
    assert as_samples((X, Y), ids=list("abcdefghij")).ids[3] == "d"


def test_ids_of_another_number_are_refused(X: Inputs, Y: Labels) -> None:
    with pytest.raises(InputError, match="one for each"):
        as_samples((X, Y), ids=[1, 2])


def test_lengths_that_differ_are_refused(X: Inputs, Y: Labels) -> None:
    with pytest.raises(InputError, match="'input': 10, 'label': 9"):
        as_samples((X, Y[:9]))


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_an_input_that_is_not_finite_is_named_at_once(X: Inputs, Y: Labels, bad: float) -> None:
    broken = X.copy()
    broken[6, 1] = bad
    with pytest.raises(InputError, match="input: sample 6 holds NaN or infinity"):
        as_samples((broken, Y))


def test_a_target_that_is_not_finite_is_named_at_once(X: Inputs) -> None:
    with pytest.raises(InputError, match="the target: sample 2 holds NaN or infinity"):
        as_samples((X, np.where(np.arange(10) == 2, np.nan, 1.0)))


@pytest.mark.parametrize("empty", [lambda X, Y: (X[:0], Y[:0]), lambda X, Y: Listed([])])
def test_nothing_is_refused(X: Inputs, Y: Labels, empty: Made) -> None:
    with pytest.raises(InputError, match="empty"):
        as_samples(empty(X, Y))


@pytest.mark.parametrize(
    ("come", "told"),
    [
        (lambda X, Y: (X, X, Y), r"\(\(a, b\), label\)"),
        (lambda X, Y: "train.csv", "str is not a data set"),
        (lambda X, Y: 3, "int is not a data set"),
        (lambda X, Y: (np.array(["a", "b"]), [0, 1]), "not numbers"),
        (lambda X, Y: (X, ["cat"] * 10), "integers for classes"),
        (lambda X, Y: ([["a"]], [0]), "not an array"),
        (lambda X, Y: {"labels": Y}, "no inputs beside the label"),
        (lambda X, Y: {"x": X, "y": Y, "label": Y}, "keep one"),
    ],
)
def test_what_cannot_be_read_is_refused_with_advice(X: Inputs, Y: Labels, come: Made, told: str) -> None:
    with pytest.raises(InputError, match=told):
        as_samples(come(X, Y))


def test_targets_name_the_sample_with_a_wrong_label(X: Inputs, Y: Labels) -> None:
    with pytest.raises(InputError, match="label 2 of sample 2"):
        as_samples((X, Y)).targets(2)


def test_the_same_samples_have_the_same_fingerprint_however_they_come(
    X: Inputs, Y: Labels, pairs: TensorDataset
) -> None:
    prints = {as_samples(data).fingerprint() for data in [(X, Y), pairs, DataLoader(pairs, shuffle=True)]}
    assert len(prints) == 1


@pytest.mark.parametrize(
    "other",
    [
        lambda X, Y: (X + 1, Y),
        lambda X, Y: (X, Y + 1),
        lambda X, Y: (X[::-1], Y),
        lambda X, Y: (X, None),
        lambda X, Y: (X[:9], Y[:9]),
        lambda X, Y: (X, Y / 2),
    ],
)
def test_other_samples_have_another_fingerprint(X: Inputs, Y: Labels, other: Made) -> None:
    assert as_samples(other(X, Y)).fingerprint() != as_samples((X, Y)).fingerprint()
