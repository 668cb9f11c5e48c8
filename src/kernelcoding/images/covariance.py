"""Region covariances: an image as one symmetric positive definite matrix."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Real
from typing import Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from ..distributed.inputs import is_lazy
from ..distributed.methods import RowAnswer, over_blocks
from .channel_set import ChannelLike, as_channels, channel_names
from .checks import check_max_side
from .moments import Moments, Turn, as_it_is, image_moments, joined, quarter_turns_and_flips
from .reading import Images

FLOOR = 1e-4  # smallest mean variance that the ridge is a fraction of, relative to training images
TURNS: dict[str | None, tuple[Turn, ...]] = {None: (as_it_is,), "square": quarter_turns_and_flips()}
ROUNDING = 1e-7  # deviations below this fraction of the largest value are rounding, also of roots


def _matrix(covariance: RegionCovariance, dtype: np.dtype) -> RowAnswer:
    """What ``transform`` answers for an image."""
    size = len(covariance.deviations_) + bool(covariance.embed_mean)
    skips = covariance.on_error == "skip"
    return RowAnswer((size, size), np.dtype(np.float64), may_skip=skips)


class RegionCovariance(TransformerMixin, BaseEstimator):
    r"""Covariance of the channels of an image over its pixels, an SPD matrix.

    With p channels :math:`f(z)` at the N pixels z of an image, their mean :math:`\mu` and
    deviations :math:`\Delta = \mathrm{diag}(\delta)` of the channels over all training images,

    .. math:: S = \frac{1}{N-1} \sum_z \Delta^{-1} (f(z) - \mu)(f(z) - \mu)^\top \Delta^{-1},
              \qquad C = S + \varepsilon \max\big(\tfrac1p \mathrm{tr}\,S,\ 10^{-4}\,\tau\big) I

    where :math:`\tau` is the mean of :math:`\tfrac1p \mathrm{tr}\,S` over the training images. The
    ridge is relative to each image; its lower bound matters only for images without
    structure, and makes C positive definite even for a constant one.

    Parameters
    ----------
    channels : {"compressed", "paper"} or list, default="compressed"
        ``"paper"``: the paper's 25, intensity, absolute first and second derivatives along x and y,
        20 Gabor magnitudes; ``"compressed"``: the same with square roots of the 24 magnitudes. A
        list has names ("intensity", "first", "second", "gabor", "position", "colour"), ``Channel``
        objects such as ``Gabor(n_scales=4)``, or functions of a stack of gray images (n, H, W) that
        return the same shape.
    standardize : bool, default=True
        Whether channels are divided by :math:`\delta`; else :math:`\Delta = I`. The log-Euclidean
        kernel, unlike affine-invariant ones, depends on it.
    ridge : float, default=1e-4
        :math:`\varepsilon`, positive.
    embed_mean : bool, default=False
        Whether the mean is kept, too, by returning the matrix of size p + 1 that stands for a
        Gaussian with mean :math:`m = \Delta^{-1}(\mu - \bar\mu)` and covariance C (Lovric et al.,
        2000), with :math:`\bar\mu` the mean of the channels over all training pixels:

        .. math:: \begin{pmatrix} C + m m^\top & m \\ m^\top & 1 \end{pmatrix}
    max_side : int or None, default=None
        Images with a longer side are shrunk to it first. None never shrinks.
    on_error : {"raise", "skip"}, default="raise"
        ``"skip"`` leaves images out that cannot be used; one warning names them, ``skipped_`` has
        their indices, and the output has no matrix for them: see
        :func:`kernelcoding.images.readable` for keeping labels in step.
    n_jobs : int, default=None
        Threads; None is one, -1 all cores.
    symmetry : {None, "square"}, default=None
        ``"square"``: textures that have no up are described in all 8 positions that a square can
        have, rotations by quarter turns and their mirror images, and the matrix of an image is the
        log-Euclidean mean :math:`\exp(\tfrac18 \sum_t \log C_t)`: it does not change when the image
        is turned or flipped. It costs eight times as much.

    Attributes
    ----------
    channel_names_ : list of p str
        Rows of the matrices.
    deviations_ : array of shape (p,)
        :math:`\delta`; one for a channel that is constant over the training images, and for all
        without ``standardize``.
    mean_ : array of shape (p,)
        :math:`\bar\mu`.
    scale_ : float
        :math:`\tau`; one if all training images are constant.
    skipped_ : list of int
        Indices of the images that the last ``fit`` or ``transform`` skipped.

    Notes
    -----
    The descriptor of the paper's experiments on the Virus set. Magnitudes have long tails; their
    square roots gave two to three points more there with sparse and local coders and an SVC alike,
    hence the default. ``embed_mean`` gives about one more, ``symmetry="square"`` one to
    two. Images may have different sizes;
    those of one size are computed together. 8-bit images are divided by 255, 16-bit by 65535,
    colours become luma except for channels that ask for them. An image smaller than the filters
    is reflected repeatedly. ``Masked(image, mask)`` in the place of an image: filters see all of
    it, sums go over the pixels of the mask. Memory is 8 p bytes per pixel of the largest image,
    and as much again for intermediate arrays.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelcoding.images import RegionCovariance
    >>> images = np.random.default_rng(0).integers(0, 256, (3, 20, 24), dtype=np.uint8)
    >>> matrices = RegionCovariance().fit_transform(images)
    >>> matrices.shape
    (3, 25, 25)
    >>> bool(np.linalg.eigvalsh(matrices).min() > 0)
    True
    """

    channel_names_: list[str]
    deviations_: NDArray
    mean_: NDArray
    scale_: float
    skipped_: list[int]
    symmetry: str | None = None  # as in models of files from before there was a choice

    def __init__(
        self,
        channels: str | Sequence[ChannelLike] = "compressed",
        standardize: bool = True,
        ridge: float = 1e-4,
        embed_mean: bool = False,
        max_side: int | None = None,
        on_error: str = "raise",
        n_jobs: int | None = None,
        symmetry: str | None = None,
    ) -> None:
        self.channels = channels
        self.standardize = standardize
        self.ridge = ridge
        self.embed_mean = embed_mean
        self.max_side = max_side
        self.on_error = on_error
        self.n_jobs = n_jobs
        self.symmetry = symmetry

    def fit(self, X: Images, y: object = None) -> Self:
        """Learn the deviations of the channels.

        Parameters
        ----------
        X : list of paths, of arrays of shape (height, width[, 3]), or of ``Masked``
            The images.
        y : ignored
            For pipelines.

        Returns
        -------
        self : object
            The fitted transformer.
        """
        self._learn(self._moments(X))
        return self

    def fit_transform(self, X: Images, y: object = None) -> NDArray:
        """Learn the deviations and return the covariances; images are read once.

        Parameters
        ----------
        X : list of paths, of arrays of shape (height, width[, 3]), or of ``Masked``
            The images.
        y : ignored
            For pipelines.

        Returns
        -------
        matrices : array of shape (n, p, p)
            Symmetric positive definite, float64.
        """
        if is_lazy(X):
            return self.fit(X).transform(X)
        moments = self._moments(X)
        self._learn(moments)
        return self._finished(moments)

    @over_blocks(_matrix, takes="items")
    def transform(self, X: Images) -> NDArray:
        """Covariances of images.

        Parameters
        ----------
        X : list of paths, of arrays of shape (height, width[, 3]), or of ``Masked``
            The images.

        Returns
        -------
        matrices : array of shape (n, p, p)
            Symmetric positive definite, float64.
        """
        check_is_fitted(self)
        return self._finished(self._moments(X))

    def _moments(self, X: Images) -> Moments:
        if not isinstance(self.ridge, Real) or not 0 < float(self.ridge) < np.inf:
            raise ValueError(
                f"ridge must be a positive number, got {self.ridge!r}: without it matrices of flat "
                "images are singular."
            )
        check_max_side(self.max_side)
        if self.symmetry not in TURNS:
            raise ValueError(f'symmetry must be None or "square", got {self.symmetry!r}.')
        channels = as_channels(self.channels)
        self.channel_names_ = channel_names(channels)
        if is_lazy(X):
            from ..distributed.gathering import from_blocks

            found = from_blocks(X, _moments_of, clone(self))
            self.skipped_ = [index for _, skipped in found for index in skipped]
            return joined([moments for moments, _ in found])
        moments, self.skipped_ = image_moments(
            X,
            channels,
            max_side=self.max_side,
            on_error=self.on_error,
            n_jobs=self.n_jobs,
            turns=TURNS[self.symmetry],
        )
        return moments

    def _learn(self, moments: Moments) -> None:
        spread = moments.deviations
        # A channel that does not vary carries nothing but rounding, which must not be blown up.
        noise = ROUNDING * max(np.abs(moments.means).max(), spread.max())
        ones = np.ones(len(spread))
        self.deviations_ = np.where(spread > noise, spread, 1.0) if self.standardize else ones
        self.mean_ = moments.mean
        all_flat = mean_variances(moments.covariances).max() <= noise**2
        self.scale_ = 1.0 if all_flat else float(mean_variances(self._scaled(moments)).mean())

    def _scaled(self, moments: Moments) -> NDArray:
        return moments.covariances / np.multiply.outer(self.deviations_, self.deviations_)

    def _finished(self, moments: Moments) -> NDArray:
        matrices = self._scaled(moments)
        size = np.maximum(mean_variances(matrices), FLOOR * self.scale_)
        matrices += (self.ridge * size)[:, np.newaxis, np.newaxis] * np.eye(matrices.shape[1])
        if self.embed_mean:
            means = (moments.means - self.mean_) / self.deviations_
            matrices = gaussian_embedding(means, matrices)
        n_turns = len(TURNS[self.symmetry])
        if n_turns == 1:
            return matrices
        return log_euclidean_means(matrices.reshape(-1, n_turns, *matrices.shape[1:]))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.three_d_array = True
        tags.input_tags.string = True
        return tags


def mean_variances(matrices: NDArray) -> NDArray:
    """Trace over size, (n,)."""
    return np.trace(matrices, axis1=1, axis2=2) / matrices.shape[1]


def gaussian_embedding(means: NDArray, covariances: NDArray) -> NDArray:
    """Gaussians as SPD matrices: (n, p) and (n, p, p) to (n, p + 1, p + 1)."""
    n_samples, size = means.shape
    matrices = np.ones((n_samples, size + 1, size + 1))
    matrices[:, :size, :size] = covariances + means[:, :, np.newaxis] * means[:, np.newaxis]
    matrices[:, :size, size] = matrices[:, size, :size] = means
    return matrices


def log_euclidean_means(matrices: NDArray) -> NDArray:
    """Means of SPD matrices (n, m, p, p) over the second axis, in the space of logarithms."""
    values, vectors = np.linalg.eigh(matrices)
    logarithms = (vectors * np.log(values)[..., np.newaxis, :]) @ np.swapaxes(vectors, -1, -2)
    values, vectors = np.linalg.eigh(logarithms.mean(axis=1))
    means = (vectors * np.exp(values)[..., np.newaxis, :]) @ np.swapaxes(vectors, -1, -2)
    return (means + np.swapaxes(means, -1, -2)) / 2  # symmetric to the last bit


def _moments_of(
    images: Images, first: int, total: int, covariance: RegionCovariance
) -> tuple[Moments, list[int]]:
    """Moments of a block of images, and which of all images were skipped."""
    own = clone(covariance)
    return own._moments(images), [first + index for index in own.skipped_]
