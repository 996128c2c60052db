"""Record a training of Hugging Face's Trainer."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

from torch.utils.data import BatchSampler

from uniqueinfo.training.hooks import Hooked, callback_class
from uniqueinfo.training.overheard import Overheard

if TYPE_CHECKING:
    from transformers import TrainerCallback as _Callback
    from transformers import TrainerControl, TrainerState, TrainingArguments
else:
    _Callback = callback_class("TrainerCallback", ("transformers",), "'uniqueinfo[transformers]'")


class RecordingCallback(_Callback):
    """`Recording` as a callback: `Trainer(…, callbacks=[RecordingCallback("recording")])`.

    A training that goes on from a checkpoint of the Trainer goes on with its recording too. With
    `load_best_model_at_end` the recording is still of the whole training, up to its last step. Gradients that the
    Trainer clips (`max_grad_norm`) are followed as clipped. Which samples are in a batch is heard from the Trainer's
    sampler. Several processes, data without positions and a training that went on from a checkpoint do not tell it;
    they are followed as they go on average over the order of the batches.

    `folder`, `loss`, `checkpoints`: as of `Recording`.
    """

    def __init__(self, folder: str | Path, *, loss: str = "cross-entropy", checkpoints: int = 8) -> None:
        """As of `Recording`."""
        super().__init__()
        self._hooked = Hooked(folder, loss, checkpoints)
        self._batches: BatchSampler | None = None

    def on_train_begin(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **kwargs: Any
    ) -> None:
        """Keep the start; of several processes one records."""
        if state.is_world_process_zero:
            clip = args.max_grad_norm
            self._hooked.begin(kwargs["model"], kwargs["optimizer"], done=state.global_step, clip=clip)
            self._listen(kwargs.get("train_dataloader"), alone=args.world_size == 1 and state.global_step == 0)

    def _listen(self, loader: Any, *, alone: bool) -> None:
        batches = getattr(loader, "batch_sampler", None)
        if alone and type(batches) is BatchSampler:
            self._batches, self._hooked.heard = batches, Overheard.in_place_of(batches)

    def on_substep_end(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **kwargs: Any
    ) -> None:
        """Gradients of a batch wait for the step of a later one."""
        if self._hooked.heard is not None:
            self._hooked.passed()

    def on_epoch_end(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **kwargs: Any
    ) -> None:
        """The end, if this was the last epoch: the best network is not loaded yet."""
        if control.should_training_stop:
            self._hooked.finish()

    def on_log(self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **kwargs: Any) -> None:
        """The end, where an evaluation after the epoch stopped the training."""
        if control.should_training_stop:
            self._hooked.finish()

    def on_train_end(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **kwargs: Any
    ) -> None:
        """Keep the end, if the network is still as the last step left it."""
        if self._hooked.running and args.load_best_model_at_end and state.best_model_checkpoint is not None:
            warnings.warn(
                "load_best_model_at_end has put an earlier network in the place of the last one: the recording ends "
                "with its last checkpoint before that",
                stacklevel=2,
            )
            self._hooked.leave()
        self._hooked.finish()
        if self._hooked.heard is not None and self._batches is not None:
            self._hooked.heard.leave(self._batches)
        self._hooked.heard = self._batches = None
