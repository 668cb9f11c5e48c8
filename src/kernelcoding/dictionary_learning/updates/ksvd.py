r"""Kernel K-SVD: one atom and the codes that use it at a time (Van Nguyen et al., 2013).

With :math:`E` the residuals, without atom r, of the samples that use it, the best unit atom and its
codes are the leading singular pair of E. The exact form takes it from the small matrix of inner
products :math:`E^\top E`; the approximate form makes one step of the power method from the present
codes (Rubinstein et al., 2008).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse
from scipy.sparse.linalg import eigsh

from ...codes import dense, is_csr
from ...formulations import Formulation
from ...kernels import Kernel
from ..frames import Frame
from ..state import Candidate
from ..sums import Sums
from .base import Update

LARGE = 300  # matrices above this size give up their leading pair to Lanczos' method faster


class KSVDUpdate(Update):
    """Each atom and its codes together, by the leading singular pair of what they must explain."""

    name = "ksvd"
    approximate = False

    @classmethod
    def check(cls, formulation: Formulation, kernel: Kernel) -> None:
        """Only greedy codes have a support that can be held."""
        if not formulation.is_greedy:
            raise ValueError(
                f"update={cls.name!r} is for greedy codes: use KernelMatchingPursuit, or "
                'update="auto".'
            )

    def check_frame(self, frame: Frame) -> None:
        """All similarities must be in memory."""
        if not frame.keeps_samples:
            raise ValueError(
                f"update={self.name!r} needs all similarities in memory, too many for "
                f'{frame.n_samples} samples. Use update="auto" or fewer landmarks.'
            )

    def candidates(self, frame: Frame, now: Candidate, sums: Sums) -> Iterator[Candidate]:
        """One sweep over the atoms."""
        assert now.codes is not None
        vectors, codes = sweep(frame, now.vectors, dense(now.codes), self.approximate)
        compact = is_csr(now.codes)
        yield replace(now, vectors=vectors, codes=sparse.csr_array(codes) if compact else codes)


class ApproximateKSVDUpdate(KSVDUpdate):
    """The same with one step of the power method per atom."""

    name = "aksvd"
    approximate = True


def sweep(
    frame: Frame, vectors: NDArray, codes: NDArray, approximate: bool
) -> tuple[NDArray, NDArray]:
    """Update every used atom once, with its codes; which sample uses which atom stays.

    Parameters
    ----------
    frame : Frame
        Must keep its samples.
    vectors : array of shape (p, N)
        Atoms of unit norm.
    codes : array of shape (n, N)
        Dense codes.
    approximate : bool
        One power step instead of the leading singular pair.

    Returns
    -------
    vectors, codes : arrays
        New ones; the error is never higher than before.
    """
    gram = frame.gram(vectors).copy()
    cross = np.array(next(iter(frame.blocks(vectors))).cross, order="F")
    vectors, codes = vectors.copy(order="F"), codes.copy(order="F")
    weight = frame.sample_weight
    for atom in range(vectors.shape[1]):
        rows = np.flatnonzero(codes[:, atom])
        if weight is not None:  # others are coded anew anyway
            rows = rows[weight[rows] > 0]
        if rows.size == 0:
            continue
        part = codes[rows]
        part[:, atom] = 0.0
        partners = np.flatnonzero(part.any(axis=0))
        others = part[:, partners]
        # Residuals count by their weights: the pair is that of residuals times the roots.
        root = np.ones(len(rows)) if weight is None else np.sqrt(weight[rows])
        if approximate:
            direction = codes[rows, atom] * root**2
        else:
            direction = root * leading(
                np.outer(root, root)
                * residual_products(frame, rows, others, cross[np.ix_(rows, partners)],
                                    gram[np.ix_(partners, partners)]),
                codes[rows, atom],
            )  # fmt: skip
        new = frame.sum_of(rows, direction) - vectors[:, partners] @ (direction @ others)
        norm = np.sqrt(frame.squares(new))
        if not norm > 0.0:
            continue
        new /= norm
        vectors[:, atom] = new
        cross[:, atom] = frame.project(new)
        # The approximate form looks at pairs that share a sample only, the exact one at all.
        seen = np.append(partners, atom) if approximate else np.arange(len(gram))
        gram[seen, atom] = gram[atom, seen] = frame.inner(vectors[:, seen], new)
        codes[rows, atom] = cross[rows, atom] - others @ gram[partners, atom]
    return vectors, codes


def residual_products(
    frame: Frame, rows: NDArray, others: NDArray, cross: NDArray, gram: NDArray
) -> NDArray:
    """Inner products of the residuals of some samples, left by the other atoms."""
    mixed = others @ cross.T
    products = frame.kernel_of(rows) - mixed - mixed.T + others @ gram @ others.T
    return 0.5 * (products + products.T)


def leading(products: NDArray, start: NDArray) -> NDArray:
    """Leading eigenvector of a symmetric, positive semi-definite matrix."""
    n = len(products)
    if n <= LARGE or not (products @ start).any():  # the method cannot start there
        return linalg.eigh(products, subset_by_index=[n - 1, n - 1])[1][:, 0]
    return eigsh(products, k=1, v0=start, which="LA")[1][:, 0]
