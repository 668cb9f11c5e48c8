"""What learning estimators share: kernel, landmarks, first atoms, the loop, and what comes out."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin, clone
from sklearn.utils import check_random_state, get_tags
from sklearn.utils.validation import check_consistent_length, check_is_fitted, validate_data

from ..coders.sparse import KernelSparseCoder
from ..dictionary import Dictionary, PointDictionary
from ..kernels import Kernel, as_kernel
from .alternation import Alternation, Outcome
from .checks import check_coder, check_settings, refuse_zero_codes, require_distinct
from .frames import Frame, LandmarkFrame, SampleFrame, sample_frame
from .initial import first_atoms
from .kernel_learning import as_settings, learn_kernel, moved, prepared_start
from .landmarks import choose_landmarks, given_landmarks
from .points import preimages_of

REPRESENTATIVES = 10


class BaseDictionaryLearning(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Learns atoms in turn with codes, and perhaps with more; subclasses say with what."""

    coder: Any
    n_atoms: int
    n_landmarks: int | None
    landmarks: Any
    init: str
    learn_kernel: Any
    max_iter: int
    tol: float
    callback: Any
    verbose: int
    n_jobs: int | None
    random_state: Any

    def _learn(self, X: NDArray, y, coder, kernel: Kernel) -> tuple[Any, Outcome]:
        """Learn kernel and atoms from checked samples; the learner and how it ended."""
        self._check_samples(X, y)
        self.kernel_ = kernel.resolve(X, getattr(self, "feature_names_in_", None))
        random_state = check_random_state(self.random_state)
        frame = self._frame(X, random_state)
        vectors, chosen = self._start(frame, coder, X, y, random_state)
        if self.learn_kernel:
            first: Dictionary = frame.dictionary(vectors)
            if self.init != "kernel-k-means":  # then the atoms are samples, better left out of L
                first = PointDictionary(self.kernel_, X[chosen], chosen)
            self.kernel_ = prepared_start(self.kernel_, X, y, as_settings(self.learn_kernel))
            weights = frame.weights(vectors)
            frame, vectors = self._learn_kernel(first, frame, weights, X, random_state)
        rounds = as_settings(self.learn_kernel).rounds if self.learn_kernel else 0
        for remaining in range(rounds, -1, -1):
            learner = self._learner(frame, vectors, X, X[chosen])
            outcome = self._alternate(learner)
            dictionary = learner.dictionary(outcome.best)
            if isinstance(dictionary, PointDictionary):
                break
            if outcome.status in ("interrupted", "callback"):
                break
            if remaining:
                weights = dictionary.weights
                frame, vectors = self._learn_kernel(dictionary, frame, weights, X, random_state)
        self._adopt(dictionary)
        return learner, outcome

    def _learner(self, frame: Frame, vectors: NDArray, X: NDArray, chosen: NDArray) -> Any:
        """Who takes the half-steps; ``chosen`` are the samples the first atoms are made of."""
        raise NotImplementedError

    def _start(self, frame: Frame, coder, X: NDArray, y, random_state) -> tuple[NDArray, NDArray]:
        """First atoms, and for each the sample that counts most in it; nothing is learned yet."""
        rows, loads = first_atoms(frame, X, self.n_atoms, self.init, random_state, y)
        vectors = np.asfortranarray(frame.samples(rows) @ loads)
        require_distinct(frame, vectors)
        self.coder_ = self._coder_with(coder, frame.dictionary(vectors), X)
        self.objective_history_ = np.array([])
        self.objective_steps_ = np.array([], dtype=str)
        self.kernel_history_ = np.array([])
        self.n_iter_ = self.n_replaced_ = 0
        return vectors, rows[loads.argmax(axis=0)]

    def _alternate(self, learner) -> Outcome:
        """One run of the loop; its figures are added to those of earlier runs."""
        outcome = Alternation(self.max_iter, self.tol, self.callback, self.verbose).run(
            ("codes", self._first_codes(learner)), learner.steps, learner.snapshot
        )
        self.objective_history_ = np.append(self.objective_history_, outcome.history)
        self.objective_steps_ = np.append(self.objective_steps_, outcome.steps)
        self.n_iter_ += outcome.n_iter
        self.n_replaced_ += learner.n_replaced
        self.status_ = outcome.status
        return outcome

    def _learn_kernel(
        self, dictionary: Dictionary, frame: Frame, weights: NDArray, X: NDArray, random_state
    ) -> tuple[Frame, NDArray]:
        """Better kernel parameters for the present atoms; these in the new space."""
        settings = as_settings(self.learn_kernel)
        learned = learn_kernel(self.coder_, self.kernel_, X, dictionary, settings, random_state)
        self.kernel_ = self.coder_.kernel_ = learned.kernel
        self.kernel_history_ = np.append(self.kernel_history_, learned.history)
        landmarks = moved(frame.landmarks, learned.kernel)
        assert isinstance(landmarks, PointDictionary)
        new: Frame = (
            SampleFrame(landmarks)
            if isinstance(frame, SampleFrame)
            else LandmarkFrame(landmarks, X)
        )
        return new, new.coordinates(landmarks.facts.double @ weights, weights)

    # Using what was learned ------------------------------------------------------------------

    def transform(self, X):
        """Code samples with the learned dictionary.

        Parameters
        ----------
        X : array-like
            Samples.

        Returns
        -------
        codes : array of shape (n, n_atoms), or CSR array if the coder has ``sparse_output=True``
        """
        X = self._validate_query(X)
        return self.coder_.transform(X)

    def reconstruction_error(self, X, codes=None) -> NDArray:
        """Squared distance in H between samples and their reconstructions, (n,)."""
        X = self._validate_query(X)
        return self.coder_.reconstruction_error(X, codes)

    def certify(self, X, codes) -> NDArray:
        """Upper bound on how far each code is from the optimum of its problem, (n,)."""
        X = self._validate_query(X)
        return self.coder_.certify(X, codes)

    def preimages(self, n_steps: int = 100) -> NDArray:
        """Points of the input space that show the atoms, (n_atoms, n_features).

        Exact for the linear kernel and for atoms that are points; for the Gaussian kernel the
        points most similar to the atoms, by fixed-point iteration; for other kernels on vectors
        the most similar landmarks.
        """
        check_is_fitted(self, "dictionary_")
        return preimages_of(self.dictionary_, n_steps)

    # Machinery -------------------------------------------------------------------------------

    def _checked(self) -> tuple[Any, Kernel]:
        """The coder and its kernel, parameters checked."""
        check_settings(self)
        coder = KernelSparseCoder() if self.coder is None else self.coder
        check_coder(coder)
        return coder, as_kernel(coder.kernel)

    def _check_samples(self, X: NDArray, y) -> None:
        if y is not None:
            check_consistent_length(X, y)
        if self.n_atoms > len(X):
            raise ValueError(
                f"n_atoms={self.n_atoms} must be at most the number of training samples, "
                f"n_samples={len(X)}."
            )

    def _frame(self, X: NDArray, random_state) -> Frame:
        landmarks = self._landmarks(X, random_state)
        if landmarks is None:
            return sample_frame(self.kernel_, X)
        return LandmarkFrame(landmarks, X)

    def _landmarks(self, X: NDArray, random_state) -> PointDictionary | None:
        """Chosen or given landmarks; None where all samples are to serve."""
        if not isinstance(self.landmarks, str):
            return given_landmarks(self.kernel_, self.landmarks, X)
        if self.n_landmarks is None:
            return None
        return choose_landmarks(self.kernel_, X, self.n_landmarks, self.landmarks, random_state)

    def _first_codes(self, learner):
        def code() -> float:
            objective = learner.code()
            if learner.usage.sum() == 0:
                refuse_zero_codes(self.coder_.formulation(), learner.crosses())
            return objective

        return code

    def _coder_with(self, coder, dictionary, X: NDArray):
        fitted = clone(coder).set_params(atoms=dictionary)
        if self.n_jobs is not None:
            fitted.set_params(n_jobs=self.n_jobs)
        return fitted.fit(np.asarray(X[:1]))

    def _options(self):
        return self.coder_.training_options()

    def _adopt(self, dictionary) -> None:
        self.dictionary_ = dictionary
        self.coder_.atoms = self.coder_.dictionary_ = dictionary
        self._n_features_out = dictionary.n_atoms

    @property
    def representatives_(self) -> NDArray:
        """For each atom the training samples with the largest weights, (n_atoms, at most 10)."""
        check_is_fitted(self, "dictionary_")
        dictionary = self.dictionary_
        if isinstance(dictionary, PointDictionary):
            raise AttributeError(
                'Atoms learned with update="points" are points, not combinations of samples.'
            )
        order = np.argsort(-np.abs(dictionary.weights), axis=0, kind="stable")
        order = order[: min(REPRESENTATIVES, len(order))].T
        index = dictionary.landmarks.index
        return order if index is None else np.asarray(index)[order]

    def _validate(self, X, kernel: Kernel, reset: bool) -> NDArray:
        return validate_data(
            self,
            X,
            dtype=[np.float64, np.float32],
            allow_nd=kernel.input_ndim != 2,
            ensure_min_samples=2 if reset else 1,
            reset=reset,
        )

    def _validate_query(self, X) -> NDArray:
        check_is_fitted(self, "dictionary_")
        return self._validate(X, self.kernel_, reset=False)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        coder = KernelSparseCoder() if self.coder is None else self.coder
        tags.input_tags = get_tags(coder).input_tags
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
