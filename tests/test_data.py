import random
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.utils.data import (
    BatchSampler,
    DataLoader,
    Dataset,
    IterableDataset,
    RandomSampler,
    SequentialSampler,
    Subset,
    SubsetRandomSampler,
    TensorDataset,
    WeightedRandomSampler,
)
from torch.utils.data.distributed import DistributedSampler

from uniqueinfo.data import Samples, as_samples, as_targets, one_hot
from uniqueinfo.errors import InputError

X = np.random.default_rng(0).normal(size=(10, 3)).astype(np.float32)
Y = np.arange(10) % 3
PAIRS = TensorDataset(torch.from_numpy(X), torch.from_numpy(Y))


class Listed(Dataset[Any]):
    """Items as they are."""

    def __init__(self, items: list[Any]) -> None:
        self.items = items

    def __len__(self) -> int:
        return len(self.items)

    def __getitem__(self, index: int) -> Any:
        return self.items[index]


class Flipping(Dataset[tuple[Tensor, int]]):
    """Random augmentation: sample 3 on, flipped with even odds."""

    def __len__(self) -> int:
        return 10

    def __getitem__(self, index: int) -> tuple[Tensor, int]:
        x = torch.from_numpy(X[index])
        return (x.flip(0) if index >= 3 and torch.rand(()) < 0.5 else x), int(Y[index])


class Stream(IterableDataset[Tensor]):
    def __iter__(self) -> Iterator[Tensor]:
        yield from torch.zeros(4, 2)


def everything(samples: Samples) -> np.ndarray[Any, Any]:
    inputs = samples.inputs(range(len(samples)))
    assert isinstance(inputs, Tensor)
    return inputs.numpy()


# Arrays


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


# Data sets


@pytest.mark.parametrize("data", [PAIRS, [(x, y) for x, y in zip(X, Y, strict=True)]])
def test_a_map_style_data_set_is_read_in_order(data: Any) -> None:
    samples = as_samples(data)
    np.testing.assert_array_equal(everything(samples), X)
    np.testing.assert_array_equal(samples.labels, Y)


def test_a_data_set_of_inputs_alone_has_no_labels() -> None:
    assert as_samples(TensorDataset(torch.from_numpy(X))).labels is None
    assert as_samples(Listed(list(torch.from_numpy(X)))).labels is None


def test_items_with_several_inputs_stay_tuples() -> None:
    samples = as_samples(Listed([((x, 2 * x), y) for x, y in zip(X, Y, strict=True)]))
    inputs = samples.inputs([1, 5])
    assert isinstance(inputs, tuple)
    np.testing.assert_array_equal(inputs[1], 2 * X[[1, 5]])


def test_items_that_are_dicts_give_up_their_label() -> None:
    samples = as_samples(Listed([{"a": x, "labels": y} for x, y in zip(X, Y, strict=True)]))
    inputs = samples.inputs([1])
    assert isinstance(inputs, dict)
    assert list(inputs) == ["a"]
    np.testing.assert_array_equal(samples.labels, Y)


def test_float_labels_of_a_data_set_are_regression() -> None:
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
    with pytest.raises(InputError, match="sample 33 is not finite"):
        _ = as_samples(Listed(items)).labels


def test_random_augmentation_is_noticed_and_the_sample_named() -> None:
    torch.manual_seed(0)
    with pytest.raises(InputError, match=r"sample [3-9] is something else the second time.*augmentation off"):
        as_samples(Flipping())


def test_the_users_random_numbers_are_not_drawn_from() -> None:
    torch.manual_seed(0)
    random.seed(0)
    expected = torch.rand(()), random.random()
    torch.manual_seed(0)
    random.seed(0)
    loader = DataLoader(PAIRS, batch_size=4, shuffle=True)
    everything(as_samples(loader))
    assert (torch.rand(()), random.random()) == expected


# Loaders


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


# Hugging Face


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


def test_a_single_column_is_the_input_itself(hugging_face: Any) -> None:
    samples = as_samples(hugging_face.Dataset.from_dict({"pixels": X.tolist(), "label": Y.tolist()}))
    np.testing.assert_array_equal(everything(samples), X)


def test_a_loader_of_a_hugging_face_dataset_is_realigned(hugging_face: Any) -> None:
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


def test_several_splits_are_refused_with_their_names(hugging_face: Any) -> None:
    table = hugging_face.Dataset.from_dict({"pixels": X.tolist()})
    with pytest.raises(InputError, match=r"choose one of \['test', 'train'\]"):
        as_samples(hugging_face.DatasetDict(train=table, test=table))


def test_a_hugging_face_stream_is_refused(hugging_face: Any) -> None:
    stream = hugging_face.Dataset.from_dict({"pixels": X.tolist()}).to_iterable_dataset()
    with pytest.raises(InputError, match="map-style"):
        as_samples(stream)


# Fingerprints


def test_the_same_samples_have_the_same_fingerprint_however_they_come() -> None:
    prints = {as_samples(data).fingerprint() for data in [(X, Y), PAIRS, DataLoader(PAIRS, shuffle=True)]}
    assert len(prints) == 1


@pytest.mark.parametrize("other", [(X + 1, Y), (X, Y + 1), (X[::-1], Y), (X, None), (X[:9], Y[:9]), (X, Y / 2)])
def test_other_samples_have_another_fingerprint(other: Any) -> None:
    assert as_samples(other).fingerprint() != as_samples((X, Y)).fingerprint()


# Targets


def test_classes_become_one_hot() -> None:
    assert one_hot([1, 0, 2], 3).tolist() == [[0, 1, 0], [1, 0, 0], [0, 0, 1]]


def test_one_output_keeps_zero_and_one() -> None:
    assert one_hot([True, False], 1).tolist() == [[1.0], [0.0]]


def test_a_column_of_labels_is_read_as_labels() -> None:
    assert one_hot(np.array([[1], [0]]), 2).tolist() == [[0, 1], [1, 0]]


def test_unsigned_labels_do_not_wrap_around() -> None:
    assert one_hot(np.array([200], dtype=np.uint8), 201).argmax() == 200


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
        one_hot(labels, outputs)


def test_errors_use_the_ids_given() -> None:
    with pytest.raises(InputError, match="sample cat_7"):
        as_targets([0, 9], 2, ids=["cat_1", "cat_7"])


def test_integer_labels_of_several_columns_are_refused() -> None:
    with pytest.raises(InputError, match="as floats"):
        as_targets(np.zeros((4, 3), dtype=int), 3)


def test_floats_are_regression() -> None:
    assert as_targets(np.array([[0.5, 1.0], [2.0, 3.0]], dtype=np.float32), 2).dtype == np.float64


def test_floats_for_one_output_become_a_column() -> None:
    assert as_targets([0.5, 1.5], 1).tolist() == [[0.5], [1.5]]


def test_floats_of_another_width_are_refused() -> None:
    with pytest.raises(InputError, match=r"\(2, 10\) floats for regression, or integers"):
        as_targets([0.0, 1.0], 10)


def test_a_target_that_is_not_finite_is_named() -> None:
    with pytest.raises(InputError, match="target of sample 1 is not finite"):
        as_targets([0.0, np.nan], 1)


def test_text_labels_are_refused() -> None:
    with pytest.raises(InputError, match="integers for classes"):
        as_targets(["cat", "dog"], 2)
