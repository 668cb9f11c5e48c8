"""What kernels refuse, and what they say."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from kernelcoding.kernels import (
    ChiSquared,
    Gaussian,
    Kernel,
    Laplacian,
    Linear,
    LogEuclideanGaussian,
    Normalized,
    Polynomial,
    Product,
    Projection,
    ProjectionGaussian,
    Scaled,
    Sigmoid,
    Stein,
    Sum,
    View,
)

BAD_INPUT = [
    (Gaussian(), np.ones(3), r"Gaussian expected samples of shape \(n, d\), got \(3,\).*newaxis"),
    (Gaussian(), np.ones((2, 2, 2)), r"expected samples of shape \(n, d\)"),
    (Stein(), sparse.eye(3, format="csr"), r"Sparse data was passed, but Stein .*\.toarray"),
    (Gaussian(), sparse.csr_array([[1.0, np.nan]]), "expected finite values"),
    (Gaussian(), sparse.csr_array([[1.0, 1j]]), "expected real numbers"),
    (ChiSquared(), sparse.csr_array([[0.5, -0.5]]), "histograms, got a minimum of -0.5"),
    (Gaussian(), np.ones((2, 2)) * 1j, "array of real numbers"),
    (Gaussian(), [["a", "b"]], "array of real numbers"),
    (Gaussian(), [[1.0, np.inf]], "expected finite values"),
    (ChiSquared(), [[0.5, -0.5]], "histograms, got a minimum of -0.5"),
    (Stein(), np.ones((4, 2)), r"Stein expected samples of shape \(n, p, p\)"),
    (Stein(), np.ones((4, 2, 3)), "expected square matrices"),
    (Stein(), np.array([np.eye(2), [[1.0, 0.5], [0.0, 1.0]]]), "symmetric matrices, sample 1"),
    (Stein(), np.array([np.eye(2), np.diag([1.0, -2.0])]), "sample 1 has smallest eigenvalue -2"),
    (LogEuclideanGaussian(), np.diag([1.0, 0.0])[None], "positive definite.*add a small ridge"),
    (Projection(), np.ones((2, 3, 2)), r"orthonormal columns.*np\.linalg\.qr"),
    (Sum([Gaussian(), Stein()]), np.ones((2, 2)), "Gaussian: 2, Stein: 3"),
    (Product([]), np.ones((2, 2)), "at least one kernel"),
    (Sum([Gaussian(), "rbf"]), np.ones((2, 2)), "wrap it with as_kernel"),
    (Normalized("rbf"), np.ones((2, 2)), "Normalized expected a kernel, got 'rbf'"),
    (Normalized(Sigmoid(1.0, -9.0)), np.ones((2, 2)), "self-similarities that are not negative"),
    (Scaled(Gaussian(), 0.0), np.ones((2, 2)), "scale must be a positive number"),
    (Polynomial(degree=0), np.ones((2, 2)), "degree must be a positive number"),
    (Polynomial(degree=1.5, coef0=-9), np.ones((2, 2)), "use an integer degree"),
    (Polynomial(coef0=np.nan), np.ones((2, 2)), "coef0 must be a finite number"),
    (View([0], Stein()), np.ones((2, 2)), "View does not reshape"),
]


@pytest.mark.parametrize(("kernel", "X", "message"), BAD_INPUT)
def test_bad_input(kernel: Kernel, X, message):
    with pytest.raises(ValueError, match=message):
        kernel(X)


def test_check_refuses_what_prepare_refuses():
    for kernel in (Stein(), LogEuclideanGaussian()):
        with pytest.raises(ValueError, match="positive definite"):
            kernel.check(np.diag([1.0, -2.0])[None])


def test_different_widths_are_refused(rng):
    for kernel in (Gaussian(), Linear(), Laplacian()):
        with pytest.raises(ValueError, match=r"got \(3,\) and \(4,\) per sample"):
            kernel(np.ones((2, 3)), np.ones((2, 4)))
    with pytest.raises(ValueError, match=r"bases of R\^4 and R\^3"):
        Projection()(np.eye(4)[None, :, :2], np.eye(3)[None, :, :2])
    with pytest.raises(ValueError, match="use Projection for mixed dimensions"):
        ProjectionGaussian()(np.eye(3)[None, :, :2], np.eye(3)[None, :, :1])


def test_operators_refuse_at_once():
    with pytest.raises(ValueError, match="input dimensions Gaussian: 2, Projection: 3"):
        Gaussian() + Projection()
    with pytest.raises(ValueError, match="input dimensions"):
        Gaussian() * Stein()
    for scale in (0.0, -1.0, np.nan):
        with pytest.raises(ValueError, match="scale must be"):
            scale * Gaussian()
    with pytest.raises(TypeError):
        Gaussian() + 1.0
