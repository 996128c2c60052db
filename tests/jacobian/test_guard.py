import logging
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from uniqueinfo.errors import InputError
from uniqueinfo.jacobian.guard import fingerprint, prepared
from uniqueinfo.jacobian.network_rows import Differentiated, NetworkRows
from uniqueinfo.samples.samples import as_samples

DEVICES = [
    "cpu",
    pytest.param("cuda", marks=pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU")),
]


def network() -> nn.Sequential:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(4, 6), nn.BatchNorm1d(6), nn.Dropout(0.5), nn.Linear(6, 2))


def backward(model: nn.Sequential) -> None:
    outputs: Tensor = model(torch.randn(8, 4))
    torch.autograd.backward(outputs.sum())


def disturb(model: nn.Sequential) -> None:
    """Everything a pass could leave behind."""
    model.train()
    backward(model)
    model[0].weight.requires_grad_(False)
    model[1].running_mean = torch.ones(6)
    model[1].register_buffer("extra", torch.ones(1))
    model[0].register_forward_hook(lambda *_: None)
    model[3].register_full_backward_hook(lambda *_: None)
    next(model[3].parameters()).register_hook(lambda grad: grad)  # type: ignore[no-untyped-call]


def disturb_and_fail(model: nn.Sequential) -> None:
    disturb(model)
    model(torch.zeros(1, 99))


def state(model: nn.Module) -> dict[str, Any]:
    """What a user can see of a network, contents and identities."""
    return {
        "training": [module.training for module in model.modules()],
        "hooks": [
            {name: list(value) for name, value in vars(module).items() if "hooks" in name} for module in model.modules()
        ],
        "tensor hooks": [p._backward_hooks and list(p._backward_hooks) for p in model.parameters()],
        "wanted": [p.requires_grad for p in model.parameters()],
        "grads": [(id(p.grad), p.grad is not None and p.grad.tolist()) for p in model.parameters()],
        "parameters": [(id(p), p.data_ptr(), str(p.device), p.tolist()) for p in model.parameters()],
        "buffers": [(name, id(b), str(b.device), b.tolist()) for name, b in model.named_buffers()],
    }


def used(model: nn.Sequential) -> nn.Sequential:
    """A network in the middle of a user's work: half in eval mode, with grads, hooks and a frozen layer."""
    backward(model)
    model[1].eval()
    model[3].bias.requires_grad_(False)
    model[0].bias.grad = None
    model[0].register_forward_pre_hook(lambda *_: None)
    next(model[0].parameters()).register_hook(lambda grad: grad)  # type: ignore[no-untyped-call]
    return model


def test_everything_is_in_eval_mode_inside() -> None:
    model = network()
    with prepared(model):
        assert not any(module.training for module in model.modules())


@pytest.mark.parametrize("make", [network, lambda: used(network())])
def test_the_network_is_left_exactly_as_it_was(make: Callable[[], nn.Sequential]) -> None:
    model = make()
    before = state(model)
    with prepared(model):
        disturb(model)
    assert state(model) == before


def test_the_network_is_left_as_it_was_after_an_error() -> None:
    model = used(network())
    before = state(model)
    with pytest.raises(RuntimeError, match="shapes cannot be multiplied"), prepared(model):
        disturb_and_fail(model)
    assert state(model) == before


@pytest.mark.parametrize("device", DEVICES)
def test_the_network_moves_to_the_device_and_back_to_its_own_storage(device: str) -> None:
    model = used(network())
    before = state(model)
    with prepared(model, device=device):
        assert model(torch.zeros(3, 4, device=device)).device.type == device
    assert state(model) == before


@pytest.mark.parametrize("device", DEVICES)
def test_weights_stay_tied(device: str) -> None:
    model = nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 3))
    model[1].weight = model[0].weight
    with prepared(model, device=device):
        pass
    assert model[1].weight is model[0].weight


def test_a_whole_pass_leaves_the_network_as_it_was() -> None:
    model = used(network())
    before = state(model)
    with prepared(model):
        inputs = torch.randn(20, 4)
        NetworkRows.of(Differentiated(model, None, None, None, 10**9), as_samples(inputs))
    assert state(model) == before


def test_a_graph_made_before_can_still_run_backward() -> None:
    model = network().eval()
    loss = model(torch.randn(8, 4)).sum()
    with prepared(model):
        model(torch.randn(8, 4))
    loss.backward()


def test_an_overridden_train_method_is_not_called() -> None:
    class Merging(nn.Linear):
        def train(self, mode: bool = True) -> "Merging":
            raise AssertionError

    model = nn.Sequential(Merging(2, 2))
    with prepared(model):
        assert not model[0].training


def test_batchnorm_and_dropout_in_training_mode_are_said(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING), prepared(network()) as notes:
        pass
    assert len(notes) == 2
    assert "1 BatchNorm layers were in training mode" in caplog.text
    assert "1 layers with active dropout" in caplog.text


@pytest.mark.parametrize(
    "layer", [lambda: nn.LSTM(4, 4, 2, dropout=0.1), lambda: nn.MultiheadAttention(4, 1, dropout=0.1)]
)
def test_dropout_inside_a_layer_is_said_too(layer: Callable[[], nn.Module]) -> None:
    with prepared(layer()) as notes:
        assert "active dropout" in notes[0]


@pytest.mark.parametrize("make", [lambda: network().eval(), lambda: nn.Dropout(0.0), lambda: nn.LSTM(4, 4)])
def test_nothing_is_said_where_nothing_changes(make: Callable[[], nn.Module]) -> None:
    with prepared(make()) as notes:
        assert notes == []


def test_batchnorm_without_running_statistics_is_refused_by_name() -> None:
    model = nn.Sequential(nn.Linear(4, 6), nn.BatchNorm1d(6, track_running_stats=False))
    with pytest.raises(InputError, match="BatchNorm '1' keeps no running statistics"), prepared(model):
        pass


def test_the_same_network_has_the_same_fingerprint() -> None:
    assert fingerprint(network()) == fingerprint(network().eval())


def changed(change: Callable[[nn.Sequential], Any]) -> nn.Sequential:
    model = network()
    change(model)
    return model


@pytest.mark.parametrize(
    "change",
    [
        lambda model: model[0].weight.data[0, 0].add_(1e-6),
        lambda model: model[1].running_var.add_(1),
        lambda model: model[0].bias.requires_grad_(False),
        lambda model: model.double(),
        lambda model: setattr(model[1], "eps", 1e-3),
        lambda model: model.append(nn.ReLU()),
    ],
)
def test_another_network_has_another_fingerprint(change: Callable[[nn.Sequential], Any]) -> None:
    assert fingerprint(changed(change)) != fingerprint(network())


def test_tied_weights_differ_from_equal_ones() -> None:
    tied, equal = (nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 3)) for _ in range(2))
    equal.load_state_dict(tied.state_dict())
    equal[1].load_state_dict(equal[0].state_dict())
    tied[1].weight, tied[1].bias = tied[0].weight, tied[0].bias
    assert fingerprint(tied) != fingerprint(equal)


def test_half_precision_and_scalars_have_fingerprints() -> None:
    class Scalar(nn.Module):
        def __init__(self, value: float) -> None:
            super().__init__()
            self.scale: Tensor = nn.Parameter(torch.tensor(value, dtype=torch.bfloat16))

    assert fingerprint(Scalar(1.0)) != fingerprint(Scalar(2.0))
