"""Which samples are coded with which atoms while a kernel is learned: none with its own copy."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..dictionary import CombinationDictionary, Dictionary, PointDictionary
from ..formulations import Formulation
from ..kernels.base import Kernel
from ..solvers.result import Options
from ..stacks import Stack, numbered
from .ratio import Part, RatioProblem
from .settings import KernelLearning

FEW_ATOMS = 250  # enough for a first idea of several parameters, cheap to factorise


class Problems:
    """Ratios of chosen samples, with all atoms or few.

    Parameters
    ----------
    formulation, options, kernel, X, dictionary, settings, random_state
        As in :func:`~kernelcoding.kernel_learning.learning.learn_kernel`.

    Attributes
    ----------
    samples : array of int
        All samples that may be followed, in the order to take them: random, but fold by fold, so
        that the first few share one set of atoms.
    """

    def __init__(
        self,
        formulation: Formulation,
        options: Options,
        kernel: Kernel,
        X: Stack,
        dictionary: Dictionary,
        settings: KernelLearning,
        random_state: np.random.RandomState,
    ):
        self.formulation, self.options, self.settings = formulation, options, settings
        self.kernel, self.X = kernel, X
        self.weights: NDArray | None = None
        if isinstance(dictionary, CombinationDictionary):
            self.points, self.weights = dictionary.landmarks, dictionary.weights
        else:
            assert isinstance(dictionary, PointDictionary)
            self.points = dictionary
        atoms = self.points.points if self.weights is None else None
        self.rows, self.folds = held_out(
            X, atoms, dictionary.n_atoms, settings.n_folds, random_state
        )
        # Atoms of one fold stand together: all but these are then two blocks of every matrix.
        self.atoms = np.argsort(self.folds[1], kind="stable")
        shuffled = random_state.permutation(len(self.rows))
        self.samples = shuffled[np.argsort(self.folds[0][shuffled], kind="stable")]
        few = random_state.permutation(dictionary.n_atoms)[:FEW_ATOMS]
        self.few = self.atoms[np.sort(few)]
        self.among: object = None  # statistics of all landmarks, once computed

    def of(self, samples: NDArray) -> RatioProblem:
        """The ratio of some samples, with all atoms."""
        landmarks = np.arange(len(self.points.points)) if self.weights is not None else self.atoms
        problem = self._problem(samples, self.atoms, landmarks, self.among)
        self.among = problem.among_statistic
        return problem

    def with_few_atoms(self, samples: NDArray) -> RatioProblem | None:
        """The same with a sample of the atoms; None where that makes little difference."""
        if self.weights is not None or len(self.atoms) < 2 * FEW_ATOMS:
            return None
        return self._problem(samples, self.few, self.few, None)

    def _problem(
        self, samples: NDArray, atoms: NDArray, landmarks: NDArray, among: object
    ) -> RatioProblem:
        index = None if self.points.index is None else self.points.index[landmarks]
        prepared = self.kernel.prepare(self.points.points[landmarks], index)
        rows = self.rows[samples]
        of_samples, of_atoms = self.folds[0][samples], self.folds[1][atoms]
        parts = []
        for fold in np.unique(of_samples):
            kept = np.flatnonzero(of_atoms != fold)
            parts.append(Part(np.flatnonzero(of_samples == fold), kept, numbers=atoms[kept]))
        queries = self.kernel.prepare(self.X[rows], rows)
        return RatioProblem(
            self.formulation,
            self.options,
            self.kernel,
            prepared,
            self.weights,
            queries,
            parts,
            self.settings,
            among,
        )


def held_out(
    X: Stack,
    points: Stack | None,
    n_atoms: int,
    n_folds: int,
    random_state: np.random.RandomState,
) -> tuple[NDArray, tuple[NDArray, NDArray]]:
    """Samples to follow, their folds, and the folds of atoms they must not use.

    Samples that are no atoms need no folds (all -1) and are preferred where there are enough.
    Exact copies share a fold, and no fold has all atoms: a single one is followed by others only.
    Atoms that are combinations (``points=None``) copy no sample.
    """
    n = len(X)
    if points is None:
        return np.arange(n), (np.full(n, -1), np.zeros(n_atoms))
    copies = numbered(X, points)
    of_samples, of_atoms = copies[:n], copies[n:]
    outside = np.flatnonzero(~np.isin(of_samples, of_atoms))
    is_single = bool(np.all(of_atoms == of_atoms[0]))
    if len(outside) >= max(50, n // 5) or len(outside) == n or (is_single and len(outside)):
        return outside, (np.full(len(outside), -1), np.zeros(len(points)))
    count = min(n_folds, copies.max() + 1)
    folds = random_state.permutation(copies.max() + 1) % count
    if not is_single and np.all(folds[of_atoms] == folds[of_atoms[0]]):
        folds[of_atoms[0]] = (folds[of_atoms[0]] + 1) % count
    return np.arange(n), (folds[of_samples], folds[of_atoms])
