"""The kernel chosen by labels of samples that helped neither to code nor to predict themselves."""

from functools import cache

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.model_selection import cross_val_score

import kernelcoding as kc
from helpers.kernel_learning import AT_A_BOUND
from helpers.learning import digits
from kernelcoding.kernel_learning.held_out import held_out
from kernelcoding.kernel_learning.label_loss import calibrated_loss, left_out_scores
from kernelcoding.kernels import Fixed, Gaussian, Linear, MultipleKernel, View
from reference.kernel_learning import least_log_loss, regressed

HELD_OUT = kc.KernelLearning(criterion="held-out")


def board(n=200, fields=5):
    """A board of two colours."""
    X = np.random.default_rng(0).uniform(0.0, fields, size=(n, 2))
    return X, np.floor(X).sum(axis=1).astype(int) % 2


def folds_of(X, seed):
    """The folds that a coder of all samples is judged in."""
    return held_out(X, X, len(X), 5, np.random.RandomState(seed))[1][0]


def written_out(coder, kernel, X, y, rule):
    """The mean loss of labels, from residuals or regressions of models without the fold."""
    folds, classes = folds_of(X, 0), np.unique(y)
    scores, codes = np.empty((len(X), len(classes))), np.zeros((len(X), len(X)))
    plain = clone(coder).set_params(kernel=kernel, learn_kernel=False)
    for fold in range(5):
        out, rest = np.flatnonzero(folds == fold), np.flatnonzero(folds != fold)
        model = kc.ResidualClassifier(plain).fit(X[rest], y[rest])
        found = model.decision_function(X[out])
        scores[out] = np.column_stack([-found, 0 * found]) if found.ndim == 1 else found
        codes[np.ix_(out, rest)] = model.coder_.transform(X[out])
    if rule == "ridge":
        scores = regressed(codes, np.eye(len(classes))[np.searchsorted(classes, y)])
    return least_log_loss(scores, np.searchsorted(classes, y))


@pytest.mark.parametrize("rule", ["residual", "ridge"])
@pytest.mark.parametrize(
    "coder",
    [kc.KernelSparseCoder(alpha=0.01, tol=1e-9), kc.KernelLLC(n_neighbors=6)],
    ids=["sparse", "LLC"],
)
def test_the_loss_is_that_of_models_without_the_fold(coder, rule):
    X, y = digits(60, labels=True)
    start = Gaussian("median").resolve(X)
    settings = kc.KernelLearning(criterion="held-out", rule=rule)
    learned = clone(coder).set_params(kernel=start, learn_kernel=settings, random_state=0)
    learned.fit(X, y)
    first, last = learned.kernel_history_[0], learned.kernel_objective_
    assert_allclose(last, written_out(coder, learned.kernel_, X, y, rule), rtol=1e-3)
    if rule == "residual":
        assert_allclose(first, written_out(coder, start, X, y, rule), rtol=1e-3)


@pytest.mark.parametrize("n_atoms", [1, 2])
def test_few_atoms_are_never_all_in_the_fold_of_a_sample(n_atoms):
    X = digits(20)
    for seed in range(20):
        found = held_out(X, X[:n_atoms], n_atoms, 5, np.random.RandomState(seed))
        rows, (of_samples, of_atoms) = found
        assert len(rows) >= 19
        assert all((of_atoms != fold).any() for fold in of_samples)


def test_regression_leaves_each_sample_out(rng):
    codes, targets = rng.normal(size=(25, 6)), np.eye(3)[rng.integers(0, 3, 25)]
    assert_allclose(left_out_scores(codes, targets), regressed(codes, targets), atol=1e-8)


def test_the_loss_has_no_scale(rng):
    scores, y = rng.normal(size=(30, 4)), rng.integers(0, 4, 30)
    losses = calibrated_loss(scores, y)
    assert_allclose(losses.mean(), least_log_loss(scores, y), rtol=1e-4)
    assert_allclose(calibrated_loss(1e-6 * scores + 3.0, y), losses, rtol=1e-3)
    assert_allclose(calibrated_loss(np.zeros((30, 4)), y), np.log(4.0), rtol=1e-12)


@cache
def least_on_a_grid():
    """The least loss that a width of a grid has on the board."""
    X, y = board()
    middle = Gaussian("median").resolve(X).gamma
    coder = kc.KernelSparseCoder(alpha=0.01)
    return min(
        written_out(coder, Gaussian(width), X, y, "residual")
        for width in middle * np.logspace(-1, 2, 10)
    )


@pytest.mark.filterwarnings("ignore:.* codes are all zero:UserWarning")
@pytest.mark.parametrize("factor", [3e-3, 1.0, 1e3])
def test_a_width_is_found_from_afar_and_is_as_good_as_a_grid(factor):
    X, y = board()
    middle = Gaussian("median").resolve(X).gamma
    coder = kc.KernelSparseCoder(Gaussian(factor * middle), alpha=0.01, learn_kernel=HELD_OUT)
    learned = clone(coder).fit(X, y)
    assert (np.diff(learned.kernel_history_) < 0).all()
    # Within the width of a plain: at the median already nothing is better beyond doubt.
    assert learned.kernel_objective_ <= least_on_a_grid() * 1.05
    assert (learned.kernel_status_ == "labels") == (factor == 1.0)
    plain = kc.ResidualClassifier(clone(coder).set_params(learn_kernel=False))
    scores = [
        cross_val_score(clone(plain).set_params(coder__kernel=kernel), X, y).mean()
        for kernel in (Gaussian("median"), learned.kernel_)
    ]
    assert scores[1] >= scores[0] - 0.01


@AT_A_BOUND
def test_labels_that_say_nothing_keep_the_start(rng):
    X = rng.normal(size=(150, 3))
    kept = 0
    for seed in range(5):
        y = np.random.default_rng(seed).integers(0, 3, 150)
        coder = kc.KernelSparseCoder(Gaussian(0.3), alpha=0.05, learn_kernel=HELD_OUT).fit(X, y)
        kept += coder.kernel_.gamma == 0.3
        assert (coder.kernel_status_ == "labels") == (coder.kernel_.gamma == 0.3)
    assert kept >= 4


@pytest.mark.filterwarnings("ignore:.* codes are all zero:UserWarning")
def test_seeds_agree():
    """Within a plain of the loss: judged in the same folds, their widths are as good."""
    X, y = board()
    start = Gaussian(1e3 * Gaussian("median").resolve(X).gamma)
    coder, losses = kc.KernelSparseCoder(start, alpha=0.01, learn_kernel=HELD_OUT), []
    for seed in range(3):
        kernel = clone(coder).set_params(random_state=seed).fit(X, y).kernel_
        losses.append(written_out(coder, kernel, X, y, "residual"))
    assert max(losses) <= 1.05 * min(losses)
    assert max(losses) <= 0.6 * np.log(2.0)


# Several kernels and views -----------------------------------------------------------------------


def informative_and_noise(rng):
    y = np.arange(150) % 3
    return np.hstack([2.0 * np.eye(3)[y] + rng.normal(size=(150, 3)), rng.normal(size=(150, 3))]), y


@AT_A_BOUND
def test_weights_prefer_the_view_that_knows_the_labels(rng):
    X, y = informative_and_noise(rng)
    views = MultipleKernel(
        [Fixed(View([0, 1, 2], Gaussian(0.2))), Fixed(View([3, 4, 5], Gaussian(0.2)))]
    )
    coder = kc.KernelSparseCoder(views, alpha=0.01, learn_kernel=HELD_OUT).fit(X, y)
    assert coder.kernel_.weights_[0] > 0.8
    assert_allclose(coder.kernel_.weights_.sum(), 1.0)
    ratio = kc.KernelSparseCoder(views, alpha=0.01, learn_kernel=True).fit(X)
    assert coder.kernel_.weights_[0] > ratio.kernel_.weights_[0] + 0.2


@AT_A_BOUND
def test_every_view_has_a_width_of_its_own(rng):
    X, y = informative_and_noise(rng)
    X[:, :3] *= 10.0
    views = MultipleKernel([View([0, 1, 2], Gaussian(1.0)), View([3, 4, 5], Gaussian(1.0))])
    coder = kc.KernelSparseCoder(views, alpha=0.01, learn_kernel=HELD_OUT).fit(X, y)
    widths = [view.kernel.gamma for view in coder.kernel_.kernels]
    assert widths[0] < 0.02
    plain = clone(coder).set_params(learn_kernel=False)
    before, after = (
        cross_val_score(kc.ResidualClassifier(plain.set_params(kernel=kernel)), X, y).mean()
        for kernel in (MultipleKernel(views.kernels, [0.5, 0.5]), coder.kernel_)
    )
    assert after > before + 0.1


def test_weights_alone_can_be_learned():
    X, y = digits(120, labels=True)
    settings = kc.KernelLearning(criterion="held-out", bounds={"1__gamma": (1.0, 1.0)})
    kernel = MultipleKernel([Linear(), Gaussian(1.0)])
    coder = kc.KernelSparseCoder(kernel, alpha=0.01, learn_kernel=settings).fit(X, y)
    assert_allclose(coder.kernel_.children[1].gamma, 1.0)


# Everywhere --------------------------------------------------------------------------------------


@AT_A_BOUND
@pytest.mark.parametrize(
    "model",
    [
        kc.KernelDictionaryLearning(n_atoms=20, max_iter=2, learn_kernel=HELD_OUT),
        kc.KernelDictionaryLearning(n_atoms=20, max_iter=2, per_class=True, learn_kernel=HELD_OUT),
        kc.SupervisedKernelCoding(n_atoms=20, max_iter=2, learn_kernel=HELD_OUT),
        kc.SupervisedKernelCoding(
            n_atoms=20, max_iter=2, classifier="bilinear", learn_kernel=HELD_OUT
        ),
    ],
    ids=["atoms", "atoms of classes", "linear", "bilinear"],
)
def test_learners_of_dictionaries_know_it_too(model):
    X, y = digits(120, labels=True)
    start = Gaussian(100.0 * Gaussian("median").resolve(X).gamma)
    model = clone(model).set_params(coder=kc.KernelSparseCoder(start, alpha=0.01))
    assert model.fit(X, y).kernel_.gamma < 0.2 * start.gamma
    assert model.kernel_status_ == "learned"
    weight = np.r_[np.zeros(20), np.ones(100)]
    assert clone(model).fit(X, y, sample_weight=weight).kernel_.gamma < 0.2 * start.gamma


def test_several_labels_of_a_sample_are_regressed():
    X, y = digits(120, labels=True)
    Y = np.column_stack([y % 2, y > 4]).astype(int)
    model = kc.SupervisedKernelCoding(
        kc.KernelSparseCoder(Gaussian(50.0), alpha=0.01), n_atoms=20, max_iter=2,
        learn_kernel=HELD_OUT,
    ).fit(X, Y)  # fmt: skip
    assert model.kernel_.gamma < 20.0


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (None, r'criterion="held-out" needs labels: call fit\(X, y\), or use criterion="ratio"'),
        (np.linspace(0, 1, 60), "needs labels of classes, got continuous targets"),
        (np.zeros(60), "needs labels of two or more classes, got one"),
        (np.arange(7), "inconsistent numbers of samples"),
    ],
    ids=["none", "numbers", "one class", "too few"],
)
def test_labels_are_needed(y, message):
    X = digits(60)
    with pytest.raises(ValueError, match=message):
        kc.KernelSparseCoder(learn_kernel=HELD_OUT).fit(X, y)
    if y is None:
        with pytest.raises(ValueError, match=message):
            kc.KernelDictionaryLearning(n_atoms=5, learn_kernel=HELD_OUT).fit(X)


def test_residuals_need_labelled_atoms():
    X, y = digits(60, labels=True)
    settings = kc.KernelLearning(criterion="held-out", rule="residual")
    for model in (
        kc.KernelSparseCoder(atoms=X[:20] + 0.01, learn_kernel=settings),
        kc.KernelDictionaryLearning(n_atoms=10, learn_kernel=settings),
    ):
        with pytest.raises(ValueError, match=r'rule="residual" needs atoms that .* rule="ridge"'):
            model.fit(X, y)


def test_strings_are_labels_and_the_same_ones():
    X, y = digits(80, labels=True)
    coder = kc.KernelSparseCoder(Gaussian(30.0), alpha=0.02, learn_kernel=HELD_OUT)
    numbers, words = clone(coder).fit(X, y), clone(coder).fit(X, np.array([f"c{i}" for i in y]))
    objects = clone(coder).fit(X, np.array([f"c{i}" for i in y], dtype=object))
    assert numbers.kernel_.gamma == words.kernel_.gamma == objects.kernel_.gamma
    assert_array_equal(numbers.kernel_history_, words.kernel_history_)
