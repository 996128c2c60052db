"""One number for a sequence: held against the loss that networks of Hugging Face say themselves, and against jacrev."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

import uniqueinfo as ui
from tests.oracles.compare import close
from tests.oracles.jacobian import jacobian_rows
from uniqueinfo.errors import InputError
from uniqueinfo.jacobian.functions import ByFunction
from uniqueinfo.jacobian.rows import RowEngine
from uniqueinfo.samples.together import joined

VOCABULARY, PLACES = 11, 6


@pytest.fixture(scope="module")
def transformers() -> Any:
    return pytest.importorskip("transformers")


@pytest.fixture(scope="module")
def causal(transformers: Any) -> nn.Module:
    torch.manual_seed(0)
    config = transformers.LlamaConfig(
        vocab_size=VOCABULARY,
        hidden_size=8,
        intermediate_size=12,
        num_hidden_layers=1,
        num_attention_heads=2,
        num_key_value_heads=1,
        tie_word_embeddings=True,
    )
    model: nn.Module = transformers.LlamaForCausalLM(config).double().eval()
    return model


@pytest.fixture(scope="module")
def both_ways(transformers: Any) -> nn.Module:
    torch.manual_seed(0)
    config = transformers.T5Config(
        vocab_size=VOCABULARY,
        d_model=8,
        d_kv=4,
        d_ff=12,
        num_layers=1,
        num_heads=2,
        decoder_start_token_id=0,
        pad_token_id=0,
    )
    model: nn.Module = transformers.T5ForConditionalGeneration(config).double().eval()
    return model


def texts(n: int = 5, seed: int = 0) -> dict[str, Tensor]:
    """Tokens of different lengths, padded."""
    generator = torch.Generator().manual_seed(seed)
    tokens = torch.randint(1, VOCABULARY, (n, PLACES), generator=generator)
    mask = (torch.arange(PLACES) < 3 + torch.arange(n)[:, None] % 4).long()
    return {"input_ids": tokens * mask, "attention_mask": mask}


def completions(inputs: dict[str, Tensor], prompt: int = 2) -> Tensor:
    targets = inputs["input_ids"].masked_fill(inputs["attention_mask"] == 0, -100)
    targets[:, :prompt] = -100
    return targets


def losses(model: nn.Module, inputs: dict[str, Tensor], labels: Tensor) -> Tensor:
    """As the network says it, in float32, one sequence at a time."""
    each = [{name: value[i : i + 1] for name, value in inputs.items()} for i in range(len(labels))]
    return torch.stack([model(**one, labels=labels[i : i + 1]).loss for i, one in enumerate(each)]).detach().double()


@pytest.mark.parametrize("prompt", [0, 2])
def test_the_logistic_loss_of_the_margin_is_the_loss_of_a_causal_network(causal: nn.Module, prompt: int) -> None:
    inputs = texts()
    targets = completions(inputs, prompt)
    found = ui.sequence_margin(causal, inputs, targets if prompt else None)
    torch.testing.assert_close(F.softplus(-found)[:, 0].detach(), losses(causal, inputs, targets), rtol=1e-6, atol=0)


def test_the_logistic_loss_of_the_margin_is_the_loss_of_a_network_of_two_halves(both_ways: nn.Module) -> None:
    inputs = texts()
    targets = completions(texts(seed=1), 0)
    found = ui.sequence_margin(both_ways, inputs, targets)
    torch.testing.assert_close(F.softplus(-found)[:, 0].detach(), losses(both_ways, inputs, targets))


def test_the_logarithm_of_a_probability_is_a_sum_over_tokens(causal: nn.Module) -> None:
    inputs = texts()
    targets = completions(inputs)
    found = ui.log_probability(causal, inputs, targets)[:, 0].detach()
    wanted = -losses(causal, inputs, targets) * (targets[:, 1:] != -100).sum(dim=1)
    torch.testing.assert_close(found, wanted, rtol=1e-6, atol=0)


@pytest.mark.parametrize("kind", ["causal", "both_ways"])
def test_rows_are_those_of_automatic_differentiation(kind: str, request: pytest.FixtureRequest) -> None:
    model: nn.Module = request.getfixturevalue(kind)
    inputs = joined(texts(3), completions(texts(3, seed=1), 1).numpy())
    asked = ByFunction(model, ui.sequence_margin)
    rows, _ = RowEngine(asked, inputs)(inputs)
    torch.testing.assert_close(rows, jacobian_rows(asked, inputs))


def test_a_network_that_generates_is_scored_by_its_margins(causal: nn.Module) -> None:
    train, val = ({name: value.numpy() for name, value in texts(n, seed=n).items()} for n in (8, 4))
    training = ui.GradientDescent(0.1, 20, loss="logistic")
    scores = ui.score(causal, train, val, training=training, projection=None)
    named = ui.score(causal, train, val, training=training, projection=None, outputs=ui.sequence_margin)
    assert scores.settings["output_function"] == "sequence_margin"
    assert scores.settings["outputs"] == 1
    close(scores.functional, named.functional, rtol=1e-9)


def test_a_data_set_of_hugging_face_with_its_labels_is_scored(causal: nn.Module) -> None:
    datasets = pytest.importorskip("datasets")
    inputs = texts(8)
    columns = {name: value.tolist() for name, value in inputs.items()}
    table = datasets.Dataset.from_dict({**columns, "labels": completions(inputs, 0).tolist()})
    found = ui.score(causal, table, table, projection=None)
    plain = ui.score(causal, {name: value.numpy() for name, value in inputs.items()}, projection=None)
    close(found.weight, plain.weight, rtol=1e-6)
    assert found.settings["training"]["loss"] == "logistic"


def test_a_sequence_without_a_token_that_counts_is_named(causal: nn.Module) -> None:
    inputs = texts(4)
    targets = completions(inputs, 1).numpy()
    targets[2] = -100
    with pytest.raises(InputError, match="the network's output: sample 2 holds NaN"):
        ui.score(causal, (inputs, targets), projection=None)


def test_a_network_that_gives_no_tokens_is_refused() -> None:
    with pytest.raises(InputError, match="numbers of a sequence need logits"):
        ui.score(nn.Linear(3, 2), np.zeros((4, 3)), outputs=ui.sequence_margin)
