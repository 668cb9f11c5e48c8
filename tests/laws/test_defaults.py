"""Estimators at their defaults: data of any size, and explicit numbers mean what they say."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits, load_iris

import kernelcoding as kc
from kernelcoding.classification.stacked.ksvd import number_of_nonzeros

LEARNING = {
    "dictionary": kc.KernelDictionaryLearning(max_iter=1),
    "per class": kc.KernelDictionaryLearning(max_iter=1, per_class=True),
    "supervised": kc.SupervisedKernelCoding(max_iter=1),
    "task-driven": kc.SupervisedKernelCoding(max_iter=1, training="task-driven"),
    "LC-KSVD": kc.LabelConsistentKSVD(max_iter=1),
    "D-KSVD": kc.DiscriminativeKSVD(max_iter=1),
    "pairs": kc.KernelDictionaryPairLearning("rbf", max_iter=1),
}
EVERY = pytest.mark.parametrize("estimator", LEARNING.values(), ids=LEARNING.keys())


@pytest.fixture(scope="module")
def iris():
    X, y = load_iris(return_X_y=True)
    return X[::2], y[::2]  # 75


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return X[:130], y[:130]


def expected_atoms(estimator, n_samples):
    """All samples but no more than a hundred, or a quarter but no more than two hundred."""
    if isinstance(estimator, kc.SupervisedKernelCoding):
        return min(n_samples // 4, 200)
    return min(n_samples, 100)


@EVERY
def test_the_default_number_of_atoms_is_what_few_samples_allow(estimator, iris):
    X, y = iris
    fitted, expected = clone(estimator).fit(X, y), expected_atoms(estimator, 75)
    assert fitted.n_atoms is None
    assert fitted.n_atoms_ == fitted.dictionary_.n_atoms == expected
    assert fitted.transform(X[:3]).shape == (3, expected)
    assert len(fitted.get_feature_names_out()) == expected


@EVERY
def test_many_samples_give_a_hundred_atoms_or_two(estimator):
    X, y = load_digits(return_X_y=True)
    n_samples = 810 if isinstance(estimator, kc.SupervisedKernelCoding) else 130
    fitted = clone(estimator).fit(X[:n_samples], y[:n_samples])
    expected = expected_atoms(estimator, n_samples)
    assert fitted.n_atoms_ == fitted.dictionary_.n_atoms == expected


@EVERY
def test_explicit_numbers_are_refused_where_samples_are_fewer(estimator, iris):
    with pytest.raises(ValueError, match=r"n_atoms=100 must be at .*n_samples=75"):
        clone(estimator).set_params(n_atoms=100).fit(*iris)
    fitted = clone(estimator).set_params(n_atoms=9).fit(*iris)
    assert fitted.n_atoms_ == fitted.dictionary_.n_atoms == 9


def test_landmarks_and_weights_limit_the_default(digits):
    X, _ = digits
    few = kc.KernelDictionaryLearning(n_landmarks=30, max_iter=1)
    assert few.fit(X).n_atoms_ == 30
    assert few.set_params(n_landmarks=120).fit(X).n_atoms_ == 100
    with pytest.raises(ValueError, match="n_landmarks=30 must be at least n_atoms=31"):
        few.set_params(n_landmarks=30, n_atoms=31).fit(X)
    weight = (np.arange(len(X)) < 40).astype(float)
    some = kc.KernelDictionaryLearning(max_iter=1).fit(X, sample_weight=weight)
    assert some.n_atoms_ == 40


def test_a_small_first_batch_limits_the_default(digits):
    X, _ = digits
    stream = kc.KernelDictionaryLearning().partial_fit(X[:50]).partial_fit(X[50:])
    assert stream.n_atoms_ == stream.dictionary_.n_atoms == 50


def many_classes(count):
    """Two samples of each."""
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(count), 2)
    return rng.normal(size=(2 * count, 5)) + 5.0 * rng.normal(size=(count, 5))[y], y


@pytest.mark.parametrize("name", ["LC-KSVD", "D-KSVD", "pairs"])
def test_every_class_has_an_atom_by_default(name):
    fitted = clone(LEARNING[name]).fit(*many_classes(110))
    assert fitted.n_atoms_ == 110
    assert set(fitted.atom_classes_) == set(range(110))


def test_supervised_coding_has_as_many_atoms_as_classes_by_default():
    model = clone(LEARNING["supervised"])
    assert model.fit(*many_classes(20)).n_atoms_ == 20
    assert model.set_params(n_landmarks=7).fit(*many_classes(20)).n_atoms_ == 7


def test_nonzeros_are_five_to_thirty():
    assert [number_of_nonzeros(None, 100, d) for d in (4, 64, 240, 504)] == [5, 5, 20, 30]
    assert [number_of_nonzeros(None, n, 504) for n in (3, 100, 180, 570)] == [3, 30, 30, 30]


@pytest.mark.parametrize("name", ["LC-KSVD", "D-KSVD"])
def test_nonzeros_follow_atoms_and_dimension(name, digits):
    """Of 130 samples that span 130 dimensions with a Gaussian, 55 or so without a kernel."""
    linear = clone(LEARNING[name]).set_params(kernel="linear", n_atoms=100).fit(*digits)
    assert linear.n_nonzero_ == 5
    for n_atoms, expected in ((10, 5), (30, 9), (100, 10), (130, 10)):
        fitted = clone(LEARNING[name]).set_params(n_atoms=n_atoms).fit(*digits)
        assert fitted.n_nonzero_ == expected
        assert fitted.coder_.n_nonzero == expected
        assert np.count_nonzero(fitted.transform(digits[0]), axis=1).max() <= expected
    assert clone(fitted).set_params(n_atoms=20, n_nonzero=3).fit(*digits).n_nonzero_ == 3
    with pytest.raises(ValueError, match="n_nonzero=21 must be at most n_atoms=20"):
        clone(fitted).set_params(n_atoms=20, n_nonzero=21).fit(*digits)
