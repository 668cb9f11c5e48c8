r"""Classifiers of codes: how they are fitted, what they cost, and what they score.

A rule adds to the coding objective of each sample a loss of scores f and targets l,

.. math:: \frac1M\sum_i \eta v_i\,\ell(l_i, f_i) + \text{price of the classifier},

with :math:`f = W^\top y + b` (linear, max-margin) or
:math:`f_j = \phi(x)^\top W_j y + b_j` (bilinear).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse

from ..codes import products
from ..problem import Codes
from . import logistic, margin, ridge
from .frames import Frame, SampleFrame

FOLDS = 5
PRICES = np.array([1.0, 10.0, 100.0, 1e3, 1e4])  # of the hinge, in units of the square's
NOTHING = 1e-12  # importance of a sample that is left out


@dataclass(slots=True)
class Lesson:
    """All that a classifier is fitted to."""

    frame: Frame
    codes: Codes  # (M, N)
    targets: NDArray  # (M, S)
    importance: NDArray  # (M,)
    eta: float
    intercept: bool
    rng: np.random.RandomState
    codes_of_landmarks: Callable[[], Codes]

    @property
    def per_sample(self) -> float:
        """What one squared error counts in the mean objective."""
        return self.eta / len(self.targets)


@dataclass(frozen=True, slots=True)
class LinearClassifier:
    """Scores ``y W + b``."""

    weights: NDArray  # (N, S)
    bias: NDArray  # (S,)
    price: float

    def scores(self, codes: Codes, similarity: NDArray | None = None) -> NDArray:
        """Scores of codes, (n, S)."""
        return np.asarray(codes @ self.weights) + self.bias

    def scaled(self, norms: NDArray) -> LinearClassifier:
        """The same scores for codes that were multiplied by these numbers."""
        weights = self.weights / np.where(norms > 0.0, norms, np.inf)[:, None]
        before = float(np.sum(self.weights**2))
        price = self.price * float(np.sum(weights**2)) / before if before > 0.0 else 0.0
        return LinearClassifier(weights, self.bias, price)


@dataclass(frozen=True, slots=True)
class BilinearClassifier:
    r"""Scores :math:`\sum_z C_{zj} k(x, z)\,(y_z \cdot y) + b_j` over centres z with codes."""

    coefficients: NDArray  # (Z, S)
    centres: Codes  # (Z, N) codes of the centres
    bias: NDArray  # (S,)
    kernel: NDArray  # (Z, Z) similarities of the centres
    rate: float  # price of a unit of squared norm
    price: float

    def scores(self, codes: Codes, similarity: NDArray) -> NDArray:
        """Scores of codes, (n, S), from the similarities of samples and centres, (n, Z)."""
        return (products(codes, self.centres) * similarity) @ self.coefficients + self.bias

    def scaled(self, norms: NDArray) -> BilinearClassifier:
        """The same scores for codes that were multiplied by these numbers."""
        factors = 1.0 / np.where(norms > 0.0, norms, np.inf)
        centres = self.centres @ sparse.diags_array(factors)
        price = self.rate * squared_norm(self.coefficients, products(centres, centres), self.kernel)
        return replace(self, centres=centres, price=price)


def squared_norm(coefficients: NDArray, agreements: NDArray, kernel: NDArray) -> float:
    r""":math:`\sum_j \|W_j\|^2` of a bilinear classifier."""
    return float(np.sum(coefficients * ((agreements * kernel) @ coefficients)))


class Rule:
    """Squared loss; subclasses say which classifier."""

    signed = False  # whether targets are one and minus one
    adapts = False  # whether goals depend on scores

    def loss(self, scores: NDArray, targets: NDArray) -> NDArray:
        """Loss of each sample, (n,)."""
        return 0.5 * np.sum((targets - scores) ** 2, axis=1)

    def goals(self, scores: NDArray, targets: NDArray) -> NDArray:
        """Where scores should move: half the squared distance bounds the loss, and is it here."""
        return targets

    def choose(self, lesson: Lesson) -> float:
        """The price of the classifier (rho) that predicts best on samples left out."""
        raise NotImplementedError

    def fit(self, lesson: Lesson, rho: float, before: Any = None, exact: bool = True) -> Any:
        """The classifier that minimises loss and price; given one, at least a better one."""
        raise NotImplementedError

    def left_out(self, lesson: Lesson, rho: float) -> NDArray:
        """Scores of samples by classifiers that were fitted without them, (M, S)."""
        n = len(lesson.targets)
        folds = lesson.rng.permutation(n) % min(FOLDS, n)
        scores = np.empty_like(lesson.targets)
        nobody = np.zeros((lesson.frame.dimension, 0))
        for fold in range(folds.max() + 1):
            importance = np.where(folds == fold, NOTHING, lesson.importance)
            other = self.fit(replace(lesson, importance=importance), rho, exact=False)
            for block in lesson.frame.blocks(nobody):
                out = np.flatnonzero(folds[block.rows] == fold)
                codes = lesson.codes[block.rows][out]
                scores[block.rows.start + out] = other.scores(codes, block.similarity[out])
        return scores


class LinearRule(Rule):
    """Ridge regression on codes."""

    def choose(self, lesson):
        """By leaving out each sample in turn, in closed form."""
        strength = ridge.best_strength(
            lesson.codes, lesson.targets, lesson.importance, lesson.intercept, lesson.rng
        )
        return strength * lesson.per_sample

    def fit(self, lesson, rho, before=None, exact=True):
        """One linear system."""
        weights, bias = ridge.fit(
            lesson.codes, lesson.targets, lesson.importance, rho / lesson.per_sample,
            lesson.intercept,
        )  # fmt: skip
        return LinearClassifier(weights, bias, 0.5 * rho * float(np.sum(weights**2)))

    def left_out(self, lesson, rho):
        """In closed form."""
        return ridge.left_out(
            lesson.codes, lesson.targets, lesson.importance, rho / lesson.per_sample,
            lesson.intercept,
        )  # fmt: skip


class MarginRule(LinearRule):
    """Squared hinge, one class against the rest."""

    signed = adapts = True
    left_out = Rule.left_out
    regression = staticmethod(margin.fit)

    def choose(self, lesson):
        """From the price that is best for squared errors upwards, by the hinge of samples left out.

        The hinge looks at few samples, and needs a higher price than a squared error.
        """
        best, rho = np.inf, super().choose(lesson)
        seed = lesson.rng.randint(2**31 - 1)  # all prices are judged on the same folds
        for price in rho * PRICES:
            same = replace(lesson, rng=np.random.RandomState(seed))
            scores = self.left_out(same, price)
            missed = float(lesson.importance @ self.loss(scores, lesson.targets))
            if missed > best:
                break
            best, rho = missed, price
        return float(rho)

    def loss(self, scores, targets):
        """Squares of what is missing to the margin."""
        return 0.5 * np.sum(np.maximum(1.0 - targets * scores, 0.0) ** 2, axis=1)

    def goals(self, scores, targets):
        """The margin, or where the scores are beyond it already."""
        return margin.goals(scores, targets)

    def fit(self, lesson, rho, before=None, exact=True):
        """Newton's method; a few cheap steps from the classifier before, or if these will do."""
        start = None if before is None else (before.weights, before.bias)
        weights, bias = self.regression(
            lesson.codes, lesson.targets, lesson.importance, rho / lesson.per_sample,
            lesson.intercept, start, exact and before is None,
        )  # fmt: skip
        return LinearClassifier(weights, bias, 0.5 * rho * float(np.sum(weights**2)))


class LogisticRule(MarginRule):
    """Logistic loss, one class against the rest."""

    regression = staticmethod(logistic.fit)

    def loss(self, scores, targets):
        """Four times the usual one."""
        return logistic.loss(scores, targets)

    def goals(self, scores, targets):
        """A step along the slope: the curvature is at most one."""
        return logistic.goals(scores, targets)


class BilinearRule(Rule):
    r"""Kernel ridge regression with the product kernel :math:`k(x, x')\,(y \cdot y')`.

    That is the exact solution of the paper's system for all :math:`W_j`: :math:`\phi(x)^\top W_j y`
    is linear in :math:`\phi(x) \otimes y`. Centres are the training samples, or the landmarks.
    """

    def choose(self, lesson):
        """By leaving out each sample in turn, in closed form."""
        n, n_classes = lesson.targets.shape
        kernel, lesson = _weighted_product(lesson)
        values, vectors = linalg.eigh(kernel, driver="evd", check_finite=False)
        values = np.maximum(values, 0.0)
        root = np.sqrt(lesson.importance)
        right, ones = vectors.T @ (root[:, None] * lesson.targets), vectors.T @ root
        unit, errors = float(values.mean()) or 1.0, []
        for strength in ridge.STRENGTHS * unit:
            filtered = 1.0 / (values + strength)
            inverse = (vectors**2) @ filtered
            solved = vectors @ (filtered[:, None] * right)
            if lesson.intercept:
                column = vectors @ (filtered * ones)
                total = float(root @ column)
                inverse = inverse - column**2 / total
                solved = solved - np.outer(column, root @ solved / total)
            missed = solved / np.maximum(inverse, 1e-300)[:, None]
            errors.append(float(np.sum(missed**2)))
        best = float(ridge.STRENGTHS[int(np.argmin(errors))] * unit)
        return best * n_classes * lesson.eta / n

    def fit(self, lesson, rho, before=None, exact=True):
        """One system in as many unknowns as there are centres, for all classes."""
        n_classes = lesson.targets.shape[1]
        strength = rho / (n_classes * lesson.per_sample)
        if isinstance(lesson.frame, SampleFrame):
            centres, kernel = lesson.codes, lesson.frame.kernel_matrix
            agreements = products(centres, centres)
            coefficients, bias = _dual(agreements * kernel, lesson, strength)
        else:
            centres, kernel = lesson.codes_of_landmarks(), lesson.frame.landmarks.facts.double
            agreements = products(centres, centres)
            product = agreements * kernel
            coefficients, bias = _few_centres(product, centres, lesson, strength)
        rate = 0.5 * rho / n_classes
        price = rate * squared_norm(coefficients, agreements, kernel)
        return BilinearClassifier(coefficients, centres, bias, kernel, rate, price)

    def left_out(self, lesson, rho):
        """In closed form where every sample is a centre."""
        if not isinstance(lesson.frame, SampleFrame):
            return super().left_out(lesson, rho)
        strength = rho / (lesson.targets.shape[1] * lesson.per_sample)
        kernel = products(lesson.codes, lesson.codes) * lesson.frame.kernel_matrix
        inverse = np.linalg.inv(_priced(kernel, lesson, strength))
        solved = inverse @ lesson.targets
        diagonal = np.diag(inverse)
        if lesson.intercept:
            ones = inverse.sum(axis=1)
            solved = solved - np.outer(ones, solved.sum(axis=0) / ones.sum())
            diagonal = diagonal - ones**2 / ones.sum()
        return lesson.targets - solved / diagonal[:, None]


def _priced(kernel: NDArray, lesson: Lesson, strength: float) -> NDArray:
    """The matrix of kernel ridge regression; below rounding errors a price is none."""
    matrix = kernel.copy()
    strength = max(strength, 1e-14 * float(np.trace(matrix)))
    matrix[np.diag_indices_from(matrix)] += strength / lesson.importance
    return matrix


def _dual(kernel: NDArray, lesson: Lesson, strength: float) -> tuple[NDArray, NDArray]:
    """Kernel ridge regression with an unpenalised intercept."""
    factor = linalg.cho_factor(
        _priced(kernel, lesson, strength), overwrite_a=True, check_finite=False
    )
    solved = linalg.cho_solve(factor, lesson.targets, check_finite=False)
    if not lesson.intercept:
        return solved, np.zeros(solved.shape[1])
    ones = linalg.cho_solve(factor, np.ones(len(kernel)), check_finite=False)
    bias = solved.sum(axis=0) / ones.sum()
    return solved - np.outer(ones, bias), bias


def _few_centres(
    product: NDArray, centres: Codes, lesson: Lesson, strength: float
) -> tuple[NDArray, NDArray]:
    """The same with few centres: sums over samples, linear in their number."""
    n_centres, n_classes = len(product), lesson.targets.shape[1]
    second: NDArray = np.zeros((n_centres, n_centres))
    mixed: NDArray = np.zeros((n_centres, n_classes))
    total, mean = np.zeros(n_centres), lesson.importance @ lesson.targets
    nobody = np.zeros((lesson.frame.dimension, 0))
    for block in lesson.frame.blocks(nobody):
        features = products(lesson.codes[block.rows], centres) * block.similarity
        weighted = features * lesson.importance[block.rows][:, None]
        second += features.T @ weighted
        mixed += weighted.T @ lesson.targets[block.rows]
        total += weighted.sum(axis=0)
    count = lesson.importance.sum()
    if lesson.intercept:
        second -= np.outer(total, total) / count
        mixed -= np.outer(total, mean) / count
    coefficients = ridge.solve_definite(second + strength * product, mixed)
    if not lesson.intercept:
        return coefficients, np.zeros(n_classes)
    return coefficients, (mean - total @ coefficients) / count


def _weighted_product(lesson: Lesson) -> tuple[NDArray, Lesson]:
    """The product kernel of all samples, or of some where they are many.

    Rows and columns carry the roots of importances: regression is then one of equal samples.
    """
    n = len(lesson.targets)
    rows = np.arange(n)
    if n > ridge.JUDGED:
        rows = np.sort(lesson.rng.choice(n, ridge.JUDGED, replace=False))
    codes = lesson.codes[rows]
    root = np.sqrt(lesson.importance[rows])
    kernel = products(codes, codes) * lesson.frame.kernel_of(rows) * np.outer(root, root)
    return kernel, replace(
        lesson, codes=codes, targets=lesson.targets[rows], importance=lesson.importance[rows]
    )


RULES: dict[str, Rule] = {
    "linear": LinearRule(),
    "bilinear": BilinearRule(),
    "max-margin": MarginRule(),
    "logistic": LogisticRule(),
}
