"""Channels: numbers at every pixel of an image, from a whole stack of images at once."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..component import Component
from ..validation import check_positive
from .separable import Padding, check_padding


class Channel(Component):
    """One or several numbers per pixel; subclasses are called with a stack of images.

    Write your own: a class with `names` and ``__call__``; or, for one number per pixel, pass any
    function of gray images (n, H, W) that returns the same shape.

    Attributes
    ----------
    colour : bool
        Whether images come as red, green, blue, shape (n, H, W, 3), instead of gray (n, H, W).

    Examples
    --------
    >>> import numpy as np
    >>> from kernelcoding.images import Channel
    >>> class Edges(Channel):
    ...     def names(self):
    ...         return ["edges"]
    ...
    ...     def __call__(self, images):
    ...         return np.hypot(*np.gradient(images, axis=(1, 2)))[:, None]
    >>> Edges()(np.zeros((2, 8, 8))).shape
    (2, 1, 8, 8)
    """

    colour = False

    def check(self) -> None:
        """Refuse parameters that make no sense."""

    def names(self) -> list[str]:
        """A name for each of the q channels."""
        raise NotImplementedError

    def __call__(self, images: NDArray) -> NDArray:
        """Channels of images of one size, shape (n, q, H, W)."""
        raise NotImplementedError


class Intensity(Channel):
    r"""The gray value, :math:`f(p) = I(p)`.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelcoding.images import Intensity
    >>> Intensity()(np.zeros((2, 8, 8))).shape
    (2, 1, 8, 8)
    """

    def names(self) -> list[str]:
        """``intensity``."""
        return ["intensity"]

    def __call__(self, images: NDArray) -> NDArray:
        """Gray values, (n, H, W) to (n, 1, H, W)."""
        return images[:, np.newaxis]


class Derivatives(Channel):
    r"""Derivatives along x and y by central differences, absolute values by default.

    .. math:: I_x = \tfrac12\big(I(x+1) - I(x-1)\big), \quad I_{xx} = I(x+1) - 2 I(x) + I(x-1)

    Parameters
    ----------
    order : {1, 2}, default=1
        First or second derivatives.
    absolute : bool, default=True
        Whether the sign is dropped.
    padding : {"reflect", "symmetric", "edge"}, default="reflect"
        Beyond the edge, as in :func:`numpy.pad`.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelcoding.images.channels import Derivatives
    >>> ramp = np.arange(5.0)[None, None, :] * np.ones((1, 4, 1))
    >>> Derivatives(order=1)(ramp)[0, :, 1, 2]
    array([1., 0.])
    """

    def __init__(self, order: int = 1, absolute: bool = True, padding: Padding = "reflect") -> None:
        self.order = order
        self.absolute = absolute
        self.padding = padding

    def check(self) -> None:
        """Refuse an unknown order or padding."""
        check_padding(self.padding)
        if self.order not in DIFFERENCES:
            raise ValueError(
                f"Derivatives: order must be one of {tuple(DIFFERENCES)}, got {self.order!r}."
            )

    def names(self) -> list[str]:
        """``|I_x|`` and ``|I_y|``; ``I_xx`` for second derivatives, no bars for signed ones."""
        names = [f"I_{axis * self.order}" for axis in "xy"]
        return [f"|{name}|" for name in names] if self.absolute else names

    def __call__(self, images: NDArray) -> NDArray:
        """Derivatives of gray images, (n, H, W) to (n, 2, H, W)."""
        difference = DIFFERENCES[self.order]
        padded = np.pad(images, ((0, 0), (1, 1), (1, 1)), mode=self.padding)
        across, down = padded[:, 1:-1], padded[:, :, 1:-1]
        left, right = across[..., :-2], across[..., 2:]
        above, below = down[:, :-2], down[:, 2:]
        pair = difference(left, images, right), difference(above, images, below)
        derivatives = np.stack(pair, axis=1)
        return np.abs(derivatives, out=derivatives) if self.absolute else derivatives


DIFFERENCES: dict[int, Callable[[NDArray, NDArray, NDArray], NDArray]] = {
    1: lambda before, here, after: 0.5 * (after - before),
    2: lambda before, here, after: after - 2.0 * here + before,
}


class Position(Channel):
    r"""Coordinates x and y of the pixel, from -1 at one edge to 1 at the other.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelcoding.images import Position
    >>> Position()(np.zeros((2, 8, 8))).shape
    (2, 2, 8, 8)
    """

    def names(self) -> list[str]:
        """``x`` and ``y``."""
        return ["x", "y"]

    def __call__(self, images: NDArray) -> NDArray:
        """Coordinates, (n, H, W) to (n, 2, H, W)."""
        _, height, width = images.shape
        y, x = np.meshgrid(coordinates(height), coordinates(width), indexing="ij")
        return np.broadcast_to(np.stack([x, y]), (len(images), 2, height, width))


def coordinates(length: int) -> NDArray:
    """Evenly from -1 to 1; a single pixel is in the middle."""
    return np.linspace(-1.0, 1.0, length) if length > 1 else np.zeros(1)


class Colour(Channel):
    r"""Red, green and blue; gray images have three equal ones.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelcoding.images import Colour
    >>> Colour()(np.zeros((2, 8, 8, 3))).shape
    (2, 3, 8, 8)
    """

    colour = True

    def names(self) -> list[str]:
        """``red``, ``green`` and ``blue``."""
        return ["red", "green", "blue"]

    def __call__(self, images: NDArray) -> NDArray:
        """Colours, (n, H, W, 3) to (n, 3, H, W)."""
        return np.moveaxis(images, -1, 1)


class Compressed(Channel):
    r"""A power of the magnitude of other channels, :math:`|f|^q`.

    Gabor and derivative magnitudes have long tails, which dominate a covariance; a square root
    shortens them.

    Parameters
    ----------
    channel : Channel
        Whose values are compressed, such as ``Gabor()``.
    power : float, default=0.5
        q, positive.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelcoding.images.channels import Compressed, Intensity
    >>> Compressed(Intensity())(np.full((1, 1, 2), 0.25))
    array([[[[0.5, 0.5]]]])
    """

    def __init__(self, channel: Channel, power: float = 0.5) -> None:
        self.channel = channel
        self.power = power

    @property
    def colour(self) -> bool:  # type: ignore[override]
        """Whether the compressed channels are made of colours."""
        return self.channel.colour

    def check(self) -> None:
        """Refuse anything but a channel and a positive power."""
        if not isinstance(self.channel, Channel):
            raise ValueError(f"Compressed: channel must be a Channel, got {self.channel!r}.")
        check_positive("Compressed: power", self.power)
        self.channel.check()

    def names(self) -> list[str]:
        """Names of the compressed channels with the power."""
        return [f"{name}^{self.power:g}" for name in self.channel.names()]

    def __call__(self, images: NDArray) -> NDArray:
        """Compressed values, (n, q, H, W)."""
        return np.abs(self.channel(images)) ** self.power


class Custom(Channel):
    """One channel from a function of gray images, (n, H, W) to (n, H, W).

    Parameters
    ----------
    function : callable
        Called with stacks of images of one size; must treat each image on its own.
    """

    def __init__(self, function: Callable[[NDArray], ArrayLike]) -> None:
        self.function = function

    def names(self) -> list[str]:
        """The name of the function."""
        return [getattr(self.function, "__name__", type(self.function).__name__)]

    def __call__(self, images: NDArray) -> NDArray:
        """What the function returns, with an axis of channels."""
        values = np.asarray(self.function(images), dtype=np.float64)
        if values.shape != images.shape:
            raise ValueError(
                f"channel {self.names()[0]} must return one number per pixel, shape "
                f"{images.shape}, got {values.shape}; for several write a Channel, or several "
                "functions."
            )
        return values[:, np.newaxis]
