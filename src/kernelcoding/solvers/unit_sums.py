"""Codes that sum to one to the last bits, or are not called converged."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..codes import is_csr, row_sums
from .result import CodingResult

MENDED = 1e-6  # a sum that is off by no more is rounding of large multipliers, and is mended


def with_unit_sums(result: CodingResult) -> CodingResult:
    """Correct what rounding left of sums, each entry in proportion to its size.

    Where a multiplier is large against the Gram matrix, a solver's sums carry its rounding. Zeros
    stay zeros and signs stay; rows that are further off did not converge.
    """
    sizes = row_sums(abs(result.codes)).astype(np.float64)
    missing = 1.0 - row_sums(result.codes).astype(np.float64)
    rounding = 4.0 * float(np.finfo(result.codes.dtype).eps)
    off = np.abs(missing) > rounding * np.maximum(sizes, 1.0)
    if not off.any():
        return result
    mended = off & (np.abs(missing) <= MENDED * sizes)
    share = np.divide(missing, sizes, out=np.zeros_like(sizes), where=mended)
    codes = result.codes.copy()
    if is_csr(codes):
        shares = np.repeat(share, np.diff(codes.indptr))
        codes.data += (np.abs(codes.data) * shares).astype(codes.dtype)
    else:
        codes += (np.abs(codes) * share[:, None]).astype(codes.dtype)
    return replace(result, codes=codes, converged=result.converged & (mended | ~off))
