"""The residual rule for learned dictionaries, and labels given by hand."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import GridSearchCV
from sklearn.preprocessing import normalize

import kernelcoding as kc
from kernelcoding.classification.residuals import class_residuals
from kernelcoding.dictionary import CombinationDictionary, PointDictionary
from kernelcoding.kernels import Gaussian, Linear, Polynomial
from reference.features import quadratic_features

SPARSE = kc.KernelSparseCoder(Polynomial(degree=2), alpha=0.05)
LOCAL = kc.KernelLLC(Polynomial(degree=2), n_neighbors=4)


def learned(coder=SPARSE, **changes):
    return kc.KernelDictionaryLearning(coder, **{"n_atoms": 9, "max_iter": 3, **changes})


LEARNED = {
    "sparse": learned(),
    "sparse, CSR": learned(clone(SPARSE).set_params(sparse_output=True)),
    "fewer atoms than a class has samples": learned(n_atoms=4),
    "LLC": learned(LOCAL),
    "pursuit": learned(kc.KernelMatchingPursuit(Polynomial(degree=2), n_nonzero=3)),
    "landmarks": learned(n_landmarks=15),
    "means": clone(SPARSE).set_params(atoms=6, init="kernel-k-means"),
    "per class": learned(per_class=True),
    "per class, landmarks": learned(per_class=True, n_landmarks=15),
    "supervised": kc.SupervisedKernelCoding(SPARSE, n_atoms=9, max_iter=2),
    "LC-KSVD": kc.LabelConsistentKSVD(Polynomial(degree=2), n_atoms=9, n_nonzero=3, max_iter=2),
}
EVERY_KIND = pytest.mark.parametrize("coder", LEARNED.values(), ids=LEARNED.keys())


@pytest.fixture
def three_classes(rng):
    y = np.array(["no", "yes", "maybe"])[np.arange(30) % 3]
    X = rng.normal(size=(30, 3)) + 1.5 * np.eye(3)[np.arange(30) % 3]
    return X, y, rng.normal(size=(25, 3)) + 1.5 * np.eye(3)[np.arange(25) % 3]


def dense(codes):
    return codes.toarray() if hasattr(codes, "toarray") else codes


def weights_of_samples(classifier, Q):
    """beta = A y and the index of the samples, written out."""
    dictionary = classifier.coder_.dictionary_
    beta = dense(classifier.coder_.transform(Q)) @ dictionary.weights.T
    return beta, dictionary.landmarks.index


def distances_by_class(X, y, Q, beta, index, classes):
    """Squared distances of explicit features to what the samples of each class make of them."""
    samples, labels, features = quadratic_features(X)[index], y[index], quadratic_features(Q)
    return np.stack(
        [((features - (beta * (labels == label)) @ samples) ** 2).sum(axis=1) for label in classes],
        axis=1,
    )


@EVERY_KIND
def test_residuals_are_distances_through_the_samples(coder, three_classes, monkeypatch):
    X, y, Q = three_classes
    classifier = kc.ResidualClassifier(coder).fit(X, y)
    beta, index = weights_of_samples(classifier, Q)
    distances = distances_by_class(X, y, Q, beta, index, classifier.classes_)
    own = (quadratic_features(Q) ** 2).sum(axis=1)
    found = own[:, None] - classifier.decision_function(Q)
    assert_allclose(found, distances, rtol=1e-8, atol=1e-8)
    assert_array_equal(classifier.predict(Q), classifier.classes_[distances.argmin(axis=1)])
    codes = classifier.coder_.transform(Q)
    assert_array_equal(classifier.predict_from_codes(Q, codes), classifier.predict(Q))
    monkeypatch.setattr(class_residuals, "BLOCK_SIZE", 1)  # many blocks
    again = own[:, None] - classifier.decision_function(Q)
    assert_allclose(again, distances, rtol=1e-8, atol=1e-8)


@EVERY_KIND
def test_concentration_looks_at_weights_of_samples(coder, three_classes):
    X, y, Q = three_classes
    classifier = kc.ResidualClassifier(coder).fit(X, y)
    weights, index = weights_of_samples(classifier, Q)
    labels = y[index]
    if hasattr(classifier, "atom_classes_"):  # each class has atoms of its own
        weights = dense(classifier.coder_.transform(Q))
        labels = classifier.classes_[classifier.atom_classes_]
    for row, index in zip(np.abs(weights), classifier.concentration(Q), strict=True):
        sums = [row[labels == label].sum() for label in classifier.classes_]
        assert index == pytest.approx((3 * max(sums) / sum(sums) - 1) / 2, abs=1e-10)


@EVERY_KIND
def test_copies_answer_the_same(coder, three_classes, tmp_path):
    X, y, Q = three_classes
    classifier = kc.ResidualClassifier(coder).fit(X, y)
    scores, shares = classifier.decision_function(Q), classifier.predict_proba(Q)
    kc.save(classifier, tmp_path / "model.kc")
    for copy in (
        pickle.loads(pickle.dumps(classifier)),
        kc.load(tmp_path / "model.kc"),
        clone(classifier).fit(X, y),
    ):
        assert_array_equal(copy.decision_function(Q), scores)
        assert_allclose(copy.predict_proba(Q), shares, rtol=1e-10)
        assert_array_equal(copy.concentration(Q), classifier.concentration(Q))


def test_both_forms_of_the_rule_are_used_and_agree(three_classes):
    X, y, Q = three_classes
    for n_atoms, of_codes in ((4, True), (12, False)):  # each class has ten samples
        classifier = kc.ResidualClassifier(learned(n_atoms=n_atoms)).fit(X, y)
        classifier.decision_function(Q)
        rule = classifier._rule
        assert [rule._form(s, own).of_codes for s, own in enumerate(rule.members)] == 3 * [of_codes]
        assert rule.of_landmarks


def test_a_dictionary_learned_before_finds_its_samples(three_classes):
    X, y, Q = three_classes
    dl = learned().fit(X, y)
    inside = kc.ResidualClassifier(learned()).fit(X, y)
    for coder in (clone(SPARSE).set_params(atoms=dl.dictionary_), FrozenEstimator(dl)):
        before = kc.ResidualClassifier(coder).fit(X, y)
        assert_array_equal(before.decision_function(Q), inside.decision_function(Q))
        assert_array_equal(before.landmark_classes_, inside.landmark_classes_)
    # Other samples than those it was learned from have other labels.
    for coder in (clone(SPARSE).set_params(atoms=dl.dictionary_), FrozenEstimator(dl)):
        with pytest.raises(ValueError, match=r"from other samples than X.*landmark_labels"):
            kc.ResidualClassifier(coder).fit(X[::-1], y[::-1])
        given = kc.ResidualClassifier(coder, landmark_labels=y).fit(X[::-1], y[::-1])
        assert_array_equal(given.decision_function(Q), inside.decision_function(Q))


def test_precomputed_matrices_give_the_same(three_classes):
    X, y, Q = three_classes
    kernel = Gaussian(0.4)
    for changes in ({}, {"per_class": True}, {"per_class": True, "n_landmarks": 12}):
        plain = kc.ResidualClassifier(learned(kc.KernelSparseCoder(kernel, alpha=0.05), **changes))
        given = kc.ResidualClassifier(
            learned(kc.KernelSparseCoder("precomputed", alpha=0.05), **changes)
        )
        expected = plain.fit(X, y).decision_function(Q)
        found = given.fit(kernel(X, X), y).decision_function(kernel(Q, X))
        assert_allclose(found, expected, atol=1e-7)


def test_labels_of_given_points(three_classes):
    X, y, Q = three_classes
    coder = kc.KernelSparseCoder(Gaussian(0.4), alpha=0.05)
    samples = kc.ResidualClassifier(coder).fit(X, y)
    given = kc.ResidualClassifier(clone(coder).set_params(atoms=X), atom_labels=y).fit(X, y)
    assert_array_equal(given.decision_function(Q), samples.decision_function(Q))
    assert_array_equal(given.atom_classes_, samples.atom_classes_)
    turned = kc.ResidualClassifier(clone(coder).set_params(atoms=X), atom_labels=np.roll(y, 1))
    assert np.mean(turned.fit(X, y).predict(X) == y) < 0.2


def test_points_learned_without_labels_need_them(three_classes):
    X, y, Q = three_classes
    points = learned(kc.KernelSparseCoder(Gaussian(0.4), alpha=0.05), update="points")
    with pytest.raises(ValueError, match=r"points of their own.*Give atom_labels="):
        kc.ResidualClassifier(points).fit(X, y)
    labels = np.array(["no", "yes", "maybe"])[np.arange(9) % 3]
    assert kc.ResidualClassifier(points, atom_labels=labels).fit(X, y).predict(Q).shape == (25,)
    # A class-wise dictionary of points knows them.
    class_wise = kc.ResidualClassifier(clone(points).set_params(per_class=True)).fit(X, y)
    assert isinstance(class_wise.coder_.dictionary_, PointDictionary)
    assert_array_equal(class_wise.atom_classes_, np.repeat([0, 1, 2], 3))


def test_landmarks_given_as_points_need_labels(three_classes, rng):
    X, y, Q = three_classes
    points = rng.normal(size=(12, 3))
    coder = learned(landmarks=points)
    with pytest.raises(ValueError, match=r"landmarks were given as points.*landmark_labels="):
        kc.ResidualClassifier(coder).fit(X, y)
    labels = np.array(["no", "yes", "maybe"])[np.arange(12) % 3]
    classifier = kc.ResidualClassifier(coder, landmark_labels=labels).fit(X, y)
    beta = classifier.coder_.transform(Q) @ classifier.coder_.dictionary_.weights.T
    every = np.arange(12)
    distances = distances_by_class(points, labels, Q, beta, every, classifier.classes_)
    own = (quadratic_features(Q) ** 2).sum(axis=1)
    found = own[:, None] - classifier.decision_function(Q)
    assert_allclose(found, distances, rtol=1e-8, atol=1e-8)
    # With a dictionary per class, the atoms have classes of their own.
    class_wise = kc.ResidualClassifier(clone(coder).set_params(per_class=True)).fit(X, y)
    assert isinstance(class_wise.coder_.dictionary_, CombinationDictionary)
    assert_array_equal(class_wise.atom_classes_, np.repeat([0, 1, 2], 3))


def test_bad_labels_of_atoms_are_refused(three_classes):
    X, y, _ = three_classes
    coder = kc.KernelSparseCoder(atoms=X[:4])
    for labels, message in (
        (y[:3], "one label for each of the 4 atoms, got 3"),
        (["no", "yes", "no", "perhaps"], "must be labels of y.*'perhaps'"),
        ([0, 1, 2, 0], "must be labels of y"),
    ):
        with pytest.raises(ValueError, match=message):
            kc.ResidualClassifier(coder, atom_labels=labels).fit(X, y)
    with pytest.raises(ValueError, match="not both"):
        kc.ResidualClassifier(coder, atom_labels=y[:4], landmark_labels=y).fit(X, y)
    with pytest.raises(ValueError, match=r"these atoms are points\. Use atom_labels"):
        kc.ResidualClassifier(coder, landmark_labels=y[:4]).fit(X, y)
    with pytest.raises(ValueError, match="one label for each of the 30 landmarks, got 4"):
        kc.ResidualClassifier(learned(), landmark_labels=y[:4]).fit(X, y)


def test_codes_of_zeros_get_the_class_of_the_nearest_landmark(three_classes):
    X, y, _ = three_classes
    coder = learned(kc.KernelSparseCoder(Gaussian(2.0), alpha=0.05))
    classifier = kc.ResidualClassifier(coder).fit(X, y)
    far = X[[7, 20, 3]] * 1e5  # all similarities are zero to the last bit, distances are not
    with pytest.warns(UserWarning, match=r"3 of 3 codes .* class of the nearest landmark"):
        labels = classifier.predict(far)
    nearest = ((far[:, None] - X[None]) ** 2).sum(axis=-1).argmin(axis=1)
    assert_array_equal(labels, y[nearest])
    assert_allclose(classifier.concentration(far), 0.0, atol=1e-12)
    with pytest.warns(UserWarning, match="3 of 3 codes"):
        shares = classifier.predict_proba(far)
    assert_allclose(shares.sum(axis=1), 1.0)


def test_a_grid_search_reaches_into_the_dictionary():
    X, y = load_digits(return_X_y=True)
    X, y = normalize(X[:150]), y[:150]
    coder = kc.KernelDictionaryLearning(kc.KernelSparseCoder(alpha=0.02), max_iter=2)
    grid = {"coder__n_atoms": [20, 40], "coder__coder__alpha": [0.02], "coder__per_class": [True]}
    search = GridSearchCV(kc.ResidualClassifier(coder), grid, cv=2).fit(X, y)
    best = search.best_estimator_.coder_
    assert best.dictionary_.n_atoms == search.best_params_["coder__n_atoms"]
    assert search.best_score_ > 0.7


@pytest.mark.parametrize("per_class", [False, True])
def test_learned_atoms_reject_unknown_classes_and_recognise_known_ones(per_class):
    X, y = load_digits(return_X_y=True)
    X = normalize(X)
    known = y[:600] < 5
    coder = learned(kc.KernelSparseCoder(alpha=0.02), n_atoms=60, per_class=per_class)
    classifier = kc.ResidualClassifier(coder).fit(X[:600][known], y[:600][known])
    Q, labels = X[600:900], y[600:900]
    index = classifier.concentration(Q)
    assert index[labels < 5].mean() > index[labels >= 5].mean() + 0.1
    assert classifier.score(Q[labels < 5], labels[labels < 5]) > 0.95


# Kernel collaborative representation -----------------------------------------------------------


@pytest.mark.parametrize("kernel", [Linear(), Gaussian(0.4)], ids=repr)
def test_ridge_codes_are_collaborative_representation(kernel, three_classes):
    """CRC (Zhang et al., 2011): y = (K + alpha I)^-1 k, then the residual of each class."""
    X, y, Q = three_classes
    alpha = 0.05
    ridge = kc.KernelCoder(
        kernel, prior=kc.priors.Ridge(), constraint=kc.constraints.Free(), alpha=alpha
    )
    classifier = kc.ResidualClassifier(ridge).fit(X, y)
    K = np.array([[float(kernel(a[None], b[None])[0, 0]) for b in X] for a in X])
    k = np.array([[float(kernel(a[None], b[None])[0, 0]) for b in X] for a in Q])
    expected = np.empty((len(Q), 3))
    for i, row in enumerate(k):
        code = np.linalg.solve(K + alpha * np.eye(len(X)), row)
        for s, label in enumerate(["maybe", "no", "yes"]):
            part = np.where(y == label, code, 0.0)
            expected[i, s] = part @ K @ part - 2.0 * part @ row
    assert_allclose(-classifier.decision_function(Q), expected, rtol=1e-7, atol=1e-9)
