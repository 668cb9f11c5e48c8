r"""Updates of the atoms for fixed codes.

They minimise :math:`\tfrac12\mathrm{tr}(S D^\top D) - \mathrm{tr}(M^\top D)`.

Codes that may be scaled freely (no constraint, non-negative, at most T atoms) need atoms of bounded
norm, or the prior would be cheated by large atoms and small codes. Codes that sum to one bound the
atoms themselves.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from ..frames import Frame
from ..sums import Sums

TOGETHER = 32  # atoms whose corrections are computed by one matrix product


def closed_form(frame: Frame, vectors: NDArray, sums: Sums) -> NDArray:
    r"""The paper's update :math:`D = M S^{+}`, without any bound on the norms.

    Atoms that no sample uses stay where they are.
    """
    used = np.flatnonzero(np.diag(sums.second) > 0)
    new = vectors.copy(order="F")
    if not used.size:
        return new
    second = sums.second[np.ix_(used, used)]
    moment = sums.moment[:, used]
    rest = np.setdiff1d(np.arange(vectors.shape[1]), used)
    if rest.size:  # zero unless the codes' support was trimmed after the sums were taken
        moment = moment - vectors[:, rest] @ sums.second[np.ix_(rest, used)]
    new[:, used] = times_inverse(moment, second)
    return new


def times_inverse(moment: NDArray, second: NDArray) -> NDArray:
    """``moment @ pinv(second)`` for a symmetric, positive semi-definite matrix."""
    scale = 1.0 / np.sqrt(np.diag(second))
    scaled = second * scale * scale[:, None]  # unit diagonal: rarely used atoms are not noise
    try:
        upper, _ = linalg.cho_factor(scaled, check_finite=False)
        if np.min(np.diag(upper)) > 1e-6:
            return _divided(np.asfortranarray(moment * scale), upper) * scale
    except linalg.LinAlgError:
        pass
    values, vectors = linalg.eigh(scaled)
    kept = values > 1e-12 * values[-1]
    half = (moment * scale) @ vectors[:, kept]
    return ((half / values[kept]) @ vectors[:, kept].T) * scale


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
