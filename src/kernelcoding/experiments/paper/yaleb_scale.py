"""How much of the experiments on Extended YaleB is run, and where settings are searched."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ..definition import Space


@dataclass(frozen=True, slots=True)
class YalebScale:
    """How much of the experiment is run, and where settings are searched."""

    n_splits: int
    more_splits: int  # where rows are close
    n_folds: int  # where every sample is an atom
    n_folds_of_learned: int  # where atoms are learned
    rounds: int
    spaces: Mapping[str, Space]
    costs: tuple[float, ...]
    supervised: tuple[str, ...]  # classifiers
    curve_splits: int  # of accuracy against atoms: the first ones
    sizes: tuple[int, ...]
    note: str = ""


FULL = YalebScale(
    n_splits=5,
    more_splits=10,
    n_folds=4,
    n_folds_of_learned=2,
    rounds=5,
    spaces={
        "SRC": {"alpha": (1e-4, 3e-4, 1e-3, 3e-3)},
        "kSC": {"width": (0.03, 0.1, 0.2), "alpha": (1e-4, 3e-4, 1e-3)},
        "kLLC": {
            "width": (0.001, 0.01, 0.03, 0.1),
            "n_neighbors": (200, 400),
            "regularization": (1e-5, 1e-4),
        },
        "SC, atoms": {"alpha": (1e-4, 3e-4, 1e-3)},
        "kSC, atoms": {"width": (0.03, 0.1), "alpha": (3e-5, 1e-4, 3e-4)},
        "kLLC, atoms": {
            "width": (0.03,),
            "n_neighbors": (200, 400),
            "regularization": (1e-5, 1e-4),
        },
        "supervised kSC": {"width": (0.1,), "alpha": (1e-4, 3e-4)},
        "supervised kLLC": {"width": (0.1,), "n_neighbors": (200,), "regularization": (1e-5,)},
        "K-SVD": {"label_weight": (4e-6, 1e-4)},
        "D-KSVD": {"classifier_weight": (1e-6, 1e-3)},
        "kSC, read": {"width": (0.05, 0.1, 0.2), "alpha": (1e-4, 3e-4, 1e-3)},
        "kLLC, read": {"width": (0.1,), "n_neighbors": (200,), "regularization": (1e-5, 1e-4)},
        "kSC, four folds": {"width": (0.03, 0.05, 0.1, 0.2), "alpha": (3e-5, 1e-4, 3e-4)},
        "kLLC, four folds": {
            "width": (0.03, 0.1),
            "n_neighbors": (200, 400),
            "regularization": (1e-5, 1e-4),
        },
        "kSC, width": {"alpha": (3e-4,)},
        "kLLC, width": {"n_neighbors": (200,), "regularization": (1e-5,)},
        "LinearSVC": {"C": (10.0, 100.0)},
        "dictlearn LC-KSVD": {"label_weight": (1e-3,)},
    },
    costs=(1.0, 10.0),
    supervised=("linear", "bilinear", "max-margin"),
    curve_splits=5,
    sizes=(50, 100, 200, 400, 600),
)
QUICK = YalebScale(
    n_splits=1,
    more_splits=1,
    n_folds=2,
    n_folds_of_learned=2,
    rounds=3,
    spaces={
        "SRC": {"alpha": (3e-4, 1e-3)},
        "kSC": {"width": (0.1,), "alpha": (1e-4, 3e-4)},
        "kLLC": {"width": (0.03,), "n_neighbors": (100, 200), "regularization": (1e-4,)},
        "SC, atoms": {"alpha": (1e-3,)},
        "kSC, atoms": {"width": (0.1,), "alpha": (1e-4, 3e-4)},
        "kLLC, atoms": {"width": (0.1,), "n_neighbors": (200,), "regularization": (1e-5, 1e-4)},
        "supervised kSC": {"width": (0.1,), "alpha": (3e-4,)},
        "supervised kLLC": {"width": (0.1,), "n_neighbors": (200,), "regularization": (1e-4,)},
        "K-SVD": {"label_weight": (4e-6,)},
        "D-KSVD": {"classifier_weight": (1e-6,)},
        "kSC, read": {"width": (0.1,), "alpha": (3e-4,)},
        "kLLC, read": {"width": (0.1,), "n_neighbors": (200,), "regularization": (1e-4,)},
        "kSC, four folds": {"width": (0.1,), "alpha": (1e-4,)},
        "kLLC, four folds": {"width": (0.1,), "n_neighbors": (200,), "regularization": (1e-5,)},
        "kSC, width": {"alpha": (3e-4,)},
        "kLLC, width": {"n_neighbors": (100,), "regularization": (1e-5,)},
        "LinearSVC": {"C": (10.0,)},
        "dictlearn LC-KSVD": {"label_weight": (1e-3,)},
    },
    costs=(10.0,),
    supervised=("linear",),
    curve_splits=1,
    sizes=(50, 200),
    note=(
        " Quick version: one split, two folds, three rounds of learning, smaller search spaces, "
        "of the supervised classifiers the linear one only."
    ),
)
