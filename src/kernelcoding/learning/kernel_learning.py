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
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_consistent_length

from ..coders.base import check_count, check_positive
from ..component import Component
from ..dictionary import CombinationDictionary, Dictionary, PointDictionary
from ..kernels.base import Kernel
from ..kernels.multiple import MultipleKernel
from .alignment import aligned_weights
from .held_out import Problems
from .ratio import NotFinite
from .search import descend, scan

SCAN_SAMPLES = 100


class KernelLearning(Component):
    """How ``learn_kernel`` is to work; ``learn_kernel=True`` stands for the defaults.

    Parameters
    ----------
    bounds : (low, high) or dict of such pairs by parameter name, default=None
        Allowed values. None: a width within a factor of ``10**3`` of the inverse of the median
        statistic, other parameters within ``10**4`` of the start.
    n_samples_kernel : int, default=300
        Samples on which the objective is followed; the full one is reported at the end.
    include_prior : bool, default=True
        Whether the prior's value counts in L. False is the paper's reading for sparse coding; the
        codes are then held fixed while the parameters move, and recomputed in between.
    n_folds : int, default=5
        Where atoms are the samples themselves, each sample is coded without its own fold of
        atoms: with its own atom every sample would code itself and the best width be infinite.
    weights : {"ratio", "alignment"}, default="ratio"
        How the weights of a :class:`~kernelcoding.kernels.MultipleKernel` are found: with the
        other parameters, by the ratio; or by centred alignment with the labels, which are then
        required (Cortes et al., 2012).
    regularization : float, default=10.0
        Weight of the Kullback-Leibler divergence of kernel weights from equal shares, relative to
        the ratio at the start. With 0, the paper's objective, all weight ends on one kernel: for
        fixed codes L and J are linear in the weights, and such a ratio is least at a corner. The
        default stays near equal shares: of the strengths 0, 0.01, 0.1, 1 and 10 it was the only
        one never worse than equal shares on four data sets.
    rounds : int, default=0
        In dictionary learning, how often the kernel is learned again for learned atoms, and these
        again for it. The ratio of learned atoms is another one than that of the first atoms.
    tol : float, default=5e-3
        Accuracy of the logarithms of parameters.
    max_iter : int, default=30
        Most steps.

    Notes
    -----
    The ratio says how well samples are combined from others, not how well classes are told apart.
    On faces and digits the learned width was as good as the best of a grid; on histograms of
    visual words (FMD) it was 4 (sparse codes) and 7 points (LLC) below the median heuristic. For
    LLC the ratio falls to the lower bound of the width, where the kernel is nearly linear: there,
    give `bounds` or choose the width by cross-validation.
    """

    def __init__(
        self,
        bounds=None,
        n_samples_kernel=300,
        include_prior=True,
        n_folds=5,
        weights="ratio",
        regularization=10.0,
        rounds=0,
        tol=5e-3,
        max_iter=30,
    ):
        self.bounds = bounds
        self.n_samples_kernel = n_samples_kernel
        self.include_prior = include_prior
        self.n_folds = n_folds
        self.weights = weights
        self.regularization = regularization
        self.rounds = rounds
        self.tol = tol
        self.max_iter = max_iter


@dataclass(slots=True)
class LearnedKernel:
    """The kernel and how it was found."""

    kernel: Kernel
    history: list[float]  # ratio after every accepted step, codes optimal
    objective: float  # ratio over all samples


def learn_kernel(
    coder: Any,
    kernel: Kernel,
    X: NDArray,
    dictionary: Dictionary,
    settings: KernelLearning,
    random_state: np.random.RandomState,
) -> LearnedKernel:
    """Learn the parameters of a kernel for a coder and a dictionary of samples.

    Parameters
    ----------
    coder : BaseKernelCoder
        Ready to code.
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
    problems = Problems(coder, kernel, X, dictionary, settings, random_state)
    order = problems.samples
    followed, others = np.split(order, [settings.n_samples_kernel])
    ratio = problems.of(followed)
    low, high = theta_bounds(kernel, settings.bounds, ratio.among)
    if isinstance(kernel, MultipleKernel) and settings.weights == "alignment":
        fixed = np.array([name.startswith("weights__") for name in kernel.parameter_names])
        low[fixed] = high[fixed] = kernel.theta[fixed]
        if fixed.all():
            kernel = kernel.with_theta(kernel.theta)
            kernel.weights_ = kernel.current_weights
            return LearnedKernel(kernel, [], np.nan)
    bounds = (low, high)
    history: list[float] = []
    try:
        start = scan(problems.of(order[:SCAN_SAMPLES]), kernel, bounds)
        small, curvature = problems.with_few_atoms(followed), None
        if len(start) > 1 and small is not None:  # several parameters take many steps
            ratio.value(start)  # what the regulariser is measured by
            start, curvature = descend(small, start, bounds, settings, [])
        theta, _ = descend(ratio, start, bounds, settings, history, curvature)
    except NotFinite:
        warnings.warn(
            "The objective of kernel learning is not finite; the parameters of the start are "
            "kept. Rescale the samples or narrow the bounds.",
            UserWarning,
            stacklevel=3,
        )
        return LearnedKernel(kernel, history, np.nan)
    theta = ratio.normalised(theta)
    objective = history[-1]
    if len(others):
        loss, spread = ratio.loss_and_spread(theta)
        rest = problems.of(others).loss_and_spread(theta)[0]
        loss = (len(followed) * loss + len(others) * rest) / len(order)
        objective = ratio.regularised(theta, loss / spread)
    found = kernel.with_theta(theta)
    if isinstance(found, MultipleKernel):
        found.weights_ = found.current_weights
    return LearnedKernel(found, history, objective)


def as_settings(learn_kernel: Any) -> KernelLearning:
    """The settings that ``learn_kernel`` stands for."""
    if isinstance(learn_kernel, KernelLearning):
        _check(learn_kernel)
        return learn_kernel
    if isinstance(learn_kernel, (bool, np.bool_)) and learn_kernel:
        return KernelLearning()
    raise ValueError(f"learn_kernel must be a bool or KernelLearning(...), got {learn_kernel!r}.")


def _check(settings: KernelLearning) -> None:
    """Refuse settings that make no sense."""
    check_count("n_samples_kernel", settings.n_samples_kernel)
    check_count("max_iter", settings.max_iter)
    check_count("n_folds", settings.n_folds)
    if settings.n_folds < 2:
        raise ValueError(f"n_folds must be at least 2, got {settings.n_folds!r}.")
    check_positive("tol", settings.tol)
    if settings.rounds != 0:
        check_count("rounds", settings.rounds)
    if settings.regularization != 0:
        check_positive("regularization", settings.regularization)
    if settings.weights not in ("ratio", "alignment"):
        raise ValueError(f'weights must be "ratio" or "alignment", got {settings.weights!r}.')
    given = settings.bounds
    for pair in [] if given is None else given.values() if isinstance(given, dict) else [given]:
        if np.shape(pair) != (2,) or not 0 < pair[0] <= pair[1] < np.inf:
            raise ValueError(f"bounds must be pairs 0 < low <= high < inf, got {pair!r}.")


def learn_for_coder(coder: Any, X: NDArray, y: Any, random_state: np.random.RandomState) -> None:
    """Learn the kernel of a fitted coder and give it the same atoms in the new space.

    Sets ``kernel_``, ``dictionary_`` and ``kernel_history_``.
    """
    settings = as_settings(coder.learn_kernel)
    start = prepared_start(coder.kernel_, X, y, settings)
    learned = learn_kernel(coder, start, X, coder.dictionary_, settings, random_state)
    coder.kernel_ = learned.kernel
    coder.kernel_history_ = np.array(learned.history)
    coder.kernel_objective_ = learned.objective
    coder.dictionary_ = moved(coder.dictionary_, learned.kernel)


def prepared_start(kernel: Kernel, X: NDArray, y: Any, settings: KernelLearning) -> Kernel:
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


def theta_bounds(kernel: Kernel, given: Any, statistic: Any = None) -> tuple[NDArray, NDArray]:
    """Lower and upper bounds of theta; ValueError where given ones exclude the start.

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
    return low, high
