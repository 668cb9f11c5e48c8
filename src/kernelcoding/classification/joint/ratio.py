"""The objective of supervised coding over J, as a function of the kernel's parameters."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...codes import second_moment
from ...kernel_learning.ratio import NotFinite, RatioProblem
from ...kernels.base import Kernel


class JointRatio(RatioProblem):
    r"""The objective of supervised coding over J, as a function of the kernel's parameters.

    Atoms are fixed combinations of landmarks, scaled to unit norm in each space where codes may be
    scaled; codes are minimised over, the classifier is held.

    Parameters
    ----------
    formulation, options, kernel, landmarks, weights, samples, parts, settings, among
        As in :class:`~kernelcoding.kernel_learning.ratio.RatioProblem`; the formulation knows the
        labels, and the only part has all samples and atoms.
    """

    weights: NDArray
    penalty = 0.0  # of the classifier
    bounded = True  # whether atoms are scaled to unit norm
    norms: NDArray  # of the atoms before that

    def loss_and_spread(self, theta: NDArray) -> tuple[float, float]:
        """The objective, and J."""
        _, among, (own, cross, gram) = self._scaled(self.normalised(theta))
        total = 0.0
        for part, formulation, problem in self._coded(own, cross, gram):
            assert part.codes is not None
            total += 0.5 * float(problem.squared_error(part.codes).sum())
            total += float(formulation.value(problem, part.codes).sum())
        return total / len(own) + self.penalty, self._spread(among)[0]

    def _scaled(self, theta: NDArray) -> tuple[Kernel, NDArray, tuple[NDArray, NDArray, NDArray]]:
        """The kernel, inner products of landmarks, and the coding problem with unit atoms."""
        kernel = self.kernel.with_theta(theta)
        arrays = (kernel.profile(part) for part in (self.among, self.between, self.own))
        among, between, own = (np.asarray(part, np.float64) for part in arrays)
        if not all(np.isfinite(part).all() for part in (among, between, own)):
            raise NotFinite
        gram, cross = self.weights.T @ among @ self.weights, between @ self.weights
        self.norms = np.ones(len(gram))
        if self.bounded:
            squares = np.diag(gram)
            self.norms = np.sqrt(np.where(squares > 0.0, squares, 1.0))
        gram = gram / np.outer(self.norms, self.norms)
        return kernel, among, (own, cross / self.norms, 0.5 * (gram + gram.T))

    def _evaluate(self, theta: NDArray) -> tuple[float, NDArray]:
        actual = self.normalised(theta)
        kernel, among, (own, cross, gram) = self._scaled(actual)
        spread, d_spread = self._spread(among)
        [(part, formulation, problem)] = list(self._coded(own, cross, gram))
        assert part.codes is not None
        found, n = formulation.sensitivity(problem, part.codes), len(own)
        d_gram = 0.5 * second_moment(found.codes)
        d_gram[np.diag_indices_from(d_gram)] += found.diagonal
        value = (found.value / n + self.penalty) / spread
        d_cross, d_gram = self._through_norms(found.cross, d_gram, cross, gram)
        scale = 1.0 / (n * spread)
        d_among = scale * self.weights @ d_gram @ self.weights.T - value / spread * d_spread
        gradient = (
            kernel.derivative(self.own, scale * found.self_similarity)
            + kernel.derivative(self.between, scale * d_cross @ self.weights.T)
            + kernel.derivative(self.among, d_among)
        )
        value, gradient = self._regularised(actual, value, gradient)
        if not (np.isfinite(value) and np.isfinite(gradient).all()):
            raise NotFinite
        return value, gradient

    def _through_norms(
        self, d_cross: NDArray, d_gram: NDArray, cross: NDArray, gram: NDArray
    ) -> tuple[NDArray, NDArray]:
        """Derivatives in inner products of unit atoms become those in products of atoms."""
        if not self.bounded:
            return d_cross, d_gram
        pull = -np.einsum("ij,ij->j", d_cross, cross) - 2.0 * np.einsum("ij,ij->j", d_gram, gram)
        d_gram = d_gram / np.outer(self.norms, self.norms)
        d_gram[np.diag_indices_from(d_gram)] += 0.5 * pull / self.norms**2
        return d_cross / self.norms, d_gram
