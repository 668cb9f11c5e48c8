"""The stable names of the classes that models are made of, and where the classes live today.

A class that moves or is renamed keeps its name here: change the location on the right. A class that
models hold and that is not here cannot be saved: give it a name that no other class has, for good.
"""

from __future__ import annotations

import importlib
import inspect
from types import MemberDescriptorType

from .errors import ModelFileError
from .scikit_learn import LOCATIONS as FOREIGN

PACKAGE = __name__.split(".", maxsplit=1)[0]

OWN = {
    # Coders and classifiers
    "KernelBagOfWords": "coders.bag_of_words:KernelBagOfWords",
    "KernelCoder": "coders.general:KernelCoder",
    "KernelLCC": "coders.local:KernelLCC",
    "KernelLLC": "coders.local:KernelLLC",
    "KernelMatchingPursuit": "coders.pursuit:KernelMatchingPursuit",
    "KernelOutlierDetector": "classification.residuals.outliers:KernelOutlierDetector",
    "KernelSparseCoder": "coders.sparse:KernelSparseCoder",
    "LandmarkMap": "landmark_map:LandmarkMap",
    "ResidualClassifier": "classification.residuals.classifier:ResidualClassifier",
    # Dictionaries
    "CombinationDictionary": "dictionary.combinations:CombinationDictionary",
    "PointDictionary": "dictionary.points:PointDictionary",
    # Priors and constraints
    "ElasticNet": "priors:ElasticNet",
    "GroupL1": "priors:GroupL1",
    "L1": "priors:L1",
    "LocalCoordinate": "priors:LocalCoordinate",
    "Locality": "priors:Locality",
    "NoPrior": "priors:NoPrior",
    "Ridge": "priors:Ridge",
    "SparseGroupL1": "priors:SparseGroupL1",
    "WeightedL1": "priors:WeightedL1",
    "AtMost": "constraints:AtMost",
    "Free": "constraints:Free",
    "NonNegative": "constraints:NonNegative",
    "OneAtom": "constraints:OneAtom",
    "Simplex": "constraints:Simplex",
    "SumToOne": "constraints:SumToOne",
    # Kernels, and samples as they prepare them
    "AffineInvariantGaussian": "kernels.affine:AffineInvariantGaussian",
    "AffineInvariantLinear": "kernels.affine:AffineInvariantLinear",
    "Centered": "kernels.centered:Centered",
    "Centre": "kernels.centered:Centre",
    "ChiSquared": "kernels.histogram:ChiSquared",
    "Fixed": "kernels.wrappers:Fixed",
    "Gaussian": "kernels.vector:Gaussian",
    "HistogramIntersection": "kernels.histogram:HistogramIntersection",
    "Laplacian": "kernels.vector:Laplacian",
    "Linear": "kernels.vector:Linear",
    "LogEuclideanGaussian": "kernels.spd:LogEuclideanGaussian",
    "LogEuclideanLinear": "kernels.spd:LogEuclideanLinear",
    "MultipleKernel": "kernels.multiple:MultipleKernel",
    "Normalized": "kernels.wrappers:Normalized",
    "Polynomial": "kernels.vector:Polynomial",
    "Precomputed": "kernels.precomputed:Precomputed",
    "Product": "kernels.algebra:Product",
    "Projection": "kernels.grassmann:Projection",
    "ProjectionGaussian": "kernels.grassmann:ProjectionGaussian",
    "Scaled": "kernels.wrappers:Scaled",
    "Sigmoid": "kernels.vector:Sigmoid",
    "Stein": "kernels.spd:Stein",
    "Sum": "kernels.algebra:Sum",
    "View": "kernels.view:View",
    "Determinants": "kernels.spd:Determinants",
    "CenteredSamples": "kernels.centered:CenteredSamples",
    "Points": "kernels.pairs:Points",
    "SparseVectors": "sparse_vectors:SparseVectors",
    "ReferenceStatistic": "kernels.centered:ReferenceStatistic",
    "Rows": "kernels.precomputed:Rows",
    "Views": "views:Views",
    # Learning, and what it keeps
    "DiscriminativeKSVD": "classification.stacked.label_consistent:DiscriminativeKSVD",
    "KernelDictionaryLearning": "dictionary_learning.estimator:KernelDictionaryLearning",
    "KernelDictionaryPairLearning": "classification.dictionary_pair:KernelDictionaryPairLearning",
    "KernelLearning": "kernel_learning.settings:KernelLearning",
    "LabelConsistentKSVD": "classification.stacked.label_consistent:LabelConsistentKSVD",
    "SupervisedKernelCoding": "classification.supervised:SupervisedKernelCoding",
    "BilinearRule": "classification.rules.bilinear:BilinearRule",
    "LinearRule": "classification.rules.linear:LinearRule",
    "LogisticRule": "classification.rules.linear:LogisticRule",
    "MaxMarginRule": "classification.rules.linear:MaxMarginRule",
    "BilinearClassifier": "classification.classifiers:BilinearClassifier",
    "Calibration": "classification.calibration:Calibration",
    "ClassResiduals": "classification.residuals.class_residuals:ClassResiduals",
    "Labels": "classification.labels:Labels",
    "LandmarkFrame": "dictionary_learning.frames.landmarks:LandmarkFrame",
    "LinearClassifier": "classification.classifiers:LinearClassifier",
    "ResidualCalibration": "classification.residuals.calibration:ResidualCalibration",
    "OnlineState": "dictionary_learning.online.state:OnlineState",
    "SampleFrame": "dictionary_learning.frames.samples:SampleFrame",
    "Sums": "dictionary_learning.sums:Sums",
    # Sets of descriptors
    "FisherVector": "aggregation.fisher:FisherVector",
    "ImageAggregator": "aggregation.streaming:ImageAggregator",
    "KernelFisherVector": "aggregation.kernel_fisher:KernelFisherVector",
    "KernelVLAD": "aggregation.kernel_vlad:KernelVLAD",
    "Pooling": "aggregation.pooling:Pooling",
    "SpatialPyramid": "aggregation.pyramid:SpatialPyramid",
    "VLAD": "aggregation.vlad:VLAD",
    "DiagonalMixture": "aggregation.mixtures:DiagonalMixture",
    "DiagonalModel": "aggregation.fisher_models:DiagonalModel",
    "LandmarkCoordinates": "aggregation.coordinates:LandmarkCoordinates",
    "SharedMixture": "aggregation.mixtures:SharedMixture",
    "SphericalModel": "aggregation.fisher_models:SphericalModel",
    # Tables
    "ColumnType": "tables.kinds:ColumnType",
    "TableColumns": "tables.preparation:TableColumns",
    # Images
    "DenseRootSIFT": "images.sift:DenseRootSIFT",
    "RandomFaces": "images.faces:RandomFaces",
    "RegionCovariance": "images.covariance:RegionCovariance",
    "VisualWords": "images.words:VisualWords",
    "Colour": "images.channels:Colour",
    "Compressed": "images.channels:Compressed",
    "Derivatives": "images.channels:Derivatives",
    "Gabor": "images.gabor:Gabor",
    "Intensity": "images.channels:Intensity",
    "Position": "images.channels:Position",
}
# Strings, so that reading a model imports no room that it is not made of.
LOCATIONS = {name: f"{PACKAGE}.{place}" for name, place in OWN.items()} | FOREIGN
_NAMES = {location: name for name, location in LOCATIONS.items()}


def class_named(name: str) -> type:
    """The class of a stable name; anything else is refused."""
    location = LOCATIONS.get(name) if isinstance(name, str) else None
    if location is None:
        raise ModelFileError(f"the file wants {name!r}, which no model is made of.")
    module, _, attribute = location.partition(":")
    try:
        found = getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError) as error:
        raise ModelFileError(
            f"the file wants {name!r}, which is not to be had here: {error}."
        ) from error
    if not isinstance(found, type):
        raise ModelFileError(f"the file wants {name!r}, which no model is made of.")
    return found


def stable_name_of(kind: type) -> str | None:
    """The stable name of a class; None if models are not made of it."""
    own = _NAMES.get(f"{kind.__module__}:{kind.__qualname__}")
    name = own or f"sklearn.{kind.__name__}"
    return name if name in LOCATIONS and class_named(name) is kind else None


def may_hold(kind: type, name: str) -> bool:
    """Whether an attribute is data of an object, not part of what its class is.

    It may be a slot, or new to the class, or a default that a class of this package has for it: not
    one of Python's own, nor in the place of a method, a property or a setting of scikit-learn.
    """
    if not name.isidentifier() or name.startswith("__"):
        return False
    found = inspect.getattr_static(kind, name, None)
    owner = next((base for base in kind.__mro__ if name in vars(base)), None)
    if isinstance(found, MemberDescriptorType) or (found is None and owner is None):
        return True
    ours = owner is not None and owner.__module__.startswith(f"{PACKAGE}.")
    return ours and not hasattr(type(found), "__get__")
