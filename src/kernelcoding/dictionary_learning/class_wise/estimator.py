"""What an estimator adds to dictionary learning where each class has a dictionary of its own."""

from __future__ import annotations

import copy
import os
import warnings
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from ...coders.base import BaseKernelCoder
from ...codes import dense, times_codes
from ...dictionary import Dictionary, PointDictionary
from ...dictionary.building import choose_landmarks, given_landmarks
from ...dictionary.choosing import MEANS, named_choice
from ...dictionary.points import TOLD_INDEFINITE
from ...formulations import Formulation
from ...kernel_learning import as_settings, prepared_start
from ...kernels import Kernel
from ...parallel import count_threads
from ...solvers.result import Options
from ...validation import require_target
from ..base import BaseDictionaryLearning
from ..checkpoints import Keeper
from ..checks import counting_labelled
from ..far import refuse_far
from ..frames import Frame, frame_of
from ..half_steps.learner import AtomLearner
from ..half_steps.protocol import Learner
from ..loop import Keeps, Outcome
from ..starts import first_atoms
from ..updates import named_update
from .learner import ClassPart, ClassWiseLearner, class_parts, joined

Start = tuple[Frame, NDArray]  # of a class: coordinates, and atoms in them


class ClassWiseDictionaryLearning(BaseDictionaryLearning):
    """Learns one dictionary, or with ``per_class=True`` one per class, joined into one."""

    per_class: bool = False  # as in models of files from before there was a choice
    update: str
    checkpoint: str | os.PathLike | None = None  # likewise

    classes_: NDArray
    atom_classes_: NDArray

    def _learn_classes(
        self,
        X: NDArray,
        y: NDArray | None,
        coder: BaseKernelCoder,
        kernel: Kernel,
        sample_weight: NDArray | None = None,
    ) -> tuple[Learner, Outcome]:
        """As ``_learn``, each class by itself."""
        why = ": per_class=True learns a dictionary for each class"
        y = np.asarray(require_target(self, y, why))
        self._check_samples(X, y, coder, sample_weight)
        self.kernel_ = self._resolved(kernel, X, sample_weight)
        parts = class_parts(self.kernel_, X, y, self.n_atoms_, self.n_landmarks, sample_weight)
        sizes = [len(part.columns) for part in parts]
        coder = coder._with_atom_labels(np.repeat([y[part.rows[0]] for part in parts], sizes))
        formulation, options = self._coding_of(coder)
        random_state = check_random_state(self.random_state)
        self._forget()
        starts, chosen = self._class_starts(parts, X, random_state)
        rounds = 0
        if self.learn_kernel:
            settings = as_settings(self.learn_kernel)
            rounds = settings.rounds
            first = self._first_of_all(parts, starts, chosen, X)
            self.kernel_ = prepared_start(
                self.kernel_, *counting_labelled(X, y, sample_weight, self.kernel_), settings
            )
            starts = self._learn_kernel_of_classes(
                coder, first, parts, starts, (X, y, sample_weight), random_state
            )
        learner = self._class_learner(parts, starts, chosen, X, formulation, options)
        outcome = self._alternate(learner, formulation)
        for _ in range(rounds):
            if outcome.status in ("interrupted", "callback"):
                break
            now = learner.dictionary(outcome.best)
            vectors = [part.now.vectors for part in outcome.best.parts]
            starts = [(frame, own) for (frame, _), own in zip(starts, vectors, strict=True)]
            starts = self._learn_kernel_of_classes(
                coder, now, parts, starts, (X, y, sample_weight), random_state
            )
            learner = self._class_learner(parts, starts, chosen, X, formulation, options)
            outcome = self._alternate(learner, formulation)
        self._adopt(coder, learner.dictionary(outcome.best))
        self.classes_ = np.array([y[part.rows[0]] for part in parts])
        self.atom_classes_ = np.repeat(np.arange(len(parts)), sizes)
        return learner, outcome

    def _keeper(self, learner: Learner, coder: BaseKernelCoder) -> Keeps | None:
        if self.checkpoint is None or not isinstance(learner, AtomLearner):
            return None

        def made(outcome: Outcome) -> ClassWiseDictionaryLearning:
            """What would have been learned if learning ended now."""
            model = copy.copy(self).set_params(callback=None, checkpoint=None)
            model._adopt(coder, learner.dictionary(outcome.best))
            model.objective_history_ = np.array(outcome.history)
            model.objective_steps_ = np.array(outcome.steps)
            model.n_iter_, model.n_replaced_ = outcome.n_iter, learner.n_replaced
            model.status_ = "interrupted"
            return model

        return Keeper(self.checkpoint, learner, self.get_params(), made)

    def _check_far(self, X: NDArray) -> None:
        """Refuse what needs all samples here, where they are far away."""
        works = 'update="auto", "coordinate" or "pinv"'
        if self.per_class:
            why = "per_class=True learns from the samples of each class together"
            refuse_far(self, X, why, "per_class=False, where labels balance the first atoms")
        if not named_update(self.update).learns_online:
            refuse_far(self, X, f"update={self.update!r} changes the codes of all samples", works)

    def _forget_classes(self) -> None:
        for name in ("classes_", "atom_classes_"):
            if name in vars(self):
                delattr(self, name)

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
            n_atoms = len(part.columns)
            rows, loads = first_atoms(frame, part.samples, n_atoms, self.init, random_state)
            starts.append((frame, np.asfortranarray(times_codes(frame.samples(rows), loads))))
            chosen.append(rows[dense(loads).argmax(axis=0)])
        return starts, chosen

    def _class_frame(
        self, part: ClassPart, given: PointDictionary | None, random_state: np.random.RandomState
    ) -> Frame:
        """Coordinates of the samples of a class."""
        with warnings.catch_warnings():
            # The dictionary of all classes says so once; it is indefinite where one of theirs is.
            warnings.filterwarnings("ignore", TOLD_INDEFINITE)
            landmarks = given or self._class_landmarks(part, random_state)
            return frame_of(self.kernel_, part.samples, landmarks, part.sample_weight)

    def _class_landmarks(
        self, part: ClassPart, random_state: np.random.RandomState
    ) -> PointDictionary | None:
        """Landmarks chosen from the samples of a class; None where all of them serve."""
        if part.n_landmarks is None:
            return None
        choice = named_choice(str(self.landmarks), "landmarks")
        return choose_landmarks(
            self.kernel_,
            part.samples,
            part.n_landmarks,
            choice,
            random_state,
            sample_weight=part.sample_weight,
        )

    def _first_of_all(
        self, parts: list[ClassPart], starts: list[Start], chosen: list[NDArray], X: NDArray
    ) -> Dictionary:
        """The first atoms of all classes, as the kernel is learned for them."""
        if self.init == MEANS:
            atoms: list[Dictionary] = [frame.dictionary(vectors) for frame, vectors in starts]
            return joined(self.kernel_, X, parts, atoms)
        # Atoms that are samples are better left out of L.
        index = np.concatenate([p.rows[own] for p, own in zip(parts, chosen, strict=True)])
        return PointDictionary(self.kernel_, X[index], index)

    def _learn_kernel_of_classes(
        self,
        coder: BaseKernelCoder,
        dictionary: Dictionary,
        parts: list[ClassPart],
        starts: list[Start],
        samples: tuple[NDArray, NDArray, NDArray | None],
        random_state: np.random.RandomState,
    ) -> list[Start]:
        """Better kernel parameters for the atoms of all classes; these in the new space.

        ``samples`` come with their labels and weights.
        """
        self._better_kernel(coder, dictionary, *samples, random_state)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", TOLD_INDEFINITE)  # as in _class_frame
            return [self._moved_frame(frame, frame.weights(vectors)) for frame, vectors in starts]

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
