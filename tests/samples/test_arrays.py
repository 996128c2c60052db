"""Arrays, alone, in tuples and in dicts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.utils.data import DataLoader

from tests.samples.made import PAIRS, Listed, X, Y, everything
from uniqueinfo.errors import InputError
from uniqueinfo.samples.samples import as_samples


@pytest.mark.parametrize("pair", [(X, Y), (torch.from_numpy(X), torch.from_numpy(Y)), (X, Y.tolist())])
def test_a_pair_of_arrays_is_inputs_and_labels(pair: Any) -> None:
    samples = as_samples(pair)
    np.testing.assert_array_equal(everything(samples), X)
    np.testing.assert_array_equal(samples.labels, Y)


@pytest.mark.parametrize("data", [X, (X, None), (X,), torch.from_numpy(X)])
def test_inputs_alone_have_no_labels(data: Any) -> None:
    samples = as_samples(data)
    assert samples.labels is None
    with pytest.raises(InputError, match="no labels"):
        samples.targets(3)


def test_indices_choose_and_order_the_samples() -> None:
    batch = as_samples((X, Y)).read([7, 2])
    np.testing.assert_array_equal(batch.inputs, X[[7, 2]])
    np.testing.assert_array_equal(batch.labels, Y[[7, 2]])


def test_tuples_of_arrays_stay_tuples() -> None:
    inputs = as_samples(((X, X + 1), Y)).inputs([0, 1])
    assert isinstance(inputs, tuple)
    np.testing.assert_array_equal(inputs[1], X[:2] + 1)


@pytest.mark.parametrize("data", [({"a": X, "b": Y}, Y), {"a": X, "b": Y, "labels": Y}])
def test_dicts_of_arrays_stay_dicts(data: Any) -> None:
    samples = as_samples(data)
    inputs = samples.inputs([4])
    assert isinstance(inputs, dict)
    assert list(inputs) == ["a", "b"]
    np.testing.assert_array_equal(samples.labels, Y)


def test_floating_inputs_take_the_dtype_asked_for() -> None:
    inputs = as_samples(({"a": X, "b": Y}, Y), dtype=torch.float64).inputs([0])
    assert isinstance(inputs, dict)
    assert (inputs["a"].dtype, inputs["b"].dtype) == (torch.float64, torch.int64)


def test_inputs_go_to_the_device_asked_for() -> None:
    inputs = as_samples((X, Y), device="meta").inputs([0])
    assert isinstance(inputs, Tensor)
    assert inputs.device.type == "meta"


def test_read_only_big_endian_and_strided_arrays_are_read() -> None:
    odd = np.repeat(X, 2, axis=0).astype(">f4")[::-2]
    odd.flags.writeable = False
    np.testing.assert_array_equal(everything(as_samples((odd, Y))), X[::-1])


def test_ids_are_kept() -> None:
    assert as_samples((X, Y), ids=list("abcdefghij")).ids[3] == "d"


def test_ids_of_another_number_are_refused() -> None:
    with pytest.raises(InputError, match="one for each"):
        as_samples((X, Y), ids=[1, 2])


def test_lengths_that_differ_are_refused() -> None:
    with pytest.raises(InputError, match="'input': 10, 'label': 9"):
        as_samples((X, Y[:9]))


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_an_input_that_is_not_finite_is_named_at_once(bad: float) -> None:
    broken = X.copy()
    broken[6, 1] = bad
    with pytest.raises(InputError, match="input of sample 6 is not finite"):
        as_samples((broken, Y))


def test_a_target_that_is_not_finite_is_named_at_once() -> None:
    with pytest.raises(InputError, match="target of sample 2 is not finite"):
        as_samples((X, np.where(np.arange(10) == 2, np.nan, 1.0)))


@pytest.mark.parametrize("empty", [(X[:0], Y[:0]), Listed([])])
def test_nothing_is_refused(empty: Any) -> None:
    with pytest.raises(InputError, match="empty"):
        as_samples(empty)


@pytest.mark.parametrize(
    ("data", "told"),
    [
        ((X, X, Y), r"\(\(a, b\), label\)"),
        ("train.csv", "str is not a data set"),
        (3, "int is not a data set"),
        ((np.array(["a", "b"]), [0, 1]), "not numbers"),
        ((X, ["cat"] * 10), "integers for classes"),
        (([["a"]], [0]), "not an array"),
        ({"labels": Y}, "no inputs beside the label"),
        ({"x": X, "y": Y, "label": Y}, "keep one"),
    ],
)
def test_what_cannot_be_read_is_refused_with_advice(data: Any, told: str) -> None:
    with pytest.raises(InputError, match=told):
        as_samples(data)


def test_targets_name_the_sample_with_a_wrong_label() -> None:
    with pytest.raises(InputError, match="label 2 of sample 2"):
        as_samples((X, Y)).targets(2)


def test_the_same_samples_have_the_same_fingerprint_however_they_come() -> None:
    prints = {as_samples(data).fingerprint() for data in [(X, Y), PAIRS, DataLoader(PAIRS, shuffle=True)]}
    assert len(prints) == 1


@pytest.mark.parametrize("other", [(X + 1, Y), (X, Y + 1), (X[::-1], Y), (X, None), (X[:9], Y[:9]), (X, Y / 2)])
def test_other_samples_have_another_fingerprint(other: Any) -> None:
    assert as_samples(other).fingerprint() != as_samples((X, Y)).fingerprint()
