"""A dictionary as a grid of pictures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from ..dictionary_learning.preimages import preimages_of
from .canvas import Display, as_pictures

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PREIMAGE_STEPS = 100  # of the search for pre-images


def _preimages(estimator: BaseEstimator, X: ArrayLike | None) -> NDArray:
    return preimages_of(estimator.dictionary_, PREIMAGE_STEPS)


def _representatives(estimator: BaseEstimator, X: ArrayLike | None) -> NDArray:
    if X is None:
        raise ValueError(
            'show="representatives" needs the training samples: give X, the array that fit had.'
        )
    return np.asarray(X)[estimator.representatives_[:, 0]]


PICTURES_OF: dict[str, Callable[[BaseEstimator, ArrayLike | None], NDArray]] = {
    "preimages": _preimages,
    "representatives": _representatives,
}


class DictionaryDisplay(Display):
    """Atoms as pictures, side by side.

    Best made by :meth:`from_estimator` or :meth:`from_atoms`.

    Parameters
    ----------
    pictures : array of shape (n_atoms, height, width)
        One picture per atom; a fourth axis holds colours.
    n_columns : int, default=None
        Pictures in a row; None makes the grid about square.
    rescale : bool, default=True
        Whether each picture is spread over the whole range of grey.

    Attributes
    ----------
    image_ : matplotlib AxesImage
        The grid; NaN (white for colours) between the pictures.
    ax_, figure_
        Axes and figure.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelcoding.displays import DictionaryDisplay
    >>> display = DictionaryDisplay.from_atoms(np.eye(4), shape=(2, 2))
    >>> display.image_.get_array().shape
    (5, 5)
    """

    def __init__(self, pictures: ArrayLike, *, n_columns: int | None = None, rescale: bool = True):
        self.pictures = pictures
        self.n_columns = n_columns
        self.rescale = rescale

    @classmethod
    def from_estimator(
        cls,
        estimator: BaseEstimator,
        shape: Sequence[int],
        *,
        show: str = "preimages",
        X: ArrayLike | None = None,
        n_columns: int | None = None,
        rescale: bool = True,
        ax: Axes | None = None,
    ) -> DictionaryDisplay:
        """Draw the atoms of a fitted coder or dictionary.

        Parameters
        ----------
        estimator : fitted coder or dictionary learning
            Anything with ``dictionary_``.
        shape : (height, width) or (height, width, 3)
            Form of a picture.
        show : {"preimages", "representatives"}, default="preimages"
            Points whose images are nearest to the atoms; or for each atom the training sample
            with the largest weight in it.
        X : array of shape (n_samples, n_features), default=None
            Training samples, for representatives.
        n_columns, rescale
            As for the class.
        ax : matplotlib Axes, default=None
            Where to draw.
        """
        check_is_fitted(estimator, "dictionary_")
        if show not in PICTURES_OF:
            raise ValueError(f"show must be one of {sorted(PICTURES_OF)}, got {show!r}.")
        atoms = PICTURES_OF[show](estimator, X)
        return cls.from_atoms(atoms, shape, n_columns=n_columns, rescale=rescale, ax=ax)

    @classmethod
    def from_atoms(
        cls,
        atoms: ArrayLike,
        shape: Sequence[int] | None = None,
        *,
        n_columns: int | None = None,
        rescale: bool = True,
        ax: Axes | None = None,
    ) -> DictionaryDisplay:
        """Draw atoms that are given as rows (with a shape) or as pictures."""
        pictures = as_pictures(atoms, shape, "atoms")
        return cls(pictures, n_columns=n_columns, rescale=rescale).plot(ax=ax)

    def _draw(self, ax: Axes) -> None:
        pictures = np.asarray(self.pictures, dtype=np.float64)
        columns = self.n_columns or int(np.ceil(np.sqrt(len(pictures))))
        grid = mosaic(rescaled(pictures) if self.rescale else pictures, columns)
        self.image_ = ax.imshow(grid, cmap="gray", interpolation="nearest")
        ax.set(xticks=(), yticks=(), title=f"{len(pictures)} atoms")
        ax.set_frame_on(False)


def rescaled(pictures: NDArray) -> NDArray:
    """Each picture from 0 to 1; a flat one becomes 0."""
    axes = tuple(range(1, pictures.ndim))
    low = pictures.min(axis=axes, keepdims=True)
    span = pictures.max(axis=axes, keepdims=True) - low
    return (pictures - low) / np.where(span > 0, span, 1.0)


def mosaic(pictures: NDArray, columns: int) -> NDArray:
    """Pictures in rows, one pixel apart."""
    count, height, width, *colours = pictures.shape
    rows = -(-count // columns)
    # Colours must be numbers; grey may be missing.
    empty = 1.0 if colours else np.nan
    grid = np.full((rows * (height + 1) - 1, columns * (width + 1) - 1, *colours), empty)
    for index, picture in enumerate(pictures):
        top, left = (index // columns) * (height + 1), (index % columns) * (width + 1)
        grid[top : top + height, left : left + width] = picture
    return grid
