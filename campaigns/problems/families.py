"""Families of coding problems whose three arrays are exact: vectors of integers, scaled by powers
of two.

What is stored is then the true problem, positive semidefinite and consistent to the last bit, and a
certificate has no rounding of the kernel to hide behind. Families that cannot be exact (Gaussian
kernels of atoms 1e-9 apart, clipped indefinite matrices) say so.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray


@dataclass(frozen=True)
class Arrays:
    """The arrays of the seam."""

    own: NDArray  # (n,)
    cross: NDArray  # (n, N)
    gram: NDArray  # (N, N)


def _vectors(rng: Generator, count: int, size: int, largest: int) -> NDArray:
    return rng.integers(-largest, largest + 1, (count, size))


def _products(atoms: NDArray, samples: NDArray) -> Arrays:
    """Inner products, exact: every sum stays below 2**53."""
    arrays = Arrays((samples * samples).sum(axis=1), samples @ atoms.T, atoms @ atoms.T)
    assert max(np.abs(part).max() for part in (arrays.own, arrays.cross, arrays.gram)) < 2**53
    return Arrays(*(part.astype(float) for part in (arrays.own, arrays.cross, arrays.gram)))


def _samples(rng: Generator, atoms: NDArray, count: int, largest: int) -> NDArray:
    """Anything, combinations of atoms, atoms themselves, and the origin."""
    samples = _vectors(rng, count, atoms.shape[1], largest)
    kind = rng.integers(0, 8, count)
    mixed = rng.integers(-1, 2, (count, len(atoms)))
    samples = np.where((kind < 2)[:, None], np.clip(mixed @ atoms, -largest, largest), samples)
    samples = np.where((kind == 2)[:, None], atoms[rng.integers(0, len(atoms), count)], samples)
    return np.where((kind == 3)[:, None] & (rng.random(count) < 0.2)[:, None], 0, samples)


def well_conditioned(rng: Generator, n: int, n_atoms: int) -> Arrays:
    """More features than atoms."""
    atoms = _vectors(rng, n_atoms, n_atoms + 2, 1000)
    return _products(atoms, _samples(rng, atoms, n, 1000))


def singular(rng: Generator, n: int, n_atoms: int) -> Arrays:
    """Fewer features than atoms."""
    atoms = _vectors(rng, n_atoms, max(1, n_atoms - 1 - int(rng.integers(0, 2))), 1000)
    return _products(atoms, _samples(rng, atoms, n, 1000))


def duplicate(rng: Generator, n: int, n_atoms: int) -> Arrays:
    """Atoms that occur twice, turned round, doubled, or are zero."""
    atoms = _vectors(rng, n_atoms, n_atoms + 1, 500)
    for _ in range(int(rng.integers(1, 3))):
        first, second = rng.integers(0, n_atoms, 2)
        atoms[second] = atoms[first] * rng.choice([1, 1, -1, 2, 0])
    return _products(atoms, _samples(rng, atoms, n, 1000))


def near_duplicate(rng: Generator, n: int, n_atoms: int) -> Arrays:
    """Atoms 1e-7 to 1e-4 apart: in these products every bit of the distance is there."""
    shift = 2 ** int(rng.integers(8, 15))
    atoms = _vectors(rng, n_atoms, n_atoms + int(rng.integers(0, 2)), 1000) * shift
    sign = int(rng.choice([1, 1, -1]))
    atoms[-1] = sign * atoms[0] + rng.integers(-3, 4, atoms.shape[1])
    return _products(atoms, _samples(rng, atoms, n, 1000 * shift))


def mixed_norms(rng: Generator, n: int, n_atoms: int) -> Arrays:
    """Norms of atoms over nine decades."""
    arrays = rng.choice([well_conditioned, singular, duplicate])(rng, n, n_atoms)
    return scaled(arrays, rng.integers(-15, 16, n_atoms), 0)


def any_scale(rng: Generator, n: int, n_atoms: int) -> Arrays:
    """Similarities of 1e-150 to 1e150."""
    arrays = rng.choice([well_conditioned, singular, duplicate, near_duplicate])(rng, n, n_atoms)
    return scaled(arrays, np.zeros(n_atoms, int), int(rng.integers(-245, 236)))


def single_precision(rng: Generator, n: int, n_atoms: int) -> Arrays:
    """Numbers that are exact in float32."""
    atoms = _vectors(rng, n_atoms, n_atoms + int(rng.integers(-1, 3)) or 1, 60)
    if n_atoms > 1 and rng.random() < 0.3:
        atoms[-1] = atoms[0] + rng.integers(-1, 2, atoms.shape[1])
    arrays = _products(atoms, _samples(rng, atoms, n, 200))
    return Arrays(*(part.astype(np.float32) for part in (arrays.own, arrays.cross, arrays.gram)))


def gaussian(rng: Generator, n: int, n_atoms: int) -> Arrays:
    """A Gaussian kernel of atoms 1e-9 to 1e-4 apart; rounded, as every such matrix is."""
    atoms = rng.normal(size=(n_atoms, 2))
    atoms[-1] = atoms[0] + 10.0 ** rng.uniform(-9, -4) * rng.normal(size=2)
    samples, gamma = rng.normal(size=(n, 2)), 10.0 ** rng.uniform(-1, 1)

    def kernel(first: NDArray, second: NDArray) -> NDArray:
        return np.exp(-gamma * ((first[:, None] - second[None]) ** 2).sum(axis=-1))

    return Arrays(np.ones(n), kernel(samples, atoms), kernel(atoms, atoms))


def indefinite(rng: Generator, n: int, n_atoms: int) -> Arrays:
    """A symmetric matrix with negative eigenvalues: estimators clip it and say so."""
    gram = rng.normal(size=(n_atoms, n_atoms))
    gram = 0.5 * (gram + gram.T)
    np.fill_diagonal(gram, np.abs(np.diag(gram)) + 0.5)
    return Arrays(np.ones(n), rng.normal(size=(n, n_atoms)), gram)


def scaled(arrays: Arrays, exponents: NDArray, exponent: int) -> Arrays:
    """Atoms times ``2**exponents``, and atoms and samples times ``2**exponent``: exact."""
    atoms = exponents + exponent
    return Arrays(
        np.ldexp(arrays.own, 2 * exponent),
        np.ldexp(arrays.cross, atoms[None, :] + exponent),
        np.ldexp(arrays.gram, atoms[:, None] + atoms[None, :]),
    )


FAMILIES = {
    family.__name__: family
    for family in (
        well_conditioned,
        singular,
        duplicate,
        near_duplicate,
        mixed_norms,
        any_scale,
        single_precision,
        gaussian,
        indefinite,
    )
}
ROUNDED = ("gaussian", "indefinite")  # what is stored is not exactly a kernel's
