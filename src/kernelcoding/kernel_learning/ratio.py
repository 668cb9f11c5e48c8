r"""The ratio that kernel learning minimises, with its gradient.

Pair statistics are computed once; each value of the parameters costs a profile of them, one coding
(from the codes of the last), and a contraction of sensitivities with the profile's gradient.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..codes import Codes, second_moment, stacked, widened, zero_rows
from ..formulations import Formulation, Sensitivity
from ..kernels.base import Kernel
from ..kernels.multiple import MultipleKernel
from ..problem import CodingProblem
from ..solvers.result import Convergence, Options
from .clipping import Clipping
from .parts import Part, assign, pick
from .settings import KernelLearning

ACCEPTED_SILENCE = 0.01  # share of codes that may vanish though none did at the start


class Known(Kernel):
    """A kernel without parameters whose values are at hand: they are its statistic."""

    def __init__(self, definite: bool | None):
        self.definite = definite

    @property
    def is_positive_definite(self) -> bool | None:
        """What is known of the kernel it stands for."""
        return self.definite

    def profile(self, S: Any, *, overwrite: bool = False) -> NDArray:
        """The values."""
        return S if overwrite else S.copy()

    def derivative(self, S: Any, weights: NDArray) -> NDArray:
        """No parameters, no derivatives."""
        return np.zeros(0)


class NotFinite(Exception):
    """The objective or a gradient is not a number: these parameters are no good."""


class Degenerate(NotFinite):
    """All atoms are one point with these parameters: their ratio has no meaning."""


class Vanishing(NotFinite):
    """More codes are zero with these parameters than at the start."""


class RatioProblem:
    """The ratio and its gradient in theta; statistics of all pairs are computed once.

    Parameters
    ----------
    formulation : Formulation
        What a code is.
    options : Options
        How codes are computed.
    kernel : Kernel
        Resolved; theta is measured from its own.
    landmarks : prepared stack
        Points that make up the atoms, as :meth:`Kernel.prepare` returns them.
    weights : array of shape (m, N) or None
        How they do; None: they are the atoms.
    samples : prepared stack
        The samples that are followed.
    parts : list of Part
        Which samples are coded with which atoms.
    settings : KernelLearning
    among : statistics, default=None
        Of the landmarks, where known.
    """

    def __init__(
        self,
        formulation: Formulation,
        options: Options,
        kernel: Kernel,
        landmarks: Any,
        weights: NDArray | None,
        samples: Any,
        parts: list[Part],
        settings: KernelLearning,
        among: Any = None,
    ):
        self.formulation = formulation
        self.options = replace(options, sparse_output=formulation.is_sparse)
        self.kernel = kernel
        self.weights = weights
        self.parts = parts
        self.settings = settings
        self.among = kernel.statistic(landmarks, landmarks) if among is None else among
        self.among_statistic = self.among
        self.between = kernel.statistic(samples, landmarks)
        self.own = kernel.diagonal_statistic(samples)
        if isinstance(kernel, MultipleKernel) and not any(len(k.theta) for k in kernel.children):
            self._know_members(kernel)
        self.frozen = False  # whether codes are held (the paper's alternation)
        self.scale: float | None = None  # of the regulariser
        self._last: tuple[Any, tuple[float, NDArray]] | None = None
        self.convergence = Convergence()  # of the worst coding of all parts
        self.silent = 0.0  # share of codes that were zero in the last coding
        self.most_silent = 1.0  # what is accepted of it
        self.mixing, self.units = _mixture(self.kernel, self.own)

    def _know_members(self, kernel: MultipleKernel) -> None:
        """Only weights are learned: values of the members are computed once."""
        members = kernel.children
        self.among, self.between, self.own = (
            tuple(k.profile(s) for k, s in zip(members, parts, strict=True))
            for parts in (self.among, self.between, self.own)
        )
        known: list[Kernel] = [Known(k.is_positive_definite) for k in members]
        self.kernel = MultipleKernel(known, kernel.current_weights.tolist())

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
        key = (np.asarray(theta, np.float64).tobytes(), self.frozen)
        if self._last is None or self._last[0] != key:
            self._last = (key, self._evaluate(theta))
        value, gradient = self._last[1]
        return value, gradient.copy()

    def value(self, theta: NDArray) -> float:
        """The ratio alone, at a third of the cost."""
        loss, spread = self.loss_and_spread(theta)
        return self.regularised(theta, loss / spread)

    def start_from(self, theta: NDArray) -> float:
        """The ratio at the start; parameters at which more codes vanish are refused from now on.

        As codes vanish, the ratio tends to a number that tells nothing: that of no coding at all.
        """
        value = self.value(theta)
        self.most_silent = max(self.silent, ACCEPTED_SILENCE)
        return value

    def coded(self, theta: NDArray) -> Iterator[tuple[Part, Formulation, CodingProblem]]:
        """Every part with its formulation, its problem and its codes."""
        return self._coded(*self._arrays(self.normalised(theta))[2])

    def pull_back(self, theta: NDArray, found: Iterable[tuple[Part, NDArray, NDArray]]) -> NDArray:
        """Derivatives in theta of something with these in each part's cross and Gram matrices."""
        actual = self.normalised(theta)
        kernel, clipping, (own, cross, gram) = self._arrays(actual)
        d_cross, d_gram = np.zeros_like(cross), np.zeros_like(gram)
        for part, by_cross, by_gram in found:
            assign(d_cross, part, by_cross)
            d_gram[np.ix_(part.atoms, part.atoms)] += by_gram
        gradient = self._contract(kernel, clipping, np.zeros_like(own), d_cross, d_gram)
        return self._through_shares(actual, gradient)

    def loss_and_spread(self, theta: NDArray) -> tuple[float, float]:
        """L and J."""
        _, _, (own, cross, gram) = self._arrays(self.normalised(theta))
        spread, total = self._spread(gram)[0], 0.0
        for part, formulation, problem in self._coded(own, cross, gram):
            error = 0.5 * problem.squared_error(part.codes).sum()
            if self._counts_prior(formulation, problem, part.codes):
                error += formulation.value(problem, part.codes).sum()
            total += float(error)
        return total / len(own), spread

    @property
    def holds_codes(self) -> bool:
        """Whether codes are held while the parameters move, as the paper does.

        Not where they are a formula of the kernel: soft assignment minimises nothing.
        """
        solved = self.formulation.is_minimiser or self.formulation.is_greedy
        return solved and not self.settings.include_prior

    def _counts_prior(
        self, formulation: Formulation, problem: CodingProblem, codes: Codes | None
    ) -> bool:
        """Whether the prior's value counts: the paper omits those that know no kernel."""
        if self.settings.include_prior or not self.holds_codes:
            return True
        assert codes is not None
        return formulation.distance_weights(problem, codes) is not None

    def regularised(self, theta: NDArray, ratio: float) -> float:
        """A ratio with what the weights of several kernels cost."""
        actual = self.normalised(theta)
        value = self._regularised(actual, ratio, np.zeros(len(actual)))[0]
        if not np.isfinite(value):
            raise NotFinite
        return value

    def _evaluate(self, theta: NDArray) -> tuple[float, NDArray]:
        actual = self.normalised(theta)
        kernel, clipping, (own, cross, gram) = self._arrays(actual)
        spread, d_spread = self._spread(gram)
        total, d_own, d_cross = 0.0, np.zeros_like(own), np.zeros_like(cross)
        d_diagonal, codes = np.zeros(len(gram)), []
        for part, formulation, problem in self._coded(own, cross, gram):
            if self._counts_prior(formulation, problem, part.codes):
                found = formulation.sensitivity(problem, part.codes)
            else:
                found = Sensitivity.of_error(problem, part.codes)
            total += found.value
            d_own[part.rows] += found.self_similarity
            assign(d_cross, part, found.cross)
            d_diagonal[part.atoms] += found.diagonal
            codes.append(widened(found.codes, part.atoms, len(gram)))
        d_gram = 0.5 * second_moment(stacked(codes))
        d_gram[np.diag_indices_from(d_gram)] += d_diagonal
        n = len(own)
        ratio = total / n / spread
        d_gram = (d_gram / n - ratio * d_spread) / spread
        scale = 1.0 / (n * spread)
        gradient = self._contract(kernel, clipping, d_own * scale, d_cross * scale, d_gram)
        value, gradient = self._regularised(actual, ratio, gradient)
        if not (np.isfinite(value) and np.isfinite(gradient).all()):
            raise NotFinite
        return value, gradient

    def _arrays(
        self, theta: NDArray
    ) -> tuple[Kernel, Clipping | None, tuple[NDArray, NDArray, NDArray]]:
        """The kernel at theta, its clipping, and the arrays of the coding problem."""
        kernel = self.kernel.with_theta(theta)
        arrays = (kernel.profile(part) for part in (self.among, self.between, self.own))
        among, between, own = (np.asarray(part, np.float64) for part in arrays)
        if not all(np.isfinite(part).all() for part in (among, between, own)):
            raise NotFinite
        clipping = None
        if kernel.is_positive_definite is not True:
            clipping = Clipping(among, between, own)
            among, between, own = clipping.apply()
        gram, cross = self._of_atoms(among, between)
        return kernel, clipping, (own, cross, gram)

    def _coded(
        self, own: NDArray, cross: NDArray, gram: NDArray
    ) -> Iterator[tuple[Part, Formulation, CodingProblem]]:
        """Every part with its formulation and problem, its codes renewed unless they are held."""
        total = Convergence()
        for part in self.parts:
            numbers = part.atoms if part.numbers is None else part.numbers
            formulation = self.formulation.for_atoms(numbers)
            square = pick(gram, part.atoms, part.atoms)
            block = pick(cross, part.rows, part.atoms)
            problem = CodingProblem(own[part.rows], block, square)
            if part.codes is None or not self.frozen:
                options = replace(self.options, start=part.codes)
                result = formulation.solve(problem, options)
                part.codes = result.codes
                total += result.convergence
            yield part, formulation, problem
        if total.n_unfinished > self.convergence.n_unfinished:
            self.convergence = total
        zeros = sum(zero_rows(part.codes).sum() for part in self.parts if part.codes is not None)
        self.silent = float(zeros) / len(own)
        if self.silent > self.most_silent:
            raise Vanishing

    @staticmethod
    def _spread(gram: NDArray) -> tuple[float, NDArray]:
        """Mean squared distance between atoms, and its derivative; must not be zero."""
        if len(gram) < 2:
            raise ValueError("One atom has no discrepancy: learning a kernel needs two or more.")
        spread, derivative = discrepancy(gram)
        if not spread > 0.0:
            raise Degenerate(
                "All atoms are the same point in the Hilbert space of the kernel: their "
                "discrepancy is zero and no kernel parameter can be learned."
            )
        return spread, derivative

    def _of_atoms(self, among: NDArray, between: NDArray) -> tuple[NDArray, NDArray]:
        """Inner products of atoms, and of samples and atoms, from those of landmarks."""
        if self.weights is None:
            return among, between
        return self.weights.T @ among @ self.weights, between @ self.weights

    def _contract(
        self,
        kernel: Kernel,
        clipping: Clipping | None,
        d_own: NDArray,
        d_cross: NDArray,
        d_gram: NDArray,
    ) -> NDArray:
        """Derivatives in the arrays of the problem become derivatives in theta."""
        if self.weights is not None:
            d_cross = d_cross @ self.weights.T
            d_gram = self.weights @ d_gram @ self.weights.T
        if clipping is not None:
            d_gram, d_cross, d_own = clipping.pull_back(d_gram, d_cross, d_own)
        return (
            kernel.derivative(self.own, d_own)
            + kernel.derivative(self.between, d_cross)
            + kernel.derivative(self.among, d_gram)
        )

    def _through_units(self, theta: NDArray, gradient: NDArray, pull: NDArray) -> None:
        """Add what the logs of the members' mean diagonals, worth ``pull`` each, contribute."""
        kernel = self.kernel.with_theta(theta)
        assert isinstance(kernel, MultipleKernel)
        members = zip(kernel.children, self.own, kernel.current_weights, strict=True)
        first, position = 0, 0
        for child, part, weight in members:
            last = first + len(child.theta)
            if weight > 0:
                slope = child.profile_gradient(part).mean(axis=0) / np.mean(child.profile(part))
                gradient[first:last] += pull[position] * slope
                position += 1
            first = last

    def _regularised(
        self, theta: NDArray, ratio: float, gradient: NDArray
    ) -> tuple[float, NDArray]:
        logs = theta[self.mixing]
        if not logs.size:
            return ratio, gradient
        shares = np.exp(logs + self.units)
        weight = self.settings.regularization
        if weight > 0.0:
            if self.scale is None:
                self.scale = ratio  # at the start: the weight then has no unit
            excess = logs + self.units + np.log(logs.size)
            ratio += weight * self.scale * float(shares @ excess)
            gradient[self.mixing] += weight * self.scale * shares * (1.0 + excess)
            self._through_units(theta, gradient, weight * self.scale * shares * (1.0 + excess))
        return ratio, self._through_shares(theta, gradient)

    def _through_shares(self, theta: NDArray, gradient: NDArray) -> NDArray:
        """A gradient in normalised parameters as one in those before."""
        logs = theta[self.mixing]
        if logs.size:
            shares = np.exp(logs + self.units)
            inner = gradient[self.mixing].copy()
            gradient[self.mixing] = inner - shares * inner.sum()
            self._through_units(theta, gradient, -shares * inner.sum())
        return gradient


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


def discrepancy(gram: NDArray) -> tuple[float, NDArray]:
    """Mean squared distance between different atoms in H, and its derivative in their Gram."""
    n = len(gram)
    pairs = n * (n - 1)
    value = 2.0 * (n * np.trace(gram) - gram.sum()) / pairs
    derivative = np.full((n, n), -2.0 / pairs)
    derivative[np.diag_indices(n)] += 2.0 * n / pairs
    return float(value), derivative
