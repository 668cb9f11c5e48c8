r"""A dictionary for each class, learned on its samples alone, joined into one.

.. math:: \min_{D_s, Y_s}\ \frac1n\sum_s\sum_{l_i = s} \tfrac12\|\phi(x_i) - \Phi(D_s) y_i\|^2
          + \alpha\, r(y_i)

Classes do not see each other while they learn (Nguyen et al., 2013), so that their half-steps are
taken side by side, and one loop goes round for all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import block_diag
from sklearn.utils.multiclass import type_of_target

from ...blocks import Worst
from ...dictionary import CombinationDictionary, Dictionary, PointDictionary
from ...kernels.base import Kernel
from ...parallel import map_blocks
from ...problem import CodingProblem
from ...selection import counting_rows
from ...solvers.result import Convergence
from ...stacks import Stack, concatenated, in_memory
from ..half_steps.coding import Coded
from ..half_steps.learner import Snapshot
from ..half_steps.protocol import Learner
from ..loop import HalfStep
from ..starts import has_classes, shares
from ..state import Candidate
from ..sums import Sums


@dataclass(frozen=True, slots=True)
class ClassPart:
    """The samples of a class, as a training set of its own."""

    rows: NDArray  # of the training samples
    columns: NDArray  # of the joined dictionary: its atoms
    samples: Stack
    sample_weight: NDArray | None
    n_landmarks: int | None


def class_parts(
    kernel: Kernel,
    X: Stack,
    y: NDArray,
    n_atoms: int,
    n_landmarks: int | None,
    sample_weight: NDArray | None = None,
) -> list[ClassPart]:
    """Samples, atoms and landmarks of each class; ValueError where y has no classes or too many.

    Atoms and landmarks are shared out equally, as far as the samples of a class go; samples of
    weight zero are as good as absent.
    """
    if not has_classes(y):
        raise ValueError(
            f"Unknown label type: {type_of_target(y)}. per_class=True learns a dictionary for each "
            "class and needs one label per sample."
        )
    present = counting_rows(len(y), sample_weight)
    y = y[present]
    n_classes = len(np.unique(y))
    if n_atoms < n_classes:
        raise ValueError(
            f"per_class=True needs at least one atom per class: n_atoms={n_atoms} is the number of "
            f"all atoms and must be at least the number of classes, {n_classes}."
        )
    atoms = shares(y, n_atoms)
    landmarks = None if n_landmarks is None else shares(y, min(n_landmarks, len(y)))
    parts, done = [], 0
    for number, (members, count) in enumerate(atoms):
        rows, columns = present[members], np.arange(done, done + count)
        few = None if landmarks is None else max(count, landmarks[number][1])
        weight = None if sample_weight is None else sample_weight[rows]
        parts.append(ClassPart(rows, columns, kernel.among(X, rows), weight, few))
        done += count
    return parts


def joined(
    kernel: Kernel, X: Stack, parts: Sequence[ClassPart], learned: Sequence[Dictionary]
) -> Dictionary:
    """One dictionary of the atoms of all classes, class by class."""
    if all(isinstance(own, PointDictionary) for own in learned):
        points = [own.points for own in learned if isinstance(own, PointDictionary)]
        return PointDictionary(kernel, concatenated(points))
    made = [own for own in learned if isinstance(own, CombinationDictionary)]
    weights = [own.weights for own in made]
    if any(own.landmarks.index is None for own in made):  # given ones, which all classes share
        return CombinationDictionary(made[0].landmarks, np.hstack(weights))
    places = zip(parts, made, strict=True)
    index = np.concatenate([part.rows[own.landmarks.index] for part, own in places])
    blocks = block_diag(*weights)
    return CombinationDictionary(PointDictionary(kernel, in_memory(X[index]), index), blocks)


class ClassWiseLearner:
    """Takes the half-steps of all classes, and knows where they stand together.

    Parameters
    ----------
    learners : sequence of Learner
        One per class.
    weights : sequence of float
        The sum of the weights of the samples of each class.
    join : callable
        The dictionary of all classes, from one per class.
    n_jobs : int or None
        Classes that learn at the same time.
    """

    def __init__(
        self,
        learners: Sequence[Learner],
        weights: Sequence[float],
        join: Callable[[list[Dictionary]], Dictionary],
        n_jobs: int | None,
    ):
        self.learners = list(learners)
        self.weights = list(weights)
        self.join = join
        self.n_jobs = n_jobs

    @property
    def n_replaced(self) -> int:
        """Atoms that were replaced, in all classes."""
        return sum(learner.n_replaced for learner in self.learners)

    @property
    def largest_product(self) -> int:
        """That of the largest class."""
        return max(learner.largest_product for learner in self.learners)

    @property
    def coded(self) -> Coded:
        """What the last pass over the samples found, for all classes."""
        found = [learner.coded for learner in self.learners]
        return Coded(
            None,
            Sums.none(np.zeros((0, sum(len(part.usage) for part in found)))),
            float(np.average([part.objective for part in found], weights=self.weights)),
            Worst.of(np.empty(0), 0),  # each class knows its own
            np.concatenate([part.usage for part in found]),
            sum((part.convergence for part in found), Convergence()),
        )

    def _together(self, steps: Sequence[Callable[[], float]]) -> float:
        """One half-step of every class; the mean objective of all samples."""
        values = map_blocks(lambda rows: steps[rows.start](), len(steps), 1, self.n_jobs)
        return float(np.average(values, weights=self.weights))

    def code(self) -> float:
        """Code the samples of each class with its atoms."""
        return self._together([learner.code for learner in self.learners])

    @property
    def steps(self) -> list[HalfStep]:
        """One round of learning."""
        rounds = [learner.steps for learner in self.learners]

        def half_step(number: int) -> HalfStep:
            steps = [own[number][1] for own in rounds]
            return rounds[0][number][0], lambda: self._together(steps)

        return [half_step(number) for number in range(len(rounds[0]))]

    def problems(self) -> Iterator[CodingProblem]:
        """The coding problems of all samples, class by class."""
        return (problem for learner in self.learners for problem in learner.problems())

    def snapshot(self) -> Snapshot:
        """What is worth keeping of every class."""
        parts = tuple(learner.snapshot() for learner in self.learners)
        convergence = sum((part.convergence for part in parts), Convergence())
        nothing = np.zeros((0, sum(part.now.vectors.shape[1] for part in parts)))
        return Snapshot(Candidate(nothing), Sums.none(nothing), convergence, parts)

    def dictionary(self, snapshot: Snapshot) -> Dictionary:
        """The dictionary of all classes of a snapshot."""
        pairs = zip(self.learners, snapshot.parts, strict=True)
        return self.join([learner.dictionary(part) for learner, part in pairs])
