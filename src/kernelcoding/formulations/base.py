"""What every formulation answers."""

from __future__ import annotations

from typing import Protocol

from numpy.typing import NDArray

from ..codes import Codes
from ..problem import CodingProblem
from ..solvers.low_rank import Scores
from ..solvers.result import CodingResult, Options
from .sensitivity import Sensitivity


class Formulation(Protocol):
    """What a code is, for any dictionary: frozen, and free of estimators and kernels.

    Facts stand in for questions about types: whoever learns atoms, kernels or classifiers asks
    these, never which coder a formulation came from.

    Examples
    --------
    >>> import kernelcoding as kc
    >>> formulation = kc.KernelLLC().formulation()
    >>> formulation.nonnegative, formulation.is_minimiser
    (False, True)
    """

    @property
    def nonnegative(self) -> bool:
        """Whether no entry of a code is negative."""

    @property
    def is_cone(self) -> bool:
        """Whether multiples of a code are allowed: atoms then need bounded norms."""

    @property
    def is_sparse(self) -> bool:
        """Whether codes have few nonzeros, and CSR is how they are made."""

    @property
    def is_greedy(self) -> bool:
        """Whether atoms are chosen one by one: new codes may be worse than known ones."""

    @property
    def follows_atoms(self) -> bool:
        """Whether codes are a smooth function of the atoms instead of a minimiser."""

    @property
    def is_minimiser(self) -> bool:
        """Whether codes minimise half the squared error plus :meth:`value`."""

    @property
    def uses_gram(self) -> bool:
        """Whether coding needs all inner products of atoms; else a few for each sample will do."""

    def rows_by_parts(self, n_atoms: int) -> int:
        """Samples to code together without the whole Gram matrix; 0: it cannot be done."""

    def check(self, n_atoms: int) -> None:
        """Refuse what no dictionary of this size can be coded by: ValueError says why."""

    def solve(self, problem: CodingProblem, options: Options) -> CodingResult:
        """Code every sample of a problem, in the problem's precision."""

    def solve_with_scores(
        self,
        problem: CodingProblem,
        options: Options,
        scores: Scores,
        max_passes: int | None = None,
    ) -> CodingResult:
        """Code samples whose scores, bilinear in sample and code, should also be on target."""

    def gap(self, problem: CodingProblem, codes: Codes) -> NDArray:
        """Upper bound on how far each code is from the one it should be, (n,)."""

    def value(self, problem: CodingProblem, codes: Codes) -> NDArray:
        """What the objective of each code has beside half its squared error, (n,)."""

    def distance_weights(self, problem: CodingProblem, codes: Codes) -> Codes | None:
        """Twice the derivatives of :meth:`value` in squared distances; None: no distance."""

    def sensitivity(self, problem: CodingProblem, codes: Codes) -> Sensitivity:
        """The objective of codes, summed over samples, and its derivatives in similarities."""

    def critical_alpha(self, problem: CodingProblem) -> NDArray | None:
        """The weight of the prior from which on each code is zero, (n,); None: not known."""

    def for_atoms(self, atoms: NDArray) -> Formulation:
        """The formulation for some of the atoms, where it knows them one by one."""
