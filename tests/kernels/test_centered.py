"""Kernels centred in H, against scikit-learn's KernelCenterer and explicit features."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_digits
from sklearn.decomposition import SparseCoder
from sklearn.metrics.pairwise import chi2_kernel, rbf_kernel
from sklearn.model_selection import GridSearchCV
from sklearn.preprocessing import KernelCenterer

import kernelcoding as kc
from kernelcoding.kernels import (
    Centered,
    ChiSquared,
    Gaussian,
    Linear,
    MultipleKernel,
    Precomputed,
)


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return X[:150] / 16.0, y[:150], X[150:200] / 16.0, y[150:200]


@pytest.mark.parametrize(
    ("kernel", "values"),
    [
        (Gaussian(0.3), lambda A, B: rbf_kernel(A, B, gamma=0.3)),
        (ChiSquared(0.2), lambda A, B: chi2_kernel(A, B, gamma=0.2)),
    ],
    ids=["rbf", "chi2"],
)
def test_values_are_those_of_scikit_learn(kernel, values, digits):
    X, _, Q, _ = digits
    centred = Centered(kernel).resolve(X)
    centrer = KernelCenterer().fit(values(X, X))
    assert_allclose(centred(X), centrer.transform(values(X, X)), atol=1e-12)
    assert_allclose(centred(Q, X), centrer.transform(values(Q, X)), atol=1e-12)
    assert_allclose(centred(X).mean(axis=0), 0.0, atol=1e-12)
    own = [centred(sample[None])[0, 0] for sample in Q[:5]]
    assert_allclose(centred.diagonal(Q[:5]), own, atol=1e-12)


def test_the_linear_kernel_is_that_of_centred_samples(digits):
    X, _, Q, _ = digits
    mean = X.mean(axis=0)
    centred = Centered(Linear()).resolve(X)
    assert_allclose(centred(Q, X), (Q - mean) @ (X - mean).T, atol=1e-9)
    given = Centered(Linear(), reference=Q)
    assert_allclose(given(X), (X - Q.mean(axis=0)) @ (X - Q.mean(axis=0)).T, atol=1e-9)
    assert_allclose(given.resolve(X)(X), given(X), atol=1e-12)  # a centre that is given stays
    codes = kc.KernelSparseCoder(Centered(Linear()), alpha=0.5).fit(X[:30]).transform(Q)
    atoms, mean = X[:30] - X[:30].mean(axis=0), X[:30].mean(axis=0)
    expected = SparseCoder(
        atoms, transform_algorithm="lasso_cd", transform_alpha=0.5, transform_max_iter=20_000
    ).transform(Q - mean)
    assert_allclose((codes @ atoms), (expected @ atoms), atol=1e-2)


def test_widths_are_those_of_the_inner_kernel(digits):
    X = digits[0]
    assert Centered(Gaussian("median")).resolve(X).kernel.gamma == pytest.approx(
        Gaussian("median").resolve(X).gamma
    )
    assert not Centered(Gaussian(0.1)).is_resolved
    assert Centered(Gaussian(0.1)).resolve(X).is_resolved
    assert not Centered(Gaussian("median"), reference=X).is_resolved


def test_what_was_found_once_is_forgotten_with_other_parameters(digits):
    X, _, Q, _ = digits
    centred = Centered(Gaussian(0.3)).resolve(X)
    centred(Q)
    for change in ({"kernel__gamma": 0.05}, {"kernel": Linear()}):
        centred.set_params(**change)
        fresh = Centered(centred.kernel).resolve(X)
        assert_array_equal(centred(Q), fresh(Q))


@pytest.mark.parametrize(
    "estimator",
    [
        kc.KernelSparseCoder(alpha=0.01),
        kc.KernelLLC(n_neighbors=5),
        kc.KernelBagOfWords(),
        kc.KernelDictionaryLearning(n_atoms=20, max_iter=2),
        kc.KernelDictionaryLearning(n_atoms=20, n_landmarks=60, max_iter=2),
        kc.ResidualClassifier(),
        kc.SupervisedKernelCoding(n_atoms=20, max_iter=1),
        kc.LabelConsistentKSVD("linear", n_atoms=20, max_iter=1),
        kc.LandmarkMap(n_landmarks=20),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
def test_estimators_take_it_and_files_keep_it(estimator, digits, tmp_path):
    X, y, Q, _ = digits
    kernel = Centered(Gaussian("median"))
    if hasattr(estimator, "coder"):
        inner = kc.KernelSparseCoder(kernel, alpha=0.01)
        fitted = estimator.set_params(coder=inner).fit(X, y)
    else:
        fitted = estimator.set_params(kernel=kernel).fit(X, y)
    answer = fitted.predict if hasattr(fitted, "predict") else fitted.transform
    found = answer(Q)
    kc.save(fitted, tmp_path / "model.kc")
    again = kc.load(tmp_path / "model.kc")
    same = again.predict if hasattr(again, "predict") else again.transform
    assert_array_equal(same(Q), found)
    thawed = pickle.loads(pickle.dumps(fitted))
    assert_array_equal(getattr(thawed, answer.__name__)(Q), found)


def test_codes_are_those_of_the_centred_matrix(digits):
    X, _, Q, _ = digits
    coder = kc.KernelSparseCoder(Centered(Gaussian(0.1)), alpha=0.02, tol=1e-10).fit(X)
    centrer = KernelCenterer().fit(rbf_kernel(X, gamma=0.1))
    K = centrer.transform(rbf_kernel(X, gamma=0.1))
    given = kc.KernelSparseCoder("precomputed", alpha=0.02, tol=1e-10).fit(K)
    cross = centrer.transform(rbf_kernel(Q, X, gamma=0.1))
    assert_allclose(coder.transform(Q), given.transform(cross), atol=1e-6)


def test_widths_and_weights_are_learned(digits):
    X = digits[0]
    coder = kc.KernelSparseCoder(Centered(Gaussian(5.0)), atoms=30, alpha=0.02, learn_kernel=True)
    assert coder.fit(X).kernel_.kernel.gamma < 5.0
    several = MultipleKernel([Centered(Gaussian("median")), Centered(Linear())])
    learned = kc.KernelSparseCoder(several, atoms=30, alpha=0.02, learn_kernel=True).fit(X)
    assert np.isfinite(learned.kernel_.theta).all()


def test_a_grid_search_reaches_the_width(digits):
    X, y, *_ = digits
    model = kc.ResidualClassifier(kc.KernelSparseCoder(Centered(Gaussian()), alpha=0.02))
    grid = {"coder__kernel__kernel__gamma": ["median", "0.1*median"]}
    assert GridSearchCV(model, grid, cv=3).fit(X, y).best_score_ > 0.8


def test_what_is_refused(digits):
    X = digits[0]
    with pytest.raises(ValueError, match=r"centre depends on data .* call \.resolve"):
        Centered(Gaussian())(X)
    with pytest.raises(ValueError, match=r"needs samples, not .*KernelCenterer"):
        kc.KernelSparseCoder(Centered(Precomputed())).fit(rbf_kernel(X))
    with pytest.raises(ValueError, match="Centered expected a kernel, got 'rbf'"):
        Centered("rbf").resolve(X)
