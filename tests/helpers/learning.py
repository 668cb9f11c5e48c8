"""Samples, frames whose vectors are known, random codes, and what a history must look like."""

from dataclasses import dataclass
from functools import cache

import numpy as np
from sklearn.datasets import load_digits
from sklearn.preprocessing import normalize

from kernelcoding.dictionary import PointDictionary
from kernelcoding.dictionary_learning.frames import Frame, LandmarkFrame, SampleFrame
from kernelcoding.dictionary_learning.sums import Sums
from kernelcoding.kernels import Linear, Polynomial
from reference.features import quadratic_features


def digits(n, labels=False):
    """Images of unit norm."""
    X, y = (part[:n].copy() for part in _all_digits())
    return (X, y) if labels else X


@cache
def _all_digits():
    X, y = load_digits(return_X_y=True)
    return normalize(X), y


@dataclass(frozen=True)
class World:
    """A frame, and the same samples and landmarks as explicit vectors of its Hilbert space."""

    frame: Frame
    samples: np.ndarray  # (n, p), what the frame can see of them: projected on its span
    landmarks: np.ndarray  # (m, p)
    lost: np.ndarray  # (n,) squared norms of what the frame does not see

    def atoms(self, vectors):
        """Explicit atoms, one per row."""
        return self.frame.weights(vectors).T @ self.landmarks

    def vectors(self, loads):
        """Coordinates of combinations of the samples, and the explicit atoms."""
        return np.asfortranarray(self.frame.combine(loads)), loads.T @ self.samples

    def sums(self, codes):
        """What the updates are given."""
        return Sums(self.frame.combine(codes), codes.T @ codes, len(codes))

    def unit_vectors(self, rng, n_atoms):
        """Random atoms of unit norm."""
        loads = rng.normal(size=(len(self.samples), n_atoms))
        loads /= np.linalg.norm(loads.T @ self.samples, axis=1)
        return self.vectors(loads)


def world(kind, rng, n=30, d=3, n_landmarks=7):
    """``"<kernel>, <frame>"``: samples in three dimensions, features in three or ten."""
    kernel_name, frame_name = kind.split(", ")
    kernel = {"linear": Linear(), "quadratic": Polynomial(degree=2)}[kernel_name]
    lift = {"linear": np.array, "quadratic": quadratic_features}[kernel_name]
    X = 0.7 * rng.normal(size=(n, d))
    if frame_name == "samples":
        return World(
            SampleFrame(PointDictionary(kernel, X, np.arange(n))), lift(X), lift(X), np.zeros(n)
        )
    index = rng.choice(n, n_landmarks, replace=False)
    frame = LandmarkFrame(PointDictionary(kernel, X[index], index), X)
    seen = lift(X) @ np.linalg.pinv(lift(X[index])) @ lift(X[index])
    return World(frame, seen, lift(X[index]), ((lift(X) - seen) ** 2).sum(axis=1))


WORLDS = [
    f"{kernel}, {frame}" for kernel in ("linear", "quadratic") for frame in ("samples", "landmarks")
]


def sparse_codes(rng, n, n_atoms, n_nonzero=3):
    """Random codes with few entries per row, every atom in use."""
    codes = np.zeros((n, n_atoms))
    for row in range(n):
        support = rng.choice(n_atoms, n_nonzero, replace=False)
        codes[row, support] = rng.normal(size=n_nonzero)
    codes[np.arange(n_atoms), np.arange(n_atoms)] = 1.0
    return codes


def never_rises(history, tolerance=1e-10):
    """Whether no half-step raised the objective, up to rounding.

    Objectives are differences of numbers like k(x, x), here about one: 1e-14 is nothing.
    """
    history = np.asarray(history)
    return bool(np.all(np.diff(history) <= tolerance * np.abs(history[:-1]) + 1e-14))
