"""What a prior costs, from its formula: nothing here looks at the library's penalties."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..base import Value
from .families import Arrays

Long = np.longdouble


@dataclass(frozen=True)
class Terms:
    """``sum_j l1_j |y_j| + 1/2 sum_j ridge_j y_j^2 + sum_g weight_g ||y_g||`` for each sample."""

    l1: NDArray  # (n, N)
    ridge: NDArray  # (n, N)
    labels: NDArray  # (N,) 0..G-1
    weights: NDArray  # (G,)
    relative: float = 0.0  # how well the weights are known: they are products and exponentials

    def value(self, codes: NDArray) -> NDArray:
        """The terms at codes (n, ..., N)."""
        shape = (len(self.l1), *(1,) * (codes.ndim - 2), self.l1.shape[1])
        l1, ridge = self.l1.reshape(shape), self.ridge.reshape(shape)
        total = (l1 * np.abs(codes) + 0.5 * ridge * codes * codes).sum(axis=-1)
        for group in np.flatnonzero(self.weights):
            total = total + self.weights[group] * norm(codes[..., self.labels == group])
        return total

    @property
    def has_groups(self) -> bool:
        """Whether some group has a weight."""
        return bool(np.any(self.weights))


def norm(points: NDArray) -> NDArray:
    """Euclidean norms of the last axis, without under- or overflow."""
    largest = np.abs(points).max(axis=-1, keepdims=True)
    safe = np.where(largest > 0, largest, 1.0)
    return (safe * np.sqrt(((points / safe) ** 2).sum(axis=-1, keepdims=True)))[..., 0]


def terms_of(prior: str, given: Mapping[str, Value], arrays: Arrays, alpha: float) -> Terms:
    """What ``alpha * r(y)`` means for every sample of a problem."""
    own, cross = arrays.own.astype(float), arrays.cross.astype(float)
    diagonal = np.diag(arrays.gram).astype(float)
    l1, ridge = np.zeros_like(cross), np.zeros_like(cross)
    labels, weights = np.zeros(cross.shape[1], int), np.zeros(1)
    distances = np.maximum(own[:, None] - 2.0 * cross + diagonal, 0.0)
    if prior == "Ridge":
        ridge += 1.0
    elif prior in ("L1", "Own"):
        l1 += 1.0
    elif prior == "WeightedL1":
        l1 += given["weights"]
    elif prior == "ElasticNet":
        l1 += given["l1_ratio"]
        ridge += 1.0 - given["l1_ratio"]
    elif prior in ("GroupL1", "SparseGroupL1"):
        ratio = given.get("l1_ratio", 0.0)
        labels = np.asarray(given["groups"])
        weights = given.get("weights")
        sizes = np.array([np.sum(labels == group) for group in range(labels.max() + 1)])
        weights = (1.0 - ratio) * (np.sqrt(sizes) if weights is None else np.asarray(weights))
        l1 += ratio
    elif prior == "Locality":
        distance = np.sqrt(distances)
        far = distance.max(axis=1, keepdims=True)
        ridge += 2.0 * np.exp(2.0 * given["sigma"] * distance / np.where(far > 0, far, 1.0))
    elif prior == "LocalCoordinate":
        l1 += distances
    # Weights made of distances have the precision of the distances.
    sigma = given["sigma"] if prior == "Locality" else 0.0
    looks = prior in ("Locality", "LocalCoordinate")
    precision = np.finfo(arrays.cross.dtype if looks else np.float64).eps
    relative = (64.0 + 8.0 * sigma) * float(precision)
    return Terms(alpha * l1, alpha * ridge, labels, alpha * weights, relative)
