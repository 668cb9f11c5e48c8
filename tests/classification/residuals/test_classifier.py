"""The residual rule against explicit feature maps, and what it says of labels and rejection."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.model_selection import cross_val_score
from sklearn.preprocessing import normalize

import kernelcoding as kc
from kernelcoding.dictionary import PointDictionary
from kernelcoding.kernels import Gaussian, MultipleKernel, Polynomial
from reference.features import quadratic_features

CODERS = {
    "sparse": kc.KernelSparseCoder(alpha=0.05),
    "sparse, CSR": kc.KernelSparseCoder(alpha=0.05, sparse_output=True),
    "groups": kc.KernelSparseCoder(alpha=0.05, groups="y"),
    "soft": kc.KernelBagOfWords(sigma=1.0),
    "hard": kc.KernelBagOfWords(assignment="hard"),
    "LLC": kc.KernelLLC(n_neighbors=6),
    "exact LLC": kc.KernelLLC(n_neighbors=None),
    "LCC": kc.KernelLCC(alpha=0.1),
    "omp": kc.KernelMatchingPursuit(n_nonzero=4),
    "some atoms": kc.KernelSparseCoder(alpha=0.05, atoms=15, random_state=0),
}
EVERY_CODER = pytest.mark.parametrize("coder", CODERS.values(), ids=CODERS.keys())


@pytest.fixture
def three_classes(rng):
    y = np.array(["no", "yes", "maybe"])[np.arange(30) % 3]
    X = rng.normal(size=(30, 3)) + 1.5 * np.eye(3)[np.arange(30) % 3]
    return X, y, rng.normal(size=(25, 3)) + 1.5 * np.eye(3)[np.arange(25) % 3]


def dense_codes(classifier, Q):
    codes = classifier.coder_.transform(Q)
    return codes.toarray() if classifier.coder_.sparse_output else codes


@EVERY_CODER
def test_residuals_are_distances_of_explicit_features(coder, three_classes):
    X, y, Q = three_classes
    coder = clone(coder).set_params(kernel=Polynomial(degree=2))
    classifier = kc.ResidualClassifier(coder).fit(X, y)
    codes = dense_codes(classifier, Q)
    index = classifier.coder_.dictionary_.index
    atoms, labels = quadratic_features(X)[index], y[index]
    features = quadratic_features(Q)
    distances = np.stack(
        [
            ((features - (codes * (labels == label)) @ atoms) ** 2).sum(axis=1)
            for label in classifier.classes_
        ],
        axis=1,
    )
    own = (features**2).sum(axis=1)
    assert list(classifier.classes_) == ["maybe", "no", "yes"]
    having = np.stack([codes[:, labels == a].any(axis=1) for a in classifier.classes_], axis=1)
    found = own[:, None] - classifier.decision_function(Q)
    assert_allclose(found[having], distances[having], atol=1e-8)
    best = np.where(having, distances, np.inf).argmin(axis=1)  # a class without a part never wins
    assert_array_equal(classifier.predict(Q), classifier.classes_[best])


@EVERY_CODER
def test_predictions_follow_the_decision_function(coder, three_classes):
    X, y, Q = three_classes
    classifier = kc.ResidualClassifier(clone(coder)).fit(X, y)
    scores = classifier.decision_function(Q)
    assert scores.shape == (len(Q), 3)
    assert_array_equal(classifier.predict(Q), classifier.classes_[scores.argmax(axis=1)])
    codes = classifier.coder_.transform(Q)
    assert_array_equal(classifier.predict_from_codes(Q, codes), classifier.predict(Q))


def test_two_classes_have_one_score(three_classes):
    X, y, Q = three_classes
    binary = np.where(y == "yes", 7, -2)
    classifier = kc.ResidualClassifier().fit(X, binary)
    scores = classifier.decision_function(Q)
    assert scores.shape == (len(Q),)
    assert_array_equal(classifier.predict(Q), np.where(scores > 0, 7, -2))
    assert 0 < np.count_nonzero(scores > 0) < len(Q)
    # The order of the labels' names turns the sign, and nothing else.
    turned = kc.ResidualClassifier().fit(X, -binary)
    assert_allclose(turned.decision_function(Q), -scores, atol=1e-10)


def test_one_class_is_always_predicted(three_classes):
    X, _, Q = three_classes
    classifier = kc.ResidualClassifier().fit(X, np.full(len(X), "only"))
    assert set(classifier.predict(Q)) == {"only"}
    assert classifier.decision_function(Q).shape == (len(Q), 1)
    assert_array_equal(classifier.concentration(Q), 1.0)


def test_order_of_training_samples_does_not_matter(three_classes, rng):
    X, y, Q = three_classes
    order = rng.permutation(len(X))
    first = kc.ResidualClassifier(kc.KernelSparseCoder(alpha=0.05, tol=1e-10)).fit(X, y)
    second = clone(first).fit(X[order], y[order])
    assert_allclose(first.decision_function(Q), second.decision_function(Q), atol=1e-7)


@EVERY_CODER
def test_concentration_is_its_formula(coder, three_classes):
    X, y, Q = three_classes
    classifier = kc.ResidualClassifier(clone(coder)).fit(X, y)
    codes = dense_codes(classifier, Q)
    labels = y[classifier.coder_.dictionary_.index]
    for code, index in zip(codes, classifier.concentration(Q), strict=True):
        sums = [np.abs(code[labels == label]).sum() for label in ("no", "yes", "maybe")]
        expected = (3 * max(sums) / np.abs(code).sum() - 1) / 2
        assert index == pytest.approx(expected, abs=1e-12)
        assert -1e-12 <= index <= 1 + 1e-12


def test_concentration_of_extreme_codes(three_classes):
    X, y, _ = three_classes
    sure = kc.ResidualClassifier(kc.KernelBagOfWords(assignment="hard")).fit(X, y)
    assert_allclose(sure.concentration(X), 1.0)
    unsure = kc.ResidualClassifier(kc.KernelBagOfWords(sigma=1e-12)).fit(X, y)
    assert_allclose(unsure.concentration(X), 0.0, atol=1e-10)
    silent = kc.ResidualClassifier(kc.KernelSparseCoder(alpha=1e3)).fit(X, y)
    assert_allclose(silent.concentration(X), 0.0, atol=1e-12)  # a code of zeros says nothing


@pytest.mark.parametrize("sparse_output", [False, True])
def test_codes_of_zeros_get_the_class_of_the_nearest_atom(sparse_output, three_classes):
    X, y, Q = three_classes
    coder = kc.KernelSparseCoder(Gaussian(0.4), alpha=50.0, sparse_output=sparse_output)
    classifier = kc.ResidualClassifier(coder).fit(X, y)
    distances = ((Q[:, None] - X[None]) ** 2).sum(axis=-1)
    with pytest.warns(UserWarning, match="25 of 25 codes are all zero") as caught:
        labels = classifier.predict(Q)
    assert len(caught) == 1  # transform leaves it to the rule
    assert caught[0].filename == __file__
    assert_array_equal(labels, y[distances.argmin(axis=1)])
    with pytest.warns(UserWarning, match="class of the nearest atom.*alpha=50 is too large"):
        scores = classifier.decision_function(Q)
    for column, label in enumerate(classifier.classes_):  # 1 - 2 k at the nearest of the class
        expected = 2.0 * np.exp(-0.4 * distances[:, y == label].min(axis=1)) - 1.0
        assert_allclose(scores[:, column], expected, rtol=1e-12)
    assert_array_equal(classifier.classes_[scores.argmax(axis=1)], labels)
    # The alpha it names is the largest that helps.
    largest = np.exp(-0.4 * distances).max()
    with pytest.warns(UserWarning, match=f"at all is {largest:.3g}; useful values"):
        classifier.predict_from_codes(Q, np.zeros((25, 30)))


def test_some_codes_of_zeros_leave_the_others_alone(three_classes):
    X, y, Q = three_classes
    classifier = kc.ResidualClassifier(kc.KernelSparseCoder(Gaussian(0.4), alpha=0.05)).fit(X, y)
    labels, scores = classifier.predict(Q), classifier.decision_function(Q)
    far = X[[7, 20]] * 1e5  # all similarities are zero to the last bit, distances are not
    with pytest.warns(UserWarning, match="2 of 27 codes .* has anything in common"):
        mixed = classifier.predict(np.vstack([Q, far]))
    assert_array_equal(mixed[:25], labels)
    nearest = ((far[:, None] - X[None]) ** 2).sum(axis=-1).argmin(axis=1)
    assert_array_equal(mixed[25:], y[nearest])
    assert set(y[nearest]) != {classifier.classes_[0]}
    with pytest.warns(UserWarning, match="2 of 27 codes"):
        found = classifier.decision_function(np.vstack([Q, far]))
    assert_allclose(found[:25], scores, rtol=1e-12)
    assert_array_equal(classifier.classes_[found.argmax(axis=1)], mixed)
    assert_allclose(classifier.concentration(np.vstack([Q, far]))[25:], 0.0, atol=1e-12)


def test_two_classes_and_a_class_without_atoms(rng):
    X, Q = rng.normal(size=(20, 2)), rng.normal(size=(9, 2))
    y = np.array(["b"] + ["a"] * 19)
    coder = kc.KernelSparseCoder(Gaussian(0.4), alpha=50.0, atoms=6, init="random", random_state=1)
    classifier = kc.ResidualClassifier(coder).fit(X, y)
    assert set(classifier.atom_classes_) == {0}
    with pytest.warns(UserWarning, match="9 of 9 codes"):
        assert set(classifier.predict(Q)) == {"a"}
    with pytest.warns(UserWarning, match="9 of 9 codes"):
        assert_array_equal(classifier.decision_function(Q), -np.inf)


def test_concentration_rejects_what_belongs_to_no_class():
    X, y = load_digits(return_X_y=True)
    X = normalize(X)
    known = y[:600] < 5
    classifier = kc.ResidualClassifier(kc.KernelSparseCoder(alpha=0.05))
    classifier.fit(X[:600][known], y[:600][known])
    Q, labels = X[600:750], y[600:750]
    index = classifier.concentration(Q)
    assert index[labels < 5].mean() > index[labels >= 5].mean() + 0.2


def test_digits_are_recognised():
    X, y = load_digits(return_X_y=True)
    X = normalize(X)
    for coder in (kc.KernelSparseCoder(), kc.KernelLLC(n_neighbors=20)):
        classifier = kc.ResidualClassifier(coder).fit(X[:500], y[:500])
        assert classifier.score(X[500:800], y[500:800]) > 0.93
        chance = kc.ResidualClassifier(coder).fit(X[:500], np.roll(y[:500], 3))
        assert chance.score(X[500:800], y[500:800]) < 0.4


def test_stacks_of_matrices_and_several_kernels(rng):
    factors = rng.normal(size=(40, 3, 12))
    factors[::2, 0] *= 6.0
    covariances = factors @ factors.transpose(0, 2, 1) / 12
    labels = np.arange(40) % 2
    for kernel in ("log-euclidean", "stein"):
        classifier = kc.ResidualClassifier(kc.KernelSparseCoder(kernel=kernel))
        assert cross_val_score(classifier, covariances, labels, cv=4).mean() > 0.9
    frames = rng.normal(size=(40, 6, 2))
    frames[::2] += 5 * np.eye(6)[:, :2]
    bases = np.linalg.qr(frames)[0]
    for kernel in ("projection", "projection-gaussian"):
        classifier = kc.ResidualClassifier(kc.KernelLLC(kernel=kernel))
        assert cross_val_score(classifier, bases, labels, cv=4).mean() > 0.8
    several = MultipleKernel([Gaussian(gamma="median"), Polynomial(degree=2)])
    vectors = covariances.reshape(40, 9)
    classifier = kc.ResidualClassifier(kc.KernelSparseCoder(kernel=several))
    assert cross_val_score(classifier, vectors, labels, cv=4).mean() > 0.8


def test_the_users_coder_is_left_alone(three_classes):
    X, y, Q = three_classes
    coder = kc.KernelLLC()
    classifier = kc.ResidualClassifier(coder).fit(X, y)
    assert not hasattr(coder, "dictionary_")
    thawed = pickle.loads(pickle.dumps(classifier))
    assert_array_equal(thawed.decision_function(Q), classifier.decision_function(Q))


@pytest.mark.parametrize(
    "coder",
    [
        kc.KernelSparseCoder(atoms=np.eye(3)),
        # An index that belongs to other samples must not be read as one of these.
        kc.KernelSparseCoder(atoms=PointDictionary(Gaussian(), np.eye(3), np.arange(3))),
    ],
    ids=["points", "dictionary"],
)
def test_atoms_without_labels_are_refused(coder, three_classes):
    X, y, _ = three_classes
    with pytest.raises(ValueError, match="atoms with labels"):
        kc.ResidualClassifier(coder).fit(X, y)


@pytest.mark.parametrize("coder", ["sparse", kc.ResidualClassifier(), kc.KernelSparseCoder])
def test_other_things_than_coders_are_refused(coder, three_classes):
    X, y, _ = three_classes
    with pytest.raises(ValueError, match="coder must be"):
        kc.ResidualClassifier(coder).fit(X, y)


def test_bad_labels_and_codes_are_refused(three_classes):
    X, y, Q = three_classes
    classifier = kc.ResidualClassifier()
    with pytest.raises(ValueError, match="requires y"):
        classifier.fit(X, None)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        classifier.fit(X, y[:-1])
    with pytest.raises(ValueError, match="Unknown label type"):
        classifier.fit(X, np.linspace(0, 1, len(X)))
    with pytest.raises(ValueError, match="y contains NaN"):
        classifier.fit(X, np.full(len(X), np.nan))
    with pytest.raises(ValueError, match="1d array"):
        classifier.fit(X, np.eye(len(X)))
    classifier.fit(X, y)
    with pytest.raises(ValueError, match="one column for each of the 30 atoms"):
        classifier.predict_from_codes(Q, np.ones((len(Q), 3)))
    with pytest.raises(ValueError, match="25 samples but 3 codes"):
        classifier.predict_from_codes(Q, np.ones((3, 30)))
