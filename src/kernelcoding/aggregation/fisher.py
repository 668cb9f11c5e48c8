"""Fisher vectors of a diagonal Gaussian mixture."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.decomposition import PCA
from sklearn.utils.validation import check_is_fitted

from .base import SetTransformer, descriptors_per_block, require_enough
from .mixtures import DiagonalMixture, MixtureSettings
from .normalization import check_normalization, normalized
from .sets import DescriptorSets, Sets, check_sets
from .vlad import fitted_pca, rotated


class FisherVector(SetTransformer):
    r"""Fisher vectors: the gradients of a Gaussian mixture's likelihood of a set.

    With posteriors :math:`\gamma_j(x)` under :math:`\sum_j w_j N(\mu_j,
    \mathrm{diag}(\sigma_j^2))`, and a set of n descriptors, the gradients of its mean
    log-likelihood, scaled by the (diagonal) inverse root of the Fisher information, are

    .. math::
        g_{w_j} &= \frac1{\sqrt{w_j}} \Bigl(\frac1n \sum_x \gamma_j(x) - w_j\Bigr) \\
        g_{\mu_j} &= \frac1{\sqrt{w_j}} \frac1n \sum_x \gamma_j(x) \frac{x - \mu_j}{\sigma_j} \\
        g_{\sigma_j} &= \frac1{\sqrt{2 w_j}} \frac1n \sum_x \gamma_j(x)
        \Bigl(\frac{(x - \mu_j)^2}{\sigma_j^2} - 1\Bigr)

    (operations on vectors by entries). The chosen gradients are joined, then come the power law
    :math:`\mathrm{sign}(g)|g|^p` and unit norm.

    Parameters
    ----------
    n_components : int, default=16
        Number of Gaussians.
    gradients : tuple of {"weights", "means", "variances"}, default=("means", "variances")
        Which parts the vector has, in this order.
    n_pca : int, default=None
        Principal components of the descriptors that are kept; None leaves descriptors as they
        are. A diagonal mixture fits descriptors without correlations better.
    power : float in (0, 1], default=0.5
        p; 1 changes nothing.
    norm : {"l2", "l1", "max"} or None, default="l2"
        Norm that the whole is scaled to.
    reg_covar : float, default=1e-6
        Added to the variances, as in scikit-learn.
    max_iter : int, default=100
        Largest number of rounds of EM.
    n_samples : int or None, default=100_000
        Number of descriptors, drawn from all training sets, that the mixture is learned from;
        None takes all.
    random_state : int, RandomState or None, default=0
        For the draw and for EM.

    Attributes
    ----------
    mixture_ : record
        ``weights`` (K,), ``means`` (K, d) and ``variances`` (K, d), after the PCA where there is
        one.
    pca_ : PCA or None
        Fitted.
    descriptor_shape_ : tuple
        Shape of one descriptor.

    Notes
    -----
    Perronnin and Dance, 2007; Perronnin, Sánchez and Mensink, 2010 (power law and norm). With
    ``power=1, norm=None`` the parts equal those of ``skimage.feature.fisher_vector``, except that
    the sign of its variance part is the opposite of the gradient's. Sums are in double precision.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from kernelcoding.aggregation import FisherVector
    >>> images = load_digits().images[:20]  # the eight rows of an image are its descriptors
    >>> FisherVector(n_components=3, random_state=0).fit_transform(images).shape
    (20, 48)
    """

    mixture_: DiagonalMixture
    pca_: PCA | None

    def __init__(
        self,
        n_components: int = 16,
        gradients: Sequence[str] = ("means", "variances"),
        n_pca: int | None = None,
        power: float = 0.5,
        norm: str | None = "l2",
        reg_covar: float = 1e-6,
        max_iter: int = 100,
        n_samples: int | None = 100_000,
        random_state: int | np.random.RandomState | None = 0,
    ) -> None:
        self.n_components = n_components
        self.gradients = gradients
        self.n_pca = n_pca
        self.power = power
        self.norm = norm
        self.reg_covar = reg_covar
        self.max_iter = max_iter
        self.n_samples = n_samples
        self.random_state = random_state

    def _check_parameters(self) -> None:
        MixtureSettings(self.n_components, self.reg_covar, self.max_iter).check()
        check_gradients(self.gradients, tuple(GRADIENTS))
        check_normalization(self.norm, self.power)

    def _learn(self, sample: NDArray, random_state: np.random.RandomState) -> int:
        require_enough(sample, "n_components", max(self.n_components, 2))
        self.pca_ = fitted_pca(self.n_pca, sample)
        points = rotated(self.pca_, sample)
        settings = MixtureSettings(self.n_components, self.reg_covar, self.max_iter)
        self.mixture_ = DiagonalMixture.fit(points, settings, random_state)
        nothing = PosteriorSums.none(1, self.mixture_)
        return joined_gradients(nothing, self.mixture_, self.gradients).shape[1]

    def _aggregate(self, sets: DescriptorSets) -> NDArray:
        return self._vectors(self._sums(sets))

    def _sums(self, sets: DescriptorSets) -> PosteriorSums:
        rows = descriptors_per_block(2 * self.mixture_.means.shape[1] + self.n_components)
        points = ((rotated(self.pca_, b.descriptors), b.owners) for b in sets.blocks(rows))
        return PosteriorSums.of(points, len(sets), self.mixture_)

    def _vectors(self, sums: PosteriorSums) -> NDArray:
        vectors = joined_gradients(sums, self.mixture_, self.gradients)
        return normalized(vectors, self.power, self.norm)

    def transform_unions(self, X: Sets, unions: Sequence[Sequence[int]]) -> NDArray:
        """One vector per union of sets; the posteriors of a set's descriptors are computed once.

        Parameters
        ----------
        X : list of arrays of shape (n_i, d), or of records with ``descriptors``
            The sets.
        unions : sequence of sequences of int
            Which sets belong together; a set may be in several, and one without descriptors gives
            zero.

        Returns
        -------
        vectors : array of shape (n_unions, n_features_out)
            In the precision of the descriptors.
        """
        check_is_fitted(self, "_n_features_out")
        sets = check_sets(X, ndim=self._descriptor_ndim(), shape=self.descriptor_shape_)
        unknown = {number for union in unions for number in union}.difference(range(len(sets)))
        if unknown:
            raise ValueError(
                f"unions must hold numbers of sets from 0 to {len(sets) - 1}, "
                f"got {sorted(unknown)}."
            )
        if not len(unions):
            return np.empty((0, self._n_features_out), dtype=sets.dtype)
        vectors = self._vectors(self._sums(sets).joined(unions))
        return vectors.astype(sets.dtype, copy=False)


def check_gradients(gradients: Sequence[str], known: tuple[str, ...]) -> tuple[str, ...]:
    """Names of gradients as a tuple, or ValueError."""
    names = () if isinstance(gradients, str) or not np.iterable(gradients) else tuple(gradients)
    if not names or any(name not in known for name in names):
        raise ValueError(f"gradients must be a tuple of names among {known}, got {gradients!r}.")
    return names


@dataclass(frozen=True, slots=True)
class PosteriorSums:
    """All that the gradients of sets are made of."""

    counts: NDArray  # (n_sets,)  number of points
    mass: NDArray  # (n_sets, K)  sums of posteriors
    first: NDArray  # (n_sets, K, d)  sums of points, weighted
    second: NDArray  # (n_sets, K, d)  sums of squares, weighted

    @classmethod
    def none(cls, n_sets: int, mixture: DiagonalMixture) -> PosteriorSums:
        """Before any point."""
        shape = (n_sets, *mixture.means.shape)
        return cls(np.zeros(n_sets), np.zeros(shape[:2]), np.zeros(shape), np.zeros(shape))

    def joined(self, unions: Sequence[Sequence[int]]) -> PosteriorSums:
        """Of unions of the sets."""
        members = np.zeros((len(unions), len(self.counts)))
        for union, numbers in enumerate(unions):
            members[union, list(numbers)] = 1.0
        parts = (self.counts, self.mass, self.first, self.second)
        return PosteriorSums(*(np.tensordot(members, part, axes=1) for part in parts))

    @classmethod
    def of(
        cls, blocks: Iterable[tuple[NDArray, NDArray]], n_sets: int, mixture: DiagonalMixture
    ) -> PosteriorSums:
        """From blocks of points and the set of each, in order."""
        sums = cls.none(n_sets, mixture)
        width = mixture.means.shape[1]
        for points, owners in blocks:
            powers = np.empty((len(points), 2 * width))
            powers[:, :width] = points
            np.square(powers[:, :width], out=powers[:, width:])
            posteriors = mixture.posteriors(powers)
            present, starts, sizes = np.unique(owners, return_index=True, return_counts=True)
            sums.counts[present] += sizes
            sums.mass[present] += np.add.reduceat(posteriors, starts, axis=0)
            for owner, start, size in zip(present, starts, sizes, strict=True):
                own = slice(start, start + size)
                moments = posteriors[own].T @ powers[own]
                sums.first[owner] += moments[:, :width]
                sums.second[owner] += moments[:, width:]
        return sums


def weight_gradients(sums: PosteriorSums, mixture: DiagonalMixture) -> NDArray:
    """Gradients in the weights (through a softmax), (n_sets, K)."""
    count = np.maximum(sums.counts, 1)[:, None]
    there = (sums.counts > 0)[:, None]
    return (sums.mass / count - there * mixture.weights) / np.sqrt(mixture.weights)


def mean_gradients(sums: PosteriorSums, mixture: DiagonalMixture) -> NDArray:
    """Gradients in the means, (n_sets, K, d)."""
    gradients = sums.first - sums.mass[:, :, None] * mixture.means
    gradients /= np.sqrt(mixture.weights[:, None] * mixture.variances)
    gradients /= np.maximum(sums.counts, 1)[:, None, None]
    return gradients


def variance_gradients(sums: PosteriorSums, mixture: DiagonalMixture) -> NDArray:
    """Gradients in the standard deviations, (n_sets, K, d)."""
    gradients = sums.second - 2.0 * mixture.means * sums.first
    gradients += sums.mass[:, :, None] * (mixture.means**2 - mixture.variances)
    gradients /= np.sqrt(2.0 * mixture.weights)[:, None] * mixture.variances
    gradients /= np.maximum(sums.counts, 1)[:, None, None]
    return gradients


GRADIENTS: dict[str, Callable[[PosteriorSums, DiagonalMixture], NDArray]] = {
    "weights": weight_gradients,
    "means": mean_gradients,
    "variances": variance_gradients,
}


def joined_gradients(
    sums: PosteriorSums, mixture: DiagonalMixture, names: Sequence[str]
) -> NDArray:
    """The named gradients, one after the other, (n_sets, ...)."""
    n_sets = len(sums.counts)
    return np.hstack([GRADIENTS[name](sums, mixture).reshape(n_sets, -1) for name in names])
