"""One home for checks of parameters, samples and codes."""

from __future__ import annotations

import sys
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils import check_array
from sklearn.utils.validation import validate_data

from .codes import Codes, is_csr


class TakesSamples(Protocol):
    """What a kernel says of the samples it takes."""

    @property
    def input_ndim(self) -> int | None:
        """Axes of a stack of samples: 2, 3, or None when any will do."""


def samples(
    estimator: BaseEstimator,
    X: ArrayLike,
    kernel: TakesSamples,
    *,
    reset: bool,
    min_samples: int = 1,
) -> NDArray:
    """Samples as an array of floating-point numbers that the kernel takes, or ValueError.

    Parameters
    ----------
    estimator : estimator
        Whose ``n_features_in_`` and ``feature_names_in_`` are set or compared.
    X : array-like
        Samples.
    kernel : Kernel
    reset : bool
        Whether these are training samples.
    min_samples : int, default=1
    """
    return validate_data(
        estimator,
        X,
        dtype=[np.float64, np.float32],
        allow_nd=kernel.input_ndim != 2,
        ensure_min_samples=min_samples,
        reset=reset,
    )


def check_codes(codes: Any, n_atoms: int, n_samples: int | None = None) -> Codes:
    """Codes as an array or CSR array with one column per atom, or ValueError."""
    if is_csr(codes):
        codes = sparse.csr_array(codes)
    else:
        codes = check_array(codes, dtype=[np.float64, np.float32], ensure_all_finite=False)
    if codes.shape[1] != n_atoms:
        raise ValueError(
            f"codes must have one column for each of the {n_atoms} atoms, got shape {codes.shape}."
        )
    if n_samples is not None and codes.shape[0] != n_samples:
        raise ValueError(f"There are {n_samples} samples but {codes.shape[0]} codes.")
    return codes


def check_finite_codes(codes: Codes) -> None:
    """Refuse codes with NaN or infinity."""
    if not np.isfinite(codes.data if is_csr(codes) else codes).all():
        raise ValueError("codes must be finite, got NaN or infinity.")


def check_positive(name: str, value: Any) -> None:
    """Refuse a parameter that is not a positive finite number."""
    if not isinstance(value, (int, float, np.number)) or isinstance(value, bool):
        raise ValueError(f"{name} must be a positive number, got {value!r}.")
    if not (np.isfinite(value) and value > 0):
        raise ValueError(f"{name} must be a positive number, got {value!r}.")


def check_count(name: str, value: Any) -> None:
    """Refuse a parameter that is not an integer of at least one."""
    if not isinstance(value, (int, np.integer)) or isinstance(value, bool) or value < 1:
        raise ValueError(f"{name} must be an integer of at least 1, got {value!r}.")


def has_only_characters(array: NDArray) -> bool:
    """Whether every word of an array read from a file consists of characters.

    NumPy keeps a character in four bytes and looks at none of them; Python raises SystemError when
    it meets a number that is no character.
    """
    if array.dtype.kind != "U" or not array.itemsize:
        return True
    order = array.dtype.byteorder.replace("=", "").replace("|", "")
    points = np.ascontiguousarray(array).view(f"{order}u4")
    return bool(points.size == 0 or points.max() <= sys.maxunicode)
