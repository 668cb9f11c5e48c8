"""Rows of the tables: the methods of the paper with one kernel, and their controls."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial

from sklearn.base import BaseEstimator
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer
from sklearn.svm import SVC, LinearSVC

from ...classification import ResidualClassifier, SupervisedKernelCoding
from ...coders import BaseKernelCoder, KernelBagOfWords, KernelLLC, KernelSparseCoder
from ...dictionary_learning import KernelDictionaryLearning
from ...kernels import Gaussian, Kernel, Linear
from ..definition import Method, Settings, Space
from ..running.classifiers import NearestCode
from ..running.without_labels import UnlabelledAtoms

CoderBuilder = Callable[[Settings, int], BaseKernelCoder]
NEAREST: Space = {"metric": ("euclidean", "cosine")}
CONTROL_ETA = 1e-9  # a loss of this weight leaves the dictionary as it would be without labels


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


def with_residual_rule(coder: CoderBuilder, settings: Settings, n_atoms: int) -> ResidualClassifier:
    """Every training sample an atom, the class of smallest residual."""
    return ResidualClassifier(coder(settings, n_atoms))


def with_learned_atoms(
    coder: CoderBuilder, rounds: int, settings: Settings, n_atoms: int
) -> KernelDictionaryLearning:
    """Codes of a dictionary that is learned without labels."""
    return KernelDictionaryLearning(coder(settings, n_atoms), n_atoms=n_atoms, max_iter=rounds)


def with_residuals_of_learned_atoms(
    coder: CoderBuilder, rounds: int, per_class: bool, settings: Settings, n_atoms: int
) -> ResidualClassifier:
    """Codes of a learned dictionary, read by residuals: through the samples, or class by class."""
    learned = with_learned_atoms(coder, rounds, settings, n_atoms)
    return ResidualClassifier(learned.set_params(per_class=per_class))


def with_residuals_of_unlabelled_atoms(
    coder: CoderBuilder, rounds: int, settings: Settings, n_atoms: int
) -> UnlabelledAtoms:
    """The same, with first atoms that no class has its share of."""
    return UnlabelledAtoms(with_learned_atoms(coder, rounds, settings, n_atoms))


def with_learned_classifier(
    coder: CoderBuilder, classifier: str, rounds: int, settings: Settings, n_atoms: int
) -> SupervisedKernelCoding:
    """Dictionary and classifier learned together."""
    return SupervisedKernelCoding(
        coder(settings, n_atoms),
        n_atoms=n_atoms,
        classifier=classifier,
        eta=settings.get("eta", "auto"),
        max_iter=rounds,
    )


def residual_row(
    name: str, coder: CoderBuilder, kernel: Kernel, space: Space, view: str = "samples"
) -> Method:
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


def nearest_code_row(
    name: str, coder: CoderBuilder, kernel: Kernel, space: Space, rounds: int, view: str = "samples"
) -> Method:
    """A row by an unsupervised dictionary and the nearest neighbour's label.

    Parameters
    ----------
    name, coder, kernel, space, view
        As in :func:`residual_row`.
    rounds : int
        Of dictionary learning.
    """
    build = partial(with_learned_atoms, coder, rounds)
    return Method(name, build, space, kernel, view, _nearest_head, NEAREST)


def learned_residual_row(
    name: str,
    coder: CoderBuilder,
    kernel: Kernel,
    space: Space,
    rounds: int,
    per_class: bool = False,
) -> Method:
    """A row by a learned dictionary and the residual rule.

    Parameters
    ----------
    name, coder, kernel, space, rounds
        As in :func:`nearest_code_row`.
    per_class : bool
        Whether each class has a dictionary of its own; else one dictionary, learned without
        labels, is read through the samples that its atoms are combinations of.
    """
    build = partial(with_residuals_of_learned_atoms, coder, rounds, per_class)
    return Method(name, build, space, kernel)


def linear_svm_row(
    name: str,
    coder: CoderBuilder,
    kernel: Kernel,
    space: Space,
    rounds: int,
    costs: Sequence[float],
    view: str = "samples",
) -> Method:
    """A row by an unsupervised dictionary and a linear SVM on codes of unit norm.

    Parameters
    ----------
    name, coder, kernel, space, rounds, view
        As in :func:`nearest_code_row`.
    costs : sequence of float
        Values of C to search.
    """
    build = partial(with_learned_atoms, coder, rounds)
    return Method(name, build, space, kernel, view, linear_head, {"C": tuple(costs)})


def supervised_row(
    name: str,
    coder: CoderBuilder,
    classifier: str,
    kernel: Kernel,
    space: Space,
    rounds: int,
    view: str = "samples",
) -> Method:
    """A row by a dictionary and a classifier learned together.

    Parameters
    ----------
    name, coder, kernel, space, rounds, view
        As in :func:`nearest_code_row`.
    classifier : {"linear", "bilinear", "max-margin"}
    """
    build = partial(with_learned_classifier, coder, classifier, rounds)
    return Method(name, build, space, kernel, view)


def control_row(method: Method) -> Method:
    """The same, with labels that count for nothing while the dictionary is learned.

    Parameters
    ----------
    method : Method
        Made by :func:`supervised_row`.
    """
    return replace(
        method,
        name=f"{method.name}, control",
        space={**method.space, "eta": (CONTROL_ETA,)},
        control_of=method.name,
    )


def svm_row(name: str, kernel: Kernel, space: Space, view: str = "samples") -> Method:
    """A support vector machine on the same Gram matrix.

    Parameters
    ----------
    name, kernel, view
        As in :func:`residual_row`.
    space : mapping
        With C.
    """
    return Method(name, kernel_svm, space, kernel, view)


def _nearest_head(settings: Settings) -> NearestCode:
    return NearestCode(settings["metric"])


def linear_head(settings: Settings) -> BaseEstimator:
    """A linear SVM on codes of unit norm; settings: C."""
    return make_pipeline(Normalizer(), LinearSVC(C=settings["C"], dual="auto", random_state=0))


def kernel_svm(settings: Settings, n_atoms: int) -> SVC:
    """A support vector machine on a Gram matrix; settings: C."""
    return SVC(kernel="precomputed", C=settings["C"])


CODERS_READ: tuple[tuple[str, CoderBuilder], ...] = (
    ("kSC", sparse_coder),
    ("kLLC", local_coder),
)


def code_machine_rows(
    spaces: Mapping[str, Space], rounds: int, costs: Sequence[float], view: str = "samples"
) -> tuple[Method, ...]:
    """A linear SVM on sparse and on local codes of atoms learned without labels.

    Parameters
    ----------
    spaces : mapping
        Search spaces of ``supervised kSC`` and ``supervised kLLC``, whose classifier it is.
    rounds, costs, view
        As in :func:`linear_svm_row`.
    """
    return tuple(
        linear_svm_row(
            f"{name}, SVM", coder, Gaussian(), spaces[f"supervised {name}"], rounds, costs, view
        )
        for name, coder in CODERS_READ
    )


def learned_residual_rows(spaces: Mapping[str, Space], rounds: int) -> tuple[Method, ...]:
    """The residual rule through the samples of one dictionary, and of a dictionary per class.

    Parameters
    ----------
    spaces : mapping
        Search spaces of ``kSC, read`` and ``kLLC, read``.
    rounds : int
        Of learning.

    Returns
    -------
    methods : tuple of Method
    """
    return tuple(
        learned_residual_row(
            f"{name}, {how}", coder, Gaussian(), spaces[f"{name}, read"], rounds, per_class
        )
        for name, coder in CODERS_READ
        for how, per_class in (("residuals", False), ("class-wise", True))
    )


def unlabelled_residual_rows(spaces: Mapping[str, Space], rounds: int) -> tuple[Method, ...]:
    """The residual rule through the samples of a dictionary that never saw a label.

    Parameters
    ----------
    spaces, rounds
        As in :func:`learned_residual_rows`.
    """
    return tuple(
        Method(
            f"{name}, residuals, start without labels",
            partial(with_residuals_of_unlabelled_atoms, coder, rounds),
            spaces[f"{name}, read"],
            Gaussian(),
        )
        for name, coder in CODERS_READ
    )


def reading_rows(
    spaces: Mapping[str, Space], rounds: int, costs: Sequence[float]
) -> tuple[Method, ...]:
    """Codes of learned dictionaries, read in four ways with the same settings to choose from.

    Parameters
    ----------
    spaces, rounds
        As in :func:`learned_residual_rows`.
    costs : sequence of float
        Values of C of the linear SVM.

    Returns
    -------
    methods : tuple of Method
    """
    rows: list[Method] = []
    for name, coder in CODERS_READ:
        space = spaces[f"{name}, read"]
        rows.append(nearest_code_row(f"{name}, 1-NN", coder, Gaussian(), space, rounds))
        rows.append(linear_svm_row(f"{name}, SVM", coder, Gaussian(), space, rounds, costs))
    return (*rows, *learned_residual_rows(spaces, rounds))


def curve_methods(
    spaces: Mapping[str, Space], rounds: int, view: str = "samples"
) -> tuple[Method, ...]:
    """The nine methods of the paper's figures, and the controls of those with labels.

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
    parts: tuple[tuple[str, CoderBuilder, Kernel], ...] = (
        ("SC", sparse_coder, linear),
        ("LLC", local_coder, linear),
        ("kBOW", bag_coder, gaussian),
        ("kSC", sparse_coder, gaussian),
        ("kLLC", local_coder, gaussian),
    )
    plain = [
        nearest_code_row(name, coder, k, spaces[name], rounds, view) for name, coder, k in parts
    ]
    rules = (("l", "linear"), ("bi", "bilinear"))
    coders = (("kSC", sparse_coder), ("kLLC", local_coder))
    joint = [
        supervised_row(
            f"{letter}-S{name}", coder, rule, gaussian, spaces[f"supervised {name}"], rounds, view
        )
        for letter, rule in rules
        for name, coder in coders
    ]
    return (*plain, *joint, *(control_row(method) for method in joint))
