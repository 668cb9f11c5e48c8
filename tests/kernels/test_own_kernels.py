"""Kernels of the user's own: functions on any objects, distances with widths, subclasses."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline

import kernelcoding as kc
from helpers.every_coder import EVERY_CODER
from kernelcoding.kernels import CallableKernel, DistanceKernel, ExponentialKernel, Gaussian


def pairs_of(text):
    return {text[i : i + 2] for i in range(len(text) - 1)}


def common_pairs(X, Z):
    """Pairs of letters that two texts share: an inner product of indicators."""
    return np.array([[len(pairs_of(x) & pairs_of(z)) for z in Z] for x in X], dtype=float)


def different_pairs(X, Z):
    """The squared distance that belongs to it."""
    return np.array([[len(pairs_of(x) ^ pairs_of(z)) for z in Z] for x in X], dtype=float)


def texts():
    rng = np.random.default_rng(0)
    return [
        "".join(rng.choice(list(letters), rng.integers(5, 9)))
        for letters in ("abcd", "wxyz", "kmnp")
        for _ in range(14)
    ]


TEXTS, LABELS = texts(), np.repeat(["first", "last", "middle"], 14)


@EVERY_CODER
def test_every_coder_takes_texts(coder):
    """As vectors that say which pairs there are: their inner product is the same number."""
    coder = clone(coder).set_params(kernel=common_pairs)
    codes = coder.fit(TEXTS[::2], LABELS[::2]).transform(TEXTS[1::2])
    known = sorted(set().union(*map(pairs_of, TEXTS)))
    vectors = np.array([[pair in pairs_of(text) for pair in known] for text in TEXTS], dtype=float)
    plain = clone(coder).set_params(kernel="linear").fit(vectors[::2], LABELS[::2])
    truth = plain.transform(vectors[1::2])
    codes, truth = (c.toarray() if hasattr(c, "toarray") else c for c in (codes, truth))
    assert codes.dtype == np.float64
    assert_allclose(codes, truth, atol=2e-5)


@pytest.mark.parametrize("kind", [list, tuple, np.array, lambda x: np.array(x, dtype=object)])
def test_texts_in_any_sequence(kind):
    truth = kc.KernelSparseCoder(common_pairs).fit(TEXTS).transform(TEXTS)
    assert_array_equal(kc.KernelSparseCoder(common_pairs).fit(kind(TEXTS)).transform(TEXTS), truth)


def test_texts_in_a_column_of_a_frame():
    pandas = pytest.importorskip("pandas")
    truth = kc.KernelSparseCoder(common_pairs).fit(TEXTS).transform(TEXTS)
    column = pandas.Series(TEXTS)
    assert_array_equal(kc.KernelSparseCoder(common_pairs).fit(column).transform(column), truth)


def test_atoms_and_landmarks_may_be_texts():
    coder = kc.KernelSparseCoder(common_pairs, atoms=TEXTS[:7]).fit(TEXTS)
    assert_array_equal(coder.dictionary_.gram, common_pairs(TEXTS[:7], TEXTS[:7]))
    learned = kc.KernelDictionaryLearning(
        kc.KernelSparseCoder(common_pairs), n_atoms=4, landmarks=TEXTS[::3], max_iter=2
    ).fit(TEXTS)
    assert learned.transform(TEXTS).shape == (42, 4)
    assert set(learned.preimages()) <= set(TEXTS)


def test_lists_of_any_length_are_objects():
    """Also where all lists of a call have one length, and could be an array."""

    def common(X, Z):
        assert X.ndim == Z.ndim == 1
        return np.array([[len({*x} & {*z}) for z in Z] for x in X], dtype=float)

    samples = [[1, 2, 3], [2, 3], [7], [7, 8, 9, 1]]
    coder = kc.KernelSparseCoder(common).fit(samples)
    assert coder.transform([[1, 2], [8, 9]]).shape == (2, 4)
    assert not hasattr(coder, "n_features_in_")


def test_numbers_are_numbers_still(rng):
    X = rng.normal(size=(12, 3))
    coder = kc.KernelSparseCoder(lambda X, Z: X @ Z.T).fit(X.tolist())
    assert coder.n_features_in_ == 3
    with pytest.raises(ValueError, match="2 features, but KernelSparseCoder is expecting 3"):
        coder.transform(X[:, :2])


MODELS = [
    kc.ResidualClassifier(kc.KernelSparseCoder(common_pairs)),
    kc.SupervisedKernelCoding(kc.KernelSparseCoder(common_pairs), n_atoms=6, max_iter=2),
    kc.LabelConsistentKSVD(common_pairs, n_atoms=6, max_iter=2),
    make_pipeline(
        kc.KernelDictionaryLearning(kc.KernelSparseCoder(common_pairs), n_atoms=6, max_iter=2),
        LogisticRegression(),
    ),
]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_cross_validation_on_texts(model):
    assert cross_val_score(model, TEXTS, LABELS, cv=3).mean() > 0.9
    loaded = pickle.loads(pickle.dumps(clone(model).fit(TEXTS, LABELS)))
    assert_array_equal(loaded.predict(TEXTS[:4]), LABELS[:4])


# Distances ------------------------------------------------------------------------------------


def test_a_distance_has_the_widths_of_built_in_kernels():
    D = different_pairs(TEXTS, TEXTS)
    median = 1.0 / np.median(D[np.triu_indices(len(D), 1)])
    for gamma, truth in [(0.2, 0.2), ("median", median), ("0.5*median", 0.5 * median)]:
        coder = kc.KernelSparseCoder(DistanceKernel(different_pairs, gamma)).fit(TEXTS)
        assert_allclose(coder.kernel_.gamma, truth, rtol=1e-12)
        assert_allclose(coder.dictionary_.gram, np.exp(-truth * D), rtol=1e-12)
    mean = DistanceKernel(different_pairs, "scale").resolve(TEXTS).gamma
    assert_allclose(mean, 1.0 / D[np.triu_indices(len(D), 1)].mean())


def test_its_width_is_found_by_search_and_learned():
    kernel = DistanceKernel(different_pairs, "median")
    model = kc.ResidualClassifier(kc.KernelSparseCoder(kernel))
    search = GridSearchCV(model, {"coder__kernel__gamma": [1e-3, "median"]}, cv=3)
    assert search.fit(TEXTS, LABELS).best_score_ > 0.9
    coder = kc.KernelSparseCoder(kernel, atoms=15, learn_kernel=True, random_state=0).fit(TEXTS)
    assert coder.kernel_.gamma != kernel.resolve(TEXTS).gamma


def test_the_nearest_are_found_by_the_distance(rng):
    X = rng.normal(size=(30, 3))

    def squares(X, Z):
        return np.square(X[:, None] - Z[None]).sum(axis=2)

    coder = kc.KernelLLC(DistanceKernel(squares, 0.3), n_neighbors=4).fit(X)
    truth = kc.KernelLLC(Gaussian(0.3), n_neighbors=4).fit(X)
    assert_allclose(coder.transform(X), truth.transform(X), atol=1e-9)


def test_bad_distances_are_refused():
    def similarity(X, Z):
        return common_pairs(X, Z)

    with pytest.raises(ValueError, match="a distance of 0 between equal samples"):
        kc.KernelSparseCoder(DistanceKernel(similarity)).fit(TEXTS)
    with pytest.raises(ValueError, match="distances that are not negative, got -"):
        kc.KernelSparseCoder(DistanceKernel(lambda X, Z: -different_pairs(X, Z))).fit(TEXTS)


def test_an_indefinite_distance_is_clipped_and_told(rng):
    X = rng.normal(size=(25, 3))

    def largest(X, Z):
        return np.abs(X[:, None] - Z[None]).max(axis=2) ** 2

    with pytest.warns(UserWarning, match="is indefinite on these atoms"):
        coder = kc.KernelSparseCoder(DistanceKernel(largest, 0.5)).fit(X)
    assert np.linalg.eigvalsh(coder.dictionary_.gram)[0] > -1e-9


# Subclasses -----------------------------------------------------------------------------------


class Hamming(ExponentialKernel):
    """Different letters of texts of one length."""

    def __init__(self, gamma=1.0):
        self.gamma = gamma

    def check(self, X):
        return np.asarray(X, dtype=float)

    def prepare(self, X, index=None):
        return (self.check(X),)

    def statistic(self, P, Q):
        return (P[0][:, None] != Q[0][None]).sum(axis=2).astype(float)


def test_a_subclass_has_widths_and_learns_them(rng):
    X = rng.integers(0, 3, size=(30, 6))
    differing = (X[:, None] != X[None]).sum(axis=2)
    median = 1.0 / np.median(differing[np.triu_indices(30, 1)])
    coder = kc.KernelSparseCoder(Hamming("0.5*median"), alpha=0.05).fit(X)
    assert_allclose(coder.kernel_.gamma, 0.5 * median)
    assert_allclose(coder.dictionary_.gram, np.exp(-0.5 * median * differing), rtol=1e-12)
    learned = kc.KernelSparseCoder(Hamming("median"), learn_kernel=True, atoms=12, random_state=0)
    assert learned.fit(X).kernel_.gamma != median


# Saving ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "kernel", [common_pairs, CallableKernel(common_pairs), DistanceKernel(different_pairs)]
)
def test_functions_are_not_saved(kernel, tmp_path):
    coder = kc.KernelSparseCoder(kernel).fit(TEXTS)
    message = r'kernel.* Functions are code.* use kernel="precomputed", or pickle the model'
    with pytest.raises(ValueError, match=message):
        kc.save(coder, tmp_path / "model.kc")
    assert not list(tmp_path.iterdir())
    assert_array_equal(pickle.loads(pickle.dumps(coder)).transform(TEXTS), coder.transform(TEXTS))


def test_own_classes_are_not_saved(rng, tmp_path):
    coder = kc.KernelSparseCoder(Hamming()).fit(rng.integers(0, 3, size=(9, 4)))
    with pytest.raises(
        ValueError, match=r"Hamming, which a .*Classes of your own are code.*pickle"
    ):
        kc.save(coder, tmp_path / "model.kc")
