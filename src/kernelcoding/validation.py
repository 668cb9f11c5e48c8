"""One home for checks of parameters, samples and codes."""

from __future__ import annotations

import sys
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils import assert_all_finite, check_array
from sklearn.utils.validation import validate_data

from .codes import Codes, is_csr
from .distributed.methods import refuse_lazy
from .sparse_vectors import SparseVectors
from .stacks import Stack, objects
from .views import ViewName, Views, is_dict, is_frame, is_mixed

DEFAULT_ATOMS = 100  # to learn, where the data allow and nothing is said
NO_SPARSE = (
    "Sparse data was passed, but {owner} takes dense arrays alone: only kernels of vectors and "
    "histograms (Linear, Polynomial, Sigmoid, Gaussian, Laplacian, ChiSquared, "
    "HistogramIntersection) compare samples by their nonzeros. Call .toarray() first, if the "
    "samples fit in memory."
)


class TakesSamples(Protocol):
    """What a kernel says of the samples it takes."""

    @property
    def input_ndim(self) -> int | None:
        """Axes of a stack of samples: 2, 3, or None when any will do."""

    @property
    def views(self) -> tuple[ViewName, ...]:
        """Names or positions of the views it looks at; empty: whole samples."""

    @property
    def takes_objects(self) -> bool:
        """Whether samples may be anything, such as texts."""

    @property
    def takes_sparse(self) -> bool:
        """Whether samples may be rows of a sparse array."""


def samples(
    estimator: BaseEstimator,
    X: Any,
    kernel: TakesSamples,
    *,
    reset: bool,
    min_samples: int = 1,
) -> Stack:
    """Samples as the kernel takes them, or ValueError.

    That is an array of floating-point numbers, sparse vectors where the kernel takes them, several
    views of the samples, or, for functions of the user, an array of objects.

    Parameters
    ----------
    estimator : estimator
        Whose ``n_features_in_`` and ``feature_names_in_`` are set or compared.
    X : array-like, sparse array, dict, tuple, data frame or sequence of objects
        Samples.
    kernel : Kernel
    reset : bool
        Whether these are training samples.
    min_samples : int, default=1
    """
    if not reset and min_samples == 1 and _is_plain(estimator, X, kernel):
        return X
    refuse_lazy(estimator, X, training=reset)
    found: Stack
    if _are_views(X, kernel.views, reset):
        found = _views(X, kernel.views)
        if reset:
            _set_names(estimator, X, len(found.names))
    elif isinstance(X, Views) or is_dict(X):
        raise ValueError(
            f"X holds several views, {list(Views(X).names)}, but the kernel looks at one array per "
            "sample: say which by View(name, kernel), several in a MultipleKernel."
        )
    elif kernel.takes_objects and _are_objects(X, known=reset or hasattr(estimator, NUMBERS)):
        found = X if isinstance(X, np.ndarray) and X.ndim > 1 else objects(X)
        if reset:
            _set_names(estimator, X, None)
    else:
        return _array(estimator, X, kernel, reset, min_samples)
    if len(found) < min_samples:
        raise ValueError(
            f"Found array with {len(found)} sample(s) while a minimum of {min_samples} is required."
        )
    return found


NUMBERS = "n_features_in_"  # the attribute of estimators that were fitted to arrays of numbers


def is_finite(array: NDArray) -> bool:
    """Whether an array holds neither NaN nor infinity."""
    # One sum is far cheaper than a mask of the whole array, and nearly always settles it.
    with np.errstate(over="ignore", invalid="ignore"):
        total = array.sum()
    return bool(np.isfinite(total) or np.isfinite(array).all())


def _is_plain(estimator: BaseEstimator, X: Any, kernel: TakesSamples) -> bool:
    """Whether X is as computations want it, and nothing can be said against it.

    For a few hundred samples, the checks of what arrays may be take a tenth of the time of coding.
    """
    return (
        type(X) is np.ndarray
        and X.dtype in (np.float64, np.float32)
        and X.ndim == 2 == kernel.input_ndim
        and len(X) > 0
        and X.flags.aligned
        and X.shape[1] == getattr(estimator, NUMBERS, None)
        and not hasattr(estimator, "feature_names_in_")
        and not (kernel.views or kernel.takes_objects)
        and is_finite(X)
    )


def _array(
    estimator: BaseEstimator, X: Any, kernel: TakesSamples, reset: bool, min_samples: int
) -> NDArray | SparseVectors:
    X = X.tocsr() if isinstance(X, SparseVectors) else X
    refuse_sparse(X, kernel)
    try:
        checked = validate_data(
            estimator,
            X,
            dtype=[np.float64, np.float32],
            accept_sparse="csr",
            allow_nd=kernel.input_ndim != 2,
            ensure_min_samples=min_samples,
            reset=reset,
        )
        if sparse.issparse(checked):
            return SparseVectors(checked)
        # Arrays from other processes may begin at any byte, and are computed with in other ways.
        return np.require(checked, requirements="A")
    except ValueError as error:
        told = _explained(str(error), estimator, X, kernel)
        if told is None:
            raise
        raise ValueError(told) from None


def _explained(error: str, estimator: BaseEstimator, X: Any, kernel: TakesSamples) -> str | None:
    """What scikit-learn's error means for this kernel, and what to do; None: it says all."""
    if kernel.input_ndim == 2 and np.ndim(X) == 3:
        return (
            f"{error} These samples are matrices of shape {np.shape(X)[1:]}, and the kernel "
            "compares vectors: for symmetric positive definite matrices use the kernel "
            '"log-euclidean" or "stein", for bases of subspaces "projection"; or make vectors '
            "of them, X.reshape(len(X), -1)."
        )
    if getattr(kernel, "uses_index", False) and "features, but" in error:
        return (
            f"{error} With a precomputed kernel these are the similarities of new samples "
            "(rows) to all training samples (columns): K[np.ix_(test, train)]."
        )
    if _are_texts(X):
        return (
            "These samples are texts, and this kernel compares numbers: make vectors of them "
            "first (sklearn.feature_extraction.text.TfidfVectorizer), or give a kernel of your "
            "own, a function f(X, Z) -> (n, m), which takes any samples."
        )
    if "could not convert string to float" in error:
        return (
            f"{error}.{_where_texts(X)} This kernel compares numbers: leave such columns out, "
            "encode them (sklearn.preprocessing.OneHotEncoder), or give a kernel of your own, "
            "a function f(X, Z) -> (n, m), which takes any samples."
        )
    if "contains NaN" in error:
        return (
            f"Input X contains NaN{_where_missing(X)}. {type(estimator).__name__} compares whole "
            "samples, and distances over known numbers alone make no positive definite kernel: "
            "fill missing numbers in, for example by sklearn.impute.SimpleImputer() as the first "
            "step of a pipeline."
        )
    return None


def refuse_sparse(X: Any, kernel: TakesSamples) -> None:
    """Refuse sparse samples for a kernel that looks at whole ones: TypeError, as scikit-learn."""
    if sparse.issparse(X) and not kernel.takes_sparse:
        raise TypeError(NO_SPARSE.format(owner=type(kernel).__name__))


def _are_texts(X: Any) -> bool:
    """Whether samples are a sequence of texts, a text each."""
    return isinstance(X, (list, tuple, np.ndarray)) and len(X) > 0 and isinstance(X[0], str)


def _where_texts(X: Any) -> str:
    """Columns of a data frame that are not numeric, as a sentence."""
    if not (is_frame(X) and hasattr(X, "select_dtypes")):
        return ""
    names = X.select_dtypes(exclude=["number", "bool"]).columns
    return f" Not numeric: {', '.join(map(repr, names[:5]))}."


def _where_missing(X: Any) -> str:
    """Columns of a data frame with missing values, to be read after "NaN"."""
    if not (is_frame(X) and hasattr(X, "isna")):
        return ""
    missing = X.isna().any()
    names = [name for name in X.columns if missing[name]]
    return f" in the column{'s' if len(names) > 1 else ''} {', '.join(map(repr, names[:5]))}"


def _are_views(X: Any, wanted: tuple[ViewName, ...], reset: bool) -> bool:
    """Whether samples come as several views, and are not simply an array of numbers."""
    if not wanted:
        return False
    if isinstance(X, (Views, tuple)) or is_dict(X):
        return True
    if not is_frame(X):
        return False
    if not reset and any(isinstance(name, str) for name in wanted):
        return True  # an array would have made positions of them
    return is_mixed(X)


def _views(X: Any, wanted: tuple[ViewName, ...]) -> Views:
    """The views that are wanted, numbers in floating point."""
    if is_frame(X) or is_dict(X):
        known = list(X.columns) if is_frame(X) else list(X)
        for name in wanted:
            if name not in known:
                raise ValueError(
                    f"The view {name!r} is missing: the samples have the views {known}."
                )
        views = Views({name: X[name] for name in wanted})
    else:
        views = Views(X).only(wanted) if not isinstance(X, Views) else X.only(wanted)
    for name, stack in views.stacks.items():
        if stack.dtype.kind in "biuf" and stack.dtype != np.float32:
            views.stacks[name] = stack.astype(np.float64, copy=False)
    return views


def _are_objects(X: Any, known: bool) -> bool:
    """Whether samples are anything but numbers; ``known``: numbers would be taken as such."""
    if not known:
        return True
    if is_frame(X) or sparse.issparse(X) or isinstance(X, SparseVectors):
        return False
    try:
        array = np.asarray(X)
    except ValueError:  # lists of different lengths
        return True
    return array.ndim > 0 and (array.dtype.kind in "US" or (array.dtype == object and _odd(array)))


def _odd(array: NDArray) -> bool:
    """Whether some object is no number."""
    try:
        array.astype(np.float64)
    except (TypeError, ValueError):
        return True
    return False


def _set_names(estimator: BaseEstimator, X: Any, n_features: int | None) -> None:
    for name in (NUMBERS, "feature_names_in_"):
        if hasattr(estimator, name):
            delattr(estimator, name)
    if n_features is not None:
        setattr(estimator, NUMBERS, n_features)
    if is_frame(X) and all(isinstance(name, str) for name in X.columns):
        estimator.n_features_in_ = len(X.columns)
        estimator.feature_names_in_ = np.asarray(list(X.columns), dtype=object)


def refuse_missing_labels(y: Any) -> None:
    """Refuse labels that are None, NaN, NaT or pandas' NA, and infinite ones: ValueError."""
    if y is None or sparse.issparse(y):
        return
    # A list is looked at as it is: as an array, a missing name would be the name "nan".
    labels = y if isinstance(y, (list, tuple)) else np.asarray(y)
    missing = 0
    if isinstance(labels, (list, tuple)):
        missing = sum(map(_is_missing, labels))
    elif labels.dtype == object:
        missing = sum(map(_is_missing, labels.ravel()))
    elif labels.dtype.kind in "mM":
        missing = int(np.isnat(labels).sum())
    else:
        assert_all_finite(labels, input_name="y")
    if missing:
        places = "1 place" if missing == 1 else f"{missing} places"
        raise ValueError(f"y has missing labels (NaN or None) in {places}.")


def _is_missing(label: Any) -> bool:
    if label is None:
        return True
    try:
        return bool(label != label)  # only NaN and NaT differ from themselves
    except TypeError:  # NA says neither
        return True
    except ValueError:  # not one label, but several
        return False


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


def require_target(estimator: BaseEstimator, y: ArrayLike | None, why: str = "") -> ArrayLike:
    """Labels that have been given, in the words of scikit-learn where they have not."""
    if y is None:
        raise ValueError(
            f"This {type(estimator).__name__} estimator requires y to be passed, but the target y "
            f"is None{why}."
        )
    return y


def check_positive(name: str, value: Any) -> None:
    """Refuse a parameter that is not a positive finite number."""
    if not isinstance(value, (int, float, np.number)) or isinstance(value, bool):
        raise ValueError(f"{name} must be a positive number, got {value!r}.")
    if not (np.isfinite(value) and value > 0):
        raise ValueError(f"{name} must be a positive number, got {value!r}.")


def number_of_atoms(wanted: int | None, most: int) -> int:
    """How many atoms to learn: as many as wanted, or 100 where that is left open and possible."""
    return min(DEFAULT_ATOMS, most) if wanted is None else wanted


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


def check_weights(name: str, weights: ArrayLike, size: int, what: str) -> NDArray:
    """Non-negative weights as an array of shape (size,), or raise ValueError."""
    weights = np.asarray(weights, dtype=float)
    if weights.shape != (size,):
        raise ValueError(
            f"{name} must have one entry for each {what}: expected shape ({size},), "
            f"got {weights.shape}."
        )
    if not np.all(np.isfinite(weights)) or np.any(weights < 0):
        raise ValueError(f"{name} must be finite and non-negative.")
    return weights


def check_ratio(ratio: float) -> float:
    """A share between zero and one, or raise ValueError."""
    if not 0.0 <= ratio <= 1.0:
        raise ValueError(f"l1_ratio must lie in [0, 1], got {ratio!r}.")
    return float(ratio)
