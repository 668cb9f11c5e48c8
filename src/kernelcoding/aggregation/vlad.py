"""Vectors of locally aggregated descriptors."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA

from ..validation import check_count
from .base import SetTransformer, applied, descriptors_per_block, require_enough
from .normalization import check_normalization, normalized, unit_parts, without_rounding
from .residuals import SharedBlock, nearest_shares, residual_sums
from .sets import DescriptorSets


class VLAD(SetTransformer):
    r"""Vectors of locally aggregated descriptors: residuals from words, summed.

    With words :math:`\mu_1, \dots, \mu_K` by k-means and :math:`S_j` the descriptors of a set
    whose nearest word is j,

    .. math:: v_j = \sum_{x \in S_j} (x - \mu_j), \qquad j = 1, \dots, K

    The vector is (v_1, ..., v_K): each part scaled to unit norm if asked (intra-normalisation),
    then the power law :math:`\mathrm{sign}(v)|v|^p` on each entry, then unit norm of the whole.

    Parameters
    ----------
    n_words : int, default=16
        Number K of words.
    n_pca : int, default=None
        Principal components of the descriptors that are kept; None leaves descriptors as they
        are.
    intra_normalize : bool, default=False
        Whether each part is scaled to unit norm: words that many descriptors share (bursts) do
        not drown the others. The power law does much the same.
    power : float in (0, 1], default=0.5
        p; 1 changes nothing.
    norm : {"l2", "l1", "max"} or None, default="l2"
        Norm that the whole is scaled to.
    n_samples : int or None, default=100_000
        Number of descriptors, drawn from all training sets, that words are learned from; None
        takes all.
    random_state : int, RandomState or None, default=0
        For the draw and for k-means.

    Attributes
    ----------
    words_ : array of shape (n_words, d)
        After the PCA, where there is one.
    pca_ : PCA or None
        Fitted.
    descriptor_shape_ : tuple
        Shape of one descriptor.

    Notes
    -----
    Jégou et al., 2010; intra-normalisation: Arandjelović and Zisserman, 2013.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from kernelcoding.aggregation import VLAD
    >>> images = load_digits().images[:20]  # the eight rows of an image are its descriptors
    >>> VLAD(n_words=4, random_state=0).fit_transform(images).shape
    (20, 32)
    """

    words_: NDArray
    pca_: PCA | None

    def __init__(
        self,
        n_words: int = 16,
        n_pca: int | None = None,
        intra_normalize: bool = False,
        power: float = 0.5,
        norm: str | None = "l2",
        n_samples: int | None = 100_000,
        random_state: int | np.random.RandomState | None = 0,
    ) -> None:
        self.n_words = n_words
        self.n_pca = n_pca
        self.intra_normalize = intra_normalize
        self.power = power
        self.norm = norm
        self.n_samples = n_samples
        self.random_state = random_state

    def _check_parameters(self) -> None:
        check_count("n_words", self.n_words)
        check_normalization(self.norm, self.power)

    def _learn(self, sample: NDArray, random_state: np.random.RandomState) -> int:
        require_enough(sample, "n_words", self.n_words)
        self.pca_ = fitted_pca(self.n_pca, sample)
        self.words_ = vlad_words(rotated(self.pca_, sample), self.n_words, random_state)
        return self.words_.size

    def _aggregate(self, sets: DescriptorSets) -> NDArray:
        words = self.words_.astype(sets.dtype, copy=False)
        parts = residual_sums(self._blocks(sets, words), len(sets), words)
        without_rounding(parts, words, sets.sizes)
        if self.intra_normalize:
            unit_parts(parts)
        return normalized(parts.reshape(len(sets), -1), self.power, self.norm)

    def _blocks(self, sets: DescriptorSets, words: NDArray) -> Iterator[SharedBlock]:
        squares = np.einsum("ij,ij->i", words, words)
        for block in sets.blocks(descriptors_per_block(words.shape[1] + len(words))):
            points = rotated(self.pca_, block.descriptors)
            scores = points @ (-2.0 * words.T)
            scores += squares
            yield SharedBlock(points, block.owners, nearest_shares(scores))


def vlad_words(points: NDArray, n_words: int, random_state: np.random.RandomState) -> NDArray:
    """Words by k-means, (n_words, d)."""
    means = KMeans(n_words, n_init=1, random_state=random_state).fit(points)
    return means.cluster_centers_


def fitted_pca(n_pca: int | None, sample: NDArray) -> PCA | None:
    """The leading axes of the descriptors, or None where none are wanted."""
    if n_pca is None:
        return None
    check_count("n_pca", n_pca)
    most = min(sample.shape)
    if n_pca > most:
        raise ValueError(
            f"n_pca={n_pca} must be at most {most}: there are {len(sample)} descriptors of "
            f"{sample.shape[1]} numbers."
        )
    return PCA(n_pca, svd_solver="full").fit(sample)


def rotated(pca: PCA | None, descriptors: NDArray) -> NDArray:
    """Descriptors along the axes of a PCA, or as they are."""
    return descriptors if pca is None else np.asarray(applied(pca, descriptors))
