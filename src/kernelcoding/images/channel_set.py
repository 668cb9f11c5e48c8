"""Sets of channels: what a user may write, and what the paper used."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .channels import Channel, Colour, Compressed, Custom, Derivatives, Intensity, Position
from .gabor import Gabor
from .reading import LUMA

ChannelLike: TypeAlias = str | Channel | Callable[[NDArray], ArrayLike]

NAMES: dict[str, Callable[[], Channel]] = {
    "intensity": Intensity,
    "first": lambda: Derivatives(order=1),
    "second": lambda: Derivatives(order=2),
    "gabor": Gabor,
    "position": Position,
    "colour": Colour,
}
MAGNITUDES = ("first", "second", "gabor")
SETS: dict[str, Callable[[], list[ChannelLike]]] = {
    "compressed": lambda: ["intensity", *(Compressed(NAMES[name]()) for name in MAGNITUDES)],
    "paper": lambda: ["intensity", *MAGNITUDES],
}


def as_channel(given: ChannelLike) -> Channel:
    """A channel from a name, a channel or a function."""
    if isinstance(given, str):
        if given not in NAMES:
            raise ValueError(f"channels: expected one of {tuple(NAMES)}, got {given!r}.")
        return NAMES[given]()
    if isinstance(given, Channel):
        return given
    if callable(given):
        return Custom(given)
    raise ValueError(
        f"channels: expected names of {tuple(NAMES)}, Channel objects or functions, got {given!r}."
    )


def as_channels(given: str | Sequence[ChannelLike]) -> list[Channel]:
    """Checked channels from what the user wrote: the name of a set, or a list."""
    if isinstance(given, str) and given in SETS:
        given = SETS[given]()
    if isinstance(given, (str, Channel)) or not np.iterable(given):
        raise ValueError(f"channels must be one of {tuple(SETS)} or a list, got {given!r}.")
    channels = [as_channel(one) for one in given]
    if not channels:
        raise ValueError(f"channels must not be empty; use one of {tuple(SETS)} or a list.")
    for channel in channels:
        channel.check()
    return channels


def channel_names(channels: Sequence[Channel]) -> list[str]:
    """Names of all channels, in the order of the rows of the covariances."""
    return [name for channel in channels for name in channel.names()]


def stack_channels(channels: Sequence[Channel], images: NDArray) -> NDArray:
    """All channels of images of one size.

    Parameters
    ----------
    channels : list of Channel
    images : array (n, H, W), or (n, H, W, 3) where a channel wants colours

    Returns
    -------
    array (n, p, H, W)
    """
    gray = images @ LUMA if images.ndim == 4 else images
    parts = []
    for channel in channels:
        values = channel(images if channel.colour else gray)
        expected = (len(gray), len(channel.names()), *gray.shape[1:])
        if values.shape != expected:
            raise ValueError(
                f"channel {channel!r} must return shape {expected}, one channel per name, "
                f"got {values.shape}."
            )
        parts.append(values)
    return np.concatenate(parts, axis=1)
