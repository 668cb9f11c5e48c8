r"""Inner products of residual sums in H, exactly, through kernel values.

With shares r_j and words :math:`\mu_j \in H`, and
:math:`v_j(S) = \sum_{x \in S} r_j(x)(\phi(x) - \mu_j)`,

.. math::
    \langle v_j(S), v_j(T)\rangle = \sum_{x \in S}\sum_{z \in T} r_j(x) r_j(z) k(x, z)
    - m_j(S) n_j(T) - n_j(S) m_j(T) + n_j(S) n_j(T) \|\mu_j\|^2

where :math:`n_j(S) = \sum_x r_j(x)` and :math:`m_j(S) = \sum_x r_j(x) \langle\phi(x),
\mu_j\rangle`. Scaling a part of a set's vector scales its shares, so that normalisations by parts
and of the whole are factors a(S, j), known from the squared norms alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ..dictionary import Dictionary
from ..kernels.base import Kernel, Prepared, take
from .residuals import share_totals
from .sets import DescriptorBlock, DescriptorSets

ROWS = 2048  # descriptors per block: one block of kernel values then takes at most 32 MB
ROUNDING = 1e-7  # norms below this fraction of the largest word are rounding: roots of 1e-14

# From inner products with the words, the squared norms of these and the number of descriptors in
# the set of each row, to shares.
Assign = Callable[[NDArray, NDArray, NDArray], sparse.csr_array]


@dataclass(frozen=True, slots=True)
class PreparedBlock:
    """Some descriptors, prepared, with their shares in the words."""

    prepared: Prepared
    owners: NDArray  # (n,)
    shares: sparse.csc_array  # (n, n_words)


class ResidualSets:
    """Sets of descriptors as sums of residuals in H.

    Parameters
    ----------
    sets : DescriptorSets
    words : Dictionary
        The words; they know the kernel.
    assign : callable
        Makes the shares of a block.
    """

    def __init__(self, sets: DescriptorSets, words: Dictionary, assign: Assign) -> None:
        self.sets = sets
        self.kernel = words.kernel
        self.word_squares = np.diag(words.gram)
        self.shares: list[sparse.csr_array] = []
        shape = (len(sets), words.n_atoms)
        self.mass, self.pull = np.zeros(shape), np.zeros(shape)
        for block in sets.blocks(ROWS):
            cross = words.cross(block.descriptors.astype(np.float64, copy=False))
            shares = assign(cross, self.word_squares, sets.sizes[block.owners])
            self.shares.append(shares)
            pulls = sparse.csr_array(shares.multiply(cross))
            own = slice(block.owners[0], block.owners[-1] + 1)
            owners, n_own = block.owners - own.start, own.stop - own.start
            self.mass[own] += share_totals(shares, owners, n_own)
            self.pull[own] += share_totals(pulls, owners, n_own)

    def parts(self, first: int = 0) -> Iterator[tuple[int, PreparedBlock]]:
        """Numbered blocks of descriptors, from the given one on."""
        for number, block in enumerate(self.sets.blocks(ROWS)):
            if number >= first:
                yield number, self._part(block, self.shares[number])

    def _part(self, block: DescriptorBlock, shares: sparse.csr_array) -> PreparedBlock:
        prepared = self.kernel.prepare(block.descriptors.astype(np.float64, copy=False))
        return PreparedBlock(prepared, block.owners, shares.tocsc())

    def squares(self) -> NDArray:
        """Squared norms of the sums, (n_sets, n_words), zero where they are rounding."""
        answer = self.word_squares * self.mass**2 - 2.0 * self.mass * self.pull
        if not self.shares:
            return answer
        shares = sparse.vstack(self.shares, format="csr")
        for index in np.flatnonzero(self.sets.sizes).tolist():
            own = shares[self.sets.offsets[index] : self.sets.offsets[index + 1]]
            blocks = self.sets.only(index).blocks(ROWS)
            parts = [self._part(block, own[block.rows]) for block in blocks]
            for left in parts:
                for right in parts:
                    for word, _, _, sums in matches(self.kernel, left, right):
                        answer[index, word] += sums[0, 0]
        least = ROUNDING**2 * self.word_squares.max() * np.maximum(self.mass, 1.0) ** 2
        return np.where(answer > least, answer, 0.0)


def matches(
    kernel: Kernel, left: PreparedBlock, right: PreparedBlock
) -> Iterator[tuple[int, NDArray, NDArray, NDArray]]:
    """For each word the sets on both sides, and ``r(x) r(z) k(x, z)`` summed over their pairs."""
    for word in range(left.shares.shape[1]):
        rows, left_sets, collect_left = _word_column(left, word)
        columns, right_sets, collect_right = _word_column(right, word)
        if len(rows) and len(columns):
            values = kernel.between(take(left.prepared, rows), take(right.prepared, columns))
            sums = collect_right @ (collect_left @ values).T
            yield word, left_sets, right_sets, sums.T


def _word_column(part: PreparedBlock, word: int) -> tuple[NDArray, NDArray, sparse.csr_array]:
    """Descriptors with a share in the word, their sets, and the matrix that sums over these."""
    own = slice(part.shares.indptr[word], part.shares.indptr[word + 1])
    rows, weights = part.shares.indices[own], part.shares.data[own]
    sets, starts = np.unique(part.owners[rows], return_index=True)  # rows are in order
    entries = (weights, np.arange(len(rows)), np.append(starts, len(rows)))
    return rows, sets, sparse.csr_array(entries, shape=(len(sets), len(rows)))


def residual_gram(
    left: ResidualSets, right: ResidualSets, intra_normalize: bool, norm: str | None
) -> NDArray:
    """Inner products of the vectors of sets, (n_left, n_right); symmetric if both are the same.

    Parameters
    ----------
    left, right : ResidualSets
    intra_normalize : bool
        Whether each part is scaled to unit norm.
    norm : {"l2", None}
        Whether the whole is.
    """
    same = left is right
    left_scale = part_scales(left, intra_normalize, norm)
    right_scale = left_scale if same else part_scales(right, intra_normalize, norm)
    gram = np.zeros((len(left.sets), len(right.sets)))
    for number, one in left.parts():
        for other_number, other in right.parts(number if same else 0):
            for word, rows, columns, sums in matches(left.kernel, one, other):
                scaled = left_scale[rows, word][:, None] * sums * right_scale[columns, word]
                gram[np.ix_(rows, columns)] += scaled
                if same and other_number > number:
                    gram[np.ix_(columns, rows)] += scaled.T
    mass, pull = left.mass * left_scale, left.pull * left_scale
    other_mass, other_pull = right.mass * right_scale, right.pull * right_scale
    gram += (mass * left.word_squares - pull) @ other_mass.T - mass @ other_pull.T
    return 0.5 * (gram + gram.T) if same else gram


def part_scales(sums: ResidualSets, intra_normalize: bool, norm: str | None) -> NDArray:
    """Factors that bring parts and wholes to unit norm, (n_sets, n_words)."""
    scales = np.ones_like(sums.mass)
    if not intra_normalize and norm is None:
        return scales
    squares = sums.squares()
    if intra_normalize:
        scales = np.divide(1.0, np.sqrt(squares), out=np.zeros_like(squares), where=squares > 0)
    if norm is not None:
        whole = np.sqrt((scales**2 * squares).sum(axis=1, keepdims=True))
        scales = np.divide(scales, whole, out=np.zeros_like(scales), where=whole > 0)
    return scales


def require_exact(kernel: Kernel, power: float, norm: str | None) -> None:
    """Refuse an exact Gram matrix of vectors that depend on coordinates."""
    if power != 1 or norm not in ("l2", None):
        raise ValueError(
            f"gram is exact in H, where a power law and norms other than l2 have no meaning: they "
            f"depend on coordinates. Got power={power!r} and norm={norm!r}; use power=1 and "
            'norm="l2" or None, or inner products of what transform returns.'
        )
    if kernel.is_positive_definite is False:
        raise ValueError(
            f"gram needs a positive definite kernel, {kernel!r} is not; use inner products of what "
            "transform returns, which are those of the positive part."
        )
