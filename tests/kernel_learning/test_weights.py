"""Several kernels in one: the ratio's degeneracy, regularised shares, alignment, views."""

import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import kernelcoding as kc
from helpers.kernel_learning import AT_A_BOUND
from helpers.learning import digits, never_rises
from kernelcoding.coders.base import options_of
from kernelcoding.kernel_learning.alignment import aligned_weights
from kernelcoding.kernel_learning.held_out import held_out
from kernelcoding.kernel_learning.ratio import Part, RatioProblem
from kernelcoding.kernels import (
    Gaussian,
    Laplacian,
    Linear,
    MultipleKernel,
    Normalized,
    Polynomial,
    Precomputed,
    Sigmoid,
    View,
)


def four_kernels():
    quadratic = Normalized(Polynomial(degree=2, gamma=1.0))
    return [Linear(), Gaussian(1.0), quadratic, Laplacian(0.3)]


def shares(kernel, X):
    """Parts of the mean diagonal."""
    means = np.array([np.mean(child.diagonal(X)) for child in kernel.children])
    parts = kernel.current_weights * means
    return parts / parts.sum()


def learned(X, kernels, y=None, coder=None, weights=None, **options):
    coder = kc.KernelSparseCoder(alpha=0.05) if coder is None else coder
    settings = kc.KernelLearning(**options)
    coder = clone(coder).set_params(
        kernel=MultipleKernel(kernels, weights), learn_kernel=settings, random_state=0
    )
    return coder.fit(X, y)


# The ratio -------------------------------------------------------------------------------------


def test_for_fixed_codes_no_mixture_beats_the_best_kernel(rng):
    X = digits(80)
    kernel = MultipleKernel(four_kernels())
    coder = kc.KernelSparseCoder(kernel, X[:40], alpha=0.05).fit(X)
    settings = kc.KernelLearning(regularization=0.0)
    prepared = kernel.prepare(X[:40]), kernel.prepare(X[40:])
    part = Part(np.arange(40), np.arange(40))
    coding = coder.formulation(), options_of(coder)
    ratio = RatioProblem(*coding, kernel, prepared[0], None, prepared[1], [part], settings)
    start = kernel.theta
    ratio(start)
    ratio.frozen = True
    # at equal mean diagonals a mixture has weights log(share) - units
    inner = len(start) - 4
    corner = np.full((4, 4), -40.0) + 40.0 * np.eye(4)

    def value(logs):
        theta = start.copy()
        theta[inner:] = logs - ratio.units
        return ratio(theta)[0]

    best = min(value(logs) for logs in corner)
    mixtures = [value(np.log(row)) for row in rng.dirichlet(np.full(4, 0.5), size=200)]
    assert min(mixtures) >= best * (1 - 1e-9)
    assert max(mixtures) > 1.01 * best


@AT_A_BOUND
@pytest.mark.parametrize("coder", [kc.KernelSparseCoder(alpha=0.05), kc.KernelLCC()], ids=str)
def test_the_papers_ratio_ends_in_one_kernel_the_regularised_one_does_not(coder):
    X = digits(60)
    paper = learned(X, four_kernels(), coder=coder, regularization=0.0, max_iter=100)
    assert shares(paper.kernel_, X).max() > 0.97
    soft = learned(X, four_kernels(), coder=coder, regularization=0.1)
    assert shares(soft.kernel_, X).max() < 0.9
    strong = learned(X, four_kernels(), coder=coder, regularization=1e4)
    assert_allclose(shares(strong.kernel_, X), 0.25, atol=0.01)
    for fitted in (paper, soft, strong):
        assert never_rises(fitted.kernel_history_)
        assert_allclose(fitted.kernel_.weights_, fitted.kernel_.current_weights)


def test_learned_shares_minimise_the_regularised_ratio(rng):
    X = digits(100)
    bounds = {"1__gamma": (1.0, 1.0)}
    coder = learned(X, [Linear(), Laplacian(1.0)], regularization=0.3, tol=1e-4, bounds=bounds)
    here = coder.kernel_
    found = shares(here, X)
    means = np.array([np.mean(child.diagonal(X)) for child in here.children])
    atoms = coder.dictionary_
    folds = _folds(X, 5)

    def value(first, scale):
        parts = np.array([first, 1.0 - first])
        kernel = MultipleKernel(list(here.children), (parts / means).tolist())
        total, gram = 0.0, kernel(X)
        for fold in range(5):
            rows, others = np.flatnonzero(folds == fold), np.flatnonzero(folds != fold)
            plain = kc.KernelSparseCoder(kernel, X[others], alpha=0.05).fit(X)
            codes = plain.transform(X[rows])
            total += np.sum(0.5 * plain.reconstruction_error(X[rows], codes))
            total += 0.05 * np.abs(codes).sum()
        J = 2.0 * (np.trace(gram) * 100 - gram.sum()) / (100 * 99)
        return total / 100 / J + 0.3 * scale * np.sum(parts * np.log(2 * parts))

    assert atoms.n_atoms == 100
    scale = value(0.5, 0.0)
    grid = np.linspace(0.02, 0.98, 33)
    best = grid[np.argmin([value(first, scale) for first in grid])]
    assert_allclose(found[0], best, atol=0.03)


def _folds(X, n_folds):
    return held_out(X, X, len(X), n_folds, np.random.RandomState(0))[1][0]


def test_shares_do_not_depend_on_the_scale_of_a_kernel():
    X = digits(100)

    class Large(Gaussian):
        """A thousand times the Gaussian, without a parameter that says so."""

        def profile(self, S, *, overwrite=False):
            return 1000.0 * super().profile(S, overwrite=overwrite)

        def profile_gradient(self, S):
            return 1000.0 * super().profile_gradient(S)

    plain = learned(X, [Linear(), Gaussian(1.0)]).kernel_
    scaled = learned(X, [Linear(), Large(1.0)]).kernel_
    assert_allclose(shares(scaled, X), shares(plain, X), rtol=1e-3)
    assert_allclose(scaled.children[1].gamma, plain.children[1].gamma, rtol=1e-3)
    assert_allclose(scaled.current_weights[1], plain.current_weights[1] / 1000, rtol=1e-3)


def test_a_member_cannot_win_by_inflating_itself():
    """Shares are parts of the mean diagonal at the parameters that were learned."""
    X = digits(80)
    coder = learned(X, [Linear(), Polynomial(degree=2, gamma=1.0)], regularization=0.3)
    assert 0.02 < shares(coder.kernel_, X)[0] < 0.98
    diagonal = coder.kernel_.diagonal(X)
    assert_allclose(diagonal.mean(), 1.0, rtol=1e-6)


def test_given_weights_are_the_start_and_zero_stays_zero():
    X = digits(80)
    coder = learned(X, four_kernels(), weights=[1.0, 1.0, 0.0, 1.0])
    assert coder.kernel_.current_weights[2] == 0.0
    assert (coder.kernel_.current_weights[[0, 1, 3]] > 0).all()


def test_an_indefinite_member_is_clipped():
    X = digits(80)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        coder = learned(X, [Gaussian(1.0), Sigmoid(2.0, 0.5)])
        codes = coder.transform(X)
    assert np.isfinite(codes).all()
    assert never_rises(coder.kernel_history_)
    assert np.linalg.eigvalsh(coder.dictionary_.gram)[0] > -1e-8


# Alignment -------------------------------------------------------------------------------------


def alignment(matrix, y):
    """Centred alignment with the matrix of equal labels, from the definition."""
    H = np.eye(len(y)) - 1.0 / len(y)
    T = H @ (y[:, None] == y[None]).astype(float) @ H
    K = H @ matrix @ H
    return np.sum(K * T) / np.linalg.norm(K) / np.linalg.norm(T)


@pytest.mark.parametrize("n_classes", [2, 4])
def test_aligned_weights_maximise_the_alignment(n_classes, rng):
    y = rng.integers(n_classes, size=60)
    X = rng.normal(size=(60, 6))
    X[:, 0] += y
    X[:, 2:4] += 0.5 * y[:, None]
    views = [X[:, :2], X[:, 2:4], X[:, 4:]]
    matrices = [100.0 * views[0] @ views[0].T, Gaussian(0.2)(views[1]), Laplacian(0.3)(views[2])]
    weights = aligned_weights(matrices, y)
    assert_allclose(weights.sum(), 1.0)
    assert weights.min() >= 0
    found = alignment(sum(w * K for w, K in zip(weights, matrices, strict=True)), y)
    scales = [np.linalg.norm(K) for K in matrices]
    steps = np.linspace(0.0, 1.0, 41)
    corners = [(a, b, 1 - a - b) for a in steps for b in steps if a + b <= 1 + 1e-12]
    grid = [
        alignment(sum(w / s * K for w, s, K in zip(corner, scales, matrices, strict=True)), y)
        for corner in corners
    ]
    assert found >= max(grid) - 1e-9
    assert found <= max(grid) + 1e-3
    assert found > 1.01 * max(alignment(K, y) for K in matrices)


def test_alignment_in_a_coder_is_alignment_of_the_base_kernels():
    X, y = digits(100, labels=True)
    fixed = [Linear(), View(slice(0, 32), Linear()), View(slice(32, 64), Linear())]
    coder = _aligned(X, fixed, y)
    expected = aligned_weights([kernel(X) for kernel in fixed], y)
    assert_allclose(shares_of(coder), expected, atol=1e-6)


def shares_of(coder):
    weights = np.asarray(coder.kernel_.weights_)
    return weights / weights.sum()


def _aligned(X, kernels, y):
    settings = kc.KernelLearning(weights="alignment")
    coder = kc.KernelSparseCoder(MultipleKernel(kernels), alpha=0.05, learn_kernel=settings)
    return coder.fit(X, y)


def test_alignment_with_widths_learned_keeps_the_ratio_of_weights():
    X, y = digits(100, labels=True)
    kernels = [Linear(), Gaussian(30.0)]
    coder = _aligned(X, kernels, y)
    expected = aligned_weights([kernel(X) for kernel in kernels], y)
    assert_allclose(shares_of(coder), expected, rtol=1e-3)
    assert coder.kernel_.children[1].gamma != 30.0


def test_alignment_prefers_the_kernel_that_knows_the_labels(rng):
    y = np.repeat([0, 1, 2], 30)
    X = np.hstack([np.eye(3)[y] + 0.2 * rng.normal(size=(90, 3)), rng.normal(size=(90, 3))])
    coder = _aligned(X, [View([0, 1, 2], Gaussian(1.0)), View([3, 4, 5], Gaussian(1.0))], y)
    assert shares_of(coder)[0] > 0.9


# Views -----------------------------------------------------------------------------------------


@pytest.fixture
def table(rng):
    y = np.repeat(["a", "b", "c"], 20)
    means = np.repeat(np.eye(3), 20, axis=0)
    X = np.hstack([2 * means + 0.5 * rng.normal(size=(60, 3)), 50 * rng.normal(size=(60, 2))])
    names = ["red", "green", "blue", "width", "height"]
    return pd.DataFrame(X, columns=names), y


def test_views_of_a_data_frame_are_those_of_the_array(table):
    X, _ = table
    by_name = [View(["red", "green", "blue"], Gaussian("median")),
               View(["height", "width"], Gaussian("median"))]  # fmt: skip
    by_position = [View([0, 1, 2], Gaussian("median")), View([4, 3], Gaussian("median"))]
    named = learned(X, by_name).kernel_
    plain = learned(X.to_numpy(), by_position).kernel_
    assert_allclose(named.current_weights, plain.current_weights)
    assert_allclose(named.theta, plain.theta)
    assert_array_equal(named.children[1].columns, [4, 3])


def test_views_in_a_pipeline_and_a_grid_search(table):
    X, y = table
    colour = View(["red", "green", "blue"], Gaussian("median"))
    kernel = MultipleKernel([colour, View(["width", "height"], Gaussian("median"))])
    coder = kc.KernelSparseCoder(kernel, alpha=0.05, learn_kernel=True, random_state=0)
    scaler = StandardScaler().set_output(transform="pandas")
    model = make_pipeline(scaler, coder, KNeighborsClassifier(1))
    grid = {
        "kernelsparsecoder__learn_kernel": [
            False, kc.KernelLearning(max_iter=3, weights="alignment")],
        "kernelsparsecoder__kernel__weights": [None, [0.0, 1.0]],
        "kernelsparsecoder__kernel__0__kernel": [Gaussian("median")],
    }  # fmt: skip
    search = GridSearchCV(model, grid, cv=2, error_score="raise").fit(X, y)
    assert search.best_score_ > 0.9
    results = search.cv_results_
    noise = [p["kernelsparsecoder__kernel__weights"] == [0.0, 1.0] for p in results["params"]]
    ratio = [p["kernelsparsecoder__learn_kernel"] is False for p in results["params"]]
    assert (results["mean_test_score"][np.array(noise) & ratio] < 0.6).all()
    assert search.predict(X.iloc[:3]).shape == (3,)


def test_precomputed_views_side_by_side(rng):
    """Two kernel matrices next to each other are one wide array with two views."""
    X = rng.normal(size=(70, 5))
    first, second = Gaussian(0.3), Laplacian(0.2)
    wide = np.hstack([first(X), second(X)])
    views = [View(slice(0, 70), Precomputed()), View(slice(70, 140), Precomputed())]
    given = learned(wide, views, regularization=0.3).kernel_
    fixed = {"0__gamma": (0.3, 0.3), "1__gamma": (0.2, 0.2)}
    same = learned(X, [first, second], regularization=0.3, bounds=fixed).kernel_
    assert_allclose(given.current_weights, same.current_weights, atol=0.03)  # other folds


def test_a_stack_of_matrices_is_several_precomputed_kernels(rng):
    X = rng.normal(size=(80, 5))
    first, second = Gaussian(0.3), Laplacian(0.2)
    stack = np.stack([first(X[:70]), second(X[:70])], axis=2)
    queries = np.stack([first(X[70:], X[:70]), second(X[70:], X[:70])], axis=2)
    members = [Precomputed(matrix=0), Precomputed(matrix=1)]
    wide = [View(slice(0, 70), Precomputed()), View(slice(70, 140), Precomputed())]
    for atoms in (None, 15):
        coder = kc.KernelSparseCoder(atoms=atoms, alpha=0.05)
        given = learned(stack, members, coder=coder)
        same = learned(np.hstack([stack[..., 0], stack[..., 1]]), wide, coder=coder)
        assert_allclose(given.kernel_.current_weights, same.kernel_.current_weights)
        codes = given.transform(queries)
        assert_allclose(codes, same.transform(np.hstack([queries[..., 0], queries[..., 1]])))
        points = X[:70][given.dictionary_.index]
        kernel = MultipleKernel([first, second], given.kernel_.current_weights.tolist())
        plain = kc.KernelSparseCoder(kernel, points, alpha=0.05).fit(X[:70])
        assert_allclose(codes, plain.transform(X[70:]), atol=1e-6)
