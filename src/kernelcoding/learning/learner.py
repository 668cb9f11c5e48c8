"""Codes and atoms in turn: the two half-steps of dictionary learning, for every kind of update."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ..codes import dense
from ..constraints import AtMost
from ..dictionary import Dictionary, PointDictionary
from ..problem import Codes, CodingProblem
from ..solvers.choose import Options
from . import ksvd, refresh, soft_words
from .alternation import HalfStep
from .coding import (
    Coded,
    Sums,
    better,
    code_samples,
    encode,
    loads_of,
    objective_at,
    problem_of,
    squared,
    used,
)
from .frames import Frame
from .points import move_points
from .updates import closed_form, coordinate_descent, unit_norms

UPDATES = ("auto", "pinv", "coordinate", "ksvd", "aksvd", "gradient", "points")
BACKTRACKS = 6  # shorter steps tried where the prior depends on the atoms
ROUNDING = 1e-12  # relative; a rise below this is no rise


class AtomLearner:
    """Atoms that are combinations of landmarks.

    Parameters
    ----------
    frame : Frame
        Coordinates, and the samples.
    vectors : array of shape (p, N)
        First atoms.
    coder : BaseKernelCoder
        Fitted, so that it knows its formulation.
    options : Options
        For the coder.
    update : str
        One of "auto", "pinv", "coordinate", "ksvd", "aksvd", "gradient".
    """

    def __init__(self, frame: Frame, vectors: NDArray, coder: Any, options: Options, update: str):
        self.frame = frame
        self.coder = coder
        self.options = options
        self.update = update
        self.bounded = coder.formulation().constraint.is_cone
        self.vectors = unit_norms(frame, vectors, vectors)[0] if self.bounded else vectors
        self.coded: Coded | None = None
        self.n_replaced = 0
        self._closed_form_pays = True
        self._norms = np.ones(self.vectors.shape[1])  # that the last candidates had

    # The two half-steps ----------------------------------------------------------------------

    def code(self) -> float:
        """Code all samples with the present atoms."""
        start = None if self.coded is None else self.coded.codes
        self.coded = code_samples(self.frame, self.vectors, self.coder, self.options, start)
        return self.coded.objective

    def improve(self) -> float:
        """Better atoms for the present codes; the objective never rises where codes are kept."""
        assert self.coded is not None
        self._refresh()
        if not self.frame.keeps_samples:
            return self._improve_from_sums()
        for vectors, codes in self._candidates():
            objective = self._objective(vectors, codes)
            if objective <= self.coded.objective * (1.0 + ROUNDING):
                self._adopt(vectors, codes, objective)
                break
        return self.coded.objective

    @property
    def steps(self) -> list[HalfStep]:
        """One round of learning."""
        return [("atoms", self.improve), ("codes", self.code)]

    def _adopt(self, vectors: NDArray, codes: Codes, objective: float) -> None:
        """Take the candidate that lowers the objective."""
        assert self.coded is not None
        self.vectors = vectors
        self.coded.codes, self.coded.objective = codes, objective

    @property
    def usage(self) -> NDArray:
        """How many samples use each atom."""
        assert self.coded is not None
        return self.coded.usage

    def crosses(self) -> Iterator[NDArray]:
        """Similarities of samples and atoms, block by block."""
        return (block.cross for block in self.frame.blocks(self.vectors))

    def snapshot(self) -> tuple[NDArray, Sums]:
        """Atoms and what was summed with them."""
        assert self.coded is not None
        return self.vectors, self.coded.sums

    def dictionary(self, snapshot: tuple[NDArray, Sums]) -> Dictionary:
        """The dictionary of a snapshot."""
        return self.frame.dictionary(snapshot[0])

    # Candidates, best first ------------------------------------------------------------------

    def _candidates(self) -> Iterator[tuple[NDArray, Codes]]:
        assert self.coded is not None
        codes = self.coded.codes
        if self.update == "gradient":
            yield soft_words.descend(self.frame, self.vectors, self.coder.sigma), codes
        elif self.update in ("ksvd", "aksvd"):
            atoms, new = ksvd.sweep(
                self.frame, self.vectors, dense(codes), approximate=self.update == "aksvd"
            )
            yield atoms, sparse.csr_array(new) if sparse.issparse(codes) else new
        elif not self.bounded:
            yield from self._towards(closed_form(self.frame, self.vectors, self.coded.sums))
        else:
            yield from self._bounded_candidates()

    def _towards(self, target: NDArray) -> Iterator[tuple[NDArray, Codes]]:
        """The minimiser, then shorter steps: some priors change with the atoms."""
        assert self.coded is not None
        step = 1.0
        for _ in range(1 + BACKTRACKS):
            yield self.vectors + step * (target - self.vectors), self.coded.codes
            step *= 0.25

    def _bounded_candidates(self) -> Iterator[tuple[NDArray, Codes]]:
        assert self.coded is not None
        sums = self.coded.sums
        if self.update == "pinv" or (self.update == "auto" and self._closed_form_pays):
            yield self._scaled(closed_form(self.frame, self.vectors, sums))
            self._closed_form_pays = False  # asked for more: it has raised the objective
        yield self._scaled(coordinate_descent(self.frame, self.vectors, sums, bounded=True))

    def _scaled(self, vectors: NDArray) -> tuple[NDArray, Codes]:
        """Unit atoms; their codes make up for it."""
        assert self.coded is not None
        vectors, norms = unit_norms(self.frame, vectors, self.vectors)
        self._norms = norms
        codes = self.coded.codes
        return vectors, codes @ sparse.diags_array(norms) if sparse.issparse(codes) else (
            codes * norms
        )

    def _objective(self, vectors: NDArray, codes: Codes) -> float:
        if self.update == "gradient":
            return soft_words.value_and_gradient(self.frame, vectors, self.coder.sigma)[0]
        return objective_at(self.frame, vectors, self.coder, codes)

    def _improve_from_sums(self) -> float:
        """Without the codes: the change of the objective follows from the sums."""
        assert self.coded is not None
        sums = self.coded.sums
        if self.update == "gradient":
            self.vectors = soft_words.descend(self.frame, self.vectors, self.coder.sigma)
            self.coded.objective = self._objective(self.vectors, None)
            return self.coded.objective
        before = sums.value(self.frame, self.vectors)
        if self.bounded:
            new = coordinate_descent(self.frame, self.vectors, sums, bounded=True, sweeps=3)
        else:
            new = closed_form(self.frame, self.vectors, sums)
        self.vectors = new
        self.coded.objective += sums.value(self.frame, new) - before
        return self.coded.objective

    # Dead atoms and twins --------------------------------------------------------------------

    def _refresh(self) -> None:
        coded = self.coded
        assert coded is not None
        if coded.codes is not None and self.frame.keeps_samples:
            self._merge_twins(coded)
        atoms, replaced = refresh.replace_atoms(
            self.frame, self.vectors, refresh.unused(coded.usage), coded.errors, self.bounded
        )
        self.vectors = atoms
        self.n_replaced += len(replaced)

    def _merge_twins(self, coded: Coded) -> None:
        gram = self.frame.gram(self.vectors)
        signed = self.bounded and not self.coder.formulation().constraint.nonnegative
        pairs = refresh.twins(gram, coded.usage, signed)
        if not pairs:
            return
        codes = refresh.merge(coded.codes, pairs)
        objective = objective_at(self.frame, self.vectors, self.coder, codes)
        if objective > coded.objective * (1.0 + ROUNDING):
            return
        coded.codes, coded.objective, coded.usage = codes, objective, used(codes)
        block = next(iter(self.frame.blocks(self.vectors)))
        loads, extra, pull = loads_of(self.coder, problem_of(block, gram), codes)
        moment = self.frame.combine(loads) + self.vectors * pull
        coded.sums = Sums(moment, squared(codes) + np.diag(extra), coded.sums.n_samples)


class PointLearner:
    """Atoms that are points of the input space, for the Gaussian kernel.

    Parameters
    ----------
    samples : array of shape (n, d)
    points : array of shape (N, d)
        First atoms.
    coder, options
        As in :class:`AtomLearner`; the coder's kernel is Gaussian.
    """

    def __init__(self, samples: NDArray, points: NDArray, coder: Any, options: Options):
        self.samples = np.asarray(samples, dtype=np.float64)
        self.points = np.array(points, dtype=np.float64)
        self.coder = coder
        self.kernel = coder.kernel_
        self.options = options
        self.codes: Codes | None = None
        self.objective = np.inf
        self.n_replaced = 0

    def _problem(self, points: NDArray) -> CodingProblem:
        return CodingProblem.of(PointDictionary(self.kernel, points), self.samples)

    def _objective(self, problem: CodingProblem, codes: Codes) -> float:
        prior = self.coder.prior_value(problem, codes)
        return float(np.mean(0.5 * problem.squared_error(codes) + prior))

    def code(self) -> float:
        """Code all samples with the present points."""
        problem = self._problem(self.points)
        codes = encode(self.coder, problem, self.options)
        errors = problem.squared_error(codes)
        if self.codes is not None and isinstance(self.coder.formulation().constraint, AtMost):
            codes, errors = better(problem, codes, errors, self.codes)
        self.codes, self.errors = codes, errors
        self.objective = self._objective(problem, codes)
        return self.objective

    @property
    def usage(self) -> NDArray:
        """How many samples use each atom."""
        return used(self.codes)

    def crosses(self) -> Iterator[NDArray]:
        """Similarities of samples and atoms."""
        yield self._problem(self.points).cross

    def improve(self) -> float:
        """Move the points; where the prior depends on them, only if the objective falls."""
        dead = refresh.unused(self.usage)
        worst = np.argsort(self.errors)[::-1][: len(dead)]
        self.points[dead] = self.samples[worst]
        self.n_replaced += len(dead)
        moved = move_points(self.points, self.samples, self.codes, self.kernel.gamma)
        objective = self._objective(self._problem(moved), self.codes)
        if objective <= self.objective * (1.0 + ROUNDING):
            self.points, self.objective = moved, objective
        return self.objective

    @property
    def steps(self) -> list[HalfStep]:
        """One round of learning."""
        return [("atoms", self.improve), ("codes", self.code)]

    def snapshot(self) -> tuple[NDArray, None]:
        """The points."""
        return self.points.copy(), None

    def dictionary(self, snapshot: tuple[NDArray, Any]) -> Dictionary:
        """The dictionary of a snapshot."""
        return PointDictionary(self.kernel, snapshot[0])
