r"""The system of kernel ridge regression with the product kernel :math:`k(x, x')\,(y \cdot y')`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from ...codes import Codes, dense, times
from ...long_calls import factor_of_half, lower_half, solve_definite


class Regression(NamedTuple):
    """Kernel ridge regression with an intercept that costs nothing."""

    coefficients: NDArray  # (n, S)
    bias: NDArray  # (S,)
    left_out: NDArray | None = None  # (n, S) what each sample is predicted by the others


@dataclass(frozen=True, slots=True)
class ProductSystem:
    """A symmetric matrix whose entries are computed as they are asked for.

    Of many samples it is larger than what it is made of, and new memory costs more than the
    entries do.
    """

    codes: Codes  # (n, N)
    by_atom: NDArray  # (N, n) the same, dense
    kernel: NDArray  # (n, n)
    ridge: NDArray  # (n,) on the diagonal

    @classmethod
    def of(
        cls, codes: Codes, kernel: NDArray, regularization: float, sample_weight: NDArray
    ) -> ProductSystem:
        """The ridge is at least the size of rounding errors."""
        by_atom = np.ascontiguousarray(dense(codes).T)
        trace = float(np.diag(kernel) @ np.einsum("ji,ji->i", by_atom, by_atom))
        ridge = max(regularization, 1e-14 * trace) / sample_weight
        return cls(codes, by_atom, kernel, ridge)

    def __len__(self) -> int:
        """Samples."""
        return len(self.kernel)

    def __getitem__(self, place: tuple[slice, slice]) -> NDArray:
        """Entries of some rows and columns, a new array."""
        rows, columns = place
        found = times(self.codes[rows], self.by_atom[:, columns])
        found *= self.kernel[rows, columns]
        every = np.arange(len(self))
        both = np.intersect1d(every[rows], every[columns], assume_unique=True)
        found[both - rows.start, both - columns.start] += self.ridge[both]
        return found

    def solve(self, right: NDArray) -> NDArray:
        """The solution of the system."""
        return solve_definite(self, right, float(self.ridge.min()))

    def regression(self, targets: NDArray, intercept: bool, judged: bool = False) -> Regression:
        """The best classifier; judged, also what each sample is predicted by the others."""
        right = np.column_stack([targets, np.ones(len(self))])
        if judged:
            upper, _ = factor_of_half(lower_half(self, np.float64))
            solved = linalg.cho_solve((upper, False), right, check_finite=False)
        else:
            solved = self.solve(right)
        coefficients, ones = solved[:, :-1], solved[:, -1]
        bias = np.zeros(targets.shape[1])
        if intercept:
            bias = coefficients.sum(axis=0) / ones.sum()
            coefficients = coefficients - np.outer(ones, bias)
        if not judged:
            return Regression(coefficients, bias)
        diagonal = _inverse_diagonal(upper) - intercept * ones**2 / ones.sum()
        return Regression(coefficients, bias, targets - coefficients / diagonal[:, None])


def _inverse_diagonal(upper: NDArray) -> NDArray:
    """Of the matrix whose Cholesky factor this is; it is written over."""
    (invert,) = linalg.get_lapack_funcs(("trtri",), (upper,))
    half = np.triu(invert(upper, overwrite_c=1)[0])
    found: NDArray = np.einsum("ij,ij->i", half, half)
    return found
