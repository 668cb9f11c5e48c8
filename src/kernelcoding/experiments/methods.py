"""The methods of the paper and their neighbours, as parts that experiments put together."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer
from sklearn.svm import SVC, LinearSVC

from ..classification import ResidualClassifier, SupervisedKernelCoding
from ..coders import BaseKernelCoder, KernelBagOfWords, KernelLLC, KernelSparseCoder
from ..dictionary_learning import KernelDictionaryLearning
from ..kernels import Gaussian, Kernel, Linear
from .definition import Method, Settings
from .models import NearestCode

Coder = Callable[[Settings, int], BaseKernelCoder]
Space = Mapping[str, Sequence[Any]]
NEAREST: Space = {"metric": ("euclidean", "cosine")}
CONTROL = 1e-9  # weight of the loss that leaves the dictionary as it would be without labels


def sparse_coder(settings: Settings, n_atoms: int) -> BaseKernelCoder:
    """SC or kSC; settings: alpha."""
    return KernelSparseCoder(settings.get("mixture", "precomputed"), alpha=settings["alpha"])


def local_coder(settings: Settings, n_atoms: int) -> BaseKernelCoder:
    """LLC or kLLC; settings: n_neighbors, regularization."""
    return KernelLLC(
        settings.get("mixture", "precomputed"),
        n_neighbors=min(settings["n_neighbors"], n_atoms),
        regularization=settings["regularization"],
    )


def bag_coder(settings: Settings, n_atoms: int) -> BaseKernelCoder:
    """BOW or kBOW with soft assignment; settings: sigma."""
    return KernelBagOfWords("precomputed", sigma=settings["sigma"])


def with_residual_rule(coder: Coder, settings: Settings, n_atoms: int) -> ResidualClassifier:
    """Every training sample an atom, the class of smallest residual."""
    return ResidualClassifier(coder(settings, n_atoms))


def with_learned_atoms(
    coder: Coder, rounds: int, settings: Settings, n_atoms: int
) -> KernelDictionaryLearning:
    """Codes of an unsupervised dictionary."""
    return KernelDictionaryLearning(coder(settings, n_atoms), n_atoms=n_atoms, max_iter=rounds)


def with_learned_classifier(
    coder: Coder, classifier: str, rounds: int, settings: Settings, n_atoms: int
) -> SupervisedKernelCoding:
    """Dictionary and classifier learned together."""
    return SupervisedKernelCoding(
        coder(settings, n_atoms),
        n_atoms=n_atoms,
        classifier=classifier,
        eta=settings.get("eta", "auto"),
        max_iter=rounds,
    )


def residual(name: str, coder: Coder, kernel: Kernel, space: Space, view="samples") -> Method:
    """A row by the residual rule.

    Parameters
    ----------
    name : str
        Of the row.
    coder : callable
        One of this file.
    kernel : Kernel
    space : mapping
        Search space.
    view : str
        Which samples.
    """
    return Method(name, partial(with_residual_rule, coder), space, kernel, view)


def nearest_code(
    name: str, coder: Coder, kernel: Kernel, space: Space, rounds: int, view="samples"
) -> Method:
    """A row by an unsupervised dictionary and the nearest neighbour's label.

    Parameters
    ----------
    name, coder, kernel, space, view
        As in :func:`residual`.
    rounds : int
        Of dictionary learning.
    """
    build = partial(with_learned_atoms, coder, rounds)
    return Method(name, build, space, kernel, view, _nearest, NEAREST)


def linear_machine(
    name: str, coder: Coder, kernel: Kernel, space: Space, rounds: int, costs: Sequence[float]
) -> Method:
    """A row by an unsupervised dictionary and a linear SVM on codes of unit norm.

    Parameters
    ----------
    name, coder, kernel, space, rounds
        As in :func:`nearest_code`.
    costs : sequence of float
        Values of C to search.
    """
    build = partial(with_learned_atoms, coder, rounds)
    return Method(name, build, space, kernel, head=linear_head, head_space={"C": tuple(costs)})


def supervised(
    name: str,
    coder: Coder,
    classifier: str,
    kernel: Kernel,
    space: Space,
    rounds: int,
    view="samples",
) -> Method:
    """A row by a dictionary and a classifier learned together.

    Parameters
    ----------
    name, coder, kernel, space, rounds, view
        As in :func:`nearest_code`.
    classifier : {"linear", "bilinear", "max-margin"}
    """
    build = partial(with_learned_classifier, coder, classifier, rounds)
    return Method(name, build, space, kernel, view)


def control(method: Method) -> Method:
    """The same, with labels that count for nothing while the dictionary is learned.

    Parameters
    ----------
    method : Method
        Made by :func:`supervised`.
    """
    space = {**method.space, "eta": (CONTROL,)}
    return Method(f"{method.name}, control", method.build, space, method.kernel, method.view)


def kernel_machine(name: str, kernel: Kernel, space: Space, view="samples") -> Method:
    """A support vector machine on the same Gram matrix.

    Parameters
    ----------
    name, kernel, view
        As in :func:`residual`.
    space : mapping
        With C.
    """
    return Method(name, _kernel_machine, space, kernel, view)


def _nearest(settings: Settings) -> NearestCode:
    return NearestCode(settings["metric"])


def linear_head(settings: Settings) -> Any:
    """A linear SVM on codes of unit norm; settings: C."""
    return make_pipeline(Normalizer(), LinearSVC(C=settings["C"], dual="auto", random_state=0))


def _kernel_machine(settings: Settings, n_atoms: int) -> SVC:
    return SVC(kernel="precomputed", C=settings["C"])


def curve_methods(
    spaces: Mapping[str, Space], rounds: int, view: str = "samples"
) -> tuple[Method, ...]:
    """The nine methods of the paper's figures.

    Parameters
    ----------
    spaces : mapping
        Search spaces by method: SC, LLC, kBOW, kSC, kLLC; those of kSC and kLLC, thinned to
        ``supervised kSC`` and ``supervised kLLC``, serve the supervised methods.
    rounds : int
        Of learning.
    view : str
        Which samples.

    Returns
    -------
    methods : tuple of Method
    """
    linear, gaussian = Linear(), Gaussian()
    parts: tuple[tuple[str, Coder, Kernel], ...] = (
        ("SC", sparse_coder, linear),
        ("LLC", local_coder, linear),
        ("kBOW", bag_coder, gaussian),
        ("kSC", sparse_coder, gaussian),
        ("kLLC", local_coder, gaussian),
    )
    plain = [nearest_code(name, coder, k, spaces[name], rounds, view) for name, coder, k in parts]
    rules = (("l", "linear"), ("bi", "bilinear"))
    coders = (("kSC", sparse_coder), ("kLLC", local_coder))
    joint = [
        supervised(
            f"{letter}-S{name}", coder, rule, gaussian, spaces[f"supervised {name}"], rounds, view
        )
        for letter, rule in rules
        for name, coder in coders
    ]
    return (*plain, *joint)
