r"""Soft bag of words: codes are a function of the atoms, so the true objective has a gradient.

.. math:: L(D) = \frac1n\sum_i \tfrac12\|\phi(x_i) - D\,y(x_i, D)\|^2, \qquad
          y_{ij} \propto \exp(2\sigma(\langle\phi(x_i), d_j\rangle - \tfrac12\|d_j\|^2))

With :math:`q_i = D^\top(D y_i - \phi(x_i))` and :math:`u_i = y_i \circ (q_i - \langle y_i, q_i
\rangle)`, the gradient is :math:`\Phi(X)P + D\,T` with :math:`P = (2\sigma U - Y)/n` and
:math:`T = (Y^\top Y - 2\sigma\,\mathrm{diag}(U^\top 1))/n`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from ...codes import Codes
from ...formulations import Formulation
from ...kernels import Kernel
from ...problem import CodingProblem
from ...solvers.result import Options
from ..frames import Frame, SampleBlock
from ..state import Candidate
from ..sums import Sums
from .base import Update

STEPS = 10  # L-BFGS iterations in one half-step


class GradientUpdate(Update):
    """A few steps along the gradient through the codes, for codes that follow the atoms."""

    name = "gradient"
    learns_online = True

    @classmethod
    def check(cls, formulation: Formulation, kernel: Kernel) -> None:
        """Only codes that depend smoothly on the atoms have such a gradient."""
        if not formulation.follows_atoms:
            raise ValueError(
                'update="gradient" is for KernelBagOfWords(assignment="soft", n_neighbors=None), '
                'whose codes depend on the atoms; use update="auto".'
            )

    def candidates(self, frame: Frame, now: Candidate, sums: Sums) -> Iterator[Candidate]:
        """The atoms a few steps further."""
        yield now.with_atoms(descend_atoms(frame, now.vectors, self.formulation))

    def from_sums(self, frame: Frame, vectors: NDArray, sums: Sums) -> NDArray:
        """The atoms a few steps further: the samples are read again, the sums say little."""
        return descend_atoms(frame, vectors, self.formulation)


@dataclass(frozen=True, slots=True)
class Slope:
    """What some samples add to the objective and to its gradient."""

    value: float
    image: NDArray  # (n_landmarks, N)
    mix: NDArray  # (N, N)
    loads: NDArray | None  # (n, N) where all samples are one block

    def plus(self, other: Slope) -> Slope:
        """What both add."""
        image, mix = self.image + other.image, self.mix + other.mix
        return Slope(self.value + other.value, image, mix, None)


def slope_of_block(
    block: SampleBlock, gram: NDArray, formulation: Formulation, keep: bool
) -> Slope:
    """What a block adds."""
    problem = CodingProblem(block.self_similarity, block.cross, gram)
    codes = formulation.solve(problem, Options()).codes
    value, loads, part = _sums(formulation, problem, codes, block.weight)
    return Slope(value, block.similarity.T @ loads, 2.0 * part, loads if keep else None)


def value_and_gradient(
    frame: Frame, vectors: NDArray, formulation: Formulation
) -> tuple[float, NDArray]:
    """The mean objective and its gradient in H, in the frame's coordinates."""
    state = (frame.gram(vectors), formulation, frame.keeps_samples)
    found = frame.map_reduce(slope_of_block, vectors, state, Slope.plus)
    gradient = frame.coordinates(found.image, found.loads) + vectors @ found.mix
    return found.value / frame.total_weight, gradient / frame.total_weight


def _sums(
    formulation: Formulation, problem: CodingProblem, codes: Codes, weight: NDArray | None
) -> tuple[float, NDArray, NDArray]:
    """The objective and its derivatives in cross-similarities and in the Gram matrix.

    Sensitivities are sums over samples: samples of equal weight are asked about together.
    """
    if weight is None:
        found = formulation.sensitivity(problem, codes)
        return found.value, found.cross, found.gram
    value, loads, mix = 0.0, np.zeros(problem.cross.shape), np.zeros(problem.gram.shape)
    weights, starts = np.unique(np.sort(weight), return_index=True)
    for each, rows in zip(weights, np.split(np.argsort(weight), starts[1:]), strict=True):
        if each == 0.0:
            continue
        found = formulation.sensitivity(problem.take(rows), codes[rows])
        value += each * found.value
        loads[rows] = each * found.cross
        mix += each * found.gram
    return value, loads, mix


def descend_atoms(frame: Frame, vectors: NDArray, formulation: Formulation) -> NDArray:
    """A few steps of L-BFGS on all atoms; never a higher objective.

    Coordinates of a sample frame are not orthonormal. There the step is taken along the span of
    atoms and gradients in H: the optimiser sees orthonormal coordinates of the samples' span.
    """
    chart = Chart(frame)

    def function(flat: NDArray) -> tuple[float, NDArray]:
        value, gradient = value_and_gradient(frame, chart.vectors(flat), formulation)
        return value, chart.gradient(gradient)

    start = chart.flat(vectors)
    before = function(start)[0]
    found = minimize(function, start, jac=True, method="L-BFGS-B", options={"maxiter": STEPS})
    return chart.vectors(found.x) if found.fun < before else vectors


class Chart:
    """Orthonormal coordinates, flattened, for an optimiser that knows only plain vectors."""

    def __init__(self, frame: Frame):
        self.frame = frame
        self.root: NDArray | None = None
        matrix = getattr(frame, "kernel_matrix", None)
        if matrix is not None:
            spectrum = frame.landmarks.facts.spectrum
            kept = spectrum.values > 1e-12 * spectrum.values[-1]
            self.values = np.sqrt(spectrum.values[kept])
            self.root = spectrum.vectors[:, kept]

    def flat(self, vectors: NDArray) -> NDArray:
        """Orthonormal coordinates of atoms."""
        if self.root is None:
            return np.asarray(vectors).ravel()
        n = self.frame.n_samples
        return ((self.root.T @ vectors[n:]) / self.values[:, None]).ravel()

    def vectors(self, flat: NDArray) -> NDArray:
        """Atoms in the frame's coordinates."""
        if self.root is None:
            return np.asfortranarray(flat.reshape(self.frame.dimension, -1))
        columns = flat.reshape(len(self.values), -1)
        weights = self.root @ (columns / self.values[:, None])
        image = self.root @ (columns * self.values[:, None])
        return np.asfortranarray(np.vstack([weights, image]))

    def gradient(self, gradient: NDArray) -> NDArray:
        """A gradient in H becomes one in orthonormal coordinates as atoms do."""
        return self.flat(gradient)
