"""How a kernel is to be learned."""

from __future__ import annotations

import numpy as np

from ..component import Component
from ..validation import check_count, check_positive

Bounds = tuple[float, float]


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
        Whether the prior's value counts in L. False is the paper's reading: a prior that does not
        look at the kernel is omitted, and codes are held fixed while the parameters move and
        recomputed in between. Priors of distance (LLC, LCC) depend on the kernel and count all
        the same, and the codes of soft bag of words, a formula of the kernel, move with it.
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
        bounds: Bounds | dict[str, Bounds] | None = None,
        n_samples_kernel: int = 300,
        include_prior: bool = True,
        n_folds: int = 5,
        weights: str = "ratio",
        regularization: float = 10.0,
        rounds: int = 0,
        tol: float = 5e-3,
        max_iter: int = 30,
    ) -> None:
        self.bounds = bounds
        self.n_samples_kernel = n_samples_kernel
        self.include_prior = include_prior
        self.n_folds = n_folds
        self.weights = weights
        self.regularization = regularization
        self.rounds = rounds
        self.tol = tol
        self.max_iter = max_iter


def as_settings(learn_kernel: object) -> KernelLearning:
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
