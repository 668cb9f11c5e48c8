r"""Learning kernel parameters: minimise :math:`L(\theta) / J(\theta)`.

L is the mean coding objective, J the mean squared distance between atoms in H: without J, the best
kernel would be the one that maps everything to one point. Codes are minimised over inside L, so the
gradient of L is its partial gradient at the optimal codes, and one trust-region method on
:math:`\theta = \log(\text{parameters})`, with codes warm-started from step to step, finds the joint
minimum in a few codings.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg
from scipy.optimize import BFGS, Bounds, minimize

from ..component import Component
from ..dictionary import CombinationDictionary, Dictionary, PointDictionary
from ..kernels.base import Kernel
from ..kernels.multiple import MultipleKernel
from ..problem import Codes, CodingProblem
from .alignment import aligned_weights
from .coding import encode
from .sensitivity import discrepancy, of_error, of_objective

DECADES = 3.0  # how far from the start the scan looks, on either side
SCAN = 7  # values of one parameter that it looks at
SCAN_SAMPLES = 100


class KernelLearning(Component):
    """How ``learn_kernel`` is to work; ``learn_kernel=True`` stands for the defaults.

    Parameters
    ----------
    bounds : (low, high) or dict of such pairs by parameter name, default=None
        Allowed values. None: a width within a factor of ``10**3`` of the inverse of the median
        statistic, other parameters within ``10**4`` of the start.
    n_samples : int, default=300
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
    regularization : float, default=0.1
        Weight of the Kullback-Leibler divergence of kernel weights from equal shares, relative to
        the ratio at the start. With 0, the paper's objective, all weight ends on one kernel: for
        fixed codes L and J are linear in the weights, and such a ratio is least at a corner.
    rounds : int, default=0
        In dictionary learning, how often the kernel is learned again for learned atoms. Learned
        atoms lie closer together than samples, which drives widths up.
    tol : float, default=5e-3
        Accuracy of the logarithms of parameters.
    max_iter : int, default=30
        Most steps.
    """

    def __init__(
        self,
        bounds=None,
        n_samples=300,
        include_prior=True,
        n_folds=5,
        weights="ratio",
        regularization=0.1,
        rounds=0,
        tol=5e-3,
        max_iter=30,
    ):
        self.bounds = bounds
        self.n_samples = n_samples
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


@dataclass(slots=True)
class Part:
    """Samples that are coded with the same atoms."""

    rows: NDArray  # into the samples that are followed
    atoms: NDArray  # into all atoms
    codes: Codes | None = None


class _NotFinite(Exception):
    """The objective or a gradient is not a number."""


class RatioProblem:
    """The ratio and its gradient in theta; statistics of all pairs are computed once.

    Parameters
    ----------
    coder : BaseKernelCoder
        Knows its formulation.
    kernel : Kernel
        Resolved; theta is measured from its own.
    landmarks : array, index : array or None
        Points that make up the atoms.
    weights : array of shape (m, N) or None
        How they do; None: they are the atoms.
    X : array
        Samples, ``rows`` their numbers in the training set.
    parts : list of Part
        Who is coded with what.
    """

    def __init__(self, coder, kernel, landmarks, weights, samples, parts, settings):
        self.coder = coder
        self.kernel = kernel
        self.weights = weights
        self.parts = parts
        self.settings = settings
        self.options = replace(coder.training_options(), n_jobs=coder.n_jobs)
        self.among = kernel.statistic(landmarks, landmarks)
        self.between = kernel.statistic(samples, landmarks)
        self.own = kernel.diagonal_statistic(samples)
        self.frozen = False  # whether codes are held (the paper's alternation)
        self.scale: float | None = None  # of the regulariser
        self.mixing, self.units = _mixture(kernel, self.own)

    def normalised(self, theta: NDArray) -> NDArray:
        """Weights of several kernels such that their shares of the mean diagonal sum to one."""
        theta = np.array(theta, dtype=np.float64)
        logs = theta[self.mixing]
        if logs.size:
            theta[self.mixing] = logs - np.logaddexp.reduce(logs + self.units)
        return theta

    def __call__(self, theta: NDArray) -> tuple[float, NDArray]:
        """Ratio and gradient; raises where they are not finite."""
        actual = self.normalised(theta)
        kernel = self.kernel.with_theta(actual)
        gram, cross = self._clipped(
            kernel, kernel.profile(self.among), kernel.profile(self.between)
        )
        own = kernel.profile(self.own).astype(np.float64)
        if not all(np.isfinite(part).all() for part in (gram, cross, own)):
            raise _NotFinite
        total, d_own, d_cross, d_gram = 0.0, np.zeros_like(own), np.zeros_like(cross), 0.0 * gram
        for part in self.parts:
            block = np.ix_(part.rows, part.atoms)
            square = np.ix_(part.atoms, part.atoms)
            problem = CodingProblem(own[part.rows], cross[block], gram[square])
            if part.codes is None or not self.frozen:
                start = part.codes
                part.codes = encode(self.coder, problem, replace(self.options, start=start))
            measure = of_objective if self.settings.include_prior else _error_only
            found = measure(self.coder, problem, part.codes)
            total += found.value
            d_own[part.rows] += found.self_similarity
            d_cross[block] += found.cross
            d_gram[square] += found.gram
        n = len(own)
        spread, d_spread = discrepancy(gram)
        if not spread > 0.0:
            raise ValueError(
                "All atoms are the same point in the Hilbert space of the kernel: their "
                "discrepancy is zero and no kernel parameter can be learned."
            )
        ratio = total / n / spread
        d_gram = (d_gram / n - ratio * d_spread) / spread
        scale = 1.0 / (n * spread)
        gradient = self._contract(kernel, d_own * scale, d_cross * scale, d_gram)
        value, gradient = self._regularised(actual, ratio, gradient)
        if not (np.isfinite(value) and np.isfinite(gradient).all()):
            raise _NotFinite
        return value, gradient

    def _clipped(self, kernel, among: NDArray, between: NDArray) -> tuple[NDArray, NDArray]:
        """Similarities of atoms and of samples to them; a negative spectrum is dropped."""
        among, between = (np.asarray(part, np.float64) for part in (among, between))
        if kernel.is_positive_definite is False and np.isfinite(among).all():
            values, vectors = linalg.eigh(among)
            kept = vectors[:, values > 0.0]
            among, between = ((part @ kept) @ kept.T for part in (among, between))
            among = 0.5 * (among + among.T)
        if self.weights is None:
            return among, between
        return self.weights.T @ among @ self.weights, between @ self.weights

    def _contract(self, kernel, d_own, d_cross, d_gram) -> NDArray:
        if self.weights is not None:
            d_cross = d_cross @ self.weights.T
            d_gram = self.weights @ d_gram @ self.weights.T
        return (
            np.einsum("i,ip->p", d_own, kernel.profile_gradient(self.own))
            + np.einsum("ij,ijp->p", d_cross, kernel.profile_gradient(self.between))
            + np.einsum("ij,ijp->p", d_gram, kernel.profile_gradient(self.among))
        )

    def _regularised(self, theta, ratio, gradient) -> tuple[float, NDArray]:
        logs = theta[self.mixing]
        if not logs.size:
            return ratio, gradient
        shares = np.exp(logs + self.units)
        strength = self.settings.regularization
        if strength > 0.0:
            if self.scale is None:
                self.scale = ratio  # at the start: the strength then has no unit
            excess = logs + self.units + np.log(logs.size)
            ratio += strength * self.scale * float(shares @ excess)
            gradient[self.mixing] += strength * self.scale * shares * (1.0 + excess)
        inner = gradient[self.mixing].copy()
        gradient[self.mixing] = inner - shares * inner.sum()  # through the normalisation
        return ratio, gradient


def _error_only(coder, problem, codes):
    return of_error(problem, codes)


def _mixture(kernel: Kernel, own: Any) -> tuple[slice, NDArray]:
    """Where in theta the weights of several kernels are, and the logs of their mean diagonals.

    Kernels are compared at equal mean diagonal: else the one of largest scale would win.
    """
    if not isinstance(kernel, MultipleKernel):
        return slice(0, 0), np.zeros(0)
    pairs = zip(kernel.children, own, kernel.current_weights, strict=True)
    means = [
        abs(float(np.mean(child.profile(part)))) for child, part, weight in pairs if weight > 0
    ]
    return slice(len(kernel.theta) - len(means), None), np.log(np.maximum(means, 1e-300))


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
    problem, n_samples = _problems(coder, kernel, X, dictionary, settings, random_state)
    chosen = random_state.permutation(n_samples)
    ratio = problem(np.sort(chosen[: settings.n_samples]))
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
        start = _scan(problem(np.sort(chosen[:SCAN_SAMPLES])), kernel, bounds)
        theta = _descend(ratio, start, bounds, settings, history)
    except _NotFinite:
        warnings.warn(
            "The objective of kernel learning is not finite; the parameters of the start are "
            "kept. Rescale the samples or narrow the bounds.",
            UserWarning,
            stacklevel=3,
        )
        return LearnedKernel(kernel, history, np.nan)
    theta = ratio.normalised(theta)
    complete = problem(np.arange(n_samples))(theta)[0] if n_samples > settings.n_samples else None
    found = kernel.with_theta(theta)
    if isinstance(found, MultipleKernel):
        found.weights_ = found.current_weights
    return LearnedKernel(found, history, history[-1] if complete is None else complete)


def as_settings(learn_kernel: Any) -> KernelLearning:
    """The settings that ``learn_kernel`` stands for."""
    if isinstance(learn_kernel, KernelLearning):
        return learn_kernel
    if learn_kernel is True:
        return KernelLearning()
    raise ValueError(f"learn_kernel must be a bool or KernelLearning(...), got {learn_kernel!r}.")


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
    if settings.weights not in ("ratio", "alignment"):
        raise ValueError(f'weights must be "ratio" or "alignment", got {settings.weights!r}.')
    if settings.weights == "ratio":
        if kernel.weights is not None:
            return kernel
        means = [np.mean(child.diagonal_of(child.prepare_alone(X))) for child in kernel.children]
        weights = 1.0 / (len(means) * np.maximum(np.abs(means), 1e-300))
    else:
        if y is None:
            raise ValueError('weights="alignment" needs labels: call fit(X, y).')
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


def _problems(coder, kernel, X, dictionary, settings, random_state):
    """A function that makes the ratio of some samples, and how many there are to choose from."""
    if isinstance(dictionary, CombinationDictionary):
        points, weights = dictionary.landmarks, dictionary.weights
    else:
        points, weights = dictionary, None
    assert isinstance(points, PointDictionary)
    landmarks = kernel.prepare(points.points, points.index)
    rows, folds = held_out(X, points.index if weights is None else None, settings.n_folds,
                           random_state)  # fmt: skip

    def problem(chosen: NDArray) -> RatioProblem:
        samples = kernel.prepare(X[rows[chosen]], rows[chosen])
        parts = [
            Part(np.flatnonzero(folds[0][chosen] == f), np.flatnonzero(folds[1] != f))
            for f in np.unique(folds[0][chosen])
        ]
        return RatioProblem(coder, kernel, landmarks, weights, samples, parts, settings)

    return problem, len(rows)


def held_out(
    X: NDArray, index: NDArray | None, n_folds: int, random_state: np.random.RandomState
) -> tuple[NDArray, tuple[NDArray, NDArray]]:
    """Samples to follow, their folds, and the folds of atoms they must not use.

    Samples that are no atoms need no folds (all -1) and are preferred where there are enough.
    Exact copies share a fold.
    """
    n = len(X)
    if index is None:
        return np.arange(n), (np.full(n, -2), np.zeros(0))
    outside = np.setdiff1d(np.arange(n), index)
    if len(outside) >= max(50, n // 5):
        return outside, (np.full(len(outside), -1), np.zeros(len(index)))
    rows = np.asarray(index)
    flat = np.asarray(X[rows]).reshape(len(rows), -1)
    copies = np.unique(flat, axis=0, return_inverse=True)[1].ravel()
    count = min(n_folds, copies.max() + 1)
    order = random_state.permutation(copies.max() + 1)
    folds = (order % count)[copies]
    return rows, (folds, folds)


def _scan(ratio: RatioProblem, kernel: Kernel, bounds) -> NDArray:
    """A start near the best of a coarse grid: far from it the ratio may be flat."""
    low, high = bounds
    theta = kernel.theta.copy()
    scanned = [i for i in range(len(theta)) if i not in range(*ratio.mixing.indices(len(theta)))]
    if not scanned:
        return theta
    best = ratio(theta)[0]
    for i in scanned:
        grid = theta[i] + np.linspace(-DECADES, DECADES, SCAN) * np.log(10.0)
        for value in grid[(grid >= low[i]) & (grid <= high[i]) & (grid != theta[i])]:
            trial = theta.copy()
            trial[i] = value
            try:
                found = ratio(trial)[0]
            except _NotFinite:
                continue
            if found < best:
                best, theta = found, trial
    return theta


def _descend(ratio, start, bounds, settings, history) -> NDArray:
    """Trust region with a quasi-Newton model; history holds the accepted values."""
    best = [np.inf, start]

    def function(theta):
        value, gradient = ratio(theta)
        if value < best[0]:
            best[:] = [value, theta.copy()]
            history.append(value)
        return value, gradient

    rounds = 1 if settings.include_prior else settings.max_iter
    for _ in range(rounds):
        before = best[1]
        ratio.frozen = False
        function(best[1])  # codes for the present parameters
        ratio.frozen = not settings.include_prior
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="delta_grad == 0.0")
            warnings.filterwarnings("ignore", message="Singular Jacobian")
            minimize(
                function, best[1], jac=True, method="trust-constr", hess=BFGS(),
                bounds=Bounds(*bounds),
                options={"xtol": settings.tol, "gtol": 1e-8, "maxiter": settings.max_iter,
                         "initial_tr_radius": 0.7},
            )  # fmt: skip
        if np.max(np.abs(best[1] - before)) <= settings.tol:
            break
    ratio.frozen = False
    return best[1]
