"""The search on small data whose answer is known, and what it says of edges and of no signal."""

import re

import numpy as np
import pytest
from scipy.stats import ttest_1samp
from sklearn.datasets import load_iris
from sklearn.model_selection import RepeatedStratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import kernelcoding as kc
from kernelcoding.model_search import Choices, Task, search
from kernelcoding.model_search.candidates import WIDTHS, Axis, Candidate
from kernelcoding.model_search.folds import drawn, folds
from kernelcoding.model_search.judging import Row, Trial, tried
from kernelcoding.model_search.searching import _kept, _Steps, _tuned
from kernelcoding.model_search.sizes import Sizes

X, Y = load_iris(return_X_y=True)
RNG = np.random.default_rng(0)


@pytest.fixture(scope="module")
def outcome():
    seen = []
    task = Task(X, Y, StandardScaler())
    found = search(task, Choices(), "quick", lambda *step: seen.append(step))
    return found, seen


def test_the_best_is_kept_and_peers_are_scikit_learn_s(outcome):
    found, _ = outcome
    best = max((row.trial for row in found.rows), key=lambda trial: trial.mean)
    assert found.kept.trial.mean > 0.9
    assert found.kept.trial == best or not found.kept.trial.is_told_from(best)
    names = [row.name for row in found.rows]
    assert names[:2] == ["residual kSC", "residual kLLC"]
    assert {"supervised linear", "supervised max-margin"} < set(names)
    by_name = {row.name: row.trial for row in found.peers}
    parts = RepeatedStratifiedKFold(n_splits=5, n_repeats=3, random_state=0)
    svc = cross_val_score(make_pipeline(StandardScaler(), SVC()), X, Y, cv=parts)
    np.testing.assert_allclose(by_name["SVC"].scores, svc)
    assert by_name["majority vote"].mean == pytest.approx(1 / 3)
    assert re.search("[0-9] points (above|below) SVC", found.verdict())
    assert f"Kept: {found.kept.name}" in found.verdict()


def test_scores_are_those_of_the_model_that_is_built(outcome):
    found, _ = outcome
    model = make_pipeline(StandardScaler(), found.build(120))
    parts = RepeatedStratifiedKFold(n_splits=5, n_repeats=3, random_state=0)
    np.testing.assert_allclose(found.kept.trial.scores, cross_val_score(model, X, Y, cv=parts))


def test_whoever_watches_sees_the_end(outcome):
    _, seen = outcome
    assert all(n_done <= n_all for _, n_done, n_all in seen)
    assert seen[-1][1] == max(n_done for _, n_done, _ in seen) > 10


def test_what_is_fixed_stays():
    task = Task(X[::3], Y[::3])
    choices = Choices(coder="llc", classifier="residual", neighbors=4, gamma=0.5)
    found = search(task, choices, "quick")
    assert [row.name for row in found.rows] == ["residual kLLC"]
    coder = found.build(40).coder
    assert (coder.n_neighbors, coder.kernel.gamma) == (4, 0.5)
    with pytest.raises(ValueError, match="No model goes with these options"):
        search(task, Choices(coder="words", class_weight="balanced"), "quick")


def test_a_full_search_tries_every_setting():
    samples, labels, seen = X[::2], Y[::2], []
    choices = Choices(coder="sparse", classifier="residual", alpha=0.1)
    found = search(Task(samples, labels), choices, "full", lambda *step: seen.append(step))
    parts = RepeatedStratifiedKFold(n_splits=5, n_repeats=3, random_state=0)
    means = {}
    for width in WIDTHS:
        coder = kc.KernelSparseCoder(kc.kernels.Gaussian(gamma=width), alpha=0.1)
        model = kc.ResidualClassifier(coder)
        means[width] = cross_val_score(model, samples, labels, cv=parts).mean()
    assert found.kept.trial.mean == pytest.approx(max(means.values()))
    assert means[found.kept.settings["gamma"]] == max(means.values())
    assert seen[-1][1] == len(WIDTHS) + 3  # and three peers


SIMPLE = Candidate("simple", None, is_simple=True)
OTHER = Candidate("other", None)


@pytest.mark.parametrize(
    ("simple", "kept"),
    [
        ((0.90, 0.94, 0.90, 0.94), "simple"),  # one point less, a standard error of 1.3
        ((0.91, 0.93, 0.91, 0.93), "other"),  # one point less, of 0.6
        ((0.95, 0.91, 0.95, 0.95), "simple"),  # more
        ((0.92, 0.92), "other"),  # other folds
        ((), "other"),  # failed
    ],
)
def test_a_simple_model_is_kept_where_folds_cannot_tell_it_from_the_best(simple, kept):
    trials = Trial((0.93,) * 4, 1.0, 100), Trial(simple, 1.0, 100)
    rows = [Row(kind.name, {}, trial) for kind, trial in zip((OTHER, SIMPLE), trials, strict=True)]
    chosen = _kept((OTHER, SIMPLE), rows)
    assert rows[chosen].name == kept
    if simple and len(simple) == 4:
        expected = abs(ttest_1samp(np.subtract(simple, 0.93), 0.0).statistic) > 1
        assert trials[1].is_told_from(trials[0]) == expected


class Peak:
    """A model that is right as often as its setting is near a number."""

    def __init__(self, value, best):
        self.share = 1 - abs(value - best) / 20

    def fit(self, X, y):
        self.truth = y
        return self

    def predict(self, X):
        n_right = round(self.share * len(X))
        return np.concatenate([X[:n_right, 0], -np.ones(len(X) - n_right)])


@pytest.mark.parametrize(("best", "edge"), [(5, ()), (9, ("size",)), (0, ("size",)), (2, ())])
def test_a_quick_search_follows_the_best_to_the_edge(best, edge):
    samples = np.repeat(np.arange(2.0), 100)[:, None]
    parts = folds(Task(samples, samples[:, 0]), "quick")
    axis = Axis.of(tuple(range(10)), 5)
    kind = Candidate("peak", lambda s, n: Peak(s["size"], best), {"size": axis})
    row = _tuned(kind, parts, "quick", _Steps(None, 1))
    assert row.settings == {"size": best}
    assert row.at_edge == edge


def test_edges_and_labels_without_signal_are_told():
    noise = RNG.normal(size=(90, 3))
    labels = np.repeat([0, 0, 1], 30)
    found = search(Task(noise, labels), Choices(classifier="residual", coder="llc"), "quick")
    if found.kept.trial.mean <= 2 / 3:
        assert any("no better than always naming the largest" in said for said in found.warnings())
    edge = Row("x", {"gamma": "10*median"}, Trial((1.0,), 0.0, 1), at_edge=("gamma",))
    from dataclasses import replace

    (said,) = replace(found, rows=(edge,), best=0).warnings()
    assert "The best gamma, 10*median, is the last of those tried" in said
    assert "--gamma tries others" in said


def test_groups_stay_on_one_side():
    groups = np.repeat(np.arange(15), 10)
    X = np.column_stack([groups, np.arange(150)])
    parts = folds(Task(X, Y, groups=groups), "quick")
    for part in parts:
        assert not set(part.X[:, 0]) & set(part.queries[:, 0])
    with pytest.raises(ValueError, match="all rows are of one group"):
        folds(Task(X, Y, groups=np.zeros(150)), "quick")
    with pytest.raises(ValueError, match="Every label occurs once"):
        folds(Task(X, np.arange(150)), "quick")


def test_preparation_sees_the_training_part_alone():
    parts = folds(Task(X, Y, StandardScaler()), "quick")
    for part in parts:
        np.testing.assert_allclose(part.X.mean(axis=0), 0.0, atol=1e-12)
        assert np.abs(part.queries.mean(axis=0)).max() > 1e-4


def test_drawn_rows_keep_rare_classes_and_proportions():
    labels = np.array([0] * 900 + [1] * 97 + [2] * 3)
    few = drawn(Task(np.arange(1000)[:, None], labels), 100)
    counts = np.bincount(few.y)
    assert len(few.y) == 100
    assert counts[2] >= 2
    assert 85 <= counts[0] <= 92
    same = drawn(Task(X, Y), 1000)
    assert same.X is X


def test_many_rows_are_searched_on_few_and_compared_on_more(monkeypatch):
    from kernelcoding.model_search import sizes

    monkeypatch.setitem(sizes.SEARCHED, "quick", 60)
    monkeypatch.setitem(sizes.COMPARED, "quick", 120)
    monkeypatch.setattr(sizes, "MOST_ATOMS", 50)
    found = search(Task(X, Y, StandardScaler()), Choices(classifier="residual"), "quick")
    assert (found.n_searched, found.n_compared) == (60, 120)
    notes = found.size_notes(150)
    assert (
        "150 rows: settings were chosen on 60 of them, kinds of models compared on 120" in notes[0]
    )
    if found.kept.name == "residual kSC":
        assert "50 rows are atoms; --landmarks takes another number." in notes


def test_models_that_fail_are_told_apart():
    def build(n):
        raise ValueError("too few\nof them")

    trial = tried(build, folds(Task(X, Y), "quick"))
    assert (trial.scores, trial.failure) == ((), "too few")
    assert trial.mean < 0


@pytest.mark.parametrize(
    ("rows", "landmarks"),
    [
        (90, 90),
        (2000, 500),
        (8000, 1500),
        (20_001, 3000),
        (60_000, 3000),
        (120_000, 1500),
        (200_000, 900),
        (10**6, 500),
    ],
)
def test_landmarks_grow_with_rows_within_memory(rows, landmarks):
    sizes = Sizes.of(rows, "quick")
    assert sizes.map_landmarks(rows) == landmarks
    assert rows * landmarks * 8 <= 4e9
