"""Parameters of kernels: rules for widths, names, nesting, and what is refused."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import pdist
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.model_selection import GridSearchCV
from sklearn.svm import SVC

import kernelcoding.kernels
from helpers.processes import run_python
from kernelcoding import KernelSparseCoder
from kernelcoding.kernels import (
    CallableKernel,
    ChiSquared,
    Gaussian,
    Kernel,
    Laplacian,
    Linear,
    LogEuclideanGaussian,
    MultipleKernel,
    Normalized,
    Polynomial,
    Precomputed,
    Product,
    Projection,
    ProjectionGaussian,
    Scaled,
    Sigmoid,
    Stein,
    Sum,
    View,
    as_kernel,
)


def spd(rng, n, p=3, spread=1.0):
    A = rng.normal(size=(n, p, p + 2)) * spread
    return A @ A.transpose(0, 2, 1) + np.eye(p)


# -- widths -----------------------------------------------------------------------------------


def test_median_rule(rng):
    X = rng.normal(size=(30, 4))
    assert_allclose(Gaussian("median").resolve(X).gamma, 1 / np.median(pdist(X) ** 2))
    assert_allclose(Laplacian("median").resolve(X).gamma, 1 / np.median(pdist(X, "cityblock")))


def test_median_rule_takes_evenly_spaced_samples(rng):
    X = np.repeat(rng.normal(size=(1500, 2)), 2, axis=0)
    rows = np.linspace(0, 2999, 1000).round().astype(int)
    expected = 1 / np.median(pdist(X[rows]) ** 2)
    assert_allclose(Gaussian("median").resolve(X).gamma, expected)


def test_median_rule_without_spread():
    X = np.zeros((10, 2))
    assert Gaussian("median").resolve(X).gamma == 1.0
    assert Gaussian("median").resolve(X[:1]).gamma == 1.0
    assert Gaussian("scale").resolve(X).gamma == 1.0
    X[0] = [3.0, 4.0]  # most distances are 0: the mean of the others counts
    assert_allclose(Gaussian("median").resolve(X).gamma, 1 / 25)


def test_multiples_of_the_median_rule(rng):
    X, H = rng.normal(size=(12, 3)), rng.exponential(size=(12, 3))
    bases = np.linalg.qr(rng.normal(size=(12, 4, 2)))[0]
    cases = [
        (Gaussian, X), (Laplacian, X), (ChiSquared, H), (LogEuclideanGaussian, spd(rng, 12, p=3)),
        (ProjectionGaussian, bases), (partial(Polynomial, 2), X), (Sigmoid, X),
    ]  # fmt: skip
    for kind, samples in cases:
        whole = kind(gamma="median").resolve(samples).gamma
        for text, factor in [("0.1*median", 0.1), (" 2.5e0 * median ", 2.5), (" median", 1.0)]:
            kernel = kind(gamma=text)
            assert not kernel.is_resolved
            assert_allclose(kernel.resolve(samples).gamma, factor * whole, rtol=1e-12)
    coder = KernelSparseCoder(Gaussian("0.1*median")).fit(X)
    assert_allclose(coder.kernel_.gamma, 0.1 * Gaussian("median").resolve(X).gamma)


@pytest.mark.parametrize(
    "rule", ["0*median", "-1*median", "nan*median", "inf*median", "x*median", "*median",
             "0.1median", "0.1*scale", "median*0.1", "0.1*0.1*median"],
)  # fmt: skip
def test_other_multiples_are_refused(rule, rng):
    with pytest.raises(ValueError, match=r'Gaussian: gamma must be .* such as "0\.1\*median", got'):
        Gaussian(rule).resolve(rng.normal(size=(5, 2)))


def test_multiples_are_admissible_for_stein(rng):
    samples = spd(rng, 12, p=5)
    assert Stein("0.01*median").resolve(samples).gamma == 0.5
    wide = Stein("100*median").resolve(samples).gamma
    S = -np.log(Stein(gamma=1.0)(samples))[np.triu_indices(12, 1)]
    assert_allclose(wide, 100 / np.median(S), rtol=1e-9)


def test_scale_rule(rng):
    X = rng.normal(size=(30, 4)) * 3 + 1
    reference = SVC(gamma="scale").fit(X, np.arange(30) % 2)._gamma
    for kernel in (
        Gaussian("scale"),
        Laplacian("scale"),
        Polynomial(gamma="scale"),
        Sigmoid("scale"),
    ):
        assert_allclose(kernel.resolve(X).gamma, reference)
    H = np.abs(X)
    S = ChiSquared().statistic((H,), (H,))[np.triu_indices(30, 1)]
    assert_allclose(ChiSquared("scale").resolve(H).gamma, 1 / S.mean())


def test_stein_rules_give_admissible_values(rng):
    far, near = spd(rng, 12, p=5, spread=30.0), np.eye(5) + 1e-3 * spd(rng, 12, p=5)
    for X in (far, near):
        S = -np.log(Stein(gamma=1.0)(X))[np.triu_indices(12, 1)]
        wanted, gamma = 1 / np.median(S), Stein("median").resolve(X).gamma
        assert gamma >= wanted * (1 - 1e-9)
        assert_allclose(gamma, wanted if wanted > 2 else np.ceil(2 * wanted) / 2, rtol=1e-9)
        Stein("median").resolve(X)(X)
    assert Stein("median").resolve(far).gamma in (0.5, 1.0, 1.5, 2.0)


@pytest.mark.parametrize(
    "kernel",
    [Gaussian("median"), Polynomial(gamma="scale"), Linear() + 2 * Gaussian("scale"),
     Normalized(Laplacian("median")), View([0, 1], Gaussian("median"))],
    ids=repr,
)  # fmt: skip
def test_unresolved_kernels_say_what_to_do(kernel, rng):
    X = rng.normal(size=(9, 3))
    assert not kernel.is_resolved
    with pytest.raises(ValueError, match=r"call \.resolve\(X\) first or pass a number"):
        kernel(X)
    with pytest.raises(ValueError, match="not resolved"):
        _ = kernel.theta
    resolved = kernel.resolve(X)
    assert resolved.is_resolved
    assert not kernel.is_resolved
    assert resolved(X).shape == (9, 9)


@pytest.mark.parametrize("gamma", [0.0, -1.0, np.nan, np.inf, "auto", None, [1.0]])
@pytest.mark.parametrize("kind", [Gaussian, Polynomial, Sigmoid, ChiSquared, Laplacian])
def test_bad_gamma_is_named(kind, gamma):
    kernel = kind(gamma=gamma)
    for use in (kernel, kernel.resolve):
        with pytest.raises(ValueError, match=f"{kind.__name__}: gamma must be"):
            use(np.ones((2, 2)))


def test_numpy_numbers_do_not_widen():
    X = np.ones((2, 2), dtype=np.float32)
    assert Gaussian(np.float64(0.5))(X).dtype == np.float32
    assert Scaled(Gaussian(), np.float64(0.5))(X).dtype == np.float32


@pytest.mark.parametrize("gamma", [0.3, 0.7, 1.2])
def test_stein_refuses_inadmissible_gamma(gamma, rng):
    X = spd(rng, 4, p=4)
    with pytest.raises(ValueError, match=r"\[0.5, 1.0, 1.5\] or any number above 1.5"):
        Stein(gamma=gamma)(X)
    with pytest.raises(ValueError, match="no positive definite kernel of 4 x 4"):
        Stein(gamma=gamma).resolve(X)
    for admissible in (0.5, 1.0, 1.5, 1.6):
        Stein(gamma=admissible)(X)


# -- names ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("rbf", Gaussian("median")),
        ("laplacian", Laplacian("median")),
        ("chi2", ChiSquared("median")),
        ("poly", Polynomial(gamma="scale")),
        ("polynomial", Polynomial(gamma="scale")),
        ("sigmoid", Sigmoid("scale")),
        ("linear", Linear()),
        ("precomputed", Precomputed()),
        ("cosine", Normalized(Linear())),
        ("log-euclidean", LogEuclideanGaussian("median")),
        ("stein", Stein("median")),
        ("projection", Projection()),
        ("projection-gaussian", ProjectionGaussian("median")),
    ],
)
def test_names(name, expected):
    # reprs leave defaults out, parameters do not
    assert repr(as_kernel(name)) == repr(expected)
    assert repr(as_kernel(name).get_params()) == repr(expected.get_params())


def test_as_kernel_of_kernels_functions_and_nonsense():
    kernel = Gaussian()
    assert as_kernel(kernel) is kernel
    assert isinstance(as_kernel(lambda X, Z: X @ Z.T), CallableKernel)
    with pytest.raises(ValueError, match=r"unknown kernel name 'rfb'; the names are linear, .*rbf"):
        as_kernel("rfb")
    for nonsense in (3.0, None, Gaussian):
        with pytest.raises(ValueError, match="must be a name, a kernel or a function"):
            as_kernel(nonsense)


# -- nesting ----------------------------------------------------------------------------------


def test_nested_sums_and_products_are_flat():
    a, b, c, d = Gaussian(), Linear(), Polynomial(), Laplacian()
    assert [type(k) for k in ((a + b) + (c + d)).kernels] == [type(k) for k in (a, b, c, d)]
    assert len((a * (b * c)).kernels) == 3
    mixed = a + b * c
    assert isinstance(mixed, Sum)
    assert isinstance(mixed.kernels[1], Product)
    assert len((2.0 * (a + b) + c).kernels) == 2
    assert (a * 2.0).scale == (2.0 * a).scale == 2.0
    assert len(MultipleKernel([a, b]).__add__(c).kernels) == 2


def test_parameter_names_and_theta():
    kernel = 0.5 * Gaussian(0.2) + Polynomial(2, gamma=3.0, coef0=0.0) * Sigmoid(0.1, 0.4)
    assert kernel.parameter_names == (
        "0__scale", "0__kernel__gamma", "1__0__gamma", "1__1__gamma", "1__1__coef0",
    )  # fmt: skip
    assert_allclose(np.exp(kernel.theta), [0.5, 0.2, 3.0, 0.1, 0.4])
    multiple = MultipleKernel([Gaussian(0.2), Linear(), Linear()], weights=[0.0, 2.0, 5.0])
    assert multiple.parameter_names == ("0__gamma", "weights__1", "weights__2")
    assert multiple.with_theta(np.log([0.7, 3.0, 4.0])).weights == pytest.approx([0.0, 3.0, 4.0])


def test_nested_parameters_are_reachable():
    kernel = Gaussian(0.2) + Linear() * Polynomial()
    kernel.set_params(**{"0__gamma": 0.9, "1__1__degree": 2})
    assert kernel.get_params()["0__gamma"] == kernel.kernels[0].gamma == 0.9
    assert kernel.kernels[1].kernels[1].degree == 2
    held = kernel.kernels
    kernel.set_params(**{"0": Laplacian(), "0__gamma": 0.4})
    assert repr(kernel.kernels[0]) == "Laplacian(gamma=0.4)"
    assert isinstance(held[0], Gaussian)  # the caller's list is left alone
    for bad in ("7", "7__gamma", "0__degree", "nothing"):
        with pytest.raises(ValueError, match="Invalid parameter"):
            kernel.set_params(**{bad: 1.0})


class KernelSVC(ClassifierMixin, BaseEstimator):
    """The smallest estimator with a kernel."""

    def __init__(self, kernel=None):
        self.kernel = kernel

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.model_ = SVC(kernel=self.kernel.resolve(X)).fit(X, y)
        return self

    def predict(self, X):
        return self.model_.predict(X)


def test_grid_search_over_a_child(rng):
    angle, radius = rng.uniform(0, 6.3, size=80), np.repeat([1.0, 2.0], 40)
    X = np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1)
    grid = {"kernel__0__gamma": [1e-6, 1.0], "kernel__1": [1e-6 * Linear(), Linear()]}
    search = GridSearchCV(KernelSVC(Gaussian() + Linear()), grid, cv=4).fit(X, radius > 1.5)
    assert search.best_params_["kernel__0__gamma"] == 1.0
    assert search.best_score_ > 0.95


def test_learned_weights_win_and_travel():
    X = np.array([[1.0, 2.0]])
    kernel = MultipleKernel([Linear(), 2.0 * Linear()], weights=[1.0, 1.0])
    kernel.weights_ = np.array([0.25, 0.75])
    assert_allclose(kernel(X), 5 * (0.25 + 1.5))
    outer = Scaled(Sum([kernel, Linear()]), 2.0)
    for carried in (outer.resolve(X), outer.with_theta(outer.theta)):
        assert_allclose(carried(X), outer(X))
        assert carried.kernel.kernels[0].weights_ is not kernel.weights_
    assert not hasattr(clone(kernel), "weights_")
    assert_allclose(clone(kernel)(X), 15.0)


@pytest.mark.parametrize(
    ("weights", "message"),
    [([1.0], "expected 2 weights"), ([1.0, -0.1], "none negative"), ([0.0, 0.0], "not all zero"),
     ([1.0, np.nan], "finite")],
)  # fmt: skip
def test_bad_weights(weights, message):
    with pytest.raises(ValueError, match=message):
        MultipleKernel([Linear(), Gaussian()], weights)(np.ones((2, 2)))


def test_facts_combine():
    g, s, c = Gaussian(), Sigmoid(), CallableKernel(np.dot)
    assert (g + g).is_positive_definite is True
    assert (g * s).is_positive_definite is False
    assert (g + c).is_positive_definite is None
    assert (2.0 * s).is_positive_definite is False
    assert Normalized(Precomputed()).is_positive_definite is None
    assert Polynomial(coef0=-1.0).is_positive_definite is False
    assert Polynomial(degree=2.5).is_positive_definite is False
    assert Polynomial(degree=2.0).is_positive_definite is True
    assert (Stein() + c).input_ndim == 3


def test_integers_and_lists_become_float64():
    assert_array_equal(Linear()([[1, 2]], [[3, 4]]), [[11.0]])
    assert Gaussian().check([[1, 2]]).dtype == np.float64
    assert Gaussian().check(np.ones((1, 2), dtype=np.float16)).dtype == np.float64


LIGHT = """
import sys, types
package = types.ModuleType("kernelcoding")  # without __init__, which imports the compiled rooms
package.__path__ = [{path!r}]
sys.modules["kernelcoding"] = package
import sklearn.metrics.pairwise  # may import pandas by itself
before = set(sys.modules)
import kernelcoding.kernels
new = {{name.split(".")[0] for name in set(sys.modules) - before}}
assert not new & {{"numba", "pandas", "matplotlib", "cv2", "pyriemann"}}, new
"""


def test_import_stays_light():
    run_python(LIGHT.format(path=str(Path(kernelcoding.kernels.__file__).parents[1])))


@pytest.mark.parametrize(
    ("implemented", "missing"),
    [
        ((), "prepare"),
        (("prepare",), "statistic"),
        (("prepare", "statistic"), "profile"),
    ],
)
def test_an_incomplete_kernel_names_what_it_lacks(implemented, missing):
    methods = {name: lambda self, *arguments: np.ones((2, 2)) for name in implemented}
    kernel = type("Halfway", (Kernel,), methods)()
    with pytest.raises(NotImplementedError, match=f"Halfway does not implement {missing}, which"):
        kernel(np.ones((2, 2)))


def test_every_missing_method_of_a_kernel_is_named():
    for method in ("check", "prepare", "diagonal_statistic", "profile"):
        with pytest.raises(NotImplementedError, match=f"Kernel does not implement {method}, which"):
            getattr(Kernel(), method)(None)
    with pytest.raises(NotImplementedError, match="Kernel does not implement statistic, which"):
        Kernel().statistic(None, None)


def test_points_and_norms_that_do_not_go_together_are_refused():
    """Compiled code would read beyond the norms."""
    kernel = Gaussian()
    prepared = kernel.prepare(np.eye(4))
    forged = prepared._replace(squared_norms=prepared.squared_norms[:2])
    with pytest.raises(ValueError, match=r"one squared norm for each of 4 points, got \(2,\)"):
        kernel.statistic(prepared, forged)
