"""Labels of samples left out judge a kernel that was learned with a classifier."""

from __future__ import annotations

from collections.abc import Callable

from numpy.typing import NDArray
from sklearn.utils import check_random_state

from ...dictionary import Dictionary, PointDictionary
from ...dictionary.choosing import MEANS
from ...dictionary_learning.base import BaseDictionaryLearning, Learner
from ...dictionary_learning.half_steps.learner import Snapshot
from ...dictionary_learning.loop import Outcome
from ...formulations import Formulation
from ...kernel_learning import labels_veto, truth_of
from .kernel import JointKernelLearner


def judged(
    estimator: BaseDictionaryLearning,
    learner: Learner,
    outcome: Outcome,
    y: NDArray | None,
    chosen: NDArray,
    alternate: Callable[[Learner, Formulation], Outcome],
) -> tuple[Learner, Outcome]:
    """The learner and its outcome, or those of the start, whose kernel is then held.

    Codes with labels enter the joint objective, and no sample to come will have such codes: what
    they gain by a kernel need not be a gain for plain ones.

    Parameters
    ----------
    estimator : BaseDictionaryLearning
        Who learns; its figures become those of the run that is kept.
    learner : Learner
        What has learned; others than those of a joint kernel are kept as they are.
    outcome : Outcome
        How that ended; where it was stopped, nothing is learned again.
    y : array
        Labels of the samples.
    chosen : array of int
        The samples that first atoms are.
    alternate : callable
        One run of the estimator's loop, of a learner and a formulation.
    """
    if not isinstance(learner, JointKernelLearner):
        return learner, outcome
    if outcome.status in ("interrupted", "callback"):
        return learner, outcome
    try:
        if not _is_vetoed(estimator, learner, outcome.best, y, chosen):
            return learner, outcome
        held = learner.held()
        again = alternate(held, learner.formulation)
    except KeyboardInterrupt:  # there is a dictionary already
        estimator.status_ = "interrupted"
        outcome.interrupted(stacklevel=6, where="while the learned kernel was judged")
        return learner, outcome
    before = len(outcome.history)
    estimator.objective_history_ = estimator.objective_history_[before:]
    estimator.objective_steps_ = estimator.objective_steps_[before:]
    estimator.n_iter_, estimator.n_replaced_ = again.n_iter, held.n_replaced
    return held, again


def _is_vetoed(
    estimator: BaseDictionaryLearning,
    learner: JointKernelLearner,
    best: Snapshot,
    y: NDArray | None,
    chosen: NDArray,
) -> bool:
    """Whether plain codes predict labels worse than with the kernel of the start."""
    settings, X = learner.settings, learner.X
    truth = truth_of(X, y, settings)
    if truth is None:
        return False
    frame, vectors = learner.first
    first: Dictionary = frame.dictionary(vectors)
    if estimator.init != MEANS:  # then the atoms are samples, which code themselves too well
        first = PointDictionary(learner.start, X[chosen], chosen)
    assert best.frame is not None
    return labels_veto(
        learner.formulation,
        learner.options,
        best.frame.landmarks.kernel,
        X,
        first,
        settings,
        check_random_state(estimator.random_state),
        truth,
    )
