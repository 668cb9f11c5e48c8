"""A dictionary per class: learned on its samples alone, joined into one."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.preprocessing import normalize

import kernelcoding as kc
from kernelcoding.constraints import Free, Simplex, SumToOne
from kernelcoding.kernels import (
    Gaussian,
    Linear,
    MultipleKernel,
    Normalized,
    Precomputed,
    Sigmoid,
    View,
)
from kernelcoding.priors import Locality

X, Y = load_digits(return_X_y=True)
X, Y, Q = normalize(X[:120]), Y[:120] % 3, normalize(X[120:150])
NAMES = np.array(["nil", "one", "two"])[Y]
SPARSE = kc.KernelSparseCoder(Gaussian(1.0), alpha=0.02)
GIVEN = {"n_atoms": 12, "max_iter": 4, "tol": 0.0}


def class_wise(coder=SPARSE, **changes):
    return kc.KernelDictionaryLearning(coder, per_class=True, **{**GIVEN, **changes})


def alone(label, coder=SPARSE, **changes):
    given = {**GIVEN, "n_atoms": 4, **changes}
    return kc.KernelDictionaryLearning(coder, **given).fit(X[label == NAMES])


CODERS = {
    "sparse": SPARSE,
    "LCC": kc.KernelLCC(Gaussian(1.0), alpha=0.05),
    "pursuit": kc.KernelMatchingPursuit(Gaussian(1.0), n_nonzero=2),
    "soft": kc.KernelBagOfWords(Gaussian(1.0)),
}


@pytest.mark.parametrize("coder", CODERS.values(), ids=CODERS.keys())
def test_every_class_learns_as_if_it_were_alone(coder):
    """With first atoms that no chance decides, one per class: the first to come."""
    joint = class_wise(coder, n_atoms=3, init="kernel-k-means").fit(X, NAMES)
    parts = [
        alone(label, coder, n_atoms=1, init="kernel-k-means") for label in ("nil", "one", "two")
    ]
    for c, part in enumerate(parts):
        assert_allclose(
            joint.dictionary_.cross(Q)[:, c], part.dictionary_.cross(Q)[:, 0], atol=1e-8
        )
    sizes = np.bincount(Y)
    steps = min(len(part.objective_history_) for part in parts)
    together = np.average([p.objective_history_[:steps] for p in parts], axis=0, weights=sizes)
    assert_allclose(joint.objective_history_[:steps], together, rtol=1e-9)


@pytest.mark.parametrize("constraint", [Free(), Simplex(), SumToOne()])
def test_samples_that_are_their_only_atom_pull_nowhere(constraint):
    coder = kc.KernelCoder(Gaussian(1.0), prior=Locality(), constraint=constraint)
    dl = class_wise(coder, n_atoms=3).fit(X, NAMES)
    assert dl.reconstruction_error(X).min() >= 0.0
    assert np.all(np.diff(dl.objective_history_) <= 1e-12)


def test_atoms_are_combinations_of_samples_of_their_class():
    dl = class_wise().fit(X, NAMES)
    assert list(dl.classes_) == ["nil", "one", "two"]
    assert_array_equal(dl.atom_classes_, np.repeat([0, 1, 2], 4))
    owners = Y[dl.dictionary_.landmarks.index]
    foreign = owners[:, None] != dl.atom_classes_[None, :]
    assert not dl.dictionary_.weights[foreign].any()
    assert_array_equal(np.sort(dl.dictionary_.landmarks.index), np.arange(120))
    assert_array_equal(Y[dl.representatives_], np.repeat(dl.atom_classes_[:, None], 10, axis=1))
    assert dl.transform(Q).shape == (30, 12)
    assert np.all(np.diff(dl.objective_history_) <= 1e-12)
    assert list(dl.objective_steps_) == ["codes"] + ["atoms", "codes"] * 4
    assert (dl.n_iter_, dl.status_) == (4, "max_iter")
    assert dl.get_feature_names_out().shape == (12,)


def test_objective_is_the_mean_over_samples_coded_by_their_class():
    dl = class_wise().fit(X, NAMES)
    total = 0.0
    for c in range(3):
        own = np.flatnonzero(dl.atom_classes_ == c)
        problem = dl.dictionary_.problem(X[c == Y]).for_atoms(own)
        codes = dl.coder_.formulation().solve(problem, dl._coding()[1]).codes
        codes = codes.toarray() if hasattr(codes, "toarray") else codes
        total += (0.5 * problem.squared_error(codes) + 0.02 * np.abs(codes).sum(axis=1)).sum()
    assert dl.objective_history_[-1] == pytest.approx(total / 120, rel=1e-5)


def test_threads_change_nothing():
    one, two = (class_wise(n_jobs=n).fit(X, NAMES) for n in (1, 2))
    assert_array_equal(one.objective_history_, two.objective_history_)
    assert_allclose(one.transform(Q), two.transform(Q), atol=1e-12)


def test_shares_of_atoms_and_landmarks():
    few = np.r_[np.flatnonzero(Y == 0)[:2], np.flatnonzero(Y == 1)[:20], np.flatnonzero(Y == 2)]
    dl = class_wise(n_atoms=11, n_landmarks=20).fit(X[few], NAMES[few])
    # Two samples make two atoms at most; the others share what is left.
    assert sorted(np.bincount(dl.atom_classes_)) == [2, 4, 5]
    assert np.bincount(dl.atom_classes_)[0] == 2
    index = dl.dictionary_.landmarks.index
    assert len(np.unique(index)) == len(index) == 20
    assert_array_equal(np.bincount(Y[few][index]), [2, 9, 9])
    single = class_wise(n_atoms=3).fit(X[few[1:]], NAMES[few[1:]])  # a class of one sample
    assert_array_equal(np.bincount(single.atom_classes_), [1, 1, 1])


def test_weights_of_priors_go_with_their_atoms():
    weights = np.where(np.arange(12) < 4, 1e6, 1.0)  # nobody may use the atoms of the first class
    coder = kc.KernelCoder(
        Gaussian(1.0),
        prior=kc.priors.WeightedL1(weights),
        constraint=kc.constraints.Free(),
        alpha=0.02,
    )
    codes = class_wise(coder).fit(X, NAMES).transform(Q)
    assert not codes[:, :4].any()
    assert codes[:, 4:].any()


def test_one_kernel_is_learned_for_all():
    settings = kc.KernelLearning(max_iter=2, rounds=1)
    dl = class_wise(kc.KernelSparseCoder(Gaussian(20.0), alpha=0.02), learn_kernel=settings)
    dl.fit(X, NAMES)
    assert dl.kernel_.gamma < 15.0
    assert dl.dictionary_.kernel.gamma == dl.kernel_.gamma
    assert dl.kernel_history_.size >= 2
    assert dl.n_iter_ == 8  # two runs of the loop


def test_a_callback_ends_it_and_copies_answer_the_same(tmp_path):
    seen = []
    stopped = class_wise(callback=lambda p: seen.append(p.step) or p.iteration == 2).fit(X, NAMES)
    assert (stopped.status_, stopped.n_iter_) == ("callback", 2)
    assert seen == ["codes", "atoms", "codes", "atoms", "codes"]
    dl = class_wise().fit(X, NAMES)
    kc.save(dl, tmp_path / "model.kc")
    thawed = kc.load(tmp_path / "model.kc")
    assert_array_equal(thawed.transform(Q), dl.transform(Q))
    assert_array_equal(thawed.atom_classes_, dl.atom_classes_)
    again = clone(dl).fit(X, NAMES)
    assert_array_equal(again.transform(Q), dl.transform(Q))
    once = clone(dl).set_params(per_class=False).fit(X, NAMES)
    assert not hasattr(once, "atom_classes_")
    assert not hasattr(again.set_params(per_class=False).fit(X, NAMES), "atom_classes_")


def test_an_interrupt_keeps_the_best_dictionary():
    def interrupt(progress):
        if progress.iteration == 2:
            raise KeyboardInterrupt

    dl = class_wise(callback=interrupt)
    with pytest.warns(UserWarning, match="interrupted in round 2"):
        dl.fit(X, NAMES)
    assert dl.status_ == "interrupted"
    assert dl.transform(Q).shape == (30, 12)


def test_what_it_cannot_do_is_refused():
    with pytest.raises(ValueError, match=r"requires y to be passed.*per_class=True"):
        class_wise().fit(X)
    with pytest.raises(ValueError, match="one label per sample"):
        class_wise().fit(X, np.linspace(0.1, 1, 120))
    with pytest.raises(ValueError, match=r"at least one atom per class: n_atoms=2 .* classes, 3"):
        class_wise(n_atoms=2).fit(X, NAMES)
    assert not hasattr(class_wise(), "partial_fit")
    assert hasattr(class_wise().set_params(per_class=False), "partial_fit")
    for learn in (lambda dl: dl.partial_fit(X, NAMES), lambda dl: dl.fit(iter([X]))):
        with pytest.raises(AttributeError, match="partial_fit") as refused:
            learn(class_wise())
        assert "not from batches" in str(refused.value.__cause__)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        class_wise().fit(X, NAMES[:-1])


@pytest.mark.parametrize("n_landmarks", [None, 45])
def test_an_indefinite_kernel_is_told_once_not_once_per_class(n_landmarks):
    coder = kc.KernelSparseCoder(Sigmoid(gamma=0.5, coef0=-1.0), alpha=0.02)
    with pytest.warns(UserWarning, match="negative part of its spectrum") as told:
        class_wise(coder, n_landmarks=n_landmarks, max_iter=1).fit(X, NAMES)
    assert sum("is indefinite" in str(warning.message) for warning in told) == 1


def test_given_similarities_are_those_of_the_class():
    kernel = Gaussian(1.0)
    matrix, queries = kernel(X), kernel(Q, X)
    given = kc.KernelSparseCoder("precomputed", alpha=0.02)
    for changes in ({}, {"n_landmarks": 45}):
        points = class_wise(**changes).fit(X, NAMES)
        same = class_wise(given, **changes).fit(matrix, NAMES)
        assert_allclose(same.objective_history_, points.objective_history_, rtol=1e-9)
        assert_allclose(same.transform(queries), points.transform(Q), atol=1e-7)


@pytest.mark.parametrize("n_landmarks", [None, 45])
@pytest.mark.parametrize("told", [False, True], ids=["dict", "told which is a matrix"])
def test_a_matrix_among_views_is_that_of_the_class(told, n_landmarks):
    rest = sparse.csr_array(X[:, 32:])
    matrix = {"left": Gaussian(1.0)(X[:, :32]), "right": rest}
    queries = {"left": Gaussian(1.0)(Q[:, :32], X[:, :32]), "right": sparse.csr_array(Q[:, 32:])}
    kernels = [View("left", Normalized(Precomputed())), View("right", Linear())]
    coder = kc.KernelSparseCoder(MultipleKernel(kernels), alpha=0.02)
    given = kc.Views(matrix, precomputed=["left"]) if told else matrix
    same = class_wise(coder, n_landmarks=n_landmarks).fit(given, NAMES)
    kernels = [View(slice(0, 32), Gaussian(1.0)), View(slice(32, None), Linear())]
    coder = kc.KernelSparseCoder(MultipleKernel(kernels), alpha=0.02)
    points = class_wise(coder, n_landmarks=n_landmarks).fit(X, NAMES)
    assert_allclose(same.objective_history_, points.objective_history_, rtol=1e-9)
    assert_allclose(same.transform(queries), points.transform(Q), atol=1e-7)


def test_a_matrix_among_columns_is_not_taken_apart():
    wide = np.hstack([Gaussian(1.0)(X), X])
    kernel = View(slice(0, 120), Precomputed()) + View(slice(120, None), Linear())
    with pytest.raises(ValueError, match="columns of an array cannot be taken apart by classes"):
        class_wise(kc.KernelSparseCoder(kernel)).fit(wide, NAMES)


def test_weights_of_samples_are_copies_and_zero_is_absence():
    weight = np.arange(len(X)) % 3
    settings = {"n_atoms": 3, "init": "kernel-k-means"}
    weighted = class_wise(**settings).fit(X, NAMES, sample_weight=weight)
    copied = class_wise(**settings).fit(np.repeat(X, weight, axis=0), np.repeat(NAMES, weight))
    assert_allclose(weighted.objective_history_, copied.objective_history_, rtol=1e-8)
    assert_allclose(weighted.transform(Q), copied.transform(Q), atol=1e-6)
    without = class_wise(n_atoms=2).fit(X, NAMES, sample_weight=(NAMES != "one") * 1.0)
    assert list(without.classes_) == ["nil", "two"]


def test_groups_of_labels_are_the_classes():
    coder = kc.KernelSparseCoder(Gaussian(1.0), alpha=0.02, groups="y")
    dl = class_wise(coder).fit(X, NAMES)
    assert_array_equal(dl.coder_.groups, np.repeat(["nil", "one", "two"], 4))
