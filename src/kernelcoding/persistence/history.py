"""What older files say differently, and how it is said today.

A file has a format number. :data:`FORMAT` is what is written; all earlier ones are read:

* Format 1 named classes by module path. :data:`NAMES_OF_FORMAT_1` has the stable name of each, and
  is complete: nothing is ever added.
* Attributes that were renamed, dropped or replaced since are in :data:`UPGRADES`.

To rename an attribute that files hold, add a line to ``UPGRADES[f]``, where f is the last format
that users may have files of, under the stable name of the class::

    "SupervisedKernelCoding": renamed(_calibration="_probabilities"),

For more than a new name, write a function of the attributes (a dictionary of what the file holds,
already made into objects) that returns the new ones. If files with the old attributes were released
in format :data:`FORMAT`, raise it first. Parameters that are new need nothing: estimators get their
defaults. Then write files of the format that is now old (``tests/helpers/small_models.py``).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

FORMAT = 3
State = dict[str, Any]
Upgrade = Callable[[State], State]


def renamed(**names: str) -> Upgrade:
    """The upgrade of a class whose attributes have other names today: old name = new name."""

    def upgrade(state: State) -> State:
        return {names.get(name, name): value for name, value in state.items()}

    return upgrade


def dropped(*names: str) -> Upgrade:
    """The upgrade of a class that computes these attributes today."""

    def upgrade(state: State) -> State:
        return {name: value for name, value in state.items() if name not in names}

    return upgrade


def _with_record_of_classifier(state: State) -> State:
    """K-SVD with labels had the weights of its scores as an array (S, N)."""
    from ..classification.classifiers import LinearClassifier

    weights = state.get("classifier_")
    if isinstance(weights, np.ndarray):
        bias = np.zeros(len(weights))
        state["classifier_"] = LinearClassifier(np.ascontiguousarray(weights.T), bias, 0.0)
    return state


def _with_rule(state: State) -> State:
    """Supervised coding had the parameters of its classifier beside the name of it."""
    from ..classification.rules import RULES

    names = ("rho", "fit_intercept", "class_weight", "refit")
    given = {name: state.pop(name) for name in names if name in state}
    name = state.get("classifier")
    if isinstance(name, str) and name in RULES:
        kind = RULES[name]
        usual = kind().get_params()
        if any(value is not usual[key] and value != usual[key] for key, value in given.items()):
            state["classifier"] = kind(**given)
    return state


# Format of the file -> stable name of the class -> what happened to its attributes since.
UPGRADES: dict[int, dict[str, Upgrade]] = {
    1: {
        "BilinearClassifier": renamed(price="penalty"),
        "DiscriminativeKSVD": _with_record_of_classifier,
        "LabelConsistentKSVD": _with_record_of_classifier,
        "LinearClassifier": renamed(price="penalty"),
        "SupervisedKernelCoding": _with_rule,
    },
    2: {
        "PointDictionary": dropped("gram_before_clipping"),
    },
}


def upgraded(name: str, state: State, written_as: int) -> State:
    """Attributes of an object of a file as its class has them today."""
    for version in range(written_as, FORMAT):
        upgrade = UPGRADES.get(version, {}).get(name)
        state = state if upgrade is None else upgrade(state)
    return state


_HOMES_IN_FORMAT_1 = {
    "aggregation.coordinates": "LandmarkCoordinates",
    "aggregation.fisher": "FisherVector",
    "aggregation.fisher_models": "SphericalModel",
    "aggregation.kernel_fisher": "KernelFisherVector",
    "aggregation.kernel_vlad": "KernelVLAD",
    "aggregation.mixtures": "DiagonalMixture SharedMixture",
    "aggregation.pooling": "Pooling",
    "aggregation.pyramid": "SpatialPyramid",
    "aggregation.streaming": "ImageAggregator",
    "aggregation.vlad": "VLAD",
    "classification": "ResidualClassifier",
    "coders.bag_of_words": "KernelBagOfWords",
    "coders.general": "KernelCoder",
    "coders.local": "KernelLCC KernelLLC",
    "coders.pursuit": "KernelMatchingPursuit",
    "coders.sparse": "KernelSparseCoder",
    "constraints": "AtMost Free NonNegative OneAtom Simplex SumToOne",
    "dictionary": "CombinationDictionary PointDictionary",
    "images.channels": "Colour Compressed Derivatives Intensity Position",
    "images.covariance": "RegionCovariance",
    "images.faces": "RandomFaces",
    "images.gabor": "Gabor",
    "images.sift": "DenseRootSIFT",
    "images.words": "VisualWords",
    "kernels.algebra": "Product Sum",
    "kernels.grassmann": "Projection ProjectionGaussian",
    "kernels.histogram": "ChiSquared HistogramIntersection",
    "kernels.multiple": "MultipleKernel",
    "kernels.pairs": "Points",
    "kernels.precomputed": "Precomputed Rows",
    "kernels.spd": "Determinants LogEuclideanGaussian Stein",
    "kernels.vector": "Gaussian Laplacian Linear Polynomial Sigmoid",
    "kernels.view": "View",
    "kernels.wrappers": "Fixed Normalized Scaled",
    "learning.calibration": "Calibration",
    "learning.coding": "Sums",
    "learning.dictionary_learning": "KernelDictionaryLearning",
    "learning.frames": "LandmarkFrame SampleFrame",
    "learning.kernel_learning": "KernelLearning",
    "learning.label_consistent": "DiscriminativeKSVD LabelConsistentKSVD",
    "learning.labels": "Labels",
    "learning.online": "OnlineState",
    "learning.rules": "BilinearClassifier LinearClassifier",
    "learning.supervised": "SupervisedKernelCoding",
    "priors": (
        "ElasticNet GroupL1 L1 LocalCoordinate Locality NoPrior Ridge SparseGroupL1 WeightedL1"
    ),
}
# Module path -> stable name, of all classes that a model could hold.
NAMES_OF_FORMAT_1 = {
    f"kernelcoding.{module}:{name}": name
    for module, names in _HOMES_IN_FORMAT_1.items()
    for name in names.split()
}
# Named tuples had no names in files of format 1.
FIELDS_OF_FORMAT_1 = {
    "Determinants": ("matrices", "logdets"),
    "Points": ("points", "squared_norms"),
    "Rows": ("rows", "index"),
}
