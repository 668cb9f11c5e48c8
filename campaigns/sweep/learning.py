"""What learning must leave behind: an objective that falls and is what the seam says."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

import kernelcoding as kc

from .equations import check_codes, close, plain, require
from .spaces import Samples

LOOSE = 1e-6  # of objectives computed in other orders


def unsupervised(
    model: kc.KernelDictionaryLearning, given: Samples, weight: NDArray | None = None
) -> kc.KernelDictionaryLearning:
    """Learn, and hold what is reported against what the dictionary gives."""
    model.fit(given.X, given.y, sample_weight=weight)
    formulation = model._coding()[0]
    history = model.objective_history_
    require(bool(np.isfinite(history).all()), "the objective is not finite")
    ends = history[_last_run(model.objective_steps_)]
    codes = model.transform(given.X)
    problem = model.dictionary_.problem(given.X).astype(np.float64)
    objective = 0.5 * problem.squared_error(plain(codes)) + formulation.value(problem, plain(codes))
    scale = float(problem.self_similarity.mean())
    close(np.array([model.score(given.X)]) / scale, [-objective.mean() / scale], LOOSE, "score")
    if not formulation.is_greedy:  # greedy codes of transform start anew
        excess = float(np.average(objective, weights=weight)) - ends.min()
        require(excess <= 1e-4 * (scale + ends.min()), f"the objective is {excess:.2e} higher")
    queries = model.transform(given.Q)
    check_codes(model, formulation, given.Q, queries, precision=1e-6)
    return model


def _last_run(steps: NDArray) -> NDArray:
    """Where rounds of the last run ended: each run begins with codes, with a kernel of its own."""
    is_codes = steps == "codes"
    starts = np.flatnonzero(is_codes & np.append(True, is_codes[:-1]))
    return np.flatnonzero(is_codes & (np.arange(len(steps)) >= starts[-1]))


def supervised(model: kc.SupervisedKernelCoding, given: Samples, y: NDArray) -> None:
    """Learn, and hold predictions against scores, and scores against the classifier's formula."""
    model.fit(given.X, y)
    history = model.objective_history_
    require(bool(np.isfinite(history).all()), "the objective is not finite")
    ends = history[model.objective_steps_ == "classifier"]
    if ends.size:
        require(ends[-1] <= history[0] * (1.0 + 1e-6), "the objective rose")
    codes = plain(model.transform(given.Q))
    check_codes(model, model._coding()[0], given.Q, codes, precision=1e-6)
    scores = np.asarray(model.decision_function(given.Q))
    close(scores, _scores(model, given.Q, codes), 1e-6, "scores")
    predicted = model.predict(given.Q)
    if y.ndim == 1:
        require(np.array_equal(predicted, model.classes_[scores.argmax(axis=1)]), "predictions")
    else:
        require(np.array_equal(predicted, (scores > 0).astype(int)), "predictions")
    probabilities = model.predict_proba(given.Q)
    require(bool(np.all((probabilities >= 0) & (probabilities <= 1))), "probabilities")


def _scores(model: kc.SupervisedKernelCoding, Q: NDArray, codes: NDArray) -> NDArray:
    """The classifier's formula, written out."""
    found = model.classifier_
    if model.classifier != "bilinear":
        return codes @ found.weights + found.bias
    centres = plain(found.centres)
    similarity = model.dictionary_.landmarks.cross(Q)
    return (codes @ centres.T * similarity) @ found.coefficients + found.bias
