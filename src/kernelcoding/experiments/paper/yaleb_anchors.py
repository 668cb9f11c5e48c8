"""Rows beside ours on faces: methods that the paper names, and what explains one of its numbers."""

from __future__ import annotations

from functools import partial

from sklearn.base import BaseEstimator

from ...classification import (
    DiscriminativeKSVD,
    LabelConsistentKSVD,
    ResidualClassifier,
)
from ...coders import BaseKernelCoder, KernelMatchingPursuit, KernelSparseCoder
from ...dictionary_learning import KernelDictionaryLearning
from ...kernels import Gaussian, Linear
from ..definition import Method, Settings, Space
from ..rows.anchors import RIDGES, pair_row, sampled_collaborative
from ..rows.one_kernel import linear_head
from ..running.classifiers import SampledAtoms

N_NONZERO = 30
PUBLISHED: Space = {"label_weight": (4e-6,)}  # of LC-KSVD, in units of mean k(x, x)
# Looked at on folds of the first training part, when test accuracies had been seen.
PAIR: Space = {"separation": (3e-3,), "regularization": (1e-4,)}
KERNEL_PAIR: Space = {"width": (0.2,), "separation": (3e-3,), "regularization": (1e-5,)}
KERNEL_KSVD: Space = {"width": (0.1,), "n_nonzero": (5, 10)}
POINTS: Space = {"gamma": ("0.1*median",), "alpha": (3e-4,)}


def lc_ksvd(settings: Settings, n_atoms: int) -> LabelConsistentKSVD:
    """LC-KSVD2; the weights of its two terms are in the published proportion."""
    weight = settings["label_weight"]
    return LabelConsistentKSVD(
        "linear",
        n_atoms=n_atoms,
        n_nonzero=min(N_NONZERO, n_atoms),
        label_weight=weight,
        classifier_weight=weight / 4,
        max_iter=10,
    )


def d_ksvd(settings: Settings, n_atoms: int) -> DiscriminativeKSVD:
    """D-KSVD."""
    return DiscriminativeKSVD(
        "linear",
        n_atoms=n_atoms,
        n_nonzero=min(N_NONZERO, n_atoms),
        classifier_weight=settings["classifier_weight"],
        max_iter=10,
    )


def sampled_src(settings: Settings, n_atoms: int) -> SampledAtoms:
    """SRC with few training samples."""
    return _over_samples(KernelSparseCoder("linear", alpha=settings["alpha"]), n_atoms)


def sampled_pursuit(settings: Settings, n_atoms: int) -> SampledAtoms:
    """The same with matching pursuit in place of the l1 norm."""
    few = min(settings["n_nonzero"], n_atoms)
    return _over_samples(KernelMatchingPursuit("linear", n_nonzero=few), n_atoms)


def _over_samples(coder: BaseKernelCoder, n_atoms: int) -> SampledAtoms:
    return SampledAtoms(ResidualClassifier(coder), n_atoms)


def sparser_rows() -> tuple[Method, ...]:
    """SRC with codes as sparse as 80 % needs them to be."""
    return (
        Method("SRC, 5 atoms a code", sampled_pursuit, {"n_nonzero": (5,)}),
        Method("SRC, 10 atoms a code", sampled_pursuit, {"n_nonzero": (10,)}),
        Method("SRC, 30 atoms a code", sampled_pursuit, {"n_nonzero": (30,)}),
        Method("SRC, alpha 0.1", sampled_src, {"alpha": (0.1,)}),
        Method("SRC, alpha 0.01", sampled_src, {"alpha": (0.01,)}),
    )


def sampled_ridge_rows() -> tuple[Method, ...]:
    """CRC with few training samples, linear and in kernel space."""
    return (
        Method("CRC", partial(sampled_collaborative, Linear()), RIDGES),
        Method("kernel CRC", partial(sampled_collaborative, Gaussian("0.1*median")), RIDGES),
    )


def pair_rows() -> tuple[Method, ...]:
    """Dictionary pair learning, published and in kernel space."""
    return (
        pair_row("DPL", Linear(), PAIR),
        pair_row("kernel DPL", Gaussian(), KERNEL_PAIR),
    )


def kernel_ksvd(rounds: int, settings: Settings, n_atoms: int) -> ResidualClassifier:
    """Kernel K-SVD of Nguyen et al.: a dictionary per class, greedy codes, residuals."""
    coder = KernelMatchingPursuit("precomputed", n_nonzero=settings["n_nonzero"])
    return ResidualClassifier(
        KernelDictionaryLearning(
            coder, n_atoms=n_atoms, update="ksvd", max_iter=rounds, per_class=True
        )
    )


def kernel_ksvd_row(rounds: int) -> Method:
    """A row by :func:`kernel_ksvd`."""
    return Method("kernel K-SVD", partial(kernel_ksvd, rounds), KERNEL_KSVD, Gaussian())


def point_atoms(rounds: int, settings: Settings, n_atoms: int) -> BaseEstimator:
    """Kernel sparse representation of Gao et al.: atoms are points of the input space."""
    coder = KernelSparseCoder(Gaussian(settings["gamma"]), alpha=settings["alpha"])
    return KernelDictionaryLearning(coder, n_atoms=n_atoms, update="points", max_iter=rounds)


def point_row(rounds: int, costs: tuple[float, ...]) -> Method:
    """A row by :func:`point_atoms` and a linear SVM on codes, as in KSR."""
    return Method(
        "KSR, SVM",
        partial(point_atoms, rounds),
        POINTS,
        head=linear_head,
        head_space={"C": costs},
    )
