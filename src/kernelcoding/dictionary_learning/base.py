"""What learning estimators share: kernel, landmarks, first atoms, the loop, and what comes out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import Tags, check_random_state
from sklearn.utils.validation import (
    _check_sample_weight,
    check_consistent_length,
    check_is_fitted,
)

from ..blocks import Blocks
from ..coders.base import BaseKernelCoder, fitted_with, options_of
from ..coders.owner import CoderOwner, given_or_sparse
from ..coders.transformer import CodingTransformer
from ..codes import dense, times_codes
from ..dictionary import CombinationDictionary, Dictionary, PointDictionary
from ..dictionary.building import choose_landmarks, given_landmarks
from ..dictionary.choosing import MEANS, named_choice
from ..distributed.inputs import is_lazy
from ..formulations import Formulation
from ..kernel_learning import (
    JOINT,
    KernelLearning,
    as_settings,
    learn_kernel,
    moved,
    prepared_start,
    truth_of,
)
from ..kernels import Kernel, as_kernel
from ..parallel import steady_blas
from ..solvers.result import Options
from ..stacks import width
from ..validation import number_of_atoms, samples
from .checks import (
    atoms_to_learn,
    check_coder,
    check_settings,
    counting,
    counting_labelled,
    refuse_zero_codes,
    require_distinct,
)
from .far import at_hand, far_samples, followed, measured, require_landmarks
from .frames import Frame, frame_of
from .half_steps.protocol import Learner
from .loop import Alternation, Keeps, Outcome, Progress
from .preimages import PreimagesMixin
from .starts import first_atoms, has_classes

REPRESENTATIVES = 10


class BaseDictionaryLearning(PreimagesMixin, CoderOwner, CodingTransformer):
    """Learns atoms in turn with codes, and perhaps with more; subclasses say with what."""

    coder: BaseKernelCoder | None
    n_atoms: int | None
    n_landmarks: int | None
    landmarks: str | ArrayLike
    init: str
    learn_kernel: bool | KernelLearning
    max_iter: int
    tol: float
    callback: Callable[[Progress], object] | None
    verbose: int
    n_jobs: int | None
    random_state: int | np.random.RandomState | None

    coder_: BaseKernelCoder
    n_atoms_: int
    objective_history_: NDArray
    objective_steps_: NDArray
    kernel_history_: NDArray
    kernel_status_: str
    n_iter_: int
    n_replaced_: int
    status_: str
    _learns_far = False  # whether samples of Dask are learned from

    @property
    def _learns_jointly(self) -> bool:
        """Whether there is a classifier that a kernel can be learned with."""
        return False

    def _learn(
        self,
        X: NDArray,
        y: NDArray | None,
        coder: BaseKernelCoder,
        kernel: Kernel,
        sample_weight: NDArray | None = None,
    ) -> tuple[Learner, Outcome]:
        """Learn kernel and atoms from checked samples; the learner and how it ended."""
        self._check_samples(X, y, coder, sample_weight)
        require_landmarks(self, X, self)
        random_state = check_random_state(self.random_state)
        with steady_blas(len(X) * (self.n_landmarks or len(X)) * width(X)):
            self.kernel_ = self._resolved(kernel, X, sample_weight)
            frame = self._frame(X, random_state, sample_weight)
            vectors, chosen = self._start(frame, X, y, random_state)
        coder = self._with_atom_labels(coder, y, chosen)
        formulation, options = self._coding_of(coder)
        if self.learn_kernel:
            first, weights = self._first_of(frame, vectors, X, chosen), frame.weights(vectors)
            self._start_kernel(X, y, sample_weight, random_state)
            if as_settings(self.learn_kernel).criterion == JOINT:  # by the learner, with the atoms
                frame, vectors = self._moved_frame(frame, weights)
            else:
                frame, vectors = self._learn_kernel(
                    coder, first, frame, weights, X, y, random_state
                )
        rounds = as_settings(self.learn_kernel).rounds if self.learn_kernel else 0
        learner = self._learner(frame, vectors, X, X[chosen], formulation, options)
        outcome = self._alternate(learner, formulation, self._keeper(learner, coder))
        for _ in range(rounds):
            dictionary = learner.dictionary(outcome.best)
            done = outcome.status in ("interrupted", "callback")
            if done or not isinstance(dictionary, CombinationDictionary):
                break
            kernel, weights = self.kernel_, dictionary.weights
            try:
                frame, vectors = self._learn_kernel(
                    coder, dictionary, frame, weights, X, y, random_state
                )
                again = self._learner(frame, vectors, X, X[chosen], formulation, options)
                learner, outcome = again, self._alternate(again, formulation)
            except KeyboardInterrupt:  # there is a dictionary already, of the kernel before
                self.kernel_, self.status_ = kernel, "interrupted"
                outcome.interrupted(stacklevel=4, where="while the kernel was learned again")
        learner, outcome = self._judged(learner, outcome, y, chosen)
        self._adopt(coder, learner.dictionary(outcome.best))
        return learner, outcome

    def _learner(
        self,
        frame: Frame,
        vectors: NDArray,
        X: NDArray,
        chosen: NDArray,
        formulation: Formulation,
        options: Options,
    ) -> Learner:
        """The taker of half-steps; ``chosen`` are the samples the first atoms are made of."""
        raise NotImplementedError

    def _start(
        self,
        frame: Frame,
        X: NDArray,
        y: NDArray | None,
        random_state: np.random.RandomState,
    ) -> tuple[NDArray, NDArray]:
        """First atoms, and for each the sample that counts most in it; nothing is learned yet."""
        rows, loads = first_atoms(frame, X, self.n_atoms_, self.init, random_state, y)
        vectors = np.asfortranarray(times_codes(frame.samples(rows), loads))
        require_distinct(frame, vectors)
        self._forget()
        return vectors, rows[dense(loads).argmax(axis=0)]

    def _forget(self) -> None:
        """Nothing has been learned yet."""
        self.objective_history_ = np.array([])
        self.objective_steps_ = np.array([], dtype=str)
        self.kernel_history_ = np.array([])
        self.n_iter_ = self.n_replaced_ = 0

    def _judged(
        self, learner: Learner, outcome: Outcome, y: NDArray | None, chosen: NDArray
    ) -> tuple[Learner, Outcome]:
        """The learner that is kept; one that judges what was learned may keep another."""
        return learner, outcome

    def _keeper(self, learner: Learner, coder: BaseKernelCoder) -> Keeps | None:
        """Who writes down every round; nobody, unless an estimator has checkpoints."""
        return None

    def _alternate(
        self, learner: Learner, formulation: Formulation, keeper: Keeps | None = None
    ) -> Outcome:
        """One run of the loop; its figures are added to those of earlier runs."""

        def first_codes() -> float:
            objective = learner.code()
            if learner.coded.usage.sum() == 0:
                refuse_zero_codes(formulation, learner.problems(), learner.coded.convergence)
            return objective

        loop = Alternation(self.max_iter, self.tol, self.callback, self.verbose)
        with steady_blas(learner.largest_product):
            outcome = loop.run(("codes", first_codes), learner.steps, learner.snapshot, keeper)
        self.objective_history_ = np.append(self.objective_history_, outcome.history)
        self.objective_steps_ = np.append(self.objective_steps_, outcome.steps)
        self.n_iter_ += outcome.n_iter
        self.n_replaced_ += learner.n_replaced
        self.status_ = outcome.status
        return outcome

    def _first_of(self, frame: Frame, vectors: NDArray, X: NDArray, chosen: NDArray) -> Dictionary:
        """The first atoms, as the kernel is learned for them."""
        if self.init == MEANS:
            return frame.dictionary(vectors)
        # Atoms that are samples are better left out of L.
        return PointDictionary(self.kernel_, X[chosen], chosen)

    def _start_kernel(
        self,
        X: NDArray,
        y: NDArray | None,
        sample_weight: NDArray | None,
        random_state: np.random.RandomState,
    ) -> None:
        """Where learning the kernel begins: several of them need weights."""
        few, own = followed(X, y, sample_weight, random_state)
        of_few = sample_weight if few is X else None  # others were drawn by weight
        counted = counting_labelled(few, own, of_few, self.kernel_)
        settings = as_settings(self.learn_kernel)
        self.kernel_ = prepared_start(self.kernel_, *counted, settings, self._learns_jointly)

    def _learn_kernel(
        self,
        coder: BaseKernelCoder,
        dictionary: Dictionary,
        frame: Frame,
        weights: NDArray,
        X: NDArray,
        y: NDArray | None,
        random_state: np.random.RandomState,
    ) -> tuple[Frame, NDArray]:
        """Better kernel parameters for the present atoms; these in the new space."""
        few, own = followed(X, y, frame.sample_weight, random_state)
        counted = frame.sample_weight if few is X else None  # those drawn all count
        self._better_kernel(coder, dictionary, few, own, counted, random_state)
        return self._moved_frame(frame, weights)

    def _better_kernel(
        self,
        coder: BaseKernelCoder,
        dictionary: Dictionary,
        X: NDArray,
        y: NDArray | None,
        sample_weight: NDArray | None,
        random_state: np.random.RandomState,
    ) -> None:
        """Better kernel parameters for the present atoms; samples of no weight do not count."""
        settings = as_settings(self.learn_kernel)
        formulation, options = self._coding_of(coder)
        counted, truth = counting(X, sample_weight, self.kernel_), truth_of(X, y, settings)
        if truth is not None and sample_weight is not None and len(counted) < len(X):
            truth = truth.take(np.flatnonzero(sample_weight > 0))
        learned = learn_kernel(
            formulation,
            options,
            self.kernel_,
            counted,
            dictionary,
            settings,
            random_state,
            truth,
        )
        learned.warn(stacklevel=6)
        self.kernel_ = learned.kernel
        self.kernel_status_ = learned.status
        self.kernel_history_ = np.append(self.kernel_history_, learned.history)

    def _moved_frame(self, frame: Frame, weights: NDArray) -> tuple[Frame, NDArray]:
        """Combinations of landmarks in the space of the present kernel."""
        landmarks = moved(frame.landmarks, self.kernel_)
        assert isinstance(landmarks, PointDictionary)
        new = frame.moved(landmarks)
        return new, new.coordinates(landmarks.facts.double @ weights, weights)

    # Machinery -------------------------------------------------------------------------------

    def _checked(self) -> tuple[BaseKernelCoder, Kernel]:
        """The coder and its kernel, parameters checked."""
        check_settings(self)
        coder = given_or_sparse(self.coder)
        check_coder(coder)
        return coder, as_kernel(coder.kernel)

    def _atoms_by_default(self, n_samples: int) -> int:
        """How many atoms are learned from so many samples where that is left open."""
        return number_of_atoms(None, n_samples)

    def _check_samples(
        self,
        X: NDArray,
        y: NDArray | None,
        coder: BaseKernelCoder,
        sample_weight: NDArray | None = None,
        where: str = "",
    ) -> None:
        if y is not None:
            check_consistent_length(X, y)
        count = len(X) if sample_weight is None else int(np.count_nonzero(sample_weight))
        weighted = sample_weight is not None
        by_default = self._atoms_by_default(count)
        self.n_atoms_ = atoms_to_learn(self, count, by_default, weighted, where)
        coder._outline(self.n_atoms_).check(self.n_atoms_)

    def _with_atom_labels(
        self, coder: BaseKernelCoder, y: NDArray | None, chosen: NDArray
    ) -> BaseKernelCoder:
        """The coder, told the classes of the samples that first atoms are made of."""
        return coder._with_atom_labels(y[chosen] if y is not None and has_classes(y) else None)

    def _resolved(self, kernel: Kernel, X: NDArray, sample_weight: NDArray | None = None) -> Kernel:
        """The kernel, its parameters resolved on the samples that count."""
        names = getattr(self, "feature_names_in_", None)
        if isinstance(X, Blocks):
            return kernel.resolve(measured(X, sample_weight), names)
        return kernel.resolve(counting(X, sample_weight, kernel), names)

    def _frame(
        self,
        X: NDArray,
        random_state: np.random.RandomState,
        sample_weight: NDArray | None = None,
    ) -> Frame:
        landmarks = self._landmarks(X, random_state, sample_weight)
        return frame_of(self.kernel_, X, landmarks, sample_weight)

    def _landmarks(
        self,
        X: NDArray,
        random_state: np.random.RandomState,
        sample_weight: NDArray | None = None,
    ) -> PointDictionary | None:
        """Chosen or given landmarks; None where all samples are to serve."""
        if not isinstance(self.landmarks, str):
            return given_landmarks(self.kernel_, self.landmarks, X)
        if self.n_landmarks is None:
            return None
        choice = named_choice(self.landmarks, "landmarks")
        return choose_landmarks(
            self.kernel_, X, self.n_landmarks, choice, random_state, sample_weight=sample_weight
        )

    def _coding_of(self, coder: BaseKernelCoder) -> tuple[Formulation, Options]:
        """What codes are while atoms are learned, and how they are computed."""
        options = options_of(coder)
        if self.n_jobs is not None:
            options = replace(options, n_jobs=self.n_jobs)
        return coder.formulation(), options

    def _coding(self) -> tuple[Formulation, Options]:
        return self.coder_.formulation(), options_of(self.coder_)

    def _adopt(self, coder: BaseKernelCoder, dictionary: Dictionary) -> None:
        self.dictionary_ = dictionary
        self.coder_ = fitted_with(coder, dictionary, like=self)
        if self.n_jobs is not None:
            self.coder_.set_params(n_jobs=self.n_jobs)
        self._n_features_out = dictionary.n_atoms

    @property
    def representatives_(self) -> NDArray:
        """For each atom the training samples with the largest weights, (n_atoms, at most 10)."""
        check_is_fitted(self, "dictionary_")
        dictionary = self.dictionary_
        if not isinstance(dictionary, CombinationDictionary):
            raise AttributeError(
                'Atoms learned with update="points" are points, not combinations of samples.'
            )
        order = np.argsort(-np.abs(dictionary.weights), axis=0, kind="stable")
        order = order[: min(REPRESENTATIVES, len(order))].T
        index = dictionary.landmarks.index
        return order if index is None else np.asarray(index)[order]

    def _validate_training(self, X: ArrayLike, kernel: Kernel, reset: bool = True) -> NDArray:
        if reset and self._learns_far and (isinstance(X, Blocks) or is_lazy(X)):
            return cast(NDArray, far_samples(self, X, kernel))  # gives rows as an array does
        return samples(self, X, kernel, reset=reset, min_samples=2 if reset else 1)

    def _checked_weight(self, sample_weight: ArrayLike | None, X: NDArray) -> NDArray | None:
        """Weights of samples in double precision; ValueError where all are zero."""
        if sample_weight is None:
            return None
        sample_weight = at_hand(sample_weight, X)
        weight = _check_sample_weight(
            sample_weight, X, dtype=np.float64, ensure_non_negative=True, copy=True
        )
        if not weight.any():
            raise ValueError("sample_weight must be positive for some samples, got zeros only.")
        return weight

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
