r"""How the coding objective changes with the similarities it is made of.

A coding problem is three arrays, :math:`k(x, x)`, k and K. The value of its minimum over codes has
a gradient in them, at the optimal codes (Danskin): no derivative of the codes is needed. Soft bag
of words does not minimise; there the codes are differentiated as functions of k and K.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..coders.bag_of_words import KernelBagOfWords
from ..codes import dense
from ..problem import Codes, CodingProblem
from .coding import squared


@dataclass(slots=True)
class Sensitivity:
    r"""A sum over samples and its derivatives in the arrays of the problem.

    The derivative in K is :math:`\tfrac12 Y^\top Y` plus a diagonal, whatever the coder: it is kept
    as codes and diagonal, since many small parts are cheaper to add up so.
    """

    value: float
    self_similarity: NDArray  # (n,)
    cross: NDArray  # (n, N)
    codes: Codes  # (n, N)
    diagonal: NDArray  # (N,)

    @property
    def gram(self) -> NDArray:
        """The derivative in K, shape (N, N)."""
        return 0.5 * squared(self.codes) + np.diag(self.diagonal)


def of_objective(coder: Any, problem: CodingProblem, codes: Codes) -> Sensitivity:
    """The objective of given codes, prior included, summed over samples.

    Exact at codes that minimise it, and for codes that are functions of the atoms.
    """
    result = of_error(problem, codes)
    result.value += float(np.sum(coder.prior_value(problem, codes)))
    if isinstance(coder, KernelBagOfWords) and coder.assignment == "soft":
        _through_codes(coder.sigma, problem, codes, result)
        return result
    weights = coder.distance_weights(problem, codes)
    if weights is not None:
        half = 0.5 * dense(weights)  # of k(x, x) - 2 k + diag(K)
        result.self_similarity += half.sum(axis=1)
        result.cross -= 2.0 * half
        result.diagonal += half.sum(axis=0)
    return result


def of_error(problem: CodingProblem, codes: Codes) -> Sensitivity:
    """Half the squared reconstruction error of fixed codes, summed over samples."""
    return Sensitivity(
        0.5 * float(problem.squared_error(codes).sum()),
        np.full(problem.n_samples, 0.5),
        -dense(codes),
        codes,
        np.zeros(problem.n_atoms),
    )


def _through_codes(sigma: float, problem: CodingProblem, codes: Codes, result: Sensitivity) -> None:
    """Add what soft weights contribute by changing themselves."""
    weights = dense(codes)
    pull = weights @ problem.gram - problem.cross
    turn = weights * (pull - np.sum(weights * pull, axis=1, keepdims=True))
    result.cross += 2.0 * sigma * turn
    result.diagonal -= sigma * turn.sum(axis=0)


def discrepancy(gram: NDArray) -> tuple[float, NDArray]:
    """Mean squared distance between different atoms in H, and its derivative in their Gram."""
    n = len(gram)
    pairs = n * (n - 1)
    value = 2.0 * (n * np.trace(gram) - gram.sum()) / pairs
    derivative = np.full((n, n), -2.0 / pairs)
    derivative[np.diag_indices(n)] += 2.0 * n / pairs
    return float(value), derivative
