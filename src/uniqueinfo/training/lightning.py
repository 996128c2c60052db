"""Record a training of Lightning's Trainer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from uniqueinfo.errors import InputError
from uniqueinfo.training.hooks import Hooked, callback_class

_Callback: Any = callback_class("Callback", ("lightning.pytorch", "pytorch_lightning"), "'uniqueinfo[lightning]'")


class LightningRecording(_Callback):  # type: ignore[misc]
    """`Recording` as a callback of Lightning: `Trainer(…, callbacks=[LightningRecording("recording")])`.

    The network of the recording is the LightningModule: its `forward` gives the outputs that scores are about. A
    training that goes on from a checkpoint (`ckpt_path`) goes on with its recording too. Gradients clipped to a norm
    (`gradient_clip_val`) are followed as clipped. Which samples are in a batch is not told, so the training is followed
    as it goes on average over the order of the batches.

    `folder`, `loss`, `checkpoints`: as of `Recording`.
    """

    def __init__(self, folder: str | Path, *, loss: str = "cross-entropy", checkpoints: int = 8) -> None:
        """As of `Recording`."""
        super().__init__()
        self._hooked = Hooked(folder, loss, checkpoints)

    def on_train_start(self, trainer: Any, pl_module: Any) -> None:
        """Keep the start; of several processes one records."""
        if len(trainer.optimizers) != 1:
            raise InputError(
                f"LightningRecording: expected one optimizer, and configure_optimizers gave {len(trainer.optimizers)}; "
                "use Recording in a loop of your own"
            )
        if trainer.is_global_zero:
            by_value = str(trainer.gradient_clip_algorithm or "norm").endswith("value")
            clip = None if by_value else trainer.gradient_clip_val
            self._hooked.begin(pl_module, trainer.optimizers[0], done=trainer.global_step, clip=clip)

    def on_train_end(self, trainer: Any, pl_module: Any) -> None:
        """Keep the end."""
        self._hooked.finish()

    def on_exception(self, trainer: Any, pl_module: Any, exception: BaseException) -> None:
        """What was recorded so far stays."""
        self._hooked.leave()
