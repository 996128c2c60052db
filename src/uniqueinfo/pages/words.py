"""What the report says in sentences."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from uniqueinfo.applications.health import is_linear
from uniqueinfo.applications.mislabeled import Mislabeled
from uniqueinfo.pages.figures import Concentration, Stopping
from uniqueinfo.scoring.agreement import told_effort
from uniqueinfo.training.loss_names import SQUARED

_CLEARLY = 0.5
"""How far below the largest other output that of the given label lies where it is clearly contradicted."""
_GOOD_JUDGE = 0.9
"""Leave-one-out accuracy below which the report warns that many suspects may be right."""


def answer(samples: int, concentration: Concentration, suspects: Mislabeled | None) -> str:
    """The whole report in a sentence."""
    carried = concentration.carried_by(0.1)
    said = f"Of {samples:,} samples, the most informative tenth carries {carried:.0%} of the information"
    if suspects is None:
        return f"{said}, and half of it lies in {concentration.needed_for(0.5):.0%} of the samples."
    if suspects.withheld:
        return f"{said}. But the network has learnt too little to judge labels: {_lowered(suspects.health.sentence)}"
    if suspects.count == 0:
        return f"{said}, and no label looks wrong."
    first = suspects.frame().iloc[0]
    name = f"sample {first['id']}" if str(first["id"]).isdigit() else first["id"]
    labels = "1 label looks" if suspects.count == 1 else f"{suspects.count:,} labels look"
    return (
        f"{said}, and {labels} wrong: first of all {name}, labelled {first['label']}, "
        f"which the rest of the data takes for {first['suggested']}."
    )


def doubt(margin: float) -> str:
    """How much the rest of the data contradicts a label, by its leave-one-out margin.

    It says nothing of how sure one can be that the label is wrong: the network may be the one that errs.

    >>> doubt(-0.9), doubt(-0.1), doubt(0.3)
    ('clearly contradicted', 'contradicted', 'hardly confirmed')
    """
    return "clearly contradicted" if margin <= -_CLEARLY else "contradicted" if margin < 0 else "hardly confirmed"


def _lowered(sentence: str) -> str:
    return sentence[0].lower() + sentence[1:]


def _exactness(settings: Mapping[str, Any]) -> str:
    """Of what the scores are true."""
    if settings.get("recording") is not None:
        return (
            "The scores follow the training that was recorded, step by step, with the network's gradients at some of "
            "its checkpoints: the order of the samples is a better guide than the numbers."
        )
    loss = settings.get("training", {}).get("loss", SQUARED)
    told = "squared error" if loss == SQUARED else loss
    return (
        f"The scores are exact for the network's linearization at the weights it was given, trained with {told}. A "
        "network trained long, or with another loss, moves away from it: then the order of the samples is a better "
        "guide than the numbers."
    )


def _following(settings: Mapping[str, Any]) -> str:
    """How closely the training algorithm was followed."""
    error, learnt = float(settings["fit_error"]), settings.get("learnt") or {}
    if "gradients" in learnt:
        return f"Gradients at half the checkpoints would have changed a removal by about {3 * error:.1g} of its size."
    if learnt:
        return f"What leaves with a sample was found to about {error:.1g} of its size."
    if error:
        return (
            f"The training algorithm was replaced by a rational function that differs from it by at most {error:.1g}."
        )
    return "Every leave-one-out is in closed form: no approximation was needed for the training algorithm."


def caveats(
    settings: Mapping[str, Any],
    measure: str,
    *,
    stopping: Stopping | None,
    suspects: Mislabeled | None,
    validation: str | None,
    accuracy: float | None,
) -> list[str]:
    """How far to trust the numbers; `validation` is what training again said, `accuracy` is of leave-one-out."""
    said = [_exactness(settings)]
    if validation is not None:
        said.append(validation)
    elif is_linear(settings):
        said[0] = "The model is linear, so the scores are exact: it is its own linearization."
    else:
        said.append(
            "How far this network moves from its linearization was not measured; uniqueinfo validate trains it again "
            "without a few samples, and says."
        )
    said += [] if settings.get("fit_error") is None else [_following(settings)]
    projection, recorded = settings.get("projection"), settings.get("recording") is not None
    effort = told_effort(settings)
    if effort is not None:
        said.append(effort)
    elif projection not in (None, "None") and not recorded:
        said.append(f"The Jacobian was projected by {projection}: with more columns the scores come closer to exact.")
    if recorded:
        said.append(f"Of the network's weights, {settings.get('projection_why')}.")
    if measure == "weight":
        said.append(
            "There were no validation samples: information is measured in the weights, not in what the network says."
        )
    if stopping is not None and stopping.at_the_end:
        said.append("The leave-one-out loss was still falling at the longest training time looked at.")
    if suspects is not None:
        said.append(
            f"How many labels are wrong ({suspects.noise_rate:.1%}) is an estimate; a suspect may be a hard sample "
            "with a right label. Look before you relabel."
        )
    if accuracy is not None and accuracy < _GOOD_JUDGE:
        said.append(
            f"Trained without a sample, the network agrees with only {accuracy:.0%} of the labels: many suspects are "
            "samples it finds hard. A better network (pretrained weights, larger pictures, more data) judges better."
        )
    notes = [*(settings.get("notes") or []), *(settings.get("run", {}).get("notes") or [])]
    return [*said, *map(str, notes)]
