"""A kernel that was learned with a classifier is kept where samples left out have no complaint."""

import warnings
from functools import cache

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.ndimage import gaussian_filter, rotate
from sklearn.base import clone
from sklearn.preprocessing import normalize

import kernelcoding as kc
from helpers.kernel_learning import AT_A_BOUND
from helpers.learning import digits, never_rises
from kernelcoding.classification.joint import veto as joint_veto
from kernelcoding.coders.base import options_of
from kernelcoding.dictionary import PointDictionary
from kernelcoding.kernel_learning import labels_veto, truth_of
from kernelcoding.kernels import Gaussian, Linear, MultipleKernel
from reference.kernel_learning import least_log_loss, regressed

JOINT = kc.KernelLearning(criterion="joint")
TRAIN, TEST = slice(0, None, 2), slice(1, None, 2)


@cache
def turned(n_objects=12, n_views=36, side=16):
    """Random smooth images, turned in equal steps: neighbours of a class are near, others not."""
    rng, found = np.random.default_rng(0), []
    for _ in range(n_objects):
        image = gaussian_filter(rng.normal(size=(side, side)), 1.5)
        angles = 360.0 / n_views * np.arange(n_views)
        found += [rotate(image, angle, reshape=False, order=1).ravel() for angle in angles]
    return normalize(np.array(found)), np.repeat(np.arange(n_objects), n_views)


def of_turned(**params):
    coder = kc.KernelSparseCoder(Gaussian("median"), alpha=0.003)
    given = {"n_atoms": 30, "max_iter": 4, "learn_kernel": JOINT} | params
    return kc.SupervisedKernelCoding(coder, **given)


def without_veto(monkeypatch):
    monkeypatch.setattr(joint_veto, "_is_vetoed", lambda *given: False)


@pytest.fixture(scope="module")
def kept():
    """A model whose learned width was judged, and not a word was said."""
    X, y = turned()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return of_turned().fit(X[TRAIN], y[TRAIN])


def test_a_width_that_ruins_the_model_is_not_kept(kept, monkeypatch):
    X, y = turned()
    plain = of_turned(learn_kernel=False).fit(X[TRAIN], y[TRAIN])
    assert kept.kernel_status_ == "labels"
    assert kept.kernel_.gamma == plain.kernel_.gamma == kept.coder_.kernel_.gamma
    assert_allclose(kept.transform(X[TEST]), plain.transform(X[TEST]), atol=1e-8)
    assert_array_equal(kept.predict(X[TEST]), plain.predict(X[TEST]))
    without_veto(monkeypatch)
    ruined = of_turned().fit(X[TRAIN], y[TRAIN])
    assert ruined.kernel_status_ == "learned"
    assert ruined.score(X[TEST], y[TEST]) < kept.score(X[TEST], y[TEST]) - 0.05


def test_the_history_is_that_of_the_run_that_is_kept():
    """The plain objective over J, which is a number as long as the kernel stays."""
    X, y = turned()
    kept = of_turned(max_iter=3, tol=0.0).fit(X[TRAIN], y[TRAIN])
    plain = of_turned(max_iter=3, tol=0.0, learn_kernel=False).fit(X[TRAIN], y[TRAIN])
    K = plain.kernel_(X[TRAIN])
    J = (2.0 - 2.0 * K)[~np.eye(len(K), dtype=bool)].mean()
    assert never_rises(kept.objective_history_)
    assert_allclose(kept.objective_history_ * J, plain.objective_history_, rtol=1e-6)
    assert_array_equal(kept.objective_steps_, plain.objective_steps_)
    assert (kept.n_iter_, kept.n_replaced_) == (plain.n_iter_, plain.n_replaced_)
    assert kept.status_ == plain.status_
    assert_array_equal(kept.kernel_history_, kept.objective_history_[:1])


@pytest.mark.filterwarnings("ignore:.* codes are all zero:UserWarning")
def test_a_width_that_helps_is_kept(monkeypatch):
    X, y = digits(400, labels=True)
    coder = kc.KernelSparseCoder(Gaussian(30.0), alpha=0.01)
    model = kc.SupervisedKernelCoding(coder, 20, max_iter=4, learn_kernel=JOINT)
    kept = clone(model).fit(X[:150], y[:150])
    assert kept.kernel_status_ == "learned"
    assert kept.kernel_.gamma < 10.0
    assert "kernel" in kept.objective_steps_
    start = clone(model).set_params(learn_kernel=False).fit(X[:150], y[:150])
    assert kept.score(X[150:], y[150:]) > start.score(X[150:], y[150:]) + 0.02
    without_veto(monkeypatch)
    assert_array_equal(clone(model).fit(X[:150], y[:150]).predict(X), kept.predict(X))


def test_the_verdict_is_that_of_models_without_the_sample():
    """Codes of samples that are no atoms, each predicted by regression on the others."""
    X, y = digits(100, labels=True)
    coder = kc.KernelSparseCoder(alpha=0.01, tol=1e-9)
    start, verdicts, expected = Gaussian(1.0), [], []

    def loss(kernel):
        codes = clone(coder).set_params(kernel=kernel, atoms=X[:30]).fit(X).transform(X[30:])
        return least_log_loss(regressed(codes, np.eye(10)[y[30:]]), y[30:])

    before = loss(start)
    for gamma in (0.05, 5.0):
        verdict = labels_veto(
            coder.formulation(),
            options_of(coder),
            Gaussian(gamma),
            X,
            PointDictionary(start, X[:30], np.arange(30)),
            JOINT,
            np.random.RandomState(0),
            truth_of(X, y, JOINT),
        )
        verdicts.append(verdict)
        expected.append(loss(Gaussian(gamma)) > before)
    assert verdicts == expected == [True, False]


@pytest.mark.parametrize("init", ["random", "kernel-k-means"])
@pytest.mark.parametrize("n_landmarks", [None, 80])
def test_every_start_is_judged(init, n_landmarks):
    X, y = turned()
    model = of_turned(init=init, n_landmarks=n_landmarks).fit(X[TRAIN], y[TRAIN])
    assert model.kernel_status_ == "labels"
    plain = clone(model).set_params(learn_kernel=False).fit(X[TRAIN], y[TRAIN])
    assert_allclose(model.decision_function(X[TEST]), plain.decision_function(X[TEST]), atol=1e-5)


def test_several_kernels_that_are_kept_say_their_weights():
    X, y = digits(150, labels=True)
    coder = kc.KernelSparseCoder(MultipleKernel([Gaussian(1.0), Linear()]), alpha=0.01)
    model = kc.SupervisedKernelCoding(coder, 20, max_iter=4, learn_kernel=JOINT).fit(X, y)
    assert model.kernel_status_ == "labels"
    assert_allclose(model.kernel_.weights_, [0.5, 0.5])
    assert model.kernel_.children[0].gamma == pytest.approx(1.0)


@AT_A_BOUND
@pytest.mark.parametrize("n_atoms", [1, 2])
def test_few_atoms_are_judged_by_samples_that_are_none(n_atoms):
    """Folds of samples must leave an atom to each."""
    X, y = digits(40, labels=True)
    for seed in range(5):
        model = of_turned(n_atoms=n_atoms, random_state=seed, max_iter=1).fit(X, y)
        assert model.kernel_status_ in ("learned", "labels")


def test_supervision_on_trial_knows_a_joint_kernel():
    """Of a wide kernel codes follow labels, and eta="auto" tries out whether that helps."""
    X, y = digits(150, labels=True)
    coder = kc.KernelSparseCoder(Gaussian(0.01), alpha=0.01)
    joint = kc.SupervisedKernelCoding(coder, 20, max_iter=2, learn_kernel=JOINT).fit(X, y)
    plain = clone(joint).set_params(learn_kernel=False).fit(X, y)
    assert_allclose(joint.eta_, plain.eta_)
    assert joint.training_kept_ == plain.training_kept_


# Stopped ---------------------------------------------------------------------------------------


def test_what_is_stopped_is_not_learned_again():
    X, y = turned()
    steps = []

    def stop(progress):
        steps.append(progress.step)
        return progress.iteration == 2

    model = of_turned(callback=stop).fit(X[TRAIN], y[TRAIN])
    assert model.status_ == "callback"
    assert model.kernel_status_ == "learned"
    assert_array_equal(model.objective_steps_, steps)


@pytest.mark.parametrize("late", [False, True], ids=["before codes", "after a round"])
def test_an_interrupted_second_run_leaves_a_model(late):
    X, y = turned()
    rounds = []

    def interrupt(progress):
        rounds.append(progress.iteration)
        if rounds.count(0) == 2 and (progress.iteration == 1 or not late):
            raise KeyboardInterrupt

    model = of_turned(callback=interrupt)
    message = "interrupted in round" if late else "interrupted while the learned kernel was judged"
    with pytest.warns(UserWarning, match=message) as told:
        model.fit(X[TRAIN], y[TRAIN])
    assert len(told) == 1
    assert late or told[0].filename == __file__
    assert model.status_ == "interrupted"
    assert model.kernel_status_ == ("labels" if late else "learned")
    assert len(model.objective_history_) == len(model.objective_steps_)
    assert ("kernel" in model.objective_steps_) is not late
    assert never_rises(model.objective_history_)
    assert np.isfinite(model.predict_proba(X[TEST])).all()
