"""What all extractors of local descriptors share: images in, one record per image out."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import Tags

from ..distributed.methods import over_blocks
from .mapping import map_images
from .reading import Answer, ImageLike, Images
from .records import ImageDescriptors


def _anything(extractor: DescriptorExtractor, dtype: np.dtype) -> None:
    """What ``transform`` answers for an image is no array: it stays in delayed blocks."""


class DescriptorExtractor(TransformerMixin, BaseEstimator):
    """A transformer that learns nothing; subclasses say how one image is described.

    They have the parameters ``on_error``, ``n_jobs`` and ``verbose``.
    """

    on_error: str
    n_jobs: int | None
    verbose: int

    skipped_: list[int]

    @abstractmethod
    def describer(self) -> Callable[[ImageLike], ImageDescriptors]:
        """Check the parameters and return the function that describes one image."""

    def fit(self, X: Images, y: object = None) -> Self:
        """Check the parameters; there is nothing to learn.

        Parameters
        ----------
        X : list of paths, or of arrays of shape (height, width[, 3])
            Images; not looked at.
        y : ignored
            For pipelines.

        Returns
        -------
        self : object
            The transformer itself.
        """
        self.describer()
        return self

    @over_blocks(_anything, takes="items")
    def transform(self, X: Images) -> list[ImageDescriptors]:
        """Describe images.

        Parameters
        ----------
        X : list of paths, of arrays of shape (height, width[, 3]), or of ``Masked``
            The images. For images or paths of Dask (an array, a series, a bag, a list of delayed
            lists) the answer is a list of delayed blocks, each a list of records.

        Returns
        -------
        records : list of ImageDescriptors
            One per image, with ``.descriptors`` (n, d) of float32, ``.positions`` (n, 2),
            ``.scales`` (n,) and the ``.shape`` of the image.
        """
        records, self.skipped_ = self.map(X, lambda _, record: record)
        return records

    def map(
        self, X: Images, function: Callable[[int, ImageDescriptors], Answer]
    ) -> tuple[list[Answer], list[int]]:
        """``function(index, record)`` of every image, no more records at a time than threads.

        Parameters
        ----------
        X : list of paths, of arrays of shape (height, width[, 3]), or of ``Masked``
            The images.
        function : callable
            Of the index of an image and its descriptors.

        Returns
        -------
        results : list
            In the order of the images, skipped ones left out.
        skipped : list of int
            Indices of the images left out.
        """
        describe = self.describer()
        return map_images(
            lambda index, source: function(index, describe(source)),
            X,
            on_error=self.on_error,
            n_jobs=self.n_jobs,
            verbose=self.verbose,
        )

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.requires_fit = False
        tags.no_validation = True
        tags.input_tags.two_d_array = False
        tags.input_tags.string = True
        return tags
