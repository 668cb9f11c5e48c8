"""The residual rule over what was learned without labels."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import kernelcoding as kc
from helpers.learning import digits
from kernelcoding.experiments.running.fit_and_predict import encoder_of
from kernelcoding.experiments.running.without_labels import PaperWidth, UnlabelledAtoms
from kernelcoding.kernels import Gaussian


@pytest.fixture(scope="module")
def samples():
    X, y = digits(160, labels=True)
    return X[:100], y[:100], X[100:], y[100:]


def test_atoms_do_not_depend_on_labels(samples):
    X, y, Q, truth = samples
    learner = kc.KernelDictionaryLearning(
        kc.KernelSparseCoder("rbf", alpha=0.01), n_atoms=30, max_iter=2
    )
    model = UnlabelledAtoms(learner).fit(X, y)
    other = UnlabelledAtoms(learner).fit(X, np.roll(y, 1))
    codes = encoder_of(model).transform(Q)
    assert_array_equal(encoder_of(other).transform(Q), codes)
    assert_allclose(
        kc.KernelDictionaryLearning(**learner.get_params(deep=False)).fit(X).transform(Q), codes
    )
    balanced = kc.ResidualClassifier(learner).fit(X, y)
    assert np.abs(balanced.coder_.transform(Q) - codes).max() > 1e-3
    assert np.mean(model.predict(Q) == truth) > 0.8
    assert_array_equal(model.classes_[model.decision_function(Q).argmax(axis=1)], model.predict(Q))


def test_the_printed_ratio_may_end_at_the_end_of_its_range(samples):
    X, y, Q, _ = samples
    unit = Gaussian("median").resolve(X).gamma
    coder = kc.KernelSparseCoder(Gaussian("median"), alpha=3e-4)
    with pytest.warns(UserWarning, match="ended at a bound that was given"):
        model = PaperWidth(coder, decades=2).fit(X, y)
    learned = model.rule_.coder_.kernel_.gamma
    assert_allclose(learned, unit / 100, rtol=1e-3)
    expected = kc.ResidualClassifier(kc.KernelSparseCoder(Gaussian(learned), alpha=3e-4)).fit(X, y)
    assert_array_equal(model.predict(Q), expected.predict(Q))
