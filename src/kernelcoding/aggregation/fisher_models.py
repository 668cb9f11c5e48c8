"""The two mixtures of kernel Fisher vectors, in landmark coordinates."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.decomposition import PCA

from .base import applied
from .coordinates import LandmarkCoordinates
from .fisher import GRADIENTS, PosteriorSums, check_gradients, joined_gradients
from .mixtures import DiagonalMixture, MixtureSettings, SharedMixture
from .residual_gram import ResidualSets
from .residuals import SharedBlock
from .sets import DescriptorSets

NOTHING = 1e-12  # posteriors below this are left out of sums: they add up to no more than that
# Similarities of descriptors to the landmarks and the set of each, in order.
Points = Iterable[tuple[NDArray, NDArray]]


class Model:
    """A mixture over vectors of H, and the gradients of its likelihood.

    Parameters
    ----------
    coordinates : LandmarkCoordinates
    sample : array of shape (n, dimension)
        Coordinates of descriptors to learn from.
    settings : MixtureSettings
    gradients : tuple of str
    n_axes : int or None
    random_state : RandomState
    """

    known: ClassVar[tuple[str, ...]]  # gradients that exist
    usual: ClassVar[tuple[str, ...]]  # those taken by default
    is_explicit: ClassVar[bool]  # whether vectors hold the gradients without loss
    n_features: int

    def __init__(
        self,
        coordinates: LandmarkCoordinates,
        sample: NDArray,
        settings: MixtureSettings,
        gradients: tuple[str, ...],
        n_axes: int | None,
        random_state: np.random.RandomState,
    ) -> None:
        raise NotImplementedError

    def vectors(self, points: Points, sizes: NDArray) -> NDArray:
        """Gradients of sets with these numbers of descriptors, (n_sets, n_features)."""
        raise NotImplementedError

    def in_space(self, sets: DescriptorSets) -> ResidualSets:
        """The gradients of sets as vectors of H."""
        raise NotImplementedError


class DiagonalModel(Model):
    """Variances along the principal axes of the sample in the landmarks' span."""

    known = tuple(GRADIENTS)
    usual = ("means", "variances")
    is_explicit = True

    def __init__(
        self,
        coordinates: LandmarkCoordinates,
        sample: NDArray,
        settings: MixtureSettings,
        gradients: tuple[str, ...],
        n_axes: int | None,
        random_state: np.random.RandomState,
    ) -> None:
        most = min(sample.shape)
        n_axes = most if n_axes is None else min(n_axes, most)
        self.gradients = gradients
        self.axes = PCA(n_axes, svd_solver="full").fit(sample)
        along = np.asarray(applied(self.axes, sample))
        self.mixture = DiagonalMixture.fit(along, settings, random_state)
        self._loads = coordinates.basis @ self.axes.components_.T
        self._origin = self.axes.mean_ @ self.axes.components_.T
        nothing = PosteriorSums.none(1, self.mixture)
        self.n_features = joined_gradients(nothing, self.mixture, gradients).shape[1]

    def vectors(self, points: Points, sizes: NDArray) -> NDArray:
        """Gradients along the axes."""
        along = ((seen @ self._loads - self._origin, owners) for seen, owners in points)
        sums = PosteriorSums.of(along, len(sizes), self.mixture)
        return joined_gradients(sums, self.mixture, self.gradients)


class SphericalModel(Model):
    """One variance for all: gradients in the means live in H, whatever its dimension."""

    known = ("means",)
    usual = ("means",)
    is_explicit = False

    def __init__(
        self,
        coordinates: LandmarkCoordinates,
        sample: NDArray,
        settings: MixtureSettings,
        gradients: tuple[str, ...],
        n_axes: int | None,
        random_state: np.random.RandomState,
    ) -> None:
        self.coordinates = coordinates
        self.mixture = SharedMixture.fit(sample, settings, random_state)
        self.dictionary = coordinates.dictionary(self.mixture.means)
        self.n_features = self.mixture.means.size

    def vectors(self, points: Points, sizes: NDArray) -> NDArray:
        """Gradients in landmark coordinates."""
        blocks = self._assigned(points, sizes)
        sums = self.coordinates.residual_sums(blocks, len(sizes), self.dictionary)
        return sums.reshape(len(sizes), -1)

    def in_space(self, sets: DescriptorSets) -> ResidualSets:
        """Residuals from the means, weighted by posteriors."""
        return ResidualSets(sets, self.dictionary, self._shares)

    def _assigned(self, points: Points, sizes: NDArray) -> Iterator[SharedBlock]:
        squares = np.diag(self.dictionary.gram)
        for similarities, owners in points:
            cross = similarities @ self.dictionary.weights
            yield SharedBlock(similarities, owners, self._shares(cross, squares, sizes[owners]))

    def _shares(self, cross: NDArray, squares: NDArray, sizes: NDArray) -> sparse.csr_array:
        """Posteriors, scaled by the Fisher information and the size of the set."""
        shares = self.mixture.posteriors(cross, squares)
        shares[shares < NOTHING] = 0.0
        shares /= np.sqrt(self.mixture.weights * self.mixture.variance)
        return sparse.csr_array(shares / sizes[:, None])


MODELS: dict[str, type[Model]] = {"diag": DiagonalModel, "spherical": SphericalModel}


def chosen_gradients(covariance: str, gradients: Sequence[str] | None) -> tuple[str, ...]:
    """The gradients that a mixture is asked for, or ValueError."""
    if covariance not in MODELS:
        raise ValueError(f"covariance must be one of {sorted(MODELS)}, got {covariance!r}.")
    model = MODELS[covariance]
    return model.usual if gradients is None else check_gradients(gradients, model.known)
