"""Words as unit vectors, whitened or as they are."""

from dataclasses import replace

import numpy as np

from kernelcoding.experiments.definition import Dataset
from kernelcoding.experiments.features.visual_words import (
    exact_root_frequencies,
    frequencies,
    whitened,
)
from kernelcoding.experiments.running.splitting import halves


def test_whitening_is_learned_in_the_training_part(rng):
    counts = rng.integers(0, 9, (40, 15)).astype(np.float32)
    dataset = Dataset(counts, np.arange(40) % 2, ("a", "b"))
    split = halves(2)(dataset, 0)
    np.testing.assert_array_equal(frequencies(dataset, split), exact_root_frequencies(counts))
    first = whitened(6, dataset, split)
    other = counts.copy()
    other[split.test] = 1.0
    second = whitened(6, replace(dataset, samples=other), split)
    np.testing.assert_allclose(first[split.train], second[split.train])
    assert first.shape == (40, 6)
    np.testing.assert_allclose(np.linalg.norm(first, axis=1), 1.0)
    # All directions of the training part weigh the same before rows are scaled to unit norm.
    histograms = exact_root_frequencies(counts)[split.train]
    centred = histograms - histograms.mean(axis=0)
    u, _, _ = np.linalg.svd(centred, full_matrices=False)
    expected = u[:, :6] / np.linalg.norm(u[:, :6], axis=1, keepdims=True)
    np.testing.assert_allclose(np.abs(first[split.train]), np.abs(expected), atol=1e-8)


def test_hellinger_histograms_are_unit_vectors(rng):
    counts = rng.integers(0, 5, (6, 9)).astype(np.float32)
    counts[2] = 0
    H = exact_root_frequencies(counts)
    np.testing.assert_allclose(np.linalg.norm(H, axis=1), np.arange(6) != 2)
    np.testing.assert_allclose(H[0] ** 2, counts[0] / counts[0].sum())
