"""The sums over samples that the half-step for atoms needs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..codes import Codes, weighted
from ..formulations import Formulation
from ..problem import CodingProblem
from .frames import Frame


@dataclass(frozen=True, slots=True)
class Sums:
    r"""All that the update of atoms asks of the samples.

    For fixed codes the objective is, up to a constant,

    .. math:: q(D) = \tfrac12\,\mathrm{tr}(S\,D^\top D) - \mathrm{tr}(M^\top D), \qquad
              S = Y^\top Y, \quad M = \Phi(X) Y.
    """

    moment: NDArray  # (p, N) coordinates of M
    second: NDArray  # (N, N) S
    n_samples: float  # their weights, summed

    @classmethod
    def none(cls, vectors: NDArray) -> Sums:
        """The sums over no samples, for atoms like these."""
        return cls(np.zeros_like(vectors), np.zeros((vectors.shape[1],) * 2), 0.0)

    def faded(self, factor: float) -> Sums:
        """The same samples, counting less."""
        return Sums(factor * self.moment, factor * self.second, factor * self.n_samples)

    def plus(self, other: Sums) -> Sums:
        """The sums over both sets of samples."""
        return Sums(
            self.moment + other.moment,
            self.second + other.second,
            self.n_samples + other.n_samples,
        )

    def value(self, frame: Frame, vectors: NDArray) -> float:
        """Q at these atoms, a mean over samples."""
        linear = np.trace(frame.inner(self.moment, vectors))
        return float(0.5 * np.sum(self.second * frame.gram(vectors)) - linear) / self.n_samples

    def alone(self) -> Sums:
        """What may be kept when the samples are gone."""
        return Sums(self.moment, self.second, self.n_samples)


@dataclass(frozen=True, slots=True)
class SampleSums(Sums):
    """The sums over samples that are at hand: M is just Phi(X) P."""

    loads: Codes  # (n, N) P


@dataclass(frozen=True, slots=True)
class Loads:
    r"""What samples add to the moment and to the diagonal of S where the prior looks at atoms.

    Locality priors are functions of the distances :math:`\|\phi(x_i) - d_j\|`. Their gradient in
    :math:`d_j` is :math:`\sum_i h_{ij}(d_j - \phi(x_i))`, as that of a quadratic with weights h:

    * local coordinate coding is such a quadratic, :math:`h = 2\alpha|y|`, and the update is exact;
    * for the penalty of exact LLC, h depends on the distances. The update of atoms then goes in a
      descent direction, and the caller checks how far.
    """

    loads: Codes  # (n, N) Y + h
    extra: NDArray  # (N,) never negative; added to the diagonal of S
    pull: NDArray  # (N,) how much of extra holds atoms where they are, beyond the sum of h

    @classmethod
    def of(
        cls,
        formulation: Formulation,
        problem: CodingProblem,
        codes: Codes,
        sample_weight: NDArray | None = None,
    ) -> Loads:
        """Of the codes of some samples, each times its weight."""
        weights = formulation.distance_weights(problem, codes)
        codes = weighted(codes, sample_weight)
        if weights is None:
            nothing = np.zeros(codes.shape[1])
            return cls(codes, nothing, nothing)
        weights = weighted(weights, sample_weight)
        totals = np.asarray(weights.sum(axis=0)).ravel()
        extra = np.asarray(abs(weights).sum(axis=0)).ravel()  # negative weights bend as much
        return cls(codes + weights, extra, extra - totals)
