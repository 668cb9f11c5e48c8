"""What an estimator adds to dictionary learning where each class has a dictionary of its own."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from ..coders.base import BaseKernelCoder
from ..dictionary import Dictionary, PointDictionary
from ..dictionary.building import choose_landmarks, given_landmarks
from ..dictionary.choosing import MEANS, named_choice
from ..formulations import Formulation
from ..kernel_learning import as_settings, prepared_start
from ..kernels import Kernel
from ..parallel import count_threads
from ..solvers.result import Options
from .base import BaseDictionaryLearning, Learner, counting
from .class_wise import ClassPart, ClassWiseLearner, class_parts, joined
from .frames import Frame, LandmarkFrame, sample_frame
from .loop import Outcome
from .starts import first_atoms

Start = tuple[Frame, NDArray]  # of a class: coordinates, and atoms in them


class ClassWiseDictionaryLearning(BaseDictionaryLearning):
    """Learns one dictionary, or with ``per_class=True`` one per class, joined into one."""

    per_class: bool = False  # as in models of files from before there was a choice

    classes_: NDArray
    atom_classes_: NDArray

    def _learn(
        self,
        X: NDArray,
        y: NDArray | None,
        coder: BaseKernelCoder,
        kernel: Kernel,
        sample_weight: NDArray | None = None,
    ) -> tuple[Learner, Outcome]:
        for name in ("classes_", "atom_classes_"):
            if name in vars(self):
                delattr(self, name)
        if not self.per_class:
            return super()._learn(X, y, coder, kernel, sample_weight)
        y = self._require_labels(y)
        self._check_samples(X, y, coder, sample_weight)
        self.kernel_ = self._resolved(kernel, X, sample_weight)
        parts = class_parts(self.kernel_, X, y, self.n_atoms, self.n_landmarks, sample_weight)
        sizes = [len(part.columns) for part in parts]
        coder = coder._with_atom_labels(np.repeat([y[part.rows[0]] for part in parts], sizes))
        formulation, options = self._coding_of(coder)
        random_state = check_random_state(self.random_state)
        self._forget()
        starts, chosen = self._class_starts(parts, X, random_state)
        rounds, followed = 0, counting(X, sample_weight, self.kernel_)
        if self.learn_kernel:
            settings = as_settings(self.learn_kernel)
            rounds = settings.rounds
            first = self._joined_start(parts, starts, X)
            if self.init != MEANS:  # then the atoms are samples, better left out of L
                index = np.concatenate([p.rows[c] for p, c in zip(parts, chosen, strict=True)])
                first = PointDictionary(self.kernel_, X[index], index)
            self.kernel_ = prepared_start(self.kernel_, X, y, settings)
            self._better_kernel(coder, first, followed, random_state)
            starts = self._moved_starts(parts, starts)
        learner = self._class_learner(parts, starts, chosen, X, formulation, options)
        outcome = self._alternate(learner, formulation)
        for _ in range(rounds):
            if outcome.status in ("interrupted", "callback"):
                break
            self._better_kernel(coder, learner.dictionary(outcome.best), followed, random_state)
            vectors = [part.now.vectors for part in outcome.best.parts]
            now = [(frame, own) for (frame, _), own in zip(starts, vectors, strict=True)]
            starts = self._moved_starts(parts, now)
            learner = self._class_learner(parts, starts, chosen, X, formulation, options)
            outcome = self._alternate(learner, formulation)
        self._adopt(coder, learner.dictionary(outcome.best))
        self.classes_ = np.array([y[part.rows[0]] for part in parts])
        self.atom_classes_ = np.repeat(np.arange(len(parts)), sizes)
        return learner, outcome

    def _require_labels(self, y: NDArray | None) -> NDArray:
        if y is None:
            raise ValueError(
                f"This {type(self).__name__} estimator requires y to be passed, but the target y "
                "is None: per_class=True learns a dictionary for each class."
            )
        return y

    def _class_starts(
        self, parts: list[ClassPart], X: NDArray, random_state: np.random.RandomState
    ) -> tuple[list[Start], list[NDArray]]:
        """First atoms of each class, and the samples that count most in them."""
        given = None
        if not isinstance(self.landmarks, str):
            given = given_landmarks(self.kernel_, self.landmarks, X)
        starts, chosen = [], []
        for part in parts:
            frame = self._class_frame(part, given, random_state)
            frame.sample_weight = part.sample_weight
            n_atoms = len(part.columns)
            rows, loads = first_atoms(frame, part.samples, n_atoms, self.init, random_state)
            starts.append((frame, np.asfortranarray(frame.samples(rows) @ loads)))
            chosen.append(rows[loads.argmax(axis=0)])
        return starts, chosen

    def _class_frame(
        self, part: ClassPart, given: PointDictionary | None, random_state: np.random.RandomState
    ) -> Frame:
        if given is not None:
            return LandmarkFrame(given, part.samples)
        if part.n_landmarks is None:
            return sample_frame(self.kernel_, part.samples)
        choice = named_choice(str(self.landmarks), "landmarks")
        landmarks = choose_landmarks(
            self.kernel_,
            part.samples,
            part.n_landmarks,
            choice,
            random_state,
            sample_weight=part.sample_weight,
        )
        return LandmarkFrame(landmarks, part.samples)

    def _joined_start(self, parts: list[ClassPart], starts: list[Start], X: NDArray) -> Dictionary:
        atoms: list[Dictionary] = [frame.dictionary(vectors) for frame, vectors in starts]
        return joined(self.kernel_, X, parts, atoms)

    def _moved_starts(self, parts: list[ClassPart], starts: list[Start]) -> list[Start]:
        """The same combinations of landmarks in the space of the present kernel."""
        return [
            self._moved_frame(frame, frame.weights(vectors), part.samples)
            for part, (frame, vectors) in zip(parts, starts, strict=True)
        ]

    def _class_learner(
        self,
        parts: list[ClassPart],
        starts: list[Start],
        chosen: list[NDArray],
        X: NDArray,
        formulation: Formulation,
        options: Options,
    ) -> ClassWiseLearner:
        """The learners of all classes; threads are shared out by class."""
        several = count_threads(options.n_jobs) > 1
        inner = replace(options, n_jobs=1) if several else options
        learners = [
            self._learner(
                frame,
                vectors,
                part.samples,
                part.samples[own],
                formulation.for_atoms(part.columns),
                inner,
            )
            for part, (frame, vectors), own in zip(parts, starts, chosen, strict=True)
        ]
        join = partial(joined, self.kernel_, X, parts)
        weights = [frame.total_weight for frame, _ in starts]
        return ClassWiseLearner(learners, weights, join, options.n_jobs)
