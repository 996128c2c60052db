"""The page about the story model, from what was run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import spearmanr

from benchmarks.real_training.peers import LIMITS, PEERS, Attributed
from benchmarks.stories.task import BATCH, LENGTH, PROMPT, RATE, TEMPERATURE, Task
from uniqueinfo.experiments.markdown import quoted
from uniqueinfo.types import Floats, Indices

_NAMED = 4


@dataclass(frozen=True, eq=False)
class Results:
    """What was run, and what is said of it."""

    base: Mapping[str, NDArray[Any]]
    ours: Mapping[str, NDArray[Any]]
    """By `sequence_likelihood`: what each passage did to log p̄ of what is asked about."""
    margin: Mapping[str, NDArray[Any]]
    """By `sequence_margin`: the same of the margins."""
    others: Mapping[str, NDArray[Any]]
    packages: Mapping[str, Attributed]
    """By `PEERS`; effects on losses, of which positive ones help."""
    again: Mapping[str, Floats]
    """By the name of each group, the losses of what is asked about after training without it."""
    groups: Mapping[str, Indices]
    tokens: int
    """That count, of the sentence."""

    @property
    def random(self) -> list[str]:
        """The random groups."""
        return [name for name in self.groups if name.startswith("random")]

    def really(self, name: str) -> Floats:
        """How much more likely a token of each text becomes without a group, in nats."""
        return np.asarray(self.base["losses"]) - self.again[name]

    def said(self, name: str, *, by_margin: bool = False) -> Floats:
        """The same by our scores, summed over the passages of the group; margins are turned into log p̄ afterwards."""
        found: Floats
        if not by_margin:
            found = -self.ours["changes"][self.groups[name]].sum(axis=0)
            return found
        before = -np.log(np.expm1(self.base["losses"]))
        moved = before - self.margin["changes"][self.groups[name]].sum(axis=0)
        found = self.base["losses"] - np.logaddexp(0, -moved)
        return found

    def spread(self, *, by_margin: bool = False) -> tuple[float, float]:
        """How many times as far as they do random groups spread, of the sentence and the mean of held-out passages."""
        said = np.stack([self.said(name, by_margin=by_margin) for name in self.random]).std(axis=0)
        each = said / np.stack([self.really(name) for name in self.random]).std(axis=0)
        return float(each[0]), float(each[1:].mean())

    def agreement(self, changes: Floats | None = None, *, by_margin: bool = False) -> tuple[float, float]:
        """Rank correlation over random groups, of the sentence and the mean of the held-out passages."""
        truth = np.stack([self.really(name) for name in self.random])
        if changes is None:
            told = np.stack([self.said(name, by_margin=by_margin) for name in self.random])
        else:
            told = -np.stack([changes[self.groups[name]].sum(axis=0) for name in self.random])
        each = [float(spearmanr(truth[:, at], told[:, at])[0]) for at in range(truth.shape[1])]
        return each[0], float(np.mean(each[1:]))


def write_page(task: Task, results: Results, page: Path) -> None:
    """The page and its figure."""
    folder = page.with_suffix("")
    folder.mkdir(parents=True, exist_ok=True)
    _draw(results, folder / "sentence.png")
    title, _, rest = _INTRODUCTION.partition("\n\n")
    opening = f"{title}\n\n{_quoted(len(task.train), results)}\n\n{rest}"
    page.write_text(opening + _measured(task, results), encoding="utf-8")


def _quoted(passages: int, results: Results) -> str:
    (sentence, held), seconds = results.agreement(), float(results.ours["seconds"])
    again = float(results.base["seconds"]) * passages
    return quoted(
        f"Which of {passages:,} passages made a fine-tuned story model write a sentence is said in {seconds:.0f} "
        f"seconds, where training again without each would take {again:,.0f}.",
        "The passages named do what is said of them, in sign, and far more than random ones; how much, scores "
        f"overstate {_overstated(results):.1f} times.",
        f"Random groups are ranked with a correlation of {held:.2f} for held-out passages, and {sentence:.2f} for the "
        f"one sentence{_best_other(results)}.",
    )


def _best_other(results: Results) -> str:
    """The package that comes closest, where one ran."""
    ranked = [
        (results.agreement(found.effects), found.seconds, PEERS[key].title)
        for key, found in results.packages.items()
        if found.effects is not None and found.seconds is not None
    ]
    if not ranked:
        return ""
    (sentence, held), seconds, title = max(ranked, key=lambda one: one[0][1])
    return (
        f"; by {title}, the closest of the other packages, with {held:.2f} and {sentence:.2f} in {seconds:.0f} "
        "seconds, sizes left open"
    )


def _draw(results: Results, place: Path) -> None:
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(figsize=(5, 4), layout="constrained")
    kinds = {"for": "named: did most for it", "against": "named: did most against it", "random": "random"}
    for kind, words in kinds.items():
        names = [name for name in results.groups if name.startswith(kind)]
        said, really = (
            [results.tokens * float(of(name)[0]) for name in names] for of in (results.said, results.really)
        )
        axes.scatter(said, really, label=words, s=18)
    axes.axline((0, 0), slope=1, color="black", linewidth=0.8)
    axes.set(xlabel="change of the sentence's log p, as scores say", ylabel="after really training again")
    axes.legend(title=f"{len(results.groups['for'])} passages leave")
    figure.savefig(place, dpi=110)
    plt.close(figure)


def _measured(task: Task, results: Results) -> str:
    base, ours, others = results.base, results.ours, results.others
    decode = task.tokens.decode
    written, n, size = decode(base["sentence"].tolist()), len(task.train), len(results.groups["for"])
    order = np.argsort(-ours["changes"][:, 0], kind="stable")
    before, after = (-results.tokens * float(base[name][0]) for name in ("before", "losses"))
    held = [float(base[name][1:].mean()) for name in ("before", "losses")]
    lines = [
        f"The network writes, after “{PROMPT}”: **{written}** Its log-probability is {after:.1f}; before fine-tuning "
        f"it was {before:.1f}. (The loss on {len(base['losses']) - 1} held-out passages went from {held[0]:.2f} to "
        f"{held[1]:.2f} nats a token.) Of all passages, these did most for it:",
        "",
        *(f"- {_cut(decode(task.train[at].tolist()))}" for at in order[:_NAMED].tolist()),
        "",
        "and these most against it:",
        "",
        *(f"- {_cut(decode(task.train[at].tolist()))}" for at in order[: -_NAMED - 1 : -1].tolist()),
        "",
        f"Trained again without {size} passages ({100 * size / n:.0f} %):",
        "",
        "| who leaves | log p of the sentence changes by | scores say |",
        "|---|---|---|",
        *(_group(results, kind, words) for kind, words in _KINDS.items()),
        _random(results),
        "",
        "![What scores say against training again](language-models/sentence.png)",
        "",
        f"How well the changes without {len(results.random)} random groups are ranked (Spearman's correlation with "
        "training again), and what that took for all passages, in seconds of one processor without training:",
        "",
        "| | the sentence | held-out passages, mean | spread as far, times (sentence, held out) | seconds |",
        "|---|---|---|---|---|",
        _row("**uniqueinfo, `sequence_likelihood()`**", results.agreement(), results.spread(), ours),
        _row(
            "uniqueinfo, `sequence_margin`",
            results.agreement(by_margin=True),
            results.spread(by_margin=True),
            results.margin,
        ),
        _row("TRAK by its formula, one network", results.agreement(others["trak"]), None, others),
        _row("products of gradients", results.agreement(others["products"]), None, others),
        *(_package(PEERS[key].title, results, found) for key, found in results.packages.items()),
        "",
        "So the named passages do what is said of them, in sign, and far more than random ones: of one sentence, in "
        "one training. How large an effect is, scores overstate: of the two named groups, which are chosen for what is "
        f"said of them, {_overstated(results):.1f} times; random groups spread as many times as far as they do as the "
        "table says. `sequence_margin` knows the curvature of the loss along one number alone, too little of it, so "
        "that effects grow where really they fade. `sequence_likelihood` was made after that had been seen here, and "
        "its four directions were chosen after one and four had been tried on 600 of these passages. Train again "
        "without a group before you rely on sizes.",
        "",
        f"One training takes {float(base['seconds']):.1f} seconds, so training again without each passage would take "
        f"{float(base['seconds']) * n:,.0f}. {int(ours['weights']):,} of 260,032 weights stand for all; half of the "
        f"checkpoints would have changed scores by {100 * float(ours['error']):.0f} %.",
        "",
        f"{n:,} passages of {LENGTH} tokens, the first words of as many film reviews, which the story model has never "
        f"seen the like of; AdamW, rate {RATE:g} falling to 0, batches of {BATCH}, one epoch. The sentence is drawn at "
        f"temperature {TEMPERATURE:g}. These were fixed before any agreement was seen; of three rates, by the loss on "
        "held-out passages and by what the model itself was trained with. TRAK and products of gradients without a "
        "package beside them are their formulas on our gradients of the margin, projected on fewer columns; packages "
        f"are untuned, with {LIMITS.seconds} seconds each: "
        f"{'; '.join(f'{PEERS[key].title}: {PEERS[key].note}' for key in results.packages)}.",
        "",
        "Made by `python -m benchmarks.stories --page docs/language-models.md` (`make bench-stories`).",
        "",
    ]
    return "\n".join(lines)


_KINDS = {"for": "those that did most for it", "against": "those that did most against it"}


def _group(results: Results, name: str, words: str) -> str:
    really, said = (results.tokens * float(of(name)[0]) for of in (results.really, results.said))
    return f"| {words} | {really:+.2f} | {said:+.2f} |"


def _random(results: Results) -> str:
    each = [[results.tokens * float(of(name)[0]) for name in results.random] for of in (results.really, results.said)]
    told = [f"{np.mean(values):+.2f} (± {np.std(values):.2f})" for values in each]
    return f"| random ones, mean and deviation of {len(results.random)} groups | {told[0]} | {told[1]} |"


def _overstated(results: Results) -> float:
    return float(np.mean([results.said(name)[0] / results.really(name)[0] for name in _KINDS]))


def _row(
    words: str, found: tuple[float, float], spread: tuple[float, float] | None, taken: Mapping[str, NDArray[Any]]
) -> str:
    far = "–" if spread is None else f"{spread[0]:.1f}, {spread[1]:.1f}"
    return f"| {words} | {found[0]:.2f} | {found[1]:.2f} | {far} | {float(taken['seconds']):.0f} |"


def _package(title: str, results: Results, found: Attributed) -> str:
    if found.effects is None or found.seconds is None:
        return f"| {title} | {found.error} | | | |"
    return _row(title, results.agreement(found.effects), None, {"seconds": np.array(found.seconds)})


def _cut(text: str) -> str:
    return " ".join(text.split()).replace("|", "/").replace("<", "&lt;")


_INTRODUCTION = """# Language models, and whatever else has a loss

`outputs=` takes a function (model, inputs, targets) → numbers of each sample, (batch, q). They count as the network's
outputs, so that networks whose result is no row of class scores can be scored too:

```python
def margins(model, inputs, targets):            # several labels for each sample
    return (2 * targets - 1) * model(inputs)    # above 0 where the network is right

def triplet(model, inputs, targets):            # a contrastive network; there are no targets
    one, like, other = (model(each) for each in inputs)
    return (one - other).square().sum(1) - (one - like).square().sum(1)

scores = ui.score(model, train, val, outputs=margins)
```

The function has used the targets, so all of its numbers are trained alike. They are margins unless you say otherwise:
right is above 0, and the loss is `"logistic"`, Σ log(1 + e⁻ᵐ), for which two classes or several labels have the same
scores as by their logits. Residuals go towards 0 by squared error:
`outputs=ui.OutputFunction(residuals, towards=0, loss="mse")`. Any training and any loss that is convex in the numbers
will do, a recorded training too (`training=ui.Recorded(folder)`); numbers of one sample must not depend on the others
of its batch. Costs grow with q, and with nothing else that the network returns.

## Texts

Networks of Hugging Face that generate texts, causal or with an encoder and a decoder, have `ui.sequence_margin` by
themselves; any other network that gives logits (batch, places, tokens) takes it by name.

```python
scores = ui.score(language_model, tokenized, tokenized_val)       # input_ids, attention_mask; labels where they differ
scores = ui.score(my_network, (tokens, None), (val_tokens, None), outputs=ui.sequence_margin)
ui.attribute(scores, 0).frame()                                   # what made text 0 as likely as it is
```

```sh
uniqueinfo score texts.csv --text story --task generation --model transformers:NAME --out runs/stories
uniqueinfo score chats.csv --text question --label answer --task generation --model transformers:NAME --out runs/chats
```

One number stands for a sequence: m = log p̄ − log(1 − p̄), the log-odds of a typical token, log p̄ being the mean of
log p over its tokens. The loss people train by, −log p̄, is the logistic loss of m exactly, so gradients of the training
are exact, too; and 1 + e⁻ᵐ is the perplexity. One row of the Jacobian for each sequence: the cost is linear in the
number of sequences, and the size of the vocabulary matters to the network's own pass alone. Targets of -100 do not
count: prompts, and padding.

What is left out is most of the curvature of the loss: effects come out too large, the more so the longer the training.
Where sizes matter, and along a recorded training, take `outputs=ui.sequence_likelihood()`: log p̄ itself, and four
random directions beside it whose squares are the curvature on average. It costs about twice to five times as much.

```python
scores = ui.score(my_network, (tokens, None), (val_tokens, None), outputs=ui.sequence_likelihood())
```

`ui.log_probability` gives log p itself. Its loss, −log p, pulls the same however likely the text has become, so it goes
with a training of a given length alone: `training=ui.GradientDescent(lr, steps, loss=lambda f, y: -f.sum(dim=1))`.

## A story model fine-tuned on 2,000 passages

"""
