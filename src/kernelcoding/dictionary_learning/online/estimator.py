"""What an estimator adds to dictionary learning where samples come in batches."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if

from ...coders.base import BaseKernelCoder
from ...dictionary import PointDictionary
from ...kernel_learning import as_settings, prepared_start
from ...kernels import Kernel
from ..checks import check_online, counting_labelled, tell_zero_codes
from ..class_wise.estimator import ClassWiseDictionaryLearning
from ..far import labels_at_hand
from ..frames import Frame, LandmarkFrame
from ..state import unit_norms
from ..sums import Sums
from ..updates import update_for
from .state import OnlineState


def learns_from_batches(estimator: OnlineDictionaryLearning) -> bool:
    """Whether there is partial_fit; AttributeError says why there is none."""
    if estimator.per_class:
        raise AttributeError(
            "per_class=True learns from all samples of a class at once, not from batches. Use "
            "fit(X, y) with an array, or per_class=False."
        )
    return True


class OnlineDictionaryLearning(ClassWiseDictionaryLearning):
    """Learns a dictionary from all samples, or from one batch after the other."""

    forgetting: float | str

    # What partial_fit goes on from: the state after some batches; or, after a fit to all samples,
    # atoms in their coordinates and the sums over samples.
    _online: OnlineState | None
    _learned: tuple[Frame, tuple[NDArray, Sums]] | None

    def _fit_batches(self, batches: Iterator[ArrayLike]) -> Self:
        for name in [name for name in vars(self) if name.endswith("_") and name[0] != "_"]:
            delattr(self, name)
        for batch in batches:
            self.partial_fit(batch)
        if self._online is None:
            raise ValueError("The iterator of batches was empty.")
        return self

    @available_if(learns_from_batches)
    def partial_fit(
        self,
        X: ArrayLike,
        y: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Learn from one more batch of samples.

        The first batch gives the landmarks (all of it with ``n_landmarks=None``), unless they are
        given, and the first atoms. Only two sums over samples are kept, so that memory does not
        grow.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features) or (n_samples, p, q)
            A batch of samples.
        y : array-like of shape (n_samples,), default=None
            Class labels, for a balanced first dictionary.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of samples.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        coder, kernel = self._checked()
        check_online(self.update, kernel, X)
        learned = getattr(self, "_learned", None)
        if learned is not None:
            frame, (vectors, sums) = learned
            self._online = OnlineState.after(frame, vectors, sums)
            self._learned = None
        first = getattr(self, "_online", None) is None
        X = self._validate_training(X, kernel, reset=first)
        weight = self._checked_weight(sample_weight, X)
        if first:
            labels = labels_at_hand(y, X)
            coder = self._begin(coder, kernel, X, labels, weight)
        else:
            coder = coder._with_labels_of(self.coder_)
        formulation, options = self._coding_of(coder)
        assert self._online is not None
        update = update_for(self.update, formulation)
        outcome = self._online.learn(X, formulation, options, update, self.forgetting, weight)
        outcome.convergence.warn(" of this batch")
        self.objective_history_ = np.append(self.objective_history_, outcome.objective)
        self.n_replaced_ += outcome.n_replaced
        self.n_iter_ += 1
        self._adopt(coder, self._online.frame.dictionary(self._online.vectors))
        tell_zero_codes(self, outcome.convergence, X, " of this batch")
        return self

    def _begin(
        self,
        coder: BaseKernelCoder,
        kernel: Kernel,
        X: NDArray,
        y: NDArray | None,
        sample_weight: NDArray | None,
    ) -> BaseKernelCoder:
        """Kernel, landmarks and first atoms of a first batch; the coder knows their labels."""
        self._check_samples(X, y, coder, sample_weight, " in the first batch")
        self.kernel_ = self._resolved(kernel, X, sample_weight)
        random_state = check_random_state(self.random_state)
        landmarks = self._landmarks(X, random_state, sample_weight) or PointDictionary(
            self.kernel_, X, np.arange(len(X))
        )
        frame = LandmarkFrame(landmarks, X)
        frame.sample_weight = sample_weight
        vectors, chosen = self._start(frame, X, y, random_state)
        coder = self._with_atom_labels(coder, y, chosen)
        if self.learn_kernel:
            self.kernel_ = prepared_start(
                self.kernel_,
                *counting_labelled(X, y, sample_weight, self.kernel_),
                as_settings(self.learn_kernel),
            )
            new, vectors = self._learn_kernel(
                coder, frame.dictionary(vectors), frame, frame.weights(vectors), X, y, random_state
            )
            assert isinstance(new, LandmarkFrame)
            frame = new
        if coder.formulation().is_cone:
            vectors = unit_norms(frame, vectors, vectors)[0]
        self._online = OnlineState(frame.without_samples(), vectors, Sums.none(vectors))
        self.status_ = "online"
        return coder
