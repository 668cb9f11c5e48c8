"""Rows of methods with several kernels, in equal shares or aligned with the labels."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.svm import SVC

from ..classification import ResidualClassifier
from ..coders import BaseKernelCoder
from ..kernel_learning import KernelLearning
from ..kernels import Kernel, MultipleKernel, Precomputed
from . import methods as m
from .definition import Method, Settings

Kernels = tuple[Kernel, ...]


def residual(name: str, coder: m.Coder, kernels: Kernels, space: m.Space, view="samples") -> Method:
    """A row by the residual rule.

    Parameters
    ----------
    name, coder, view
        As in :func:`kernelcoding.experiments.methods.residual`.
    kernels : tuple of Kernel
    space : mapping
        Search space, with ``weights`` ("equal" or "alignment").
    """
    build = partial(_with_residual_rule, coder, len(kernels))
    return Method(name, build, space, kernels, view)


def supervised(
    name: str,
    coder: m.Coder,
    classifier: str,
    kernels: Kernels,
    space: m.Space,
    rounds: int,
    view="samples",
) -> Method:
    """A row by a dictionary and a classifier learned together.

    Parameters
    ----------
    name, coder, kernels, space, view
        As in :func:`residual`.
    classifier : {"linear", "bilinear", "max-margin"}
    rounds : int
        Of learning.
    """
    build = partial(_with_learned_classifier, coder, len(kernels), classifier, rounds)
    return Method(name, build, space, kernels, view)


def kernel_machine(name: str, kernels: Kernels, space: m.Space, view="samples") -> Method:
    """A support vector machine on the mean of the Gram matrices.

    Parameters
    ----------
    name, kernels, view
        As in :func:`residual`.
    space : mapping
        With C.
    """
    return Method(name, _mean_machine, space, kernels, view)


def _mixture(coder: m.Coder, n_kernels: int, settings: Settings, n_atoms: int) -> BaseKernelCoder:
    kernels = [Precomputed(matrix=number) for number in range(n_kernels)]
    return coder({**settings, "mixture": MultipleKernel(kernels)}, n_atoms)


def _weighted(estimator: Any, settings: Settings) -> Any:
    if settings["weights"] == "alignment":
        estimator.set_params(learn_kernel=KernelLearning(weights="alignment"))
    return estimator


def _with_residual_rule(
    coder: m.Coder, n_kernels: int, settings: Settings, n_atoms: int
) -> ResidualClassifier:
    return ResidualClassifier(_weighted(_mixture(coder, n_kernels, settings, n_atoms), settings))


def _with_learned_classifier(
    coder: m.Coder, n_kernels: int, classifier: str, rounds: int, settings: Settings, n_atoms: int
) -> Any:
    mixture = partial(_mixture, coder, n_kernels)
    made = m.with_learned_classifier(mixture, classifier, rounds, settings, n_atoms)
    return _weighted(made, settings)


def _mean_machine(settings: Settings, n_atoms: int) -> Any:
    mean = FunctionTransformer(np.mean, kw_args={"axis": 2})
    return make_pipeline(mean, SVC(kernel="precomputed", C=settings["C"]))
