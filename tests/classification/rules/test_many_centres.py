"""Bilinear classifiers of many samples: few centres while atoms are learned, all of them last."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.datasets import load_digits
from sklearn.preprocessing import normalize

import kernelcoding as kc
from kernelcoding import long_calls
from kernelcoding.classification.losses.ridge import NOTHING
from kernelcoding.classification.rules import bilinear
from kernelcoding.classification.rules.base import TrainingCodes
from kernelcoding.dictionary import PointDictionary
from kernelcoding.dictionary_learning.frames import SampleFrame
from kernelcoding.kernels import Gaussian

RHO = 1e-3


@pytest.fixture
def few(monkeypatch):
    """Sixty samples are many, of which twelve are centres."""
    monkeypatch.setattr(bilinear, "MANY", 50)
    monkeypatch.setattr(bilinear, "CENTRES", 12)


@pytest.fixture(params=[True, False], ids=["intercept", "none"])
def data(request):
    rng = np.random.RandomState(0)
    X = rng.normal(size=(60, 4))
    frame = SampleFrame(PointDictionary(Gaussian(0.3), X, np.arange(60)))
    codes = rng.normal(size=(60, 5)) * (rng.uniform(size=(60, 5)) < 0.6)
    targets = np.eye(3)[rng.randint(3, size=60)]
    weight = rng.uniform(0.5, 2.0, size=60)
    return TrainingCodes(
        frame, sparse.csr_array(codes), targets, weight, 0.3, request.param, rng, lambda: codes
    )


def features(data, chosen):
    codes = data.codes.toarray()
    return (codes @ codes[chosen].T) * data.frame.kernel_matrix[:, chosen]


def written_out(data, chosen):
    """Weighted least squares with a penalty, as one system with a column for the intercept."""
    F, weight = features(data, chosen), data.sample_weight[:, None]
    penalty = RHO / (3 * data.per_sample) * F[chosen]
    if data.intercept:
        F, penalty = np.c_[F, np.ones(60)], np.pad(penalty, (0, 1))
    found = np.linalg.lstsq(F.T @ (weight * F) + penalty, F.T @ (weight * data.targets))[0]
    return (found[:-1], found[-1]) if data.intercept else (found, np.zeros(3))


def test_few_centres_solve_the_regression_on_them(few, data):
    rule = bilinear.BilinearRule(RHO, data.intercept)
    found = rule.fit(data, RHO, exact=False)
    chosen = found.used
    assert len(chosen) == 12
    coefficients, bias = written_out(data, chosen)
    wanted = features(data, chosen) @ coefficients + bias
    scores = found.scores(data.codes, data.frame.kernel_matrix)
    assert_allclose(scores, wanted, atol=1e-7)
    assert_allclose(found.scores(data.codes, data.frame.kernel_matrix.copy()), scores, atol=1e-12)
    own = features(data, chosen)[chosen]
    norm = np.sum(found.coefficients[chosen] * (own @ found.coefficients[chosen]))
    assert_allclose(found.penalty, 0.5 * RHO / 3 * norm)
    again = rule.fit(data, RHO, before=found, exact=False)
    assert_array_equal(again.used, chosen)


@pytest.mark.parametrize("factored", [10, 1000], ids=["in a thread", "at once"])
def test_the_last_classifier_has_all_centres(few, data, factored, monkeypatch):
    monkeypatch.setattr(long_calls, "FACTORED", factored)
    rule = bilinear.BilinearRule(RHO, data.intercept)
    last = rule.fit(data, RHO)
    assert last.used == slice(None)
    coefficients, bias = written_out(data, np.arange(60))
    wanted = features(data, np.arange(60)) @ coefficients + bias
    assert_allclose(last.scores(data.codes, data.frame.kernel_matrix), wanted, atol=1e-5)


def test_samples_left_out_are_judged_without_them(few, data, monkeypatch):
    chosen = np.arange(0, 60, 5)
    monkeypatch.setattr(bilinear, "_some_samples", lambda *given: chosen)
    rule = bilinear.BilinearRule(RHO, data.intercept)
    found = rule.left_out(data, RHO)
    for i in (0, 7, 31):
        weight = data.sample_weight.copy()
        weight[i] = 0.0
        coefficients, bias = written_out(replace(data, sample_weight=weight), chosen)
        assert_allclose(found[i], features(data, chosen)[i] @ coefficients + bias, atol=1e-7)


def test_samples_without_weight_are_not_drawn(few, data, monkeypatch):
    monkeypatch.setattr(bilinear, "JUDGED", 40)
    there = np.arange(60) % 4 == 0
    weight = np.where(there, data.sample_weight, NOTHING)
    light = replace(data, sample_weight=weight)
    assert there[bilinear._some_samples(light)].all()
    kernel, judged = bilinear._weighted_product(light)
    assert_array_equal(judged.targets, data.targets[there])
    root = np.sqrt(weight[there])
    product = features(data, np.flatnonzero(there))[there]
    assert_allclose(kernel, product * np.outer(root, root), atol=1e-12)


@pytest.mark.parametrize("many", [True, False])
@pytest.mark.parametrize("exact", [True, False])
def test_one_factor_gives_classifier_and_scores_left_out(many, exact, data, monkeypatch):
    monkeypatch.setattr(bilinear, "MANY", 50 if many else 100)
    monkeypatch.setattr(bilinear, "_some_samples", lambda *given: np.arange(0, 60, 5))
    rule = bilinear.BilinearRule(RHO, data.intercept)
    found, scores = rule.fit_with_left_out(data, RHO, exact)
    alone = rule.fit(data, RHO, exact=exact)
    few = many and not exact
    chosen = np.arange(0, 60, 5) if few else np.arange(60)
    coefficients, bias = written_out(data, chosen)
    wanted = features(data, chosen) @ coefficients + bias
    assert_allclose(found.scores(data.codes, data.frame.kernel_matrix), wanted, atol=1e-5)
    assert_allclose([found.penalty, found.rate], [alone.penalty, alone.rate], rtol=1e-6)
    assert_allclose(scores, rule.left_out(data, RHO), atol=1e-9)


def test_the_objective_falls_and_labels_are_found(few):
    X, y = load_digits(n_class=4, return_X_y=True)
    X, y = normalize(X[:240]), y[:240]
    model = kc.SupervisedKernelCoding(
        kc.KernelSparseCoder("rbf", alpha=0.05), n_atoms=8, classifier="bilinear", max_iter=4
    )
    model.fit(X[:160], y[:160])
    history = model.objective_history_
    assert np.all(np.diff(history) <= 1e-9 * history[0])
    assert len(model.classifier_.coefficients) == 160
    assert model.score(X[160:], y[160:]) > 0.8
