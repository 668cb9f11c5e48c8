"""What all aggregators share: check the sets, learn from a sample, aggregate, normalise."""

from __future__ import annotations

from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn import config_context
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import Tags, check_random_state
from sklearn.utils.validation import check_is_fitted

from ..codes import Codes
from ..distributed.methods import RowAnswer, over_blocks, refuse_lazy
from ..validation import check_count
from .sets import DescriptorSets, Sets, check_sets

# Blocks of descriptors whose intermediate arrays take about this many numbers (32 MB).
BLOCK_SIZE = 2**22


def _vector(transformer: SetTransformer, dtype: np.dtype) -> RowAnswer:
    """What ``transform`` answers for a set; blocks of sets do not tell their precision."""
    return RowAnswer((transformer._n_features_out,), np.dtype(np.float64))


class SetTransformer(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Sets of descriptors in, one vector per set out."""

    n_samples: int | None
    random_state: int | np.random.RandomState | None

    descriptor_shape_: tuple[int, ...]
    n_features_in_: int

    def fit(self, X: Sets, y: object = None) -> Self:
        """Learn from descriptors sampled from all sets.

        Parameters
        ----------
        X : list of arrays of shape (n_i, d), or of records with ``descriptors``
            The training sets. Empty ones are passed over.
        y : ignored
            For pipelines.

        Returns
        -------
        self : object
            The fitted transformer.
        """
        if self.n_samples is not None:
            check_count("n_samples", self.n_samples)
        self._check_parameters()
        refuse_lazy(self, X, training=True)
        sets = check_sets(X, ndim=self._descriptor_ndim(), positions=self._wants_positions)
        if sets.n_descriptors == 0:
            raise ValueError(
                f"All {len(sets)} descriptor sets are empty: there is nothing to learn from."
            )
        random_state = check_random_state(self.random_state)
        sample = sets.sample(self.n_samples, random_state)
        self.descriptor_shape_ = sample.shape[1:]
        self.n_features_in_ = int(np.prod(self.descriptor_shape_))
        self._n_features_out = self._learn(sample, random_state)
        return self

    @over_blocks(_vector, takes="items")
    def transform(self, X: Sets) -> NDArray:
        """One vector per set.

        Parameters
        ----------
        X : list of arrays of shape (n_i, d), or of records with ``descriptors``
            The sets. The vector of an empty set is zero; a warning says which are empty.

        Returns
        -------
        vectors : array of shape (n_sets, n_features_out)
            In the precision of the descriptors.
        """
        sets = self._checked(X)
        return self._aggregate(sets).astype(sets.dtype, copy=False)

    # What subclasses say ------------------------------------------------------------------

    _wants_positions = False

    def _descriptor_ndim(self) -> int:
        """Axes of an array of descriptors."""
        return 2

    def _check_parameters(self) -> None:
        """Refuse parameters that are wrong for any data."""

    def _learn(self, sample: NDArray, random_state: np.random.RandomState) -> int:
        """Learn from a sample of descriptors; the answer is the length of the vectors."""
        raise NotImplementedError

    def _aggregate(self, sets: DescriptorSets) -> NDArray:
        """The vectors, (n_sets, n_features_out); zero for an empty set."""
        raise NotImplementedError

    # Machinery ----------------------------------------------------------------------------

    def _checked(self, X: Sets) -> DescriptorSets:
        check_is_fitted(self, "_n_features_out")
        sets = check_sets(
            X,
            ndim=self._descriptor_ndim(),
            shape=self.descriptor_shape_,
            positions=self._wants_positions,
        )
        sets.warn_if_empty()
        return sets

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.three_d_array = True
        tags.no_validation = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def descriptors_per_block(n_numbers: int) -> int:
    """Descriptors per block, where each needs that many numbers."""
    return max(64, BLOCK_SIZE // max(n_numbers, 1))


def applied(transformer: TransformerMixin, X: ArrayLike | Sets) -> Codes:
    """What a transformer makes of X: arrays, also where the user has asked for data frames."""
    with config_context(transform_output="default"):
        return transformer.transform(X)


def require_enough(sample: NDArray, name: str, count: int) -> None:
    """Refuse to learn more words than there are descriptors."""
    if len(sample) < count:
        raise ValueError(
            f"{name}={count} needs at least {count} descriptors, got {len(sample)} in all sets: "
            f"lower {name} or pass more descriptors."
        )
