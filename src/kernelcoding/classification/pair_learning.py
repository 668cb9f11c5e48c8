r"""The mathematics of dictionary pair learning: one class's samples, and the half-steps.

The objective of class k, with synthesis atoms :math:`D_k = \Phi(X_k) B_k`, codes :math:`A_k` and
analysis map :math:`P_k`, is

.. math:: \|\Phi(X_k) - D_k A_k\|^2 + \tau\|P_k\Phi(X_k) - A_k\|^2
          + \lambda\|P_k\Phi(\bar X_k)\|^2 + \gamma\|P_k\|^2

The best analysis map for given codes is linear in them, so that :math:`P_k\Phi(X_k) = A_k H_k` with
a matrix :math:`H_k` of class k that is computed once. All half-steps need it and the class's Gram
matrix, nothing else: their cost does not depend on the other classes, or on the kernel.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from ..dictionary import PointDictionary
from ..dictionary_learning.loop import HalfStep
from ..long_calls import eigh
from ..parallel import map_blocks, wait_for
from ..stacks import in_memory

SWEEPS = 100  # over the atoms of a class, at most; a few are the rule
SMALL = 1e-8  # of the squared norms of the samples: a sweep that gains less is the last
BLOCK_SIZE = 2**20  # coordinates that are computed at a time


@dataclass(frozen=True, slots=True)
class Weights:
    r"""Weights of the terms of the objective: :math:`\tau`, :math:`\lambda`, :math:`\gamma`."""

    analysis: float
    separation: float
    ridge: float


@dataclass(frozen=True, slots=True)
class ClassSamples:
    """Samples of one class, or as many vectors with the same sums of squares and products."""

    gram: NDArray  # (r, r) their inner products
    shrinkage: NDArray  # (r, r) H: the analysis map takes them to A H
    first: NDArray  # (r, m) first atoms as combinations of them, of unit norm
    analysis: Callable[[NDArray], NDArray]  # codes (m, r) -> rows of P over landmarks, (m, L)
    synthesis: Callable[[NDArray], NDArray]  # atoms (r, m) -> columns over landmarks, (L, m)


class ClassPair:
    """Codes, analysis map and atoms of one class; half-steps that minimise over one of them."""

    def __init__(self, samples: ClassSamples, weights: Weights):
        self.samples = samples
        self.tau = weights.analysis
        self.atoms = samples.first  # (r, m)
        self.seen = samples.gram @ self.atoms  # (r, m) similarities of samples and atoms
        self.source = np.zeros(self.atoms.T.shape)  # (m, r) the codes that P was made of: P is 0
        self.codes = self.source

    def code(self) -> float:
        r"""Codes: :math:`A = (D^\top D + \tau I)^{-1}(\tau P\Phi(X) + D^\top\Phi(X))`."""
        inner = self.atoms.T @ self.seen + self.tau * np.eye(self.atoms.shape[1])
        right = self.tau * (self.source @ self.samples.shrinkage) + self.seen.T
        self.codes = np.linalg.solve(inner, right)
        return self.objective()

    def analyse(self) -> float:
        r"""The analysis map: :math:`P = \tau A \Phi(X)^\top M^{-1}`, known by its codes."""
        self.source = self.codes
        return self.objective()

    def synthesise(self) -> float:
        """Atoms in the unit ball, one after the other until no sweep gains: least squares."""
        spread, gram = self.codes @ self.codes.T, self.samples.gram
        atoms, seen = self.atoms.copy(), self.seen.copy()
        enough = SMALL * float(np.trace(gram))
        for _ in range(SWEEPS):
            gained = 0.0
            for j in np.flatnonzero(np.diag(spread) > 0):
                new = atoms[:, j] + (self.codes[j] - atoms @ spread[j]) / spread[j, j]
                image = gram @ new
                norm = max(1.0, np.sqrt(max(float(new @ image), 0.0)))
                new, image = new / norm, image / norm
                gained += spread[j, j] * float((new - atoms[:, j]) @ (image - seen[:, j]))
                atoms[:, j], seen[:, j] = new, image
            if gained <= enough:
                break
        self.atoms, self.seen = atoms, seen
        return self.objective()

    def objective(self) -> float:
        r"""The four terms.

        With the map made of codes :math:`A_o`, its own terms
        :math:`\lambda\|P\Phi(\bar X)\|^2 + \gamma\|P\|^2` are
        :math:`\tau\,\mathrm{tr}\,A_o(H - H^2)A_o^\top`.
        """
        spread = self.codes @ self.codes.T
        error = np.trace(self.samples.gram) - 2.0 * np.sum(self.seen.T * self.codes)
        error += np.sum((self.atoms.T @ self.seen) * spread)
        mapped = self.source @ self.samples.shrinkage
        missed = np.sum((mapped - self.codes) ** 2)
        own = np.sum(mapped * self.source) - np.sum(mapped**2)
        return float(error + self.tau * (missed + own))


class PairLearner:
    """Takes the half-steps of all classes, several at a time where asked."""

    def __init__(self, pairs: list[ClassPair], n_samples: int, n_jobs: int | None):
        self.pairs = pairs
        self.n_samples = n_samples
        self.n_jobs = n_jobs

    def _each(self, step: Callable[[ClassPair], float]) -> float:
        objectives = map_blocks(
            lambda one: step(self.pairs[one.start]), len(self.pairs), 1, self.n_jobs
        )
        return sum(objectives) / self.n_samples

    def code(self) -> float:
        """Codes of all classes."""
        return self._each(ClassPair.code)

    @property
    def steps(self) -> list[HalfStep]:
        """One round, as published: the analysis maps, the atoms, the codes."""
        return [
            ("analysis", lambda: self._each(ClassPair.analyse)),
            ("atoms", lambda: self._each(ClassPair.synthesise)),
            ("codes", self.code),
        ]

    def snapshot(self) -> list[tuple[NDArray, NDArray]]:
        """Codes and atoms of each class."""
        return [(pair.codes, pair.atoms) for pair in self.pairs]


# Samples of classes ----------------------------------------------------------------------------


def of_samples(
    points: PointDictionary, members: list[NDArray], chosen: list[NDArray], weights: Weights
) -> list[ClassSamples]:
    r"""Classes whose atoms and maps are combinations of all n samples.

    With :math:`G = (\lambda K + \gamma I)^{-1}`, the map of a class that takes its samples for
    codes is made of :math:`G_{k\cdot}` and :math:`W_k = (G K)_{kk}`: one inverse of an (n, n)
    matrix serves all classes.
    """
    gram = points.facts.double
    inverse = _ridge_inverse(gram, weights)
    found = []
    for rows, first in zip(members, chosen, strict=True):
        own, images = gram[np.ix_(rows, rows)], inverse[rows]
        atoms = _unit_columns(np.eye(len(rows))[:, first], own)
        back = partial(_spread_out, rows, len(gram))
        found.append(_of_class(own, images @ gram[:, rows], images, atoms, back, weights))
    return found


def _spread_out(rows: NDArray, n_samples: int, columns: NDArray) -> NDArray:
    """Combinations of some samples as combinations of all."""
    over_all = np.zeros((n_samples, columns.shape[1]))
    over_all[rows] = columns
    return over_all


def of_landmarks(
    points: PointDictionary,
    X: NDArray,
    members: list[NDArray],
    chosen: list[NDArray],
    weights: Weights,
) -> list[ClassSamples]:
    r"""Classes whose atoms and maps are combinations of few landmarks.

    In orthonormal coordinates F of the landmarks' span, a class is known by the sums
    :math:`F_k^\top F_k` alone: where it has more samples than there are coordinates, as many
    vectors :math:`C_k` with the same sums stand in for them. With
    :math:`G = (\lambda F^\top F + \gamma I)^{-1}` the rest is as for all samples, with
    :math:`C_k G` for :math:`G_{k\cdot}` and :math:`W_k = C_k G C_k^\top`.
    """
    basis = points.facts.orthonormal_basis()

    def coordinates(rows: NDArray) -> NDArray:
        return points.cross(in_memory(X[rows])).astype(np.float64) @ basis

    factors = [_factor(coordinates, rows, basis.shape[1]) for rows in members]
    total = sum(factor.T @ factor for factor in factors)
    inverse = _ridge_inverse(np.asarray(total), weights)
    found = []
    for factor, rows, first in zip(factors, members, chosen, strict=True):
        own, images = factor @ factor.T, factor @ inverse
        if len(factor) == len(rows):
            atoms = np.eye(len(rows))[:, first]
        else:  # rows of the factor are orthogonal
            atoms = factor @ coordinates(rows[first]).T / np.diag(own)[:, None]
        back = partial(np.matmul, basis @ factor.T)
        images_back = images @ basis.T
        atoms = _unit_columns(atoms, own)
        found.append(_of_class(own, images @ factor.T, images_back, atoms, back, weights))
    return found


def _factor(coordinates: Callable[[NDArray], NDArray], rows: NDArray, size: int) -> NDArray:
    """Coordinates of a class, or as few vectors with the same sums of products, (r, size)."""
    if len(rows) <= size:
        return coordinates(rows)
    sums = np.zeros((size, size))
    step = max(16, BLOCK_SIZE // max(size, 1))
    for start in range(0, len(rows), step):
        block = coordinates(rows[start : start + step])
        sums += block.T @ block
    values, axes = eigh(sums)
    kept = values > size * np.finfo(np.float64).eps * max(values[-1], 0.0)
    return np.sqrt(values[kept])[:, None] * axes[:, kept].T


def _of_class(
    own: NDArray,
    explained: NDArray,
    images: NDArray,
    atoms: NDArray,
    synthesis: Callable[[NDArray], NDArray],
    weights: Weights,
) -> ClassSamples:
    r"""By the formula of Woodbury, from what all classes share.

    :math:`H_k = \tau(I + (\tau - \lambda)W_k)^{-1} W_k`, and the map of codes A is
    :math:`\tau A(I + (\tau - \lambda)W_k)^{-1}` times the images.
    """
    explained = 0.5 * (explained + explained.T)
    inner = np.eye(len(own)) + (weights.analysis - weights.separation) * explained
    shrinkage = weights.analysis * np.linalg.solve(inner, explained)

    def analysis(codes: NDArray) -> NDArray:
        return weights.analysis * np.linalg.solve(inner, codes.T).T @ images

    return ClassSamples(own, 0.5 * (shrinkage + shrinkage.T), atoms, analysis, synthesis)


def _ridge_inverse(products: NDArray, weights: Weights) -> NDArray:
    """Inverse of weighted products plus the ridge, where an interrupt is heard."""
    ridged = weights.separation * products
    ridged[np.diag_indices_from(ridged)] += weights.ridge
    return wait_for(partial(np.linalg.inv, ridged))


def _unit_columns(columns: NDArray, gram: NDArray) -> NDArray:
    """Combinations of unit norm in H; zero ones stay zero."""
    norms = np.sqrt(np.maximum(np.einsum("ij,ij->j", columns, gram @ columns), 0.0))
    return columns * np.divide(1.0, norms, out=np.zeros_like(norms), where=norms > 0)
