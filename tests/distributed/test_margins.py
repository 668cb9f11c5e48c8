"""Max-margin and logistic classifiers of codes that stay with the workers: those of memory."""

from functools import cache

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize

import kernelcoding as kc
from helpers.three_colours import three_colours
from kernelcoding.blocks import Kept
from kernelcoding.classification import LogisticRule, MaxMarginRule
from kernelcoding.classification.far import newton as far_newton
from kernelcoding.classification.far.codes import FarCodes, LabelledCodes
from kernelcoding.classification.joint import learner
from kernelcoding.classification.losses import multinomial, one_vs_rest
from kernelcoding.classification.losses.ridge import CodeSums
from kernelcoding.dictionary_learning.frames import landmarks as landmark_frames

dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")
da = pytest.importorskip("dask.array")

N = 120
CHUNKS = (50, 0, 1, 69)
RULES = ["max-margin", "logistic"]


@pytest.fixture(autouse=True)
def in_passes(monkeypatch):
    """In memory, codes are found from nothing, too, and samples are visited in passes."""
    monkeypatch.setattr(one_vs_rest, "ROUGH", 5)  # a pass each
    monkeypatch.setattr(landmark_frames, "KEPT", 0)
    monkeypatch.setattr(learner.SupervisedLearner, "settles", True)
    with dask.config.set(scheduler="synchronous"):
        yield


def data(n=N):
    return three_colours(n)


def lazy(X, chunks=CHUNKS):
    return da.from_array(X, chunks=(chunks, *X.shape[1:]))


def learning(classifier, coder=None, **settings):
    settings = {"n_atoms": 12, "n_landmarks": 40, "max_iter": 2, **settings}
    coder = coder or kc.KernelSparseCoder(alpha=0.05)
    return kc.SupervisedKernelCoding(coder, classifier=classifier, **settings)


def assert_same(far, near, X):
    assert_array_equal(far.objective_steps_, near.objective_steps_)
    # Codes settle to 1e-6 of their targets, which for hinges most of them reach in one step.
    tol = 1e-10 if "max-margin" in repr(far) or "MaxMargin" in repr(far) else 1e-8
    assert_allclose(far.objective_history_, near.objective_history_, rtol=tol)
    assert_allclose([far.eta_, far.rho_], [near.eta_, near.rho_], rtol=1e-8)
    assert_allclose(far.decision_function(X), near.decision_function(X), atol=1e-5)
    assert_allclose(far.predict_proba(X), near.predict_proba(X), atol=1e-6)
    assert (far.status_, far.training_kept_) == (near.status_, near.training_kept_)


GIVEN = {"auto": {}, "given": {"eta": 0.1, "rho": 1e-3}}


@cache
def in_memory(rule, given):
    """What is learned in memory, once for both ways of cutting."""
    return learning(rule, **GIVEN[given]).fit(*data())


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("given", GIVEN)
@pytest.mark.parametrize("chunks", [(N,), CHUNKS], ids=["one block", "blocks"])
def test_what_is_learned_is_what_is_learned_in_memory(rule, given, chunks):
    X, y = data()
    near = in_memory(rule, given)
    assert near.score(X, y) > 0.8
    assert_same(learning(rule, **GIVEN[given]).fit(lazy(X, chunks), y), near, X)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize(
    "coder",
    [
        kc.KernelSparseCoder(alpha=0.05, positive=True),
        kc.KernelLCC(alpha=0.05),
        kc.KernelLLC(n_neighbors=4),
    ],
    ids=repr,
)
def test_every_coder_learns(rule, coder):
    X, y = data()
    given = {"eta": 0.1, "rho": 1e-3, "max_iter": 2}
    near = learning(rule, coder, **given).fit(X, y)
    assert_same(learning(rule, coder, **given).fit(lazy(X), lazy(y)), near, X)


@pytest.mark.parametrize(
    "rule",
    [
        MaxMarginRule(class_weight="balanced", fit_intercept=False),
        LogisticRule(class_weight={"blue": 1, "green": 2, "red": 3}, fit_intercept=False),
        MaxMarginRule(rho=1e-3, refit=False),
        LogisticRule(rho=1e-3, refit=False),
    ],
    ids=repr,
)
def test_settings_of_the_rule_and_weights_of_samples(rule):
    X, y = data()
    weight = np.random.default_rng(0).uniform(size=N)
    near = learning(rule, eta=0.1, max_iter=2).fit(X, y, sample_weight=weight)
    far = learning(rule, eta=0.1, max_iter=2).fit(lazy(X), y, sample_weight=lazy(weight))
    assert_same(far, near, X)


@pytest.mark.parametrize("rule", RULES)
def test_several_labels_per_sample(rule):
    X, y = data()
    several = np.stack([y == "red", y != "blue", X[:, 1] > 0], axis=1).astype(int)
    near = learning(rule, eta=0.1, rho=1e-3, max_iter=2).fit(X, several)
    far = learning(rule, eta=0.1, rho=1e-3, max_iter=2).fit(lazy(X), several)
    assert_same(far, near, X)


@pytest.mark.parametrize("rule", RULES)
def test_codes_found_from_nothing_serve_as_well(rule, monkeypatch):
    """In memory, codes take one step per round: another way to the same objective."""
    X, y = data(200)
    settings = {"eta": 0.1, "rho": 1e-3, "max_iter": 3, "tol": 0}
    far = learning(rule, **settings).fit(lazy(X, (90, 0, 1, 109)), y)
    monkeypatch.setattr(learner.SupervisedLearner, "settles", False)
    near = learning(rule, **settings).fit(X, y)
    falls = np.diff(far.objective_history_)
    assert (falls <= 1e-9 * far.objective_history_[0]).all()
    assert far.objective_history_[-1] < 1.02 * near.objective_history_[-1]
    assert abs(far.score(X, y) - near.score(X, y)) < 0.02


# The classifiers themselves ---------------------------------------------------------------------


def parts(n=300, n_atoms=5, n_classes=3):
    """Codes in three parts, and all of them."""
    rng = np.random.default_rng(2)
    codes, weight = rng.normal(size=(n, n_atoms)), rng.uniform(0.5, 2.0, size=n)
    numbers = np.argmax(codes[:, :n_classes] + rng.normal(size=(n, n_classes)), axis=1)
    targets = 2 * np.eye(n_classes, dtype=np.int8)[numbers] - 1
    cuts = [slice(0, 100), slice(100, 101), slice(101, n)]
    kept = Kept([LabelledCodes(codes[c], targets[c], weight[c]) for c in cuts])
    return FarCodes(kept, CodeSums.of(codes, targets, weight)), codes, targets, weight


@pytest.mark.parametrize("rule", [MaxMarginRule(), LogisticRule()], ids=repr)
@pytest.mark.parametrize("together", [1, 3], ids=["one class per pass", "all classes"])
def test_newton_ends_where_the_slope_is_zero(rule, together, monkeypatch):
    monkeypatch.setattr(far_newton, "ANSWER", together * 8 * 5**2)
    far, codes, targets, weight = parts()
    weights, bias = far.fitted(rule, 0.7, None)

    def value(flat):
        some = flat.reshape(6, 3)
        losses = rule.loss(codes @ some[:-1] + some[-1], targets)
        return 0.35 * np.sum(some[:-1] ** 2) + weight @ losses

    found = np.vstack([weights, bias]).ravel()
    best = minimize(value, np.zeros(18), method="BFGS", options={"gtol": 1e-7})
    assert value(found) <= best.fun * (1 + 1e-9)
    assert_allclose(found, best.x, atol=1e-4)


def test_steps_that_are_too_long_are_halved():
    far, rule = parts()[0], LogisticRule()
    best = far.fitted(rule, 0.7, None)
    start = 30.0 * np.random.default_rng(0).normal(size=(5, 3)), np.array([40.0, -40.0, 9.0])
    found = far_newton.finished(far.kept, rule, 0.7, *start)
    assert_allclose(found[0], best[0], atol=1e-6)
    assert_allclose(found[1], best[1], atol=1e-6)


@pytest.mark.parametrize("intercept", [True, False])
def test_the_multinomial_classifier_is_that_of_scikit_learn(intercept):
    from sklearn.linear_model import LogisticRegression

    far, codes, targets, weight = parts()
    found, rho = far.multinomial(0.05, intercept), 0.05
    peer = LogisticRegression(
        C=1 / (rho * weight.sum()), fit_intercept=intercept, tol=1e-10, max_iter=10_000
    ).fit(far.scale * codes, targets.argmax(axis=1), weight)
    assert_allclose(found.weights / far.scale, peer.coef_.T, atol=1e-5)
    ours, theirs = found.bias - found.bias.mean(), peer.intercept_ - peer.intercept_.mean()
    assert_allclose(ours, theirs, atol=1e-5)


# On workers -------------------------------------------------------------------------------------


@pytest.mark.parametrize("rule", RULES)
def test_equal_blocks_give_equal_bits_on_workers(client, rule, monkeypatch):
    monkeypatch.setattr(one_vs_rest, "ROUGH", 3)  # a pass each
    monkeypatch.setitem(multinomial.EXACT, "maxiter", 5)
    X, y = data()
    given = {"eta": 0.1, "rho": 1e-3, "max_iter": 1}
    truth = learning(rule, **given).fit(lazy(X), y)
    workers = sorted(client.scheduler_info(n_workers=-1)["workers"])
    for count in (1, 2):
        with (
            dask.config.set({"scheduler": client.get, "optimization.fuse.active": False}),
            dask.annotate(workers=workers[:count]),
        ):
            found = learning(rule, **given).fit(lazy(X), y)
        assert_array_equal(found.objective_history_, truth.objective_history_)
        assert_array_equal(found.dictionary_.weights, truth.dictionary_.weights)
        assert_array_equal(found.classifier_.weights, truth.classifier_.weights)
        assert_array_equal(found.predict_proba(X), truth.predict_proba(X))
