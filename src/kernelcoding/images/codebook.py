"""A codebook of visual words: learned by k-means, looked up by matrix products."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans, MiniBatchKMeans
from sklearn.preprocessing import normalize
from sklearn.utils import check_random_state

Seed: TypeAlias = int | np.random.RandomState | None
MANY_WORDS = 2000  # from which "auto" works in stages
SHARE = 5  # the first stage sees one descriptor in so many
COARSE_PASSES = 2  # more of them fit the part, not what comes after
FINE_PASSES = 3
BLOCK = 2**21  # scores held at a time: they stay in cache between the product and the choice


def root_frequencies(counts: NDArray) -> NDArray:
    """Square root of the l1-normalised histogram: a unit vector."""
    return np.sqrt(normalize(counts, "l1"))


NORMALIZATIONS: dict[str, Callable[[NDArray], NDArray]] = {
    "l1": lambda counts: normalize(counts, "l1"),
    "l2": lambda counts: normalize(counts, "l2"),
    "hellinger": root_frequencies,
    "none": np.asarray,
}


def lloyd(sample: NDArray, n_words: int, random_state: Seed) -> NDArray:
    """The whole sample in every pass, from a k-means++ start."""
    clustering = KMeans(n_words, n_init=1, max_iter=30, tol=1e-3, random_state=random_state)
    return clustering.fit(sample).cluster_centers_


def staged(
    sample: NDArray,
    n_words: int,
    random_state: Seed,
    share: int = SHARE,
    coarse_passes: int = COARSE_PASSES,
) -> NDArray:
    """A few passes over a part of the sample, then a few over all of it.

    For many words: a k-means++ start would cost more than two passes over everything, and random
    descriptors are as good a start here; most of the way is made by cheap passes over the part.
    """
    generator = check_random_state(random_state)
    size = min(len(sample), max(n_words, len(sample) // share))
    part = sample[generator.permutation(len(sample))[:size]]
    coarse = KMeans(
        n_words, init="random", n_init=1, max_iter=coarse_passes, random_state=generator
    ).fit(part)
    fine = KMeans(
        n_words,
        init=coarse.cluster_centers_,
        n_init=1,
        max_iter=FINE_PASSES,
        random_state=generator,
    ).fit(sample)
    return fine.cluster_centers_


def minibatch(sample: NDArray, n_words: int, random_state: Seed) -> NDArray:
    """Random batches of a few samples per word, until they stop improving."""
    clustering = MiniBatchKMeans(
        n_words,
        batch_size=max(4096, 2 * n_words),
        init_size=3 * n_words,
        n_init=1,
        max_iter=20,
        max_no_improvement=10,
        reassignment_ratio=0.0,
        compute_labels=False,
        random_state=random_state,
    )
    return clustering.fit(sample).cluster_centers_


Algorithm = Callable[[NDArray, int, Seed], NDArray]
ALGORITHMS: dict[str, Algorithm] = {"lloyd": lloyd, "staged": staged, "minibatch": minibatch}


def learn_words(
    sample: NDArray,
    n_words: int,
    algorithm: str,
    random_state: Seed,
    many_words: int = MANY_WORDS,
) -> NDArray:
    """Centres of k-means, (n_words, d) of float32."""
    if algorithm == "auto":
        algorithm = "lloyd" if n_words < many_words else "staged"
    centers = ALGORITHMS[algorithm](sample, n_words, random_state)
    return np.ascontiguousarray(centers, dtype=np.float32)


def nearest_words(descriptors: NDArray, words: NDArray, block: int = BLOCK) -> NDArray:
    """Index of the nearest word of each descriptor, (n,)."""
    half_norms = 0.5 * np.einsum("ij,ij->i", words, words)
    nearest = np.empty(len(descriptors), dtype=np.intp)
    rows = max(1, block // len(words))
    for start in range(0, len(descriptors), rows):
        scores = descriptors[start : start + rows] @ words.T
        scores -= half_norms
        nearest[start : start + rows] = scores.argmax(axis=1)
    return nearest


def count_words(descriptors: NDArray, words: NDArray) -> NDArray:
    """How many descriptors have each word as their nearest, (n_words,)."""
    return np.bincount(nearest_words(descriptors, words), minlength=len(words)).astype(np.float64)
