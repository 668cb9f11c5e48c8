"""The scikit-learn contract: grid search, cross-validation and pipelines."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags

import kernelcoding as kc
from kernelcoding.kernels import Gaussian, Linear, MultipleKernel, Polynomial


@pytest.mark.parametrize("kernel", ["rbf", Gaussian()], ids=["by name", "object"])
def test_grid_search_over_width_and_alpha(kernel, digits):
    X, y, _, _ = digits
    pipeline = make_pipeline(
        StandardScaler(), kc.KernelSparseCoder(kernel=kernel), KNeighborsClassifier(1)
    )
    grid = {
        "kernelsparsecoder__kernel__gamma": [1e-3, 1e-2],
        "kernelsparsecoder__alpha": [1e-3, 1e-1],
    }
    search = GridSearchCV(pipeline, grid, cv=2).fit(X, y)
    scores = search.cv_results_["mean_test_score"]
    # Each combination must be what fitting it by hand gives: no parameter may be lost on the way.
    for params, score in zip(search.cv_results_["params"], scores, strict=True):
        by_hand = make_pipeline(
            StandardScaler(),
            kc.KernelSparseCoder(
                kernel=Gaussian(gamma=params["kernelsparsecoder__kernel__gamma"]),
                alpha=params["kernelsparsecoder__alpha"],
            ),
            KNeighborsClassifier(1),
        )
        assert cross_val_score(by_hand, X, y, cv=2).mean() == score
    best = search.best_estimator_.named_steps["kernelsparsecoder"]
    assert best.kernel_.gamma == search.best_params_["kernelsparsecoder__kernel__gamma"]
    assert kernel == "rbf" or kernel.gamma == 1.0  # the user's object is left alone


def test_grid_search_reaches_into_composite_kernels(digits):
    X, y, _, _ = digits
    kernel = Gaussian() + 0.1 * Linear()
    grid = {
        "coder__kernel__0__gamma": [0.1, 2.0],
        "coder__kernel__1__scale": [0.5],
        "coder__alpha": [0.01, 0.1],
    }
    search = GridSearchCV(kc.ResidualClassifier(kc.KernelSparseCoder(kernel=kernel)), grid, cv=2)
    search.fit(X, y)
    resolved = search.best_estimator_.coder_.kernel_
    assert resolved.kernels[0].gamma == search.best_params_["coder__kernel__0__gamma"]
    assert resolved.kernels[1].scale == 0.5
    assert kernel.kernels[0].gamma == 1.0


def test_grid_search_over_kernels_and_multiple_kernels(digits):
    X, y, _, _ = digits
    several = MultipleKernel([Gaussian(gamma="median"), Polynomial(degree=2)], weights=[0.7, 0.3])
    grid = {"coder__kernel": ["linear", "rbf", several]}
    search = GridSearchCV(kc.ResidualClassifier(kc.KernelLLC(n_neighbors=5)), grid, cv=2)
    search.fit(X, y)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()


def test_setting_a_name_and_a_nested_parameter_together():
    coder = kc.KernelSparseCoder().set_params(kernel="laplacian", kernel__gamma=3.0)
    assert repr(coder.kernel) == "Laplacian(gamma=3.0)"
    with pytest.raises(ValueError, match="width"):
        kc.KernelSparseCoder().set_params(kernel__width=3.0)


PUBLIC = [getattr(kc, name) for name in kc.__all__ if isinstance(getattr(kc, name), type)]
WITH_KERNEL = [
    estimator
    for estimator in PUBLIC
    if hasattr(estimator, "get_params") and "kernel" in estimator().get_params()
]


@pytest.mark.parametrize("estimator", WITH_KERNEL, ids=lambda estimator: estimator.__name__)
def test_the_width_of_a_kernel_given_by_name_can_be_set(estimator):
    model = estimator(kernel="rbf").set_params(kernel__gamma=3.0)
    assert repr(model.kernel) == "Gaussian(gamma=3.0)"
    model = estimator().set_params(kernel="laplacian", kernel__gamma=3.0)
    assert repr(model.kernel) == "Laplacian(gamma=3.0)"


PAIRWISE = {
    "sparse": kc.KernelSparseCoder(alpha=0.01),
    "soft": kc.KernelBagOfWords(),
    "LLC": kc.KernelLLC(n_neighbors=8),
    "LCC": kc.KernelLCC(alpha=0.1),
    "omp": kc.KernelMatchingPursuit(n_nonzero=4),
    "some atoms": kc.KernelSparseCoder(atoms=20, random_state=0),
    "learned": kc.KernelDictionaryLearning(kc.KernelSparseCoder(alpha=0.01), 20, max_iter=3),
}


@pytest.mark.parametrize("coder", PAIRWISE.values(), ids=PAIRWISE.keys())
def test_cross_validation_with_a_precomputed_kernel(coder, digits):
    X, y, _, _ = digits
    name = "kernel" if hasattr(coder, "kernel") else "coder__kernel"
    inside = kc.ResidualClassifier(clone(coder).set_params(**{name: Gaussian(gamma=1.5)}))
    outside = kc.ResidualClassifier(clone(coder).set_params(**{name: "precomputed"}))
    assert get_tags(outside).input_tags.pairwise
    assert not get_tags(inside).input_tags.pairwise
    gram = rbf_kernel(X, gamma=1.5)
    expected = cross_val_predict(inside, X, y, cv=3, method="decision_function")
    given = cross_val_predict(outside, gram, y, cv=3, method="decision_function")
    assert_allclose(given, expected, atol=1e-6)
    assert_array_equal(cross_val_score(outside, gram, y, cv=3), cross_val_score(inside, X, y, cv=3))


def test_codes_feed_a_linear_classifier(digits):
    X, y, Q, labels = digits
    model = make_pipeline(kc.KernelSparseCoder(alpha=0.05), LogisticRegression(C=100.0))
    assert model.fit(X, y).score(Q, labels) > 0.7
