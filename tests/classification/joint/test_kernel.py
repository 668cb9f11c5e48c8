"""The kernel as a half-step of supervised coding: one objective, one history."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone

import kernelcoding as kc
from helpers.kernel_learning import AT_A_BOUND
from helpers.learning import digits, never_rises
from kernelcoding.classification.joint.kernel import JointKernelLearner
from kernelcoding.classification.joint.learner import Supervision
from kernelcoding.classification.labels import Labels
from kernelcoding.classification.rules import LinearRule
from kernelcoding.coders.base import options_of
from kernelcoding.codes import dense
from kernelcoding.dictionary import PointDictionary
from kernelcoding.dictionary_learning.frames import LandmarkFrame, SampleFrame
from kernelcoding.kernels import (
    Fixed,
    Gaussian,
    Laplacian,
    Linear,
    MultipleKernel,
    Polynomial,
    Sigmoid,
)
from kernelcoding.problem import CodingProblem

JOINT = kc.KernelLearning(criterion="joint")
CODERS = {
    "sparse": kc.KernelSparseCoder(alpha=0.02, tol=1e-10),
    "positive": kc.KernelSparseCoder(alpha=0.02, positive=True, tol=1e-10),
    "lcc": kc.KernelLCC(alpha=0.05, tol=1e-10),
    "llc": kc.KernelLLC(n_neighbors=None, alpha=0.05, sigma=0.7),
}
KERNELS = {
    "gaussian": Gaussian(0.4),
    "sum": Gaussian(0.4) + 0.3 * Laplacian(0.1),
    "polynomial": Polynomial(degree=2, gamma=0.2, coef0=0.7),
    "multiple": MultipleKernel([Gaussian(0.4), Linear()], [0.6, 0.3]),
}


def supervised(coder=None, **params):
    coder = kc.KernelSparseCoder(Gaussian("median"), alpha=0.01) if coder is None else coder
    given = {"n_atoms": 20, "max_iter": 4, "random_state": 0, "learn_kernel": JOINT} | params
    return kc.SupervisedKernelCoding(coder, **given)


def learner(coder, kernel, n_landmarks, rng, eta=0.7):
    """A learner after its first codes and classifier, and all that it was made of."""
    X, y = rng.normal(size=(30, 3)), np.arange(30) % 3
    X += np.eye(3)[y]
    index = np.arange(30) if n_landmarks is None else np.arange(0, 30, 30 // n_landmarks)
    landmarks = PointDictionary(kernel, X[index], index)
    frame = SampleFrame(landmarks) if n_landmarks is None else LandmarkFrame(landmarks, X)
    weights = rng.normal(size=(len(index), 6)) / 4.0 + np.eye(len(index), 6)
    vectors = frame.coordinates(landmarks.facts.double @ weights, weights)
    labels = Labels.of(y)
    wanted = Supervision(LinearRule(), labels, labels.targets(False), np.ones(30), 1.0, eta, 0.3)
    formulation = clone(coder).set_params(kernel=kernel).formulation()
    args = frame, vectors, formulation, options_of(coder), wanted, rng, X, JOINT
    found = JointKernelLearner(*args)
    found.code()
    return found, X, X[index]


@pytest.mark.parametrize("coder", CODERS.values(), ids=CODERS.keys())
@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS.keys())
@pytest.mark.parametrize("n_landmarks", [None, 10])
def test_gradient_of_the_whole_objective(coder, kernel, n_landmarks, rng):
    """Central differences of the minimum over codes, labels and classifier's penalty included."""
    found, X, points = learner(coder, kernel, n_landmarks, rng)
    theta = kernel.theta
    ratio = found.ratio()
    ratio.start_from(theta)  # what the regulariser of several kernels is measured by
    value, gradient = ratio(theta)
    expected, step = np.empty_like(theta), 1e-4
    for i in range(len(theta)):
        ends = [theta + sign * step * np.eye(len(theta))[i] for sign in (1, -1)]
        ahead, behind = (ratio.value(end) for end in ends)
        expected[i] = (ahead - behind) / (2 * step)
    assert_allclose(gradient, expected, rtol=2e-3, atol=1e-5 * value)
    if not isinstance(kernel, MultipleKernel):
        assert_allclose(found.ratio().value(theta), minimum(found, kernel, X, points), rtol=1e-6)


def minimum(found, kernel, X, points):
    """The objective at the learner's own codes of a last pass, written out, over J."""
    found.now = found.now.__class__(found.now.vectors, None, found.now.classifier)
    found.code()
    weights = found.frame.weights(found.now.vectors)
    K = kernel(points)
    distances = np.diag(K)[:, None] + np.diag(K) - 2.0 * K
    J = distances[~np.eye(len(K), dtype=bool)].mean()
    gram, cross, own = weights.T @ K @ weights, kernel(X, points) @ weights, kernel.diagonal(X)
    codes = dense(found.now.codes)
    error = own - 2.0 * np.sum(codes * cross, axis=1) + np.sum((codes @ gram) * codes, axis=1)
    scores = codes @ found.classifier.weights + found.classifier.bias
    loss = 0.5 * np.sum((found.targets - scores) ** 2, axis=1)
    penalty = 0.5 * found.rho * np.sum(found.classifier.weights**2)
    prior = found.formulation.value(CodingProblem(own, cross, gram), codes)
    return (np.mean(0.5 * error + prior + found.eta * loss) + penalty) / J


@AT_A_BOUND
@pytest.mark.parametrize("classifier", ["linear", "max-margin", "logistic"])
@pytest.mark.parametrize("n_landmarks", [None, 60])
@pytest.mark.parametrize("kernel", [Gaussian("median"), MultipleKernel([Gaussian(3.0), Linear()])],
                         ids=str)  # fmt: skip
def test_one_history_of_all_half_steps_never_rises(classifier, n_landmarks, kernel):
    X, y = digits(150, labels=True)
    coder = kc.KernelSparseCoder(kernel, alpha=0.01)
    model = supervised(coder, classifier=classifier, n_landmarks=n_landmarks).fit(X, y)
    assert list(model.objective_steps_[:5]) == ["codes", "atoms", "kernel", "codes", "classifier"]
    assert never_rises(model.objective_history_)
    assert_allclose(model.kernel_history_, model.objective_history_[2::4])
    assert model.kernel_status_ == "learned"
    assert model.kernel_ is model.dictionary_.kernel or (
        repr(model.kernel_) == repr(model.dictionary_.kernel)
    )
    assert_allclose(model.kernel_.theta, model.coder_.kernel_.theta)
    assert np.isfinite(model.predict_proba(X[:5])).all()


def test_the_history_ends_at_the_objective_of_what_was_learned():
    X, y = digits(150, labels=True)
    model = supervised(classifier="linear", eta=0.5, max_iter=3, tol=0.0).fit(X, y)
    assert never_rises(model.objective_history_)
    K = model.kernel_(X)
    distances = np.diag(K)[:, None] + np.diag(K) - 2.0 * K
    J = distances[~np.eye(len(K), dtype=bool)].mean()
    W, b = model.joint_classifier_.weights, model.joint_classifier_.bias
    A = np.asarray(model.dictionary_.weights)
    gram, cross = A.T @ K @ A, K @ A
    assert_allclose(np.diag(gram), 1.0)
    targets = np.eye(10)[y]
    # Codes that look at labels: those of the problem with the scores as further coordinates.
    problem = CodingProblem(
        np.diag(K) + 0.5 * np.sum((targets - b) ** 2, axis=1),
        cross + 0.5 * (targets - b) @ W.T,
        gram + 0.5 * W @ W.T,
    )
    coder = kc.KernelSparseCoder(alpha=0.01, tol=1e-9)
    codes = coder.formulation().solve(problem, options_of(coder)).codes
    mean = np.mean(0.5 * problem.squared_error(codes) + 0.01 * np.abs(codes).sum(axis=1))
    found = (mean + 0.5 * model.rho_ * np.sum(W**2)) / J
    assert_allclose(found, model.objective_history_[-1], rtol=2e-3)


def test_labels_move_the_width():
    """Learned before, by the ratio, it does not know what labels weigh."""
    X, y = digits(200, labels=True)
    widths = [supervised(eta=eta).fit(X, y).kernel_.gamma for eta in (1e-6, 50.0)]
    assert abs(np.log(widths[0] / widths[1])) > 0.05
    before = [
        supervised(eta=eta, learn_kernel=True).fit(X, y).kernel_.gamma for eta in (1e-6, 50.0)
    ]
    assert before[0] == before[1]


def test_bounds_are_honoured_and_told():
    X, y = digits(120, labels=True)
    width = Gaussian("median").resolve(X).gamma
    settings = kc.KernelLearning(criterion="joint", bounds=(0.9 * width, 1.1 * width))
    coder = kc.KernelSparseCoder(Gaussian(width), alpha=1e-4)
    with pytest.warns(UserWarning, match="ended at a bound that was given, gamma="):
        model = supervised(coder, learn_kernel=settings).fit(X, y)
    assert 0.9 * width * (1 - 1e-9) <= model.kernel_.gamma <= 1.1 * width * (1 + 1e-9)


@pytest.mark.parametrize(
    ("params", "fit", "message"),
    [
        ({"classifier": "bilinear"}, {}, 'scores that depend on codes alone.*"held-out"'),
        ({"training": "task-driven"}, {}, r'training="joint"\)\. Here use criterion="held-out"'),
        ({}, {"sample_weight": np.ones(60)}, "counts all samples alike.*criterion"),
        (
            {"coder": kc.KernelSparseCoder(Sigmoid(0.1))},
            {},
            "known to be positive definite, got Sigmoid",
        ),
        ({"coder": kc.KernelSparseCoder("linear")}, {}, "has no parameter to learn"),
        (
            {"learn_kernel": kc.KernelLearning(criterion="joint", rounds=1)},
            {},
            "every round of the atoms, got rounds=1. Use rounds=0",
        ),
    ],
    ids=["bilinear", "task-driven", "weights", "indefinite", "no parameter", "rounds"],
)
def test_what_joint_learning_refuses(params, fit, message):
    X, y = digits(60, labels=True)
    with pytest.raises(ValueError, match=message):
        supervised(**params).fit(X, y, **fit)


@pytest.mark.parametrize(
    "model",
    [
        kc.KernelSparseCoder(learn_kernel=JOINT),
        kc.KernelLLC(learn_kernel=JOINT),
        kc.KernelDictionaryLearning(n_atoms=5, learn_kernel=JOINT),
        kc.KernelDictionaryLearning(n_atoms=20, learn_kernel=JOINT, per_class=True),
    ],
    ids=str,
)
def test_without_a_classifier_there_is_nothing_to_be_joint_with(model):
    X, y = digits(60, labels=True)
    with pytest.raises(ValueError, match=r'SupervisedKernelCoding.*"held-out" with labels'):
        model.fit(X, y)


def test_several_kernels_say_their_weights():
    X, y = digits(100, labels=True)
    kernel = MultipleKernel([Fixed(Gaussian(1.0)), Fixed(Linear())])
    model = supervised(kc.KernelSparseCoder(kernel, alpha=0.01)).fit(X, y)
    assert_allclose(model.kernel_.weights_, model.kernel_.current_weights)
    assert model.kernel_.weights_.shape == (2,)
