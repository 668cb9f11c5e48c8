"""The scikit-learn contract: estimator checks, labels, output formats."""

import pickle

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.metrics.pairwise import linear_kernel, rbf_kernel
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import parametrize_with_checks

import kernelcoding as kc
from kernelcoding import constraints, priors
from kernelcoding.coders import coding
from kernelcoding.kernels import Gaussian, Linear, View

# Checks fit as few as one sample, so integers of atoms and neighbours are one here.
CODERS = [
    kc.KernelSparseCoder(),
    kc.KernelSparseCoder(kernel="chi2"),
    kc.KernelSparseCoder(positive=True),
    kc.KernelSparseCoder(sparse_output=True),
    kc.KernelSparseCoder(groups="y"),
    kc.KernelSparseCoder(n_candidates=1),
    kc.KernelSparseCoder(atoms=1),
    kc.KernelSparseCoder(atoms=1, init="kernel-k-means"),
    kc.KernelSparseCoder(kernel=Gaussian(gamma="scale") + Linear(), n_jobs=2),
    kc.KernelBagOfWords(),
    kc.KernelBagOfWords(assignment="hard"),
    kc.KernelBagOfWords(n_neighbors=1, sparse_output=True),
    kc.KernelLLC(),
    kc.KernelLLC(n_neighbors=1),
    kc.KernelLLC(n_neighbors=None),
    kc.KernelLCC(),
    kc.KernelMatchingPursuit(),
    kc.KernelMatchingPursuit(selection="ols", sparse_output=True),
    kc.KernelCoder(),
    kc.KernelCoder(prior=priors.Ridge(), constraint=constraints.Free()),
    kc.KernelCoder(prior=priors.ElasticNet(), constraint=constraints.NonNegative()),
    kc.KernelCoder(prior=priors.NoPrior(), constraint=constraints.Simplex()),
    kc.KernelCoder(prior=priors.Locality(), constraint=constraints.SumToOne()),
    kc.KernelCoder(prior=priors.L1(), constraint=constraints.OneAtom()),
    kc.KernelCoder(prior=priors.NoPrior(), constraint=constraints.AtMost(2)),
]
LEARNERS = [
    kc.KernelDictionaryLearning(n_atoms=1, max_iter=3),
    kc.KernelDictionaryLearning(kc.KernelLCC(), n_atoms=1, n_landmarks=2, max_iter=3),
    kc.KernelDictionaryLearning(kc.KernelMatchingPursuit(), n_atoms=1, max_iter=3),
    kc.KernelDictionaryLearning(kc.KernelBagOfWords("chi2"), n_atoms=1, max_iter=3),
    kc.KernelDictionaryLearning(n_atoms=5, max_iter=3, per_class=True),
    kc.KernelDictionaryLearning(
        kc.KernelSparseCoder(Gaussian(0.1), tol=1e-12), n_atoms=1, max_iter=3, tol=0.0
    ),
]
CLASSIFIERS = [
    kc.ResidualClassifier(),
    kc.ResidualClassifier(kc.KernelSparseCoder(alpha=0.25, groups="y")),  # few groups: quick
    kc.ResidualClassifier(kc.KernelBagOfWords(sparse_output=True)),
    kc.ResidualClassifier(kc.KernelLLC(n_neighbors=1)),
    kc.ResidualClassifier(kc.KernelCoder(prior=priors.Ridge(), constraint=constraints.Free())),
    kc.ResidualClassifier(kc.KernelDictionaryLearning(n_atoms=1, max_iter=3)),
    kc.ResidualClassifier(kc.KernelDictionaryLearning(n_atoms=5, max_iter=3, per_class=True)),
]


# max_iter limits the coding of a sample; fit does not iterate and claims no number.
NO_ITERATIONS = {"check_transformer_n_iter": "fit does not iterate, so there is no n_iter_"}
# The median of distances is that of the samples, whatever they count; copies change it.
MEDIAN = {
    f"check_sample_weight_equivalence_on_{kind}_data": "a median width looks at no weight"
    for kind in ("dense", "sparse")
}


def expected_failures(estimator):
    if estimator in LEARNERS:
        coder = estimator.coder
        trivial = isinstance(coder, kc.KernelLCC)  # a code of one atom that sums to one is one
        return MEDIAN if coder is None or (coder.kernel == "rbf" and not trivial) else {}
    return NO_ITERATIONS if estimator in CODERS and hasattr(estimator, "max_iter") else {}


@parametrize_with_checks(CODERS + LEARNERS + CLASSIFIERS, expected_failed_checks=expected_failures)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


# The same estimators on real data, with atoms and neighbours that real data allow.
ON_DIGITS = {
    "sparse": kc.KernelSparseCoder(alpha=0.02),
    "sparse, positive": kc.KernelSparseCoder(alpha=0.02, positive=True),
    "sparse, groups": kc.KernelSparseCoder(alpha=0.02, groups=np.arange(60) % 7),
    "sparse, candidates": kc.KernelSparseCoder(alpha=0.02, n_candidates=9),
    "soft": kc.KernelBagOfWords(),
    "hard": kc.KernelBagOfWords(assignment="hard"),
    "local soft": kc.KernelBagOfWords(n_neighbors=5),
    "LLC": kc.KernelLLC(),
    "exact LLC": kc.KernelLLC(n_neighbors=None),
    "LCC": kc.KernelLCC(),
    "omp": kc.KernelMatchingPursuit(),
    "ols": kc.KernelMatchingPursuit(selection="ols"),
    "general": kc.KernelCoder(),
    "ridge": kc.KernelCoder(prior=priors.Ridge(), constraint=constraints.SumToOne()),
    "k-means++": kc.KernelSparseCoder(atoms=12, random_state=0),
    "random": kc.KernelLLC(atoms=12, init="random", random_state=0),
    "kernel k-means": kc.KernelLLC(atoms=12, init="kernel-k-means", random_state=0),
}
EVERY_CODER = pytest.mark.parametrize("coder", ON_DIGITS.values(), ids=ON_DIGITS.keys())


def dense(codes):
    return codes.toarray() if sparse.issparse(codes) else codes


@EVERY_CODER
def test_codes_do_not_depend_on_the_batch(coder, digits, monkeypatch):
    X, y, Q, _ = digits
    coder = clone(coder).fit(X, y)
    codes = coder.transform(Q)
    alone = np.vstack([coder.transform(row[None]) for row in Q[:10]])
    assert_allclose(alone, codes[:10], rtol=0, atol=1e-9)
    assert_allclose(coder.transform(Q[::-1])[::-1], codes, rtol=0, atol=1e-9)
    monkeypatch.setattr(coding, "BLOCK_SIZE", 1)  # many blocks
    assert_allclose(coder.transform(Q), codes, rtol=0, atol=1e-9)


@EVERY_CODER
def test_blocks_change_no_error_and_no_certificate(coder, digits, monkeypatch):
    X, y, Q, _ = digits
    coder = clone(coder).fit(X, y)
    codes = coder.transform(Q)
    errors, gaps = coder.reconstruction_error(Q, codes), coder.certify(Q, codes)
    assert_allclose(coder.reconstruction_error(Q), errors, rtol=1e-9, atol=1e-12)
    monkeypatch.setattr(coding, "BLOCK_SIZE", 1)
    assert_allclose(coder.reconstruction_error(Q, codes), errors, rtol=1e-9, atol=1e-12)
    assert_allclose(coder.certify(Q, codes), gaps, rtol=1e-6, atol=1e-12)


@EVERY_CODER
def test_sparse_codes_serve_compiled_peers(coder, digits):
    """LIBSVM takes sparse rows with indices of 32 bits only."""
    X, y, Q, _ = digits
    coder = clone(coder).set_params(sparse_output=True)
    model = make_pipeline(coder, SVC(kernel="linear")).fit(X, y)
    other = make_pipeline(clone(coder).set_params(sparse_output=False), SVC(kernel="linear"))
    assert_array_equal(model.predict(Q), other.fit(X, y).predict(Q))


@EVERY_CODER
def test_two_threads_give_the_codes_of_one(coder, digits, monkeypatch):
    X, y, Q, _ = digits
    monkeypatch.setattr(coding, "BLOCK_SIZE", 1)
    one = clone(coder).set_params(n_jobs=1).fit(X, y).transform(Q)
    two = clone(coder).set_params(n_jobs=2).fit(X, y).transform(Q)
    assert_array_equal(one, two)


@EVERY_CODER
def test_sparse_output_is_csr_with_the_same_numbers(coder, digits):
    X, y, Q, _ = digits
    expected = clone(coder).fit(X, y).transform(Q)
    sparse_coder = clone(coder).set_params(sparse_output=True).fit(X, y)
    codes = sparse_coder.transform(Q)
    assert sparse.issparse(codes)
    assert codes.format == "csr"
    assert codes.dtype == expected.dtype
    assert codes.has_sorted_indices
    assert_array_equal(codes.toarray(), expected)
    assert_allclose(
        sparse_coder.reconstruction_error(Q, codes),
        sparse_coder.reconstruction_error(Q, expected),
        atol=1e-12,
    )
    assert_allclose(
        sparse_coder.certify(Q, codes), sparse_coder.certify(Q, expected), rtol=1e-6, atol=1e-12
    )


@EVERY_CODER
def test_float32_in_float32_out(coder, digits):
    X, y, Q, _ = digits
    double = clone(coder).fit(X, y)
    single = clone(coder).fit(X.astype(np.float32), y)
    codes = single.transform(Q.astype(np.float32))
    assert codes.dtype == np.float32
    assert np.isfinite(codes).all()
    assert double.transform(Q).dtype == np.float64
    # Codes may differ where the optimum is flat or a choice is close; what they achieve may not.
    errors = single.reconstruction_error(Q.astype(np.float32), codes)
    assert_allclose(errors.mean(), double.reconstruction_error(Q).mean(), rtol=2e-2, atol=1e-4)


@EVERY_CODER
def test_pickle_and_clone(coder, digits):
    X, y, Q, _ = digits
    fitted = clone(coder).fit(X, y)
    codes = fitted.transform(Q)
    thawed = pickle.loads(pickle.dumps(fitted))
    assert_array_equal(thawed.transform(Q), codes)
    again = clone(fitted)
    assert not hasattr(again, "dictionary_")
    assert_array_equal(again.fit(X, y).transform(Q), codes)


@EVERY_CODER
def test_samples_are_not_changed(coder, digits):
    X, y, Q, _ = (np.array(part) for part in digits)
    coder = clone(coder).fit(X, y)
    codes = coder.transform(Q)
    kept = codes.copy()
    coder.certify(Q, codes)
    coder.reconstruction_error(Q, codes)
    assert_array_equal(X, digits[0])
    assert_array_equal(Q, digits[2])
    assert_array_equal(codes, kept)


@pytest.mark.parametrize("init", ["random", "k-means++", "kernel-k-means"])
def test_random_state_repeats_and_matters(init, digits):
    X, _, Q, _ = digits
    coder = kc.KernelBagOfWords(atoms=10, init=init)
    first = clone(coder).set_params(random_state=3).fit(X)
    second = clone(coder).set_params(random_state=3).fit(X)
    other = clone(coder).set_params(random_state=4).fit(X)
    assert_array_equal(first.transform(Q), second.transform(Q))
    assert not np.array_equal(first.dictionary_.gram, other.dictionary_.gram)


def test_names_of_codes(digits):
    X = digits[0]
    coder = kc.KernelLCC(atoms=3, random_state=0).fit(X)
    assert list(coder.get_feature_names_out()) == ["kernellcc0", "kernellcc1", "kernellcc2"]


@EVERY_CODER
def test_pandas_output(coder, digits):
    X, y, Q, _ = digits
    frame = pd.DataFrame(Q, index=[f"image{i}" for i in range(len(Q))])
    coder = clone(coder).fit(X, y)
    expected = coder.transform(Q)
    codes = coder.set_output(transform="pandas").transform(frame.to_numpy())
    assert list(codes.columns) == list(coder.get_feature_names_out())
    assert_array_equal(codes.to_numpy(), expected)


def test_frames_keep_their_index_and_names(digits):
    X, _, Q, _ = digits
    names = [f"pixel{i}" for i in range(X.shape[1])]
    coder = (
        kc.KernelSparseCoder().set_output(transform="pandas").fit(pd.DataFrame(X, columns=names))
    )
    codes = coder.transform(pd.DataFrame(Q, columns=names, index=np.arange(len(Q)) + 7))
    assert list(coder.feature_names_in_) == names
    assert_array_equal(codes.index, np.arange(len(Q)) + 7)
    with pytest.raises(ValueError, match="feature names"):
        coder.transform(pd.DataFrame(Q, columns=names[::-1]))


def test_pandas_output_of_sparse_codes_is_refused(digits):
    X = digits[0]
    coder = kc.KernelSparseCoder(sparse_output=True).set_output(transform="pandas").fit(X)
    with pytest.raises(ValueError, match="sparse"):
        coder.transform(X)


def test_views_find_columns_by_name(digits):
    X, _, Q, _ = digits
    names = [f"pixel{i}" for i in range(X.shape[1])]
    chosen = ["pixel20", "pixel3", "pixel12", "pixel30"]
    kernel = View(chosen, Gaussian(gamma="median")) + View(slice(40, 64), Linear())
    by_name = kc.KernelSparseCoder(kernel=kernel).fit(pd.DataFrame(X, columns=names))
    columns = [20, 3, 12, 30]

    def explicit(left, right):
        gamma = by_name.kernel_.kernels[0].kernel.gamma
        return rbf_kernel(left[:, columns], right[:, columns], gamma=gamma) + linear_kernel(
            left[:, 40:], right[:, 40:]
        )

    expected = kc.KernelSparseCoder(kernel=explicit).fit(X).transform(Q)
    assert_allclose(by_name.transform(pd.DataFrame(Q, columns=names)), expected, atol=1e-7)


def test_labels_change_no_code_unless_asked(digits):
    X, y, Q, _ = digits
    with_labels = kc.KernelSparseCoder().fit(X, y).transform(Q)
    assert_array_equal(with_labels, kc.KernelSparseCoder().fit(X, y[::-1]).transform(Q))
    assert_array_equal(with_labels, kc.KernelSparseCoder().fit(X).transform(Q))
    assert get_tags(kc.KernelSparseCoder(groups="y")).target_tags.required
    assert not get_tags(kc.KernelSparseCoder()).target_tags.required


def test_tags_say_what_the_kernel_takes():
    stacks = get_tags(kc.KernelSparseCoder(kernel="log-euclidean")).input_tags
    vectors = get_tags(kc.KernelSparseCoder()).input_tags
    assert (stacks.three_d_array, stacks.two_d_array) == (True, False)
    assert (vectors.three_d_array, vectors.two_d_array) == (False, True)
    assert get_tags(kc.KernelLLC()).transformer_tags.preserves_dtype == ["float64", "float32"]
    unknown = kc.ResidualClassifier(kc.KernelSparseCoder(kernel="unknown"))
    assert get_tags(unknown).input_tags.two_d_array  # tags never raise, fit does
