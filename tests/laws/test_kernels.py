"""Laws of every kernel. A new kernel adds one line to CASES, the laws do the rest."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

from helpers.names import stable
from kernelcoding.kernels import (
    AffineInvariantGaussian,
    AffineInvariantLinear,
    CallableKernel,
    Centered,
    ChiSquared,
    DistanceKernel,
    Fixed,
    Gaussian,
    HistogramIntersection,
    Laplacian,
    Linear,
    LogEuclideanGaussian,
    LogEuclideanLinear,
    MultipleKernel,
    Normalized,
    Polynomial,
    Precomputed,
    Product,
    Projection,
    ProjectionGaussian,
    Scaled,
    Sigmoid,
    Stein,
    Sum,
    View,
    take,
)
from kernelcoding.kernels.centered import ReferenceStatistic


def vectors(rng, n):
    return rng.normal(size=(n, 4))


def histograms(rng, n):
    X = rng.exponential(size=(n, 4))
    X[rng.random(size=X.shape) < 0.3] = 0.0  # empty bins, in both and in one
    return X


def spd(rng, n):
    A = rng.normal(size=(n, 3, 5))
    return A @ A.transpose(0, 2, 1) + 0.1 * np.eye(3)


def bands(rng, n):
    return np.stack([spd(rng, n), spd(rng, n)], axis=1)


REFERENCE = np.array([[2.0, 0.5, 0.0], [0.5, 1.0, 0.2], [0.0, 0.2, 3.0]])
CENTRES = np.random.default_rng(1).normal(size=(9, 4)) + 0.5


def subspaces(rng, n):
    return np.linalg.qr(rng.normal(size=(n, 5, 2)))[0]


def laplace_of(X, Z):
    return np.exp(-0.3 * np.abs(X[:, None] - Z[None]).sum(axis=-1))


def city_blocks(X, Z):
    return np.abs(X[:, None] - Z[None]).sum(axis=-1)


def with_weights(kernel, weights):
    kernel.weights_ = np.array(weights)
    return kernel


CASES = [
    (Linear(), vectors),
    (Polynomial(), vectors),
    (Polynomial(degree=2, gamma=0.3, coef0=0.0), vectors),
    (Polynomial(degree=5, gamma=0.2, coef0=-0.5), vectors),
    (Polynomial(degree=2.5, gamma=0.3, coef0=1.5), histograms),
    (Gaussian(), vectors),
    (Gaussian(gamma=0.2), vectors),
    (Laplacian(gamma=0.4), vectors),
    (Sigmoid(gamma=0.1, coef0=0.5), vectors),
    (Sigmoid(gamma=0.1, coef0=-0.5), vectors),
    (ChiSquared(gamma=0.6), histograms),
    (HistogramIntersection(), histograms),
    (LogEuclideanGaussian(gamma=0.1), spd),
    (LogEuclideanGaussian(gamma=0.1), bands),
    (LogEuclideanLinear(), spd),
    (LogEuclideanLinear(), bands),
    (AffineInvariantGaussian(gamma=0.1, reference=REFERENCE), spd),
    (AffineInvariantGaussian(gamma=0.1, reference=np.stack([REFERENCE, np.eye(3)])), bands),
    (AffineInvariantLinear(reference=REFERENCE), spd),
    (Stein(gamma=1.5), bands),
    (Stein(), spd),
    (Stein(gamma=1.7), spd),
    (Projection(), subspaces),
    (ProjectionGaussian(gamma=0.8), subspaces),
    (CallableKernel(laplace_of), vectors),
    (DistanceKernel(city_blocks, gamma=0.3), vectors),
    (CallableKernel(laplace_of) + Gaussian(gamma=0.3), vectors),
    (Gaussian(gamma=0.1) + Linear() + Polynomial(degree=2), vectors),
    (Gaussian(gamma=0.1) * Linear() * Laplacian(gamma=0.2), vectors),
    (0.5 * Gaussian(gamma=0.3) + Linear() * Polynomial(degree=2), vectors),
    (Gaussian(gamma=0.1) + 0.3 * Sigmoid(gamma=0.1), vectors),
    (2.5 * Gaussian(gamma=0.2), vectors),
    (Scaled(Scaled(Linear(), 0.5), 3.0), vectors),
    (Fixed(Gaussian(gamma=0.2)), vectors),
    (MultipleKernel([Fixed(Gaussian(gamma=0.3)), Laplacian()], weights=[0.4, 2.0]), vectors),
    (Normalized(Linear()), vectors),
    (Normalized(Polynomial(degree=2, gamma=0.3)), vectors),
    (Normalized(Gaussian(gamma=0.2) + Linear()), vectors),
    (2.0 * Normalized(Normalized(Polynomial(degree=2)) + Linear()), vectors),
    (Normalized(HistogramIntersection()), histograms),
    (Centered(Gaussian(gamma=0.3), CENTRES), vectors),
    (Centered(Gaussian(gamma=0.2) + 0.5 * Polynomial(degree=2, gamma=0.3), CENTRES), vectors),
    (Centered(Normalized(Polynomial(degree=2, gamma=0.3)), CENTRES), vectors),
    (Centered(ChiSquared(gamma=0.6), np.abs(CENTRES)), histograms),
    (
        Centered(LogEuclideanGaussian(gamma=0.1), REFERENCE * np.array([1.0, 2.0])[:, None, None]),
        spd,
    ),
    (Normalized(Centered(Gaussian(gamma=0.3), CENTRES)), vectors),
    (MultipleKernel([Centered(Gaussian(gamma=0.3), CENTRES), Linear()]), vectors),
    (MultipleKernel([Gaussian(gamma=0.3), Linear(), Polynomial(degree=2)]), vectors),
    (MultipleKernel([Gaussian(gamma=0.3), Linear()], weights=[0.3, 1.2]), vectors),
    (MultipleKernel([Gaussian(gamma=0.3), Laplacian()], weights=[0.0, 2.0]), vectors),
    (with_weights(MultipleKernel([Gaussian(gamma=0.3), Linear()]), [0.9, 0.1]), vectors),
    (MultipleKernel([Stein(gamma=1.2), LogEuclideanGaussian(gamma=0.2)]), spd),
    (Projection() + ProjectionGaussian(), subspaces),
    (View(slice(1, 3), Gaussian(gamma=0.5)), vectors),
    (View([3, 0], Polynomial(degree=2)), vectors),
    (View([True, False, True, True], ChiSquared()) + View([-1], Linear()), histograms),
    (View([0, 1], Gaussian()) * Scaled(View([2, 3], Laplacian()), 0.7), vectors),
]
every_kernel = pytest.mark.parametrize(("kernel", "make"), CASES, ids=[stable(k) for k, _ in CASES])


@every_kernel
def test_symmetry(kernel, make, rng):
    X, Z = make(rng, 7), make(rng, 4)
    assert kernel(X, Z).shape == (7, 4)
    assert_allclose(kernel(X, Z), kernel(Z, X).T, rtol=1e-12, atol=1e-12)
    assert_array_equal(kernel(X), kernel(X).T)
    assert_array_equal(kernel(X), kernel(X, X))


@every_kernel
def test_diagonal(kernel, make, rng):
    X = make(rng, 40)  # more than one block of a callable's diagonal
    assert kernel.diagonal(X).shape == (40,)
    assert_allclose(kernel.diagonal(X), np.diag(kernel(X)), rtol=1e-12)


@every_kernel
def test_blocks_of_rows_and_columns_agree(kernel, make, rng):
    X, Z = make(rng, 7), make(rng, 6)
    K = kernel(X, Z)
    assert_allclose(kernel(X[2:5], Z), K[2:5], rtol=1e-12, atol=1e-13)
    assert_allclose(kernel(X, Z[1:3]), K[:, 1:3], rtol=1e-12, atol=1e-13)


@every_kernel
def test_no_hidden_jitter(kernel, make, rng):
    X = make(rng, 8)
    assert_allclose(kernel(X, X.copy()), kernel(X), rtol=1e-12, atol=1e-12)


@every_kernel
def test_positive_definite_when_it_says_so(kernel, make, rng):
    if kernel.is_positive_definite:
        K = kernel(make(rng, 25))
        assert np.linalg.eigvalsh(K)[0] >= -1e-12 * np.trace(K)


@every_kernel
def test_gradient_matches_finite_differences(kernel, make, rng):
    X, Z = make(rng, 5), make(rng, 4)
    theta, step = kernel.theta, 1e-5
    assert kernel.gradient(X, Z).shape == (5, 4, len(theta))
    assert kernel.diagonal_gradient(X).shape == (5, len(theta))
    assert len(kernel.parameter_names) == len(theta)
    # On the statistic, which has no parameters: an isolated gamma of Stein has refused neighbours.
    P, Q = kernel.prepare(X), kernel.prepare(Z)
    for analytic, statistic in (
        (kernel.gradient(X, Z), kernel.statistic(P, Q)),
        (kernel.gradient(X), kernel.statistic(P, P)),
        (kernel.diagonal_gradient(X), kernel.diagonal_statistic(P)),
    ):
        scale = max(1.0, np.abs(kernel.profile(statistic)).max())
        for i, direction in enumerate(np.eye(len(theta))):
            up, down = (kernel.with_theta(theta + sign * step * direction) for sign in (1, -1))
            numeric = (up.profile(statistic) - down.profile(statistic)) / (2 * step)
            assert_allclose(analytic[..., i], numeric, rtol=1e-6, atol=1e-8 * scale)


@every_kernel
def test_derivative_of_a_weighted_sum(kernel, make, rng):
    X, Z = make(rng, 7), make(rng, 4)
    prepared = kernel.prepare(X), kernel.prepare(Z, np.arange(4))
    weights, own = rng.normal(size=(7, 4)), rng.normal(size=7)
    found = kernel.derivative(kernel.statistic(*prepared), weights)
    assert_allclose(found, np.einsum("ij,ijp->p", weights, kernel.gradient(X, Z)), atol=1e-11)
    found = kernel.derivative(kernel.diagonal_statistic(prepared[0]), own)
    assert_allclose(found, own @ kernel.diagonal_gradient(X), atol=1e-11)


@every_kernel
def test_theta_round_trip(kernel, make, rng):
    X = make(rng, 5)
    theta = kernel.theta
    assert_allclose(kernel.with_theta(theta)(X), kernel(X), rtol=1e-12, atol=1e-14)
    if isinstance(kernel, Stein) and kernel.gamma < 1:
        return
    moved = kernel.with_theta(theta + 0.1 * np.arange(1, len(theta) + 1))
    assert_allclose(moved.theta, theta + 0.1 * np.arange(1, len(theta) + 1), rtol=1e-12)
    assert moved.parameter_names == kernel.parameter_names
    assert_array_equal(kernel.theta, theta)  # the old kernel is as it was
    if len(theta):
        assert not np.allclose(moved(X), kernel(X))


@every_kernel
def test_theta_of_wrong_length_is_refused(kernel, make):
    with pytest.raises(ValueError, match="theta must have shape"):
        kernel.with_theta(np.zeros(len(kernel.theta) + 1))


@every_kernel
def test_float32_stays_and_is_close(kernel, make, rng):
    X, Z = make(rng, 6), make(rng, 5)
    x, z = X.astype(np.float32), Z.astype(np.float32)
    for single, double in (
        (kernel(x, z), kernel(X, Z)),
        (kernel(x), kernel(X)),
        (kernel.diagonal(x), kernel.diagonal(X)),
        (kernel.gradient(x, z), kernel.gradient(X, Z)),
    ):
        assert single.dtype == np.float32
        assert double.dtype == np.float64
        scale = np.abs(double).max(initial=0.0)
        assert_allclose(single, double, rtol=1e-4, atol=1e-5 * max(scale, 1.0))
    assert kernel(x, Z).dtype == np.float64
    assert kernel.check(x).dtype == np.float32


@every_kernel
def test_clone_pickle_repr_and_params(kernel, make, rng):
    X = make(rng, 4)
    params = kernel.get_params(deep=False)
    rebuilt = type(kernel)(**params)
    rebuilt.__dict__.update({k: v for k, v in vars(kernel).items() if k.endswith("_")})
    assert_array_equal(rebuilt(X), kernel(X))
    assert_array_equal(pickle.loads(pickle.dumps(kernel))(X), kernel(X))
    assert repr(clone(kernel)) == repr(kernel)
    assert kernel._repr_html_()
    if not hasattr(kernel, "weights_"):  # learned attributes are forgotten, as in scikit-learn
        assert_array_equal(clone(kernel)(X), kernel(X))
    deep = clone(kernel).get_params(deep=True)
    assert_array_equal(clone(kernel).set_params(**deep)(X), clone(kernel)(X))


@every_kernel
def test_arguments_are_unchanged(kernel, make, rng):
    X, Z = make(rng, 5), make(rng, 4)
    before = X.copy(), Z.copy(), copy.deepcopy(vars(kernel))
    X.flags.writeable = Z.flags.writeable = False
    kernel(X, Z), kernel(X), kernel.diagonal(X), kernel.gradient(X, Z), kernel.resolve(X)
    assert_array_equal(X, before[0])
    assert_array_equal(Z, before[1])
    assert repr(vars(kernel)) == repr(before[2])


@every_kernel
def test_profile_keeps_the_statistic(kernel, make, rng):
    P, Q = kernel.prepare(make(rng, 5)), kernel.prepare(make(rng, 4))
    statistic = kernel.statistic(P, Q)
    before = copy.deepcopy(statistic)
    K = kernel.profile(statistic)
    kernel.profile_gradient(statistic)
    K += 1.0  # a view of the statistic would change with it
    for old, new in zip(_arrays(before), _arrays(statistic), strict=True):
        assert_array_equal(old, new)
    assert_allclose(kernel.between(P, Q), K - 1.0, rtol=1e-12, atol=1e-12)


def _arrays(statistic):
    if isinstance(statistic, tuple):
        return [array for part in statistic for array in _arrays(part)]
    if isinstance(statistic, ReferenceStatistic):
        return _arrays(statistic.statistic)
    return [statistic]


@every_kernel
def test_the_statistic_has_no_parameters(kernel, make, rng):
    if isinstance(kernel, Stein):  # some of its gammas are refused
        return
    X = make(rng, 5)
    other = kernel.with_theta(kernel.theta + 0.3)
    statistics = [k.statistic(k.prepare(X), k.prepare(X)) for k in (kernel, other)]
    for ours, theirs in zip(*map(_arrays, statistics), strict=True):
        assert_array_equal(ours, theirs)


@every_kernel
def test_radial_means_decreasing_with_constant_diagonal(kernel, make, rng):
    if not kernel.is_radial:
        return
    X, Z = make(rng, 9), make(rng, 8)
    S = kernel.statistic(kernel.prepare(X), kernel.prepare(Z))
    K = kernel(X, Z)
    order = np.argsort(S, axis=None)
    assert (np.diff(K.ravel()[order]) <= 0).all()
    assert np.ptp(K) > 0
    assert np.ptp(kernel.diagonal(X)) == 0
    P = kernel.prepare(X)
    assert_array_equal(np.diag(kernel.statistic(P, P)), np.zeros(9))


def test_who_is_radial():
    radial = {type(kernel).__name__ for kernel, _ in CASES if kernel.is_radial}
    assert radial == {
        "Gaussian", "Laplacian", "ChiSquared", "LogEuclideanGaussian", "Stein",
        "AffineInvariantGaussian", "DistanceKernel", "ProjectionGaussian", "Scaled", "View",
        "Fixed",
    }  # fmt: skip
    assert not (2.0 * Linear()).is_radial
    assert not Sum([Gaussian()]).is_radial
    assert not Product([Gaussian()]).is_radial


@every_kernel
def test_prepared_rows_can_be_taken(kernel, make, rng):
    X, Z, rows = make(rng, 6), make(rng, 4), [4, 1]
    P, Q = kernel.prepare(X), kernel.prepare(Z)
    assert_allclose(kernel.between(take(P, rows), Q), kernel(X, Z)[rows], rtol=1e-12, atol=1e-13)
    assert_allclose(kernel.diagonal_of(take(P, rows)), kernel.diagonal(X)[rows], rtol=1e-12)


@every_kernel
def test_resolved_kernels_resolve_to_themselves(kernel, make, rng):
    X = make(rng, 6)
    assert kernel.is_resolved
    resolved = kernel.resolve(X)
    assert resolved is not kernel
    assert_array_equal(resolved(X), kernel(X))


@every_kernel
def test_nan_is_refused(kernel, make, rng):
    X = make(rng, 4)
    X[1] = np.nan
    with pytest.raises(ValueError, match="expected finite values"):
        kernel(X)


def test_every_public_kernel_is_in_the_list():
    import kernelcoding.kernels as room

    def inside(kernel):
        children = [v for v in vars(kernel).values() if isinstance(v, room.Kernel)]
        children += list(getattr(kernel, "kernels", []))
        return {type(kernel)}.union(*map(inside, children))

    public = {getattr(room, n) for n in room.__all__ if isinstance(getattr(room, n), type)}
    covered = set().union(*(inside(kernel) for kernel, _ in CASES))
    # a given matrix has laws of its own, in tests/kernels/test_precomputed.py
    assert public - covered == {room.Kernel, room.ExponentialKernel, Precomputed}
