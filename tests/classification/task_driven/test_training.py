"""Task-driven training: derivatives against differences, and the estimator as users meet it."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import softmax
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.utils.estimator_checks import parametrize_with_checks

import kernelcoding as kc
from helpers.learning import digits
from helpers.supervised import supervised, task_driven
from kernelcoding import constraints, persistence, priors
from kernelcoding.classification import LinearRule, LogisticRule
from kernelcoding.classification.losses import multinomial
from kernelcoding.classification.task_driven import training, trials
from kernelcoding.classification.task_driven.atom_steps import ANGLES, atom_gradient
from kernelcoding.dictionary import PointDictionary
from kernelcoding.dictionary_learning.frames import LandmarkFrame, SampleFrame
from kernelcoding.dictionary_learning.state import unit_norms
from kernelcoding.formulations import NeighbourFit, Penalised
from kernelcoding.formulations.adjoint import pull_back
from kernelcoding.kernels import Gaussian, Precomputed
from kernelcoding.problem import CodingProblem
from kernelcoding.solvers.result import Options

FORMULATIONS = {
    "sparse": Penalised(priors.L1(), constraints.Free(), 0.05),
    "weighted": Penalised(priors.WeightedL1(np.linspace(0.5, 2, 7)), constraints.Free(), 0.04),
    "elastic net": Penalised(priors.ElasticNet(0.6), constraints.Free(), 0.06),
    "non-negative": Penalised(priors.L1(), constraints.NonNegative(), 0.05),
    "non-negative elastic net": Penalised(priors.ElasticNet(0.5), constraints.NonNegative(), 0.05),
    "ridge": Penalised(priors.Ridge(), constraints.Free(), 0.1),
    "simplex": Penalised(priors.NoPrior(), constraints.Simplex(), 1.0),
    "affine": Penalised(priors.Ridge(), constraints.SumToOne(), 0.1),
    "sparse affine": Penalised(priors.L1(), constraints.SumToOne(), 0.05),
    "local coordinates": Penalised(priors.LocalCoordinate(), constraints.SumToOne(), 0.05),
    "local simplex": Penalised(priors.LocalCoordinate(), constraints.Simplex(), 0.05),
    "neighbours": NeighbourFit(3, 0.02),
    "locality": Penalised(priors.Locality(1.5), constraints.SumToOne(), 0.02),
    "local ridge": Penalised(priors.Locality(0.7), constraints.Free(), 0.05),
    "local simplex ridge": Penalised(priors.Locality(), constraints.Simplex(), 0.02),
}
EVERY_FORMULATION = pytest.mark.parametrize(
    "formulation", FORMULATIONS.values(), ids=list(FORMULATIONS)
)
EXACT = Options(tol=1e-12, max_iter=10_000)
STEP = 1e-5


@pytest.fixture
def rng():
    return np.random.default_rng(3)


@pytest.fixture(scope="module")
def data():
    X, y = digits(220, labels=True)
    return X[:120], y[:120], X[120:], y[120:]


def vectors_problem(D, X):
    """The problem of columns of plain vectors."""
    return CodingProblem((X * X).sum(axis=0), X.T @ D, D.T @ D)


def solved(formulation, problem):
    codes = formulation.solve(problem, EXACT).codes
    return codes.toarray() if hasattr(codes, "toarray") else codes


def supports_stay(formulation, problems):
    """Whether all problems have codes of the same signs, which the derivative assumes."""
    signs = [np.sign(solved(formulation, problem)) for problem in problems]
    return all(np.array_equal(signs[0], others) for others in signs[1:])


# Derivatives -----------------------------------------------------------------------------------


@EVERY_FORMULATION
def test_derivatives_in_similarities_are_those_of_differences(formulation, rng):
    """Each number of cross and gram is moved, codes are computed anew."""
    D, X, pull = rng.normal(size=(9, 7)), rng.normal(size=(9, 5)), rng.normal(size=(5, 7))
    D, X = D / np.linalg.norm(D, axis=0), X / np.linalg.norm(X, axis=0)
    problem = vectors_problem(D, X)
    own, cross, gram = problem.self_similarity, problem.cross, problem.gram

    def loss(cross, gram):
        return float(np.sum(pull * solved(formulation, CodingProblem(own, cross, gram))))

    by_cross, by_gram = pull_back(formulation, problem, solved(formulation, problem), pull)
    for i, j in [(0, 0), (1, 3), (2, 6), (4, 2), (3, 5)]:
        move = np.zeros_like(cross)
        move[i, j] = STEP
        slope = (loss(cross + move, gram) - loss(cross - move, gram)) / (2 * STEP)
        assert_allclose(by_cross[i, j], slope, rtol=1e-5, atol=1e-6)
    for i, j in [(0, 0), (1, 3), (2, 6), (4, 2), (5, 5)]:
        move = np.zeros_like(gram)
        move[i, j] = move[j, i] = STEP
        slope = (loss(cross, gram + move) - loss(cross, gram - move)) / (2 * STEP)
        found = by_gram[i, j] + by_gram[j, i] if i != j else by_gram[i, i]
        assert_allclose(found, slope, rtol=1e-5, atol=1e-6)
    assert np.any(np.abs(by_cross) > 1e-3)


@pytest.mark.parametrize("n_landmarks", [None, 14])
@pytest.mark.parametrize(
    "name",
    [
        "sparse",
        "elastic net",
        "non-negative",
        "simplex",
        "local coordinates",
        "neighbours",
        "locality",
    ],
)
def test_gradients_of_landmark_atoms_are_those_of_differences(name, n_landmarks, rng):
    """The whole pipeline: weights of landmarks, unit norms, coder, softmax loss."""
    formulation = FORMULATIONS[name]
    X = rng.normal(size=(20, 3))
    members = np.eye(3, dtype=bool)[np.arange(20) % 3]
    scorer = rng.normal(size=(7, 3))
    chosen = X if n_landmarks is None else X[:n_landmarks]
    points = PointDictionary(Gaussian(gamma=0.5), chosen, np.arange(len(chosen)))
    frame = SampleFrame(points) if n_landmarks is None else LandmarkFrame(points, X)
    K, cross = Gaussian(gamma=0.5)(chosen), Gaussian(gamma=0.5)(X, chosen)
    A, move = rng.normal(size=(len(chosen), 7)), rng.normal(size=(len(chosen), 7))

    def problem_of(A):
        if formulation.is_cone:
            A = A / np.sqrt(np.einsum("ij,ij->j", A, K @ A))
        return CodingProblem(np.ones(20), cross @ A, A.T @ K @ A)

    def loss(A):
        scores = solved(formulation, problem_of(A)) @ scorer
        return float(multinomial.losses(scores, members, False).sum())

    assert supports_stay(formulation, [problem_of(A + t * move) for t in (-STEP, 0, STEP)])
    slope = (loss(A + STEP * move) - loss(A - STEP * move)) / (2 * STEP)
    vectors, norms = frame.coordinates(K @ A, A), np.ones(7)
    if formulation.is_cone:
        vectors, norms = unit_norms(frame, vectors, vectors)
    samples = frame.samples(np.arange(20))
    problem = CodingProblem(np.ones(20), frame.inner(samples, vectors), frame.gram(vectors))
    codes = solved(formulation, problem)
    pull = multinomial.slopes(codes @ scorer, members, False) @ scorer.T
    gradient = atom_gradient(vectors, samples, *pull_back(formulation, problem, codes, pull))
    if formulation.is_cone:  # along the sphere, divided by the norms that were
        gradient = gradient - vectors * np.diag(frame.inner(vectors, gradient))
    found = np.diag(frame.inner(frame.coordinates(K @ move, move), gradient)) / norms
    assert_allclose(found.sum(), slope, rtol=1e-5)


def test_codes_of_zeros_have_no_derivative(rng):
    problem = vectors_problem(rng.normal(size=(4, 3)), 1e-6 * rng.normal(size=(4, 2)))
    cross, gram = pull_back(FORMULATIONS["sparse"], problem, np.zeros((2, 3)), np.ones((2, 3)))
    assert not cross.any()
    assert not gram.any()


def test_damping_is_a_ridge_of_the_systems_alone(rng):
    D, X, pull = rng.normal(size=(9, 7)), rng.normal(size=(9, 5)), rng.normal(size=(5, 7))
    formulation, problem = FORMULATIONS["sparse"], vectors_problem(D, X)
    codes = solved(formulation, problem)
    found, _ = pull_back(formulation, problem, codes, pull, damping=0.3)
    for i in range(5):
        S = np.flatnonzero(codes[i])
        H = problem.gram[np.ix_(S, S)] + 0.3 * np.eye(len(S))
        assert_allclose(found[i, S], np.linalg.solve(H, pull[i, S]))
        assert np.count_nonzero(found[i]) == len(S)


@pytest.mark.parametrize("name", ["sparse", "simplex"])
def test_equal_atoms_share_a_derivative(name, rng):
    """Their system has no inverse: the shortest solution treats them alike."""
    D, X, pull = rng.normal(size=(9, 4)), rng.normal(size=(9, 5)), rng.normal(size=(5, 4))
    D[:, 3], pull[:, 3] = D[:, 2], pull[:, 2]
    problem, codes = vectors_problem(D, X), np.full((5, 4), 0.25)
    formulation = FORMULATIONS[name]
    found, _ = pull_back(formulation, problem, codes, pull)
    merged = np.concatenate([found[:, :2], found[:, 2:].sum(axis=1, keepdims=True)], axis=1)
    apart = vectors_problem(D[:, :3], X)
    expected, _ = pull_back(formulation, apart, np.full((5, 3), 0.25), pull[:, :3])
    assert_allclose(merged, expected, rtol=1e-8)
    assert_allclose(found[:, 2], found[:, 3], rtol=1e-8)


# The loss --------------------------------------------------------------------------------------


def test_the_classifier_is_multinomial_logistic_regression(rng):
    codes, y = rng.normal(size=(60, 4)), np.arange(60) % 3
    weight = rng.uniform(0.5, 2.0, size=60)
    found, bias = multinomial.fit(codes, np.eye(3, dtype=bool)[y], weight, 0.01, False)
    peer = LogisticRegression(C=1.0 / (0.01 * weight.sum()), tol=1e-10, max_iter=10_000)
    peer.fit(codes, y, sample_weight=weight)
    assert_allclose(found.T, peer.coef_, atol=1e-3)
    assert_allclose(bias - bias.mean(), peer.intercept_ - peer.intercept_.mean(), atol=1e-3)


@pytest.mark.parametrize("multilabel", [False, True])
def test_slopes_are_derivatives_of_losses(multilabel, rng):
    scores = rng.normal(size=(4, 3))
    members = rng.random((4, 3)) < 0.5 if multilabel else np.eye(3, dtype=bool)[[0, 2, 1, 1]]
    found = multinomial.slopes(scores, members, multilabel)
    for j in range(3):
        move = STEP * np.eye(3)[j]
        up = multinomial.losses(scores + move, members, multilabel)
        down = multinomial.losses(scores - move, members, multilabel)
        assert_allclose(found[:, j], (up - down) / (2 * STEP), rtol=1e-6, atol=1e-9)


# The estimator ---------------------------------------------------------------------------------


BATCHES = {
    f"check_sample_weight_equivalence_on_{kind}_data": "batches are drawn from samples"
    for kind in ("dense", "sparse")
}


@parametrize_with_checks(
    [
        kc.SupervisedKernelCoding(  # and its points, in test_task_driven_points.py
            kc.KernelSparseCoder("linear", positive=True),
            n_atoms=4,
            n_landmarks=4,
            max_iter=1,
            training="task-driven",
            classifier=LinearRule(refit=False, class_weight="balanced"),
        ),
    ],
    expected_failed_checks=lambda estimator: BATCHES,
)
def test_scikit_learn_checks(estimator, check, monkeypatch):
    monkeypatch.setattr(training, "RHOS", training.RHOS[::4])  # three to choose from
    check(estimator)


def test_few_atoms_serve_the_classifier_better(data):
    """The control is the same classifier of the codes of an unsupervised dictionary."""
    X, y, Q, labels = data
    control = supervised(eta=1e-9, max_iter=10).fit(X, y)
    model = task_driven(max_iter=10).fit(X, y)
    assert model.training_kept_ == "task-driven"
    assert control.training_kept_ == "joint"
    epochs = model.objective_history_[model.objective_steps_ == "epoch"]
    first = model.objective_history_[np.flatnonzero(model.objective_steps_ == "epoch")[0] - 1]
    assert len(epochs) == 10
    assert epochs.min() < 0.5 * first
    assert model.score(Q, labels) > control.score(Q, labels) + 0.02
    assert_allclose(np.diag(model.dictionary_.gram), 1.0)


def test_nothing_is_learned_from_labels_before_the_epochs(data):
    X, y, *_ = data
    model, plain = (
        task_driven().fit(X, y),
        kc.KernelDictionaryLearning(supervised().coder, n_atoms=12, max_iter=4, tol=0).fit(X, y),
    )
    n = len(plain.objective_history_)
    assert_allclose(model.objective_history_[:n], plain.objective_history_)
    assert_array_equal(model.objective_steps_[:n], plain.objective_steps_)
    begun = ["trial codes", *["trial atoms", "trial codes"] * 4]
    tried = ["trial"] * 5 * len(ANGLES)
    assert list(model.objective_steps_[n:]) == [*begun, *tried, "codes", *["epoch"] * 4]
    assert model.n_iter_ == 4 + 4 + 4 * len(ANGLES) + 4


@pytest.mark.parametrize("classifier", ["linear", "bilinear", "max-margin", "logistic"])
def test_all_that_joint_training_offers(classifier, data, tmp_path):
    X, y, Q, _ = data
    model = task_driven(classifier=classifier, n_landmarks=60).fit(X, y)
    codes = model.transform(Q)
    assert codes.shape == (len(Q), 12)
    assert np.all(model.coder_.certify(Q, codes) < 1e-4)
    assert_allclose(model.predict_proba(Q).sum(axis=1), 1.0)
    persistence.save(model, tmp_path / "model.kc")
    loaded = persistence.load(tmp_path / "model.kc")
    assert loaded.training_kept_ == model.training_kept_
    assert_array_equal(loaded.decision_function(Q), model.decision_function(Q))
    again = task_driven(classifier=classifier, n_landmarks=60).fit(X, y)
    assert_array_equal(again.predict_proba(Q), model.predict_proba(Q))


def test_the_logistic_classifier_is_that_of_the_loss(data):
    """Multinomial logistic regression of plain codes at one scale."""
    X, y, Q, _ = data
    model = task_driven(classifier=LogisticRule(rho=0.01)).fit(X, y)
    assert model.rho_ == 0.01
    codes = model.transform(X)
    scale = 1.0 / np.sqrt(np.mean(codes**2))
    peer = LogisticRegression(C=1.0 / (0.01 * len(X)), tol=1e-10, max_iter=10_000)
    peer.fit(scale * codes, y)
    scores = peer.decision_function(scale * model.transform(Q))
    found = model.decision_function(Q)
    assert_allclose(
        found - found.mean(axis=1, keepdims=True),
        scores - scores.mean(axis=1, keepdims=True),
        atol=2e-2,
    )
    without = task_driven(classifier=LogisticRule(fit_intercept=False)).fit(X, y)
    assert not without.classifier_.bias.any()


def test_probabilities_are_calibrated_for_the_last_classifier(data):
    X, y, Q, labels = data
    model = task_driven(classifier="logistic", max_iter=10).fit(X, y)
    found = log_loss(labels, model.predict_proba(Q))
    scores = model.decision_function(Q)
    assert found < 1.1 * min(log_loss(labels, softmax(t * scores, axis=1)) for t in (0.25, 0.5, 1))


def test_without_refit_the_classifier_of_the_epochs_stays(data):
    X, y, Q, labels = data
    model = task_driven(classifier=LinearRule(refit=False)).fit(X, y)
    assert model.classifier_ is model.joint_classifier_
    assert model.score(Q, labels) > 0.7


@pytest.mark.parametrize("name", list(FORMULATIONS))
def test_every_coder_with_a_derivative(name, monkeypatch, data):
    """Whatever the trial says: epochs lower the loss of samples that they see."""
    monkeypatch.setattr(trials, "mean_and_error", lambda values, weights: (-1.0, 0.0))
    X, y, Q, labels = data
    one = FORMULATIONS[name]
    if isinstance(one, NeighbourFit):
        coder = kc.KernelLLC(Gaussian(gamma=1.5), n_neighbors=5, regularization=0.02)
    else:
        weights = np.linspace(1.0, 2.0, 12)
        prior = priors.WeightedL1(weights) if name == "weighted" else one.prior
        coder = kc.KernelCoder(
            Gaussian(gamma=1.5), prior=prior, constraint=one.constraint, alpha=one.alpha
        )
    model = task_driven(coder).fit(X, y)
    assert model.training_kept_ == "task-driven"
    assert model.score(Q, labels) > 0.6
    steps, history = list(model.objective_steps_), model.objective_history_
    assert history[-4:].min() < 0.8 * history[steps.index("epoch") - 1]


def test_several_labels_and_precomputed_kernels(data):
    X, y, Q, labels = data
    several, truth = (np.stack([z % 2 == 0, z > 4, z % 3 == 0], axis=1) for z in (y, labels))
    several = several.astype(int)
    model = task_driven().fit(X, several)
    assert np.mean(model.predict(Q) == truth) > 0.75
    kernel = Gaussian(gamma=1.5)
    given = task_driven(kc.KernelSparseCoder(Precomputed(), alpha=0.05)).fit(kernel(X), several)
    assert_allclose(given.decision_function(kernel(Q, X)), model.decision_function(Q), atol=1e-4)
