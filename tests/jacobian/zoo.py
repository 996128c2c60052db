"""Small networks of every kind, each with a batch of inputs; double precision, evaluation mode."""

from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from uniqueinfo.experiments.networks import mlp, paper_cnn
from uniqueinfo.runs.photos.resnet18 import ResNet18

Case = tuple[nn.Module, Any]


class Recurrent(nn.Module):
    def __init__(self, cell: Callable[..., nn.RNNBase], **options: Any) -> None:
        super().__init__()
        self.embedding = nn.Embedding(30, 6, padding_idx=0)
        self.cell = cell(6, 7, batch_first=True, **options)
        self.head = nn.Linear(14 if self.cell.bidirectional else 7, 2)

    def forward(self, x: Tensor) -> Tensor:
        outputs: Tensor = self.head(self.cell(self.embedding(x))[0][:, -1])
        return outputs


class Encoder(nn.Module):
    """A transformer layer behind a learned first token; `batch_first=False` puts the batch on the second axis."""

    def __init__(self, batch_first: bool) -> None:
        super().__init__()
        self.batch_first = batch_first
        self.token = nn.Parameter(torch.randn(1, 1, 8))
        self.layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=batch_first)
        self.head = nn.Linear(8, 2)

    def forward(self, x: Tensor) -> Tensor:
        x = torch.cat([self.token.expand(len(x), -1, -1), x], dim=1)
        y = self.layer(x) if self.batch_first else self.layer(x.transpose(0, 1)).transpose(0, 1)
        outputs: Tensor = self.head(y[:, 0])
        return outputs


class Tied(nn.Module):
    """The table is also the last layer's weight, and the middle layer is called twice."""

    def __init__(self) -> None:
        super().__init__()
        self.table = nn.Embedding(10, 6)
        self.middle = nn.Linear(6, 6)
        self.last = nn.Linear(6, 10, bias=False)
        self.last.weight = self.table.weight

    def forward(self, x: Tensor) -> Tensor:
        once = torch.tanh(self.middle(self.table(x).mean(1)))
        outputs: Tensor = self.last(torch.tanh(self.middle(once)))
        return outputs


class FunctionallyTied(Tied):
    """The table is read outside any layer, as no hook can see."""

    def forward(self, x: Tensor) -> Tensor:
        outputs: Tensor = F.linear(self.middle(self.table(x).mean(1)), self.table.weight)
        return outputs


class Scaled(nn.Module):
    """A parameter of its own, a 0-dimensional one, one that is never used, and samples flattened with places."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(4, 3)
        self.scale = nn.Parameter(torch.randn(3))
        self.temperature = nn.Parameter(torch.tensor(1.5))
        self.idle = nn.Parameter(torch.randn(2))

    def forward(self, x: Tensor) -> Tensor:
        places = self.layer(x.reshape(-1, 4)).reshape(len(x), -1, 3)
        outputs: Tensor = (places * self.scale).tanh().sum(1) * self.temperature
        return outputs


class TwoInputs(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.a, self.b = nn.Linear(3, 2), nn.Linear(4, 2)

    def forward(self, left: Tensor, right: Tensor) -> Tensor:
        outputs: Tensor = self.a(left) * self.b(right)
        return outputs


def bert() -> Case:
    """A Hugging Face BERT of two small layers, on texts of different lengths."""
    from transformers import BertConfig, BertForSequenceClassification

    options: dict[str, Any] = {
        "vocab_size": 50,
        "hidden_size": 16,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "intermediate_size": 32,
        "max_position_embeddings": 20,
        "num_labels": 3,
    }
    network: nn.Module = BertForSequenceClassification(BertConfig(**options))  # type: ignore[no-untyped-call]
    mask = torch.ones(3, 7, dtype=torch.long)
    mask[1, 4:] = 0
    return network, {"input_ids": torch.randint(50, (3, 7)), "attention_mask": mask}


def _cnn_1d() -> Case:
    network = nn.Sequential(
        nn.Conv1d(3, 6, 5, padding="same"),
        nn.ReLU(inplace=True),
        nn.Conv1d(6, 8, 3, stride=2, padding=1, padding_mode="circular"),
        nn.GroupNorm(2, 8),
        nn.Flatten(),
        nn.Linear(64, 2),
    )
    return network, torch.randn(3, 3, 16)


def _cnn_grouped() -> Case:
    network = nn.Sequential(
        nn.Conv2d(4, 8, 3, groups=2, dilation=2, padding=(2, 1)),
        nn.ReLU(inplace=True),
        nn.Conv2d(8, 8, (3, 2), stride=(2, 1), groups=8),
        nn.BatchNorm2d(8),
        nn.AdaptiveAvgPool2d(2),
        nn.Flatten(),
        nn.Linear(32, 2),
    )
    network[3].register_buffer("running_mean", torch.randn(8))
    return network, torch.randn(3, 4, 12, 11)


def _cnn_3d() -> Case:
    network = nn.Sequential(
        nn.Conv3d(2, 4, (3, 2, 1), dilation=(1, 2, 1), stride=(1, 2, 2), padding=1, padding_mode="replicate"),
        nn.AdaptiveAvgPool3d(1),
        nn.Flatten(),
        nn.Linear(4, 2),
    )
    return network, torch.randn(3, 2, 5, 6, 4)


def _norms() -> Case:
    network = nn.Sequential(nn.Linear(6, 8), nn.LayerNorm((3, 8)), nn.RMSNorm(8), nn.Flatten(), nn.Linear(24, 2))
    for parameter in network.parameters():
        nn.init.normal_(parameter)
    return network, torch.randn(3, 3, 6)


def _weight_norm() -> Case:
    last = nn.utils.parametrizations.weight_norm(nn.Linear(5, 3))
    return nn.Sequential(nn.Linear(4, 5), nn.ReLU(inplace=True), last), torch.randn(3, 4)


ZOO: dict[str, Callable[[], Case]] = {
    "mlp": lambda: (mlp(20, 16, 3), torch.randn(3, 20)),
    "paper_cnn": lambda: (paper_cnn(2), torch.randn(3, 1, 28, 28)),
    "resnet18": lambda: (ResNet18(2), torch.randn(2, 3, 32, 32)),
    "cnn_1d": _cnn_1d,
    "cnn_grouped": _cnn_grouped,
    "cnn_3d": _cnn_3d,
    "norms": _norms,
    "lstm": lambda: (Recurrent(nn.LSTM), torch.randint(30, (3, 9))),
    "lstm_deep": lambda: (Recurrent(nn.LSTM, num_layers=2, bidirectional=True), torch.randint(30, (3, 4))),
    "gru": lambda: (Recurrent(nn.GRU), torch.randint(30, (3, 4))),
    "rnn": lambda: (Recurrent(nn.RNN, bias=False), torch.randint(30, (3, 4))),
    "encoder": lambda: (Encoder(batch_first=True), torch.randn(3, 5, 8)),
    "encoder_batch_second": lambda: (Encoder(batch_first=False), torch.randn(3, 5, 8)),
    "bert": bert,
    "tied": lambda: (Tied(), torch.randint(10, (3, 5))),
    "functionally_tied": lambda: (FunctionallyTied(), torch.randint(10, (3, 5))),
    "weight_norm": _weight_norm,
    "scaled": lambda: (Scaled(), torch.randn(3, 5, 4)),
    "two_inputs": lambda: (TwoInputs(), (torch.randn(3, 3), torch.randn(3, 4))),
    "one_output": lambda: (nn.Sequential(nn.Linear(4, 1), nn.Flatten(0)), torch.randn(3, 4)),
}


def build(name: str, dtype: torch.dtype = torch.float64) -> Case:
    """A network of the zoo with a batch, always the same one."""
    torch.manual_seed(0)
    network, inputs = ZOO[name]()
    return network.to(dtype).eval(), cast(inputs, dtype)


def cast(inputs: Any, dtype: torch.dtype) -> Any:
    """Floating inputs in another precision."""
    if isinstance(inputs, dict):
        return {name: cast(value, dtype) for name, value in inputs.items()}
    if isinstance(inputs, tuple):
        return tuple(cast(value, dtype) for value in inputs)
    return inputs.to(dtype) if inputs.is_floating_point() else inputs
