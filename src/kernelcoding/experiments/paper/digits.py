"""Handwritten digits, which scikit-learn ships: every coder, linear and kernel, and few atoms."""

from __future__ import annotations

from functools import partial

import numpy as np
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.preprocessing import normalize

from ...classification import ResidualClassifier
from ...coders import (
    BaseKernelCoder,
    KernelBagOfWords,
    KernelLCC,
    KernelLLC,
    KernelMatchingPursuit,
    KernelSparseCoder,
)
from ...kernels import Gaussian, Linear
from ..definition import (
    Dataset,
    Experiment,
    Method,
    Request,
    Settings,
    Space,
    Splits,
    Table,
    Variants,
)
from ..rows.one_kernel import curve_methods
from ..running.splitting import halves

# Round settings, the same for both kernels; none was chosen by looking at the test half.
METHODS: dict[str, BaseKernelCoder] = {
    "bag of words, hard": KernelBagOfWords(assignment="hard"),
    "bag of words, soft": KernelBagOfWords(),
    "bag of words, local": KernelBagOfWords(n_neighbors=5),
    "sparse coding": KernelSparseCoder(alpha=0.01),
    "sparse coding, positive": KernelSparseCoder(alpha=0.01, positive=True),
    "sparse coding, groups": KernelSparseCoder(alpha=0.02, groups="y"),
    "LLC, 20 neighbours": KernelLLC(n_neighbors=20),
    "LLC, exact": KernelLLC(n_neighbors=None),
    "LCC": KernelLCC(alpha=0.1),
    "matching pursuit, OMP": KernelMatchingPursuit(n_nonzero=10),
    "matching pursuit, OLS": KernelMatchingPursuit(n_nonzero=10, selection="ols"),
}
EVERY_SAMPLE = "every sample an atom, residual rule"
WARM_UP = 50  # samples
PROTOCOL = (
    "1797 digits of 8 x 8 pixels, unit norm; half of each class for training, random splits. Every "
    "sample an atom: fixed round settings, residual rule. Few atoms: dictionaries are learned, "
    "width and alpha by stratified cross-validation in the training half; the nearest neighbour's "
    "label decides, or the classifier learned with the dictionary, whose control has a loss that "
    "counts for nothing while the dictionary is learned. Not in the paper."
)
LEGEND = (
    "SC and kSC: sparse coding with the linear and the Gaussian kernel; kLLC: local coding. Their "
    "atoms are learned without labels, and the label of the nearest neighbour among codes decides. "
    "l-SkSC: dictionary and linear classifier are learned together; its control has that "
    "classifier on a dictionary without labels. A supervised row can be below an unsupervised one "
    "because their classifiers differ: what labels are worth is l-SkSC against its control."
)
QUICK_NOTE = (
    " Quick version: one split, two numbers of atoms, two folds; without the two slowest coders."
)
SLOW = ("sparse coding, groups", "LLC, exact")
SPACES: dict[str, Space] = {
    "SC": {"alpha": (3e-3, 1e-2, 3e-2)},
    "LLC": {"n_neighbors": (10, 20), "regularization": (1e-4,)},
    "kBOW": {"width": (1.0,), "sigma": (3.0, 10.0, 30.0)},
    "kSC": {"width": (0.3, 1.0), "alpha": (3e-3, 1e-2)},
    "kLLC": {"width": (0.3, 1.0), "n_neighbors": (10, 20), "regularization": (1e-4,)},
    "supervised kSC": {"width": (1.0,), "alpha": (3e-3, 1e-2)},
    "supervised kLLC": {"width": (1.0,), "n_neighbors": (10, 20), "regularization": (1e-4,)},
}
CURVE_METHODS = ("SC", "kSC", "kLLC", "l-SkSC", "l-SkSC, control")


def digits_dataset(request: Request) -> Dataset:
    """Unit vectors, and the images they come from."""
    found = load_digits()
    names = tuple(str(name) for name in found.target_names)
    pictures = np.repeat(np.repeat(found.images, 4, axis=1), 4, axis=2)  # visible on a page
    return Dataset(normalize(found.data), found.target, names, pictures=pictures)


def classifier_of(coder: BaseKernelCoder, settings: Settings, n_atoms: int) -> ResidualClassifier:
    """The residual rule with a coder of the list."""
    return ResidualClassifier(clone(coder).set_params(kernel="precomputed"))


def warm_up() -> None:
    """Code a few samples with every coder, so that compiling is not counted in the times."""
    X, y = load_digits(return_X_y=True)
    gram = Gaussian(1.0)(normalize(X[:WARM_UP]))
    for coder in METHODS.values():
        classifier_of(coder, {}, WARM_UP).fit(gram, y[:WARM_UP]).predict(gram[:1])


def digits_experiment(
    n_splits: int, n_folds: int, sizes: tuple[int, ...], quick: bool
) -> Experiment:
    """The experiment at a scale.

    Parameters
    ----------
    n_splits, n_folds : int
    sizes : tuple of int
        Numbers of atoms.
    quick : bool
        Whether the records call it the quick version.
    """
    every_sample = tuple(
        Method(f"{name}, {label}", partial(classifier_of, coder), space, kernel)
        for name, coder in METHODS.items()
        if not (quick and name in SLOW)
        for label, kernel, space in (
            ("linear", Linear(), {}),
            ("Gaussian", Gaussian(), {"width": (1.0,)}),
        )
    )
    curve = [method for method in curve_methods(SPACES, rounds=5) if method.name in CURVE_METHODS]
    return Experiment(
        name="digits",
        title="Handwritten digits",
        protocol=f"{PROTOCOL} {LEGEND}" + (QUICK_NOTE if quick else ""),
        metric="accuracy",
        load=digits_dataset,
        splits={"splits": Splits(n_splits, halves(n_folds))},
        tables=(
            Table(EVERY_SAMPLE, every_sample),
            Table("accuracy against atoms", tuple(curve), sizes=sizes),
        ),
        quick=quick,
    )


VARIANTS = Variants(
    digits_experiment(5, 3, (20, 50, 100, 200), quick=False),
    digits_experiment(1, 2, (20, 50), quick=True),
)
