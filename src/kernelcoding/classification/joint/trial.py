"""Whether labels help a dictionary: a short trial that samples left out decide."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ...dictionary_learning.half_steps.coding import solve_all
from ...dictionary_learning.half_steps.learner import AtomLearner
from ...dictionary_learning.state import Candidate
from ...dictionary_learning.updates import update_for
from ...selection import counting_rows
from ..labels import Labels
from ..losses.ridge import NOTHING

if TYPE_CHECKING:
    from .learner import SupervisedLearner

LEFT_OUT = 4  # one of so many samples judges


def helps(learner: SupervisedLearner, eta: float, rho: float) -> bool:
    """Whether labels lower the loss of samples left out, whose codes look at no label.

    Both dictionaries start from the learner's present atoms and codes and learn from three of four
    samples, as the others have no weight: atoms, codes with or without labels, and atoms again.

    Parameters
    ----------
    learner : SupervisedLearner
        With its first codes.
    eta : float
        Weight of the loss that is on trial.
    rho : float
        Weight of the classifier's penalty beside a loss of the weight `wanted.unit`.
    """
    rows = counting_rows(learner.frame.n_samples, learner.loss_weight, above=NOTHING)
    judges = rows[left_out(learner.wanted.labels.take(rows))]
    frame = copy.copy(learner.frame)
    weight = np.ones(frame.n_samples) if frame.sample_weight is None else frame.sample_weight.copy()
    weight[judges] = 0.0
    frame.sample_weight = weight
    penalty = rho * eta / learner.wanted.unit  # the same classifier
    wanted = replace(learner.wanted, eta=eta, rho=penalty)
    with_labels = learner.on_trial(frame, wanted)
    with_labels.now = replace(with_labels.now, codes=learner.now.codes)  # nearly done
    with_labels.code()
    with_labels.improve()  # no code has looked at a label so far: the same without labels
    without = AtomLearner(
        frame,
        with_labels.now.vectors,
        learner.formulation,
        learner.options,
        update_for("auto", learner.formulation),
    )
    without.now = replace(without.now, codes=with_labels.now.codes)
    for trial in (with_labels, without):
        trial.code()
        trial.improve()
    with_them, control = (
        _losses(with_labels, trial.now, judges) for trial in (with_labels, without)
    )
    return bool(np.average(with_them - control, weights=learner.loss_weight[judges]) < 0.0)


def _losses(trial: SupervisedLearner, now: Candidate, judges: NDArray) -> NDArray:
    """Losses of the judges by a classifier of codes with these atoms that look at no label."""
    assert trial.rho is not None
    codes = solve_all(trial.frame, now.vectors, trial.formulation, trial.options, now.codes).codes
    data, exact = trial.training_codes(codes, now.vectors), trial.rule.exact_rounds
    # Where few samples are centres they are the same with and without labels.
    centres_of = None if exact else trial.classifier
    classifier = trial.rule.fit(data, trial.rho, centres_of, exact)
    return trial.losses_of(classifier, codes)[judges]


def left_out(labels: Labels) -> NDArray:
    """One of four samples, spread over classes."""
    order = np.arange(len(labels.members))
    if labels.numbers is not None:
        order = np.argsort(labels.numbers, kind="stable")
    return np.sort(order[LEFT_OUT // 2 :: LEFT_OUT])
