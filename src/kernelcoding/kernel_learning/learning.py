r"""Learning kernel parameters: minimise :math:`L(\theta) / J(\theta)`.

L is the mean coding objective, J the mean squared distance between atoms in H: without J, the best
kernel would be the one that maps everything to one point. Codes are minimised over inside L, so the
gradient of L is its partial gradient at the optimal codes, and one trust-region method on
:math:`\theta = \log(\text{parameters})`, with codes warm-started from step to step, finds the joint
minimum in a few codings.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_consistent_length

from ..dictionary import CombinationDictionary, Dictionary, PointDictionary
from ..formulations import Formulation
from ..kernels.base import Kernel
from ..kernels.multiple import MultipleKernel
from ..solvers.result import Convergence, Options
from .alignment import aligned_weights
from .held_out import Problems
from .ratio import Degenerate, NotFinite, RatioProblem
from .search import descend, scan
from .settings import Bounds, KernelLearning

SCAN_SAMPLES = 100


@dataclass(slots=True)
class LearnedKernel:
    """The kernel and how it was found."""

    kernel: Kernel
    history: list[float]  # ratio after every accepted step, codes optimal
    objective: float  # ratio over all samples
    convergence: Convergence  # at the worst parameters that were tried


def learn_kernel(
    formulation: Formulation,
    options: Options,
    kernel: Kernel,
    X: NDArray,
    dictionary: Dictionary,
    settings: KernelLearning,
    random_state: np.random.RandomState,
) -> LearnedKernel:
    """Learn the parameters of a kernel for a formulation and a dictionary of samples.

    Parameters
    ----------
    formulation : Formulation
        What a code is.
    options : Options
        How codes are computed.
    kernel : Kernel
        Resolved: the start.
    X : array of shape (n, ...)
        Training samples.
    dictionary : PointDictionary or CombinationDictionary
        Atoms, made with the start.
    settings : KernelLearning
    random_state : RandomState
    """
    if len(kernel.theta) == 0:
        raise ValueError(
            f"The kernel {kernel!r} has no parameter to learn. Use learn_kernel=False, or a kernel "
            "with a width, or MultipleKernel."
        )
    problems = Problems(formulation, options, kernel, X, dictionary, settings, random_state)
    followed, others = np.split(problems.samples, [settings.n_samples_kernel])
    ratio, scanned = problems.of(followed), problems.of(problems.samples[:SCAN_SAMPLES])
    bounds = low, high = theta_bounds(kernel, settings.bounds, ratio.among, X)
    if np.any(kernel.theta < low):  # a value apart, such as the Stein kernel's half integers
        kernel = kernel.with_theta(np.maximum(kernel.theta, low))
    if isinstance(kernel, MultipleKernel) and settings.weights == "alignment":
        fixed = np.array([name.startswith("weights__") for name in kernel.parameter_names])
        low[fixed] = high[fixed] = kernel.theta[fixed]
        if fixed.all():
            return LearnedKernel(_at(kernel, kernel.theta), [], np.nan, Convergence())
    history: list[float] = []
    try:
        start = scan(scanned, kernel, bounds)
        small, curvature = problems.with_few_atoms(followed), None
        if len(start) > 1 and small is not None:  # several parameters take many steps
            ratio.value(start)  # what the regulariser is measured by
            start, curvature = descend(small, start, bounds, settings, [])
        theta, _ = descend(ratio, start, bounds, settings, history, curvature)
    except Degenerate as error:  # already at the start: a bad trial alone ends no search
        raise ValueError(str(error)) from None
    except NotFinite:
        warnings.warn(
            "The objective of kernel learning is not finite; the parameters of the start are "
            "kept. Rescale the samples or narrow the bounds.",
            UserWarning,
            stacklevel=3,
        )
        return LearnedKernel(kernel, history, np.nan, scanned.convergence + ratio.convergence)
    theta = ratio.normalised(theta)
    objective = _full_objective(problems, ratio, followed, others, theta, history[-1])
    convergence = scanned.convergence + ratio.convergence
    return LearnedKernel(_at(kernel, theta), history, objective, convergence)


def _full_objective(
    problems: Problems,
    ratio: RatioProblem,
    followed: NDArray,
    others: NDArray,
    theta: NDArray,
    of_followed: float,
) -> float:
    """The ratio over all samples, where those that were followed are not all."""
    if not len(others):
        return of_followed
    loss, spread = ratio.loss_and_spread(theta)
    rest = problems.of(others).loss_and_spread(theta)[0]
    loss = (len(followed) * loss + len(others) * rest) / (len(followed) + len(others))
    return ratio.regularised(theta, loss / spread)


def _at(kernel: Kernel, theta: NDArray) -> Kernel:
    """The kernel at learned parameters; several kernels say their weights."""
    found = kernel.with_theta(theta)
    if isinstance(found, MultipleKernel):
        found.weights_ = found.current_weights
    return found


def prepared_start(
    kernel: Kernel, X: NDArray, y: ArrayLike | None, settings: KernelLearning
) -> Kernel:
    """The kernel to start from: several kernels at equal shares, or aligned with the labels."""
    if not isinstance(kernel, MultipleKernel):
        return kernel
    if settings.weights == "ratio":
        if kernel.weights is not None:
            return kernel
        means = [np.mean(child.diagonal_of(child.prepare_alone(X))) for child in kernel.children]
        weights = 1.0 / (len(means) * np.maximum(np.abs(means), 1e-300))
    else:
        if y is None:
            raise ValueError('weights="alignment" needs labels: call fit(X, y).')
        check_consistent_length(X, y)
        weights = aligned_weights([child(X) for child in kernel.children], y)
    return MultipleKernel(list(kernel.children), weights.tolist())


def moved(dictionary: Dictionary, kernel: Kernel) -> Dictionary:
    """The same points, or combinations of them, in the Hilbert space of another kernel."""
    if isinstance(dictionary, CombinationDictionary):
        landmarks = moved(dictionary.landmarks, kernel)
        assert isinstance(landmarks, PointDictionary)
        return CombinationDictionary(landmarks, dictionary.weights)
    assert isinstance(dictionary, PointDictionary)
    return PointDictionary(kernel, dictionary.points, dictionary.index)


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
