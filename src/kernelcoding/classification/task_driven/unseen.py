"""A dictionary that some samples had no part in, so that these can judge it.

Atoms that were learned from a sample may be that sample or nearly so, the more, the more atoms
there are per sample. Its code then has an entry that no other sample's code has: no classifier
knows what that means, whatever is done to the atoms seems to help it, and no sample to come has
such a code.
"""

from __future__ import annotations

import copy
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ...codes import dense, times_codes
from ...dictionary_learning.half_steps.learner import AtomLearner
from ...dictionary_learning.half_steps.point_learner import PointLearner
from ...dictionary_learning.starts import first_atoms
from ...dictionary_learning.state import Candidate
from ...dictionary_learning.updates import update_for
from ...parallel import steady_blas
from ..labels import Labels
from .plain import PlainLearner
from .points import PointFrame
from .running import Trainee, run


def learned_without(
    model: Trainee, learner: PlainLearner, labels: Labels, judges: NDArray
) -> Candidate | None:
    """Atoms learned as those of the learner were, but from other samples than the judges.

    With ``warm_start``, too, they are learned anew: the last fit has seen the judges.

    Parameters
    ----------
    model : Trainee
        Its rounds are those of learning without labels.
    learner : PlainLearner
        Frame, formulation, options and number of atoms.
    labels : Labels
        Of all samples, for the shares of classes in first atoms.
    judges : array of int
        Samples that count nothing.

    Returns
    -------
    start : Candidate or None
        Atoms, and plain codes of all samples, the judges' too. None: it was stopped, or there are
        more atoms than samples left.
    """
    weight = learner.frame.sample_weight
    weight = np.ones(learner.frame.n_samples) if weight is None else weight.copy()
    weight[judges] = 0.0
    if learner.now.vectors.shape[1] > np.count_nonzero(weight):
        return None
    alone = _beginner(model, learner, labels, weight)
    (_, improve), (_, code) = alone.steps
    with steady_blas(alone.largest_product):
        found = run(
            model,
            ("trial codes", alone.code),
            [("trial atoms", improve), ("trial codes", code)],
            alone.snapshot,
            model.tol,
        )
    if found.status in ("interrupted", "callback"):
        return None
    now: Candidate = found.best.now
    if isinstance(alone, PointLearner):
        now = replace(now, vectors=np.asfortranarray(now.vectors.T))
    return now


def _beginner(
    model: Trainee, learner: PlainLearner, labels: Labels, weight: NDArray
) -> AtomLearner | PointLearner:
    """Who learns atoms without labels from samples of other weights."""
    frame = copy.copy(learner.frame)
    frame.sample_weight = weight
    X = frame.stack
    n_atoms = learner.now.vectors.shape[1]
    rows, loads = first_atoms(frame, X, n_atoms, model.init, learner.rng, labels.given)
    given = learner.formulation, learner.options
    if isinstance(frame, PointFrame):
        first = X[rows[dense(loads).argmax(axis=0)]]
        return PointLearner(X, first, frame.kernel, *given, weight)
    vectors = np.asfortranarray(times_codes(frame.samples(rows), loads))
    return AtomLearner(frame, vectors, *given, update_for("auto", learner.formulation))
