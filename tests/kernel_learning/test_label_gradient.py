"""Derivatives of the loss of labels left out, against differences, and the search with them."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import kernelcoding as kc
from helpers.kernel_learning import AT_A_BOUND
from helpers.learning import digits
from kernelcoding import constraints, priors
from kernelcoding.dictionary import CombinationDictionary, PointDictionary
from kernelcoding.formulations import NeighbourFit, Penalised
from kernelcoding.kernel_learning.held_out import Problems
from kernelcoding.kernel_learning.label_gradient import has_gradient, in_codes, value_and_gradient
from kernelcoding.kernel_learning.label_loss import LabelLoss, Regression, truth_of
from kernelcoding.kernels import Gaussian, Linear, MultipleKernel, Sigmoid, View
from kernelcoding.solvers.result import Options

SETTINGS = kc.KernelLearning(criterion="held-out")
STEP = 1e-5
FORMULATIONS = {
    "sparse": Penalised(priors.L1(), constraints.Free(), 0.02),
    "non-negative": Penalised(priors.L1(), constraints.NonNegative(), 0.02),
    "ridge": Penalised(priors.Ridge(), constraints.Free(), 0.05),
    "local coordinates": Penalised(priors.LocalCoordinate(), constraints.SumToOne(), 0.05),
    "neighbours": NeighbourFit(5, 0.02),
}
KERNELS = {
    "width": Gaussian(0.2),
    "two widths": MultipleKernel(
        [View(slice(0, 32), Gaussian(0.3)), View(slice(32, 64), Gaussian(0.2))], [0.6, 0.4]
    ),
    "width and line": MultipleKernel([Gaussian(0.2), Linear()], [0.7, 0.1]),
}


def label_loss(formulation, kernel, rule, several=False, learned=False, noise=False):
    """Of digits of three classes, some labels wrong, without their folds or with learned atoms."""
    X, y = digits(120, labels=True)
    X, y = X[y < 3], y[y < 3]
    y[::5] = (y[::5] + 1) % 3
    y = np.random.default_rng(0).permutation(y) if noise else y
    target = np.stack([y == 0, y > 0], axis=1).astype(int) if several else y
    dictionary = PointDictionary(kernel, X, np.arange(len(X)))
    if learned:
        weights = np.random.default_rng(0).uniform(size=(len(X), 6))
        dictionary = CombinationDictionary(dictionary, weights / 4.0)
    options = Options(tol=1e-12, max_iter=10_000)
    problems = Problems(
        formulation, options, kernel, X, dictionary, SETTINGS, np.random.RandomState(0)
    )
    truth = truth_of(X, target, SETTINGS)
    if rule == "residual":
        truth = truth.of_atoms(np.arange(len(X)))
    return LabelLoss(problems, problems.of(problems.samples), len(X), truth, rule)


def differences(loss, theta):
    """Of the mean loss, one parameter after the other."""
    found = np.empty(len(theta))
    for i, step in enumerate(STEP * np.eye(len(theta))):
        found[i] = (loss(theta + step).mean() - loss(theta - step).mean()) / (2.0 * STEP)
    return found


def check(loss, kernel):
    theta = loss.coded.normalised(kernel.theta)
    losses, gradient = value_and_gradient(loss, theta)
    assert_allclose(losses, loss(theta), rtol=1e-9)
    assert_allclose(gradient, differences(loss, theta), rtol=2e-4, atol=2e-6)
    assert np.abs(gradient).max() > 1e-4


@pytest.mark.parametrize("rule", ["residual", "ridge"])
@pytest.mark.parametrize("kernel", KERNELS.values(), ids=list(KERNELS))
@pytest.mark.parametrize("formulation", FORMULATIONS.values(), ids=list(FORMULATIONS))
def test_the_gradient_is_that_of_differences(formulation, kernel, rule):
    check(label_loss(formulation, kernel, rule), kernel)


def test_several_labels_learned_atoms_and_indefinite_kernels():
    sparse = FORMULATIONS["sparse"]
    check(label_loss(sparse, KERNELS["two widths"], "ridge", several=True), KERNELS["two widths"])
    check(label_loss(sparse, KERNELS["width"], "ridge", learned=True), KERNELS["width"])
    both = MultipleKernel([Gaussian(0.2), Sigmoid(0.02, coef0=-0.5)], [0.7, 0.3])
    check(label_loss(sparse, both, "residual"), both)


@pytest.mark.parametrize("rule", ["residual", "ridge"])
def test_scores_that_mislead_are_held_at_the_end_of_temperatures(rule):
    """There the temperature moves with the size of scores: it is no longer the best."""
    kernel = KERNELS["two widths"]
    loss = label_loss(FORMULATIONS["ridge"], kernel, rule, noise=True)
    theta = loss.coded.normalised(kernel.theta)
    losses, gradient = value_and_gradient(loss, theta)
    assert_allclose(losses.mean(), np.log(3.0), atol=1e-3)
    assert_allclose(gradient, differences(loss, theta), rtol=1e-3, atol=1e-9)


def test_derivatives_of_regression_in_codes():
    rng = np.random.default_rng(1)
    codes, targets, slopes = (
        rng.normal(size=(12, 4)),
        rng.normal(size=(12, 2)),
        rng.normal(size=(12, 2)),
    )
    found = in_codes(Regression.of(codes, targets), codes, targets, slopes)
    for place in ((0, 0), (5, 3), (11, 1)):
        step = np.zeros_like(codes)
        step[place] = 1e-6
        values = [
            np.sum(slopes * Regression.of(codes + sign * step, targets).scores) for sign in (1, -1)
        ]
        assert_allclose(found[place], (values[0] - values[1]) / 2e-6, rtol=1e-5, atol=1e-7)


def test_codes_without_a_derivative_are_searched_step_by_step():
    X, y = digits(60, labels=True)
    kernel = KERNELS["two widths"]
    greedy = kc.KernelMatchingPursuit(kernel, n_nonzero=3, learn_kernel=SETTINGS).fit(X, y)
    assert greedy.kernel_status_ in ("learned", "labels")
    assert not has_gradient(label_loss(kc.KernelMatchingPursuit().formulation(), kernel, "ridge"))


@AT_A_BOUND  # the width of a view without weight
def test_several_parameters_follow_the_gradient():
    """The loss ends where no parameter lowers it by much, and the useless view is turned off."""
    rng = np.random.default_rng(0)
    y = np.arange(90) % 3
    centres = 1.5 * np.array([[0, 0], [1, 0], [0, 1]])
    X = np.hstack([centres[y] + 0.4 * rng.normal(size=(90, 2)), rng.normal(size=(90, 2))])
    views = [View(slice(0, 2), Gaussian(0.05)), View(slice(2, 4), Gaussian(0.05))]
    settings = kc.KernelLearning(criterion="held-out", rule="ridge")
    model = kc.KernelSparseCoder(MultipleKernel(views), alpha=0.01, learn_kernel=settings).fit(X, y)
    assert model.kernel_status_ == "learned"
    assert model.kernel_.weights_[0] > 0.8 * np.sum(model.kernel_.weights_)
    assert np.all(np.diff(model.kernel_history_) < 0)
    assert model.kernel_objective_ < 0.7 * model.kernel_history_[0]
