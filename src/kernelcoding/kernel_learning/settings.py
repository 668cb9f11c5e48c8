"""How a kernel is to be learned."""

from __future__ import annotations

import numpy as np

from ..component import Component
from ..validation import check_count, check_positive

Bounds = tuple[float, float]
RATIO, JOINT, HELD_OUT = "ratio", "joint", "held-out"
FOLLOWED = {RATIO: 300, JOINT: 300, HELD_OUT: 1000}  # samples
RULES = ("auto", "residual", "ridge")


class KernelLearning(Component):
    """How ``learn_kernel`` is to work; ``learn_kernel=True`` stands for the defaults.

    Parameters
    ----------
    criterion : {"ratio", "held-out", "joint"}, default="ratio"
        What is minimised.

        * ``"ratio"``: the mean coding objective over the mean squared distance between atoms in H.
          It needs no labels; where ``fit`` is given class labels, these have a veto: the start is
          kept unless samples left out are predicted as well as with the start.
        * ``"held-out"``: the loss of labels that are predicted from plain codes, of samples that
          helped neither to code nor to predict themselves. ``fit`` then needs labels.
        * ``"joint"``: in :class:`~kernelcoding.SupervisedKernelCoding`, its whole objective over
          the mean squared distance between landmarks in H; the kernel is one of its half-steps.
          Labels have the same veto: where it is used, all is learned again with the start.
    bounds : (low, high) or dict of such pairs by parameter name, default=None
        Allowed values. None: a width within a factor of ``10**3`` of the inverse of the median
        statistic, other parameters within ``10**4`` of the start; a parameter whose ratio falls
        all the way to such a bound keeps its start, with a warning.
    n_samples_kernel : int, default=None
        Samples on which the objective is followed; the full ratio is reported at the end. None is
        300 for the ratio, and 1000 for labels, which are noisier. The joint criterion follows all.
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
        default stays near equal shares: of the values 0, 0.01, 0.1, 1 and 10 it was the only
        one never worse than equal shares on four data sets.
    rounds : int, default=0
        In dictionary learning, how often the kernel is learned again for learned atoms, and these
        again for it. The ratio of learned atoms is another one than that of the first atoms.
    tol : float, default=5e-3
        Accuracy of the logarithms of parameters (those found by labels: a quarter of a decade).
    max_iter : int, default=30
        Largest number of steps.
    rule : {"auto", "residual", "ridge"}, default="auto"
        Who predicts labels for ``"held-out"``: the residual rule, or ridge regression on codes
        with each sample left out. ``"auto"`` takes residuals in a coder whose atoms are training
        samples, and regression elsewhere.

    Notes
    -----
    Guards: parameters at which more codes vanish than at the start (and more than one in a
    hundred) are refused; a parameter whose ratio falls until they vanish keeps its start, with a
    warning; and one that moves by more than a factor of two must lower the ratio by one part in a
    hundred. ``kernel_status_`` of an estimator says "learned", or why the start was kept: "flat",
    "bound", "vanishing", "labels", "not finite".

    The ratio says how well samples are combined from others, not how well classes are told apart:
    with labels, ``"held-out"`` is the better choice.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> import kernelcoding as kc
    >>> X, y = load_iris(return_X_y=True)
    >>> learning = kc.KernelLearning(bounds=(0.01, 10.0), n_samples_kernel=60)
    >>> coder = kc.KernelSparseCoder("rbf", learn_kernel=learning).fit(X)
    >>> 0.01 <= coder.kernel_.gamma <= 10.0
    True
    """

    # As in models of files from before there was a choice.
    criterion: str = RATIO
    rule: str = "auto"

    def __init__(
        self,
        bounds: Bounds | dict[str, Bounds] | None = None,
        n_samples_kernel: int | None = None,
        include_prior: bool = True,
        n_folds: int = 5,
        weights: str = "ratio",
        regularization: float = 10.0,
        rounds: int = 0,
        tol: float = 5e-3,
        max_iter: int = 30,
        criterion: str = RATIO,
        rule: str = "auto",
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
        self.criterion = criterion
        self.rule = rule

    @property
    def n_followed(self) -> int:
        """Samples on which the objective is followed."""
        if self.n_samples_kernel is None:
            return FOLLOWED[self.criterion]
        return self.n_samples_kernel


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
    if settings.criterion not in FOLLOWED:
        raise ValueError(f"criterion must be one of {list(FOLLOWED)}, got {settings.criterion!r}.")
    if settings.rule not in RULES:
        raise ValueError(f"rule must be one of {list(RULES)}, got {settings.rule!r}.")
    if settings.n_samples_kernel is not None:
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
