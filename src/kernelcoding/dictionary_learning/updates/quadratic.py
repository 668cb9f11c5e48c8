r"""Updates of the atoms for fixed codes.

They minimise :math:`\tfrac12\mathrm{tr}(S D^\top D) - \mathrm{tr}(M^\top D)`.

Codes that may be scaled freely (no constraint, non-negative, at most T atoms) need atoms of bounded
norm, or the prior would be cheated by large atoms and small codes. Codes that sum to one bound the
atoms themselves.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from ..frames import Frame
from ..sums import SampleSums, Sums

TOGETHER = 32  # atoms whose corrections are computed by one matrix product
# Least pivots of a second moment of unit diagonal from which on it is divided by, and from which on
# it is inverted: what rounding does to an inverse raises the objective by its square.
DIVIDED, INVERTED = 1e-6, 1e-3


def closed_form(frame: Frame, vectors: NDArray, sums: Sums) -> NDArray:
    r"""The paper's update :math:`D = M S^{+}`, without any bound on the norms.

    Atoms that no sample uses stay where they are.
    """
    used = np.flatnonzero(np.diag(sums.second) > 0)
    if used.size == vectors.shape[1]:
        loads = sums.loads if isinstance(sums, SampleSums) else None
        return times_inverse(
            sums.moment, sums.second, lambda moment, by: frame.times(moment, by, loads)
        )
    new = vectors.copy(order="F")
    if not used.size:
        return new
    second = sums.second[np.ix_(used, used)]
    moment = sums.moment[:, used]
    rest = np.setdiff1d(np.arange(vectors.shape[1]), used)
    held = sums.second[np.ix_(rest, used)]
    if held.any():  # zero unless the codes' support was trimmed after the sums were taken
        moment = moment - vectors[:, rest] @ held
    new[:, used] = times_inverse(moment, second)
    return new


def _times(left: NDArray, right: NDArray) -> NDArray:
    return left @ right


def times_inverse(
    moment: NDArray, second: NDArray, multiply: Callable[[NDArray, NDArray], NDArray] = _times
) -> NDArray:
    """``moment @ pinv(second)`` for a symmetric, positive semi-definite matrix.

    Many rows are multiplied by an inverse where that is safe: a third of the time of a division,
    and less if somebody knows how to ``multiply`` these rows.
    """
    scaled, scale = _unit_diagonal(second)
    upper = _factor(scaled)
    if upper is not None and np.min(np.diag(upper)) > INVERTED and len(moment) > len(second):
        return multiply(moment, _inverse(upper) * scale * scale[:, None])
    if upper is not None:
        return _divided(np.asfortranarray(moment * scale), upper) * scale
    values, vectors = _spectrum(scaled)
    return (((moment * scale) @ vectors / values) @ vectors.T) * scale


def squares_over(rows: NDArray, second: NDArray) -> NDArray:
    """``x' pinv(second) x`` of each row x, for a symmetric, positive semi-definite matrix."""
    scaled, scale = _unit_diagonal(second)
    upper = _factor(scaled)
    if upper is None:
        values, vectors = _spectrum(scaled)
        half = (rows * scale) @ vectors / np.sqrt(values)
    else:
        (solve,) = linalg.get_blas_funcs(("trsm",), (upper, rows))
        half = solve(1.0, upper, np.asfortranarray(rows * scale), side=1, overwrite_b=1)
    found: NDArray = np.einsum("ij,ij->i", half, half)
    return found


def _unit_diagonal(second: NDArray) -> tuple[NDArray, NDArray]:
    """The matrix scaled so that rarely used atoms are not noise, and by what."""
    scale = 1.0 / np.sqrt(np.diag(second))
    return second * scale * scale[:, None], scale


def _factor(scaled: NDArray) -> NDArray | None:
    """An upper Cholesky factor that can be divided by, if there is one."""
    try:
        upper, _ = linalg.cho_factor(scaled, check_finite=False)
    except linalg.LinAlgError:
        return None
    return upper if np.min(np.diag(upper)) > DIVIDED else None


def _spectrum(scaled: NDArray) -> tuple[NDArray, NDArray]:
    """Eigenvalues and eigenvectors, as far as they are not rounding."""
    values, vectors = linalg.eigh(scaled)
    kept = values > 1e-12 * values[-1]
    return values[kept], vectors[:, kept]


def _inverse(upper: NDArray) -> NDArray:
    """``inv(U'U)``."""
    (invert,) = linalg.get_lapack_funcs(("potri",), (upper,))
    half = np.triu(invert(upper)[0])
    inverse: NDArray = half + np.triu(half, 1).T
    return inverse


def _divided(rows: NDArray, upper: NDArray) -> NDArray:
    """``rows @ inv(U'U)``: from the right, where the many rows lie well, in half of the time."""
    (solve,) = linalg.get_blas_funcs(("trsm",), (upper, rows))
    half = solve(1.0, upper, rows, side=1)
    found: NDArray = solve(1.0, upper, half, side=1, trans_a=1, overwrite_b=1)
    return found


def coordinate_descent(
    frame: Frame, vectors: NDArray, sums: Sums, bounded: bool, sweeps: int = 1
) -> NDArray:
    r"""Minimise over one atom after the other, each within the unit ball if ``bounded``.

    .. math:: d_r \leftarrow \Pi\Bigl(d_r + \frac{M_r - D S_r}{S_{rr}}\Bigr)

    Never raises the objective for fixed codes, with or without the bound.
    """
    second, moment = sums.second, sums.moment
    new = vectors.copy(order="F")
    n_atoms = new.shape[1]
    for _ in range(sweeps):
        for first in range(0, n_atoms, TOGETHER):
            members = np.arange(first, min(first + TOGETHER, n_atoms))
            pull = np.asfortranarray(moment[:, members] - new @ second[:, members])
            moves = np.zeros_like(pull)
            for c, r in enumerate(members):
                if second[r, r] <= 0.0:
                    continue
                missed = moves[:, :c] @ second[members[:c], r]  # what the last few moves changed
                atom = new[:, r] + (pull[:, c] - missed) / second[r, r]
                if bounded:
                    atom /= max(1.0, np.sqrt(frame.squares(atom)))
                moves[:, c] = atom - new[:, r]
                new[:, r] = atom
    return new
