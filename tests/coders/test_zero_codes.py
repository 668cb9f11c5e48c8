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
    assert category is UserWarning
    assert sentence.startswith("All codes are zero: alpha=7 is too large for these samples.")
    largest = float(re.search(r"at all is ([\d.e+-]+);", sentence).group(1))
    assert largest == pytest.approx(Gaussian(0.3)(Q, X).max(), rel=5e-3)
    assert not messages(lambda: coder.set_params(alpha=0.99 * largest).transform(Q))


def test_one_code_is_enough_to_be_silent(samples):
    X, Q = samples
    coder = kc.KernelSparseCoder(Gaussian(5.0), alpha=0.1).fit(X)
    assert not messages(lambda: coder.transform(np.vstack([Q + 100.0, X[:1]])))
    [(_, sentence)] = messages(lambda: coder.transform(Q + 100.0))
    assert "no sample has anything in common with any atom" in sentence


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
    assert sentence == "All codes are zero: use a smaller alpha or a wider kernel."


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_learned_models_tell_it_too(n_jobs, samples):
    X, y = samples[0], np.arange(20) % 2
    coder = kc.KernelSparseCoder(Gaussian(0.3), alpha=0.05, n_jobs=n_jobs)
    learned = kc.KernelDictionaryLearning(coder, n_atoms=5, max_iter=2).fit(X)
    supervised = kc.SupervisedKernelCoding(coder, n_atoms=5, max_iter=2).fit(X, y)
    for call in (learned.transform, supervised.transform, supervised.predict):
        [(category, sentence)] = messages(lambda call=call: call(X + 1e3))
        assert category is UserWarning
        assert sentence.startswith("All codes are zero: no sample has anything")
    assert_array_equal(learned.transform(np.vstack([X, X[:1] + 1e3]))[20], 0.0)
