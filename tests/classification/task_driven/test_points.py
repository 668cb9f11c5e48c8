"""Task-driven training of points, and with samples made from training samples."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.metrics import log_loss
from sklearn.utils.estimator_checks import parametrize_with_checks

import kernelcoding as kc
from helpers.learning import digits
from helpers.supervised import supervised, task_driven
from kernelcoding import constraints, persistence, priors
from kernelcoding.classification.losses import multinomial
from kernelcoding.classification.task_driven import training, trials
from kernelcoding.classification.task_driven.atom_steps import ANGLES
from kernelcoding.classification.task_driven.points import PointFrame, PointSteps, point_gradient
from kernelcoding.dictionary import PointDictionary
from kernelcoding.dictionary_learning.frames import LandmarkFrame
from kernelcoding.formulations import NeighbourFit, Penalised
from kernelcoding.formulations.adjoint import pull_back
from kernelcoding.kernels import Gaussian, Precomputed
from kernelcoding.problem import CodingProblem
from kernelcoding.solvers.result import Options

EXACT = Options(tol=1e-12, max_iter=10_000)
STEP = 1e-5
FORMULATIONS = {
    "sparse": Penalised(priors.L1(), constraints.Free(), 0.05),
    "non-negative": Penalised(priors.L1(), constraints.NonNegative(), 0.05),
    "simplex": Penalised(priors.NoPrior(), constraints.Simplex(), 1.0),
    "local coordinates": Penalised(priors.LocalCoordinate(), constraints.SumToOne(), 0.05),
    "locality": Penalised(priors.Locality(), constraints.SumToOne(), 0.02),
    "neighbours": NeighbourFit(3, 0.02),
}


@pytest.fixture(scope="module")
def data():
    X, y = digits(220, labels=True)
    return X[:120], y[:120], X[120:], y[120:]


def shifted(X, random_state):
    """Images of 8 x 8 pixels, moved by a pixel or not, edges filled with zeros."""
    images = np.pad(X.reshape(-1, 8, 8), [(0, 0), (1, 1), (1, 1)])
    down, right = random_state.randint(0, 3, size=(2, len(X)))
    rows, columns = down[:, None] + np.arange(8), right[:, None] + np.arange(8)
    moved = images[np.arange(len(X))[:, None, None], rows[:, :, None], columns[:, None, :]]
    return moved.reshape(len(X), -1)


# Points ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", list(FORMULATIONS))
def test_gradients_of_points_are_those_of_differences(name):
    """The whole pipeline: points, kernel, coder, softmax loss."""
    rng, formulation, kernel = np.random.default_rng(5), FORMULATIONS[name], Gaussian(gamma=0.4)
    X, points, move = (rng.normal(size=(n, 3)) for n in (20, 7, 7))
    members, scorer = np.eye(3, dtype=bool)[np.arange(20) % 3], rng.normal(size=(7, 3))

    def problem_of(points):
        return CodingProblem(np.ones(20), kernel(X, points), kernel(points))

    def coded(points):
        codes = formulation.solve(problem_of(points), EXACT).codes
        return codes.toarray() if hasattr(codes, "toarray") else codes

    def loss(points):
        return float(multinomial.losses(coded(points) @ scorer, members, False).sum())

    signs = [np.sign(coded(points + t * move)) for t in (-STEP, 0.0, STEP)]
    assert np.array_equal(signs[0], signs[1])
    assert np.array_equal(signs[1], signs[2])
    slope = (loss(points + STEP * move) - loss(points - STEP * move)) / (2 * STEP)
    codes, problem = coded(points), problem_of(points)
    pull = multinomial.slopes(codes @ scorer, members, False) @ scorer.T
    derivatives = pull_back(formulation, problem, codes, pull)
    gradient = point_gradient(points.T, X.T, problem, *derivatives)
    assert_allclose(2 * 0.4 * np.sum(gradient * move.T), slope, rtol=1e-5)


def test_a_step_of_a_point_is_an_angle_in_the_hilbert_space():
    """The first step against any gradient has the size that atoms of H have, too."""
    rng, kernel = np.random.default_rng(0), Gaussian(gamma=0.7)
    frame, points = PointFrame(kernel, rng.normal(size=(5, 2))), rng.normal(size=(2, 3))
    steps = PointSteps(frame, n_steps=10, angle=ANGLES[0])
    moved = steps.take(points, rng.normal(size=(2, 3)))
    cosines = np.diag(frame.inner(points, moved))
    assert_allclose(np.arccos(cosines), ANGLES[0], rtol=0.01)


def test_points_serve_the_classifier_better_and_are_all_that_is_kept(data, tmp_path):
    X, y, Q, labels = data
    control = task_driven(update="points", max_iter=10, callback=lambda p: p.step == "trial")
    control.fit(X, y)
    model = task_driven(update="points", max_iter=10).fit(X, y)
    assert model.training_kept_ == "task-driven"
    assert isinstance(model.dictionary_, PointDictionary)
    assert model.dictionary_.points.shape == (12, X.shape[1])
    assert model.score(Q, labels) > control.score(Q, labels)
    assert_allclose(model.predict_proba(Q).sum(axis=1), 1.0)
    persistence.save(model, tmp_path / "points.kc")
    loaded = persistence.load(tmp_path / "points.kc")
    assert_array_equal(loaded.decision_function(Q), model.decision_function(Q))
    persistence.save(task_driven(max_iter=10).fit(X, y), tmp_path / "combinations.kc")
    sizes = [(tmp_path / f"{name}.kc").stat().st_size for name in ("points", "combinations")]
    assert sizes[0] < 0.4 * sizes[1]


def test_points_that_training_would_not_help_are_those_of_dictionary_learning(monkeypatch, data):
    X, y, Q, _ = data
    monkeypatch.setattr(trials, "mean_and_error", lambda values, weights: (0.0, 1.0))
    weight = np.linspace(0.5, 1.5, len(X))
    model = task_driven(update="points").fit(X, y, sample_weight=weight)
    assert model.training_kept_ == "unsupervised"
    plain = kc.KernelDictionaryLearning(
        supervised().coder, n_atoms=12, max_iter=4, tol=0, update="points"
    ).fit(X, y, sample_weight=weight)
    assert_array_equal(model.dictionary_.points, plain.dictionary_.points)
    assert_array_equal(model.transform(Q), plain.transform(Q))


@parametrize_with_checks(
    [
        kc.SupervisedKernelCoding(
            n_atoms=4, max_iter=1, training="task-driven", update="points", classifier="logistic"
        )
    ],
    expected_failed_checks=lambda estimator: {
        "check_sample_weight_equivalence_on_dense_data": "batches are drawn from samples"
    },
)
def test_scikit_learn_checks_of_points(estimator, check, monkeypatch):
    monkeypatch.setattr(training, "RHOS", training.RHOS[::4])  # three to choose from
    check(estimator)


# Augmentation ----------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [{}, {"n_landmarks": 60}, {"update": "points"}])
def test_samples_that_a_function_leaves_as_they_are(options, monkeypatch, data):
    """The same atoms, up to rounding, as without it (all samples: in other coordinates)."""
    monkeypatch.setattr(trials, "mean_and_error", lambda values, weights: (-1.0, 0.0))
    X, y, Q, _ = data
    same = task_driven(augment=lambda batch, random_state: batch, **options).fit(X, y)
    plain = task_driven(**options).fit(X, y)
    assert same.training_kept_ == plain.training_kept_ == "task-driven"
    assert_allclose(same.transform(Q), plain.transform(Q), atol=1e-3 if options else 0.05)


@pytest.mark.parametrize("options", [{}, {"n_landmarks": 60}, {"update": "points"}])
def test_the_function_is_given_batches_of_training_samples(options, monkeypatch, data):
    monkeypatch.setattr(trials, "mean_and_error", lambda values, weights: (-1.0, 0.0))
    X, y, Q, labels = data
    seen = []

    def augment(batch, random_state):
        seen.append(batch.copy())
        batch[:] = 0.0  # a copy, so no harm
        return shifted(seen[-1], random_state)

    before = X.copy()
    model = task_driven(augment=augment, **options).fit(X, y)
    assert_array_equal(X, before)
    known = {row.tobytes() for row in X}
    assert all(row.tobytes() in known for batch in seen for row in batch)
    n_judges = len(trials.left_out(model._labels, np.random.RandomState(0)))
    epochs = 4 * len(ANGLES) * (len(X) - n_judges) + 4 * len(X)  # of trials, of the training
    assert sum(map(len, seen)) == epochs
    again = clone(model).fit(X, y)
    assert_array_equal(again.predict_proba(Q), model.predict_proba(Q))
    assert model.score(Q, labels) > 0.6


def test_epochs_with_shifts_lower_the_loss_of_shifted_digits(monkeypatch, data):
    """Which the trial, judging by digits as they are, need not want: a pixel is much of eight."""
    monkeypatch.setattr(trials, "ANGLES", ANGLES[:1])
    monkeypatch.setattr(trials, "mean_and_error", lambda values, weights: (-1.0, 0.0))
    X, y, Q, labels = data
    moved = shifted(Q, np.random.RandomState(7))
    options = {"max_iter": 10, "n_landmarks": 100, "classifier": "logistic"}
    plain = task_driven(**options).fit(X, y)
    taught = task_driven(augment=shifted, **options).fit(X, y)
    found, before = (log_loss(labels, model.predict_proba(moved)) for model in (taught, plain))
    assert found < before - 0.1


def test_other_samples_are_projected_on_the_span_of_landmarks():
    rng, kernel = np.random.default_rng(2), Gaussian(gamma=0.5)
    Z, X = rng.normal(size=(6, 2)), rng.normal(size=(4, 2))
    frame = LandmarkFrame(PointDictionary(kernel, Z), Z)
    points, own = frame.outside(X)
    weights = np.linalg.solve(kernel(Z), kernel(Z, X))
    assert_allclose(frame.weights(points), weights, rtol=1e-5)
    assert_allclose(own, 1.0)


# What is refused -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"update": "pinv"}, "update must be 'auto' or 'points', got 'pinv'"),
        ({"update": "points", "training": "joint"}, "goes with training='task-driven'.*'auto'"),
        ({"update": "points", "classifier": "bilinear"}, "bilinear classifier looks at .*landmark"),
        ({"update": "points", "warm_start": True}, "warm_start=True starts from combinations"),
        (
            {"update": "points", "coder": kc.KernelSparseCoder("linear")},
            'update="points" is for the Gaussian kernel',
        ),
        ({"augment": shifted, "training": "joint"}, "augment goes with training='task-driven'"),
        ({"augment": "shifts"}, "augment must be a function of a batch.*got 'shifts'"),
        (
            {"augment": shifted, "coder": kc.KernelSparseCoder(Precomputed())},
            "augment makes samples, and a precomputed kernel",
        ),
        (
            {"augment": lambda batch, random_state: batch[1:]},
            r"as many samples as it is given.*expected \(32, 64\), got \(31, 64\)",
        ),
        (
            {"augment": lambda batch, random_state: batch * np.nan},
            "augment must return finite numbers",
        ),
    ],
)
def test_what_cannot_be_is_refused(parameters, message, data):
    options = {"training": "task-driven", **parameters}
    with pytest.raises(ValueError, match=message):
        supervised(**options).fit(*data[:2])
