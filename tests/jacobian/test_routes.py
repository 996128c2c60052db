from collections.abc import Iterator

import pytest
import torch
from torch import Tensor, nn

from tests.jacobian.zoo import build
from tests.oracles.jacobian import jacobian_rows
from uniqueinfo.errors import InputError
from uniqueinfo.jacobian import RowEngine


def paths(name: str) -> dict[str, str]:
    return dict(RowEngine(*build(name)).paths)


def test_every_layer_of_a_resnet_has_a_rule() -> None:
    assert set(paths("resnet18").values()) == {"conv", "norm", "linear"}


def test_only_the_packed_projections_of_attention_are_generic() -> None:
    generic = {name for name, path in paths("encoder").items() if path == "generic"}
    assert generic == {
        "token",
        "layer.self_attn.in_proj_weight",
        "layer.self_attn.in_proj_bias",
        "layer.self_attn.out_proj.weight",
        "layer.self_attn.out_proj.bias",
    }


def test_a_table_looked_up_without_a_batch_is_generic() -> None:
    assert paths("bert")["bert.embeddings.position_embeddings.weight"] == "generic"
    assert paths("bert")["bert.embeddings.word_embeddings.weight"] == "embedding"


def test_tied_weights_sum_the_rules_of_their_layers() -> None:
    assert paths("tied")["table.weight"] == "embedding + linear"


def test_a_weight_read_outside_its_layer_is_generic() -> None:
    assert paths("functionally_tied")["table.weight"] == "generic"


def test_a_parameter_without_influence_is_told() -> None:
    assert paths("scaled")["idle"] == "unused"


def test_a_layer_with_the_users_hook_is_not_taken_at_its_word() -> None:
    network = nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 2)).double()
    network[0].register_forward_hook(lambda module, args, output: output * 2)
    inputs = torch.randn(4, 3, dtype=torch.float64)
    engine = RowEngine(network, inputs)
    assert engine.paths["0.weight"] == "generic"
    torch.testing.assert_close(engine(inputs)[0], jacobian_rows(network, inputs))


def test_batch_statistics_are_refused() -> None:
    network = nn.Sequential(nn.Linear(3, 3), nn.BatchNorm1d(3))
    with pytest.raises(InputError, match="'1' normalizes by the statistics of the batch"):
        RowEngine(network, torch.randn(4, 3))


def test_a_network_without_trainable_parameters_is_refused() -> None:
    with pytest.raises(InputError, match="no trainable parameter"):
        RowEngine(nn.Linear(3, 1).requires_grad_(False), torch.randn(4, 3))


def test_outputs_with_more_axes_are_refused() -> None:
    with pytest.raises(InputError, match=r"shape \(2, 5, 1\)"):
        RowEngine(nn.Linear(3, 1), torch.randn(4, 5, 3))


def snapshot(network: nn.Module) -> Iterator[object]:
    for module in network.modules():
        yield module.training, len(module._forward_hooks), len(module._forward_pre_hooks)
    for parameter in network.parameters():
        yield parameter.requires_grad, parameter.grad, parameter.detach().clone().numpy().tobytes()


@pytest.mark.parametrize("name", ["encoder", "weight_norm", "resnet18"])
def test_the_network_is_left_as_it_was(name: str) -> None:
    network, inputs = build(name)
    before = list(snapshot(network))
    rows, outputs = RowEngine(network, inputs)(inputs)
    assert list(snapshot(network)) == before
    assert not rows.requires_grad
    assert not outputs.requires_grad


def test_hooks_are_removed_when_the_network_fails() -> None:
    class Fails(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer = nn.Linear(3, 1)

        def forward(self, x: Tensor) -> Tensor:
            y: Tensor = self.layer(x)
            if len(x) > 3:
                raise RuntimeError("out of memory")
            return y

    network = Fails()
    engine = RowEngine(network, torch.randn(2, 3))
    with pytest.raises(RuntimeError, match="out of memory"):
        engine(torch.randn(4, 3))
    assert not network.layer._forward_hooks
