"""Codes that are all zero: told once, with the reason and what to do."""

import re
import warnings

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.exceptions import ConvergenceWarning

import kernelcoding as kc
from kernelcoding import constraints
from kernelcoding.component import Component
from kernelcoding.kernels import Gaussian, Linear


class Own(Component):
    """A prior of a user, of which no largest alpha is known."""

    def value(self, codes):
        return np.abs(codes).sum(axis=1)

    def prox(self, points, scale):
        return np.sign(points) * np.maximum(np.abs(points) - scale, 0.0)


@pytest.fixture
def samples(rng):
    return rng.normal(size=(20, 3)), rng.normal(size=(8, 3))


def messages(call):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
    return [(w.category, str(w.message)) for w in caught]


@pytest.mark.parametrize("positive", [False, True])
def test_the_alpha_that_is_named_is_the_largest_that_helps(positive, samples):
    X, Q = samples
    coder = kc.KernelSparseCoder(Gaussian(0.3), alpha=7.0, positive=positive).fit(X)
    [(category, sentence)] = messages(lambda: coder.transform(Q))
    assert category is ConvergenceWarning
    assert sentence.startswith("All codes are zero: alpha=7 is too large for these samples.")
    assert sentence.endswith("(8 of 8 codes.)")
    largest = float(re.search(r"at all is ([\d.e+-]+);", sentence).group(1))
    assert largest == pytest.approx(Gaussian(0.3)(Q, X).max(), rel=5e-3)
    [(_, sentence)] = messages(lambda: coder.set_params(alpha=0.99 * largest).transform(Q))
    assert sentence.startswith("7 of 8 codes")
    assert not messages(lambda: coder.set_params(alpha=0.1 * largest).transform(Q))


def test_most_codes_must_be_zero_to_be_told(samples):
    X, Q = samples
    coder = kc.KernelSparseCoder(Gaussian(5.0), alpha=0.1).fit(X)
    assert not messages(lambda: coder.transform(np.vstack([Q + 100.0, X[:8]])))
    for far, near in ((8, 7), (3, 1), (4, 0)):  # samples that are zero to the kernel do not count
        [(_, sentence)] = messages(
            lambda far=far, near=near: coder.transform(np.vstack([Q[:far] + 100.0, X[:near]]))
        )
        assert "no sample has anything in common with any atom" in sentence
        assert f"{far} of {far + near} codes" in sentence


@pytest.mark.parametrize(("gamma", "narrow"), [(0.3, False), (300.0, True)])
def test_where_the_kernel_is_too_narrow_alpha_is_not_blamed(gamma, narrow, samples):
    X, Q = samples
    closest = Gaussian(gamma)(Q, X).max()
    assert (0 < closest < 1e-3) == narrow
    coder = kc.KernelSparseCoder(Gaussian(gamma), alpha=2.0).fit(X)
    [(_, sentence)] = messages(lambda: coder.transform(Q))
    assert ("alpha=2 is too large" in sentence) != narrow
    assert (
        f"similarities are at most {closest:.2g}, where k(x, x) is 1. Use" in sentence
    ) == narrow


@pytest.mark.parametrize("sparse_output", [False, True])
def test_the_alpha_that_is_named_is_that_of_the_samples_without_codes(sparse_output, samples):
    X, Q = samples
    K = Gaussian(0.3)(Q, X).max(axis=1)
    alpha = np.sort(K)[4:6].mean()  # five of eight have none
    coder = kc.KernelSparseCoder(Gaussian(0.3), alpha=alpha, sparse_output=sparse_output).fit(X)
    [(category, sentence)] = messages(lambda: coder.transform(Q))
    assert category is ConvergenceWarning
    assert re.match(
        r"5 of 8 codes are all zero: alpha=\S+ is too large for these samples", sentence
    )
    assert f"at all is {np.sort(K)[4]:.3g};" in sentence


def test_samples_that_are_zero_do_not_count(samples):
    X, Q = samples
    coder = kc.KernelSparseCoder(Linear(), alpha=0.1).fit(X)
    assert not messages(lambda: coder.transform(np.vstack([np.zeros((9, 3)), Q])))
    few = np.vstack([np.zeros((9, 3)), 1e-6 * Q, Q[:1]])
    [(_, sentence)] = messages(lambda: coder.transform(few))
    assert sentence.startswith("8 of 9 codes are all zero: alpha=0.1 is too large")


def test_the_code_of_zero_is_zero(samples):
    coder = kc.KernelSparseCoder(Linear(), alpha=0.1).fit(samples[0])
    assert not messages(lambda: coder.transform(np.zeros((2, 3))))


def test_an_unfinished_code_is_told_as_such(samples):
    X, Q = samples
    coder = kc.KernelSparseCoder(Gaussian(0.3), alpha=1e-4, max_iter=1).fit(X)
    [(category, sentence)] = messages(lambda: coder.transform(Q))
    assert category is ConvergenceWarning
    assert "iteration limit" in sentence


def test_nothing_is_said_of_an_alpha_that_is_not_known(samples):
    X, Q = samples
    coder = kc.KernelCoder(Gaussian(0.3), prior=Own(), constraint=constraints.Free(), alpha=9.0)
    [(_, sentence)] = messages(lambda: coder.fit(X).transform(Q))
    expected = "All codes are zero: use a smaller alpha or a wider kernel. (8 of 8 codes.)"
    assert sentence == expected


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_learned_models_tell_it_too(n_jobs, samples):
    X, y = samples[0], np.arange(20) % 2
    coder = kc.KernelSparseCoder(Gaussian(0.3), alpha=0.05, n_jobs=n_jobs)
    learned = kc.KernelDictionaryLearning(coder, n_atoms=5, max_iter=2).fit(X)
    supervised = kc.SupervisedKernelCoding(coder, n_atoms=5, max_iter=2).fit(X, y)
    for call in (learned.transform, supervised.transform, supervised.predict):
        [(category, sentence)] = messages(lambda call=call: call(X + 1e3))
        assert category is ConvergenceWarning
        assert sentence.startswith("All codes are zero: no sample has anything")
    assert_array_equal(learned.transform(np.vstack([X, X[:1] + 1e3]))[20], 0.0)


def crowd_and_far_samples(rng):
    """Eight samples near each other, and twelve that nothing resembles."""
    far = 100.0 * np.arange(1, 13)[:, None] * np.ones(3)
    return np.vstack([0.3 * rng.normal(size=(8, 3)), far])


FITS = {
    "dictionary": lambda coder: kc.KernelDictionaryLearning(coder, n_atoms=3, max_iter=1),
    "landmarks": lambda coder: kc.KernelDictionaryLearning(
        coder, n_atoms=3, n_landmarks=10, max_iter=1
    ),
    "supervised": lambda coder: kc.SupervisedKernelCoding(coder, n_atoms=4, max_iter=1),
}


@pytest.mark.parametrize("make", FITS.values(), ids=FITS.keys())
def test_learning_tells_it_of_training_samples(make, rng):
    X = crowd_and_far_samples(rng)
    learning = make(kc.KernelSparseCoder(Gaussian(0.1), alpha=0.02))
    told = messages(lambda: learning.fit(X, np.arange(20) % 2))
    [(category, sentence)] = [found for found in told if "all zero" in found[1]]
    assert category is ConvergenceWarning
    n_zero = int(np.sum(~np.asarray(quiet(learning.transform, X)).any(axis=1)))
    assert 10 < n_zero < 20
    assert sentence.startswith(f"{n_zero} of 20 codes of training samples are all zero: ")
    assert not messages(
        lambda: make(kc.KernelSparseCoder(Gaussian(1e-5), alpha=0.02)).fit(X, np.arange(20) % 2)
    )


def test_a_batch_tells_it(rng):
    X = crowd_and_far_samples(rng)
    learning = kc.KernelDictionaryLearning(
        kc.KernelSparseCoder(Gaussian(0.1), alpha=0.02), n_atoms=3, n_landmarks=8
    ).partial_fit(X[:8])
    [(category, sentence)] = messages(lambda: learning.partial_fit(X[6:] + 1.0))
    assert category is ConvergenceWarning
    assert re.match(r"1\d of 14 codes of this batch are all zero: ", sentence)


def test_outliers_tell_it_of_training_samples(rng):
    X = crowd_and_far_samples(rng)
    detector = kc.KernelOutlierDetector(kc.KernelSparseCoder(Gaussian(0.1), alpha=0.02))
    [(category, sentence)] = messages(lambda: detector.fit(X))
    assert category is ConvergenceWarning
    assert sentence.startswith("12 of 20 codes are all zero: no sample has anything in common")
    large = kc.KernelOutlierDetector(kc.KernelSparseCoder(Gaussian(0.1), alpha=3.0))
    [(_, sentence)] = messages(lambda: large.fit(X[:8]))
    K = Gaussian(0.1)(X[:8])
    largest = K[~np.eye(8, dtype=bool)].max()  # no sample is its own atom
    assert f"at all is {largest:.3g};" in sentence


def quiet(call, X):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return call(X)
