"""Labels of users: classes, not numbers to be predicted."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

MOST_CLASSES = 30  # more different numbers than this may be a quantity
FEW_PER_CLASS = 5  # rows per different number below which it is one


def refuse_regression(y: NDArray, source: str, target: str | None) -> None:
    """Refuse numbers that are no classes.

    Parameters
    ----------
    y : array
        Labels.
    source : str
        What the file is called in messages.
    target : str or None
        What the labels are called.
    """
    if y.ndim != 1 or y.dtype.kind not in "iuf" or not len(y):
        return
    different = np.unique(y).size
    fractions = y.dtype.kind == "f" and bool(np.any(y != np.round(y)))
    many = different > MOST_CLASSES and different * FEW_PER_CLASS > len(y)
    if not many and not (fractions and different > 10 and different * 2 > len(y)):
        return
    name = "the labels" if target is None else f"column {target!r}"
    raise ValueError(
        f"{source}: {name} holds {different} different numbers in {len(y)} rows, which looks like "
        "a quantity, and these models predict classes. For a quantity use a regression such as "
        "scikit-learn's HistGradientBoostingRegressor, or make classes of it (low, high); if the "
        f"numbers are classes, say --types {target or 'target'}=category."
    )


def class_counts(y: NDArray) -> dict[str, int]:
    """How many samples each class has."""
    classes, counts = np.unique(y, return_counts=True)
    return {str(label): int(count) for label, count in zip(classes, counts, strict=True)}
