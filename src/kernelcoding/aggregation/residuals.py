r"""Sums of weighted residuals: what VLAD and the mean gradients of Fisher vectors have in common.

Descriptor x has share r_j(x) in word j; the statistic of a set S is, for each word,

.. math:: v_j(S) = \sum_{x \in S} r_j(x)\,(x - \mu_j)
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse


class SharedBlock(NamedTuple):
    """Some points, in the order of their sets, and their shares in the words."""

    points: NDArray  # (n, d)
    owners: NDArray  # (n,) the set of each
    shares: sparse.csr_array  # (n, n_words)


def nearest_shares(scores: NDArray) -> sparse.csr_array:
    """A share of one in the word of the smallest score, (n, n_words)."""
    labels = scores.argmin(axis=1)
    n_rows, n_words = scores.shape
    ones = np.ones(n_rows, dtype=scores.dtype)
    return sparse.csr_array((ones, labels, np.arange(n_rows + 1)), shape=(n_rows, n_words))


def segments_of(shares: sparse.csr_array, owners: NDArray) -> NDArray:
    """For each share the number of its word, with the words of each set apart."""
    return np.repeat(owners * shares.shape[1], np.diff(shares.indptr)) + shares.indices


def share_totals(shares: sparse.csr_array, owners: NDArray, n_sets: int) -> NDArray:
    """Sums of shares over the points of each set, (n_sets, n_words)."""
    n_words = shares.shape[1]
    totals = np.bincount(segments_of(shares, owners), shares.data, n_sets * n_words)
    return totals.reshape(n_sets, n_words)


def residual_sums(blocks: Iterable[SharedBlock], n_sets: int, words: NDArray) -> NDArray:
    """Weighted residuals from each word, (n_sets, n_words, d).

    Parameters
    ----------
    blocks : iterable of SharedBlock
    n_sets : int
    words : array of shape (n_words, d)
    """
    n_words, width = words.shape
    sums = np.zeros((n_sets, n_words, width), dtype=words.dtype)
    for points, owners, shares in blocks:
        own = slice(owners[0], owners[-1] + 1)
        owners, n_own = owners - own.start, own.stop - own.start
        rows = np.repeat(np.arange(len(points)), np.diff(shares.indptr))
        entries = (shares.data, (segments_of(shares, owners), rows))
        collect = sparse.csr_array(entries, shape=(n_own * n_words, len(points)))
        if shares.nnz == len(points) and np.all(np.diff(shares.indptr) == 1):
            # One word each: taken off before sums are, whose rounding grows with their terms.
            apart = points - words[shares.indices]
            sums[own] += (collect @ apart).reshape(n_own, n_words, width)
            continue
        sums[own] += (collect @ points).reshape(n_own, n_words, width)
        totals = share_totals(shares, owners, n_own)[:, :, None]
        sums[own] -= totals.astype(words.dtype) * words
    return sums
