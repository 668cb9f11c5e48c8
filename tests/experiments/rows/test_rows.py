"""Rows with several kernels, against the library's own estimators; controls."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.svm import SVC

import kernelcoding as kc
from helpers.learning import digits
from kernelcoding.experiments.rows.anchors import (
    learned_anchor_rows,
    sampled_collaborative,
)
from kernelcoding.experiments.rows.learned_widths import supervised_width_rows, width_rows
from kernelcoding.experiments.rows.one_kernel import (
    control_row,
    reading_rows,
    sparse_coder,
    supervised_row,
)
from kernelcoding.experiments.rows.several_kernels import (
    kernels_collaborative_row,
    kernels_pair_row,
    kernels_residual_row,
    kernels_supervised_row,
    kernels_svm_row,
)
from kernelcoding.experiments.running.classifiers import Collaborative
from kernelcoding.kernels import Gaussian, Linear, MultipleKernel, Precomputed

KERNELS = (Linear(), Gaussian(2.0))


def stacks(n=120, n_train=80):
    X, y = digits(n, labels=True)
    whole = np.stack([kernel(X) for kernel in KERNELS], axis=2)
    return whole[:n_train, :n_train], whole[n_train:, :n_train], y[:n_train], y[n_train:]


@pytest.mark.parametrize("weights", ["equal", "alignment"])
def test_rows_with_several_kernels_are_estimators_with_the_mixture(weights):
    train, test, y, _ = stacks()
    mixture = MultipleKernel([Precomputed(matrix=0), Precomputed(matrix=1)])
    learn_kernel = kc.KernelLearning(weights="alignment") if weights == "alignment" else False
    coder = kc.KernelSparseCoder(mixture, alpha=0.01)
    settings, space = {"weights": weights, "alpha": 0.01}, {}
    row = kernels_residual_row("x", sparse_coder, KERNELS, space, "both")
    expected = kc.ResidualClassifier(clone(coder).set_params(learn_kernel=learn_kernel))
    assert repr(row.build(settings, 80)) == repr(expected)
    assert (row.kernel, row.view) == (KERNELS, "both")
    row = kernels_supervised_row("x", sparse_coder, "linear", KERNELS, space, 3)
    expected = kc.SupervisedKernelCoding(coder, 20, max_iter=3, learn_kernel=learn_kernel)
    found = row.build(settings, 20)
    assert repr(found) == repr(expected)
    assert_array_equal(found.fit(train, y).predict(test), expected.fit(train, y).predict(test))
    assert control_row(row).build({**settings, "eta": 1e-9}, 20).eta == 1e-9


def test_shares_may_be_given_or_learned_by_the_papers_ratio():
    train, test, y, _ = stacks()
    row = kernels_residual_row("x", sparse_coder, KERNELS, {})
    given = row.build({"weights": (0.2, 0.8), "alpha": 0.01}, 80).fit(train, y)
    mixed = 0.2 * train[:, :, 0] + 0.8 * train[:, :, 1]
    plain = kc.ResidualClassifier(kc.KernelSparseCoder("precomputed", alpha=0.01)).fit(mixed, y)
    queries = 0.2 * test[:, :, 0] + 0.8 * test[:, :, 1]
    assert_array_equal(given.predict(test), plain.predict(queries))
    learning = row.build({"weights": "ratio", "alpha": 0.01}, 80).coder.learn_kernel
    assert (learning.weights, learning.regularization) == ("ratio", 0)
    machine = kernels_svm_row("x", KERNELS, {}).build({"C": 3.0, "weights": (0.2, 0.8)}, 0)
    expected = SVC(C=3.0, kernel="precomputed").fit(mixed, y)
    assert_array_equal(machine.fit(train, y).predict(test), expected.predict(queries))


def test_learned_widths_are_those_of_the_estimators():
    spaces = {"kSC, width": {"alpha": (0.01,)}, "kLLC, width": {"n_neighbors": (5,)}}
    rows = {row.name: row for row in width_rows(spaces, "words")}
    assert len(rows) == 8
    assert all(row.view == "words" and row.kernel is None for row in rows.values())
    settings = {"alpha": 0.01, "n_neighbors": 5, "regularization": 1e-3}
    for how, criterion in (("ratio", "ratio"), ("held-out", "held-out")):
        built = rows[f"kLLC, {how}"].build(settings, 20).coder
        assert built.learn_kernel.criterion == criterion
        assert repr(built.kernel) == repr(Gaussian("median"))
    assert rows["kSC, median"].build(settings, 20).coder.learn_kernel is False
    joint = {row.name: row for row in supervised_width_rows(sparse_coder, {}, 3)}
    assert joint["l-SkSC, joint"].build(settings, 20).learn_kernel.criterion == "joint"
    assert joint["l-SkSC, median"].build(settings, 20).n_atoms == 20


def test_the_machine_sees_the_mean_of_the_kernels():
    train, test, y, truth = stacks()
    row = kernels_svm_row("x", KERNELS, {"C": (1.0,)}, "both")
    found = row.build({"C": 3.0}, 0).fit(train, y)
    expected = SVC(C=3.0, kernel="precomputed").fit(train.mean(axis=2), y)
    assert_array_equal(found.predict(test), expected.predict(test.mean(axis=2)))
    assert found.score(test, truth) > 0.8


def test_ridge_codes_see_the_mean_of_the_kernels():
    train, test, y, truth = stacks()
    found = kernels_collaborative_row(KERNELS).build({"alpha": 0.01, "weights": (0.2, 0.8)}, 0)
    mixed, queries = (0.2 * one[:, :, 0] + 0.8 * one[:, :, 1] for one in (train, test))
    expected = Collaborative(0.01).fit(mixed, y)
    assert_array_equal(found.fit(train, y).predict(test), expected.predict(queries))
    assert found.score(test, truth) > 0.8


def test_dictionary_pairs_see_the_mean_of_the_kernels():
    train, test, y, truth = stacks()
    row = kernels_pair_row(KERNELS, 20)
    settings = {"separation": 0.01, "regularization": 1e-4, "weights": (0.2, 0.8)}
    found = row.build(settings, 80)
    mixed, queries = (0.2 * one[:, :, 0] + 0.8 * one[:, :, 1] for one in (train, test))
    expected = kc.KernelDictionaryPairLearning(
        "precomputed", n_atoms=20, separation=0.01, regularization=1e-4
    ).fit(mixed, y)
    assert_array_equal(found.fit(train, y).predict(test), expected.predict(queries))
    assert found.score(test, truth) > 0.8


def test_rows_beside_curves_have_as_many_atoms_as_the_curve():
    spaces = {"supervised kSC": {"alpha": (0.02,)}, "supervised kLLC": {"n_neighbors": (4,)}}
    rows = {row.name: row for row in learned_anchor_rows(spaces, 3, (1.0,), "words")}
    assert set(rows) == {"kSC, SVM", "kLLC, SVM", "DPL", "kernel DPL"}
    assert all(row.view == "words" for row in rows.values())
    settings = {"alpha": 0.02, "separation": 0.01, "regularization": 1e-4}
    for name in ("kSC, SVM", "DPL", "kernel DPL"):
        assert rows[name].build(settings, 23).n_atoms == 23


def test_ridge_codes_over_few_samples_of_each_class():
    X, y = digits(120, labels=True)
    found = sampled_collaborative(Gaussian(2.0), {"alpha": 0.01}, 40).fit(X[:80], y[:80])
    kept = found.sampled_
    expected = Collaborative(0.01).fit(Gaussian(2.0)(X[kept]), y[kept])
    queries = Gaussian(2.0)(X[80:], X[kept])
    assert_array_equal(found.predict(X[80:]), expected.predict(queries))


def test_a_control_says_of_which_method_it_is():
    row = supervised_row("l-SkSC", sparse_coder, "linear", Gaussian(), {"alpha": (0.1,)}, 2)
    control = control_row(row)
    assert (row.control_of, control.control_of) == (None, "l-SkSC")
    assert control.name != row.name
    assert control.space == {"alpha": (0.1,), "eta": (1e-9,)}
    assert (control.kernel, control.view, control.build) == (row.kernel, row.view, row.build)


def test_codes_read_in_four_ways_are_those_of_the_same_dictionaries():
    spaces = {"kSC, read": {"alpha": (0.02,)}, "kLLC, read": {"n_neighbors": (4,)}}
    rows = {row.name: row for row in reading_rows(spaces, 3, (1.0,))}
    assert len(rows) == 8
    settings = {"alpha": 0.02}
    dl = kc.KernelDictionaryLearning(
        kc.KernelSparseCoder("precomputed", alpha=0.02), n_atoms=20, max_iter=3
    )
    assert repr(rows["kSC, 1-NN"].build(settings, 20)) == repr(dl)
    assert repr(rows["kSC, SVM"].build(settings, 20)) == repr(dl)
    residual = rows["kSC, residuals"].build(settings, 20)
    assert repr(residual) == repr(kc.ResidualClassifier(dl))
    per_class = clone(dl).set_params(per_class=True)
    class_wise = rows["kSC, class-wise"].build(settings, 20)
    assert repr(class_wise) == repr(kc.ResidualClassifier(per_class))
    train, test, y, _ = stacks()
    codes = dl.fit(train[:, :, 1], y).transform(test[:, :, 1])
    same = residual.fit(train[:, :, 1], y).coder_.transform(test[:, :, 1])
    assert_array_equal(same, codes)
