"""Rows of methods with several kernels: equal, given, aligned or learned shares."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from ...classification import ResidualClassifier
from ...coders import BaseKernelCoder
from ...kernel_learning import KernelLearning
from ...kernels import Kernel, MultipleKernel, Precomputed
from ..definition import Method, Settings, Space
from .anchors import PAIRS, RIDGES, collaborative, dictionary_pairs
from .one_kernel import CoderBuilder, kernel_svm, with_learned_classifier

Kernels = tuple[Kernel, ...]


def kernels_residual_row(
    name: str, coder: CoderBuilder, kernels: Kernels, space: Space, view: str = "samples"
) -> Method:
    """A row by the residual rule.

    Parameters
    ----------
    name, coder, view
        As in :func:`~.rows.residual_row`.
    kernels : tuple of Kernel
    space : mapping
        Search space, with ``weights``: "equal", "alignment", "ratio" (the paper's objective, in
        which all weight may end on one kernel), or a tuple of shares.
    """
    build = partial(_with_residual_rule, coder, len(kernels))
    return Method(name, build, space, kernels, view)


def kernels_supervised_row(
    name: str,
    coder: CoderBuilder,
    classifier: str,
    kernels: Kernels,
    space: Space,
    rounds: int,
    view: str = "samples",
) -> Method:
    """A row by a dictionary and a classifier learned together.

    Parameters
    ----------
    name, coder, kernels, space, view
        As in :func:`kernels_residual_row`.
    classifier : {"linear", "bilinear", "max-margin"}
    rounds : int
        Of learning.
    """
    build = partial(_with_learned_classifier, coder, len(kernels), classifier, rounds)
    return Method(name, build, space, kernels, view)


def kernels_svm_row(name: str, kernels: Kernels, space: Space, view: str = "samples") -> Method:
    """A support vector machine on a weighted mean of the Gram matrices.

    Parameters
    ----------
    name, kernels, view
        As in :func:`kernels_residual_row`.
    space : mapping
        With C; ``weights``, where there are any, are tuples of shares.
    """
    return Method(name, partial(_on_mean, kernel_svm), space, kernels, view)


def kernels_collaborative_row(
    kernels: Kernels, space: Space = RIDGES, view: str = "samples"
) -> Method:
    """CRC on a weighted mean of the Gram matrices.

    Parameters
    ----------
    kernels, view
        As in :func:`kernels_residual_row`.
    space : mapping
        With alpha; ``weights``, where there are any, are tuples of shares.
    """
    return Method("kernel CRC", partial(_on_mean, collaborative), space, kernels, view)


def kernels_pair_row(
    kernels: Kernels, n_atoms: int | None, space: Space = PAIRS, view: str = "samples"
) -> Method:
    """DPL on a weighted mean of the Gram matrices.

    Parameters
    ----------
    kernels, view
        As in :func:`kernels_residual_row`.
    n_atoms : int or None
        As in :func:`~.anchors.pair_row`.
    space : mapping
        With separation and regularization; ``weights``, where there are any, are tuples of shares.
    """
    build = partial(_on_mean, partial(dictionary_pairs, n_atoms))
    return Method("kernel DPL", build, space, kernels, view)


LEARNED_WEIGHTS = {
    "alignment": KernelLearning(weights="alignment"),
    "ratio": KernelLearning(regularization=0),
}


def _mixture_coder(
    coder: CoderBuilder, n_kernels: int, settings: Settings, n_atoms: int
) -> BaseKernelCoder:
    kernels = [Precomputed(matrix=number) for number in range(n_kernels)]
    shares = settings["weights"]
    mixture = MultipleKernel(kernels, None if isinstance(shares, str) else shares)
    return coder({**settings, "mixture": mixture}, n_atoms)


def _weighted(estimator: BaseEstimator, settings: Settings) -> BaseEstimator:
    if settings["weights"] in LEARNED_WEIGHTS:
        estimator.set_params(learn_kernel=clone(LEARNED_WEIGHTS[settings["weights"]]))
    return estimator


def _with_residual_rule(
    coder: CoderBuilder, n_kernels: int, settings: Settings, n_atoms: int
) -> ResidualClassifier:
    return ResidualClassifier(
        _weighted(_mixture_coder(coder, n_kernels, settings, n_atoms), settings)
    )


def _with_learned_classifier(
    coder: CoderBuilder,
    n_kernels: int,
    classifier: str,
    rounds: int,
    settings: Settings,
    n_atoms: int,
) -> BaseEstimator:
    mixture = partial(_mixture_coder, coder, n_kernels)
    made = with_learned_classifier(mixture, classifier, rounds, settings, n_atoms)
    return _weighted(made, settings)


def _on_mean(
    build: Callable[[Settings, int], BaseEstimator], settings: Settings, n_atoms: int
) -> BaseEstimator:
    mean = FunctionTransformer(np.average, kw_args={"axis": 2, "weights": settings.get("weights")})
    return make_pipeline(mean, build(settings, n_atoms))
