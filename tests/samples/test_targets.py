"""Labels become targets."""

from __future__ import annotations

import numpy as np
import pytest

from uniqueinfo.errors import InputError
from uniqueinfo.samples.targets import as_targets


def test_classes_become_one_hot() -> None:
    assert as_targets([1, 0, 2], 3).tolist() == [[0, 1, 0], [1, 0, 0], [0, 0, 1]]


def test_one_output_keeps_zero_and_one() -> None:
    assert as_targets([True, False], 1).tolist() == [[1.0], [0.0]]


def test_a_column_of_labels_is_read_as_labels() -> None:
    assert as_targets(np.array([[1], [0]]), 2).tolist() == [[0, 1], [1, 0]]


def test_unsigned_labels_do_not_wrap_around() -> None:
    assert as_targets(np.array([200], dtype=np.uint8), 201).argmax() == 200


@pytest.mark.parametrize(
    ("labels", "outputs", "named"),
    [
        ([0, 3, 1], 3, "label 3 of sample 1 is outside 0…2"),
        ([0, -1], 3, "label -1 of sample 1"),
        ([0, 2], 1, "label 2 of sample 1 is outside 0…1"),
    ],
)
def test_a_label_outside_the_range_is_named(labels: list[int], outputs: int, named: str) -> None:
    with pytest.raises(InputError, match=named):
        as_targets(labels, outputs)


def test_errors_use_the_ids_given() -> None:
    with pytest.raises(InputError, match="sample cat_7"):
        as_targets([0, 9], 2, ids=["cat_1", "cat_7"])


def test_a_matrix_of_0_and_1_is_several_labels() -> None:
    labels = np.array([[1, 0, 1], [0, 0, 0]])
    np.testing.assert_array_equal(as_targets(labels, 3), labels.astype(float))


@pytest.mark.parametrize(("value", "outputs", "told"), [(2, 3, "0 and 1"), (0, 2, "0 and 1 with 2 columns")])
def test_other_integers_in_several_columns_are_refused(value: int, outputs: int, told: str) -> None:
    with pytest.raises(InputError, match=told):
        as_targets(np.full((4, 3), value), outputs)


def test_floats_are_regression() -> None:
    targets = as_targets(np.array([[0.5, 1.0], [2.0, 3.0]], dtype=np.float32), 2)
    assert targets.dtype == np.float64
    assert targets.tolist() == [[0.5, 1.0], [2.0, 3.0]]


def test_floats_for_one_output_become_a_column() -> None:
    assert as_targets([0.5, 1.5], 1).tolist() == [[0.5], [1.5]]


def test_floats_of_another_width_are_refused() -> None:
    with pytest.raises(InputError, match=r"\(2, 10\) floats for regression, or integers"):
        as_targets([0.0, 1.0], 10)


def test_a_target_that_is_not_finite_is_named() -> None:
    with pytest.raises(InputError, match="the target: sample 1 holds NaN or infinity"):
        as_targets([0.0, np.nan], 1)


def test_text_labels_are_refused() -> None:
    with pytest.raises(InputError, match="integers for classes"):
        as_targets(["cat", "dog"], 2)
