"""A recording made by Hugging Face's own Trainer."""

from __future__ import annotations

from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
import torch
from torch import Tensor, nn

import uniqueinfo as ui
from uniqueinfo.errors import InputError

pytest.importorskip("transformers", reason="RecordingCallback is a callback of transformers")
pytest.importorskip("accelerate", reason="Trainer needs accelerate")

from transformers import (
    BertConfig,
    BertForSequenceClassification,
    EarlyStoppingCallback,
    Trainer,
    TrainerCallback,
    TrainingArguments,
)

if TYPE_CHECKING:
    from transformers import TrainerControl, TrainerState

SAMPLES, BATCH = 24, 4


class Texts(torch.utils.data.Dataset[dict[str, Tensor]]):
    """Random tokens, with a label that the first of them tells."""

    def __init__(self, seed: int = 0) -> None:
        self.tokens = torch.randint(20, (SAMPLES, 5), generator=torch.Generator().manual_seed(seed))

    def __len__(self) -> int:
        return SAMPLES

    def __getitem__(self, at: int) -> dict[str, Tensor]:
        tokens = self.tokens[at]
        return {"input_ids": tokens, "attention_mask": torch.ones_like(tokens), "labels": (tokens[0] > 9).long()}


class Watched(TrainerCallback):
    """The rate of every step as the schedule had it, read before the step."""

    def __init__(self) -> None:
        self.rates: list[float] = []

    def on_pre_optimizer_step(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **kwargs: Any
    ) -> None:
        self.rates.append(kwargs["lr_scheduler"].get_last_lr()[0])


class Killed(TrainerCallback):
    """Ends a training after a step."""

    def __init__(self, step: int) -> None:
        self.step = step

    def on_step_end(self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **kwargs: Any) -> None:
        if state.global_step == self.step:
            raise KeyboardInterrupt


def bert() -> nn.Module:
    torch.manual_seed(0)
    options: dict[str, Any] = {
        "vocab_size": 20,
        "hidden_size": 8,
        "num_hidden_layers": 1,
        "num_attention_heads": 2,
        "intermediate_size": 8,
        "max_position_embeddings": 8,
    }
    found: nn.Module = BertForSequenceClassification(BertConfig(**options))  # type: ignore[no-untyped-call]
    return found


def trainer(folder: Path, *callbacks: TrainerCallback, model: nn.Module | None = None, **options: Any) -> Trainer:
    given: dict[str, Any] = {
        "num_train_epochs": 2,
        "learning_rate": 0.01,
        "save_strategy": "no",
        "report_to": [],
        "use_cpu": True,
        "disable_tqdm": True,
        "per_device_train_batch_size": BATCH,
    }
    arguments = TrainingArguments(str(folder / "trainer"), **(given | options))
    return Trainer(model or bert(), arguments, train_dataset=Texts(), eval_dataset=Texts(1), callbacks=list(callbacks))


@pytest.mark.parametrize(("accumulated", "steps"), [(1, 12), (3, 4), (4, 4)])
def test_every_step_of_the_optimizer_counts_once(tmp_path: Path, accumulated: int, steps: int) -> None:
    """Six batches an epoch; of four at a time, the second step of an epoch has two."""
    made = trainer(tmp_path, ui.RecordingCallback(tmp_path / "r"), gradient_accumulation_steps=accumulated)
    made.train()
    assert made.state.global_step == steps
    assert ui.Recorded(tmp_path / "r").points[-1]["step"] == steps


class Seen(nn.Module):
    """A network that remembers the tokens it was trained on, batch by batch."""

    def __init__(self) -> None:
        super().__init__()
        self.inner = bert()
        self.batches: list[Tensor] = []

    def forward(self, input_ids: Tensor, attention_mask: Tensor, labels: Tensor) -> Any:
        if self.training:
            self.batches.append(input_ids.clone())
        return self.inner(input_ids=input_ids, attention_mask=attention_mask, labels=labels)


@pytest.mark.parametrize(
    "options",
    [{}, {"gradient_accumulation_steps": 4}, {"per_device_train_batch_size": 5, "dataloader_drop_last": True}],
)
def test_the_samples_of_every_step_are_those_the_network_saw(tmp_path: Path, options: dict[str, Any]) -> None:
    seen = Seen()
    trainer(tmp_path, ui.RecordingCallback(tmp_path / "r"), model=seen, **options).train()
    steps = ui.Recorded(tmp_path / "r").steps
    assert steps.positions is not None
    assert steps.sizes is not None
    assert int(steps.sizes.sum()) == sum(len(batch) for batch in seen.batches)
    torch.testing.assert_close(Texts().tokens[torch.from_numpy(steps.positions)], torch.cat(seen.batches))


@pytest.mark.parametrize("schedule", ["linear", "cosine"])
@pytest.mark.parametrize("accumulated", [1, 2])
def test_the_rates_are_those_of_the_steps(tmp_path: Path, schedule: str, accumulated: int) -> None:
    """Not those that the schedule has set for the next step: with warm-up the first is 0."""
    watched = Watched()
    options: dict[str, Any] = {"lr_scheduler_type": schedule, "warmup_steps": 3}
    callbacks = (watched, ui.RecordingCallback(tmp_path / "r"))
    trainer(tmp_path, *callbacks, gradient_accumulation_steps=accumulated, **options).train()
    found = ui.Recorded(tmp_path / "r").steps.rates
    assert watched.rates[0] == 0
    assert len(watched.rates) == 12 / accumulated
    assert len(set(watched.rates)) > 3
    assert found.tolist() == [[rate, rate] for rate in watched.rates]  # with decay and without


def test_a_linear_schedule_by_hand(tmp_path: Path) -> None:
    trainer(tmp_path, ui.RecordingCallback(tmp_path / "r"), optim="sgd").train()
    rates = [0.01 * (1 - step / 12) for step in range(12)]
    assert ui.Recorded(tmp_path / "r").steps.rates[:, 0].tolist() == pytest.approx(rates)


def test_the_ends_are_the_network_before_and_after(tmp_path: Path) -> None:
    made = trainer(tmp_path, ui.RecordingCallback(tmp_path / "r", checkpoints=3))
    made.train()
    found = ui.Recorded(tmp_path / "r")
    assert len(found.points) <= 3 + 2
    assert found.loss == "cross-entropy"
    assert made.model is not None
    for number, network in ((0, bert()), (-1, made.model)):
        torch.testing.assert_close(found.state(number), dict(network.state_dict()))
    assert found.words().startswith("12 steps of AdamW")
    assert found.trained == frozenset(dict(made.model.named_parameters()))


def test_frozen_parameters_are_not_followed(tmp_path: Path) -> None:
    model = bert()
    model.get_submodule("bert").requires_grad_(False)
    trainer(tmp_path, ui.RecordingCallback(tmp_path / "r"), model=model).train()
    assert ui.Recorded(tmp_path / "r").trained == {"classifier.weight", "classifier.bias"}


def test_a_training_resumed_from_a_checkpoint_goes_on_with_its_recording(tmp_path: Path) -> None:
    options: dict[str, Any] = {"save_strategy": "steps", "save_steps": 5, "lr_scheduler_type": "constant"}
    killed = trainer(tmp_path, ui.RecordingCallback(tmp_path / "r"), Killed(7), **options)
    with pytest.raises(KeyboardInterrupt):
        killed.train()
    assert ui.Recorded(tmp_path / "r").points[-1]["step"] < 8
    resumed = trainer(tmp_path, ui.RecordingCallback(tmp_path / "r"), **options)
    resumed.train(resume_from_checkpoint=str(tmp_path / "trainer" / "checkpoint-5"))
    found = ui.Recorded(tmp_path / "r")
    steps = [point["step"] for point in found.points]
    assert steps == sorted(set(steps))
    assert steps[-1] == 12
    assert found.steps.rates.tolist() == [[0.01, 0.01]] * 12
    assert resumed.model is not None
    torch.testing.assert_close(found.state(-1), dict(resumed.model.state_dict()))


def test_a_second_training_does_not_go_into_the_same_folder(tmp_path: Path) -> None:
    made = trainer(tmp_path, ui.RecordingCallback(tmp_path / "r"), max_steps=2)
    made.train()
    with pytest.raises(InputError, match="holds a recording already"):
        made.train()


@pytest.mark.parametrize("early", [True, False])
def test_the_best_network_is_not_taken_for_the_last(tmp_path: Path, early: bool) -> None:
    """The first epoch is said to be best; stopped early, an evaluation ends the training."""
    last: list[dict[str, Tensor]] = []

    class Last(TrainerCallback):
        def on_step_end(
            self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **kwargs: Any
        ) -> None:
            last[:] = [{name: value.clone() for name, value in kwargs["model"].state_dict().items()}]

    options: dict[str, Any] = {
        "num_train_epochs": 4 if early else 2,
        "eval_strategy": "epoch",
        "save_strategy": "epoch",
        "load_best_model_at_end": True,
        "metric_for_best_model": "worse",
        "greater_is_better": False,
    }
    stopping = [EarlyStoppingCallback(1)] if early else []
    made = trainer(tmp_path, Last(), ui.RecordingCallback(tmp_path / "r"), *stopping, **options)
    turns = count()
    made.compute_metrics = lambda _: {"worse": float(next(turns))}
    made.train()
    assert made.state.best_model_checkpoint is not None
    assert made.state.best_model_checkpoint.endswith("checkpoint-6")
    assert made.model is not None
    found = ui.Recorded(tmp_path / "r")
    assert found.points[-1]["step"] == made.state.global_step == 12
    torch.testing.assert_close(found.state(-1), last[0])
    assert any(bool((value != last[0][name]).any()) for name, value in made.model.state_dict().items())


def test_where_only_the_best_network_is_left_the_recording_says_so(tmp_path: Path) -> None:
    """Trainers before version 5 load it before they log."""
    model = nn.Linear(2, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    callback = ui.RecordingCallback(tmp_path / "r")
    args: Any = SimpleNamespace(load_best_model_at_end=True, max_grad_norm=1.0, world_size=1)
    state: Any = SimpleNamespace(is_world_process_zero=True, global_step=0, best_model_checkpoint="checkpoint-1")
    control: Any = SimpleNamespace(should_training_stop=False)
    callback.on_train_begin(args, state, control, model=model, optimizer=optimizer)
    for parameter in model.parameters():
        parameter.grad = torch.ones_like(parameter)
    for _ in range(4):
        optimizer.step()
    with pytest.warns(UserWarning, match="load_best_model_at_end"):
        callback.on_train_end(args, state, control)
    assert ui.Recorded(tmp_path / "r").points[-1]["step"] == 3
    optimizer.step()  # is no longer counted
    assert ui.Recorded(tmp_path / "r").points[-1]["step"] == 3


def test_of_several_processes_one_records(tmp_path: Path) -> None:
    callback = ui.RecordingCallback(tmp_path / "r")
    state: Any = SimpleNamespace(is_world_process_zero=False)
    nothing: Any = SimpleNamespace(should_training_stop=True, load_best_model_at_end=False)
    callback.on_train_begin(nothing, state, nothing)
    callback.on_epoch_end(nothing, state, nothing)
    callback.on_train_end(nothing, state, nothing)
    assert not (tmp_path / "r").exists()


def test_scores_along_a_training_of_the_trainer(tmp_path: Path) -> None:
    made = trainer(tmp_path, ui.RecordingCallback(tmp_path / "r"))
    made.train()
    assert made.model is not None
    training = ui.Recorded(tmp_path / "r")
    scores = ui.score(made.model, Texts(), Texts(1), training=training)
    assert len(scores) == SAMPLES
    assert scores.functional is not None
    assert scores.functional.max() > 0
    loaded = ui.score(made.model, made.get_train_dataloader(), made.get_eval_dataloader(), training=training)
    assert loaded.functional == pytest.approx(scores.functional)
