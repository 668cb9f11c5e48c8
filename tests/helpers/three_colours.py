"""Samples of three classes that lie beside each other."""

import numpy as np

NAMES = np.array(["blue", "green", "red"])


def three_colours(n):
    """Samples and their labels."""
    rng = np.random.default_rng(5)
    X, numbers = rng.normal(size=(n, 6)), rng.integers(3, size=n)
    X[:, 0] += 2.5 * numbers
    return X, NAMES[numbers]
