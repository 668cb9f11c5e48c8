"""Random faces: a seeded Gaussian projection of whole images."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.preprocessing import normalize
from sklearn.utils import Tags, check_array, check_random_state
from sklearn.utils.validation import check_is_fitted

from ..distributed.methods import RowAnswer, over_blocks, refuse_lazy
from ..validation import check_count, check_positive
from .extras import optional
from .mapping import map_images
from .reading import Images, gray_of


def _features(faces: RandomFaces, dtype: np.dtype) -> RowAnswer:
    """What ``transform`` answers for an image."""
    skips = faces.on_error == "skip"
    return RowAnswer((faces._n_features_out,), np.dtype(np.float64), may_skip=skips)


class RandomFaces(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    r"""Random projection of aligned faces, or of any images of one size.

    .. math:: f(x) = R x^p, \qquad R_{ij} \sim \mathcal N(0, 1), \quad
        \text{rows of } R \text{ divided by their norm}

    for the pixels x of a gray image; then, if asked, f(x) divided by its norm.

    Parameters
    ----------
    n_components : int, default=504
        Rows of R.
    normalize : bool, default=True
        Whether features have unit l2 norm; an image of zeros stays zero.
    size : (height, width) or None, default=None
        Images are resized to it first. None asks for images of one size.
    on_error : {"raise", "skip"}, default="raise"
        ``"skip"`` leaves images out that cannot be read; one warning names them, ``skipped_`` has
        their indices, and the output has no row for them: see
        :func:`kernelcoding.images.readable` for keeping labels in step.
    n_jobs : int, default=None
        Threads that read images; None is one, -1 all cores.
    random_state : int, RandomState or None, default=0
        Seed of R. Training and test features must share one R, hence the fixed default.
    power : float, default=1.0
        Exponent p of the pixels, which must not be negative then. 0.5, their square roots, takes
        much of the light out: on Extended YaleB sparse codes, local codes and support vector
        machines lose more than half of their errors, nearest neighbours none.

    Attributes
    ----------
    components_ : array of shape (n_components, n_pixels)
        R.
    shape_ : (height, width) or None
        Of the images of ``fit``; None if they were rows of pixels.
    skipped_ : list of int
        Indices of the images that the last ``fit`` or ``transform`` skipped.

    Notes
    -----
    The features of the paper's experiments on Extended YaleB. 8-bit images are divided by 255,
    16-bit by 65535, floating-point numbers taken as they are. A 2-d array of numbers is taken as
    flattened faces, one per row, and used as it is.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelcoding.images import RandomFaces
    >>> faces = np.random.default_rng(0).integers(0, 256, (3, 12, 10), dtype=np.uint8)
    >>> features = RandomFaces(n_components=20).fit_transform(faces)
    >>> features.shape, np.linalg.norm(features, axis=1).round(6)
    ((3, 20), array([1., 1., 1.]))
    """

    components_: NDArray
    shape_: tuple[int, int] | None
    skipped_: list[int]
    n_features_in_: int

    def __init__(
        self,
        n_components: int = 504,
        normalize: bool = True,
        size: Sequence[int] | None = None,
        on_error: str = "raise",
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = 0,
        power: float = 1.0,
    ) -> None:
        self.n_components = n_components
        self.normalize = normalize
        self.size = size
        self.on_error = on_error
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.power = power

    def fit(self, X: Images, y: object = None) -> Self:
        """Draw the projection for the size of the images.

        Parameters
        ----------
        X : list of paths or arrays, or array of shape (n, n_pixels)
            The images.
        y : ignored
            For pipelines.

        Returns
        -------
        self : object
            The fitted transformer.
        """
        self._draw(self._pixels(X, None))
        return self

    def fit_transform(self, X: Images, y: object = None) -> NDArray:
        """Draw the projection and return the features; images are read once.

        Parameters
        ----------
        X : list of paths or arrays, or array of shape (n, n_pixels)
            The images.
        y : ignored
            For pipelines.

        Returns
        -------
        features : array of shape (n, n_components)
        """
        pixels = self._pixels(X, None)
        self._draw(pixels)
        return self._project(pixels)

    @over_blocks(_features, takes="items")
    def transform(self, X: Images) -> NDArray:
        """Features of images.

        Parameters
        ----------
        X : list of paths or arrays, or array of shape (n, n_pixels)
            Images of the size of ``fit``.

        Returns
        -------
        features : array of shape (n, n_components)
        """
        check_is_fitted(self)
        pixels = self._pixels(X, self.shape_)
        if pixels.shape[1] != self.n_features_in_:
            raise ValueError(
                f"Expected images of {self.n_features_in_} pixels as in fit, got {pixels.shape[1]}."
            )
        return self._project(pixels)

    def _draw(self, pixels: NDArray) -> None:
        check_count("n_components", self.n_components)
        random_state = check_random_state(self.random_state)
        rows = random_state.normal(size=(int(self.n_components), pixels.shape[1]))
        self.components_ = normalize(rows)
        self.n_features_in_ = pixels.shape[1]
        self._n_features_out = int(self.n_components)

    def _project(self, pixels: NDArray) -> NDArray:
        features = self._compressed(pixels) @ self.components_.T
        return normalize(features) if self.normalize else features

    def _compressed(self, pixels: NDArray) -> NDArray:
        if self.power == 1.0:
            return pixels
        check_positive("power", self.power)
        if pixels.min() < 0.0:
            raise ValueError(
                "Negative pixels have no powers: add a constant, or leave `power` at 1."
            )
        return pixels**self.power

    def _pixels(self, X: Images, shape: tuple[int, int] | None) -> NDArray:
        """One row of pixels per image; ``fit`` (no shape) learns the shape."""
        refuse_lazy(self, X, training=True)
        if is_flat(X):
            self.skipped_ = []
            self.shape_ = shape
            return check_array(X, dtype=np.float64)
        size = None if self.size is None else check_size(self.size)
        grays, self.skipped_ = map_images(
            lambda _, source: resized(gray_of(source), size),
            X,
            on_error=self.on_error,
            n_jobs=self.n_jobs,
        )
        height, width = self.shape_ = grays[0].shape if shape is None else shape
        kept = [index for index in range(len(X)) if index not in set(self.skipped_)]
        for index, gray in zip(kept, grays, strict=True):
            if gray.shape != (height, width):
                raise ValueError(
                    f"Image {index}: expected {height} x {width} pixels as in the others, got "
                    f"{gray.shape[0]} x {gray.shape[1]}: crop, or give `size`."
                )
        return np.stack([gray.ravel() for gray in grays])

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.three_d_array = True
        tags.input_tags.string = True
        return tags


def is_flat(X: ArrayLike | Images) -> bool:
    """Whether X is a table of numbers, one flattened image per row."""
    return hasattr(X, "shape") and len(X.shape) == 2


def check_size(size: object) -> tuple[int, int]:
    """(height, width) as positive integers."""
    numbers = tuple(size) if np.iterable(size) else (size,)
    if len(numbers) != 2 or not all(isinstance(n, (int, np.integer)) and n > 0 for n in numbers):
        raise ValueError(f"size must be (height, width) in pixels, got {size!r}.")
    return int(numbers[0]), int(numbers[1])


def resized(gray: NDArray, size: tuple[int, int] | None) -> NDArray:
    """The image at a size, pixels averaged where it shrinks."""
    if size is None or gray.shape == size:
        return gray
    cv2 = optional("cv2")
    shrinks = size[0] * size[1] < gray.size
    return cv2.resize(
        gray, size[::-1], interpolation=cv2.INTER_AREA if shrinks else cv2.INTER_LINEAR
    )
