"""What is wrong with a file or with a model."""

from __future__ import annotations

from typing import Any

DAMAGED = "the description makes no sense, the file is damaged."
PICKLE = (
    "Models with functions, random generators or objects of other packages can only be pickled."
)


class ModelFileError(ValueError):
    """A file that is no model of this package, or one of a version it does not know."""


def unsavable(value: Any, where: str) -> ValueError:
    """The error of a model that has this value in this place."""
    kind = type(value)
    return ValueError(
        f"{where} is a {kind.__module__}.{kind.__qualname__}, which a model file cannot hold. "
        f"{_remedy(value, where)}"
    )


def _remedy(value: Any, where: str) -> str:
    name = type(value).__name__
    if name.endswith("SearchCV"):
        return "Save its best_estimator_, the model that the search has found."
    if where.endswith(".memory"):
        return "It names a folder of pickles: set memory=None."
    if name in ("RandomState", "Generator"):
        return "Give a number as random_state, or pickle the model."
    if name == "make_column_selector":
        return "Give the columns by name."
    if callable(value) and where.endswith((".kernel", ".kernel_")):
        own = hasattr(value, "get_params") and name not in ("CallableKernel", "DistanceKernel")
        what = "Classes of your own" if own else "Functions"
        return (
            f"{what} are code, which files of data never are: compute the similarities yourself "
            'and use kernel="precomputed", or pickle the model.'
        )
    if callable(value) and not isinstance(value, type):
        return (
            "Functions are code, which files of data never are: apply it outside of the model, or "
            "pickle the model."
        )
    return PICKLE
