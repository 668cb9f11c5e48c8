r"""How badly labels are predicted from plain codes, as a function of kernel parameters.

Each sample is coded without the atoms it is a copy of, and predicted without its own label: by the
residuals of classes, whose atoms are others', or by ridge regression with the sample left out, in
closed form. Scores become probabilities with one temperature for all samples, the best one, and the
loss of a sample is minus the log of its own class's: a smooth measure without a scale.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import minimize_scalar
from scipy.special import logsumexp
from sklearn.utils import check_consistent_length
from sklearn.utils.multiclass import type_of_target

from ..codes import Codes, dense, products, stacked, times, widened
from ..formulations import Formulation
from ..long_calls import eigh
from ..problem import CodingProblem
from ..validation import refuse_missing_labels
from .held_out import Problems
from .parts import Part
from .ratio import RatioProblem
from .settings import HELD_OUT, KernelLearning

JUDGED = 1000  # samples, at most, where labels have a veto
REGULARIZATIONS = np.logspace(-6, 1, 15)  # of the regression, relative to the mean curvature
LOG_TEMPERATURES = (-8.0, 16.0)
LEAST_FREEDOM = 1e-6  # that a sample keeps when it is left out

Coded = tuple[Part, Formulation, CodingProblem]


@dataclass(frozen=True, slots=True)
class Truth:
    """Labels of samples as numbers of classes or indicators, and of atoms where they have any."""

    targets: NDArray  # (n, S), ones and zeros
    numbers: NDArray | None  # (n,); None: a sample may have several labels
    atoms: NDArray | None = None  # (N,) numbers of classes

    def of_atoms(self, index: NDArray) -> Truth:
        """The same with atoms that are these samples."""
        return Truth(self.targets, self.numbers, None if self.numbers is None else
                     self.numbers[index])  # fmt: skip

    def take(self, rows: NDArray) -> Truth:
        """The same for some samples."""
        numbers = None if self.numbers is None else self.numbers[rows]
        return Truth(self.targets[rows], numbers, self.atoms)


def truth_of(X: object, y: ArrayLike | None, settings: KernelLearning) -> Truth | None:
    """Labels that say classes; None where there are none, ValueError where they are required."""
    if y is None:
        return None
    refuse_missing_labels(y)
    required = settings.criterion == HELD_OUT
    kind = type_of_target(y) if np.asarray(y).dtype != object else _kind_of_objects(y)
    if kind == "multilabel-indicator":
        indicators = y.toarray() if hasattr(y, "toarray") else np.asarray(y)
        found = Truth(indicators.astype(np.float64), None)
    elif kind in ("binary", "multiclass"):
        classes, numbers = np.unique(np.ravel(np.asarray(y)), return_inverse=True)
        found = Truth(np.eye(len(classes))[numbers], numbers)
    elif required:
        raise ValueError(f'criterion="held-out" needs labels of classes, got {kind} targets.')
    else:
        return None
    check_consistent_length(X, y)
    says_nothing = found.numbers is not None and found.targets.shape[1] < 2
    if says_nothing and required:
        raise ValueError('criterion="held-out" needs labels of two or more classes, got one.')
    return None if says_nothing else found


def _kind_of_objects(y: ArrayLike) -> str:
    """Arrays of objects are labels where they are all strings."""
    given = np.asarray(y)
    alike = given.ndim == 1 and all(isinstance(label, str) for label in given.tolist())
    return "multiclass" if alike else type_of_target(y)


class LabelLoss:
    """The loss of each sample that is judged, at any parameters.

    Parameters
    ----------
    problems : Problems
        Who is coded with which atoms.
    coded : RatioProblem
        Of the first ``n_judged`` samples of ``problems``.
    n_judged : int
    truth : Truth
        Labels of all samples, and of atoms where these are to explain classes.
    rule : {"auto", "residual", "ridge"}
        "auto": residuals where atoms have labels.
    """

    def __init__(
        self, problems: Problems, coded: RatioProblem, n_judged: int, truth: Truth, rule: str
    ):
        self.coded = coded
        self.truth = truth.take(problems.rows[problems.samples[:n_judged]])
        if rule == "residual" and truth.atoms is None:
            raise ValueError(
                'rule="residual" needs atoms that are training samples, one label each. Use '
                'rule="ridge".'
            )
        self.by_residuals = rule != "ridge" and truth.atoms is not None

    def __call__(self, theta: NDArray) -> NDArray:
        """Loss of each sample, (n,); NotFinite where similarities are no numbers."""
        if self.by_residuals:
            scores = self.residual_scores(self.coded.coded(theta))
        else:
            scores = left_out_scores(self.all_codes(self.coded.coded(theta)), self.truth.targets)
        if self.truth.numbers is None:
            return 0.5 * np.sum((self.truth.targets - scores) ** 2, axis=1)
        return calibrated_loss(scores, self.truth.numbers)

    def classes_of(self, part: Part) -> NDArray:
        """Numbers of the classes of a part's atoms."""
        assert self.truth.atoms is not None
        return self.truth.atoms[part.atoms if part.numbers is None else part.numbers]

    def residual_scores(self, coded: Iterable[Coded]) -> NDArray:
        """How much of the sample each class explains, (n, S)."""
        scores = np.zeros_like(self.truth.targets)
        for part, _, problem in coded:
            assert part.codes is not None
            classes = self.classes_of(part)
            scores[part.rows] = explained(problem, part.codes, classes, len(scores.T))
        return scores

    def all_codes(self, coded: Iterable[Coded]) -> Codes:
        """Codes of all samples in their order, (n, N)."""
        rows, codes = [], []
        n_atoms = 1 + max(int(part.atoms.max()) for part in self.coded.parts)
        for part, _, _ in coded:
            assert part.codes is not None
            rows.append(part.rows)
            codes.append(widened(part.codes, part.atoms, n_atoms))
        return stacked(codes)[np.argsort(np.concatenate(rows))]


def explained(problem: CodingProblem, codes: Codes, classes: NDArray, n_classes: int) -> NDArray:
    r"""What each class takes off the squared norm of a sample: minus its residual, up to k(x, x).

    .. math:: 2\,y_{(s)}^\top k - y_{(s)}^\top K y_{(s)}
    """
    found = np.zeros((problem.n_samples, n_classes))
    weights, cross, gram = dense(codes), problem.cross, problem.gram
    for label in range(n_classes):
        own = np.flatnonzero(classes == label)
        mine = weights[:, own]
        found[:, label] = 2.0 * np.einsum("ij,ij->i", mine, cross[:, own])
        found[:, label] -= np.einsum("ij,ij->i", times(mine, gram[np.ix_(own, own)]), mine)
    return found


class Regression(NamedTuple):
    """Ridge regression with an intercept, each sample left out, at the best regularization."""

    scores: NDArray  # (n, S)
    regularization: float  # relative to the mean curvature
    values: NDArray  # (n,) spectrum of the centred inner products of codes
    vectors: NDArray  # (n, n)

    @classmethod
    def of(cls, codes: Codes, targets: NDArray) -> Regression:
        """In closed form, for all regularizations with one spectrum."""
        kernel = products(codes, codes)
        kernel = kernel - kernel.mean(axis=0)
        kernel = kernel - kernel.mean(axis=1, keepdims=True)
        values, vectors = eigh(0.5 * (kernel + kernel.T), driver="evd")
        values, n = np.maximum(values, 0.0), len(targets)
        mean = targets.mean(axis=0)
        right, squares = vectors.T @ (targets - mean), vectors**2
        unit, best, found = float(values.mean()) or 1.0, np.inf, (targets, 1.0)
        for regularization in REGULARIZATIONS.tolist():
            shrunk = values / (values + regularization * unit)
            missed = targets - mean - vectors @ (shrunk[:, None] * right)
            missed /= np.maximum(1.0 - squares @ shrunk - 1.0 / n, LEAST_FREEDOM)[:, None]
            if (error := float(np.sum(missed**2))) < best:
                best, found = error, (targets - missed, regularization)
        return cls(*found, values, vectors)


def left_out_scores(codes: Codes, targets: NDArray) -> NDArray:
    """Scores of :class:`Regression`."""
    return Regression.of(codes, targets).scores


def calibrated_loss(scores: NDArray, numbers: NDArray) -> NDArray:
    """Minus the log probability of each sample's class, at the best temperature, (n,)."""
    margins = scores - scores[np.arange(len(numbers)), numbers][:, None]
    return np.asarray(logsumexp(best_temperature(margins) * margins, axis=1))


def best_temperature(margins: NDArray) -> float:
    """What scores are multiplied by, for the least mean loss of their differences."""
    unit = float(np.abs(margins).mean()) or 1.0
    relative = margins / unit

    def mean_loss(log_temperature: float) -> float:
        return float(np.mean(logsumexp(np.exp(log_temperature) * relative, axis=1)))

    found = minimize_scalar(mean_loss, bounds=LOG_TEMPERATURES, method="bounded")
    return float(np.exp(found.x)) / unit
