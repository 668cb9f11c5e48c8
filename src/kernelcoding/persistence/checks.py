"""Whether parts of objects go together, where compiled code takes it for granted.

Our own code takes it so for vectors with their norms. libsvm copies as many numbers as other arrays
promise, nearest neighbours add to the score that a label points to, and a one-hot matrix is written
at the columns that categories give: with parts from a forged file these would be addresses anywhere
in memory. Everything else that the listed classes do goes through NumPy, which looks where it reads
and writes.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from ..sparse_vectors import SparseVectors
from .errors import ModelFileError

# libsvm's own kernels: one that is an object decides by itself how many numbers there are.
SVC_KERNELS = ("linear", "poly", "rbf", "sigmoid", "precomputed")
SVC_PARTS = (
    *("support_", "support_vectors_", "_n_support", "_dual_coef_", "_intercept_", "_probA"),
    *("_probB", "_sparse", "shape_fit_", "n_features_in_", "classes_"),
)
# Distances without parameters of their own, such as a matrix that would have to fit.
METRICS = (
    *("minkowski", "euclidean", "l2", "sqeuclidean", "manhattan", "l1", "cityblock", "chebyshev"),
    *("cosine", "correlation", "braycurtis", "canberra", "nan_euclidean", "precomputed"),
)
NEIGHBOR_PARTS = (
    *("_fit_X", "_y", "_fit_method", "classes_", "effective_metric_", "n_features_in_"),
    *("effective_metric_params_", "n_samples_fit_", "outputs_2d_"),
)
ONE_HOT_PARTS = (
    *("categories_", "_n_features_outs", "_drop_idx_after_grouping", "_infrequent_enabled"),
    "n_features_in_",
)

# Nothing else is hashed or made into an array: a short text can describe a tuple of tuples that
# would take for ever.
NUMBERS = (bool, int, float, np.number, np.bool_)


def require(met: Any, what: str) -> None:
    """Refuse what does not meet a condition."""
    if not met:
        raise ModelFileError(what)


def is_fitted(model: Any, names: tuple[str, ...]) -> bool:
    """Whether a model has any of these attributes, not counting the one that all models have."""
    return any(name in vars(model) for name in names if name != "n_features_in_")


def checked_parts_of(model: Any, names: tuple[str, ...]) -> dict[str, Any]:
    """All of these attributes."""
    state = vars(model)
    require(all(name in state for name in names), f"a {type(model).__name__} is not complete.")
    return {name: state[name] for name in names}


def unshared(value: Any, spend: Callable[[int], None]) -> Any:
    """Arrays and lists of their own, which no other object of the model can change.

    A small file can ask for many copies of a large array: ``spend`` is told the bytes of each.
    """
    if isinstance(value, list):
        spend(64 + 8 * len(value))
        return [unshared(item, spend) for item in value]
    if isinstance(value, np.ndarray):
        spend(value.nbytes)
        return value.copy()
    if sparse.issparse(value):
        spend(value.data.nbytes + value.indices.nbytes + value.indptr.nbytes)
        return value.copy()
    return value


def is_array(value: Any, dtype: Any, shape: tuple[int, ...]) -> bool:
    """Whether a value is a plain array of this type and shape."""
    return type(value) is np.ndarray and value.dtype == np.dtype(dtype) and value.shape == shape


def is_count(value: Any) -> bool:
    """Whether a value is a whole number that is not negative."""
    return isinstance(value, (int, np.integer)) and type(value) is not bool and int(value) >= 0


def check_points(record: Any) -> None:
    """Check vectors with their squared norms: compiled code reads as many norms as vectors."""
    points, norms = record.points, record.squared_norms
    apart = "vectors and their norms do not go together."
    require(type(points) in (np.ndarray, SparseVectors) and type(norms) is np.ndarray, apart)
    require(points.ndim == 2 and norms.shape == points.shape[:1], apart)


def check_sparse_vectors(stack: Any) -> None:
    """Check sparse rows: compiled code follows their columns, and takes these to be in order."""
    rows = vars(stack).get("matrix")
    apart = "sparse samples are not stored as they should be."
    require(type(rows) is sparse.csr_array and rows.ndim == 2, apart)
    require(rows.data.dtype in (np.float32, np.float64), apart)
    require(rows.has_canonical_format and np.all(rows.data), apart)


def check_function_transformer(model: Any) -> None:
    """Check that there is no function: objects that can be called are functions, too."""
    state = vars(model)
    functions = ("func", "inverse_func")
    names = state.get("feature_names_out")
    require(
        not any(state.get(name) is not None for name in functions)
        and (names is None or isinstance(names, str)),
        "functions are code, which files of data never are: apply them outside of the model, or "
        "pickle the model.",
    )


def check_svc(model: Any) -> None:
    """Check a support vector machine: libsvm copies as many numbers as its sizes promise."""
    if not is_fitted(model, SVC_PARTS):
        return
    kernel = model.kernel
    require(
        isinstance(kernel, str) and kernel in SVC_KERNELS,
        "an SVC needs one of scikit-learn's own kernels to be saved: use kernel='precomputed' with "
        "matrices of yours.",
    )
    parts = checked_parts_of(model, SVC_PARTS)
    apart = "the parts of an SVC do not go together."
    support, counts = parts["support_"], parts["_n_support"]
    require(type(support) is np.ndarray and type(counts) is np.ndarray, apart)
    n_vectors, n_classes = support.size, counts.size
    n_pairs = n_classes * (n_classes - 1) // 2
    require(n_vectors >= 1 and n_classes >= 2, apart)
    require(is_array(support, np.int32, (n_vectors,)), apart)
    require(is_array(counts, np.int32, (n_classes,)), apart)
    require(counts.min() >= 0 and counts.sum(dtype=np.int64) == n_vectors, apart)
    classes, sigmoids = parts["classes_"], parts["_probA"]
    require(type(classes) is np.ndarray and classes.shape == (n_classes,), apart)
    require(is_array(parts["_intercept_"], np.float64, (n_pairs,)), apart)
    switches = (vars(model).get(name) for name in ("probability", "_effective_probability"))
    copied = any(switch not in (None, False, "deprecated") for switch in switches)
    require(type(sigmoids) is np.ndarray, apart)
    n_sigmoids = n_pairs if copied or sigmoids.size else 0
    for name in ("_probA", "_probB"):
        require(is_array(parts[name], np.float64, (n_sigmoids,)), apart)
    _check_support(parts, kernel, n_classes, apart)


def _check_support(parts: dict[str, Any], kernel: str, n_classes: int, apart: str) -> None:
    support, vectors, weights = parts["support_"], parts["support_vectors_"], parts["_dual_coef_"]
    shape, n_features = parts["shape_fit_"], parts["n_features_in_"]
    require(type(shape) is tuple and len(shape) == 2 and all(map(is_count, shape)), apart)
    require(is_count(n_features) and n_features == shape[1], apart)
    require(support.min() >= 0 and support.max() < shape[0], apart)
    expected = (n_classes - 1, support.size)
    if parts["_sparse"] is True:
        require(kernel != "precomputed", apart)  # its numbers would be used as indices
        require(sparse.issparse(vectors) and sparse.issparse(weights), apart)
        require(vectors.format == "csr" and vectors.shape == (support.size, n_features), apart)
        require(vectors.data.dtype == np.float64, apart)
        require(is_array(weights.data, np.float64, (math.prod(expected),)), apart)
    else:
        require(parts["_sparse"] is False, apart)
        require(is_array(weights, np.float64, expected), apart)
        rows = (0, 0) if kernel == "precomputed" else (support.size, n_features)
        require(is_array(vectors, np.float64, rows), apart)


def check_neighbors(model: Any) -> None:
    """Check neighbours: as many features are compared as queries have, and labels are indices."""
    if not is_fitted(model, NEIGHBOR_PARTS):
        return
    require(
        isinstance(model.metric, str) and model.metric in METRICS and not model.metric_params,
        f"a KNeighborsClassifier needs one of the metrics {METRICS}, and no metric_params, to be "
        "saved.",
    )
    require(
        isinstance(model.weights, (str, type(None))),
        "a KNeighborsClassifier needs weights='uniform' or 'distance' to be saved.",
    )
    parts = checked_parts_of(model, NEIGHBOR_PARTS)
    apart = "the parts of a KNeighborsClassifier do not go together."
    points, n_features = parts["_fit_X"], parts["n_features_in_"]
    require(
        type(points) is np.ndarray or (sparse.issparse(points) and points.format == "csr"), apart
    )
    require(points.ndim == 2 and points.dtype.kind in "biuf", apart)
    require(is_count(n_features) and points.shape[1] == n_features, apart)
    require(is_count(parts["n_samples_fit_"]) and points.shape[0] == parts["n_samples_fit_"], apart)
    require(is_count(model.n_neighbors) and is_count(model.leaf_size), apart)
    require(parts["_fit_method"] in ("brute", "kd_tree", "ball_tree"), apart)
    require(parts["_fit_method"] == "brute" or type(points) is np.ndarray, apart)
    require(isinstance(model.p, NUMBERS), apart)
    effective = parts["effective_metric_"], parts["effective_metric_params_"]
    require(effective == _effective_metric(model.metric, model.p), apart)
    _check_labels(parts, points.shape[0], apart)


def _effective_metric(metric: str, p: Any) -> tuple[str, dict[str, Any]]:
    """What scikit-learn makes of a metric at ``fit``."""
    if metric != "minkowski":
        return metric, {}
    quick = {1: "manhattan", 2: "euclidean", math.inf: "chebyshev"}
    return (quick[p], {}) if p in quick else ("minkowski", {"p": p, "w": None})


def _check_labels(parts: dict[str, Any], n_samples: int, apart: str) -> None:
    labels, classes, several = parts["_y"], parts["classes_"], parts["outputs_2d_"]
    require(type(several) is bool and type(classes) is (list if several else np.ndarray), apart)
    shape = (n_samples, len(classes)) if several else (n_samples,)
    require(is_array(labels, np.intp, shape) and n_samples >= 1, apart)
    columns, known = (labels.T, classes) if several else ([labels], [classes])
    for column, names in zip(columns, known, strict=True):
        require(type(names) is np.ndarray and names.ndim == 1, apart)
        require(column.min() >= 0 and column.max() < names.size, apart)


def plant_tree(model: Any) -> None:
    """Build the search tree of a fitted and checked ``KNeighborsClassifier``, as ``fit`` does."""
    from sklearn.neighbors import BallTree, KDTree

    method = vars(model).get("_fit_method")
    if method is None:
        return
    model._tree = None
    if method != "brute":
        tree = KDTree if method == "kd_tree" else BallTree
        settings = model.effective_metric_params_
        model._tree = tree(
            model._fit_X, model.leaf_size, metric=model.effective_metric_, **settings
        )


def check_one_hot(model: Any) -> None:
    """Check an encoder: ones are written where categories say, whatever the announced width."""
    if not is_fitted(model, ONE_HOT_PARTS):
        return
    parts = checked_parts_of(model, ONE_HOT_PARTS)
    apart = "the parts of a OneHotEncoder do not go together."
    categories, widths = parts["categories_"], parts["_n_features_outs"]
    dropped, grouped = parts["_drop_idx_after_grouping"], parts["_infrequent_enabled"]
    n_features = parts["n_features_in_"]
    require(type(categories) is list and type(widths) is list and type(grouped) is bool, apart)
    require(is_count(n_features) and len(categories) == len(widths) == n_features, apart)
    require(dropped is None or is_array(dropped, object, (n_features,)), apart)
    rare, groups = _groups(model, n_features, apart) if grouped else ([None] * n_features,) * 2
    for i, known in enumerate(categories):
        require(_is_searchable(known), apart)
        width = _width(known.size, rare[i], groups[i], apart)
        drop = None if dropped is None else dropped[i]
        require(drop is None or (is_count(drop) and drop < width), apart)
        require(is_count(widths[i]) and widths[i] == width - (drop is not None), apart)


def _groups(model: Any, n_features: int, apart: str) -> tuple[list, list]:
    """For each feature its rare categories, and the column of every category."""
    rare = vars(model).get("_infrequent_indices")
    groups = vars(model).get("_default_to_infrequent_mappings")
    require(type(rare) is list and type(groups) is list, apart)
    require(len(rare) == len(groups) == n_features, apart)
    return rare, groups


def _width(n_categories: int, rare: Any, groups: Any, apart: str) -> int:
    """Number of columns of a feature, rare categories being in one."""
    if rare is None and groups is None:
        return n_categories
    require(is_array(groups, np.int64, (n_categories,)) and n_categories >= 1, apart)
    require(type(rare) is np.ndarray and rare.dtype.kind == "i" and rare.size >= 1, apart)
    require(rare.min() >= 0 and rare.max() < n_categories and groups.min() >= 0, apart)
    return int(groups.max()) + 1


def _is_searchable(categories: Any) -> bool:
    """Whether what is found among categories is found inside: names, or numbers in order.

    Names are looked up, numbers are searched for by bisection, where a missing one comes last.
    """
    if type(categories) is not np.ndarray or categories.ndim != 1:
        return False
    if categories.dtype == object:
        if all(item is None or item != item or isinstance(item, str) for item in categories):
            return True
        present = [item for item in categories if item is not None and item == item]
        if not all(isinstance(item, (str, *NUMBERS)) for item in present):
            return False
        categories = np.array(present)
    if categories.dtype.kind not in "biufUSMm":
        return False
    missing = categories != categories
    ordered = categories[~missing]
    return not missing[:-1].any() and bool(np.all(ordered[1:] > ordered[:-1]))
