"""Codes that are at least as good as the library's may claim: every support and sign, solved.

A truth need not be trusted here. Whatever feasible code is found, by whatever means, its objective
is an upper bound of the least one; what it is better by is computed in extended precision, and in
exact arithmetic before anybody is blamed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, product

import numpy as np
from numpy.typing import NDArray

from .families import Arrays
from .terms import Long, Terms

# Shrinkage relative to the diagonal: codes of moderate size where the smallest are enormous.
SHRINKAGE = (0.0, 2.0**-42, 2.0**-30)
LARGEST_ENUMERATED = 4


@dataclass(frozen=True)
class Sets:
    """The facts of a constraint."""

    nonnegative: bool = False
    sum_to_one: bool = False
    n_nonzero: int | None = None  # of AtMost
    one_atom: bool = False


def candidates(arrays: Arrays, terms: Terms, sets: Sets) -> NDArray:
    """Stationary codes of every support and sign, made feasible, (n, C, N)."""
    n, n_atoms = arrays.cross.shape
    if sets.one_atom:
        return np.broadcast_to(np.eye(n_atoms, dtype=Long), (n, n_atoms, n_atoms))
    found = [] if sets.sum_to_one else [np.zeros((n, 1, n_atoms), Long)]
    largest = n_atoms if sets.n_nonzero is None else min(sets.n_nonzero, n_atoms)
    for size in range(1, largest + 1):
        for support in combinations(range(n_atoms), size):
            for shrinkage in SHRINKAGE if size > 1 else SHRINKAGE[:1]:
                found.append(_stationary(arrays, terms, sets, np.array(support), shrinkage))
    return np.concatenate(found, axis=1)


def _stationary(
    arrays: Arrays, terms: Terms, sets: Sets, support: NDArray, shrinkage: float
) -> NDArray:
    """Codes on a support for all signs, (n, signs, N)."""
    n, n_atoms = arrays.cross.shape
    gram = arrays.gram[np.ix_(support, support)].astype(Long)
    shared = np.all(terms.ridge == terms.ridge[:1])
    ridge = terms.ridge[: 1 if shared else n, support].astype(Long)
    system = gram + np.eye(len(support)) * (ridge + shrinkage * np.diag(gram))[:, None, :]
    signed = not sets.nonnegative and bool(np.any(terms.l1[:, support]))
    signs = np.array(list(product([1, -1] if signed else [1], repeat=len(support))), Long)
    right = arrays.cross[:, None, support].astype(Long) - terms.l1[:, None, support] * signs
    if sets.sum_to_one:
        # y = e_0 + sum_j t_j (e_j - e_0): a problem without constraint in t.
        right = right - system[:, None, :, 0]
        reduced = system - system[:, :1, :] - system[:, :, :1] + system[:, :1, :1]
        moves = _solve(reduced[:, 1:, 1:], right[..., 1:] - right[..., :1])
        values = np.concatenate([1.0 - moves.sum(axis=-1, keepdims=True), moves], axis=-1)
    else:
        values = _solve(system, right)
    codes = np.zeros((n, len(signs), n_atoms), Long)
    codes[..., support] = feasible(values, sets)
    return codes


def feasible(values: NDArray, sets: Sets) -> NDArray:
    """Codes moved into the set, if they were not in it; NaN becomes something allowed."""
    values = np.where(np.isfinite(values).all(axis=-1, keepdims=True), values, 0.0)
    if sets.nonnegative:
        values = np.maximum(values, 0.0)
    if sets.sum_to_one:
        total = values.sum(axis=-1, keepdims=True)
        first = np.zeros(values.shape[-1], values.dtype)
        first[0] = 1.0
        values = np.where(total > 0.1, values / np.where(total > 0.1, total, 1.0), first)
    return values


def _solve(systems: NDArray, right: NDArray) -> NDArray:
    """Solutions of (n or 1, m, m) systems for (n, s, m) right sides; NaN where singular."""
    size = systems.shape[-1]
    lower = np.zeros_like(systems)
    with np.errstate(all="ignore"):
        for j in range(size):
            row = lower[:, j, :j]
            pivot = systems[:, j, j] - (row * row).sum(axis=-1)
            tiny = pivot <= 64 * np.finfo(Long).eps * systems[:, j, j]
            lower[:, j, j] = np.sqrt(np.where(tiny, np.nan, pivot))
            below = lower[:, j + 1 :, :j] @ row[..., None]
            lower[:, j + 1 :, j] = (systems[:, j + 1 :, j] - below[..., 0]) / lower[:, j, None, j]
        solution = np.array(np.broadcast_to(right, np.broadcast_shapes(right.shape)), Long)
        for j in range(size):
            known = (solution[..., :j] * lower[:, None, j, :j]).sum(axis=-1)
            solution[..., j] = (solution[..., j] - known) / lower[:, None, j, j]
        for j in range(size - 1, -1, -1):
            known = (solution[..., j + 1 :] * lower[:, None, j + 1 :, j]).sum(axis=-1)
            solution[..., j] = (solution[..., j] - known) / lower[:, None, j, j]
    return solution


def excess(arrays: Arrays, terms: Terms, codes: NDArray, others: NDArray) -> NDArray:
    """Objective of codes (n, N) above that of others (n, C, N), computed as one difference."""
    codes = codes[:, None, :].astype(Long)
    gram, cross = arrays.gram.astype(Long), arrays.cross[:, None, :].astype(Long)
    difference = codes - others
    slope = (0.5 * (codes + others)) @ gram - cross
    return (difference * slope).sum(axis=-1) + (terms.value(codes) - terms.value(others))


def size_of(arrays: Arrays, codes: NDArray) -> NDArray:
    """What rounding is relative to: ``||phi(x)|| + sum_j |y_j| ||phi(d_j)||``, (n, ...)."""
    own = np.sqrt(np.maximum(arrays.own, 0.0)).astype(Long)
    norms = np.sqrt(np.maximum(np.diag(arrays.gram), 0.0)).astype(Long)
    own = own.reshape(-1, *(1,) * (codes.ndim - 2))
    return own + (np.abs(codes) * norms).sum(axis=-1)


def supports(codes: NDArray) -> Iterator[tuple[NDArray, NDArray]]:
    """Rows with the same nonzeros, and which they are."""
    patterns, which = np.unique(codes != 0, axis=0, return_inverse=True)
    for number, pattern in enumerate(patterns):
        yield np.flatnonzero(which.ravel() == number), np.flatnonzero(pattern)
