"""Dictionaries and classifiers learned together from samples of Dask: those of memory."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

import kernelcoding as kc
from helpers.three_colours import three_colours
from kernelcoding.classification.far import learner as far_learner
from kernelcoding.classification.losses import ridge
from kernelcoding.classification.rules import LinearRule
from kernelcoding.dictionary_learning.frames import landmarks as landmark_frames

dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")
da = pytest.importorskip("dask.array")

N = 600
CHUNKS = (100, 50, 0, 1, 149, 300)
CODERS = [
    kc.KernelSparseCoder(alpha=0.05),
    kc.KernelSparseCoder(alpha=0.05, positive=True),
    kc.KernelLCC(alpha=0.05),
    kc.KernelLLC(n_neighbors=4),
]


@pytest.fixture(autouse=True)
def in_passes(monkeypatch):
    """Samples in memory are visited in passes, too: none is kept, whatever their number."""
    monkeypatch.setattr(landmark_frames, "KEPT", 0)
    with dask.config.set(scheduler="synchronous"):
        yield


def data(n=N):
    return three_colours(n)


def lazy(X, chunks=CHUNKS):
    return da.from_array(X, chunks=(chunks, *X.shape[1:]))


def learning(coder=None, **settings):
    settings = {"n_atoms": 12, "n_landmarks": 40, "max_iter": 3, **settings}
    return kc.SupervisedKernelCoding(coder or kc.KernelSparseCoder(alpha=0.05), **settings)


def assert_same(far, near, X, tol=1e-10):
    assert_array_equal(far.objective_steps_, near.objective_steps_)
    assert_allclose(far.objective_history_, near.objective_history_, rtol=tol)
    assert_allclose(far.decision_function(X), near.decision_function(X), atol=1e-7)
    assert_allclose(far.predict_proba(X), near.predict_proba(X), atol=1e-6)
    assert_allclose([far.eta_, far.rho_], [near.eta_, near.rho_], rtol=1e-8)
    assert far.n_replaced_ == near.n_replaced_
    assert (far.status_, far.training_kept_) == (near.status_, near.training_kept_)


@pytest.mark.parametrize("coder", CODERS, ids=repr)
@pytest.mark.parametrize("given", [{}, {"eta": 0.1, "rho": 1e-3}], ids=["auto", "given"])
def test_every_coder_learns_what_it_learns_in_memory(coder, given):
    X, y = data()
    near = learning(coder, **given).fit(X, y)
    assert near.score(X, y) > 0.8
    assert_same(learning(coder, **given).fit(lazy(X), lazy(y)), near, X)


@pytest.mark.parametrize(
    "rule",
    [
        LinearRule(class_weight="balanced"),
        LinearRule(fit_intercept=False),
        LinearRule(rho=1e-3, refit=False),
    ],
    ids=repr,
)
def test_settings_of_the_rule_and_weights_of_samples(rule):
    X, y = data()
    weight = np.random.default_rng(0).uniform(size=N)
    near = learning(classifier=rule).fit(X, y, sample_weight=weight)
    far = learning(classifier=rule).fit(lazy(X), y, sample_weight=lazy(weight))
    assert_same(far, near, X)


def test_samples_of_no_weight_count_for_nothing():
    X, y = data()
    weight = (np.arange(N) % 4 > 0).astype(float)
    near = learning(eta=0.1, rho=1e-3).fit(X, y, sample_weight=weight)
    far = learning(eta=0.1, rho=1e-3).fit(lazy(X), y, sample_weight=weight)
    assert_allclose(far.objective_history_, near.objective_history_, rtol=1e-10)
    assert_allclose(far.decision_function(X), near.decision_function(X), atol=1e-7)


def test_several_labels_per_sample():
    X, y = data()
    several = np.stack([y == "red", y != "blue", X[:, 1] > 0], axis=1).astype(int)
    near = learning().fit(X, several)
    far = learning().fit(lazy(X), da.from_array(several, chunks=(200, 1)))
    assert_same(far, near, X)
    assert_array_equal(far.predict(lazy(X)).compute(), far.predict(X))


def test_choices_are_judged_on_samples_drawn_at_random(monkeypatch):
    monkeypatch.setattr(far_learner, "DRAWN", 300)
    X, y = data(2000)
    near = learning().fit(X, y)
    far = learning().fit(lazy(X, (1500, 500)), y)
    assert len(far._calibration.labels.members) == 300
    assert_allclose(np.log([far.eta_, far.rho_]), np.log([near.eta_, near.rho_]), atol=2.0)
    assert far.score(X, y) > near.score(X, y) - 0.02
    assert len(pickle.dumps(far)) < 2**16  # nothing of the samples


@pytest.mark.parametrize("classifier", ["linear", "max-margin"])
def test_a_penalty_judged_on_some_is_that_of_samples_in_memory(classifier, monkeypatch):
    monkeypatch.setattr(far_learner, "DRAWN", 300)
    monkeypatch.setattr(ridge, "JUDGED", 300)
    X, y = data(2000)
    model = learning(eta=0.05, max_iter=1, n_landmarks=None, landmarks=X[:40])
    model.set_params(classifier=classifier)
    near, far = clone(model).fit(X, y), clone(model).fit(lazy(X, (1500, 500)), y)
    assert_allclose(np.log(far.rho_), np.log(near.rho_), atol=0.5)


def test_labels_that_cannot_be_predicted_are_no_supervision():
    X, _ = data()
    y = np.random.default_rng(1).integers(3, size=N)
    far = learning().fit(lazy(X), y)
    assert far.eta_ == 0.0
    assert far.training_kept_ == learning().fit(X, y).training_kept_ == "unsupervised"


def test_kernels_are_learned_on_drawn_samples():
    X, y = data()
    settings = {"learn_kernel": True, "max_iter": 1}
    near, far = learning(**settings).fit(X, y), learning(**settings).fit(lazy(X), y)
    assert_allclose(far.kernel_.gamma, near.kernel_.gamma, rtol=1e-6)


def test_residual_rule_of_a_supervised_dictionary():
    X, y = data()
    near = kc.ResidualClassifier(learning()).fit(X, y)
    far = kc.ResidualClassifier(learning()).fit(lazy(X), lazy(y))
    assert_allclose(far.decision_function(X), near.decision_function(X), atol=1e-7)


def test_sums_over_parts_are_those_over_all():
    """The minimum of the regression, against least squares of stacked rows."""
    rng = np.random.default_rng(3)
    codes, targets = rng.normal(size=(50, 4)), rng.normal(size=(50, 2))
    weight = rng.uniform(size=50)
    parts = [slice(0, 20), slice(20, 50)]
    one, other = (ridge.CodeSums.of(codes[p], targets[p], weight[p]) for p in parts)
    found, bias = one.plus(other).solve(0.3, intercept=True)
    root = np.sqrt(weight)[:, None]
    penalty = np.sqrt(0.3) * np.eye(4, 5)
    rows = np.vstack([root * np.hstack([codes, np.ones((50, 1))]), penalty])
    right = np.vstack([root * targets, np.zeros((4, 2))])
    expected = np.linalg.lstsq(rows, right, rcond=None)[0]
    assert_allclose(np.vstack([found, bias]), expected, atol=1e-12)
    missed = weight @ np.sum((targets - codes @ found - bias) ** 2, axis=1)
    assert_allclose(one.plus(other).squared_error(found, bias), missed, rtol=1e-12)


@pytest.mark.parametrize("count", [1, 2])
def test_equal_blocks_give_equal_bits_on_workers(client, count):
    X, y = data()
    truth = learning().fit(lazy(X), y)
    workers = sorted(client.scheduler_info(n_workers=-1)["workers"])[:count]
    with (
        dask.config.set({"scheduler": client.get, "optimization.fuse.active": False}),
        dask.annotate(workers=workers),
        distributed.get_task_stream(client) as stream,
    ):
        found = learning().fit(lazy(X), y)
    assert {task["worker"] for task in stream.data} == set(workers)
    assert_array_equal(found.objective_history_, truth.objective_history_)
    assert_array_equal(found.dictionary_.weights, truth.dictionary_.weights)
    assert_array_equal(found.classifier_.weights, truth.classifier_.weights)
    assert_array_equal(found.predict_proba(X), truth.predict_proba(X))


# What is refused --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "match"),
    [
        ({"n_landmarks": None}, r"all samples squared\. Use n_landmarks=2000"),
        ({"classifier": "bilinear"}, r'Use classifier="linear", "max-margin" or "logistic"'),
        ({"training": "task-driven"}, r"in any order\. Use training=\"joint\""),
        (
            {"learn_kernel": kc.KernelLearning(criterion="joint")},
            r'Use KernelLearning\(criterion="ratio"\)',
        ),
        ({"coder": kc.KernelSparseCoder("precomputed")}, "a precomputed kernel needs all"),
    ],
    ids=str,
)
def test_what_needs_all_samples_is_refused(settings, match):
    X, y = data()
    with pytest.raises(ValueError, match=match):
        learning(**settings).fit(lazy(X), y)


def test_labels_must_be_there():
    X, y = data()
    with pytest.raises(ValueError, match="requires y to be passed"):
        learning().fit(lazy(X), None)
    with pytest.raises(ValueError, match="600 samples in X but 599 labels"):
        learning().fit(lazy(X), lazy(y[:-1], (100, 499)))
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        learning().fit(lazy(X), y[:-1])
