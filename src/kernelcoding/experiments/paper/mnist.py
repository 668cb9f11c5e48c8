"""MNIST: small dictionaries of 60,000 samples, trained for a classifier of their plain codes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.multiclass import OneVsRestClassifier

from ...classification import SupervisedKernelCoding
from ...coders import KernelSparseCoder
from ...datasets import fetch_mnist
from ...dictionary_learning.showing import Progress
from ...kernels import Gaussian, Kernel, Linear
from ..definition import (
    Dataset,
    Experiment,
    Method,
    Settings,
    Space,
    Split,
    Splits,
    Table,
    Variants,
)
from ..running.splitting import official
from .fashion_mnist import (
    KERNEL_PAIR,
    PAIR,
    first_pictures,
    kernel_pairs,
    linear_pairs,
    machine,
)

MACHINE: Space = {"C": (10.0,)}
# Alphas by trials: 6,000 training pictures, judged on 6,000 others.
CODES: Mapping[str, tuple[Kernel, Space]] = {
    "SC": (Linear(), {"alpha": (0.1,)}),
    "kSC": (Gaussian("median"), {"alpha": (0.05,)}),
}
PROTOCOL = (
    "The official 60,000 training and 10,000 test pictures of 28 x 28 pixels, of unit norm; a "
    "linear or a Gaussian kernel at its median width, sparse codes. Atoms are combinations of "
    "1,000 random training pictures. Controls: atoms learned without labels, multinomial logistic "
    "regression on their codes. td-: the same atoms trained for that classifier; with shifts, on "
    "pictures moved by at most a pixel. A dictionary per class: that many atoms for each class, "
    "trained for two classes, it and the rest. Beside them dictionary pairs (DPL) and a support "
    "vector machine. One setting each, alpha chosen on training pictures. Not in the paper."
)


@dataclass(frozen=True, slots=True)
class MnistScale:
    """How much is run."""

    n_train: int | None  # the first training pictures; None is all
    n_test: int | None
    sizes: tuple[int, ...]
    class_sizes: tuple[int, ...]  # of dictionaries per class
    n_landmarks: int
    epochs: int
    note: str = ""


FULL = MnistScale(None, None, (50, 300), (50,), n_landmarks=1000, epochs=20)
QUICK = MnistScale(
    2000,
    1000,
    (50,),
    (20,),
    n_landmarks=300,
    epochs=5,
    note=" Quick version: the first 2,000 and 1,000 pictures, 50 atoms (20 per class), 5 epochs.",
)


def unit_pictures(dataset: Dataset, split: Split) -> NDArray:
    """Pixels of unit norm."""
    norms = np.linalg.norm(dataset.samples.astype(float), axis=1, keepdims=True)
    return dataset.samples / np.maximum(norms, 1.0)


def moved(X: NDArray, random_state: np.random.RandomState) -> NDArray:
    """Square pictures moved by at most a pixel, edges filled with zeros."""
    side = round(X.shape[1] ** 0.5)
    pictures = np.pad(X.reshape(-1, side, side), [(0, 0), (1, 1), (1, 1)])
    windows = np.lib.stride_tricks.sliding_window_view(pictures, (side, side), axis=(1, 2))
    down, right = random_state.randint(0, 3, size=(2, len(X)))
    return windows[np.arange(len(X)), down, right].reshape(len(X), -1)


def before_training(progress: Progress) -> bool:
    """Stop where atoms have been learned without labels."""
    return progress.step == "trial codes"


def trained_atoms(
    scale: MnistScale,
    kernel: Kernel,
    options: Mapping[str, Any],
    settings: Settings,
    n_atoms: int,
) -> SupervisedKernelCoding:
    """Atoms learned without labels, then trained unless the options stop it; settings: alpha."""
    return SupervisedKernelCoding(
        KernelSparseCoder(clone(kernel), alpha=settings["alpha"], sparse_output=True),
        n_atoms=n_atoms,
        n_landmarks=scale.n_landmarks,
        classifier="logistic",
        training="task-driven",
        max_iter=scale.epochs,
        **options,
    )


def trained_per_class(
    scale: MnistScale, kernel: Kernel, settings: Settings, n_atoms: int
) -> OneVsRestClassifier:
    """For each class atoms that tell it from the rest, trained on moved pictures."""
    options = {"augment": moved}
    return OneVsRestClassifier(trained_atoms(scale, kernel, options, settings, n_atoms))


def trained_rows(scale: MnistScale, code: str) -> tuple[Method, ...]:
    """Trained atoms, on pictures as they are and moved, and their control."""
    kernel, space = CODES[code]
    name = f"td-{code}"
    ways: Mapping[str, Mapping[str, Any]] = {
        name: {},
        f"{name}, control": {"callback": before_training},
        f"{name}, shifts": {"augment": moved},
    }
    rows = tuple(
        Method(row, partial(trained_atoms, scale, kernel, options), space)
        for row, options in ways.items()
    )
    return (rows[0], replace(rows[1], control_of=name), rows[2])


def mnist_experiment(scale: MnistScale, quick: bool = False) -> Experiment:
    """The experiment at a scale.

    Parameters
    ----------
    scale : MnistScale
    quick : bool
        Whether the records call it the quick version.
    """
    pairs = (
        Method("DPL", linear_pairs, PAIR),
        Method("kernel DPL", kernel_pairs, KERNEL_PAIR),
    )
    kernel, space = CODES["kSC"]
    per_class = Method("td-kSC, shifts", partial(trained_per_class, scale, kernel), space)
    return Experiment(
        name="mnist",
        title="MNIST, trained dictionaries",
        protocol=PROTOCOL + scale.note,
        metric="accuracy",
        load=partial(first_pictures, fetch_mnist, scale.n_train, scale.n_test),
        splits={"splits": Splits(1, official(2))},
        tables=(
            Table(
                "accuracy against atoms",
                (*trained_rows(scale, "kSC"), *pairs),
                sizes=scale.sizes,
                anchors=(Method("SVC", machine, MACHINE),),
            ),
            Table("linear codes", trained_rows(scale, "SC"), sizes=scale.sizes[:1]),
            Table("a dictionary per class", (per_class,), sizes=scale.class_sizes),
        ),
        views={"samples": unit_pictures},
        quick=quick,
    )


VARIANTS = Variants(mnist_experiment(FULL), mnist_experiment(QUICK, quick=True))
