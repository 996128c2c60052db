"""A language model fine-tuned on 2,000 passages: which made it write a sentence, and does training again say so too?

    python -m benchmarks.stories --out results/stories                     # minutes on one core; goes on if stopped
    python -m benchmarks.stories --out results/stories --page docs/language-models.md

The story model is fine-tuned on the first words of 2,000 film reviews by an ordinary loop with AdamW (recorded by
`ui.Recording`), and writes a sentence. Every passage gets a score, and what it did to the sentence. Then the network is
trained again without the passages that are named, without as many that are named last, and without random groups.
"""

from __future__ import annotations

import argparse
import time
from copy import deepcopy
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch

import uniqueinfo as ui
from benchmarks.data import FOLDER
from benchmarks.real_training.case import STORIES
from benchmarks.real_training.ours import Arrays, kept
from benchmarks.real_training.peers import PEERS, attributed
from benchmarks.stories.network import Stories
from benchmarks.stories.others import by_gradients
from benchmarks.stories.page import Results, write_page
from benchmarks.stories.task import Task, each_loss
from uniqueinfo.types import Floats, Indices

GROUP, RANDOM = 100, 30
PACKAGES = ("ekfac", "trak-1")
"""Methods of other packages; TRAK of ten networks would be of ten sentences."""


def trained(task: Task, out: Path) -> Arrays:
    """The training on all passages, recorded, and the sentence it ends with."""
    started = time.process_time()
    network = task.trained(folder=out / "recording")
    seconds = time.process_time() - started
    sentence = task.sentence(network)
    return {
        "sentence": np.array(sentence),
        "seconds": np.array(seconds),
        "before": _losses(task, task.start, sentence),
        "losses": _losses(task, network, sentence),
    }


def scored(task: Task, sentence: list[int], recording: Path, outputs: Any) -> Arrays:
    """The scores of all passages, and what each did to the first number of the sentence and of held-out passages."""
    asked, started = task.asked(sentence), time.process_time()
    training = ui.Recorded(recording)
    scores = ui.score(task.start, (task.train, None), asked, training=training, outputs=outputs, progress=False)
    assert scores.functional is not None
    assert scores.value is not None
    assert scores.origin.probe is not None
    changes = np.empty((len(task.train), len(asked[0])))
    for numbers, moved in scores.origin.run.leave_out().output_changes(scores.origin.probe):
        changes[numbers] = moved.reshape(len(numbers), len(asked[0]), -1)[..., 0]
    return {
        "changes": changes,
        "functional": scores.functional,
        "value": scores.value,
        "seconds": np.array(time.process_time() - started),
        "weights": np.array(scores.settings["width"]),
        "error": np.array(float(scores.settings["learnt"]["error"])),
    }


def groups_of(changes: Floats) -> dict[str, Indices]:
    """Passages that leave together: those that did most for the sentence, most against it, and random ones."""
    order = np.argsort(-changes[:, 0], kind="stable")
    drawn = np.random.default_rng(0)
    random = {f"random-{number:02}": drawn.choice(len(changes), GROUP, replace=False) for number in range(RANDOM)}
    return {"for": order[:GROUP], "against": order[-GROUP:], **random}


def without(task: Task, group: Indices, sentence: list[int]) -> Arrays:
    """What is asked about, after really training without a group."""
    return {"losses": _losses(task, task.trained(group), sentence)}


def _end(task: Task, recording: Path) -> Stories:
    """The network after training on all passages."""
    training, network = ui.Recorded(recording), deepcopy(task.start)
    network.load_state_dict(training.state(len(training.points) - 1))
    return network


def _losses(task: Task, network: Stories, sentence: list[int]) -> Floats:
    with torch.no_grad():
        found: Floats = each_loss(network, *task.asked(sentence)).double().numpy()
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("results/stories"))
    parser.add_argument("--page", type=Path)
    options = parser.parse_args()
    torch.set_num_threads(1)
    out, task = options.out, Task.of(FOLDER)
    base = kept(out / "base.npz", partial(trained, task, out))
    sentence = base["sentence"].tolist()
    print(task.tokens.decode(sentence), flush=True)
    ours, margin = (
        kept(out / f"{name}.npz", partial(scored, task, sentence, out / "recording", outputs))
        for name, outputs in (("ours", ui.sequence_likelihood()), ("margin", ui.sequence_margin))
    )
    print(f"scored in {float(ours['seconds']):.0f} and {float(margin['seconds']):.0f} s of the processor", flush=True)
    groups, again = groups_of(ours["changes"]), {}
    for name, group in groups.items():
        again[name] = kept(out / "again" / f"{name}.npz", partial(without, task, group, sentence))["losses"]
        print(name, flush=True)
    others = kept(out / "others.npz", partial(by_gradients, task, _end(task, out / "recording"), sentence))
    packages = {key: attributed(PEERS[key], STORIES, 0, out / "packages") for key in PACKAGES}
    for key, found in packages.items():
        print(f"{key}: {found.error or f'{found.seconds:.0f} s of the processor'}", flush=True)
    tokens = int((task.asked(sentence)[1][0] != -100).sum())
    results = Results(base, ours, margin, others, packages, again, groups, tokens)
    print(f"rank correlation over random groups: {results.agreement()}", flush=True)
    if options.page is not None:
        write_page(task, results, options.page)


if __name__ == "__main__":
    main()
