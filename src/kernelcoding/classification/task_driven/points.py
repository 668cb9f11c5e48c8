r"""Atoms that are points of the input space, for the Gaussian kernel.

A point u moved by v moves :math:`\phi(u)` by :math:`\sqrt{2\gamma}\,\|v\|`, whatever u is: a
multiple of the usual gradient is the steepest direction of H among those that points can take.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ...codes import Codes
from ...dictionary import Dictionary, PointDictionary
from ...dictionary_learning.frames import Frame, SampleBlock
from ...dictionary_learning.half_steps.point_learner import PointLearner
from ...kernels import Gaussian
from ...problem import CodingProblem
from .atom_steps import AtomSteps


class PointFrame(Frame):
    """A column is a point; its vector in H has norm one.

    Parameters
    ----------
    kernel : Gaussian
        Resolved.
    X : array of shape (n, d)
        The samples.
    sample_weight : array of shape (n,), default=None
    """

    keeps_samples = True

    def __init__(self, kernel: Gaussian, X: NDArray, sample_weight: NDArray | None = None):
        self.kernel, self.X = kernel, np.asarray(X, dtype=np.float64)
        self.landmarks = PointDictionary(kernel, self.X[:0])  # atoms are made of none
        self.n_samples, self.dimension = self.X.shape
        self.sample_weight = sample_weight

    @classmethod
    def of(cls, learner: PointLearner) -> PointFrame:
        """The samples of a learner."""
        return cls(learner.kernel, learner.samples, learner.sample_weight)

    @property
    def stack(self) -> NDArray:
        """Atoms are made of no landmarks: these are the samples."""
        return self.X

    def blocks(self, vectors: NDArray) -> Iterator[SampleBlock]:
        """All samples at once."""
        own, none = np.ones(self.n_samples), np.zeros((self.n_samples, 0))
        yield SampleBlock(slice(0, self.n_samples), own, none, self.inner(self.X.T, vectors))

    def coordinates(self, image: NDArray, loads: Codes | None) -> NDArray:
        """Zeros: sums of vectors of H are no points, and nobody needs them here."""
        return np.zeros((self.dimension, image.shape[1]))

    def inner(self, left: NDArray, right: NDArray) -> NDArray:
        """Kernel values of points."""
        return np.asarray(self.kernel(left.T, right.T))

    def squares(self, vectors: NDArray) -> NDArray:
        """One: norms in H."""
        return np.ones(vectors.shape[1:])

    def samples(self, rows: NDArray) -> NDArray:
        """The samples themselves."""
        return self.X[rows].T

    def outside(self, X: NDArray) -> tuple[NDArray, NDArray]:
        """Other samples as columns, and their squared norms in H."""
        return np.asarray(X, dtype=np.float64).T, np.ones(len(X))

    def dictionary(self, vectors: NDArray) -> Dictionary:
        """The points as atoms."""
        return PointDictionary(self.kernel, np.ascontiguousarray(vectors.T))


class PointSteps(AtomSteps):
    """Where points go: a step is an angle in H.

    Parameters
    ----------
    frame : PointFrame
    n_steps, angle
        As in :class:`AtomSteps`.
    """

    def __init__(self, frame: PointFrame, n_steps: int, angle: float):
        super().__init__(frame, False, n_steps, angle)
        self.gamma = float(frame.kernel.gamma)

    def gradient(
        self,
        vectors: NDArray,
        points: NDArray,
        problem: CodingProblem,
        cross: NDArray,
        gram: NDArray,
    ) -> NDArray:
        """Directions of points, the usual gradient over ``2 gamma``."""
        return point_gradient(vectors, points, problem, cross, gram)

    def squares(self, gradient: NDArray) -> NDArray:
        """Squared norms in H of directions."""
        return 2.0 * self.gamma * np.einsum("ij,ij->j", gradient, gradient)

    def move(self, vectors: NDArray, change: NDArray) -> NDArray:
        """Points have norm one wherever they are."""
        return np.asfortranarray(vectors - change)


def point_gradient(
    vectors: NDArray, points: NDArray, problem: CodingProblem, cross: NDArray, gram: NDArray
) -> NDArray:
    r"""Gradient in points :math:`u_j` over :math:`2\gamma`, from derivatives in similarities.

    .. math:: \sum_i c_{ij}\,k(x_i, u_j)\,(x_i - u_j) + 2\sum_l g_{jl}\,k(u_l, u_j)\,(u_l - u_j)

    Parameters
    ----------
    vectors, points, cross, gram
        As in :func:`~.atom_steps.atom_gradient`, columns being points.
    problem : CodingProblem
        The similarities.
    """
    by_sample, by_atom = cross * problem.cross, 2.0 * gram * problem.gram
    held = by_sample.sum(axis=0) + by_atom.sum(axis=0)
    return points @ by_sample + vectors @ by_atom - vectors * held
