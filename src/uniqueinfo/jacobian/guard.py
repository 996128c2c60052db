"""The user's network: in eval mode for the pass, and afterwards exactly as it was."""

import hashlib
import logging
import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.modules.batchnorm import _BatchNorm
from torch.nn.modules.dropout import _DropoutNd

from uniqueinfo.errors import InputError

logger = logging.getLogger(__name__)


def check_network(model: object) -> None:
    """Refuse what is no network, such as a model of scikit-learn, with what to do instead."""
    if not isinstance(model, nn.Module):
        raise InputError(
            f"model: expected a torch nn.Module, got {type(model).__name__}; for a linear model on features there is "
            "score_features(X, y, X_val, y_val)"
        )
    strange = next((name for name, tensor in model.named_parameters() if tensor.is_complex()), None)
    if strange is not None:
        raise InputError(
            f"model: its parameter {strange!r} is complex, and gradients are taken of real ones; keep real and "
            "imaginary parts as parameters of their own"
        )


@contextmanager
def prepared(model: nn.Module, device: torch.device | str | None = None, *, quiet: bool = False) -> Iterator[list[str]]:
    """Put the network in eval mode (and on `device`); give notes on what that changed.

    Unless `quiet`, each note is logged as a warning too. However the block ends, training flags, `.grad`, hooks,
    `requires_grad`, device and buffers are what they were: the same objects with the same contents.
    """
    for name, module in model.named_modules():
        if isinstance(module, _BatchNorm) and module.running_mean is None:
            raise InputError(
                f"BatchNorm {name!r} keeps no running statistics, so a sample's output depends on its batch "
                "in eval mode too: train it with track_running_stats=True"
            )
    notes = _notes(model)
    for note in () if quiet else notes:
        logger.warning(note)
    with ExitStack() as restored:
        for module in model.modules():
            restored.callback(_hooks(module))
            restored.callback(_buffers(module))
            restored.callback(setattr, module, "training", module.training)
            module.training = False  # the flag alone: `eval()` may be overridden, or merge weights
        for parameter in model.parameters():
            restored.callback(_parameter(parameter))
            parameter.grad = None  # whatever is accumulated meanwhile goes into another tensor
        if device is not None:
            _move(model, torch.device(device))
        yield notes


def fingerprint(model: nn.Module) -> str:
    """SHA-256 over the modules (names, classes, settings) and every parameter and buffer.

    The code of `forward` is not part of it.
    """
    sha = hashlib.sha256()
    for name, module in model.named_modules(remove_duplicate=False):
        settings = re.sub(r"0x[0-9a-fA-F]+", "", module.extra_repr())  # addresses differ from run to run
        sha.update(f"{name}: {type(module).__module__}.{type(module).__qualname__}({settings})\n".encode())
    seen: dict[int, str] = {}
    for name, tensor in _tensors(model):
        first = seen.setdefault(id(tensor), name)
        described = f"{tensor.dtype} {tuple(tensor.shape)} {tensor.requires_grad}" if first == name else first
        sha.update(f"{name} = {described}\n".encode())
        if first == name:
            sha.update(tensor.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy().data)
    return sha.hexdigest()


def _tensors(model: nn.Module) -> Iterator[tuple[str, Tensor]]:
    yield from model.named_parameters(remove_duplicate=False)
    yield from model.named_buffers(remove_duplicate=False)


def _notes(model: nn.Module) -> list[str]:
    training = [module for module in model.modules() if module.training]
    coupling = sum(isinstance(module, _BatchNorm) for module in training)
    random = sum(_drops(module) for module in training)
    notes = []
    if coupling:
        notes.append(
            f"{coupling} BatchNorm layers were in training mode, where a sample's output depends on its "
            "batch: in eval mode, with their running statistics, for this pass"
        )
    if random:
        notes.append(f"{random} layers with active dropout were in training mode: in eval mode for this pass")
    return notes


def _drops(module: nn.Module) -> bool:
    if isinstance(module, _DropoutNd):
        return module.p > 0
    return isinstance(module, nn.RNNBase | nn.MultiheadAttention) and module.dropout > 0


def _hooks(module: nn.Module) -> Callable[[], None]:
    registered = {name: value for name, value in vars(module).items() if "hooks" in name and isinstance(value, dict)}
    return _contents(list(registered.values()))


def _contents(dicts: list[dict[Any, Any]]) -> Callable[[], None]:
    copies = [dict(registered) for registered in dicts]

    def restore() -> None:
        for registered, copy in zip(dicts, copies, strict=True):
            registered.clear()
            registered.update(copy)

    return restore


def _buffers(module: nn.Module) -> Callable[[], None]:
    kept = {name: (buffer, buffer.clone()) for name, buffer in module._buffers.items() if buffer is not None}
    names = dict(module._buffers)

    def restore() -> None:
        module._buffers.clear()
        module._buffers.update(names)
        for buffer, copy in kept.values():
            # A write, even of the same values, would break a graph of the user's that holds the buffer.
            if not torch.equal(buffer, copy):
                with torch.no_grad():
                    buffer.copy_(copy)

    return restore


def _parameter(parameter: nn.Parameter) -> Callable[[], None]:
    data, grad, wanted = parameter.data, parameter.grad, parameter.requires_grad
    hooks = parameter._backward_hooks
    contents = _contents([] if hooks is None else [hooks])

    def restore() -> None:
        parameter.grad = None  # one left on another device would not let the data go back
        if parameter.device != data.device:
            parameter.data = data  # the very storage it had, so that views and ties still hold
        parameter.grad = grad
        parameter.requires_grad_(wanted)
        if hooks is None:
            parameter._backward_hooks = None
        contents()

    return restore


def _move(model: nn.Module, device: torch.device) -> None:
    for parameter in model.parameters():
        parameter.data = parameter.data.to(device)
    for module in model.modules():
        for name, buffer in module._buffers.items():
            if buffer is not None:
                module._buffers[name] = buffer.to(device)
