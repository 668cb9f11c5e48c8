r"""How the loss of labels left out changes with kernel parameters.

The temperature is the best one, so the mean loss changes with scores alone; at an end of its range
it goes with their size. Scores change with codes and, those of residuals, with similarities; codes
change with similarities as their adjoint says; and similarities change with parameters.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp, softmax

from ..codes import dense
from ..formulations.adjoint import has_adjoint, pull_back
from .label_loss import LEAST_FREEDOM, Coded, LabelLoss, Regression, best_temperature
from .parts import Part


def has_gradient(loss: LabelLoss) -> bool:
    """Whether codes can be differentiated."""
    return has_adjoint(loss.coded.formulation)


def value_and_gradient(loss: LabelLoss, theta: NDArray) -> tuple[NDArray, NDArray]:
    """Losses of samples, (n,), and the gradient of their mean in the logs of parameters."""
    coded = list(loss.coded.coded(theta))
    if loss.by_residuals:
        losses, slopes = _of_scores(loss, loss.residual_scores(coded))
        found = _through_residuals(loss, coded, slopes)
    else:
        codes = dense(loss.all_codes(coded))
        regression = Regression.of(codes, loss.truth.targets)
        losses, slopes = _of_scores(loss, regression.scores)
        wanted = in_codes(regression, codes, loss.truth.targets, slopes)
        found = _through_codes(coded, wanted)
    return losses, loss.coded.pull_back(theta, found)


def _of_scores(loss: LabelLoss, scores: NDArray) -> tuple[NDArray, NDArray]:
    """Losses of samples, and derivatives of their mean in scores, (n, S)."""
    truth, n = loss.truth, len(scores)
    if truth.numbers is None:
        missed = truth.targets - scores
        return 0.5 * np.sum(missed**2, axis=1), -missed / n
    margins = scores - scores[np.arange(n), truth.numbers][:, None]
    temperature = best_temperature(margins)
    likely = softmax(temperature * margins, axis=1)
    slopes = (likely - truth.targets) * (temperature / n)
    by_unit = np.sum(likely * margins) * (temperature / n) / (np.abs(margins).sum() or 1.0)
    slopes -= by_unit * _sides(margins, truth.targets)
    return np.asarray(logsumexp(temperature * margins, axis=1)), slopes


def _sides(margins: NDArray, targets: NDArray) -> NDArray:
    """Derivatives in scores of the sum of the sizes of all margins, (n, S)."""
    signs = np.sign(margins)
    return signs - targets * signs.sum(axis=1, keepdims=True)


def _through_residuals(
    loss: LabelLoss, coded: list[Coded], slopes: NDArray
) -> Iterator[tuple[Part, NDArray, NDArray]]:
    r"""Scores :math:`2 y_{(s)}^\top k - y_{(s)}^\top K y_{(s)}` look at similarities, too."""
    for part, formulation, problem in coded:
        assert has_adjoint(formulation)
        assert part.codes is not None
        classes, codes = loss.classes_of(part), dense(part.codes)
        pull = slopes[part.rows][:, classes]
        of_class = problem.gram * (classes[:, None] == classes)
        wanted = 2.0 * pull * (problem.cross - codes @ of_class)
        cross, gram = pull_back(formulation, problem, part.codes, wanted)
        mixed = (pull * codes).T @ codes
        same = classes[:, None] == classes
        yield part, cross + 2.0 * pull * codes, gram - np.where(same, mixed, 0.0)


def _through_codes(coded: list[Coded], wanted: NDArray) -> Iterator[tuple[Part, NDArray, NDArray]]:
    """Scores that look at codes alone, with these derivatives in all of them, (n, N)."""
    for part, formulation, problem in coded:
        assert has_adjoint(formulation)
        assert part.codes is not None
        own = wanted[np.ix_(part.rows, part.atoms)]
        yield part, *pull_back(formulation, problem, part.codes, own)


def in_codes(regression: Regression, codes: NDArray, targets: NDArray, slopes: NDArray) -> NDArray:
    r"""Derivatives in codes of a function of left-out scores with these slopes, (n, N).

    With centred inner products K of codes, targets T and :math:`A = (K + \lambda I)^{-1}`, a sample
    left out is missed by :math:`\lambda (AT)_i / (\lambda A_{ii} - 1/n)`; :math:`\lambda` is a
    multiple of the mean of the spectrum of K.
    """
    values, vectors, n = regression.values, regression.vectors, len(codes)
    weight = regression.regularization * (float(values.mean()) or 1.0)
    inverse = (vectors / (values + weight)) @ vectors.T
    freedom = weight * np.diag(inverse) - 1.0 / n
    pull = -slopes / np.maximum(freedom, LEAST_FREEDOM)[:, None]
    missed = targets - regression.scores
    moved = pull @ (targets - targets.mean(axis=0)).T
    moved = 0.5 * (moved + moved.T)
    held = np.where(freedom > LEAST_FREEDOM, np.einsum("ij,ij->i", pull, missed), 0.0)
    moved[np.diag_indices(n)] -= held
    through = inverse @ moved @ inverse
    in_kernel = -weight * through
    in_weight = float(np.sum(inverse * moved)) - weight * float(np.trace(through))
    in_kernel[np.diag_indices(n)] += in_weight * regression.regularization / n
    centred = codes - codes.mean(axis=0)
    found = 2.0 * in_kernel @ centred
    return found - found.mean(axis=0)
