"""Classes of scikit-learn that models may hold.

All of them are Python classes whose state is arrays, numbers, names and each other. To add one,
read what it does with its attributes: a class that hands them to compiled code, or builds sparse
matrices from them, needs a check in :mod:`.checks`.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import sklearn

from . import checks

# Public places, which scikit-learn keeps.
_HOMES = {
    "compose": "ColumnTransformer",
    "decomposition": "PCA",
    "impute": "MissingIndicator SimpleImputer",
    "linear_model": "LogisticRegression Ridge RidgeClassifier",
    "multiclass": "OneVsRestClassifier",
    "neighbors": "KNeighborsClassifier",
    "pipeline": "FeatureUnion Pipeline",
    "preprocessing": (
        "FunctionTransformer LabelBinarizer LabelEncoder MinMaxScaler Normalizer OneHotEncoder "
        "OrdinalEncoder StandardScaler"
    ),
    "svm": "LinearSVC SVC",
}
LOCATIONS = {
    f"sklearn.{name}": f"sklearn.{module}:{name}"
    for module, names in _HOMES.items()
    for name in names.split()
}
CHECKS = {
    "sklearn.FunctionTransformer": checks.check_function_transformer,
    "sklearn.KNeighborsClassifier": checks.check_neighbors,
    "sklearn.OneHotEncoder": checks.check_one_hot,
    "sklearn.SVC": checks.check_svc,
}
# Attributes that follow from the others and are made again: a tree is compiled code's own.
LEFT_OUT = {"sklearn.KNeighborsClassifier": ("_tree",)}
COMPLETIONS = {"sklearn.KNeighborsClassifier": checks.plant_tree}


def check(name: str, value: Any) -> None:
    """Refuse an object, as :class:`ModelFileError`, that compiled code must not meet."""
    if name in CHECKS:
        CHECKS[name](value)


def complete(name: str, value: Any, spend: Callable[[int], None]) -> None:
    """Check an object that was read, and make what its file leaves out.

    ``spend`` is told the bytes of each copy before it is made.
    """
    if name in CHECKS:  # what was checked must stay so
        parts = vars(value).items()
        vars(value).update({key: checks.unshared(part, spend) for key, part in parts})
    check(name, value)
    if name in COMPLETIONS:
        COMPLETIONS[name](value)


def warn_of_versions(written_with: str, stacklevel: int) -> None:
    """Warn if the scikit-learn that a file was written with has another minor version."""
    here = sklearn.__version__
    if written_with.split(".")[:2] != here.split(".")[:2]:
        warnings.warn(
            f"The model holds objects of scikit-learn {written_with}, and this is scikit-learn "
            f"{here}: they may fail or answer differently. Fit it again, or use that version.",
            UserWarning,
            stacklevel=stacklevel + 1,
        )
