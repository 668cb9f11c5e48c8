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
            self.units = _mixture(self.kernel.with_theta(theta), self.own)[1]
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
        self.raised = None
        if self.spectrum is not None:
            self.raised = self.completion[1] > own
            own = np.maximum(own, self.completion[1])
        if not all(np.isfinite(part).all() for part in (gram, cross, own)):
            raise NotFinite
        total, d_own, d_cross, d_gram = 0.0, np.zeros_like(own), np.zeros_like(cross), 0.0 * gram
        for part in self.parts:
            block = np.ix_(part.rows, part.atoms)
            square = np.ix_(part.atoms, part.atoms)
            coder = _restricted(self.coder, part.atoms)
            problem = CodingProblem(own[part.rows], cross[block], gram[square])
            if part.codes is None or not self.frozen:
                start = part.codes
                part.codes = encode(coder, problem, replace(self.options, start=start))
            measure = of_objective if self.settings.include_prior else _error_only
            found = measure(coder, problem, part.codes)
            total += found.value
            d_own[part.rows] += found.self_similarity
            d_cross[block] += found.cross
            d_gram[square] += found.gram
        n = len(own)
        if len(gram) < 2:
            raise ValueError("One atom has no discrepancy: learning a kernel needs two or more.")
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
        self.spectrum = None
        if kernel.is_positive_definite is not True and np.isfinite(among).all():
            values, vectors = linalg.eigh(among)
            cutoff = 1e-10 * values[-1]
            if values[0] < -cutoff:
                keep = values > cutoff
                kept = vectors[:, keep]
                self.spectrum = (values, vectors, keep, between)
                among, between = ((part @ kept) @ kept.T for part in (among, between))
                among = 0.5 * (among + among.T)
                solved = (between @ kept / values[keep]) @ kept.T  # K^+ k, row by row
                self.completion = (solved, np.einsum("ij,ij->i", solved, between))
        if self.weights is None:
            return among, between
        return self.weights.T @ among @ self.weights, between @ self.weights

    def _contract(self, kernel, d_own, d_cross, d_gram) -> NDArray:
        if self.weights is not None:
            d_cross = d_cross @ self.weights.T
            d_gram = self.weights @ d_gram @ self.weights.T
        if self.spectrum is not None:
            values, V, keep, between = self.spectrum
            part = np.where(self.raised, d_own, 0.0)
            d_own = np.where(self.raised, 0.0, d_own)
            solved = self.completion[0]
            d_cross = d_cross + 2.0 * part[:, None] * solved
            d_gram = d_gram - solved.T @ (part[:, None] * solved)
            gap = values[:, None] - values[None]
            same = np.abs(gap) < 1e-12 * np.abs(values).max()
            gap[same] = 1.0
            positive = np.where(keep, values, 0.0)
            first = np.where(same, keep[:, None] * 1.0, (positive[:, None] - positive[None]) / gap)
            second = np.where(same, 0.0, (keep[:, None] * 1.0 - keep[None]) / gap)
            mixed = between.T @ d_cross
            mixed = 0.5 * (mixed + mixed.T)
            G = V.T @ (0.5 * (d_gram + d_gram.T)) @ V
            d_gram = V @ (first * G + second * (V.T @ mixed @ V)) @ V.T
            d_cross = (d_cross @ V[:, keep]) @ V[:, keep].T
        return (
            np.einsum("i,ip->p", d_own, kernel.profile_gradient(self.own))
            + np.einsum("ij,ijp->p", d_cross, kernel.profile_gradient(self.between))
            + np.einsum("ij,ijp->p", d_gram, kernel.profile_gradient(self.among))
        )

    def _through_units(self, theta, gradient, pull):
        """Add what changes of log m_i, each of which counts pull_i, contribute."""
        kernel = self.kernel.with_theta(theta)
        first, j = 0, 0
        for child, part, weight in zip(kernel.children, self.own, kernel.current_weights):
            p = len(child.theta)
            if weight > 0:
                slope = child.profile_gradient(part).mean(axis=0) / np.mean(child.profile(part))
                gradient[first : first + p] += pull[j] * slope
                j += 1
            first += p

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
            # the price looks at log m(theta) too
            self._through_units(theta, gradient, strength * self.scale * shares * (1.0 + excess))
        inner = gradient[self.mixing].copy()
        gradient[self.mixing] = inner - shares * inner.sum()  # through the normalisation
        self._through_units(theta, gradient, -shares * inner.sum())
        return ratio, gradient


def _dummy():
    pass


def _restricted(coder, atoms):
    import copy

    if getattr(coder, "groups_", None) is None:
        return coder
    coder = copy.copy(coder)
    coder.groups_ = np.asarray(coder.groups_)[atoms]
    return coder


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
