"""Counts of visual words of a list of images, and the two views that are made of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from sklearn.decomposition import PCA

from ..cache import depends_on
from ..definition import Dataset, Request, Split
from .training_images import drawn_images

if TYPE_CHECKING:
    from ...images import Masked

WHITENED_SHARE = 0.75  # 4000 of the 5360 training images of MIT Indoor


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """How images become words."""

    n_words: int
    step: int  # pixels between patches
    n_samples: int  # descriptors that k-means sees
    n_images: int  # images they are drawn from, at most
    max_side: int = 512


def counts_of_words(
    request: Request,
    vocabulary: Vocabulary,
    images: Sequence[str] | Sequence[Masked],
    paths: Sequence[str],
    among: NDArray,
) -> NDArray:
    """Counts (n, n_words), computed once.

    Parameters
    ----------
    request : Request
    vocabulary : Vocabulary
    images : sequence
        Paths or masked images.
    paths : sequence of str
        Files that the counts depend on.
    among : array of int
        Images that words may be learned from.

    Returns
    -------
    counts : (n, n_words) float32
    """
    return request.cache.array(
        f"words-{vocabulary.n_words}",
        depends_on((vocabulary, among.tolist()), paths),
        lambda: _count(vocabulary, images, among, request.n_jobs),
    )


def _count(
    vocabulary: Vocabulary,
    images: Sequence[str] | Sequence[Masked],
    among: NDArray,
    n_jobs: int | None,
) -> NDArray:
    from ...images import DenseRootSIFT, VisualWords

    extractor = DenseRootSIFT(step=vocabulary.step, max_side=vocabulary.max_side, n_jobs=n_jobs)
    words = VisualWords(
        vocabulary.n_words,
        extractor,
        normalization="none",
        n_samples=vocabulary.n_samples,
        random_state=0,
    )
    words.fit(drawn_images(images, among, vocabulary.n_images))
    return words.transform(images).astype(np.float32)


def exact_root_frequencies(counts: NDArray) -> NDArray:
    """Square roots of frequencies in double precision; an image without words is zero."""
    from ...images.codebook import root_frequencies

    return root_frequencies(counts.astype(np.float64))


def frequencies(dataset: Dataset, split: Split) -> NDArray:
    """Square roots of frequencies of words."""
    return exact_root_frequencies(dataset.samples)


def whitened(n_components: int, dataset: Dataset, split: Split) -> NDArray:
    """Square roots of frequencies, whitened, unit norm."""
    return whitened_histograms(exact_root_frequencies(dataset.samples), split, n_components)


def whitened_histograms(histograms: NDArray, split: Split, n_components: int) -> NDArray:
    """Histograms projected on principal components of the training part, whitened, unit norm."""
    training = histograms[split.train]
    most = int(WHITENED_SHARE * min(training.shape))
    pca = PCA(min(n_components, most), whiten=True, random_state=0).fit(training)
    projected = pca.transform(histograms)
    norms = np.linalg.norm(projected, axis=1, keepdims=True)
    return projected / np.where(norms > 0, norms, 1.0)
