r"""The ratio that kernel learning minimises, with its gradient.

Pair statistics are computed once; each value of the parameters costs a profile of them, one coding
(from the codes of the last), and a contraction of sensitivities with the profile's gradient.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from ..kernels.base import Kernel
from ..kernels.multiple import MultipleKernel
from ..problem import Codes, CodingProblem
from .coding import encode
from .sensitivity import discrepancy, of_error, of_objective


@dataclass(slots=True)
class Part:
    """Samples that are coded with the same atoms."""

    rows: NDArray  # into the samples that are followed
    atoms: NDArray  # into all atoms
    codes: Codes | None = None


class NotFinite(Exception):
    """The objective or a gradient is not a number."""


class RatioProblem:
    """The ratio and its gradient in theta; statistics of all pairs are computed once.

    Parameters
    ----------
    coder : BaseKernelCoder
        Knows its formulation.
    kernel : Kernel
        Resolved; theta is measured from its own.
    landmarks : array, index : array or None
        Points that make up the atoms.
    weights : array of shape (m, N) or None
        How they do; None: they are the atoms.
    X : array
        Samples, ``rows`` their numbers in the training set.
    parts : list of Part
        Who is coded with what.
    """

    def __init__(self, coder, kernel, landmarks, weights, samples, parts, settings):
        self.coder = coder
        self.kernel = kernel
        self.weights = weights
        self.parts = parts
        self.settings = settings
        self.options = replace(coder.training_options(), n_jobs=coder.n_jobs)
        self.among = kernel.statistic(landmarks, landmarks)
        self.between = kernel.statistic(samples, landmarks)
        self.own = kernel.diagonal_statistic(samples)
        self.frozen = False  # whether codes are held (the paper's alternation)
        self.scale: float | None = None  # of the regulariser
        self.mixing, self.units = _mixture(kernel, self.own)

    def normalised(self, theta: NDArray) -> NDArray:
        """Weights of several kernels such that their shares of the mean diagonal sum to one."""
        theta = np.array(theta, dtype=np.float64)
        logs = theta[self.mixing]
        if logs.size:
            theta[self.mixing] = logs - np.logaddexp.reduce(logs + self.units)
        return theta

    def __call__(self, theta: NDArray) -> tuple[float, NDArray]:
        """Ratio and gradient; raises where they are not finite."""
        actual = self.normalised(theta)
        kernel = self.kernel.with_theta(actual)
        gram, cross = self._clipped(
            kernel, kernel.profile(self.among), kernel.profile(self.between)
        )
        own = kernel.profile(self.own).astype(np.float64)
        if not all(np.isfinite(part).all() for part in (gram, cross, own)):
            raise NotFinite
        total, d_own, d_cross, d_gram = 0.0, np.zeros_like(own), np.zeros_like(cross), 0.0 * gram
        for part in self.parts:
            block = np.ix_(part.rows, part.atoms)
            square = np.ix_(part.atoms, part.atoms)
            problem = CodingProblem(own[part.rows], cross[block], gram[square])
            if part.codes is None or not self.frozen:
                start = part.codes
                part.codes = encode(self.coder, problem, replace(self.options, start=start))
            measure = of_objective if self.settings.include_prior else _error_only
            found = measure(self.coder, problem, part.codes)
            total += found.value
            d_own[part.rows] += found.self_similarity
            d_cross[block] += found.cross
            d_gram[square] += found.gram
        n = len(own)
        spread, d_spread = discrepancy(gram)
        if not spread > 0.0:
            raise ValueError(
                "All atoms are the same point in the Hilbert space of the kernel: their "
                "discrepancy is zero and no kernel parameter can be learned."
            )
        ratio = total / n / spread
        d_gram = (d_gram / n - ratio * d_spread) / spread
        scale = 1.0 / (n * spread)
        gradient = self._contract(kernel, d_own * scale, d_cross * scale, d_gram)
        value, gradient = self._regularised(actual, ratio, gradient)
        if not (np.isfinite(value) and np.isfinite(gradient).all()):
            raise NotFinite
        return value, gradient

    def _clipped(self, kernel, among: NDArray, between: NDArray) -> tuple[NDArray, NDArray]:
        """Similarities of atoms and of samples to them; a negative spectrum is dropped."""
        among, between = (np.asarray(part, np.float64) for part in (among, between))
        if kernel.is_positive_definite is False and np.isfinite(among).all():
            values, vectors = linalg.eigh(among)
            kept = vectors[:, values > 0.0]
            among, between = ((part @ kept) @ kept.T for part in (among, between))
            among = 0.5 * (among + among.T)
        if self.weights is None:
            return among, between
        return self.weights.T @ among @ self.weights, between @ self.weights

    def _contract(self, kernel, d_own, d_cross, d_gram) -> NDArray:
        if self.weights is not None:
            d_cross = d_cross @ self.weights.T
            d_gram = self.weights @ d_gram @ self.weights.T
        return (
            np.einsum("i,ip->p", d_own, kernel.profile_gradient(self.own))
            + np.einsum("ij,ijp->p", d_cross, kernel.profile_gradient(self.between))
            + np.einsum("ij,ijp->p", d_gram, kernel.profile_gradient(self.among))
        )

    def _regularised(self, theta, ratio, gradient) -> tuple[float, NDArray]:
        logs = theta[self.mixing]
        if not logs.size:
            return ratio, gradient
        shares = np.exp(logs + self.units)
        strength = self.settings.regularization
        if strength > 0.0:
            if self.scale is None:
                self.scale = ratio  # at the start: the strength then has no unit
            excess = logs + self.units + np.log(logs.size)
            ratio += strength * self.scale * float(shares @ excess)
            gradient[self.mixing] += strength * self.scale * shares * (1.0 + excess)
        inner = gradient[self.mixing].copy()
        gradient[self.mixing] = inner - shares * inner.sum()  # through the normalisation
        return ratio, gradient


def _error_only(coder, problem, codes):
    return of_error(problem, codes)


def _mixture(kernel: Kernel, own: Any) -> tuple[slice, NDArray]:
    """Where in theta the weights of several kernels are, and the logs of their mean diagonals.

    Kernels are compared at equal mean diagonal: else the one of largest scale would win.
    """
    if not isinstance(kernel, MultipleKernel):
        return slice(0, 0), np.zeros(0)
    pairs = zip(kernel.children, own, kernel.current_weights, strict=True)
    means = [
        abs(float(np.mean(child.profile(part)))) for child, part, weight in pairs if weight > 0
    ]
    return slice(len(kernel.theta) - len(means), None), np.log(np.maximum(means, 1e-300))
