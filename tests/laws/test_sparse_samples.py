"""Sparse samples give what the same samples give as dense arrays, and are never made dense."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler
from sklearn.utils import get_tags

import kernelcoding as kc
from kernelcoding.kernels import (
    Centered,
    ChiSquared,
    Gaussian,
    HistogramIntersection,
    LogEuclideanGaussian,
    MultipleKernel,
    View,
)
from kernelcoding.sparse_vectors import SparseVectors

CODERS = [
    kc.KernelSparseCoder("chi2"),
    kc.KernelSparseCoder("rbf", atoms=15, init="leverage"),
    kc.KernelSparseCoder("poly", atoms=15, init="kernel-k-means"),
    kc.KernelSparseCoder(HistogramIntersection(), atoms=15, init="greedy"),
    kc.KernelSparseCoder("laplacian", n_candidates=6),
    kc.KernelSparseCoder("chi2", atoms=12, learn_kernel=True),
    kc.KernelSparseCoder("rbf", atoms=12, learn_kernel=kc.KernelLearning(criterion="held-out")),
    kc.KernelSparseCoder(Centered(ChiSquared("median")), atoms=12),
    kc.KernelSparseCoder(View(slice(8, 40), ChiSquared("median")), atoms=12),
    kc.KernelLLC("chi2"),
    kc.KernelLLC("rbf", n_neighbors=None, atoms=12),
    kc.KernelLCC("linear", atoms=12),
    kc.KernelBagOfWords("chi2", atoms=12),
    kc.KernelMatchingPursuit("rbf", atoms=12),
]
COMPACT = kc.KernelSparseCoder("chi2")
LEARNERS = [
    kc.KernelDictionaryLearning(COMPACT, n_atoms=8, max_iter=2),
    kc.KernelDictionaryLearning(COMPACT, n_atoms=8, n_landmarks=20, max_iter=2),
    kc.KernelDictionaryLearning(COMPACT, n_atoms=12, max_iter=2, per_class=True),
    kc.SupervisedKernelCoding(COMPACT, n_atoms=12, max_iter=2),
    kc.SupervisedKernelCoding(COMPACT, n_atoms=12, max_iter=2, training="task-driven"),
    kc.ResidualClassifier(kc.KernelLLC("chi2")),
    kc.ResidualClassifier(kc.KernelDictionaryLearning(COMPACT, n_atoms=12, max_iter=2)),
    kc.KernelOutlierDetector(kc.KernelSparseCoder("chi2", atoms=15)),
    kc.KernelDictionaryPairLearning("linear", n_atoms=12, max_iter=3),
    kc.KernelDictionaryPairLearning("chi2", n_atoms=12, n_landmarks=20, max_iter=3),
    kc.LabelConsistentKSVD("chi2", n_atoms=12, max_iter=2),
    kc.LandmarkMap("chi2", n_landmarks=12),
]
QUESTIONS = (
    *("transform", "predict", "decision_function", "score_samples"),
    *("reconstruction_error", "predict_proba"),
)


@pytest.fixture(scope="module")
def digits(digits):
    """Digits of six classes, and twenty to code: half of the pixels are black."""
    X, y, Q, _ = digits
    return X[y < 6], y[y < 6], Q[:20]


def answers(model, Q):
    """What a fitted model says of samples, method by method."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = {name: getattr(model, name)(Q) for name in QUESTIONS if hasattr(model, name)}
    return {name: plain(value) for name, value in found.items()}


def plain(value):
    return value.toarray() if sparse.issparse(value) else np.asarray(value)


def fitted(model, X, y):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # two rounds of learning do not converge
        return clone(model).fit(X, y)


def assert_same(found, wanted, atol=1e-6):
    assert found.keys() == wanted.keys()
    for name, value in wanted.items():
        assert value.dtype.kind == found[name].dtype.kind
        if value.dtype.kind == "f":
            assert_allclose(found[name], value, atol=atol, err_msg=name)
        else:
            assert_array_equal(found[name], value, err_msg=name)


@pytest.mark.parametrize("model", CODERS + LEARNERS, ids=repr)
def test_estimators_answer_as_for_dense_samples(model, digits, tmp_path):
    X, y, Q = digits
    dense, given = fitted(model, X, y), fitted(model, sparse.csr_array(X), y)
    assert get_tags(model).input_tags.sparse
    wanted = answers(dense, Q)
    assert_same(answers(given, sparse.csr_array(Q)), wanted)
    assert_same(answers(given, Q), wanted)  # whichever way samples come afterwards
    assert_same(answers(dense, sparse.csc_matrix(Q)), wanted)
    kc.save(given, tmp_path / "model.kc")
    read = answers(kc.load(tmp_path / "model.kc"), sparse.csr_array(Q))
    assert_same(read, answers(given, sparse.csr_array(Q)), atol=0.0)


@pytest.mark.parametrize("model", CODERS[:6], ids=repr)
def test_certificates_are_those_of_dense_samples(model, digits):
    X, y, Q = digits
    dense, given = fitted(model, X, y), fitted(model, sparse.csr_array(X), y)
    codes = dense.transform(Q)
    assert_allclose(given.certify(sparse.csr_array(Q), codes), dense.certify(Q, codes), atol=1e-9)


def test_single_precision(digits):
    X, _, Q = digits
    double = kc.KernelSparseCoder("chi2", atoms=sparse.csr_array(X[:15])).fit(X)
    coder = clone(double).fit(sparse.csr_array(X.astype(np.float32)))
    codes = coder.transform(sparse.csr_array(Q.astype(np.float32)))
    assert codes.dtype == np.float32
    assert coder.dictionary_.points.dtype == np.float32
    assert_allclose(codes, double.transform(Q), atol=1e-3)


@pytest.mark.parametrize(
    "change",
    [
        sparse.csc_matrix,
        sparse.coo_array,
        sparse.lil_matrix,
        sparse.dok_array,
        lambda X: with_indices(X, np.int64),
        lambda X: turned(X),
        lambda X: with_zeros(X),
        lambda X: twice(X),
    ],
    ids=["csc", "triplets", "lil", "dok", "long indices", "unsorted", "zeros", "duplicates"],
)
def test_any_format_is_taken_and_left_as_it_is(change, digits):
    X, _, Q = digits
    coder = kc.KernelSparseCoder("chi2", atoms=15).fit(sparse.csr_array(X))
    given = change(sparse.csr_array(X))
    before = given.copy()
    assert_array_equal(
        clone(coder).fit(given).transform(Q), coder.transform(change(sparse.csr_array(Q)))
    )
    for part in ("data", "indices", "indptr") if given.format in ("csr", "csc") else ():
        assert_array_equal(getattr(given, part), getattr(before, part))


def with_indices(X, kind):
    return sparse.csr_array((X.data, X.indices.astype(kind), X.indptr.astype(kind)), shape=X.shape)


def turned(X):
    """Columns of each row from right to left."""
    ends = list(zip(X.indptr[:-1], X.indptr[1:], strict=True))
    order = np.concatenate([np.arange(a, b)[::-1] for a, b in ends])
    return sparse.csr_array((X.data[order], X.indices[order], X.indptr), shape=X.shape)


def with_zeros(X):
    """Every number of a row is there, zeros, too."""
    n, d = X.shape
    columns = np.tile(np.arange(d), n)
    return sparse.csr_array((X.toarray().ravel(), columns, np.arange(n + 1) * d), shape=X.shape)


def twice(X):
    """Every number in two halves."""
    parts = (np.repeat(0.5 * X.data, 2), np.repeat(X.indices, 2), 2 * X.indptr)
    return sparse.csr_array(parts, shape=X.shape)


def test_batches_pipelines_and_cross_validation(digits):
    X, y, Q = digits
    S = sparse.csr_array(X)
    online = kc.KernelDictionaryLearning(COMPACT, n_atoms=8, n_landmarks=20)
    codes = []
    for stack in (X, S):
        model = clone(online)
        for half in (slice(0, 20), slice(20, None)):
            model.partial_fit(stack[half])
        codes.append(model.transform(Q))
    assert_allclose(codes[1], codes[0], atol=1e-6)
    streamed = [clone(online).fit(iter([half[:20], half[20:]])).transform(Q) for half in (X, S)]
    assert_allclose(streamed[1], streamed[0], atol=1e-6)
    model = make_pipeline(MaxAbsScaler(), kc.ResidualClassifier(kc.KernelLLC("chi2")))
    assert_array_equal(cross_val_predict(model, S, y, cv=3), cross_val_predict(model, X, y, cv=3))


def test_views_may_be_sparse(digits, rng):
    X = digits[0]
    matrices = rng.normal(size=(len(X), 3, 6))
    matrices = matrices @ matrices.transpose(0, 2, 1)
    kernel = MultipleKernel(
        [View("words", ChiSquared("median")), View("covariance", LogEuclideanGaussian("median"))]
    )
    dense = {"words": X, "covariance": matrices}
    given = dense | {"words": sparse.csr_array(X)}
    coder = kc.KernelSparseCoder(kernel, atoms=12)
    wanted = clone(coder).fit(dense).transform(dense)
    assert_allclose(clone(coder).fit(given).transform(given), wanted, atol=1e-7)
    both = View(["words", "more"], Gaussian("median"))
    dense, given = (views | {"more": X[:, :3]} for views in (dense, given))
    wanted = clone(coder).set_params(kernel=both).fit(dense).transform(dense)
    assert_allclose(clone(coder).set_params(kernel=both).fit(given).transform(given), wanted)


def test_functions_of_users_are_given_sparse_arrays(digits):
    X, _, Q = digits

    def products(left, right):
        assert sparse.issparse(left)
        assert sparse.issparse(right)
        return left @ right.T

    coder = kc.KernelSparseCoder(products, atoms=10).fit(sparse.csr_array(X))
    wanted = kc.KernelSparseCoder("linear", atoms=10).fit(X).transform(Q)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        assert_allclose(coder.transform(sparse.csr_array(Q)), wanted, atol=1e-7)


def test_what_does_not_stay_sparse_is_refused(digits):
    X = sparse.csr_array(digits[0])
    with pytest.raises(ValueError, match="do not stay sparse"):
        kc.KernelDictionaryLearning(n_atoms=5, update="points").fit(X)
    learned = fitted(kc.KernelDictionaryLearning(n_atoms=5, max_iter=2), X, None)
    with pytest.raises(ValueError, match="do not stay sparse"):
        learned.preimages()


def test_points_in_the_input_space_are_sparse_where_codes_are(digits):
    X, _, Q = digits
    coder = kc.KernelSparseCoder("linear", atoms=20, sparse_output=True).fit(sparse.csr_array(X))
    codes = coder.transform(Q)
    found = coder.inverse_transform(codes)
    assert sparse.issparse(found)
    assert_allclose(found.toarray(), codes.toarray() @ coder.dictionary_.points.toarray())
    learned = kc.KernelDictionaryLearning(kc.KernelSparseCoder("linear"), n_atoms=5, max_iter=1)
    learned = fitted(learned, sparse.csr_array(X), None)
    wanted = learned.dictionary_.weights.T @ learned.dictionary_.landmarks.points.toarray()
    assert_allclose(learned.preimages(), wanted, atol=1e-12)


WIDE = 1_000_000


@pytest.fixture(scope="module")
def wide():
    """Samples whose dense form, 160 gigabytes, fits nowhere."""
    rng = np.random.default_rng(0)
    columns = np.minimum(50 * rng.pareto(1.0, size=(20_000, 20)), WIDE - 1).astype(int)
    rows = np.repeat(np.arange(20_000), 20)
    values = 0.1 + rng.random(columns.size)
    return sparse.coo_array((values, (rows, columns.ravel())), shape=(20_000, WIDE)).tocsr()


@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly", "sigmoid", "laplacian", "chi2"])
def test_wide_samples_are_never_made_dense(kernel, wide):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        coder = kc.KernelSparseCoder(kernel, atoms=20).fit(wide)
        codes = coder.transform(wide[:200])
    few = np.unique(np.concatenate([wide[:200].indices, coder.dictionary_.points.matrix.indices]))
    atoms = coder.dictionary_.points.matrix[:, few].toarray()
    narrow = kc.KernelSparseCoder(coder.kernel_, atoms=atoms)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        wanted = narrow.fit(atoms).transform(wide[:200][:, few].toarray())
    assert_allclose(codes, wanted, atol=1e-6)


def test_dictionaries_of_wide_samples(wide):
    model = kc.KernelDictionaryLearning(COMPACT, n_atoms=10, n_landmarks=60, max_iter=1)
    model = fitted(model, wide, None)
    assert isinstance(model.dictionary_.landmarks.points, SparseVectors)
    assert model.dictionary_.landmarks.points.size < 60 * 20 + 1
    labels = np.arange(2000) % 3
    judge = kc.ResidualClassifier(kc.KernelLLC("chi2", atoms=50))
    assert set(fitted(judge, wide[:2000], labels).predict(wide[:50])) <= {0, 1, 2}
