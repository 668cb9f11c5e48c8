"""The half-steps for atoms that are points of the input space, for the Gaussian kernel."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ...blocks import Worst
from ...codes import count_users
from ...dictionary import Dictionary, PointDictionary
from ...formulations import Formulation
from ...kernels import Gaussian
from ...problem import CodingProblem
from ...solvers.result import Options
from ...sparse_vectors import SparseVectors
from ...stacks import Stack
from ..loop import HalfStep
from ..state import Candidate
from ..sums import Sums
from ..updates.points import move_points
from . import refresh
from .coding import Coded, better
from .learner import ROUNDING, Snapshot


class PointLearner:
    """Points that are moved in the input space; all similarities are in memory.

    Parameters
    ----------
    samples : array of shape (n, d)
        Sparse ones are refused.
    points : array of shape (N, d)
        First atoms.
    kernel : Gaussian
        Resolved.
    formulation, options
        As in :class:`~kernelcoding.dictionary_learning.half_steps.learner.AtomLearner`.
    sample_weight : array of shape (n,), default=None
    """

    def __init__(
        self,
        samples: Stack,
        points: Stack,
        kernel: Gaussian,
        formulation: Formulation,
        options: Options,
        sample_weight: NDArray | None = None,
    ):
        if isinstance(samples, SparseVectors):
            raise ValueError(
                'update="points" moves atoms through the input space, where they do not stay '
                'sparse. Use update="auto", whose atoms are combinations of sparse samples, or '
                "call .toarray() first."
            )
        self.sample_weight = sample_weight
        self.samples = np.asarray(samples, dtype=np.float64)
        self.kernel = kernel
        self.formulation = formulation
        self.options = replace(options, sparse_output=formulation.is_sparse)
        self.now = Candidate(np.array(points, dtype=np.float64))
        self.objective = np.inf
        self.n_replaced = 0
        self._coded: Coded | None = None

    @property
    def largest_product(self) -> int:
        """Multiplications in the second moments of the codes."""
        return len(self.samples) * len(self.now.vectors) ** 2

    @property
    def coded(self) -> Coded:
        """What the last coding of the samples found."""
        assert self._coded is not None, "nothing was coded yet"
        return self._coded

    def code(self) -> float:
        """Code all samples with the present points."""
        problem = self._problem(self.now.vectors)
        before = self.now.codes
        result = self.formulation.solve(problem, replace(self.options, start=before))
        codes, errors = result.codes, problem.squared_error(result.codes)
        if before is not None and self.formulation.is_greedy:
            codes, errors = better(problem, codes, errors, before)
        self.now = replace(self.now, codes=codes)
        self.objective = self._objective(problem, self.now)
        nothing = Sums.none(self.now.vectors.T)
        usage = count_users(codes, self.sample_weight)
        if self.sample_weight is not None:
            errors = np.where(self.sample_weight > 0, errors, 0.0)
        worst = Worst.of(errors, len(usage))
        self._coded = Coded(codes, nothing, self.objective, worst, usage, result.convergence)
        return self.objective

    def improve(self) -> float:
        """Move the points; where the prior depends on them, only if the objective falls."""
        dead, found = refresh.unused(self.coded.usage), self.coded.worst
        least = 1e-12 * max(float(found.errors.max(initial=0.0)), 1e-300)
        worst = found.rows[found.errors > least][: len(dead)]
        dead = dead[: len(worst)]
        points = self.now.vectors.copy()
        points[dead] = self.samples[worst]
        self.n_replaced += len(dead)
        self.now = self.now.with_atoms(points)
        gamma, weight = float(self.kernel.gamma), self.sample_weight
        moved = move_points(points, self.samples, self.now.codes, gamma, sample_weight=weight)
        candidate = self.now.with_atoms(moved)
        objective = self._objective(self._problem(moved), candidate)
        if objective <= self.objective * (1.0 + ROUNDING):
            self.now, self.objective = candidate, objective
        return self.objective

    @property
    def steps(self) -> list[HalfStep]:
        """One round of learning."""
        return [("atoms", self.improve), ("codes", self.code)]

    def problems(self) -> Iterator[CodingProblem]:
        """The coding problem of all samples."""
        yield self._problem(self.now.vectors)

    def snapshot(self) -> Snapshot:
        """The points, and how their codes ended."""
        return Snapshot(self.now, self.coded.sums, self.coded.convergence)

    def dictionary(self, snapshot: Snapshot) -> Dictionary:
        """The dictionary of a snapshot."""
        return PointDictionary(self.kernel, snapshot.now.vectors)

    def _problem(self, points: NDArray) -> CodingProblem:
        return PointDictionary(self.kernel, points).problem(self.samples)

    def _objective(self, problem: CodingProblem, now: Candidate) -> float:
        assert now.codes is not None
        value = self.formulation.value(problem, now.codes)
        objective = 0.5 * problem.squared_error(now.codes) + value
        return float(np.average(objective, weights=self.sample_weight))
