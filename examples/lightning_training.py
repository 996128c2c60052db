"""Lightning: its Trainer trains, a callback records, the scores follow what happened."""

from tempfile import mkdtemp

import lightning as L
import torch
from sklearn.datasets import load_digits
from torch import Tensor, nn
from torch.utils.data import DataLoader, TensorDataset

import uniqueinfo as ui


class Network(L.LightningModule):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 10))

    def forward(self, x: Tensor) -> Tensor:
        return self.layers(x)

    def training_step(self, batch: tuple[Tensor, Tensor], number: int) -> Tensor:
        x, y = batch
        return nn.functional.cross_entropy(self(x), y)

    def configure_optimizers(self) -> torch.optim.Optimizer:
        return torch.optim.SGD(self.parameters(), lr=0.1, momentum=0.9)


X, y = load_digits(return_X_y=True)
X, y = torch.tensor(X / 16, dtype=torch.float32), torch.tensor(y)
train, val = TensorDataset(X[:300], y[:300]), TensorDataset(X[1000:], y[1000:])

L.seed_everything(0, verbose=False)
folder = mkdtemp()
network = Network()
trainer = L.Trainer(
    max_epochs=3, accelerator="cpu", logger=False, enable_checkpointing=False, enable_progress_bar=False,
    enable_model_summary=False, callbacks=[ui.LightningRecording(f"{folder}/recording")],
)  # fmt: skip
trainer.fit(network, DataLoader(train, batch_size=32, shuffle=True))

scores = ui.score(network, train, val, training=ui.Recorded(f"{folder}/recording"))
print(f"{len(scores)} samples along the recorded training")
print(scores.frame().nlargest(3, "kl").to_string(index=False, float_format="%.2g"))
