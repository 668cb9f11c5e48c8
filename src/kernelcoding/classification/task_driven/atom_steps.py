r"""Steps of atoms along directions of H: momentum, and one second moment per atom.

Norms are taken in H, so that steps do not depend on the coordinates that atoms are kept in. A step
is an angle for atoms of unit norm, else a share of the atom's norm.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...dictionary_learning.frames import Frame
from ...dictionary_learning.state import unit_norms
from ...problem import CodingProblem

MOMENTUM, MEMORY = 0.9, 0.99
# Radian, of the largest steps. Long ones leave poor atoms, short ones keep what good atoms have.
ANGLES = (0.1, 0.03)


class AtomSteps:
    """Where atoms go.

    Parameters
    ----------
    frame : Frame
    unit : bool
        Whether atoms have unit norm.
    n_steps : int
        In all: steps grow in the first twentieth and then shrink like half a cosine.
    angle : float
        Of the largest step.
    """

    def __init__(self, frame: Frame, unit: bool, n_steps: int, angle: float):
        self.frame, self.unit, self.n_steps, self.angle = frame, unit, n_steps, angle
        self.taken = 0
        self._mean: NDArray | float = 0.0  # of gradients
        self._square: NDArray | float = 0.0  # of their norms

    @property
    def size(self) -> float:
        """Of the next step, as a share of the largest."""
        warm = max(self.n_steps // 20, 1)
        if self.taken < warm:
            return (self.taken + 1) / warm
        return 0.5 * (1.0 + np.cos(np.pi * (self.taken - warm) / max(self.n_steps - warm, 1)))

    def gradient(
        self,
        vectors: NDArray,
        points: NDArray,
        problem: CodingProblem,
        cross: NDArray,
        gram: NDArray,
    ) -> NDArray:
        """Directions of atoms in H, along the sphere where they have unit norm."""
        found = atom_gradient(vectors, points, cross, gram)
        if self.unit:
            found = found - vectors * np.diag(self.frame.inner(vectors, found))
        return found

    def squares(self, gradient: NDArray) -> NDArray:
        """Squared norms in H of directions."""
        return self.frame.squares(gradient)

    def move(self, vectors: NDArray, change: NDArray) -> NDArray:
        """Atoms after a change, a share of their norms."""
        if not self.unit:
            return np.asfortranarray(vectors - change * np.sqrt(self.frame.squares(vectors)))
        return np.asfortranarray(unit_norms(self.frame, vectors - change, vectors)[0])

    def take(self, vectors: NDArray, gradient: NDArray) -> NDArray:
        """The atoms after one step against a gradient, both in coordinates of the frame."""
        share = self.size
        self.taken += 1
        self._mean = MOMENTUM * self._mean + (1.0 - MOMENTUM) * gradient
        self._square = MEMORY * self._square + (1.0 - MEMORY) * self.squares(gradient)
        mean = self._mean / (1.0 - MOMENTUM**self.taken)
        size = np.sqrt(self._square / (1.0 - MEMORY**self.taken))
        scale = np.where(size > 0.0, self.angle * share / np.where(size > 0.0, size, 1.0), 0.0)
        return self.move(vectors, mean * scale)


def atom_gradient(vectors: NDArray, points: NDArray, cross: NDArray, gram: NDArray) -> NDArray:
    """Gradient in H with respect to atoms, in coordinates, from derivatives in similarities.

    Parameters
    ----------
    vectors : array of shape (p, N)
        Atoms.
    points : array of shape (p, n)
        Samples.
    cross : array of shape (n, N)
        Derivatives in inner products of samples and atoms.
    gram : array of shape (N, N), symmetric
        Derivatives in inner products of atoms.
    """
    return points @ cross + vectors @ (2.0 * gram)
