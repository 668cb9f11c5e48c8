"""The command line, public names, and what importing the package costs."""

import subprocess
import sys
from contextlib import nullcontext

import numpy as np
import pytest

import kernelcoding as kc
from helpers.commands import invoke


def test_help_names_the_commands_and_options():
    assert "demo" in invoke("--help").output
    result = invoke("demo", "--help")
    assert result.exit_code == 0
    assert "--out" in result.output
    assert "--n-jobs" in result.output


def test_unknown_commands_fail():
    assert invoke("demonstrate").exit_code != 0
    assert invoke("demo", "--n-jobs", "many").exit_code != 0


IMPORTS = """
import sys
def loaded(): print(*sys.modules)
import sklearn.base, sklearn.metrics.pairwise; loaded()
import kernelcoding; loaded()
import kernelcoding.experiments; loaded()
"""


@pytest.fixture(scope="module")
def modules():
    """What a fresh Python has loaded: after scikit-learn, the package, the experiments."""
    done = subprocess.run(
        [sys.executable, "-c", IMPORTS], capture_output=True, text=True, check=True, timeout=120
    )
    return [set(line.split()) for line in done.stdout.splitlines()]


def test_importing_the_package_is_cheap(modules):
    sklearn, loaded, _ = modules
    # scikit-learn loads pandas where it is installed; what counts is what we add to it.
    ours = loaded - sklearn
    assert "kernelcoding.coders.sparse" in ours
    assert not loaded & {"numba", "matplotlib", "cv2"}
    assert not ours & {"pandas", "typer", "rich", "dask", "skimage"}


def test_experiments_need_no_other_library(modules):
    """Rows of other libraries are left out where those are missing."""
    _, _, loaded = modules
    assert "kernelcoding.experiments.paper.yaleb" in loaded
    assert not loaded & {"dictlearn", "pyriemann", "cv2"}


NAMES = """KernelSparseCoder KernelBagOfWords KernelLLC KernelLCC KernelMatchingPursuit KernelCoder
ResidualClassifier priors constraints kernels __version__"""
KERNEL_NAMES = """Linear Polynomial Gaussian Laplacian Sigmoid ChiSquared Precomputed View
Normalized HistogramIntersection LogEuclideanGaussian Stein Projection ProjectionGaussian
MultipleKernel"""


def test_public_names_are_there():
    for name in NAMES.split():
        assert hasattr(kc, name), name
        assert name in kc.__all__
    for name in KERNEL_NAMES.split():
        assert name in kc.kernels.__all__, name


def test_promised_calls_work_as_written():
    """The examples of the architecture page, on small data."""
    X, Q = np.random.default_rng(0).normal(size=(2, 20, 3))
    for coder in (
        kc.KernelSparseCoder(
            kernel="rbf",
            atoms=None,
            alpha=0.01,
            positive=False,
            groups=None,
            learn_kernel=False,
            sparse_output=False,
            tol=1e-6,
            n_jobs=None,
        ),
        kc.KernelBagOfWords(kernel="rbf", atoms=None, assignment="soft", sigma=1.0),
        kc.KernelLLC(
            kernel="rbf", atoms=None, n_neighbors=5, sigma=1.0, alpha=0.1, regularization=1e-4
        ),
        kc.KernelLCC(kernel="rbf", atoms=None, alpha=0.01),
        kc.KernelMatchingPursuit(kernel="rbf", atoms=None, n_nonzero=5, selection="omp"),
        kc.KernelCoder(
            kernel="rbf",
            atoms=None,
            prior=kc.priors.L1(),
            constraint=kc.constraints.Simplex(),
            alpha=0.01,
        ),
    ):
        idle = isinstance(coder, kc.KernelCoder)  # its alpha weighs a constant, and fit says so
        with pytest.warns(UserWarning, match="changes nothing") if idle else nullcontext():
            codes = coder.fit(X).transform(Q)
        assert codes.shape == (20, 20)
        assert coder.dictionary_.gram.shape == (20, 20)
        assert coder.dictionary_.cross(Q).shape == (20, 20)
        assert coder.reconstruction_error(Q).shape == (20,)
        assert coder.certify(Q, codes).shape == (20,)
        assert coder.kernel_.gamma > 0
    kernel = 0.5 * kc.kernels.Gaussian() + kc.kernels.Linear() * kc.kernels.Polynomial(degree=2)
    assert kernel(X, Q).shape == (20, 20)
