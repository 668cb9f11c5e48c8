"""What displays share: axes to draw on, and a clear message where matplotlib is missing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

if TYPE_CHECKING:
    from typing import Self

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure


class Display:
    """Holds what is drawn; after :meth:`plot` also the axes and the figure."""

    ax_: Axes
    figure_: Figure | SubFigure

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        display : Display
            This object.
        """
        self._check()
        self._draw(self._begin(ax))
        return self

    def _check(self) -> None:
        """Refuse what cannot be drawn, before there is a figure."""

    def _draw(self, ax: Axes) -> None:
        """Draw on axes."""
        raise NotImplementedError

    def _begin(self, ax: Axes | None) -> Axes:
        """The given axes, or new ones."""
        try:
            from matplotlib import pyplot
        except ModuleNotFoundError as missing:
            raise ImportError(
                f"{type(self).__name__} needs matplotlib, which is not installed: "
                "pip install 'kernelcoding[report]'"
            ) from missing
        if ax is None:
            ax = pyplot.subplots()[1]
        self.ax_, self.figure_ = ax, ax.figure
        return ax


def as_pictures(values: ArrayLike, shape: Sequence[int] | None, what: str) -> NDArray:
    """One picture per row: arrays of shape (n, height, width), perhaps with colours."""
    pictures = np.asarray(values)
    if shape is not None:
        if pictures[0].size != np.prod(shape):
            raise ValueError(
                f"shape={tuple(shape)} holds {np.prod(shape)} numbers, but {what} have "
                f"{pictures[0].size}. Give the height and width of the pictures."
            )
        pictures = pictures.reshape(len(pictures), *shape)
    if pictures.ndim not in (3, 4):
        raise ValueError(
            f"Expected {what} of shape (n, height, width), got {pictures.shape}. Reshape them, or "
            "give shape=(height, width)."
        )
    return pictures
