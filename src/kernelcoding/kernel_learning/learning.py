r"""Learning kernel parameters: minimise :math:`L(\theta) / J(\theta)`, or a loss of labels.

L is the mean coding objective, J the mean squared distance between atoms in H: without J, the best
kernel would be the one that maps everything to one point. Codes are minimised over inside L, so the
gradient of L is its partial gradient at the optimal codes, and one trust-region method on
:math:`\theta = \log(\text{parameters})`, with codes warm-started from step to step, finds the joint
minimum in a few codings.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_consistent_length

from ..dictionary import CombinationDictionary, Dictionary, PointDictionary
from ..formulations import Formulation
from ..kernels.base import Kernel
from ..kernels.multiple import MultipleKernel
from ..parallel import steady_blas
from ..solvers.result import Convergence, Options
from ..validation import refuse_missing_labels
from .alignment import aligned_weights
from .bounds import theta_bounds
from .held_out import Problems
from .label_loss import LabelLoss, Truth
from .labels_search import search_by_labels
from .ratio import Degenerate
from .ratio_search import Found, search_by_ratio
from .settings import HELD_OUT, JOINT, KernelLearning


@dataclass(slots=True)
class LearnedKernel:
    """The kernel and how it was found."""

    kernel: Kernel
    history: list[float]  # what was minimised after every accepted step, codes optimal
    objective: float  # the same over all samples
    convergence: Convergence  # at the worst parameters that were tried
    # Or why the start was kept: "flat", "bound", "vanishing", "labels", "not finite".
    status: str = "learned"
    notes: list[str] = field(default_factory=list)  # what the user should know

    def warn(self, stacklevel: int) -> None:
        """Say what the user should know, and how codes ended."""
        for note in self.notes:
            warnings.warn(note, UserWarning, stacklevel=stacklevel)
        self.convergence.warn(" while the kernel was learned", stacklevel=stacklevel + 1)


def learn_kernel(
    formulation: Formulation,
    options: Options,
    kernel: Kernel,
    X: NDArray,
    dictionary: Dictionary,
    settings: KernelLearning,
    random_state: np.random.RandomState,
    truth: Truth | None = None,
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
    truth : Truth, default=None
        Labels of the samples, where there are classes.
    """
    require_parameters(kernel)
    problems = Problems(formulation, options, kernel, X, dictionary, settings, random_state)
    with steady_blas(len(problems.samples) * dictionary.n_atoms**2):
        return _learned_from(problems, kernel, X, settings, truth)


def _learned_from(
    problems: Problems, kernel: Kernel, X: NDArray, settings: KernelLearning, truth: Truth | None
) -> LearnedKernel:
    """Search within bounds that the samples give."""
    followed = problems.of(problems.samples[: settings.n_followed])
    bounds = low, high = theta_bounds(kernel, settings.bounds, followed.among, X)
    if np.any(kernel.theta < low):  # a value apart, such as the Stein kernel's half integers
        kernel = kernel.with_theta(np.maximum(kernel.theta, low))
    if isinstance(kernel, MultipleKernel) and settings.weights == "alignment":
        fixed = np.array([name.startswith("weights__") for name in kernel.parameter_names])
        low[fixed] = high[fixed] = kernel.theta[fixed]
        if fixed.all():
            return LearnedKernel(at_theta(kernel, kernel.theta), [], np.nan, Convergence())
    try:
        if settings.criterion == HELD_OUT:
            assert truth is not None
            loss = LabelLoss(problems, followed, settings.n_followed, truth, settings.rule)
            found = search_by_labels(loss, kernel, bounds, settings)
        else:
            found = search_by_ratio(problems, followed, kernel, bounds, settings, truth)
    except Degenerate as error:  # already at the start: a bad trial alone ends no search
        raise ValueError(str(error)) from None
    return _learned(kernel, found)


def _learned(kernel: Kernel, found: Found) -> LearnedKernel:
    kept = found.theta is None or np.array_equal(found.theta, kernel.theta)
    if found.theta is None or (kept and not isinstance(kernel, MultipleKernel)):
        result = kernel  # to the last bit
    else:
        result = at_theta(kernel, found.theta)
    return LearnedKernel(
        result, found.history, found.objective, found.convergence, found.status, found.notes
    )


def require_parameters(kernel: Kernel) -> None:
    """Refuse a kernel that has nothing to learn: ValueError."""
    if len(kernel.theta) == 0:
        raise ValueError(
            f"The kernel {kernel!r} has no parameter to learn. Use learn_kernel=False, or a kernel "
            "with a width, or MultipleKernel."
        )


def at_theta(kernel: Kernel, theta: NDArray) -> Kernel:
    """The kernel at learned parameters; several kernels say their weights."""
    return with_weights(kernel.with_theta(theta))


def with_weights(kernel: Kernel) -> Kernel:
    """The same kernel; several kernels say their weights from now on."""
    if isinstance(kernel, MultipleKernel):
        kernel.weights_ = kernel.current_weights
    return kernel


def prepared_start(
    kernel: Kernel,
    X: NDArray,
    y: ArrayLike | None,
    settings: KernelLearning,
    learns_jointly: bool = False,
) -> Kernel:
    """The kernel to start from: several kernels at equal shares, or aligned with the labels.

    What the criterion needs and does not get is refused.
    """
    if settings.criterion == JOINT and not learns_jointly:
        raise ValueError(
            'criterion="joint" learns the kernel with a classifier: use it in '
            'SupervisedKernelCoding(training="joint"). Here use criterion="held-out" with labels, '
            'or criterion="ratio".'
        )
    if settings.criterion == JOINT and settings.rounds:
        raise ValueError(
            'criterion="joint" learns the kernel in every round of the atoms, got '
            f"rounds={settings.rounds}. Use rounds=0."
        )
    if settings.criterion == HELD_OUT and y is None:
        raise ValueError(
            'criterion="held-out" needs labels: call fit(X, y), or use criterion="ratio".'
        )
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
        refuse_missing_labels(y)
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
