"""Learning the kernel never ruins a model: what it refuses to follow, and what it says."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.model_selection import cross_val_score

import kernelcoding as kc
from helpers.histograms import documents
from helpers.kernel_learning import AT_A_BOUND, followed
from helpers.learning import digits
from kernelcoding.kernel_learning.ratio import Vanishing
from kernelcoding.kernels import ChiSquared, Fixed, Gaussian, Linear

RUNS_AWAY = "falls as far as the data bound it, gamma=.* the start, .* is kept"


def median_width(kernel, X):
    return type(kernel)("median").resolve(X).gamma


@pytest.mark.filterwarnings("ignore:The ratio of kernel learning falls until codes:UserWarning")
@pytest.mark.parametrize("kernel", [Gaussian("median"), ChiSquared("median")], ids=str)
@pytest.mark.parametrize("alpha", [0.001, 0.3])
def test_no_seed_loses_the_codes_of_histograms(kernel, alpha):
    """Without guards the width ends at a hundred medians, where every code is zero."""
    X, y = documents()
    train, test = slice(0, None, 2), slice(1, None, 2)
    coder = kc.KernelSparseCoder(kernel, alpha=alpha)
    plain = kc.ResidualClassifier(coder).fit(X[train], y[train])
    silent_before = np.mean(~plain.coder_.transform(X[test]).any(axis=1))
    score_before, widths = plain.score(X[test], y[test]), []
    for seed in range(3):
        learning = clone(coder).set_params(learn_kernel=True, random_state=seed)
        learned = learning.fit(X[train])
        codes = learned.transform(X[test])
        silent = np.mean(~codes.any(axis=1))
        assert silent <= silent_before + 0.05
        widths.append(learned.kernel_.gamma)
        atoms = clone(coder).set_params(kernel=learned.kernel_)
        score = kc.ResidualClassifier(atoms).fit(X[train], y[train]).score(X[test], y[test])
        assert score >= score_before - 0.05
    # Seeds differ by the folds of atoms alone: they agree within a tenth, or keep the start.
    start = median_width(kernel, X[train])
    moved = [width for width in widths if width != start]
    assert_allclose(moved, np.median(moved) if moved else [], rtol=0.1)
    assert len(moved) in (0, 3)


def test_widths_at_which_codes_vanish_are_refused():
    X, _ = documents()
    coder = kc.KernelSparseCoder(Gaussian("median"), alpha=0.3, learn_kernel=True)
    with pytest.warns(
        UserWarning, match="falls until codes vanish, gamma=.* smaller alpha"
    ) as told:
        coder.fit(X)
    assert len(told) == 1
    assert coder.kernel_status_ == "vanishing"
    assert coder.kernel_.gamma == median_width(Gaussian(), X)
    ratio, start = followed(coder, X, 0), np.log([median_width(Gaussian(), X)])
    assert ratio.start_from(start) > 0.26
    assert ratio.silent == 0.0
    for evaluate in (ratio, ratio.value):
        with pytest.raises(Vanishing):
            evaluate(start + np.log(30.0))
    assert ratio.silent == 1.0
    free = followed(coder, X, 0)
    assert_allclose(free.value(start + np.log(30.0)), 0.25, rtol=1e-3)  # no coding at all


def test_codes_that_vanish_at_the_start_already_may_be_fewer():
    X = digits(80)
    start = 200.0 * median_width(Gaussian(), X)
    coder = kc.KernelSparseCoder(Gaussian(start), alpha=0.05, learn_kernel=True)
    plain = clone(coder).set_params(learn_kernel=False, atoms=X[:40]).fit(X)
    with pytest.warns(UserWarning, match="All codes are zero"):
        plain.transform(X[40:])
    assert coder.fit(X).kernel_.gamma < 0.05 * start
    assert coder.kernel_status_ == "learned"


def test_a_flat_ratio_keeps_the_start():
    """A width that hardly counts beside a kernel that is held."""
    X = digits(80)
    kernel = Fixed(1e4 * Linear()) + Gaussian(1.0)
    coder = kc.KernelSparseCoder(kernel, alpha=1e3, learn_kernel=True).fit(X)
    assert coder.kernel_.kernels[1].gamma == 1.0
    assert coder.kernel_status_ == "flat"
    assert len(coder.kernel_history_) == 1


@pytest.mark.parametrize("coder", [kc.KernelLLC(n_neighbors=5), kc.KernelLCC()], ids=str)
@pytest.mark.parametrize("inside", [False, True], ids=["coder", "dictionary learning"])
def test_a_ratio_that_falls_to_its_bound_keeps_the_start_and_says_so_once(coder, inside):
    X = digits(100)
    model = clone(coder).set_params(kernel=Gaussian("median"))
    model = (
        kc.KernelDictionaryLearning(model, n_atoms=20, max_iter=2, learn_kernel=True)
        if inside
        else model.set_params(learn_kernel=True)
    )
    with pytest.warns(UserWarning, match=RUNS_AWAY) as caught:
        model.fit(X)
    assert len(caught) == 1
    assert 'criterion="held-out"' in str(caught[0].message)
    assert caught[0].filename == __file__
    assert model.kernel_.gamma == median_width(Gaussian(), X)
    assert model.kernel_status_ == "bound"


def test_a_bound_that_was_given_is_honoured_and_told():
    X = digits(100)
    width = median_width(Gaussian(), X)
    settings = kc.KernelLearning(bounds=(0.01 * width, 10 * width))
    coder = kc.KernelLLC(Gaussian(width), n_neighbors=5, learn_kernel=settings)
    with pytest.warns(UserWarning, match="ended at a bound that was given, gamma=.* wider bounds"):
        coder.fit(X)
    assert_allclose(coder.kernel_.gamma, 0.01 * width, rtol=0.05)
    assert coder.kernel_status_ == "learned"


def test_one_parameter_that_runs_away_leaves_the_others_to_learn():
    X = digits(80)
    kernel = 2.0 * Gaussian(20.0)
    coder = kc.KernelSparseCoder(kernel, alpha=0.05, learn_kernel=True)
    with pytest.warns(UserWarning, match="falls as far as the data bound it, scale="):
        coder.fit(X)
    assert coder.kernel_.scale == pytest.approx(2.0)
    assert coder.kernel_.kernel.gamma < 10.0
    assert coder.kernel_status_ == "learned"


# Labels ----------------------------------------------------------------------------------------


def test_labels_veto_a_width_that_predicts_them_worse():
    """A board of two colours whose fields a wide kernel does not see."""
    X = np.random.default_rng(0).uniform(0.0, 5.0, size=(150, 2))
    y = np.floor(X).sum(axis=1).astype(int) % 2
    coder = kc.KernelSparseCoder(Gaussian(3.0), alpha=1e-4, learn_kernel=True)
    without = clone(coder).fit(X)
    assert without.kernel_status_ == "learned"
    plain, scores = clone(coder).set_params(learn_kernel=False), []
    for kernel in (Gaussian(3.0), without.kernel_):
        model = kc.ResidualClassifier(clone(plain).set_params(kernel=kernel))
        scores.append(cross_val_score(model, X, y).mean())
    assert scores[1] < scores[0]
    judged = clone(coder).fit(X, y)
    assert judged.kernel_.gamma == 3.0
    assert judged.kernel_status_ == "labels"


def test_labels_do_not_veto_what_helps_them():
    X, y = digits(200, labels=True)
    start = Gaussian(50.0 * median_width(Gaussian(), X))
    coder = kc.KernelSparseCoder(start, alpha=0.02, learn_kernel=True)
    assert clone(coder).fit(X, y).kernel_.gamma == clone(coder).fit(X).kernel_.gamma


@pytest.mark.parametrize("y", [np.linspace(0, 1, 100), np.zeros(100)], ids=["numbers", "one class"])
def test_targets_that_are_no_classes_have_no_veto(y):
    X = digits(100)
    coder = kc.KernelSparseCoder(alpha=0.001, learn_kernel=True)
    assert clone(coder).fit(X, y).kernel_.gamma == clone(coder).fit(X).kernel_.gamma


@AT_A_BOUND
def test_nothing_is_said_where_nothing_happened():
    X, y = digits(100, labels=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kc.KernelSparseCoder(alpha=0.05, learn_kernel=True).fit(X, y)
