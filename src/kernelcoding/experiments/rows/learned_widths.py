"""Rows with a learned width beside those where it is searched.

Estimators see samples, not Gram matrices: the kernel starts at the median width.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from sklearn.base import BaseEstimator, clone

from ...classification import ResidualClassifier, SupervisedKernelCoding
from ...kernel_learning import KernelLearning
from ...kernels import Gaussian, Kernel
from ..definition import Method, Settings, Space
from ..running.without_labels import PaperWidth
from .one_kernel import CODERS_READ, CoderBuilder

PRINTED, RATIO, HELD_OUT, JOINT = "ratio as printed", "ratio", "held-out", "joint"
MEDIAN = "median"
GAUSSIAN = Gaussian(MEDIAN)
LEARNED = {
    MEDIAN: None,
    RATIO: KernelLearning(),
    HELD_OUT: KernelLearning(criterion="held-out"),
    JOINT: KernelLearning(criterion="joint"),
}


def width_rows(
    spaces: Mapping[str, Space], view: str = "samples", kernel: Kernel = GAUSSIAN
) -> tuple[Method, ...]:
    """Every training sample an atom: the median width, the paper's ratio, ours, held-out labels.

    Parameters
    ----------
    spaces : mapping
        Of ``kSC, width`` and ``kLLC, width``, without a width.
    view : str
        Which samples.
    kernel : Kernel
        Of such samples, with the rule "median" for its width.
    """
    return tuple(
        Method(
            f"{name}, {how}",
            partial(_residuals, coder, kernel, how),
            spaces[f"{name}, width"],
            None,
            view,
        )
        for name, coder in CODERS_READ
        for how in (MEDIAN, PRINTED, RATIO, HELD_OUT)
    )


def supervised_width_rows(
    coder: CoderBuilder,
    space: Space,
    rounds: int,
    view: str = "samples",
    kernel: Kernel = GAUSSIAN,
) -> tuple[Method, ...]:
    """Linear supervised sparse coding: the median width, ratio, held-out labels, joint objective.

    Parameters
    ----------
    coder : callable
        One of :mod:`~.rows`.
    space : mapping
        Without a width.
    rounds : int
        Of learning.
    view, kernel
        As in :func:`width_rows`.
    """
    return tuple(
        Method(
            f"l-SkSC, {how}", partial(_supervised, coder, kernel, how, rounds), space, None, view
        )
        for how in LEARNED
    )


def _residuals(
    coder: CoderBuilder, kernel: Kernel, how: str, settings: Settings, n_atoms: int
) -> BaseEstimator:
    plain = coder({**settings, "mixture": clone(kernel)}, n_atoms)
    if how == PRINTED:
        return PaperWidth(plain)
    learning = LEARNED[how]
    return ResidualClassifier(
        plain.set_params(learn_kernel=False if learning is None else learning)
    )


def _supervised(
    coder: CoderBuilder, kernel: Kernel, how: str, rounds: int, settings: Settings, n_atoms: int
) -> SupervisedKernelCoding:
    learning = LEARNED[how]
    return SupervisedKernelCoding(
        coder({**settings, "mixture": clone(kernel)}, n_atoms),
        n_atoms=n_atoms,
        max_iter=rounds,
        learn_kernel=False if learning is None else learning,
    )
