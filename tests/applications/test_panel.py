"""Models that were fitted once follow labels that are mended as if they looked at them anew."""

from __future__ import annotations

import numpy as np
import pytest

from uniqueinfo.applications.suspicion.evidence import Neighbours, Ranked, linear
from uniqueinfo.applications.suspicion.members import Head, Votes
from uniqueinfo.applications.suspicion.panel import Panel
from uniqueinfo.types import Floats, Indices

SAMPLES, CLASSES = 60, 3


@pytest.fixture
def labels() -> Indices:
    return np.random.default_rng(1).integers(0, CLASSES, SAMPLES)


@pytest.fixture
def points(labels: Indices) -> Floats:
    found: Floats = 1.5 * np.eye(CLASSES)[labels] + np.random.default_rng(0).normal(size=(SAMPLES, CLASSES))
    return found


def moved(labels: Indices, sample: int, number: int) -> Floats:
    targets = np.eye(CLASSES)[labels]
    targets[sample] = np.eye(CLASSES)[number]
    return targets


def test_a_head_says_what_it_would_with_the_mended_label(points: Floats, labels: Indices) -> None:
    targets = np.eye(CLASSES)[labels]
    head = Head.of(linear(points), targets, labels)
    found = head.taught(7, np.eye(CLASSES)[2]).taught(9, np.eye(CLASSES)[1])
    wanted, start = moved(labels, 7, 2), targets.mean(axis=0)
    wanted[9] = np.eye(CLASSES)[1]
    for decay, outputs in zip(head.decays, found.outputs, strict=True):
        np.testing.assert_allclose(outputs, head.head.left_out(wanted - start, decay) + start, atol=1e-10)


def test_a_sample_that_left_adds_nothing_to_a_head(points: Floats, labels: Indices) -> None:
    targets = np.eye(CLASSES)[labels]
    head = Head.of(linear(points), targets, labels)
    found = head.taught(7, None)
    kept, rows = np.delete(np.arange(SAMPLES), 7), head.head.vectors * np.sqrt(head.head.values)
    for number, decay in enumerate(head.decays):
        lifted = rows[kept].T @ rows[kept] + decay * head.head.values.sum() * np.eye(rows.shape[1])
        without = rows @ np.linalg.solve(lifted, rows[kept].T @ (targets[kept] - targets.mean(axis=0)))
        own = found.own[number][:, None]
        fitted = (1 - own) * found.outputs[number] + own * found.targets[number]
        np.testing.assert_allclose(fitted, without + targets.mean(axis=0), atol=1e-9)


def test_neighbours_vote_by_the_mended_label(points: Floats, labels: Indices) -> None:
    ranked = Ranked.of(Neighbours.of(points, 20))
    found = Votes.of(ranked, np.eye(CLASSES)[labels], labels).taught(7, np.eye(CLASSES)[2])
    np.testing.assert_allclose(found.votes, ranked.votes(moved(labels, 7, 2)), atol=1e-12)


@pytest.mark.parametrize("number", [None, 2])
def test_what_is_taken_back_leaves_nothing(points: Floats, labels: Indices, number: int | None) -> None:
    panel = Panel.of(points, points, labels)
    back = panel.taught(7, number).taught(7, int(labels[7]))
    for found, wanted in zip(back.members, panel.members, strict=True):
        np.testing.assert_allclose(found.logs, wanted.logs, atol=1e-9)


def test_a_mended_label_speaks_for_those_that_are_alike(points: Floats, labels: Indices) -> None:
    points[8] = points[7] + 0.01
    other = (labels[8] + 1) % CLASSES
    labels[7] = labels[8]
    panel, everybody = Panel.of(points, points, labels), np.arange(SAMPLES)
    before, _ = panel.wrong(points, labels, everybody)
    after, _ = panel.taught(7, int(other)).wrong(points, labels, everybody)
    assert after[8] > before[8]
