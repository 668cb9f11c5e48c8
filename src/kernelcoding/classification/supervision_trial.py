"""Whether labels help a dictionary: a short trial that samples left out decide."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from .labels import Labels

if TYPE_CHECKING:
    from .learner import SupervisedLearner

ROUNDS = 2  # of learning with and without labels
LEFT_OUT = 4  # one of so many samples judges
# Weight of the loss, relative to its unit, of a control: next to nothing.
NO_SUPERVISION = 1e-8


def helps(learner: SupervisedLearner, eta: float, rho: float) -> bool:
    """Whether labels lower the loss of samples left out, whose codes look at no label.

    Both dictionaries start from the learner's present atoms and learn from three of four samples:
    the others have no weight.

    Parameters
    ----------
    learner : SupervisedLearner
        With its first codes.
    eta : float
        Weight of the loss that is on trial.
    rho : float
        Weight of the classifier's penalty beside a loss of the weight `wanted.unit`.
    """
    judges = left_out(learner.wanted.labels)
    control = NO_SUPERVISION * learner.wanted.unit
    with_labels, without = (_losses(learner, weight, rho, judges) for weight in (eta, control))
    weights = learner.loss_weight[judges]
    return bool(np.average(with_labels - without, weights=weights) < 0.0)


def _losses(learner: SupervisedLearner, eta: float, rho: float, judges: NDArray) -> NDArray:
    """Losses of the judges after some rounds, by a classifier of codes that look at no label."""
    frame = copy.copy(learner.frame)
    weight = np.ones(frame.n_samples) if frame.sample_weight is None else frame.sample_weight.copy()
    weight[judges] = 0.0
    frame.sample_weight = weight
    penalty = rho * eta / learner.wanted.unit  # the same classifier
    wanted = replace(learner.wanted, eta=eta, rho=penalty)
    trial = learner.on_trial(frame, wanted)
    trial.code()
    for _ in range(ROUNDS):
        for _, step in trial.steps:
            step()
    codes = trial.plain_codes(trial.now.vectors).codes
    classifier = trial.rule.fit(trial.training_codes(codes, trial.now.vectors), penalty)
    return trial.losses_of(classifier, codes)[judges] / eta


def left_out(labels: Labels) -> NDArray:
    """One of four samples, spread over classes."""
    order = np.arange(len(labels.members))
    if labels.numbers is not None:
        order = np.argsort(labels.numbers, kind="stable")
    return np.sort(order[LEFT_OUT // 2 :: LEFT_OUT])
