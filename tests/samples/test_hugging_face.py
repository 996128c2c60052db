"""Data sets of Hugging Face."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from torch.utils.data import DataLoader

from tests.samples.made import Inputs, Labels, everything
from uniqueinfo.errors import InputError
from uniqueinfo.samples.samples import as_samples


@pytest.fixture
def hugging_face() -> Any:
    return pytest.importorskip("datasets", reason="Hugging Face datasets is not installed")


def test_a_hugging_face_dataset_gives_columns_and_labels(hugging_face: Any) -> None:
    columns = {"input_ids": [[1, 2], [3, 4]], "attention_mask": [[1, 1], [1, 0]], "label": [1, 0]}
    samples = as_samples(hugging_face.Dataset.from_dict(columns))
    inputs = samples.inputs([1, 0])
    assert isinstance(inputs, dict)
    assert inputs["input_ids"].tolist() == [[3, 4], [1, 2]]
    assert samples.targets(2).tolist() == [[0, 1], [1, 0]]


def test_a_single_column_is_the_input_itself(X: Inputs, Y: Labels, hugging_face: Any) -> None:
    samples = as_samples(hugging_face.Dataset.from_dict({"pixels": X.tolist(), "label": Y.tolist()}))
    np.testing.assert_array_equal(everything(samples), X)


def test_a_loader_of_a_hugging_face_dataset_is_realigned(X: Inputs, Y: Labels, hugging_face: Any) -> None:
    table = hugging_face.Dataset.from_dict({"pixels": X.tolist(), "label": Y.tolist()}).with_format("torch")
    samples = as_samples(DataLoader(table, batch_size=3, shuffle=True))
    np.testing.assert_array_equal(everything(samples), X)


def test_the_columns_a_user_chose_are_the_columns_read(hugging_face: Any) -> None:
    columns = {"text": ["a", "b"], "input_ids": [[1, 2], [3, 4]], "label": [1, 0]}
    table = hugging_face.Dataset.from_dict(columns).with_format("torch", columns=["input_ids", "label"])
    assert everything(as_samples(table)).tolist() == [[1, 2], [3, 4]]


def test_a_text_column_is_refused_by_name(hugging_face: Any) -> None:
    columns = {"text": ["a", "b"], "input_ids": [[1, 2], [3, 4]], "label": [1, 0]}
    with pytest.raises(InputError, match=r"input 'text' holds str.*drop it"):
        as_samples(hugging_face.Dataset.from_dict(columns))


def test_several_splits_are_refused_with_their_names(X: Inputs, hugging_face: Any) -> None:
    table = hugging_face.Dataset.from_dict({"pixels": X.tolist()})
    with pytest.raises(InputError, match=r"choose one of \['test', 'train'\]"):
        as_samples(hugging_face.DatasetDict(train=table, test=table))


def test_a_hugging_face_stream_is_refused(X: Inputs, hugging_face: Any) -> None:
    stream = hugging_face.Dataset.from_dict({"pixels": X.tolist()}).to_iterable_dataset()
    with pytest.raises(InputError, match="map-style"):
        as_samples(stream)
