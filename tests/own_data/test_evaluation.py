"""An evaluation against scikit-learn's own numbers."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, f1_score, log_loss
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import kernelcoding as kc
from kernelcoding.own_data.evaluation import evaluated, wilson
from kernelcoding.report.gallery import card_of

X, Y = load_iris(return_X_y=True)
WORDS = np.array(["setosa", "versicolor", "virginica"])[Y]
TRAIN, TEST = np.arange(0, 150, 3), np.setdiff1d(np.arange(150), np.arange(0, 150, 3))


@pytest.fixture(scope="module")
def model():
    classifier = kc.ResidualClassifier(kc.KernelSparseCoder(alpha=0.1))
    return make_pipeline(StandardScaler(), classifier).fit(X[TRAIN], WORDS[TRAIN])


@pytest.fixture(scope="module")
def record(model):
    return evaluated(model, X[TEST], WORDS[TEST], {"samples": 50}, "test.csv", "A title")


def test_numbers_are_those_of_scikit_learn(model, record):
    labels, truth = model.predict(X[TEST]), WORDS[TEST]
    assert record.accuracy == pytest.approx(100 * accuracy_score(truth, labels))
    assert record.low < record.accuracy < record.high
    np.testing.assert_allclose(
        [score.f1 for score in record.scores], 100 * f1_score(truth, labels, average=None)
    )
    assert np.trace(record.confusion) == np.sum(labels == truth)
    assert record.log_loss == pytest.approx(log_loss(truth, model.predict_proba(X[TEST])))
    assert record.majority == pytest.approx(100 * np.bincount(Y[TEST]).max() / 100)
    assert sum(part.count for part in record.calibration) == 100
    assert record.coverage[-1] == (100.0, pytest.approx(record.accuracy))


def test_the_surest_samples_are_kept_first(model, record):
    sure = model[-1].concentration(model[:-1].transform(X[TEST]))
    right = model.predict(X[TEST]) == WORDS[TEST]
    size = round(record.coverage[5][0])
    best = np.argsort(-sure, kind="stable")[:size]
    assert record.coverage[5][1] == pytest.approx(100 * right[best].mean())


def _residuals(model, x):
    """Squared distance of a sample to what the atoms of each class make of it."""
    rule, x = model[-1], model[:-1].transform(x)
    code = rule.coder_.transform(x)
    return {
        name: rule.coder_.reconstruction_error(x, code * (rule.atom_classes_ == label))[0]
        for label, name in enumerate(rule.classes_)
    }


def test_examples_have_atoms_of_known_classes(model, record):
    wrong = [example for example in record.examples if example.label != example.predicted]
    assert wrong
    assert len(record.examples) == len(wrong) + 4
    cards = list(map(card_of, record.examples))
    assert [card.is_right for card in cards] == [False] * len(wrong) + [True] * 4
    labels = model.predict(X[TEST])
    for example, card in zip(record.examples, cards, strict=True):
        row = int(example.name.removeprefix("row ")) - 1
        assert (WORDS[TEST][row], labels[row]) == (example.label, example.predicted)
        assert len(example.residuals) == 3
        assert card.classes[0].label == example.predicted
        assert card.numbers == "Residual"
        residual = _residuals(model, X[TEST][[row]])[example.predicted]
        assert dict(example.residuals)[example.predicted] == pytest.approx(residual, rel=1e-4)
        code = model[-1].coder_.transform(model[:-1].transform(X[TEST][[row]]))[0]
        strongest = example.atoms[0]
        owner, atom = strongest.label.split(", atom ")
        assert strongest.weight == pytest.approx(code[np.abs(code).argmax()], rel=1e-3)
        assert owner == WORDS[TRAIN][int(atom) - 1]


@pytest.mark.parametrize("kind", ["landmarks", "supervised"])
def test_examples_of_other_models_have_probabilities(kind):
    coder = kc.KernelSparseCoder(alpha=0.1)
    last = {
        "landmarks": make_pipeline(kc.LandmarkMap("rbf", n_landmarks=20), LogisticRegression()),
        "supervised": kc.SupervisedKernelCoding(coder, n_atoms=6, max_iter=1, random_state=0),
    }[kind]
    steps = [step for _, step in getattr(last, "steps", [("last", last)])]
    model = make_pipeline(StandardScaler(), *steps).fit(X[TRAIN], WORDS[TRAIN])
    found = evaluated(model, X[TEST], WORDS[TEST], {}, "test.csv", "A title")
    expected = model.predict_proba(X[TEST])
    assert found.examples
    for example in found.examples:
        row = int(example.name.removeprefix("row ")) - 1
        shares = dict(example.probabilities)
        assert list(shares) == model.classes_.tolist()
        np.testing.assert_allclose(list(shares.values()), expected[row], rtol=1e-3)
        assert card_of(example).numbers == "Probability"
        assert bool(example.atoms) == (kind == "supervised")


def test_wilson_s_interval_is_scipy_s():
    stats = pytest.importorskip("scipy.stats")
    for k, n in ((0, 10), (3, 10), (10, 10), (97, 120)):
        expected = stats.binomtest(k, n).proportion_ci(method="wilson")
        np.testing.assert_allclose(wilson(k, n), [100 * expected.low, 100 * expected.high])


def test_labels_that_the_model_does_not_know_are_told(model):
    found = evaluated(model, X[:2], np.array(["setosa", "rose"]), {}, "t", "T")
    assert found.notes == ("The model does not know the labels 'rose'.",)
    assert found.classes == ("setosa", "versicolor", "virginica", "rose")
    assert found.accuracy == 50.0
