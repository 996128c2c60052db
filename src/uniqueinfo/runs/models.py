"""Networks by name: `linear`, `mlp:1024`, `torchvision:…`, `timm:…`, `transformers:…`, `file.py:function`."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import math
import pickle
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from uniqueinfo.errors import InputError

if TYPE_CHECKING:
    from torch import Tensor, nn

KINDS = "linear, mlp:WIDTH, torchvision:NAME, timm:NAME, transformers:NAME or file.py:function"
_LIBRARIES = ("torchvision", "timm", "transformers")


@dataclass(frozen=True)
class ModelChoice:
    """A network by name, and where its weights come from."""

    name: str
    weights: Path | None = None
    """A .safetensors or .pth file of weights by name."""
    pretrained: bool = True
    """Whether networks of a library start from their published weights."""
    trained: Path | None = None
    """Weights of the same network after its training, in such a file."""
    centred: bool = False
    """Whether what the network gives before training is taken off its outputs."""

    def __post_init__(self) -> None:
        kind, argument = self._parts
        if kind == "linear" and not argument:
            given = [option for option, path in self._named if path is not None]
            if given:
                raise InputError(f"{given[0]}: a linear model starts from zero and takes no weights; drop the option")
        elif kind == "mlp":
            _widths(argument)
        elif kind.endswith(".py"):
            if not Path(kind).is_file():
                raise InputError(f"--model {self.name}: there is no file {kind}; check the path")
        elif kind not in _LIBRARIES or not argument:
            raise InputError(f"--model {self.name}: unknown; give {KINDS}")
        if self.centred and self.trained is not None:
            raise InputError(
                "--centred, --trained: the trained network began with the outputs it had; drop one of the two"
            )
        for option, path in self._named:
            if path is not None and not path.is_file():
                raise InputError(f"{option} {path}: there is no such file; check the path")

    @property
    def linear(self) -> bool:
        """Whether this is a linear head on the inputs themselves."""
        return self.name == "linear"

    @property
    def reads_text(self) -> bool:
        """Whether texts go to the network's own tokenizer."""
        return self._parts[0] == "transformers"

    @property
    def files(self) -> tuple[Path, ...]:
        """Files the network depends on."""
        own = (Path(self._parts[0]),) if self._parts[0].endswith(".py") else ()
        return (*own, *(path for _, path in self._named if path is not None))

    @property
    def absolute(self) -> str:
        """The name, good from any folder."""
        kind, argument = self._parts
        return f"{Path(kind).resolve()}:{argument}" if kind.endswith(".py") else self.name

    def build(self, shape: tuple[int, ...], outputs: int, seed: int) -> nn.Module:
        """The network for inputs of this shape, fresh parameters drawn from the seed."""
        import torch

        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            kind, argument = self._parts
            if kind == "mlp":
                network: nn.Module = _mlp(math.prod(shape), _widths(argument), outputs)
            elif kind in _LIBRARIES:
                network = {"torchvision": _torchvision, "timm": _timm, "transformers": _transformers}[kind](
                    argument, outputs, self.pretrained and self.weights is None, shape
                )
            else:
                network = _from_file(Path(kind), argument, shape, outputs)
        if self.weights is not None:
            fill(network, read_weights(self.weights), str(self.weights))
        if self.trained is not None:
            from uniqueinfo.jacobian.ends import BothEnds

            return BothEnds(network, read_weights(self.trained, "--trained"))
        if self.centred:
            from uniqueinfo.jacobian.centring import centred

            return centred(network)
        return network

    def tokens(self, texts: list[str]) -> dict[str, Any]:
        """Texts as the network's tokenizer gives them, padded to one length."""
        transformers = _library("transformers")
        tokenizer = _loaded(self.name, lambda: transformers.AutoTokenizer.from_pretrained(self._parts[1]))
        found = tokenizer(texts, padding=True, truncation=True, return_tensors="np")
        return {name: found[name] for name in ("input_ids", "attention_mask")}

    @property
    def _named(self) -> tuple[tuple[str, Path | None], ...]:
        return ("--weights", self.weights), ("--trained", self.trained)

    @property
    def _parts(self) -> tuple[str, str]:
        before, colon, after = self.name.rpartition(":") if ".py:" in self.name else self.name.partition(":")
        return (before, after) if colon else (self.name, "")


def read_weights(path: Path, option: str = "--weights") -> dict[str, Tensor]:
    """Tensors by name; a file that holds anything but tensors is refused, for opening it could run code."""
    import torch
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    if path.suffix == ".safetensors":
        try:
            return load_file(path)
        except (SafetensorError, OSError) as error:
            raise InputError(f"{option} {path}: is not a safetensors file, or is damaged ({error})") from error
    if path.suffix not in (".pth", ".pt", ".bin"):
        raise InputError(f"{option} {path}: give a .safetensors or .pth file")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # torch's remarks on pickle protocols
            found = torch.load(path, map_location="cpu", weights_only=True)
    except pickle.UnpicklingError as error:
        raise InputError(
            f"{option} {path}: holds more than tensors, or is damaged, and opening it could run code; save "
            "model.state_dict() alone, or as .safetensors"
        ) from error
    except (RuntimeError, EOFError, OSError) as error:
        raise InputError(f"{option} {path}: cannot be read ({str(error).splitlines()[0]})") from error
    for key in ("state_dict", "model", "model_state_dict"):
        if isinstance(found, Mapping) and isinstance(found.get(key), Mapping):
            found = found[key]
    if not isinstance(found, Mapping) or not all(isinstance(tensor, torch.Tensor) for tensor in found.values()):
        raise InputError(f"{option} {path}: holds no tensors by name; save model.state_dict()")
    return {str(name).removeprefix("module."): tensor for name, tensor in found.items()}


def fill(network: nn.Module, stored: Mapping[str, Tensor], source: str) -> None:
    """Load weights by name; only the last layer may be missing or of another shape, and then stays fresh."""
    own = network.state_dict()
    fits = {name: stored[name] for name, tensor in own.items() if name in stored and stored[name].shape == tensor.shape}
    last = [name for name, _ in network.named_parameters()][-1].rpartition(".")[0]
    wrong = [n for n in own if n not in fits and n.rpartition(".")[0] != last and not n.endswith("num_batches_tracked")]
    if wrong:
        found = "holds no such tensor" if wrong[0] not in stored else f"has it as {tuple(stored[wrong[0]].shape)}"
        raise InputError(
            f"--weights {source}: the network's {wrong[0]} is {tuple(own[wrong[0]].shape)}, and the file {found}; "
            "it is of another network"
        )
    network.load_state_dict(fits, strict=False)


def _mlp(inputs: int, widths: list[int], outputs: int) -> nn.Sequential:
    from torch import nn

    layers: list[nn.Module] = [nn.Flatten()]
    for before, width in zip([inputs, *widths], widths, strict=False):
        layers += [nn.Linear(before, width), nn.ReLU()]
    return nn.Sequential(*layers, nn.Linear(widths[-1], outputs))


def _widths(text: str) -> list[int]:
    parts = text.split(",")
    if not all(part.strip().isdigit() and int(part) > 0 for part in parts):
        raise InputError(f"--model mlp:{text}: give the width of each hidden layer, such as mlp:1024 or mlp:512,256")
    return [int(part) for part in parts]


def _torchvision(name: str, outputs: int, pretrained: bool, shape: tuple[int, ...]) -> nn.Module:
    models = _library("torchvision.models")
    network: nn.Module = _loaded(name, lambda: models.get_model(name, weights=None, num_classes=outputs))
    if pretrained:
        published = _loaded(name, lambda: models.get_model(name, weights="DEFAULT"))
        fill(network, published.state_dict(), f"torchvision:{name}")
    return network


def _timm(name: str, outputs: int, pretrained: bool, shape: tuple[int, ...]) -> nn.Module:
    timm = _library("timm")
    network: nn.Module = _loaded(name, lambda: timm.create_model(name, pretrained=pretrained, num_classes=outputs))
    return network


def _transformers(name: str, outputs: int, pretrained: bool, shape: tuple[int, ...]) -> nn.Module:
    library = _library("transformers")
    task = library.AutoModelForImageClassification if len(shape) == 3 else library.AutoModelForSequenceClassification
    if pretrained:
        load = lambda: task.from_pretrained(name, num_labels=outputs, ignore_mismatched_sizes=True)  # noqa: E731
    else:
        load = lambda: task.from_config(library.AutoConfig.from_pretrained(name, num_labels=outputs))  # noqa: E731
    network: nn.Module = _loaded(name, load)
    return network


def _library(name: str) -> Any:
    package = name.partition(".")[0]
    try:
        return importlib.import_module(name)
    except (ImportError, RuntimeError) as missing:  # torchvision of another torch raises the second
        raise InputError(
            f"--model {package}:…: {package} cannot be imported ({str(missing).splitlines()[0]}): "
            f"pip install 'uniqueinfo[{package}]'"
        ) from missing


def _loaded(name: str, load: Any) -> Any:
    try:
        return load()
    except (OSError, ValueError, KeyError, RuntimeError) as error:
        raise InputError(
            f"--model …:{name}: cannot be loaded ({str(error).splitlines()[0]}); check the name"
        ) from error


def _from_file(path: Path, function: str, shape: tuple[int, ...], outputs: int) -> nn.Module:
    """What the function returns; it is given `outputs` and `shape` if it has parameters of these names."""
    from torch import nn

    spec = importlib.util.spec_from_file_location(f"uniqueinfo_model_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
        make = getattr(module, function, None)
        if not callable(make):
            raise InputError(f"--model {path}:{function}: the file has no function {function!r}; check the name")
        accepted = inspect.signature(make).parameters
        given = {name: value for name, value in (("outputs", outputs), ("shape", shape)) if name in accepted}
        network = make(**given)
    except InputError:
        raise
    except Exception as error:
        raise InputError(
            f"--model {path}:{function}: fails with {type(error).__name__}: {error}; mend it, or look with --debug"
        ) from error
    if not isinstance(network, nn.Module):
        raise InputError(f"--model {path}:{function}: returned {type(network).__name__}; return an nn.Module")
    return network
