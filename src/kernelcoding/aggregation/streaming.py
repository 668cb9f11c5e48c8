"""From images to vectors with the descriptors of few images in memory."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import Protocol, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.utils import Tags, check_random_state
from sklearn.utils.validation import check_is_fitted

from ..distributed.inputs import is_lazy
from ..distributed.methods import RowAnswer, over_blocks
from ..validation import check_count
from .base import applied
from .sets import DescriptorSet


class PlacedDescriptors(Protocol):
    """What an extractor makes of one image."""

    @property
    def descriptors(self) -> NDArray:
        """One descriptor per row."""

    @property
    def positions(self) -> NDArray:
        """Row and column of each."""

    @property
    def shape(self) -> tuple[int, int]:
        """Height and width of the image."""


def _vector(aggregator: ImageAggregator, dtype: np.dtype) -> RowAnswer:
    """What ``transform`` answers for an image; extractors describe in single precision."""
    skips = getattr(aggregator.extractor, "on_error", "raise") == "skip"
    width = len(aggregator.get_feature_names_out())
    return RowAnswer((width,), np.dtype(np.float32), may_skip=skips)


class ImageAggregator(TransformerMixin, BaseEstimator):
    """An extractor and an aggregator as one: images in, one vector per image out.

    ``make_pipeline(extractor, aggregator)`` gives the same kind of vectors, but holds the
    descriptors of all images at once, some 15 megabytes per photograph. Here they are aggregated
    image by image.

    Parameters
    ----------
    extractor : transformer
        Such as ``DenseRootSIFT()``: has ``map(X, function)``. Its ``n_jobs`` threads share the
        images, its ``on_error`` says what happens to those that cannot be read.
    aggregator : transformer
        Of descriptor sets, such as ``FisherVector()`` or ``SpatialPyramid(coder)``.
    n_samples : int or None, default=200_000
        Number of descriptors, about equally many of each training image, that the aggregator is
        fitted to; None takes all. The aggregator may draw fewer of these by its own ``n_samples``.
    random_state : int, RandomState or None, default=0
        For the draw.

    Attributes
    ----------
    aggregator_ : transformer
        Fitted.
    skipped_ : list of int
        Indices of the images that the last ``fit`` or ``transform`` left out; empty unless the
        extractor has ``on_error="skip"``. The output has no row for them.

    Notes
    -----
    ``fit_transform`` computes descriptors twice, unless the extractor keeps them
    (``DenseRootSIFT(memory=...)``). An image without descriptors has a vector of zeros; a warning
    says which.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelcoding.aggregation import FisherVector, ImageAggregator
    >>> from kernelcoding.images import DenseRootSIFT
    >>> photographs = np.random.default_rng(0).integers(0, 256, (3, 40, 60), dtype=np.uint8)
    >>> fisher = FisherVector(n_components=4, n_pca=8, random_state=0)
    >>> vectors = ImageAggregator(DenseRootSIFT(step=8), fisher, random_state=0)
    >>> vectors.fit_transform(photographs).shape
    (3, 64)
    """

    aggregator_: TransformerMixin
    skipped_: list[int]

    def __init__(
        self,
        extractor: TransformerMixin,
        aggregator: TransformerMixin,
        n_samples: int | None = 200_000,
        random_state: int | np.random.RandomState | None = 0,
    ) -> None:
        self.extractor = extractor
        self.aggregator = aggregator
        self.n_samples = n_samples
        self.random_state = random_state

    def fit(self, X: Iterable[object], y: object = None) -> Self:
        """Fit the aggregator to descriptors drawn from all images.

        Parameters
        ----------
        X : list of paths, or of arrays of shape (height, width[, 3])
            One image each, as the extractor takes it.
        y : ignored
            For pipelines.

        Returns
        -------
        self : object
            The fitted transformer.
        """
        if not hasattr(self.extractor, "map"):
            raise ValueError(
                "extractor must have map(X, function), as DenseRootSIFT has, got "
                f"{self.extractor!r}."
            )
        if self.n_samples is not None:
            check_count("n_samples", self.n_samples)
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        given = clone(self.extractor), self.n_samples, seed
        if is_lazy(X):
            from ..distributed.gathering import from_blocks

            found = from_blocks(X, drawn_sets, *given)
        else:
            images = list(X)
            found = [drawn_sets(images, 0, len(images), *given)]
        self.skipped_ = [index for _, skipped in found for index in skipped]
        self.aggregator_ = clone(self.aggregator).fit([one for sets, _ in found for one in sets])
        return self

    @over_blocks(_vector, takes="items")
    def transform(self, X: Iterable[object]) -> NDArray:
        """One vector per image.

        Parameters
        ----------
        X : list of paths, or of arrays of shape (height, width[, 3])
            One image each, as the extractor takes it.

        Returns
        -------
        vectors : array of shape (n_images, n_features_out)
        """
        check_is_fitted(self, "aggregator_")

        def aggregate(_: int, record: PlacedDescriptors) -> NDArray | None:
            if len(record.descriptors) == 0:
                return None  # an empty set would warn by its index in a list of one
            return np.asarray(applied(self.aggregator_, [record]))[0]

        found, self.skipped_ = clone(self.extractor).map(X, aggregate)
        empty = [row for row, vector in enumerate(found) if vector is None]
        if empty:
            warnings.warn(
                f"{len(empty)} of {len(found)} images have no descriptors, their vectors are "
                f"zeros: rows {empty}.",
                stacklevel=4,
            )
        kind = next((vector.dtype for vector in found if vector is not None), np.float64)
        vectors = np.zeros((len(found), len(self.get_feature_names_out())), dtype=kind)
        for row, vector in enumerate(found):
            if vector is not None:
                vectors[row] = vector
        return vectors

    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> NDArray:
        """Names of the entries of a vector, the aggregator's."""
        check_is_fitted(self, "aggregator_")
        return self.aggregator_.get_feature_names_out()

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.no_validation = True
        tags.input_tags.two_d_array = False
        tags.input_tags.string = True
        return tags


def drawn_sets(
    images: list[object],
    first: int,
    total: int,
    extractor: TransformerMixin,
    n_samples: int | None,
    seed: int,
) -> tuple[list[DescriptorSet], list[int]]:
    """Some descriptors of each image, the same however images are grouped, and who was skipped.

    Parameters
    ----------
    images : list of images
    first : int
        Number of the first one among all.
    total : int
        Images in all.
    extractor : transformer
    n_samples : int or None
        Descriptors to draw from all images.
    seed : int
    """
    share = None if n_samples is None else -(-n_samples // max(1, total))

    def draw(index: int, record: PlacedDescriptors) -> DescriptorSet:
        count = len(record.descriptors)
        rows = np.arange(count)
        if share is not None and share < count:
            generator = np.random.default_rng((seed, first + index))
            rows = np.sort(generator.choice(count, share, replace=False))
        return DescriptorSet(record.descriptors[rows], record.positions[rows], record.shape)

    sets, skipped = extractor.map(images, draw)
    return sets, [first + index for index in skipped]
