r"""Atoms that are combinations of samples, :math:`\Phi(Z)A`."""

from __future__ import annotations

from functools import cached_property

from numpy.typing import NDArray

from ..problem import CodingProblem
from .base import Dictionary
from .points import PointDictionary


class CombinationDictionary(Dictionary):
    r"""Atoms that are combinations of landmarks, :math:`\Phi(D) = \Phi(Z) A`.

    Parameters
    ----------
    landmarks : PointDictionary
        Z, as a dictionary of points.
    weights : array of shape (n_landmarks, N)
        A, one column per atom.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelcoding.dictionary import CombinationDictionary, PointDictionary
    >>> from kernelcoding.kernels import Linear
    >>> landmarks = PointDictionary(Linear(), np.array([[0.0, 1.0], [2.0, 0.0]]))
    >>> CombinationDictionary(landmarks, np.array([[0.5], [0.5]])).gram  # of their mean
    array([[1.25]])
    """

    def __init__(self, landmarks: PointDictionary, weights: NDArray):
        self.landmarks = landmarks
        self.weights = weights
        self.kernel = landmarks.kernel

    def _described(self) -> list[str]:
        return [f"{self.n_atoms} atoms", f"of {self.landmarks.n_atoms} landmarks"]

    @property
    def n_atoms(self) -> int:
        """Number of atoms, without their Gram matrix."""
        return self.weights.shape[1]

    @cached_property
    def gram(self) -> NDArray:
        """Inner products of the atoms, (N, N)."""
        gram = self.weights.T @ self.landmarks.facts.times(self.weights)
        return 0.5 * (gram + gram.T)

    def similarities(self, X: NDArray) -> tuple[NDArray, NDArray]:
        """``k(x, x)`` of shape (n,) and the cross-similarities of shape (n, N)."""
        self_similarity, cross = self.landmarks.similarities(X)
        return self_similarity, cross @ self.weights.astype(cross.dtype, copy=False)

    def problem(self, X: NDArray) -> CodingProblem:
        """The problem of coding samples; it keeps their similarities to the landmarks."""
        own, similarity = self.landmarks.similarities(X)
        return CombinationProblem(self, own, similarity)


class CombinationProblem(CodingProblem):
    """Samples and atoms that are combinations of landmarks.

    Parameters
    ----------
    dictionary : CombinationDictionary
    self_similarity : array of shape (n,)
    similarity : array of shape (n, n_landmarks)
        Of samples and landmarks.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelcoding.dictionary import CombinationDictionary, PointDictionary
    >>> from kernelcoding.kernels import Linear
    >>> landmarks = PointDictionary(Linear(), np.array([[0.0, 1.0], [2.0, 0.0]]))
    >>> dictionary = CombinationDictionary(landmarks, np.array([[0.5], [0.5]]))
    >>> dictionary.problem(np.array([[1.0, 1.0]])).cross
    array([[1.5]])
    """

    def __init__(
        self, dictionary: CombinationDictionary, self_similarity: NDArray, similarity: NDArray
    ):
        cross = similarity @ dictionary.weights.astype(similarity.dtype, copy=False)
        super().__init__(self_similarity, cross, facts=dictionary.facts)
        self.similarity = similarity
