r"""How the coding objective changes with the similarities it is made of.

A coding problem is three arrays, :math:`k(x, x)`, k and K. The value of its minimum over codes has
a gradient in them, at the optimal codes (Danskin): no derivative of the codes is needed. Soft
assignment does not minimise; there the codes are differentiated as functions of k and K.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..codes import Codes, dense, second_moment
from ..problem import CodingProblem


@dataclass(slots=True)
class Sensitivity:
    r"""A sum over samples and its derivatives in the arrays of the problem.

    The derivative in K is :math:`\tfrac12 Y^\top Y` plus a diagonal, whatever the formulation: it
    is kept as codes and diagonal, since many small parts are cheaper to add up so.

    Examples
    --------
    >>> import kernelcoding as kc
    >>> coder = kc.KernelSparseCoder().fit([[0.0], [1.0], [2.0]])
    >>> problem = coder.dictionary_.problem([[0.5]])
    >>> coder.formulation().sensitivity(problem, coder.transform([[0.5]])).cross.shape
    (1, 3)
    """

    value: float
    self_similarity: NDArray  # (n,)
    cross: NDArray  # (n, N)
    codes: Codes  # (n, N)
    diagonal: NDArray  # (N,)

    @classmethod
    def of_error(cls, problem: CodingProblem, codes: Codes) -> Sensitivity:
        """Half the squared reconstruction error of fixed codes."""
        return cls(
            0.5 * float(problem.squared_error(codes).sum()),
            np.full(problem.n_samples, 0.5),
            -dense(codes),
            codes,
            np.zeros(problem.n_atoms),
        )

    @property
    def gram(self) -> NDArray:
        """The derivative in K, shape (N, N)."""
        return 0.5 * second_moment(self.codes) + np.diag(self.diagonal)

    def add_distances(self, weights: Codes | None) -> None:
        """Add a function of squared distances, of which ``weights`` are twice the derivatives."""
        if weights is None:
            return
        half = 0.5 * dense(weights)  # of k(x, x) - 2 k + diag(K)
        self.self_similarity += half.sum(axis=1)
        self.cross -= 2.0 * half
        self.diagonal += half.sum(axis=0)
