"""Scores that are bilinear in a sample and its code."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ...codes import Codes, products, some_rows
from ...dictionary_learning.frames import SampleBlock, SampleFrame
from ...long_calls import eigh
from ...selection import counting_rows, drawn_rows
from ..classifiers import BilinearClassifier, Classifier, bilinear_features, squared_norm
from ..losses import ridge
from ..losses.ridge import NOTHING
from .base import Rule, TrainingCodes
from .product_kernel import ProductSystem

MANY = 2000  # samples that are all centres while atoms are learned; a system is cubic in them
CENTRES = 500  # of more samples
# Samples on which rho is chosen, by a spectrum, which is cubic in them: rho is one of few values,
# and errors left out are flat around the best.
JUDGED = 750


class BilinearRule(Rule):
    r"""Kernel ridge regression with the product kernel :math:`k(x, x')\,(y \cdot y')`.

    That is the exact solution of the paper's system for all :math:`W_j`: :math:`\phi(x)^\top W_j y`
    is linear in :math:`\phi(x) \otimes y`. Centres are the training samples, or the landmarks. Of
    many samples some are the centres of the classifiers that atoms are learned with, so that a
    round costs no more than linear in samples; the last classifier has all of them.
    """

    exact_rounds = False

    def choose_rho(self, data: TrainingCodes) -> float:
        """By leaving out each sample in turn, in closed form."""
        n, n_classes = data.targets.shape
        kernel, data = _weighted_product(data)
        values, vectors = eigh(kernel, driver="evd")
        values = np.maximum(values, 0.0)
        root = np.sqrt(data.sample_weight)
        right, ones = vectors.T @ (root[:, None] * data.targets), vectors.T @ root
        unit, errors = float(values.mean()) or 1.0, []
        filters = 1.0 / (values[:, None] + ridge.REGULARIZATIONS * unit)
        inverses, columns = vectors**2 @ filters, vectors @ (filters * ones[:, None])
        for filtered, inverse, column in zip(filters.T, inverses.T, columns.T, strict=True):
            solved = vectors @ (filtered[:, None] * right)
            if data.intercept:
                total = float(root @ column)
                inverse = inverse - column**2 / total
                solved = solved - np.outer(column, root @ solved / total)
            missed = solved / np.maximum(inverse, 1e-300)[:, None]
            errors.append(float(np.sum(missed**2)))
        best = float(ridge.REGULARIZATIONS[int(np.argmin(errors))] * unit)
        return best * n_classes * data.eta / n

    def fit(
        self,
        data: TrainingCodes,
        rho: float,
        before: Classifier | None = None,
        exact: bool = True,
    ) -> BilinearClassifier:
        """One system in as many unknowns as there are centres, for all classes."""
        n_classes = data.targets.shape[1]
        regularization = rho / (n_classes * data.per_sample)
        rate = 0.5 * rho / n_classes
        if isinstance(data.frame, SampleFrame):
            if not exact and len(data.targets) > MANY:
                chosen = _some_samples(data, before)
                system = _system_of_some(data, chosen, regularization)
                return _of_some(data, chosen, system, rate)
            return _of_all(data, regularization, rate)[0]
        centres, kernel = data.codes_of_landmarks(), data.frame.landmarks.facts.double
        agreements = products(centres, centres)
        few = FewCentres.of(data, centres, agreements * kernel, slice(None), regularization)
        coefficients, bias = few.solution
        penalty = rate * squared_norm(coefficients, agreements, kernel)
        return BilinearClassifier(coefficients, centres, bias, kernel, rate, penalty)

    def left_out(self, data: TrainingCodes, rho: float) -> NDArray:
        """In closed form where every sample is a centre, or some of many are."""
        if not isinstance(data.frame, SampleFrame):
            return super().left_out(data, rho)
        return self.fit_with_left_out(data, rho, exact=False)[1]

    def fit_with_left_out(
        self, data: TrainingCodes, rho: float, exact: bool = True
    ) -> tuple[Classifier, NDArray]:
        """Of one factor, where both have the same centres."""
        many = len(data.targets) > MANY
        if not isinstance(data.frame, SampleFrame) or (many and exact):
            return super().fit_with_left_out(data, rho, exact)
        n_classes = data.targets.shape[1]
        regularization, rate = rho / (n_classes * data.per_sample), 0.5 * rho / n_classes
        if many:
            chosen = _some_samples(data)
            system = _system_of_some(data, chosen, regularization)
            return _of_some(data, chosen, system, rate), system.left_out(data)
        classifier, scores = _of_all(data, regularization, rate, judged=True)
        assert scores is not None
        return classifier, scores


def _of_all(
    data: TrainingCodes, regularization: float, rate: float, judged: bool = False
) -> tuple[BilinearClassifier, NDArray | None]:
    """A classifier with every sample as a centre; judged, also scores of samples left out."""
    assert isinstance(data.frame, SampleFrame)
    kernel = data.frame.kernel_matrix
    system = ProductSystem.of(data.codes, kernel, regularization, data.sample_weight)
    coefficients, bias, scores = system.regression(data.targets, data.intercept, judged)
    # The solution says what the product kernel makes of it: no second look at a large matrix.
    fitted = data.targets - bias - system.ridge[:, None] * coefficients
    penalty = rate * float(np.sum(coefficients * fitted))
    return BilinearClassifier(coefficients, data.codes, bias, kernel, rate, penalty), scores


@dataclass(frozen=True, slots=True)
class FewCentres:
    """The same regression with few centres: sums over samples, linear in their number."""

    features: Callable[[SampleBlock], NDArray]  # (n, m) products of codes and similarities
    matrix: NDArray  # (m, m)
    mixed: NDArray  # (m, S)
    mean: NDArray  # (m,) weighted, of the features; zero without an intercept
    target: NDArray  # (S,) weighted mean of the targets; zero without an intercept

    @classmethod
    def of(
        cls,
        data: TrainingCodes,
        centres: Codes,
        product: NDArray,
        columns: NDArray | slice,
        regularization: float,
    ) -> FewCentres:
        """From one pass over the samples.

        Parameters
        ----------
        data : TrainingCodes
        centres : array or CSR array of shape (m, N)
            Codes.
        product : array of shape (m, m)
            Product kernel of the centres.
        columns : array of shape (m,), or slice
            Which landmarks the centres are.
        regularization : float
        """

        def features(block: SampleBlock) -> NDArray:
            codes = some_rows(data.codes, block.rows)
            return bilinear_features(codes, centres, block.similarity, columns, kernel)

        kernel = data.frame.kernel_matrix if isinstance(data.frame, SampleFrame) else None
        n_centres, n_classes = len(product), data.targets.shape[1]
        second: NDArray = np.zeros((n_centres, n_centres))
        mixed: NDArray = np.zeros((n_centres, n_classes))
        total = np.zeros(n_centres)
        for block in _blocks(data):
            own = data.sample_weight[block.rows]
            root = np.sqrt(own)
            found = features(block) * root[:, None]
            second += found.T @ found  # of one array: half of the products
            mixed += found.T @ (root[:, None] * data.targets[block.rows])
            total += root @ found
        count, target = data.sample_weight.sum(), data.sample_weight @ data.targets
        if not data.intercept:
            total, target = np.zeros(n_centres), np.zeros(n_classes)
        second -= np.outer(total, total) / count
        mixed -= np.outer(total, target) / count
        matrix = second + regularization * product
        return cls(features, matrix, mixed, total / count, target / count)

    @property
    def solution(self) -> tuple[NDArray, NDArray]:
        """Coefficients (m, S) and intercepts (S,)."""
        coefficients = ridge.solve_definite(self.matrix, self.mixed)
        return coefficients, self.target - self.mean @ coefficients

    def left_out(self, data: TrainingCodes) -> NDArray:
        """Scores of each sample by the regression without it, the centres as they are, (n, S).

        A residual grows by one over what its own target has no part in, as in any ridge regression.
        """
        coefficients, bias = self.solution
        scores, share = np.empty_like(data.targets), data.sample_weight / data.sample_weight.sum()
        for block in _blocks(data):
            features, own = self.features(block), data.sample_weight[block.rows]
            centred = features - self.mean
            part = own * ridge.inverse_squares(self.matrix, centred)
            part += data.intercept * share[block.rows]
            missed = data.targets[block.rows] - features @ coefficients - bias
            missed /= np.maximum(1.0 - part, NOTHING)[:, None]
            scores[block.rows] = data.targets[block.rows] - missed
        return scores


def _blocks(data: TrainingCodes) -> Iterator[SampleBlock]:
    return iter(data.frame.blocks(np.zeros((data.frame.dimension, 0))))


def _counting(data: TrainingCodes) -> NDArray:
    return counting_rows(len(data.targets), data.sample_weight, above=NOTHING)


def _some_samples(data: TrainingCodes, before: Classifier | None = None) -> NDArray:
    """Centres among many samples: those of the classifier before, or some drawn at random."""
    if isinstance(before, BilinearClassifier) and isinstance(before.used, np.ndarray):
        return before.used
    return drawn_rows(_counting(data), CENTRES, data.rng)


def _system_of_some(data: TrainingCodes, chosen: NDArray, regularization: float) -> FewCentres:
    centres = data.codes[chosen]
    product = products(centres, centres) * data.frame.kernel_of(chosen)
    return FewCentres.of(data, centres, product, chosen, regularization)


def _of_some(
    data: TrainingCodes, chosen: NDArray, system: FewCentres, rate: float
) -> BilinearClassifier:
    """A classifier in which few samples have coefficients."""
    assert isinstance(data.frame, SampleFrame)
    few, bias = system.solution
    coefficients = np.zeros((len(data.targets), few.shape[1]))
    coefficients[chosen] = few
    found = BilinearClassifier(
        coefficients, data.codes, bias, data.frame.kernel_matrix, rate, penalty=0.0
    )
    return found.scaled(np.ones(data.codes.shape[1]))  # knows its penalty


def _weighted_product(data: TrainingCodes) -> tuple[NDArray, TrainingCodes]:
    """The product kernel of all samples, or of some where they are many.

    Rows and columns carry the roots of sample weights: regression is then one of equal samples.
    """
    rows = drawn_rows(_counting(data), JUDGED, data.rng)
    codes = data.codes[rows]
    root = np.sqrt(data.sample_weight[rows])
    kernel = products(codes, codes) * data.frame.kernel_of(rows) * np.outer(root, root)
    return kernel, replace(
        data, codes=codes, targets=data.targets[rows], sample_weight=data.sample_weight[rows]
    )
