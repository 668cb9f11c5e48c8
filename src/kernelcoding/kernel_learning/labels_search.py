"""Parameters of least loss of labels left out.

A scan comes first. Several parameters then follow the gradient, where codes have a derivative. At
the end each takes ever smaller steps: codes jump, and a gradient does not see behind a ridge.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from ..kernels.base import Kernel
from .bounds import at_bounds
from .label_gradient import has_gradient, value_and_gradient
from .label_loss import LabelLoss
from .ratio import NotFinite
from .ratio_search import Found, Range
from .search import near_corners
from .settings import KernelLearning

DECADES = (-1.0, 1.0, -2.0, 2.0, -3.0, 3.0)  # from the start, near ones first, for a scan
STEPS = (0.5, 0.25)  # decades
# A mean loss of samples is an estimate, and the best of a dozen looks better than it is: what is
# learned must be better than the start by two standard errors.
CAUTION = 2.0
FAR = 1e3  # times the first loss: what parameters without a loss are taken to have
WORTH = 1e-3  # share of the loss that a step must save: no walk along a plain


def search_by_labels(
    loss: LabelLoss, kernel: Kernel, bounds: Range, settings: KernelLearning
) -> Found:
    """Parameters at which labels left out are predicted best; the start where none is better.

    Parameters
    ----------
    loss : LabelLoss
        What is minimised.
    kernel : Kernel
        The start.
    bounds : pair of arrays
        Of theta.
    settings : KernelLearning
    """
    walk = Walk(loss, kernel.theta, bounds)
    first = walk.losses
    walk.scan(range(*loss.coded.mixing.indices(len(kernel.theta))), loss.coded.units)
    low, high = bounds
    if np.count_nonzero(high > low) > 1 and has_gradient(loss):
        walk.descend(settings.max_iter)
    walk.shorten(settings.max_iter)
    gain = first - walk.losses
    theta, status, notes = walk.theta, "learned", []
    if gain.mean() <= CAUTION * gain.std() / np.sqrt(len(gain)):
        theta, status = kernel.theta, "labels"
    elif np.any(at_bounds(theta, bounds)):
        names = np.array(kernel.parameter_names)[at_bounds(theta, bounds)]
        notes.append(
            f"Kernel learning ended at a bound of {', '.join(names)}: the loss of labels falls as "
            "far as it goes. Give wider KernelLearning(bounds=...)."
        )
    history = walk.history if status == "learned" else walk.history[:1]
    theta = loss.coded.normalised(theta)
    return Found(theta, history, history[-1], loss.coded.convergence, status, notes)


class Walk:
    """Where the least loss was found so far.

    Parameters
    ----------
    loss : callable
        Losses of samples at parameters.
    start : array
        First parameters.
    bounds : pair of arrays
    """

    def __init__(self, loss: LabelLoss, start: NDArray, bounds: Range):
        self.loss, self.bounds = loss, bounds
        self.theta = np.array(start)
        self.losses = loss(self.theta)
        self.history = [float(self.losses.mean())]
        self.tried = {self.theta.tobytes()}

    def scan(self, mixing: range, units: NDArray) -> None:
        """Corners of the weights of several kernels, then decades of every other parameter."""
        for trial in near_corners(self.theta, mixing, units):
            self.try_out(trial)
        for i in range(len(self.theta)):
            if i not in mixing:
                start = self.theta[i]
                for decade in DECADES:
                    self._move(i, start + decade * np.log(10.0))

    def descend(self, max_iter: int) -> None:
        """Along the gradient of the mean loss, between the bounds."""
        low, high = self.bounds
        free, start = high > low, self.theta.copy()

        def value(part: NDArray) -> tuple[float, NDArray]:
            trial = start.copy()
            trial[free] = part
            try:
                losses, gradient = value_and_gradient(self.loss, trial)
            except NotFinite:  # the step is refused and a shorter one taken
                return FAR * self.history[0], np.zeros(len(part))
            self.adopt(trial, losses)
            return float(losses.mean()), gradient[free]

        limits = list(zip(low[free], high[free], strict=True))
        options = {"maxiter": max_iter, "maxfun": 2 * max_iter, "ftol": WORTH}
        minimize(value, start[free], jac=True, method="L-BFGS-B", bounds=limits, options=options)

    def shorten(self, max_iter: int) -> None:
        """Ever smaller steps along each parameter."""
        for step in STEPS:
            for _ in range(max_iter):
                if not self.sweep(step * np.log(10.0)):
                    break

    def sweep(self, step: float) -> bool:
        """Steps along each parameter, on as long as they help; whether any did."""
        helped = False
        for i in range(len(self.theta)):
            for sign in (1.0, -1.0):
                went = False
                while self._move(i, self.theta[i] + sign * step):
                    went = True
                helped |= went
                if went:
                    break
        return helped

    def _move(self, i: int, value: float) -> bool:
        trial = self.theta.copy()
        trial[i] = value
        return self.try_out(trial)

    def try_out(self, trial: NDArray) -> bool:
        """Whether these parameters are better than the best so far, and worth the way."""
        trial = np.clip(trial, *self.bounds)
        key = trial.tobytes()
        if key in self.tried:
            return False
        self.tried.add(key)
        try:
            losses = self.loss(trial)
        except NotFinite:
            return False
        return self.adopt(trial, losses)

    def adopt(self, trial: NDArray, losses: NDArray) -> bool:
        """Whether losses are so much lower that these parameters are the best so far."""
        if not losses.mean() < (1.0 - WORTH) * self.losses.mean():
            return False
        self.theta, self.losses = trial, losses
        self.history.append(float(losses.mean()))
        return True
