"""Between which values kernel parameters are learned, and what it means to end there."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..kernels.base import Kernel
from .settings import Bounds

EDGE = 0.1  # distance of a logarithm from its bound that is none, or a twentieth of its range
WITH_LABELS = 'with labels, let KernelLearning(criterion="held-out") choose'


def theta_bounds(
    kernel: Kernel,
    given: Bounds | dict[str, Bounds] | None,
    statistic: object,
    X: NDArray,
) -> tuple[NDArray, NDArray]:
    """Lower and upper bounds of theta; ValueError where given ones exclude the start.

    What samples like X do not admit is out of bounds.

    A width is bounded by the data, three decades around the inverse of the median statistic:
    codes that sum to one often have the smallest ratio at the lower bound, and where that is
    must not depend on the start.
    """
    start = kernel.theta
    low, high = start - np.log(1e4), start + np.log(1e4)
    if kernel.is_radial and len(start) == 1 and isinstance(statistic, np.ndarray):
        positive = statistic[statistic > 0]
        if positive.size:
            centre = -np.log(np.median(positive))
            low = np.minimum(np.array([centre - np.log(1e3)]), start)
            high = np.maximum(np.array([centre + np.log(1e3)]), start)
    names = kernel.parameter_names
    pairs = given if isinstance(given, dict) else dict.fromkeys(names, given) if given else {}
    for name, pair in pairs.items():
        if name not in names:
            raise ValueError(f"bounds name {name!r}, but the kernel's parameters are {names}.")
        i = names.index(name)
        low[i], high[i] = np.log(pair[0]), np.log(pair[1])
        if not low[i] <= start[i] <= high[i]:
            raise ValueError(
                f"The bounds {tuple(pair)} of {name} exclude its start {np.exp(start[i]):g}."
            )
    least = kernel.least_theta(X)
    if np.any(high < least):
        i = int(np.argmax(least - high))
        raise ValueError(
            f"{names[i]} must be above {np.exp(least[i]):g} for these samples while it is learned, "
            f"but its bounds end at {np.exp(high[i]):g}."
        )
    return np.maximum(low, least), high


def at_bounds(theta: NDArray, bounds: tuple[NDArray, NDArray]) -> NDArray:
    """Which parameters ended at a bound, those without room apart."""
    low, high = bounds
    edge = np.minimum(EDGE, 0.05 * (high - low))
    return (high > low) & ((theta <= low + edge) | (theta >= high - edge))


def told(kernel: Kernel, theta: NDArray, ended: NDArray, is_given: bool) -> str:
    """What to say of parameters that ended at a bound, and what to do."""
    found, starts = _named(kernel, theta, ended)
    if is_given:
        return (
            f"Kernel learning ended at a bound that was given, {found}: the ratio goes on falling "
            f"there. Give wider bounds, or {WITH_LABELS}."
        )
    return (
        f"The ratio of kernel learning falls as far as the data bound it, {found}: it has no "
        f"minimum that tells a good value, and the start, {starts}, is kept. Give "
        f"KernelLearning(bounds=...) if you want such values, or {WITH_LABELS}."
    )


def told_silence(kernel: Kernel, theta: NDArray, ended: NDArray) -> str:
    """What to say of parameters whose ratio falls until codes vanish, and what to do."""
    found, starts = _named(kernel, theta, ended)
    return (
        f"The ratio of kernel learning falls until codes vanish, {found}: it tells no good value, "
        f"and the start, {starts}, is kept. Use a smaller alpha, or {WITH_LABELS}."
    )


def _named(kernel: Kernel, theta: NDArray, ended: NDArray) -> tuple[str, str]:
    """Parameters with the values they ended at, and their starts."""
    numbers = np.flatnonzero(ended)
    found = [f"{kernel.parameter_names[i]}={np.exp(theta[i]):.3g}" for i in numbers]
    return ", ".join(found), ", ".join(f"{np.exp(kernel.theta[i]):.3g}" for i in numbers)
