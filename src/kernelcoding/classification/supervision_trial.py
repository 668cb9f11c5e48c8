"""Whether labels help a dictionary: a short trial that samples left out decide."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..dictionary_learning.learner import AtomLearner
from ..dictionary_learning.state import Candidate
from ..dictionary_learning.updates import update_for
from .labels import Labels

if TYPE_CHECKING:
    from .learner import SupervisedLearner

ROUNDS = 2  # of learning with and without labels
LEFT_OUT = 4  # one of so many samples judges


def helps(learner: SupervisedLearner, eta: float, rho: float) -> bool:
    """Whether labels lower the loss of samples left out, whose codes look at no label.

    Both dictionaries start from the learner's present atoms and codes and learn from three of four
    samples: the others have no weight.

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
    frame = copy.copy(learner.frame)
    weight = np.ones(frame.n_samples) if frame.sample_weight is None else frame.sample_weight.copy()
    weight[judges] = 0.0
    frame.sample_weight = weight
    penalty = rho * eta / learner.wanted.unit  # the same classifier
    wanted = replace(learner.wanted, eta=eta, rho=penalty)
    with_labels = learner.on_trial(frame, wanted)
    without = AtomLearner(
        frame,
        learner.now.vectors,
        learner.formulation,
        learner.options,
        update_for("auto", learner.formulation),
    )
    learned = [_learned(trial, learner) for trial in (with_labels, without)]
    with_them, control = (_losses(with_labels, now, judges) for now in learned)
    return bool(np.average(with_them - control, weights=learner.loss_weight[judges]) < 0.0)


def _learned(trial: AtomLearner, learner: SupervisedLearner) -> Candidate:
    """Atoms after some rounds; where labels are looked at is up to the learner on trial."""
    trial.now = replace(trial.now, codes=learner.now.codes)  # of these atoms: nearly done
    trial.code()
    for _ in range(ROUNDS):
        for _, step in trial.steps:
            step()
    return trial.now


def _losses(trial: SupervisedLearner, now: Candidate, judges: NDArray) -> NDArray:
    """Losses of the judges by a classifier of codes with these atoms that look at no label."""
    assert trial.rho is not None
    codes = trial.plain_codes(now.vectors, now.codes).codes
    classifier = trial.rule.fit(trial.training_codes(codes, now.vectors), trial.rho)
    return trial.losses_of(classifier, codes)[judges]


def left_out(labels: Labels) -> NDArray:
    """One of four samples, spread over classes."""
    order = np.arange(len(labels.members))
    if labels.numbers is not None:
        order = np.argsort(labels.numbers, kind="stable")
    return np.sort(order[LEFT_OUT // 2 :: LEFT_OUT])
