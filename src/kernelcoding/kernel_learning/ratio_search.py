"""The least ratio, and the guards that keep it from ruining a model."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ..kernels.base import Kernel
from ..solvers.result import Convergence
from .bounds import at_bounds, told, told_silence
from .held_out import Problems
from .label_loss import Truth
from .ratio import Degenerate, NotFinite, RatioProblem, Vanishing
from .search import descend, scan
from .settings import KernelLearning
from .veto import contradicts

SCAN_SAMPLES = 100
# A parameter that moves by more than a factor of two must lower the ratio by one part in a hundred.
FAR, FLAT = np.log(2.0), 0.01
NEAR = np.log(1.5)  # how far from vanishing codes parameters must stay

Range = tuple[NDArray, NDArray]


@dataclass(slots=True)
class Found:
    """What a search ends with."""

    theta: NDArray | None  # None: the start as it was given
    history: list[float]
    objective: float
    convergence: Convergence
    status: str = "learned"
    notes: list[str] = field(default_factory=list)


def search_by_ratio(
    problems: Problems,
    ratio: RatioProblem,
    kernel: Kernel,
    bounds: Range,
    settings: KernelLearning,
    truth: Truth | None,
) -> Found:
    """Parameters of least ratio; the start where that ratio tells nothing.

    Parameters
    ----------
    problems : Problems
        All ratios.
    ratio : RatioProblem
        Of the samples that are followed.
    kernel : Kernel
        The start.
    bounds : pair of arrays
        Of theta.
    settings : KernelLearning
    truth : Truth or None
        Labels that the parameters must not contradict.
    """
    scanned = problems.of(problems.samples[:SCAN_SAMPLES])
    notes: list[str] = []
    try:
        first = ratio.start_from(kernel.theta)
        theta, history, status = _inside(problems, ratio, scanned, kernel, bounds, settings, notes)
    except Degenerate:
        raise
    except NotFinite:
        notes.append(
            "The objective of kernel learning is not finite; the parameters of the start are "
            "kept. Rescale the samples or narrow the bounds."
        )
        convergence = scanned.convergence + ratio.convergence
        return Found(None, [], np.nan, convergence, "not finite", notes)
    start = ratio.normalised(kernel.theta)
    theta = ratio.normalised(theta)
    if np.max(np.abs(theta - start)) > FAR and first - history[-1] < FLAT * abs(first):
        theta, status = start, "flat"
    elif status == "learned" and truth is not None and contradicts(problems, start, theta, truth):
        theta, status = start, "labels"
    if status in ("flat", "labels"):
        history, notes = [first], []
    objective = _of_all(problems, ratio, settings, theta, history[-1])
    return Found(theta, history, objective, scanned.convergence + ratio.convergence, status, notes)


def _inside(
    problems: Problems,
    ratio: RatioProblem,
    scanned: RatioProblem,
    kernel: Kernel,
    bounds: Range,
    settings: KernelLearning,
    notes: list[str],
) -> tuple[NDArray, list[float], str]:
    """The least ratio; what would run to a bound that nobody gave is held at its start.

    So is what would run to where codes vanish.
    """
    low, high = (bound.copy() for bound in bounds)
    given = np.array([_is_given(settings, name) for name in kernel.parameter_names])
    mixing = np.zeros(len(low), dtype=bool)
    mixing[ratio.mixing] = True  # a share of nothing is a value as any other
    status = "learned"
    while True:
        theta, history = _least(problems, ratio, scanned, kernel, (low, high), settings)
        ended = at_bounds(theta, (low, high)) & ~mixing
        silent = _near_silence(ratio, theta, (low, high)) & ~mixing
        runaway = ended & ~given & ~silent
        if not (runaway | silent).any():
            break
        status = "vanishing" if silent.any() else "bound"
        notes.append(told_silence(kernel, theta, silent) if silent.any() else
                     told(kernel, theta, runaway, False))  # fmt: skip
        held = silent if silent.any() else runaway
        low[held] = high[held] = kernel.theta[held]
    if np.any(ended & given):
        notes.append(told(kernel, theta, ended & given, True))
    return theta, history, "learned" if np.any(low < high) else status


def _near_silence(ratio: RatioProblem, theta: NDArray, bounds: Range) -> NDArray:
    """Parameters for which codes vanish a little further on: the ratio fell until they did."""
    found = np.zeros(len(theta), dtype=bool)
    if ratio.frozen or not ratio.formulation.is_cone:  # codes that sum to one never vanish
        return found
    for i in np.flatnonzero(bounds[0] < bounds[1]):
        for step in (-NEAR, NEAR):
            trial = theta.copy()
            trial[i] += step
            try:
                ratio.value(trial)
            except Vanishing:
                found[i] = True
            except NotFinite:
                pass
    return found


def _is_given(settings: KernelLearning, name: str) -> bool:
    if settings.bounds is None:
        return False
    return not isinstance(settings.bounds, dict) or name in settings.bounds


def _least(
    problems: Problems,
    ratio: RatioProblem,
    scanned: RatioProblem,
    kernel: Kernel,
    bounds: Range,
    settings: KernelLearning,
) -> tuple[NDArray, list[float]]:
    """A scan, then descent; where more codes vanish than on the samples scanned, from the start."""
    start = scan(scanned, kernel, bounds)
    curvature = None
    if len(start) > 1:  # several parameters take many steps
        small = problems.with_few_atoms(problems.samples[: settings.n_followed])
        if small is not None:
            ratio.value(start)  # what the regulariser is measured by
            small.start_from(kernel.theta)
            start, curvature = descend(small, start, bounds, settings, [])
    try:
        ratio.value(start)
    except NotFinite:
        start, curvature = kernel.theta, None
    history: list[float] = []
    theta, _ = descend(ratio, start, bounds, settings, history, curvature)
    return theta, history


def _of_all(
    problems: Problems,
    ratio: RatioProblem,
    settings: KernelLearning,
    theta: NDArray,
    of_followed: float,
) -> float:
    """The ratio over all samples, where those that were followed are not all."""
    followed, others = np.split(problems.samples, [settings.n_followed])
    if not len(others):
        return of_followed
    loss, spread = ratio.loss_and_spread(theta)
    rest = problems.of(others).loss_and_spread(theta)[0]
    loss = (len(followed) * loss + len(others) * rest) / (len(followed) + len(others))
    return ratio.regularised(theta, loss / spread)
