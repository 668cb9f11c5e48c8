"""How much of the experiments on materials is run, and where settings are searched."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ..definition import Space
from ..features.colour_covariances import Covariance
from ..features.fisher_vectors import Mixture
from ..features.visual_words import Vocabulary


@dataclass(frozen=True, slots=True)
class FmdScale:
    """How much of the experiment is run, and where settings are searched."""

    n_splits: int
    curve_splits: int  # of accuracy against atoms: the first ones
    read_splits: int  # of codes read in four ways: the first ones
    n_folds: int
    rounds: int
    sizes: tuple[int, ...]
    read_sizes: tuple[int, ...]  # of codes read in four ways
    view_sizes: tuple[int, ...]  # with two views
    vocabulary: Vocabulary
    mixture: Mixture
    covariance: Covariance
    spaces: Mapping[str, Space]
    note: str = ""


FULL = FmdScale(
    n_splits=10,
    curve_splits=5,
    read_splits=5,
    n_folds=3,
    rounds=5,
    sizes=(50, 100, 200, 300, 400),
    read_sizes=(100, 200),
    view_sizes=(100, 200, 400),
    vocabulary=Vocabulary(n_words=800, step=4, n_samples=200_000, n_images=200),
    mixture=Mixture(n_components=64, n_pca=64, step=4, n_samples=200_000, n_images=200),
    covariance=Covariance(max_side=256, n_images=200),
    spaces={
        "SC, all": {"alpha": (3e-4, 1e-3, 3e-3, 1e-2)},
        "LLC, all": {"n_neighbors": (100, 200, 300), "regularization": (1e-4, 1e-3, 1e-2)},
        "kBOW, all": {"width": (1.0, 3.0), "sigma": (3.0, 10.0, 30.0)},
        "kSC, all": {"width": (0.1, 0.3, 1.0), "alpha": (1e-4, 3e-4, 1e-3, 3e-3)},
        "kLLC, all": {
            "width": (0.3, 1.0),
            "n_neighbors": (100, 200, 300),
            "regularization": (1e-4, 1e-3),
        },
        "SVC": {"width": (0.1, 0.3, 1.0), "C": (3.0, 10.0, 30.0)},
        "kSC, four": {"weights": ("equal", "alignment"), "alpha": (1e-4, 3e-4, 1e-3, 3e-3)},
        "kLLC, four": {
            "weights": ("equal", "alignment"),
            "n_neighbors": (100, 200, 300),
            "regularization": (1e-4, 1e-3),
        },
        "SC": {"alpha": (1e-3, 1e-2, 3e-2)},
        "LLC": {"n_neighbors": (10, 30, 100), "regularization": (1e-3, 1e-2)},
        "kBOW": {"width": (1.0,), "sigma": (3.0, 10.0, 30.0)},
        "kSC": {"width": (0.3, 1.0), "alpha": (1e-3, 1e-2)},
        "kLLC": {"width": (0.3, 1.0), "n_neighbors": (30, 100), "regularization": (1e-3, 1e-2)},
        "supervised kSC": {"width": (1.0,), "alpha": (1e-3, 1e-2)},
        "supervised kLLC": {"width": (1.0,), "n_neighbors": (30, 100), "regularization": (1e-3,)},
        "kSC, read": {"width": (0.3, 1.0), "alpha": (1e-3, 1e-2)},
        "kLLC, read": {"width": (1.0,), "n_neighbors": (30, 100), "regularization": (1e-3, 1e-2)},
        "kSC, width": {"alpha": (3e-4, 1e-3)},
        "kLLC, width": {"n_neighbors": (200,), "regularization": (1e-3,)},
        "supervised kSC, Fisher": {"width": (0.3, 1.0), "alpha": (1e-3,)},
        "SVC, views": {"C": (3.0, 10.0, 30.0)},
        "supervised kSC, views": {"weights": ("alignment",), "alpha": (3e-4, 1e-3, 3e-3)},
    },
)
QUICK = FmdScale(
    n_splits=2,
    curve_splits=2,
    read_splits=1,
    n_folds=2,
    rounds=3,
    sizes=(50, 200),
    read_sizes=(100,),
    view_sizes=(200,),
    vocabulary=Vocabulary(n_words=800, step=8, n_samples=100_000, n_images=100),
    mixture=Mixture(n_components=32, n_pca=48, step=8, n_samples=50_000, n_images=100),
    covariance=Covariance(max_side=128, n_images=100),
    spaces={
        "SC, all": {"alpha": (1e-3, 3e-3)},
        "LLC, all": {"n_neighbors": (200,), "regularization": (1e-4, 1e-3)},
        "kBOW, all": {"width": (3.0,), "sigma": (3.0, 10.0)},
        "kSC, all": {"width": (0.3,), "alpha": (3e-4, 1e-3)},
        "kLLC, all": {"width": (0.3,), "n_neighbors": (200,), "regularization": (1e-4, 1e-3)},
        "SVC": {"width": (0.3,), "C": (10.0,)},
        "kSC, four": {"weights": ("equal", "alignment"), "alpha": (1e-3,)},
        "kLLC, four": {
            "weights": ("equal", "alignment"),
            "n_neighbors": (200,),
            "regularization": (1e-3,),
        },
        "SC": {"alpha": (1e-2,)},
        "LLC": {"n_neighbors": (30,), "regularization": (1e-2,)},
        "kBOW": {"width": (1.0,), "sigma": (10.0,)},
        "kSC": {"width": (1.0,), "alpha": (1e-3, 1e-2)},
        "kLLC": {"width": (1.0,), "n_neighbors": (30,), "regularization": (1e-2,)},
        "supervised kSC": {"width": (1.0,), "alpha": (1e-3,)},
        "supervised kLLC": {"width": (1.0,), "n_neighbors": (30,), "regularization": (1e-3,)},
        "kSC, read": {"width": (1.0,), "alpha": (1e-3,)},
        "kLLC, read": {"width": (1.0,), "n_neighbors": (30,), "regularization": (1e-2,)},
        "kSC, width": {"alpha": (1e-3,)},
        "kLLC, width": {"n_neighbors": (200,), "regularization": (1e-3,)},
        "supervised kSC, Fisher": {"width": (1.0,), "alpha": (1e-3,)},
        "SVC, views": {"C": (10.0,)},
        "supervised kSC, views": {"weights": ("alignment",), "alpha": (1e-3,)},
    },
    note=(
        " Quick version: patches every 8 pixels, words and mixture from 100 photographs, 32 "
        "Gaussians and 48 components, photographs of 128 pixels for covariances, two splits, two "
        "folds, three rounds of learning, fewer numbers of atoms and settings."
    ),
)
