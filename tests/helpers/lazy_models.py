"""A fitted model of every class that answers questions about samples, and samples in blocks."""

import warnings
from functools import cache

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
from numpy.random import default_rng
from scipy import sparse

import kernelcoding as kc
from kernelcoding import constraints, priors

N_FEATURES = 4
LENGTHS = (5, 0, 1, 9)  # uneven, empty and one-row blocks
QUESTIONS = (
    *("transform", "reconstruction_error", "predict", "decision_function", "predict_proba"),
    *("score_samples", "concentration"),
)


def vectors(count, seed):
    """Samples around three centres, and their classes."""
    rng = default_rng(seed)
    classes = np.arange(count) % 3
    centres = default_rng(7).uniform(0.2, 1.0, size=(3, N_FEATURES))
    return centres[classes] + 0.15 * rng.random((count, N_FEATURES)), classes


def covariances(count, seed):
    parts = default_rng(seed).normal(size=(count, 3, 8))
    return parts @ parts.transpose(0, 2, 1) / 8


def frame(X):
    return pd.DataFrame(X, columns=[f"feature {i}" for i in range(X.shape[1])])


def several(y):
    return np.stack([y == 0, y > 0, np.arange(len(y)) % 2 == 0], axis=1).astype(int)


def _learned(**changes):
    return kc.KernelDictionaryLearning(**{"n_atoms": 5, "max_iter": 2, **changes})


def _supervised(classifier, **changes):
    return kc.SupervisedKernelCoding(
        **{"n_atoms": 6, "max_iter": 2, "classifier": classifier, **changes}
    )


def estimators():
    """Name -> estimator, to be fitted to vectors with labels."""
    ridge = kc.KernelCoder(prior=priors.Ridge(), constraint=constraints.Free())
    return {
        "sparse": kc.KernelSparseCoder(),
        "CSR": kc.KernelSparseCoder(alpha=0.05, sparse_output=True, atoms=12),
        "linear kernel": kc.KernelSparseCoder("linear", positive=True),
        "local": kc.KernelLLC(),
        "exact local": kc.KernelLLC(n_neighbors=None, atoms=8),
        "coordinates": kc.KernelLCC(atoms=9),
        "words": kc.KernelBagOfWords(),
        "pursuit": kc.KernelMatchingPursuit(n_nonzero=2, sparse_output=True),
        "ridge": ridge,
        "indefinite": kc.KernelSparseCoder("sigmoid", atoms=9),
        "landmark map": kc.LandmarkMap(n_landmarks=6),
        "dictionary": _learned(),
        "dictionary of landmarks": _learned(n_landmarks=10),
        "class-wise": _learned(per_class=True, n_atoms=6),
        "linear": _supervised("linear"),
        "bilinear": _supervised("bilinear"),
        "margin": _supervised("max-margin", n_landmarks=10),
        "LC-KSVD": kc.LabelConsistentKSVD("linear", n_atoms=6, max_iter=2),
        "D-KSVD": kc.DiscriminativeKSVD(n_atoms=6, kernel="rbf", max_iter=2),
        "pairs": kc.KernelDictionaryPairLearning("rbf", n_atoms=6, max_iter=2),
        "residual": kc.ResidualClassifier(kc.KernelLLC(n_neighbors=4)),
        "residual of learned": kc.ResidualClassifier(_learned()),
        "outliers": kc.KernelOutlierDetector(contamination=0.2),
        "outliers of learned": kc.KernelOutlierDetector(_learned()),
    }


@cache
def fitted(kind):
    """Name -> (fitted model, samples in memory), for "array", "frame" or "others"."""
    (X, y), (Q, _) = vectors(30, 0), vectors(sum(LENGTHS), 1)
    names = np.array(["nil", "one", "two"])[y]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what few rounds and few samples are told of
        if kind == "others":
            return _others(X, y, Q)
        if kind == "frame":
            X, Q = frame(X), frame(Q)
        return {name: (model.fit(X, names), Q) for name, model in estimators().items()}


def _others(X, y, Q):
    rbf = kc.kernels.Gaussian(gamma=1.0)
    spd = covariances(20, 0), covariances(sum(LENGTHS), 1)
    single = X.astype(np.float32), Q.astype(np.float32)
    return {
        "single precision": (kc.KernelSparseCoder().fit(single[0]), single[1]),
        "single learned": (_learned().fit(single[0]), single[1]),
        "single residual": (kc.ResidualClassifier().fit(single[0], y), single[1]),
        "two classes": (kc.ResidualClassifier().fit(X, y > 0), Q),
        "two supervised": (_supervised("linear").fit(X, y > 0), Q),
        "object labels": (kc.ResidualClassifier().fit(X, np.array([*"abc"], object)[y]), Q),
        "several labels": (_supervised("linear").fit(X, several(y)), Q),
        "whole numbers": (kc.KernelSparseCoder().fit(X), (10 * Q).astype(int)),
        "log-Euclidean": (kc.KernelLLC("log-euclidean").fit(spd[0]), spd[1]),
        "Stein": (kc.KernelSparseCoder("stein").fit(spd[0]), spd[1]),
        "precomputed": (kc.KernelSparseCoder("precomputed").fit(rbf(X, X)), rbf(Q, X)),
    }


def parts(X, lengths=LENGTHS):
    """Blocks of rows in memory."""
    ends = np.cumsum(lengths)
    return [X[end - length : end] for end, length in zip(ends, lengths, strict=True)]


def lazy(X, lengths=LENGTHS):
    """The same samples as Dask holds them: arrays with known chunks, frames without."""
    if isinstance(X, pd.DataFrame):
        return dd.from_delayed([dask.delayed(part) for part in parts(X, lengths)], meta=X[:0])
    return da.from_array(X, chunks=(lengths, *X.shape[1:]))


def at_equal_blocks(method, *rows, lengths=LENGTHS):
    """The truth: the method of the estimator on each block in memory, one after the other."""
    blocks = zip(*(parts(given, lengths) for given in rows), strict=True)
    found = [method(*block) for block in blocks if block[0].shape[0]]
    return (
        sparse.vstack(found, format="csr") if sparse.issparse(found[0]) else np.concatenate(found)
    )


def assert_same_bits(found, expected):
    """Equal kind, precision and bits."""
    assert type(found) is type(expected)
    assert found.dtype == expected.dtype
    if sparse.issparse(found):
        np.testing.assert_array_equal(found.indptr, expected.indptr)
        np.testing.assert_array_equal(found.indices, expected.indices)
        found, expected = found.data, expected.data
    np.testing.assert_array_equal(found, expected)
