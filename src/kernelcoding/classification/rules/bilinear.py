"""Scores that are bilinear in a sample and its code."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from ...codes import Codes, products
from ...dictionary_learning.frames import SampleFrame
from ...long_calls import cho_factor, eigh
from .. import ridge
from ..classifiers import BilinearClassifier, Classifier, squared_norm
from .base import Rule, TrainingCodes


class BilinearRule(Rule):
    r"""Kernel ridge regression with the product kernel :math:`k(x, x')\,(y \cdot y')`.

    That is the exact solution of the paper's system for all :math:`W_j`: :math:`\phi(x)^\top W_j y`
    is linear in :math:`\phi(x) \otimes y`. Centres are the training samples, or the landmarks.
    """

    def choose_rho(self, data: TrainingCodes) -> float:
        """By leaving out each sample in turn, in closed form."""
        n, n_classes = data.targets.shape
        kernel, data = _weighted_product(data)
        values, vectors = eigh(kernel, driver="evd")
        values = np.maximum(values, 0.0)
        root = np.sqrt(data.sample_weight)
        right, ones = vectors.T @ (root[:, None] * data.targets), vectors.T @ root
        unit, errors = float(values.mean()) or 1.0, []
        for regularization in ridge.REGULARIZATIONS * unit:
            filtered = 1.0 / (values + regularization)
            inverse = (vectors**2) @ filtered
            solved = vectors @ (filtered[:, None] * right)
            if data.intercept:
                column = vectors @ (filtered * ones)
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
        if isinstance(data.frame, SampleFrame):
            centres, kernel = data.codes, data.frame.kernel_matrix
            agreements = products(centres, centres)
            coefficients, bias = _dual(agreements * kernel, data, regularization)
        else:
            centres, kernel = data.codes_of_landmarks(), data.frame.landmarks.facts.double
            agreements = products(centres, centres)
            product = agreements * kernel
            coefficients, bias = _few_centres(product, centres, data, regularization)
        rate = 0.5 * rho / n_classes
        penalty = rate * squared_norm(coefficients, agreements, kernel)
        return BilinearClassifier(coefficients, centres, bias, kernel, rate, penalty)

    def left_out(self, data: TrainingCodes, rho: float) -> NDArray:
        """In closed form where every sample is a centre."""
        if not isinstance(data.frame, SampleFrame):
            return super().left_out(data, rho)
        regularization = rho / (data.targets.shape[1] * data.per_sample)
        kernel = products(data.codes, data.codes) * data.frame.kernel_matrix
        inverse = np.linalg.inv(_regularised(kernel, data, regularization))
        solved = inverse @ data.targets
        diagonal = np.diag(inverse)
        if data.intercept:
            ones = inverse.sum(axis=1)
            solved = solved - np.outer(ones, solved.sum(axis=0) / ones.sum())
            diagonal = diagonal - ones**2 / ones.sum()
        return data.targets - solved / diagonal[:, None]


def _regularised(kernel: NDArray, data: TrainingCodes, regularization: float) -> NDArray:
    """The matrix of kernel ridge regression; below rounding errors regularization is none."""
    matrix = kernel.copy()
    regularization = max(regularization, 1e-14 * float(np.trace(matrix)))
    matrix[np.diag_indices_from(matrix)] += regularization / data.sample_weight
    return matrix


def _dual(kernel: NDArray, data: TrainingCodes, regularization: float) -> tuple[NDArray, NDArray]:
    """Kernel ridge regression with an unpenalised intercept."""
    factor = cho_factor(_regularised(kernel, data, regularization))
    solved = linalg.cho_solve(factor, data.targets, check_finite=False)
    if not data.intercept:
        return solved, np.zeros(solved.shape[1])
    ones = linalg.cho_solve(factor, np.ones(len(kernel)), check_finite=False)
    bias = solved.sum(axis=0) / ones.sum()
    return solved - np.outer(ones, bias), bias


def _few_centres(
    product: NDArray, centres: Codes, data: TrainingCodes, regularization: float
) -> tuple[NDArray, NDArray]:
    """The same with few centres: sums over samples, linear in their number."""
    n_centres, n_classes = len(product), data.targets.shape[1]
    second: NDArray = np.zeros((n_centres, n_centres))
    mixed: NDArray = np.zeros((n_centres, n_classes))
    total, mean = np.zeros(n_centres), data.sample_weight @ data.targets
    no_atoms = np.zeros((data.frame.dimension, 0))
    for block in data.frame.blocks(no_atoms):
        features = products(data.codes[block.rows], centres) * block.similarity
        weighted = features * data.sample_weight[block.rows][:, None]
        second += features.T @ weighted
        mixed += weighted.T @ data.targets[block.rows]
        total += weighted.sum(axis=0)
    count = data.sample_weight.sum()
    if data.intercept:
        second -= np.outer(total, total) / count
        mixed -= np.outer(total, mean) / count
    coefficients = ridge.solve_definite(second + regularization * product, mixed)
    if not data.intercept:
        return coefficients, np.zeros(n_classes)
    return coefficients, (mean - total @ coefficients) / count


def _weighted_product(data: TrainingCodes) -> tuple[NDArray, TrainingCodes]:
    """The product kernel of all samples, or of some where they are many.

    Rows and columns carry the roots of sample weights: regression is then one of equal samples.
    """
    n = len(data.targets)
    rows = np.arange(n)
    if n > ridge.JUDGED:
        rows = np.sort(data.rng.choice(n, ridge.JUDGED, replace=False))
    codes = data.codes[rows]
    root = np.sqrt(data.sample_weight[rows])
    kernel = products(codes, codes) * data.frame.kernel_of(rows) * np.outer(root, root)
    return kernel, replace(
        data, codes=codes, targets=data.targets[rows], sample_weight=data.sample_weight[rows]
    )
