"""Where the ratio of kernel learning is least: a coarse scan, then a trust region in a box."""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import BFGS, minimize

from ..kernels.base import Kernel
from .ratio import NotFinite, RatioProblem
from .settings import KernelLearning

DECADES = 3.0  # how far from the start the scan looks, on either side
SCAN = 7  # values of one parameter that it looks at
CORNER = 0.9  # share of one of several kernels near a corner
# Relative change of the ratio per radian at which the search ends: a single parameter is cheap to
# find exactly, and several have directions in which nothing changes.
FLAT_ALONE, FLAT_TOGETHER = 1e-6, 2e-3


def scan(ratio: RatioProblem, kernel: Kernel, bounds: tuple[NDArray, NDArray]) -> NDArray:
    """A start near the best of a coarse grid: far from it the ratio may be flat."""
    low, high = bounds
    theta = kernel.theta.copy()
    mixing = range(*ratio.mixing.indices(len(theta)))
    scanned = [i for i in range(len(theta)) if i not in mixing]
    best = ratio.start_from(theta)
    for trial in near_corners(theta, mixing, ratio.units):
        trial = np.clip(trial, low, high)
        found = _trial_value(ratio, trial)
        if found < best:
            best, theta = found, trial
    for i in scanned:
        grid = theta[i] + np.linspace(-DECADES, DECADES, SCAN) * np.log(10.0)
        for value in grid[(grid >= low[i]) & (grid <= high[i]) & (grid != theta[i])]:
            trial = theta.copy()
            trial[i] = value
            found = _trial_value(ratio, trial)
            if found < best:
                best, theta = found, trial
    return theta


def near_corners(theta: NDArray, mixing: range, units: NDArray) -> Iterator[NDArray]:
    """Parameters with weights where they have local minima, often one near each corner.

    Parameters
    ----------
    theta : array
    mixing : range
        Where the weights of several kernels are.
    units : array
        Logs of the kernels' mean diagonals.
    """
    for i in mixing:
        trial = theta.copy()
        shares = np.full(len(mixing), (1.0 - CORNER) / max(len(mixing) - 1, 1))
        shares[i - mixing.start] = CORNER
        trial[mixing.start : mixing.stop] = np.log(shares) - units
        yield trial


def _trial_value(ratio: RatioProblem, theta: NDArray) -> float:
    try:
        return ratio.value(theta)
    except NotFinite:
        return np.inf


class Box:
    """Parameters between bounds, as free numbers: ``theta = middle + half * sin(u)``.

    A bound is then a place like any other for a method without constraints; a barrier would keep
    the search away from it.
    """

    def __init__(self, bounds: tuple[NDArray, NDArray], start: NDArray):
        low, high = bounds
        self.free = high > low
        self.start = start
        self.middle = 0.5 * (low + high)[self.free]
        self.half = 0.5 * (high - low)[self.free]

    def theta(self, u: NDArray) -> NDArray:
        """The parameters at u."""
        theta = self.start.copy()
        theta[self.free] = self.middle + self.half * np.sin(u)
        return theta

    def gradient(self, u: NDArray, gradient: NDArray) -> NDArray:
        """A gradient in theta as one in u."""
        return gradient[self.free] * self.half * np.cos(u)

    def inside(self, theta: NDArray) -> NDArray:
        """The u of parameters, moved off the bounds, where the gradient in u vanishes."""
        relative = (theta[self.free] - self.middle) / self.half
        return np.arcsin(np.clip(relative, -0.99, 0.99))


class Descent:
    """Follows a ratio in the free numbers of a box and remembers the best place.

    Parameters
    ----------
    ratio : RatioProblem
    box : Box
    start : array
        First parameters.
    history : list
        Accepted values are added.
    """

    def __init__(self, ratio: RatioProblem, box: Box, start: NDArray, history: list[float]):
        self.ratio, self.box, self.history = ratio, box, history
        self.theta, self.value = start, np.inf
        self.unit = 1.0  # values are seen in it, so that tolerances are relative

    def renew(self) -> None:
        """Codes and value for the present parameters."""
        self.value = self.ratio(self.theta)[0]
        self.unit = abs(self.value) or 1.0  # nothing is missed already: nothing is left to find
        self.history.append(self.value)

    def __call__(self, u: NDArray) -> tuple[float, NDArray]:
        """Value and gradient at u."""
        theta = self.box.theta(u)
        try:
            value, gradient = self.ratio(theta)
        except NotFinite:
            if not np.isfinite(self.value):
                raise
            return 1e3, np.zeros(len(u))  # the step is refused and the region shrinks
        if value < self.value:
            self.value, self.theta = value, theta
            self.history.append(value)
        return value / self.unit, self.box.gradient(u, gradient) / self.unit


def descend(
    ratio: RatioProblem,
    start: NDArray,
    bounds: tuple[NDArray, NDArray],
    settings: KernelLearning,
    history: list[float],
    curvature: NDArray | None = None,
) -> tuple[NDArray, NDArray | None]:
    """Trust region with a quasi-Newton model; history holds the accepted values.

    Returns the parameters and the model's curvature, which may serve a similar problem as its
    first.
    """
    box = Box(bounds, start)
    here = Descent(ratio, box, start, history)
    for _ in range(settings.max_iter if ratio.holds_codes else 1):
        before = here.theta
        ratio.frozen = False
        here.renew()
        if not box.free.any():
            return here.theta, None
        ratio.frozen = ratio.holds_codes
        model = BFGS() if curvature is None else BFGS(init_scale=curvature)
        _minimise(here, model, settings)
        if np.max(np.abs(here.theta - before)) <= settings.tol:
            break
    ratio.frozen = False
    return here.theta, model.get_matrix()


def _minimise(here: Descent, model: BFGS, settings: KernelLearning) -> None:
    box = here.box
    options = {
        "xtol": settings.tol / np.max(box.half),
        "gtol": FLAT_ALONE if box.free.sum() == 1 else FLAT_TOGETHER,
        "maxiter": settings.max_iter,
        "initial_tr_radius": 0.5 / np.max(box.half),
    }
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="delta_grad == 0.0")
        start = box.inside(here.theta)
        minimize(here, start, jac=True, method="trust-constr", hess=model, options=options)
