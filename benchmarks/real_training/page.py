"""docs/real-training.md and its figures, from what was run."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import matplotlib as mpl
import numpy as np

mpl.use("agg")
from matplotlib import pyplot as plt
from matplotlib.ticker import NullFormatter

from benchmarks.real_training import dattri_protocol as dattri
from benchmarks.real_training.agreement import Agreement, agreement, with_each_other
from benchmarks.real_training.dattri_protocol import mean_spearman
from benchmarks.real_training.dattri_training import SETTINGS, digits
from benchmarks.real_training.ours import WAYS
from benchmarks.real_training.peers import LIMITS, PEERS, kept
from benchmarks.real_training.task import Task
from benchmarks.real_training.tasks import TASKS
from benchmarks.real_training.together import SHARES
from benchmarks.real_training.together import agreement as calibration
from benchmarks.real_training.truth import LEFT_OUT, Truth, found, spread
from uniqueinfo.types import Floats

_SEEDS = (0, 1, 2)
_NONE = "–"


@dataclass(frozen=True, eq=False)
class Line:
    """One way to score a problem, over the orders of batches it was run for."""

    title: str
    amount: Agreement | str
    value: Agreement | str
    seconds: float | None = None

    def __str__(self) -> str:
        cost = _NONE if self.seconds is None else f"{self.seconds:.3g}"
        return f"| {self.title} | {self.amount} | {self.value} | {cost} |"


@dataclass(frozen=True, eq=False)
class Problem:
    """A task, its truths by seed, and where results lie."""

    name: str
    task: Task
    truths: dict[int, Truth]
    out: Path

    def lines(self) -> list[Line]:
        """Ours, the others', and how well two orders of the batches agree."""
        ours = [
            self._line(f"**{words}**" if way == "recorded" else words, self._ours(way)) for way, words in WAYS.items()
        ]
        peers = []
        for peer in PEERS.values():
            each = {seed: kept(peer, self.name, seed, self.out / "peers") for seed in self.truths}
            arrays = {
                seed: {"amount": one.amount, "value": one.value, "seconds": np.array(one.seconds)}
                for seed, one in each.items()
                if one.amount is not None and one.value is not None
            }
            errors = sorted({_why(one.error) for one in each.values() if one.error not in ("", "not run")})
            peers.append(self._line(peer.title, arrays, errors[0] if errors else "not run"))
        whole = {sample for truth in self.truths.values() for sample in truth.samples}
        common = sorted(whole.intersection(*(truth.samples for truth in self.truths.values())))
        same = [[truth.samples.index(sample) for sample in common] for truth in self.truths.values()]
        ceiling = [
            with_each_other([measure[at] for measure, at in zip(measures, same, strict=True)])
            for measures in (
                [truth.amounts() for truth in self.truths.values()],
                [truth.values(self.task) for truth in self.truths.values()],
            )
        ]
        amount, value = (_NONE if each is None else each for each in ceiling)
        return [*(line for line in ours if line is not None), *(line for line in peers if line is not None),
                Line("*the same training with another order of its batches: the ceiling*", amount, value)]  # fmt: skip

    def _ours(self, way: str) -> dict[int, dict[str, Floats]]:
        read = {}
        for seed in self.truths:
            place = self.out / "ours" / f"{self.name}-{seed}-{way}.npz"
            if place.is_file():
                with np.load(place) as file:
                    read[seed] = {name: file[name] for name in file.files}
        return read

    def _line(self, title: str, arrays: dict[int, dict[str, Floats]], why: str = "not run") -> Line | None:
        if not arrays:
            return None if why == "not run" else Line(title, why, _NONE)
        seeds = [seed for seed in self.truths if seed in arrays]
        amounts = [
            (arrays[seed]["amount"][list(self.truths[seed].samples)], self.truths[seed].amounts()) for seed in seeds
        ]
        values = [
            (arrays[seed]["value"][list(self.truths[seed].samples)], self.truths[seed].values(self.task))
            for seed in seeds
        ]
        cost = float(np.median([float(arrays[seed]["seconds"]) for seed in seeds]))
        return Line(title, _agreed(amounts), _agreed(values), cost)

    def section(self, folder: Path) -> str:
        """Table, figure, settings."""
        _figure(self, folder / f"{self.name}.png")
        task, truth = self.task, next(iter(self.truths.values()))
        counts = sorted({len(each.samples) for each in self.truths.values()})
        ours = self._ours("recorded").values()
        recording = [float(arrays["training"]) for arrays in ours]
        scoring = [float(arrays["seconds"]) / truth.seconds for arrays in ours]
        return "\n".join(
            [
                f"## {task.title[0].upper()}{task.title[1:]}",
                "",
                "| | amount | value | seconds |",
                "|---|---|---|---|",
                *(str(line) for line in self.lines()),
                "",
                f"![Score against what training again says]({folder.name}/{self.name}.png)",
                "",
                f"{len(task.X)} training samples, {' to '.join(map(str, counts))} of them left out; {len(task.X_val)} "
                f"validation samples; {task.steps} steps of {task.batch}; {_orders(len(self.truths))} of the batches. "
                f"One training takes {truth.seconds:.3g} seconds of the processor"
                + (
                    f", {np.median(recording):.3g} while recorded; scores along the recording take as long as "
                    f"{np.median(scoring):.2g} trainings.\n"
                    if recording
                    else ".\n"
                ),
            ]
        )


def write_page(out: Path, page: Path) -> None:
    """One section per problem, groups, dattri's benchmark; a section of which nothing was run stays as it stands."""
    folder = page.with_suffix("")
    folder.mkdir(parents=True, exist_ok=True)
    problems = [problem for name in TASKS if (problem := _problem(name, out)) is not None]
    new = [*(problem.section(folder) for problem in problems), _groups(out), _dattri(out)]
    sections = _sections(page.read_text(encoding="utf-8")) if page.is_file() else {}
    sections |= {_heading(part): part for part in new if part}
    sections.pop(_heading(_FOOT), None)
    page.write_text("\n".join([_HEAD, *sections.values(), _FOOT]), encoding="utf-8")


def _sections(text: str) -> dict[str, str]:
    """By their headings.

    >>> _sections("# Page\\n\\n## One\\n1\\n\\n## Two\\n2\\n")
    {'## One': '## One\\n1\\n', '## Two': '## Two\\n2\\n'}
    """
    parts = [f"## {part.rstrip()}\n" for part in text.split("\n## ")[1:]]
    return {_heading(part): part for part in parts}


def _heading(section: str) -> str:
    return section.partition("\n")[0]


def _problem(name: str, out: Path) -> Problem | None:
    places = {seed: out / "truth" / f"{name}-{seed}" for seed in _SEEDS}
    if not any(place.is_dir() for place in places.values()):
        return None
    task = TASKS[name]()
    samples = spread(len(task.X), LEFT_OUT)
    truths = {seed: truth for seed, place in places.items() if (truth := found(place, samples)) is not None}
    return Problem(name, task, truths, out) if truths else None


def _groups(out: Path) -> str:
    lines = []
    for name in TASKS:
        for share in SHARES:
            for place in sorted((out / "together").glob(f"{name}-*-{share}.npz")):
                with np.load(place) as file:
                    arrays = {key: file[key] for key in file.files}
                told = [_calibrated(arrays[way], arrays["truth"]) for way in ("group", "sum")]
                lines.append(f"| {name} | {share:.0%} ({int(arrays['size'])}) | {told[0]} | {told[1]} |")
    if not lines:
        return ""
    return "\n".join(
        [_GROUPS, "| | leave | as one group | as a sum of single scores |", "|---|---|---|---|", *lines, ""]
    )


def _calibrated(said: Floats, truth: Floats) -> str:
    rank, slope = calibration(said, truth)
    return f"{rank:.2f}, slope {slope:.2f}"


def _dattri(out: Path) -> str:
    lines = []
    for name, setting in SETTINGS.items():
        place = out / "ours" / f"{name}.npz"
        if not place.is_file():
            continue
        true = dattri.truths(setting, digits(), out / "dattri" / name)
        with np.load(place) as file:
            ours = {key: file[key] for key in file.files}
        cost = f"{float(ours['seconds']):.3g}"
        for words, key in (("one group", "halves"), ("a sum over samples", "halves_summed")):
            told = _told(dattri.agreement_of(ours["without"], ours[key], true))
            lines.append(f"| {name} | **uniqueinfo, halves as {words}** | {told} | {cost} |")
        words = "**uniqueinfo, logistic regression on the network's features**"
        lines.append(_of_halves(out, name, "features", words, true))
        for peer in PEERS.values():
            one = kept(peer, name, 0, out / "peers")
            if one.effects is None:
                lines.append(f"| {name} | {peer.title} | {_why(one.error)} | {_NONE} | {_NONE} | {_NONE} |")
                continue
            told = _told(dattri.agreement(one.effects, true))
            lines.append(f"| {name} | {peer.title} | {told} | {one.seconds:.3g} |")
        words = "logistic regression on the pixels of each half: no network, no training"
        lines.append(_of_halves(out, name, "plain", words, true))
        other, runs = dattri.of_other_seeds(true), len(true.halves)
        lines.append(
            f"| {name} | *the same trainings from another seed* | {other.leave_one_out:.2f} | {other.halves:.2f} | "
            f"{_NONE} | {_NONE} |"
        )
        tops = [dattri.ceiling(other.halves, count) for count in (1, runs)]
        lines.append(f"| {name} | *the ceiling of what knows no seed* | {_NONE} | {tops[0]:.2f} | {tops[1]:.2f} | {_NONE} |")  # fmt: skip  # noqa: E501
    if not lines:
        return ""
    head = [
        f"| | | leave-one-out | halves (LDS), one run | halves (LDS), mean of {dattri.RUNS} runs | seconds |",
        "|---|---|---|---|---|---|",
    ]
    return "\n".join([_DATTRI, *head, *lines, ""])


def _of_halves(out: Path, name: str, kind: str, words: str, true: dattri.Truths) -> str:
    """A row of what speaks of halves alone."""
    with np.load(out / "ours" / f"{name}-{kind}.npz") as file:
        halves, seconds = file["halves"], float(file["seconds"])
    one_run, mean = (mean_spearman(halves, each) for each in (true.halves[0], true.halves.mean(axis=0)))
    return f"| {name} | {words} | {_NONE} | {one_run:.2f} | {mean:.2f} | {seconds:.3g} |"


def _told(found: dattri.Agreement) -> str:
    return f"{found.leave_one_out:.2f} | {found.halves:.2f} | {found.halves_mean:.2f}"


def _agreed(pairs: list[tuple[Floats, Floats]]) -> Agreement:
    shortest = min(len(one) for one, _ in pairs)
    return agreement([(one[:shortest], other[:shortest]) for one, other in pairs])


def _why(error: str) -> str:
    """In a table's cell."""
    if "alloc" in error:
        return f"needs more than {LIMITS.memory >> 30} GB"
    return "does not run on this network (torch's vmap)" if "vmap" in error else error.splitlines()[0][:80]


def _orders(count: int) -> str:
    return "one order" if count == 1 else f"{count} orders"


def _figure(problem: Problem, place: Path) -> None:
    seed, truth = next(iter(problem.truths.items()))
    titles = {"recorded": "along the recording", "default": "at the defaults"}
    shown = [(titles[way], arrays) for way in titles if (arrays := problem._ours(way).get(seed)) is not None]
    figure, axes = plt.subplots(1, len(shown), figsize=(4 * len(shown), 3.6), layout="constrained", squeeze=False)
    for ax, (title, arrays) in zip(axes[0], shown, strict=True):
        ax.scatter(truth.amounts(), arrays["amount"][list(truth.samples)], s=16)
        low, high = truth.amounts().min(), truth.amounts().max()
        ax.plot([low, high], [low, high], color="0.7", lw=1, zorder=0)
        ax.set(xscale="log", yscale="log")
        for axis in (ax.xaxis, ax.yaxis):  # a short range has labels at every tick, one over the other
            axis.set_minor_formatter(NullFormatter())
        ax.set(xlabel="trained again without the sample", ylabel="score", title=title)
    figure.savefig(place, dpi=110)
    plt.close(figure)


_HEAD = """# Following the training people really run

> A score is worth what it says about really training again without the sample. Recorded by one line in the training
> loop, a training is followed by its own steps (its batches, its rates, its own optimizer), and for networks that start
> pretrained scores then rank samples far better than scores that know nothing of the training. A network that has to
> learn its features from scratch is not followed.

Here networks are trained by an ordinary loop of mini-batches, with the loss and the optimizer people use, and trained
again without each of some samples: the same batches, in which the sample weighs nothing. The tables say how well scores
rank these samples: Spearman's correlation, the mean over orders of the batches, with a 95 % interval over the samples.

- *Amount* is how far the validation outputs move. The other packages give effects on losses alone; for them it is the
  mean square of these.
- *Value* is how much the validation loss gains.
- *Seconds* are of one processor, for all samples, without training.
- The last row of a table is how well two orders of the batches agree with each other: as much as a score can that does
  not know the order. One that was told it can know more.

Other packages run at their defaults, untuned: influence functions and TRAK of dattri, TracIn of captum, EK-FAC of
kronfluence; for the first order of the batches alone. A row that is missing was not run.
"""

_GROUPS = """## Many samples at once

Random groups of 1 %, 5 % and 50 % of the samples leave together (30 groups each). Rank correlation of the gain in
validation loss with really training without them, and the slope of the truth on what was said: 1 where the size is
right, too.
"""

_DATTRI = """## The benchmark of dattri

5,000 digits of MNIST, 500 test digits; logistic regression and an MLP with dropout, as that package trains them. Mean
over the test digits of the rank correlation of their losses: without each of 100 samples, and with each of 50 random
halves, which start from other weights each. Ours are from one training; removing a half as one group uses more than
effects that add up, which is what the others (and our second line) do. Two trainings of the same half from different
seeds agree only so far, and nothing that knows a half and no seed can agree with one of them better than the last line
says. So every half is also trained from five seeds, and the mean of its losses taken (dattri's `num_runs_per_subset`).
A row of each is by `ui.linearize(…, trained=…, outputs=ui.OutputAverage(10)).features(300)`: what tells samples apart
in the one network, at both ends of its training, with logistic regression on each half; its decay is one over the time
that training on a half takes. A last row is of what knows no network at all.
"""

_FOOT = """## Settings, and what was changed after seeing results

Data, networks, rates, steps, left-out samples and seeds were fixed before any agreement was seen (MiniLM's rate and
epochs were raised once, by its accuracy). These were not:

- How many weights stand for all (16,384 under SGD, 32,768 otherwise), that they are drawn by their share in the kernel,
  and at how many checkpoints gradients are taken (three under SGD, five otherwise, four where five are dearer than the
  training) were chosen on the two pretrained CNNs, mostly by their first order of the batches.
- The truth is the mean over those left in a batch, as PyTorch has it for a batch without the sample. It divided by the
  full batch before.
- That samples behind one that leaves move up (`place="next"`), as they do in dattri's loader, was added after .46 had
  been seen without; that a loader that shuffles fills its batches with the rest (`place="shuffled"`), so that halves
  take half of the steps, after .77 had been seen for the halves of logistic regression.
- The mean over five runs of each half, and the row of logistic regression on pixels, were added after .81 and .34 had
  been seen for the halves of one run each. The row of the network's features was added last: that outputs are taken to
  be alike, and how many directions are kept, was chosen after seeing results; its decay was not.

Where it falls short:

- *Cost.* Scores along a recording were to cost no more than the training. They cost two to three trainings of
  ResNet-18 and MiniLM, and many of the tiny CNN, whose training is over in a second while every step is taken again
  for each of 120 samples. Fewer weights, and fewer directions of the outputs, were tried and cost agreement.
- How far ResNet-18's validation loss moves is ranked less well than its outputs. The curvature of the network itself
  (how its gradients bend with the weights) is not followed, only that of the loss.
- dattri's MLP starts from other weights in every half, and learns its features from that half alone; what follows one
  network has the features of all samples. Followed step by step it tells halves apart less well than logistic
  regression on its features does, and that less well than logistic regression on the pixels of a half, which knows no
  network. Without single samples its second training does not agree with its first.
- A network that learns its features from scratch is not followed.

`scores.settings["learnt"]["error"]` says what half of the checkpoints would have changed. Ask
`ui.validate(scores, val=…, train_function=…)` about your own training.

Made by `python -m benchmarks.real_training --page docs/real-training.md`. Seconds are of a machine that did other
things as well.
"""
