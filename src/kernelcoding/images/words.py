"""Bags of visual words as a transformer: images or their descriptors in, histograms out."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from itertools import chain
from typing import Self, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin, clone
from sklearn.decomposition import PCA
from sklearn.utils import Tags, check_random_state
from sklearn.utils.validation import check_is_fitted

from ..distributed.inputs import is_lazy
from ..distributed.methods import RowAnswer, over_blocks
from ..validation import check_count
from .codebook import ALGORITHMS, NORMALIZATIONS, count_words, learn_words
from .extractor import DescriptorExtractor
from .mapping import map_images
from .reading import Answer, ImageLike, Images
from .records import ImageDescriptors
from .sift import DenseRootSIFT

ImagesOrSets: TypeAlias = Sequence[ImageLike | ImageDescriptors] | NDArray


def _histogram(words: VisualWords, dtype: np.dtype) -> RowAnswer:
    """What ``transform`` answers for an image."""
    skips = getattr(words.descriptors, "on_error", "raise") == "skip"
    kind = np.dtype(np.float64)
    return RowAnswer((words._n_features_out,), kind, may_skip=skips)


class VisualWords(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    r"""Histogram of visual words of each image, optionally whitened.

    k-means finds ``n_words`` centres in a sample of the training descriptors; an image is the
    histogram h of the words nearest to its descriptors, normalised.

    Parameters
    ----------
    n_words : int, default=800
        Size of the codebook.
    descriptors : extractor, default=None
        Turns images into local descriptors. None is ``DenseRootSIFT(n_jobs=n_jobs)``. See Notes
        for what counts as an image.
    normalization : {"hellinger", "l1", "l2", "none"}, default="hellinger"
        :math:`\sqrt{h / \|h\|_1}`, :math:`h / \|h\|_1`, :math:`h / \|h\|_2`, or the counts.
    n_samples : int, default=200_000
        Training descriptors that k-means sees, about the same number from each image.
    algorithm : {"auto", "lloyd", "staged", "minibatch"}, default="auto"
        How k-means iterates: over the whole sample from a k-means++ start; from random
        descriptors over a fifth of the sample, then over all of it; or over random batches.
        ``"auto"`` works in stages from 2,000 words on.
    n_components : int or None, default=None
        If not None, histograms are projected on that many principal components and whitened.
    svd_solver : {"auto", "full", "randomized"}, default="auto"
        How :class:`~sklearn.decomposition.PCA` finds the components.
    n_jobs : int, default=None
        Threads over images; None is one, -1 all cores. With `descriptors` given, its own
        ``n_jobs`` counts.
    random_state : int, RandomState or None, default=0
        For the sample, k-means and the randomised PCA.

    Attributes
    ----------
    words_ : array of shape (n_words, d), float32
        The codebook.
    whitening_ : PCA or None
        Fitted, when ``n_components`` is not None.
    skipped_ : list of int
        Indices of the images left out by the last ``transform``; empty unless the extractor has
        ``on_error="skip"``. The output has no row for them.

    Notes
    -----
    `X` is a list of images (paths, integer arrays, ``Masked``) or a list of descriptor sets: the
    records of an extractor, or floating-point arrays (n_i, d). Gray floating-point images look
    like the latter: give an extractor explicitly, and arrays are images whatever their type.

    From images, descriptors are never held for more images than there are threads;
    ``fit_transform`` computes them twice, unless the extractor keeps them
    (``DenseRootSIFT(memory=...)``). An image without descriptors has a histogram of zeros, with a
    warning.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelcoding.images import VisualWords
    >>> sets = [np.array([[0.0], [0.1], [5.0]]), np.array([[5.1], [4.9]])]
    >>> words = VisualWords(n_words=2, normalization="l1", random_state=0).fit(sets)
    >>> order = words.words_[:, 0].argsort()
    >>> words.transform(sets)[:, order].round(3)
    array([[0.667, 0.333],
           [0.   , 1.   ]])
    """

    words_: NDArray
    whitening_: PCA | None
    skipped_: list[int]
    n_features_in_: int

    def __init__(
        self,
        n_words: int = 800,
        descriptors: DescriptorExtractor | None = None,
        normalization: str = "hellinger",
        n_samples: int = 200_000,
        algorithm: str = "auto",
        n_components: int | None = None,
        svd_solver: str = "auto",
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = 0,
    ) -> None:
        self.n_words = n_words
        self.descriptors = descriptors
        self.normalization = normalization
        self.n_samples = n_samples
        self.algorithm = algorithm
        self.n_components = n_components
        self.svd_solver = svd_solver
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: ImagesOrSets, y: object = None) -> Self:
        """Learn the codebook and, if asked, the whitening.

        Parameters
        ----------
        X : list of paths, of arrays of shape (height, width[, 3]), or of descriptor sets (n_i, d)
            One entry per image; see Notes of the class.
        y : ignored
            For pipelines.

        Returns
        -------
        self : object
            The fitted transformer.
        """
        self._fit_words(X)
        if self.n_components is not None:
            whole = self.transform(X) if is_lazy(X) else self._histograms(X)
            self._fit_whitening(np.asarray(whole), self.n_components)
        return self

    def fit_transform(self, X: ImagesOrSets, y: object = None) -> NDArray:
        """Fit, and return the histograms of the training images.

        Parameters
        ----------
        X : list of paths, of arrays of shape (height, width[, 3]), or of descriptor sets (n_i, d)
            One entry per image; see Notes of the class.
        y : ignored
            For pipelines.

        Returns
        -------
        histograms : array of shape (n, n_words) or (n, n_components)
        """
        if is_lazy(X):
            return self.fit(X).transform(X)
        self._fit_words(X)
        histograms = self._histograms(X)
        if self.n_components is not None:
            self._fit_whitening(histograms, self.n_components)
        return self._whitened(histograms)

    @over_blocks(_histogram, takes="items")
    def transform(self, X: ImagesOrSets) -> NDArray:
        """Histograms of images.

        Parameters
        ----------
        X : list of paths, of arrays of shape (height, width[, 3]), or of descriptor sets (n_i, d)
            One entry per image; see Notes of the class.

        Returns
        -------
        histograms : array of shape (n, n_words) or (n, n_components)
        """
        check_is_fitted(self)
        return self._whitened(self._histograms(X))

    def _fit_words(self, X: ImagesOrSets) -> None:
        self._check_parameters()
        random_state = check_random_state(self.random_state)
        seed = int(random_state.randint(2**31 - 1))
        if is_lazy(X):
            from ..distributed.gathering import from_blocks

            drawn = list(chain.from_iterable(from_blocks(X, _drawn, clone(self), seed)))
        else:
            drawn = _drawn(X, 0, len(X), self, seed)
        self.n_features_in_ = check_widths(drawn)
        sample = np.concatenate([values for values in drawn if len(values)])
        if len(sample) < self.n_words:
            raise ValueError(
                f"n_words={self.n_words} needs at least as many training descriptors, got "
                f"{len(sample)}: use fewer words or more images."
            )
        self.words_ = learn_words(sample, self.n_words, self.algorithm, random_state)
        self.whitening_ = None
        self._n_features_out = self.n_words

    def _fit_whitening(self, histograms: NDArray, n_components: int) -> None:
        largest = min(histograms.shape)
        if not 1 <= n_components <= largest:
            raise ValueError(
                f"n_components must be between 1 and {largest}, the smaller of images and words, "
                f"got {n_components}."
            )
        self.whitening_ = PCA(
            n_components,
            whiten=True,
            svd_solver=self.svd_solver,
            random_state=self.random_state,
        ).fit(histograms)
        self._n_features_out = n_components

    def _histograms(self, X: ImagesOrSets) -> NDArray:
        def count(_: int, values: NDArray) -> NDArray:
            if len(values) and values.shape[1] != self.n_features_in_:
                raise ValueError(
                    f"expected descriptors of {self.n_features_in_} numbers as in fit, got "
                    f"{values.shape[1]}."
                )
            return count_words(values, self.words_)

        counted, self.skipped_ = self._map(X, count)
        counts = np.stack(counted)
        empty = np.flatnonzero(counts.sum(axis=1) == 0)
        if len(empty):
            warnings.warn(
                f"{len(empty)} of {len(counts)} images have no descriptors, their histograms are "
                f"zeros: rows {empty.tolist()}.",
                stacklevel=3,
            )
        return NORMALIZATIONS[self.normalization](counts)

    def _whitened(self, histograms: NDArray) -> NDArray:
        return histograms if self.whitening_ is None else self.whitening_.transform(histograms)

    def _map(
        self, X: ImagesOrSets, function: Callable[[int, NDArray], Answer]
    ) -> tuple[list[Answer], list[int]]:
        """``function(index, descriptors)`` of every image or set, and the skipped ones."""
        if all(is_descriptors(item, self.descriptors is None) for item in X):
            return map_images(
                lambda index, item: function(index, values_of(item)), X, n_jobs=self.n_jobs
            )
        extractor = self.descriptors
        extractor = DenseRootSIFT(n_jobs=self.n_jobs) if extractor is None else clone(extractor)
        images = cast(Images, X)  # the extractor refuses, by name, what is no image
        return extractor.map(images, lambda index, record: function(index, values_of(record)))

    def _check_parameters(self) -> None:
        for name in ("n_words", "n_samples"):
            check_count(name, getattr(self, name))
        choices = {"normalization": NORMALIZATIONS, "algorithm": ("auto", *ALGORITHMS)}
        for name, known in choices.items():
            if getattr(self, name) not in known:
                raise ValueError(
                    f"{name} must be one of {sorted(known)}, got {getattr(self, name)!r}."
                )

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.no_validation = True
        tags.input_tags.two_d_array = False
        tags.input_tags.string = True
        return tags


def _drawn(X: ImagesOrSets, first: int, total: int, words: VisualWords, seed: int) -> list[NDArray]:
    """Some descriptors of each image, the same however images are grouped."""
    quota = -(-words.n_samples // max(1, total))

    def draw(index: int, values: NDArray) -> NDArray:
        generator = np.random.default_rng((seed, first + index))
        if len(values) <= quota:
            return values
        return values[generator.choice(len(values), quota, replace=False)]

    return words._map(X, draw)[0]


def is_descriptors(item: object, arrays: bool) -> bool:
    """Whether an item is a set of descriptors: a record or, if allowed, an array of floats."""
    if isinstance(item, ImageDescriptors):
        return True
    return arrays and isinstance(item, np.ndarray) and item.ndim == 2 and item.dtype.kind == "f"


def values_of(item: ImageLike | ImageDescriptors) -> NDArray:
    """Descriptors of a record or array as finite float32, (n, d)."""
    values = np.asarray(item.descriptors if isinstance(item, ImageDescriptors) else item)
    if not np.isfinite(values).all():
        raise ValueError("descriptors are NaN or infinite.")
    return np.asarray(values, dtype=np.float32)


def check_widths(sets: list[NDArray]) -> int:
    """The common width of all sets that are not empty."""
    widths = sorted({values.shape[1] for values in sets if len(values)})
    if len(widths) != 1:
        raise ValueError(
            "Expected descriptors of one width, and at least one of them, got "
            f"{'none' if not widths else f'widths {widths}'}. Floating-point arrays of 2 "
            "dimensions are taken as descriptors; if they are gray images, pass "
            "descriptors=DenseRootSIFT()."
        )
    return widths[0]
