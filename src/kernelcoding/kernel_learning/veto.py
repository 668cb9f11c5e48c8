"""The veto of labels: parameters at which samples left out are predicted worse are not taken."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..dictionary import Dictionary
from ..formulations import Formulation
from ..kernels.base import Kernel
from ..solvers.result import Options
from ..stacks import Stack
from .held_out import Problems
from .label_loss import JUDGED, LabelLoss, Truth
from .settings import KernelLearning


def contradicts(problems: Problems, start: NDArray, theta: NDArray, truth: Truth) -> bool:
    """Whether labels of samples left out are predicted worse than at the start."""
    if np.array_equal(start, theta):
        return False
    some = problems.samples[:JUDGED]
    loss = LabelLoss(problems, problems.of(some), JUDGED, truth, "auto")
    return bool(loss(theta).mean() > loss(start).mean())


def labels_veto(
    formulation: Formulation,
    options: Options,
    learned: Kernel,
    X: Stack,
    dictionary: Dictionary,
    settings: KernelLearning,
    random_state: np.random.RandomState,
    truth: Truth,
) -> bool:
    """Whether a learned kernel predicts labels of samples left out worse than its start.

    Parameters
    ----------
    formulation : Formulation
        What a plain code is.
    options : Options
        How codes are computed.
    learned : Kernel
        The start with other parameters.
    X : array of shape (n, ...)
        Training samples.
    dictionary : PointDictionary or CombinationDictionary
        The first atoms, made with the start: learned ones would speak for the kernel they were
        learned with.
    settings : KernelLearning
    random_state : RandomState
    truth : Truth
        Labels of the samples.
    """
    start = dictionary.kernel
    problems = Problems(formulation, options, start, X, dictionary, settings, random_state)
    return contradicts(problems, start.theta, learned.theta, truth)
