"""Estimators of other libraries, for rows beside ours.

dictlearn is imported when a model is built: the package itself does not need it.
"""

from __future__ import annotations

from importlib import import_module

from sklearn.base import BaseEstimator
from sklearn.decomposition import MiniBatchDictionaryLearning
from sklearn.svm import LinearSVC

from ..definition import Settings

MOST_NONZEROS = 30


def linear_svm(settings: Settings, n_atoms: int) -> LinearSVC:
    """scikit-learn's linear SVM on the samples themselves; settings: C."""
    return LinearSVC(C=settings["C"], dual="auto", random_state=0)


def minibatch_dictionary(rounds: int, settings: Settings, n_atoms: int) -> BaseEstimator:
    """scikit-learn's dictionary, for codes by matching pursuit; settings: alpha.

    Parameters
    ----------
    rounds : int
        Passes over the samples.
    settings : mapping
    n_atoms : int
    """
    return MiniBatchDictionaryLearning(
        n_atoms,
        alpha=settings["alpha"],
        max_iter=rounds,
        fit_algorithm="cd",
        transform_algorithm="omp",
        transform_n_nonzero_coefs=min(MOST_NONZEROS, n_atoms),
        random_state=0,
    )


def label_consistent(n_classes: int, settings: Settings, n_atoms: int) -> BaseEstimator:
    """LC-KSVD of dictlearn; settings: label_weight, of both terms.

    Its class-wise start codes each class with its own atoms only, and refuses codes with more.

    Parameters
    ----------
    n_classes : int
    settings : mapping
    n_atoms : int
        Of all classes.
    """
    own = max(1, n_atoms // n_classes)
    return _dictlearn(
        "LCDLClassifier",
        n_components=own,
        alpha=settings["label_weight"],
        beta=settings["label_weight"],
        n_nonzero_coefs=min(MOST_NONZEROS, own),
        init_method="trained",
    )


def discriminative(settings: Settings, n_atoms: int) -> BaseEstimator:
    """D-KSVD of dictlearn; settings: classifier_weight."""
    return _dictlearn(
        "DDLClassifier",
        n_components=n_atoms,
        alpha=settings["classifier_weight"],
        n_nonzero_coefs=min(MOST_NONZEROS, n_atoms),
        init_method="trained",
    )


def kernel_label_consistent(settings: Settings, n_atoms: int) -> BaseEstimator:
    """Kernel LC-KSVD of dictlearn; settings: gamma, n_nonzero, label_weight of both terms.

    It takes samples, not Gram matrices: its gamma is absolute.
    """
    return _dictlearn(
        "KernelLCDLClassifier",
        n_components=n_atoms,
        alpha=settings["label_weight"],
        beta=settings["label_weight"],
        gamma=settings["gamma"],
        n_nonzero_coefs=min(settings["n_nonzero"], n_atoms),
    )


def kernel_discriminative(settings: Settings, n_atoms: int) -> BaseEstimator:
    """Kernel D-KSVD of dictlearn; settings: gamma (absolute), n_nonzero, classifier_weight."""
    return _dictlearn(
        "KernelDDLClassifier",
        n_components=n_atoms,
        alpha=settings["classifier_weight"],
        gamma=settings["gamma"],
        n_nonzero_coefs=min(settings["n_nonzero"], n_atoms),
    )


def _dictlearn(name: str, **parameters: float | str) -> BaseEstimator:
    made = getattr(import_module("dictlearn.classification"), name)
    return made(**parameters, max_iter=10, random_state=0)
