"""LC-KSVD and D-KSVD against a plain reference with the label terms stacked in full."""

import pickle
import warnings
from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.linear_model import Ridge, orthogonal_mp_gram
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.preprocessing import normalize
from sklearn.utils.estimator_checks import parametrize_with_checks

from kernelcoding.classification import (
    DiscriminativeKSVD,
    LabelConsistentKSVD,
    SupervisedKernelCoding,
)
from kernelcoding.dictionary_learning.half_steps.learner import AtomLearner
from kernelcoding.kernels import Gaussian, Polynomial


@parametrize_with_checks(
    [
        LabelConsistentKSVD("linear", n_atoms=4, n_nonzero=2, max_iter=2, init_iter=2),
        LabelConsistentKSVD(
            "rbf",
            n_atoms=4,
            n_nonzero=2,
            classifier_weight=0,
            update="ksvd",
            max_iter=2,
            init_iter=2,
        ),
        DiscriminativeKSVD("chi2", n_atoms=4, n_nonzero=2, max_iter=2, init_iter=2),
    ]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


# The reference: data in columns, Q with one row per atom, singular vectors, scikit-learn's pursuit.


def unit(columns):
    return columns / np.linalg.norm(columns, axis=0)


def pursue(D, X, n_nonzero):
    n_nonzero = min(n_nonzero, D.shape[1])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # an atom that is the sample ends it early
        return orthogonal_mp_gram(D.T @ D, D.T @ X, n_nonzero_coefs=n_nonzero)


def errors(X, D, Y):
    return np.sum((X - D @ Y) ** 2, axis=0)


def exact(E, row):
    left, values, right = np.linalg.svd(E, full_matrices=False)
    return left[:, 0], values[0] * right[0]


def approximate(E, row):
    atom = E @ row / np.linalg.norm(E @ row)
    return atom, atom @ E


def reference_ksvd(X, D, n_nonzero, rounds, rank_one):
    D, Y = unit(D), pursue(unit(D), X, n_nonzero)
    history = [errors(X, D, Y).mean() / 2]
    for _ in range(rounds):
        for k in range(D.shape[1]):
            users = np.flatnonzero(Y[k])
            E = X[:, users] - D @ Y[:, users] + np.outer(D[:, k], Y[k, users])
            D[:, k], Y[k, users] = rank_one(E, Y[k, users])
        history.append(errors(X, D, Y).mean() / 2)
        new = pursue(D, X, n_nonzero)
        Y = np.where(errors(X, D, new) <= errors(X, D, Y), new, Y)
        history.append(errors(X, D, Y).mean() / 2)
    return D, Y, history


def reference(X, labels, per_class, n_nonzero, alpha, beta, rounds, first_rounds, rank_one):
    """Published LC-KSVD2 with absolute weights; returns D, T, W, history."""
    random_state = np.random.RandomState(0)
    n_classes = labels.max() + 1
    parts = []
    for label in range(n_classes):
        own = X[:, labels == label]
        start = np.sort(random_state.choice(own.shape[1], per_class, replace=False))
        parts.append(reference_ksvd(own, own[:, start], n_nonzero, first_rounds, rank_one)[0])
    D = np.hstack(parts)
    H = (np.arange(n_classes)[:, None] == labels).astype(float)
    Q = (np.repeat(np.arange(n_classes), per_class)[:, None] == labels).astype(float)
    Y = pursue(D, X, n_nonzero)
    inverse = np.linalg.inv(Y @ Y.T + np.mean(np.sum(X**2, axis=0)) * np.eye(len(Y)))
    T, W = Q @ Y.T @ inverse, H @ Y.T @ inverse
    a, b = np.sqrt(alpha), np.sqrt(beta)
    stacked, _, history = reference_ksvd(
        np.vstack([X, a * Q, b * H]), np.vstack([D, a * T, b * W]), n_nonzero, rounds, rank_one
    )
    d, q = len(X), len(Q)
    norms = np.linalg.norm(stacked[:d], axis=0)
    blocks = stacked[:d], stacked[d : d + q] / a, stacked[d + q :] / b
    return *(block / norms for block in blocks), history


@pytest.fixture(scope="module")
def small():
    X, y = load_digits(n_class=3, return_X_y=True)
    return normalize(X[:60, 8:40]) * 3.0, y[:60]


# (x'z + 1)^2 through its features: all products of two entries of (x, 1)
def quadratic_features(X):
    extended = np.column_stack([X, np.ones(len(X))])
    return np.einsum("ni,nj->nij", extended, extended).reshape(len(X), -1)


MAPS = {
    "linear": ("linear", lambda X: X),
    "polynomial": (Polynomial(degree=2, gamma=1.0, coef0=1.0), quadratic_features),
}


@pytest.mark.parametrize("update", ["ksvd", "aksvd"])
@pytest.mark.parametrize("kernel", MAPS)
def test_stacked_reference(small, kernel, update):
    X, y = small
    kernel, features = MAPS[kernel]
    F = features(X).T
    scale = np.mean(np.sum(F**2, axis=0))
    rank_one = {"ksvd": exact, "aksvd": approximate}[update]
    D, T, W, history = reference(F, y, 4, 3, 0.02 * scale, 0.05 * scale, 4, 3, rank_one)
    model = LabelConsistentKSVD(
        kernel, n_atoms=12, n_nonzero=3, label_weight=0.02, classifier_weight=0.05, update=update,
        max_iter=4, init_iter=3, tol=0.0,
    ).fit(X, y)  # fmt: skip
    assert model.n_replaced_ == 0
    assert_allclose(model.objective_history_, history, rtol=1e-9)
    atoms = F @ model.dictionary_.weights
    signs = np.sign(np.sum(atoms * D, axis=0))  # a singular pair has two
    assert_allclose(atoms * signs, D, atol=1e-7)
    assert_allclose(model.classifier_.weights.T * signs, W, atol=1e-7)
    assert_allclose(T, W[model.atom_classes_], atol=1e-9)  # why Q need not be stacked
    queries = features(X[::7] + 0.01).T
    scores = (W @ pursue(D, queries, 3)).T
    assert_allclose(model.decision_function(X[::7] + 0.01), scores, atol=1e-7)


# small enough to be fast
FEW = {"n_atoms": 40, "n_nonzero": 4, "max_iter": 3, "init_iter": 3}


def on_digits(n=150):
    X, y = load_digits(return_X_y=True)
    return train_test_split(normalize(X[: 2 * n]), y[: 2 * n], train_size=n, random_state=0)


@pytest.mark.parametrize("update", ["ksvd", "aksvd"])
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_objective_never_rises(kernel, update):
    X, _, y, _ = on_digits()
    model = LabelConsistentKSVD(
        kernel,
        n_atoms=40,
        n_nonzero=4,
        label_weight=0.01,
        update=update,
        max_iter=6,
        tol=0,
        init_iter=3,
    ).fit(X, y)
    history = model.objective_history_
    assert len(history) == 13
    assert all(after <= before * (1 + 1e-12) for before, after in pairwise(history))
    assert history[-1] < 0.95 * history[0]
    assert_allclose(np.diag(model.dictionary_.gram), 1.0, atol=1e-9)


def test_dksvd_is_lcksvd_without_label_weight():
    X, Q, y, _ = on_digits()
    settings = FEW | {"kernel": "rbf", "n_atoms": 50}
    discriminative = DiscriminativeKSVD(classifier_weight=0.01, **settings).fit(X, y)
    consistent = LabelConsistentKSVD(label_weight=0, classifier_weight=0.01, **settings)
    with pytest.raises(ValueError, match="label_weight=0 leaves out label consistency: that is "
                                         "DiscriminativeKSVD"):  # fmt: skip
        consistent.fit(X, y)
    consistent.set_params(label_weight=1e-20).fit(X, y)
    assert_array_equal(discriminative.decision_function(Q), consistent.decision_function(Q))
    # ... and with one, D-KSVD of another weight: five atoms per class
    consistent.set_params(label_weight=1e-3, classifier_weight=5e-3).fit(X, y)
    assert_allclose(consistent.decision_function(Q), discriminative.decision_function(Q), atol=1e-9)


def test_classifiers_are_records_of_one_shape():
    X, Q, y, _ = on_digits()
    for model in (
        LabelConsistentKSVD("linear", **FEW),
        DiscriminativeKSVD("linear", **FEW),
        SupervisedKernelCoding(n_atoms=40, max_iter=2),
    ):
        found = model.fit(X, y).classifier_
        assert found.weights.shape == (40, 10)
        assert found.bias.shape == (10,)
        scores = model.transform(Q) @ found.weights + found.bias
        assert_allclose(model.decision_function(Q), scores, atol=1e-12)


def test_lcksvd1_has_a_ridge_classifier():
    X, _, y, _ = on_digits()
    model = LabelConsistentKSVD("linear", label_weight=0.01, classifier_weight=0, **FEW).fit(X, y)
    ridge = Ridge(alpha=1.0, fit_intercept=False).fit(model.transform(X), np.eye(10)[y])
    assert_allclose(model.classifier_.weights.T, ridge.coef_, atol=1e-10)


@pytest.mark.parametrize("kernel", ["linear", "cosine"])
def test_scale_of_samples_changes_nothing(kernel):
    X, Q, y, _ = on_digits()
    model = LabelConsistentKSVD(kernel, label_weight=0.01, **FEW)
    expected = clone(model).fit(X, y).decision_function(Q)
    assert_allclose(
        clone(model).fit(100.0 * X, y).decision_function(100.0 * Q), expected, atol=1e-7
    )


def test_precomputed_kernel_gives_the_same():
    X, Q, y, _ = on_digits()
    kernel = Gaussian(gamma=1.0)
    model = LabelConsistentKSVD(kernel, **FEW)
    expected = clone(model).fit(X, y).decision_function(Q)
    model.set_params(kernel="precomputed").fit(kernel(X), y)
    assert_allclose(model.decision_function(kernel(Q, X)), expected, atol=1e-8)


def test_matrices_as_samples():
    rng = np.random.default_rng(0)
    scales = np.repeat([1.0, 1.0, 6.0, 6.0], 10)
    factors = (
        rng.normal(size=(40, 3, 8)) * np.stack([scales, 0 * scales + 1, 1 / scales], 1)[..., None]
    )
    X, y = factors @ factors.transpose(0, 2, 1) / 8 + 0.1 * np.eye(3), scales > 1
    model = LabelConsistentKSVD("log-euclidean", n_atoms=8, n_nonzero=2).fit(X[::2], y[::2])
    assert model.score(X[1::2], y[1::2]) > 0.9


def test_labels_of_any_kind():
    X, Q, y, _ = on_digits()
    model = LabelConsistentKSVD("linear", **FEW)
    names = np.array([f"digit {label}" for label in range(10)])
    numbers = clone(model).fit(X, y).predict(Q)
    assert_array_equal(clone(model).fit(X, names[y]).predict(Q), names[numbers])
    two = clone(model).fit(X, np.where(y < 5, "low", "high"))
    scores = two.decision_function(Q)
    assert scores.shape == (len(Q),)
    assert_array_equal(two.predict(Q), two.classes_[(scores > 0).astype(int)])


def test_codes_are_those_of_matching_pursuit():
    X, Q, y, _ = on_digits()
    model = LabelConsistentKSVD(kernel="linear", **FEW).fit(X, y)
    D = X.T @ model.dictionary_.weights
    assert_allclose(model.transform(Q), pursue(D, Q.T, 4).T, atol=1e-8)
    assert model.set_output(transform="pandas").transform(Q).shape == (len(Q), 40)


def test_single_precision():
    X, Q, y, _ = on_digits()
    model = LabelConsistentKSVD("rbf", **FEW)
    double = clone(model).fit(X, y)
    single = clone(model).fit(X.astype(np.float32), y)
    codes = single.transform(Q.astype(np.float32))
    assert codes.dtype == np.float32
    assert np.mean(single.predict(Q.astype(np.float32)) == double.predict(Q)) > 0.98


def test_small_classes_give_their_atoms_to_others():
    X, _, y, _ = on_digits()
    keep = np.concatenate([np.flatnonzero(y == 0)[:1], np.flatnonzero(y == 1)[:20],
                           np.flatnonzero(y == 2)[:20]])  # fmt: skip
    model = LabelConsistentKSVD("linear", n_atoms=15, n_nonzero=3, max_iter=3).fit(X[keep], y[keep])
    assert_array_equal(np.bincount(model.atom_classes_), [1, 7, 7])
    assert model.predict(X[keep[:1]]) == [0]


def test_zero_samples_and_copies_are_no_harm():
    X, _, y, _ = on_digits(60)
    X = np.concatenate([X, np.zeros((4, X.shape[1])), X[:10]])
    y = np.concatenate([y, np.repeat(y[:2], 2), y[:10]])
    model = LabelConsistentKSVD("linear", **FEW).fit(X, y)
    assert np.isfinite(model.classifier_.weights).all()
    assert model.score(X[:60], y[:60]) > 0.8


def test_labels_are_learned():
    X, Q, y, labels = on_digits(400)
    for kernel in ("linear", "rbf"):
        model = LabelConsistentKSVD(kernel, **FEW).fit(X, y)
        assert model.score(Q, labels) > 0.9


def test_callback_ends_learning():
    X, _, y, _ = on_digits()
    seen = []

    def stop(progress):
        seen.append((progress.iteration, progress.step, progress.objective))
        return progress.iteration == 2

    model = LabelConsistentKSVD("linear", callback=stop, tol=0, **FEW).fit(X, y)
    assert model.status_ == "callback"
    assert model.n_iter_ == 2
    assert [step for _, step, _ in seen] == ["codes", "atoms", "codes", "atoms", "codes"]
    assert_array_equal([objective for *_, objective in seen], model.objective_history_)


def test_verbose_speaks(capsys):
    X, _, y, _ = on_digits(60)
    LabelConsistentKSVD("linear", tol=0, verbose=2, **FEW | {"max_iter": 2}).fit(X, y)
    assert "round 2/2" in capsys.readouterr().err


def test_pickle_and_search():
    X, Q, y, _ = on_digits(100)
    search = GridSearchCV(
        LabelConsistentKSVD(Gaussian(gamma=1.0), **FEW | {"n_atoms": 20}),
        {"label_weight": [1e-4, 1e-3], "kernel__gamma": [1.0]},
        cv=2,
    ).fit(X, y)
    thawed = pickle.loads(pickle.dumps(search.best_estimator_))
    assert_array_equal(thawed.predict(Q), search.predict(Q))


BAD = {
    "unknown kernel": ({"kernel": "quartic"}, "unknown kernel name 'quartic'"),
    "too few atoms": (
        {"n_atoms": 9, "n_nonzero": 3},
        "n_atoms=9 must be at least the number of classes, 10",
    ),
    "too many atoms": ({"n_atoms": 101}, "at most the number of training samples, n_samples=100"),
    "long codes": ({"n_nonzero": 31}, "n_nonzero=31 must be at most n_atoms=30"),
    "negative weight": ({"label_weight": -1.0}, "label_weight must be a positive number"),
    "NaN weight": ({"classifier_weight": np.nan}, "classifier_weight must be a positive number"),
    "no rounds": ({"max_iter": 0}, "max_iter must be an integer of at least 1"),
    "no first rounds": ({"init_iter": 0.5}, "init_iter must be an integer of at least 1"),
    "unknown update": ({"update": "mod"}, r"update must be one of \('aksvd', 'ksvd'\)"),
}


@pytest.mark.parametrize(("settings", "message"), BAD.values(), ids=BAD.keys())
def test_bad_settings(settings, message):
    X, _, y, _ = on_digits(100)
    model = LabelConsistentKSVD("linear", n_atoms=30).set_params(**settings)
    with pytest.raises(ValueError, match=message):
        model.fit(X, y)


def test_bad_samples_and_labels():
    X, _, y, _ = on_digits(100)
    model = LabelConsistentKSVD("linear", n_atoms=30)
    with pytest.raises(ValueError, match="at least 2 classes, got 1 class"):
        model.fit(X, np.zeros(100))
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        model.fit(X, y[:-1])
    with pytest.raises(ValueError, match="contains NaN"):
        model.fit(np.where(X == 0, np.nan, X), y)
    with pytest.raises(ValueError, match="contains NaN"):
        model.fit(X, np.where(y == 3, np.nan, y))
    with pytest.raises(ValueError, match="All samples are zero"):
        clone(model).set_params(kernel="linear").fit(np.zeros_like(X), y)
    with pytest.raises(ValueError, match="Unknown label type"):
        model.fit(X, y + 0.5)


def test_an_interrupt_while_classes_are_learned_ends_the_fit(monkeypatch):
    """Each class has a small dictionary first: one of them is nothing to keep."""
    X, y = load_digits(return_X_y=True)
    really, calls = AtomLearner.improve, []

    def improve(learner):
        calls.append(learner)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return really(learner)

    monkeypatch.setattr(AtomLearner, "improve", improve)
    model = DiscriminativeKSVD("linear", n_atoms=20, n_nonzero=2, init_iter=5, tol=0.0)
    with pytest.warns(UserWarning, match="was interrupted"), pytest.raises(KeyboardInterrupt):
        model.fit(normalize(X[:100]), y[:100])
    assert len(calls) == 2
