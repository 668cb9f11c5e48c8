"""Missing values are refused, with what to do about them, and why."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline

import kernelcoding as kc
from kernelcoding.kernels import Gaussian, Linear, MultipleKernel

ESTIMATORS = [
    kc.KernelSparseCoder(),
    kc.KernelDictionaryLearning(n_atoms=4, max_iter=2),
    kc.ResidualClassifier(),
    kc.SupervisedKernelCoding(n_atoms=4, max_iter=2),
    kc.LabelConsistentKSVD("linear", n_atoms=4, n_nonzero=2, max_iter=2),
]


@pytest.fixture
def samples(rng):
    X = rng.normal(size=(30, 3))
    X[4, 1] = np.nan
    return X, np.arange(30) % 2


def partial_distances(X):
    """Squared distances over what both samples know, rescaled by its share."""
    known = ~np.isnan(X)
    both = known[:, None] & known[None]
    squares = np.where(both, np.square(np.nan_to_num(X)[:, None] - np.nan_to_num(X)[None]), 0.0)
    return squares.sum(axis=2) * X.shape[1] / np.maximum(both.sum(axis=2), 1)


def test_partial_distances_make_no_kernel():
    """Why there is no such Gaussian: a sample that knows little is near to two far ones."""
    X = np.array([[0.0, 0.0], [0.0, np.nan], [0.0, 3.0]])
    K = np.exp(-0.5 * partial_distances(X))
    assert K[0, 1] == K[1, 2] == 1.0
    assert K[0, 2] < 0.02
    assert np.linalg.eigvalsh(K)[0] < -0.4


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: type(e).__name__)
def test_the_imputer_is_named(estimator, samples):
    X, y = samples
    name = type(estimator.coder or kc.KernelSparseCoder()).__name__ if hasattr(
        estimator, "predict_from_codes") else type(estimator).__name__  # fmt: skip
    message = rf"Input X contains NaN\. {name} compares.*sklearn\.impute\.SimpleImputer\(\)"
    with pytest.raises(ValueError, match=message):
        estimator.fit(X, y)
    fitted = estimator.fit(np.nan_to_num(X), y)
    method = fitted.predict if hasattr(fitted, "predict") else fitted.transform
    with pytest.raises(ValueError, match=message):
        method(X)


def test_the_column_is_named(samples):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(samples[0], columns=["age", "height", "weight"])
    with pytest.raises(ValueError, match="contains NaN in the column 'height'\\. Kernel"):
        kc.KernelSparseCoder().fit(frame)
    frame.loc[7, "age"] = np.nan
    with pytest.raises(ValueError, match="contains NaN in the columns 'age', 'height'\\. Kernel"):
        kc.KernelSparseCoder().fit(frame)


def test_what_the_message_says_works(samples):
    X, _ = samples
    codes = make_pipeline(SimpleImputer(), kc.KernelSparseCoder()).fit_transform(X)
    assert np.isfinite(codes).all()


def test_infinity_is_another_matter(samples):
    X = np.nan_to_num(samples[0])
    X[0, 0] = np.inf
    with pytest.raises(ValueError, match="infinity"):
        kc.KernelSparseCoder().fit(X)


SAMPLES = np.random.default_rng(3).normal(size=(12, 3))
ALIGNED = kc.KernelLearning(weights="alignment")
HELD_OUT = kc.KernelLearning(criterion="held-out")
LABELLED = {
    "residual rule": kc.ResidualClassifier(),
    "residual rule of learned atoms": kc.ResidualClassifier(ESTIMATORS[1]),
    "supervised coding": ESTIMATORS[3],
    "K-SVD": kc.LabelConsistentKSVD(n_atoms=6, max_iter=2),
    "pairs": kc.KernelDictionaryPairLearning("rbf", n_atoms=6),
    "groups": kc.KernelSparseCoder(groups="y"),
    "held-out kernel": kc.KernelSparseCoder(learn_kernel=HELD_OUT),
    "aligned kernels": kc.KernelSparseCoder(
        MultipleKernel([Gaussian("median"), Linear()]), learn_kernel=ALIGNED
    ),
    "learned atoms": ESTIMATORS[1],
    "class-wise atoms": kc.KernelDictionaryLearning(n_atoms=6, max_iter=2, per_class=True),
}
EACH = pytest.mark.parametrize("estimator", LABELLED.values(), ids=LABELLED.keys())
MISSING = r"y has missing labels \(NaN or None\) in 4 places"
UNKNOWN = {
    "NaN in a list": (["a", "b", float("nan")], MISSING),
    "None in a list": (["a", "b", None], MISSING),
    "NaN among objects": (np.array(["a", "b", np.nan], dtype=object), MISSING),
    "None among objects": (np.array(["a", "b", None], dtype=object), MISSING),
    "None among numbers": (np.array([0, 1, None], dtype=object), MISSING),
    "no date": (np.array(["2020-01-01", "2021-01-01", "NaT"], "datetime64[D]"), MISSING),
    "NaN among numbers": (np.array([0.0, 1.0, np.nan]), "Input y contains NaN"),
}


@EACH
@pytest.mark.parametrize(("labels", "message"), UNKNOWN.values(), ids=UNKNOWN.keys())
def test_missing_labels_are_refused(estimator, labels, message):
    y = labels * 4 if isinstance(labels, list) else np.tile(labels, 4)
    with pytest.raises(ValueError, match=message):
        clone(estimator).fit(SAMPLES, y)


@EACH
@pytest.mark.parametrize("dtype", ["object", "string", "category"])
def test_missing_labels_of_a_data_frame_are_refused(estimator, dtype):
    pandas = pytest.importorskip("pandas")
    y = pandas.Series(["a", "b", None] * 4, dtype=dtype)
    for labels in (y, y.to_frame()):
        with pytest.raises(ValueError, match=MISSING):
            clone(estimator).fit(SAMPLES, labels)


def test_missing_labels_of_a_batch_are_refused():
    with pytest.raises(ValueError, match=MISSING):
        clone(ESTIMATORS[1]).partial_fit(SAMPLES, ["a", "b", float("nan")] * 4)
